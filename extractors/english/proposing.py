"""A second reading of an English text, by the labels of the ontology and without a model.

A small model passes over facts of long sentences. Where the words of a label govern a date, a number or a
name, and these have one name as their subject, that is a statement too. It is a candidate like those of the
model, and goes through the same second look, checks and gate. Dates, numbers and names are found by what they
look like; plain text is a value where the label of a relation is its key ("Address: 41 Elm Row").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import partial
from operator import is_
from typing import Final

from extractors.english.clause import (
    Clause,
    Governor,
    is_compound,
    is_entry,
    is_glued,
    is_numbered,
)
from extractors.english.descriptions import Description
from extractors.english.governing import governors
from extractors.english.look import Wording
from extractors.english.people import OPENING_PERSONS, is_given_name, is_maker
from extractors.english.phrases import Group, Phrases, group_of
from extractors.english.quantities import unit_of
from extractors.english.subjects import is_complement, subject_of
from extractors.english.topics import IT, Topics
from extractors.english.units import (
    AUXILIARIES,
    PREPOSITIONS,
    Kind,
    Unit,
    is_adjectival,
    is_adverb,
    outside,
    units_of,
)
from extractors.grounding.entities import without_possessor
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from ontology.labels import words
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

_ENTRY = re.compile(
    r"(?:^|[\n;|•·*(\]] ?|\. )(?P<key>[^\W\d_][^\W\d_. ]*(?: [^\W\d_]+){0,2})\.?:[ \t]+"
    r"(?P<value>[^\s;|•·(][^\n;|•·()]*?)(?=, |\.?\s*(?:[\n;|•·()]|$)|\. )"
)
_LONGEST_VALUE = 60


def text_entries(wording: Wording) -> Iterator[tuple[OntologyProperty, Span, Span]]:
    """The relation, the place of its value, and that of its key, entry by entry."""
    text = wording.text.text
    terms = [
        term
        for term in wording.schema.properties.values()
        if term.kind is PropertyKind.DATATYPE and not term.deprecated and group_of(term) is Group.NAMES
    ]
    for found in _ENTRY.finditer(text):
        value = Span(found.start("value"), found.end("value"))
        if value.end - value.start <= _LONGEST_VALUE:
            key = Span(found.start("key"), found.end("key"))
            yield from ((term, value, key) for term in _keyed(terms, found["key"]))


def _keyed(terms: Sequence[OntologyProperty], key: str) -> Iterator[OntologyProperty]:
    said = words(key)
    for term in terms:
        if any(words(label) == said for label in (term.label, *term.alternative_labels)):
            yield term


_MONTH: Final = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_DATE = re.compile(
    rf"(?<!\w)(?:\d{{1,2}} {_MONTH} \d{{4}}|{_MONTH} \d{{1,2}}, \d{{4}}|{_MONTH} \d{{4}}|1[0-9]\d\d|20\d\d)"
    r"(?!\w|[.,]\d|\s?[-–—/]\s?\d|\s[A-Z])"
)
_MONTH_NAME = re.compile(rf"{_MONTH}(?!\w)", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.,-])(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?: (?:million|thousand))?"
    r"(?!\w|[.,]\d|[-–](?![a-z]))(?:-[a-z]+(?![\w-])|(?: [^\W\d]+){0,2})"
)
_PERIOD: Final = frozenset({"to", "until", "through", "between", "-", "–"})


def values_of(text: str, sentence: Span, group: Group) -> Iterator[Span]:
    """The dates or the numbers of a sentence, numbers with their unit of measure."""
    for match in (_NUMBER if group is Group.NUMBERS else _DATE).finditer(text, sentence.start, sentence.end):
        words = match.group()
        if group is Group.NUMBERS:
            if _DATE.fullmatch(words.split()[0]):
                continue
            if _is_day(text, match.start(), match.end()):
                continue
            plain, hyphen, noun = words.partition("-")
            if hyphen:  # "a 60-bed hospital", "the 118-metre bridge"
                words = words if unit_of(noun) is not None else plain
                yield Span(match.start(), match.start() + len(words))
                continue
            number = re.match(r"\S+(?: (?:million|thousand)(?!\w))?", words)
            assert number is not None
            rest = words[number.end() :].split()
            size = next((n for n in range(1, len(rest) + 1) if unit_of(" ".join(rest[:n])) is not None), 0)
            end = number.end() + sum(len(word) + 1 for word in rest[:size])
            words = words[:end]
        yield Span(match.start(), match.start() + len(words))


def _is_day(text: str, start: int, end: int) -> bool:
    """Whether a number is the day of a date: "6 April", "April 6"."""
    number = re.match(r"\d{1,2}(?!\d) ", text[start:end])
    behind = number is not None and _MONTH_NAME.match(text, start + number.end()) is not None
    return behind or re.search(rf"{_MONTH} $", text[max(0, start - 10) : start]) is not None


def is_month(words: str) -> bool:
    """Whether words begin with the name of a month."""
    return _MONTH_NAME.match(words) is not None


def is_dated_name(words: str) -> bool:
    """Whether a capitalized run is a date or a month."""
    return words[0].isdigit() or is_month(words)


def in_period(units: Sequence[Unit], at: int) -> bool:
    """Whether a date begins or ends a period."""
    near = [units[n].text for n in (at - 1, at + 1) if 0 <= n < len(units)]
    return bool(_PERIOD & set(near))


_SMALL: Final = frozenset("a an the and which who that it its".split())
_QUOTES: Final = frozenset("\"“”'‘’")

_OWNER = re.compile(
    r"(?<![\w.])(?<![^\W\d_a-z] )(?<!St\. )(?<!Mt\. )"
    r"(?!(?:It|Let|Here|There|What|That|Who|He|She|Today|Now|City|World|Women|Men|Children|People)['’])"
    r"(?P<owner>[^\W\d_a-z][\w-]{2,})['’]s (?=[^\W\d_a-z])"
)

Proposed = tuple[str, OntologyProperty, str, Span]
"""A subject, a relation and a value in the text's words, and the sentence that says it."""


def proposed(wording: Wording) -> Iterator[Proposed]:
    """What the labels say, sentence by sentence."""
    if not wording.reads:
        return
    text, schema, phrases, topics = wording.text, wording.schema, wording.phrases, wording.topics
    known = tuple(wording.names)
    for sentence in text.sentences:
        for group in Group:
            values = list(values_of(text.text, sentence, group))
            inside = [
                _without_opener(text.text, one)
                for one in known
                if sentence.start <= one.start and one.end <= sentence.end
            ]
            free = [one for one in inside if not any(one.start < v.end and v.start < one.end for v in values)]
            units = units_of(text.text, sentence, [*free, *values])
            places = [
                n
                for n, unit in enumerate(units)
                if unit.kind is Kind.NAME
                and (group is Group.NAMES) != (Span(unit.start, unit.end) in values)
                and not (group is Group.DATES and in_period(units, n))
                and not (group is Group.NAMES and is_dated_name(text.text[unit.start : unit.end]))
            ]
            yield from _said(text, schema, phrases, topics, sentence, units, group, places)
        yield from _of_owners(text, schema, phrases, sentence, known)
        yield from _of_text_entries(wording, sentence, known)
        if (meant := topics.before(sentence)) is not None:
            its = [
                Span(one.start(), one.end()) for one in IT.finditer(text.text, sentence.start, sentence.end)
            ]
            units = units_of(text.text, sentence, [*(one for one in known if one not in its), *its])
            places = [n for n, unit in enumerate(units) if unit.text == "it" and unit.kind is Kind.NAME]
            found = _said(text, schema, phrases, topics, sentence, units, Group.NAMES, places)
            yield from (
                (one[0], one[1], meant, one[3]) for one in found if one[1].kind is PropertyKind.OBJECT
            )


def _of_text_entries(wording: Wording, sentence: Span, names: Sequence[Span]) -> Iterator[Proposed]:
    """What entries of a list with plain text say: "Address: 41 Elm Row"."""
    text = wording.text
    units = units_of(text.text, sentence, names)
    for term, value, key in text_entries(wording):
        if sentence.start <= key.start and value.end <= sentence.end:
            first = next((n for n, unit in enumerate(units) if unit.end > key.start), len(units) - 1)
            subject = _of_entry(text, wording.topics, sentence, units, first)
            if subject is not None:
                yield subject, term, text.text[value.start : value.end], sentence


def _of_owners(
    text: GroundedText, schema: Schema, phrases: Phrases, sentence: Span, names: Sequence[Span]
) -> Iterator[Proposed]:
    """What is in the place that owns it, for relations that "in" says: "Norton's Elm Hall opened in 1901".

    An owner of one word is a place more often than not, unless it is a person's, a body's or a class's name.
    """
    terms = [
        term for iri, term in schema.properties.items() if phrases.has(iri, "in") and not term.deprecated
    ]
    for found in _OWNER.finditer(text.text, sentence.start, sentence.end):
        words = found["owner"]
        person = is_given_name(words) or is_maker(words) or words.casefold() in OPENING_PERSONS
        owned = max((one.end for one in names if one.start == found.end()), default=None)
        if person or phrases.is_noun(words) or owned is None:
            continue
        name = text.text[found.end() : owned]
        quoted = text.text[max(0, found.start() - 1) : found.start()] in _QUOTES
        if len(name) == 1 or is_adjectival(name) or (quoted and found.start() > 0):
            continue  # "Norton's German, Polish and other families"
        if without_possessor(f"{words}'s {name}", phrases.is_noun) == name:
            yield from ((name, term, words, sentence) for term in terms)


def _said(
    text: GroundedText,
    schema: Schema,
    phrases: Phrases,
    topics: Topics,
    sentence: Span,
    every: Sequence[Unit],
    group: Group,
    places: Sequence[int],
) -> Iterator[Proposed]:
    occurrences = phrases.occurrences(every, group, {})
    terms = sorted({iri for one in occurrences for iri in one.terms}, key=lambda iri: iri.value)
    if group is Group.NUMBERS:
        terms = [iri for iri, term in schema.properties.items() if phrases.is_number(term)]
    for place in places:
        units, at = outside(every, place)
        occurrences = phrases.occurrences(units, group, {})
        taken: set[Governor] = set()
        for iri in sorted(terms, key=lambda iri: -phrases.is_main(iri, units[max(0, at - 4) : at])):
            term = schema.properties[iri]
            clause = Clause(units, at, frozenset({at - 2}), occurrences, term, phrases)
            for found in governors(clause, group):
                if found.converse or _is_cut(clause, found) or not _is_plain(clause, found):
                    continue
                subject = _subject(text, topics, sentence, clause, found)
                if subject is not None and found not in taken:
                    taken.add(found)
                    unit = units[at]
                    yield subject, term, text.text[unit.start : unit.end], sentence


def _subject(
    text: GroundedText, topics: Topics, sentence: Span, clause: Clause, found: Governor
) -> str | None:
    """The name that the words are said of, or what "it" stands for; None where that is open."""
    units = clause.units
    if is_entry(units, found):
        return _of_entry(text, topics, sentence, units, found.first)
    if found.subject is not None:
        owner = units[found.subject]
        return None if owner.text[0].isdigit() else _named(text, owner)  # "at 1 Elm Row, Norton"
    for at, unit in enumerate(units):
        named = at != clause.value and unit.kind is Kind.NAME and may_act(units, at)
        if not named or clause.phrases.is_other(units, at) or _is_listed_with(clause, at, found):
            continue
        about = subject_of(units, found.first, clause.value, partial(is_, unit))
        if about is unit:
            return (
                _named(text, unit)
                if _is_direct(clause, at, found) and not is_place_before_which(units, at)
                else None
            )
        if isinstance(about, Description):
            break
    about = subject_of(units, found.first, clause.value, lambda _: False)
    if isinstance(about, Description) and not about.inner and not about.possessive:
        return _described(topics, sentence, about)
    here = found.first - 1
    while here >= 0 and units[here].text not in ("it", ";", ":", "(", "•", "|"):
        named = units[here].kind is Kind.NAME and units[here].text[0].isalpha()
        if named and not is_complement(units, here):
            return None
        here -= 1
    if here < 0 and not any(unit.kind is not Kind.MARK for unit in units[: found.first]):
        return topics.before(sentence)  # "Opened in 1901."
    if here < 0 or units[here].text != "it":
        return None
    opens = not any(unit.kind is not Kind.MARK for unit in units[:here])
    return topics.before(sentence) if opens else topics.of(sentence)


def _is_listed_with(clause: Clause, at: int, found: Governor) -> bool:
    """Whether a name only stands in one list with the value: "in the Gothic and Baroque styles"."""
    between = clause.units[at + 1 : clause.value]
    listed = all(unit.kind is Kind.NAME or unit.text in ("and", ",") for unit in between)
    return found.first >= clause.value and listed and any(unit.text == "and" for unit in between)


def is_place_before_which(units: Sequence[Unit], at: int) -> bool:
    """Whether "which" behind a place may speak of what lies there: "designed Elm Hall in Norton, which"."""
    lead = at - 1
    while lead > 0 and units[lead].text in ("the", "a"):
        lead -= 1
    behind = [unit.text for unit in units[at + 1 : at + 3]] == [",", "which"]
    return behind and lead > 0 and units[lead].text in PREPOSITIONS and units[lead - 1].kind is Kind.NAME


def _named(text: GroundedText, unit: Unit) -> str | None:
    return text.text[unit.start : unit.end] if unit.kind is Kind.NAME else None


def _of_entry(
    text: GroundedText, topics: Topics, sentence: Span, units: Sequence[Unit], first: int
) -> str | None:
    """What a key in brackets or a list says something of: the name before it, or what the text is about."""
    if first > 1 and units[first - 1].text == "(":
        return _named(text, units[first - 2])
    opening = next((unit for unit in units if unit.kind is not Kind.MARK and unit.text != "the"), None)
    if opening is not None and opening.kind is Kind.NAME and opening.start < units[first].start:
        return text.text[opening.start : opening.end]
    return topics.of_text(sentence)


def _is_direct(clause: Clause, at: int, found: Governor) -> bool:
    """Whether no other verb stands between a subject and the words that are said of it."""
    units = clause.units
    if _is_lone(units, found):
        return at == found.first - 1 or (at == found.first - 2 and units[at + 1].text == ",")
    follows = units[at + 1] if at + 1 < len(units) else None
    if follows is not None and (clause.phrases.is_kind(follows) or _is_noun(units, at + 1)):
        return False  # "a Norton neighborhood of 4 acres", "Ash lift, two streets away, is run by"
    if any(unit.text == "it" for unit in units[at + 1 : found.first]):
        return False  # "Oak Trust built it in the Gothic style"
    if any(units[n].text == "who" and n - 2 != at for n in range(at + 2, found.first)):
        return False  # "Elm Hall is by Ada Stone, who was born in"
    if units[_verb_start(units, found.first)].text in ("and", ",", "but"):
        return True
    said = {n for one in clause.occurrences for n in range(one.first, one.last)}
    return all(
        unit.kind is not Kind.WORD
        or n in said
        or is_adverb(unit)
        or unit.text in AUXILIARIES | PREPOSITIONS | _SMALL
        or clause.phrases.is_kind(unit)
        for n, unit in enumerate(units[at + 1 : found.first], at + 1)
    )


def _is_noun(units: Sequence[Unit], at: int) -> bool:
    """Whether a word right behind a name is a noun: a comma or an auxiliary follows it."""
    word, after = units[at], units[at + 1] if at + 1 < len(units) else None
    plain = word.kind is Kind.WORD and word.text.isalpha() and not is_adverb(word)
    if after is None or not plain or word.text in AUXILIARIES | PREPOSITIONS | _SMALL:
        return False
    return after.text in AUXILIARIES or (
        after.text == "," and not word.text.endswith(("ed", "ew", "ll", "se"))
    )


def _verb_start(units: Sequence[Unit], first: int) -> int:
    """The place before a verb with its auxiliaries and adverbs: "and" of "and was also designed by"."""
    at = first - 1
    while at > 0 and (units[at].text in AUXILIARIES or is_adverb(units[at])):
        at -= 1
    return at


def _described(topics: Topics, sentence: Span, about: Description) -> str | None:
    """The name that "the museum" at the start of a clause stands for."""
    words = about.noun.split()
    found = (topics.described(sentence, " ".join(words[:n])) for n in range(len(words), 0, -1))
    return next((one for one in found if one is not None), None)


def _without_opener(text: str, name: Span) -> Span:
    """A run of capitalized words without a preposition that opens its sentence: "From Elm Avenue"."""
    word = text[name.start : name.end].split()[0]
    skipped = len(word) + 1 if word.casefold() in PREPOSITIONS and name.end - name.start > len(word) else 0
    return Span(name.start + skipped, name.end)


def may_act(units: Sequence[Unit], at: int) -> bool:
    """Whether a name can be a subject: not a date, an agent, an aside, or a part of a longer name."""
    unit, before = units[at], units[at - 1].text if at else ""
    if len(unit.text) == 1:
        return False  # "the G train"
    if unit.text[0].isdigit() or is_month(unit.text) or before == "'s":
        return False
    if before in _QUOTES and (at + 1 >= len(units) or units[at + 1].text not in _QUOTES):
        return False  # "Dream in the Park", the title of a play
    if is_numbered(units, at):
        return False
    if is_compound(units, at) or (before.isdigit() and units[max(at - 2, 0)].text not in ("in", "by", ",")):
        return False  # "41 Elm Row", "the Elm/Ash border"
    if any(one.text == "by" for one in units[max(0, at - 3) : at]):
        return False
    after = units[at + 1 : at + 3]
    closed = bool(after) and after[0].text in _QUOTES and after[-1].text == ")"  # "(lit. 'Elm House')"
    return not (_is_cut_name(unit, after) or closed or (after and after[0].text in (")", "to", "'s")))


def _is_cut_name(unit: Unit, after: Sequence[Unit]) -> bool:
    """Whether a name is cut: "Norton F" of "F.C.", "Pier" of "Pier 66"."""
    if not after:
        return False
    if after[0].text == "for" and len(after) > 1 and after[1].kind is Kind.NAME:
        return True  # "the Trust for Elm Island"
    if after[0].text in ("+", "/"):
        return True  # "Elm Health + Hospitals"
    if after[0].text == "of" and len(after) > 1 and after[1].text[0].isdigit():
        return True  # "the War of 1870"
    numbered = after[0].start == unit.end + 1 and after[0].text[0].isdigit()
    dotted = len(after) > 1 and after[0].text == "." and after[1].start == after[0].end
    return numbered or dotted


def _is_cut(clause: Clause, found: Governor) -> bool:
    """Whether a name is longer than it looks, or opens a clause: "Elm and Ash Bridge", "and Norton is"."""
    units, at, term = clause.units, clause.value, clause.term
    left = at - 1
    while left > 0 and units[left].text == "the":
        left -= 1
    before, after = (units[n].text if 0 <= n < len(units) else "" for n in (left, at + 1))
    if before in ("and", ",", ";", "while", "but") and after in AUXILIARIES:
        return True
    if group_of(term) is not Group.NAMES:
        return False
    listed = term.kind is not PropertyKind.OBJECT and "and" in (before, after)
    described = at + 1 < len(units) and found.last <= at + 1 and clause.phrases.is_kind(units[at + 1])
    firm = any(unit.text == "&" and unit.kind is Kind.MARK for unit in units[max(0, at - 3) : at + 5])
    owned = before == "'s" and not clause.phrases.has(term.iri, "in")  # "in Norton's Old Town"
    owner = owned or after == "'s" or units[max(at - 1, 0)].text.isdigit()  # "100 Elm Street"
    glued = any(units[n].text == "-" and is_glued(units, n) for n in range(found.first, at))
    if glued or is_compound(units, at):
        return True
    last = at
    while last + 2 < len(units) and (units[last + 1].text in ("and", ",")):
        last += 2 if units[last + 2].kind is Kind.NAME else 3
    if last > at and last < len(units) and clause.phrases.is_plural(units[last].text):
        return True  # "Elm and Ash Streets", "Elm, Oak, and Ash Streets"
    return listed or described or firm or owner or _is_cut_name(units[at], units[at + 1 : at + 3])


def _is_plain(clause: Clause, found: Governor) -> bool:
    """Whether the words are more than a preposition, or one right behind a name: "Elm Hall in Norton"."""
    units, term, before = clause.units, clause.term, found.first - 1
    noun = clause.phrases.is_kind(units[found.first]) and not units[found.first].text.endswith("ed")
    if found.last == found.first + 2 and noun:
        return units[found.last - 1].text not in ("in", "on", "at")  # "is a station on Elm Street"
    if found.last < len(units) and units[found.last].text in ("it", "them"):
        return False
    if not _is_lone(units, found):
        return True
    if units[found.first].text == "across":
        return False  # "Elm Hall, across Ash Street, opened"
    if before > 0 and units[before].text == ",":
        before -= 1
    if before < 0 or units[before].kind is not Kind.NAME or term.kind is not PropertyKind.OBJECT:
        return False
    if before == 0:
        return True
    lead = next((units[n].text for n in range(before - 1, -1, -1) if units[n].text != "the"), "")
    if units[found.first - 1].text == "," or (lead in PREPOSITIONS and units[found.first].text != "in"):
        return False  # "Ash Village, Norton, on", "at the Wye on"
    return lead not in ("by", "of", "and", "&", units[found.first].text)  # "designed by Ada Stone in"


def _is_lone(units: Sequence[Unit], found: Governor) -> bool:
    """Whether the words are one preposition, which only says something of the name right before it."""
    return found.last == found.first + 1 and units[found.first].text in PREPOSITIONS | {"as"}


def is_firm(clause: Clause, found: Governor) -> bool:
    """Whether words are more than a preposition, and their value is a whole name."""
    return not _is_cut(clause, found) and _is_plain(clause, found) and not _is_lone(clause.units, found)
