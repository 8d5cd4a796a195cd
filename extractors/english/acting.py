"""Pairs of a subject and a value whose words may say a relation where the order is less plain.

Each name of the sentence, and what the sentence before is about, is tried as the subject. What passes the
second look for one subject only is a statement. The second look asks what speaks against a statement that
somebody made. One that nobody made needs more: the name opens its clause, is described by an apposition, or
is what "it" at the start stands for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.clause import Clause, Governor, is_entry, names_role
from extractors.english.descriptions import is_closed_region, lead_of, opening_noun
from extractors.english.look import Wording
from extractors.english.people import OPENING_PERSONS
from extractors.english.phrases import Group, group_of
from extractors.english.proposing import (
    Proposed,
    is_dated_name,
    is_firm,
    is_place_before_which,
    may_act,
    values_of,
)
from extractors.english.subjects import is_complement
from extractors.english.topics import Topics
from extractors.english.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb, units_of
from extractors.grounding.entities import name_key
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from ontology.terms import OntologyProperty, PropertyKind

_REACH: Final = 6
_ARTICLES: Final = frozenset({"the", "a", "an", "another"})
_APPOSED: Final = frozenset({"a", "an", "the", "which", "who", "built", "founded", "designed", "opened"})
_PARTICIPLES: Final = ("ed", "built", "begun")
_LINKS: Final = frozenset("and but which who that it later where when while if as they he she".split())
_RELATIVE: Final = frozenset({"which", "that"})
_BEFORE_SUBJECTS: Final = frozenset(
    "and but while when that is was are were stands stood lies lay rises sits".split()
)


def acts(topics: Topics, sentence: Span, subject: str, clause: Clause, found: Governor) -> bool:
    """Whether a mention of the subject opens its clause, and nothing stands between that has the words."""
    units = clause.units
    if found.converse and lead_of(units, clause.value) in PREPOSITIONS:
        return False  # "Transport for Norton operates the Elm Ferry"
    if found.converse:
        return any(at < clause.value or _is_near(units, found.last, at) for at in clause.others)
    if found.subject is not None:
        return bool(clause.others)
    if is_entry(units, found):
        return False  # a list is read by its lines
    if _is_adjective(clause, found):
        return False
    if names_role(clause, found):
        before = units[: found.first - 1]
        return all(unit.kind is Kind.MARK for unit in before) or (
            bool(clause.others) and before[-1].text in (";", ",", "and")
        )
    if any(unit.text == "whose" for unit in units[max(0, found.first - _REACH) : found.first]):
        return False
    if found.first != clause.value and _has_own_noun(units, found.first):
        return False
    if clause.others:
        return any(_opens_clause(clause, at, found) for at in clause.others)
    return _opens_with_topic(topics, sentence, units, found.first, subject)


def _is_adjective(clause: Clause, found: Governor) -> bool:
    """Whether a name only describes a role before its name: "the Iraqi architect Ada Stone"."""
    units, first = clause.units, found.first
    role = found.last == clause.value and found.last == first + 1 and units[first].text not in PREPOSITIONS
    return role and first - 1 in clause.others and units[max(first - 2, 0)].text in _ARTICLES


def _opens_with_topic(
    topics: Topics, sentence: Span, units: Sequence[Unit], first: int, subject: str
) -> bool:
    """Whether "it" or "the hall" opens a clause for the subject, and no other name or clause follows."""
    plural = subject.casefold().endswith("s") and not subject.casefold().endswith("ss")
    pronouns = {"it", "they"} if plural else {"it"}
    it = max((n for n in range(first) if units[n].text in pronouns), default=None)
    opening = next((n for n, unit in enumerate(units) if unit.kind is not Kind.MARK), first)
    at = opening if it is None else it
    if at >= first or any(unit.text in ("its", "their", ";", ":") for unit in units[at:first]):
        return False
    if any(unit.kind is Kind.NAME and not is_complement(units, n) for n, unit in enumerate(units[:first])):
        return False
    joined = range(at + 1, first)
    if any(units[n].text in _ARTICLES and units[n - 1].text in ("and", ",", "but") for n in joined):
        return False
    if it is not None:
        return (
            it == opening or units[it - 1].text in {",", "when", "while"} or units[it - 1].text[-1:].isdigit()
        )
    noun = opening_noun(units) if units[at].text in ("the", "this") else ()
    meant = (topics.described(sentence, " ".join(noun[:n])) for n in range(len(noun), 0, -1))
    name = next((one for one in meant if one is not None), None)
    return name is not None and name_key(name) == name_key(subject)


def _is_near(units: Sequence[Unit], last: int, at: int) -> bool:
    """Whether a name is the object of a verb: no other clause begins between them."""
    between = units[last:at]
    return at > last and not any(
        unit.kind is Kind.MARK or unit.text in PREPOSITIONS or unit.text == "and" for unit in between
    )


def _has_own_noun(units: Sequence[Unit], first: int) -> bool:
    """Whether a verb has a noun of its own: "and dredging began"."""
    if first < 2 or units[first - 2].text not in ("and", ",", ";"):
        return False
    noun = units[first - 1]
    return (
        noun.kind is Kind.WORD
        and not is_adverb(noun)
        and noun.text not in AUXILIARIES | PREPOSITIONS | _LINKS
    )


def _opens_clause(clause: Clause, at: int, found: Governor) -> bool:
    """Whether a name can be what the words speak of, by what stands before it."""
    units = clause.units
    opened = max((n for n in range(at, clause.value) if units[n].text == "("), default=None)
    if opened is not None and opened != at + 1:
        return False  # "Elm Fair is held at the Ash Theater (900 seats)"
    if at > found.first:
        return _is_fronted(units, at, found)
    relatives = (n for n in range(at + 2, found.first) if _is_relative(units, n, found.first))
    if any(_antecedent(units, n) != at for n in relatives):
        return False  # "shares a house with the Elm Academy, which Ada Stone founded"
    if _has_subject_between(units, at, found.first) or _is_second_of_two(units, at):
        return False
    if _describes_noun(units, at):
        return False
    if _acts_in_relative(clause, at, found.first) or is_closed_region(units, at):
        return False
    if _is_of_object(units, at, clause.value, found) or _is_of_name_before(units, at, found.first):
        return False
    before = units[at - 1].text if at else ""
    lead = lead_of(units, _first_of_list(units, at))
    if before == "'s":
        owned = units[at - 2].kind is Kind.NAME or at == 2
        person = units[at - 2].text.split()[-1] in OPENING_PERSONS  # "King's College Norton"
        return owned and not person and not clause.phrases.has_word(units[at].text)  # "Stone's Cross"
    if is_place_before_which(units, at) or not may_act(units, at):
        return False
    return (
        not lead[:1].isalnum()
        or lead in _BEFORE_SUBJECTS
        or _is_apposed(clause, at, found.first, placed=lead in PREPOSITIONS)
        or _is_modified(units, at)
    )


def _has_subject_between(units: Sequence[Unit], at: int, first: int) -> bool:
    """Whether words have a subject of their own: "until the Ash Tower opened", "; number 12 dates from"."""
    verb = first
    while verb > at + 1 and (units[verb - 1].text in AUXILIARIES or is_adverb(units[verb - 1])):
        verb -= 1
    if verb - 1 == at and units[at - 1].text in _RELATIVE and at:
        return True  # "a villa that Ada Stone built in 1833": it is the villa that has the date
    named = verb - 1 > at and units[verb - 1].kind is Kind.NAME and units[verb - 2].text not in _RELATIVE
    if named and lead_of(units, verb - 1) not in PREPOSITIONS - {"until", "before", "after", "since"}:
        return True
    apart = max((n for n in range(at + 1, first) if units[n].text == ";"), default=verb)
    between = units[apart + 1 : verb]
    earlier = [n for n in range(at) if units[n].kind is Kind.NAME and units[n + 1].text != "'s"]
    if between and between[0].text == "it":
        return any(not is_complement(units, n) for n in earlier)
    if apart < verb and earlier:
        return True  # "Elm Line: end at Ash Hill; operator Oak Trust"
    return bool(between) and not between[0].text[0].isdigit()


def _acts_in_relative(clause: Clause, at: int, first: int) -> bool:
    """Whether a name acts in an aside: "the tower, which Stone drew and Reed Co built, was completed"."""
    units = clause.units
    verb = units[at + 1] if at + 1 < first else None
    if verb is None or not clause.phrases.is_converse(verb):
        return False
    closed = any(unit.text == "," for unit in units[at + 2 : first])
    return closed and any(unit.text in _RELATIVE for unit in units[:at])


def _describes_noun(units: Sequence[Unit], at: int) -> bool:
    """Whether a name only describes the nouns before a verb: "The Norton tram network opened in 1906"."""
    end = at + 1
    while end < len(units) and end < at + 4 and units[end].kind is Kind.WORD and not is_adverb(units[end]):
        if units[end].text in AUXILIARIES or units[end].text.endswith(_PARTICIPLES):
            return end > at + 1 and at > 0 and units[at - 1].text == "the"
        if units[end].text in PREPOSITIONS | _LINKS:
            return False
        end += 1
    led = at > 0 and units[at - 1].text == "the"
    return led and at + 1 < end < len(units) and units[end].text == ","


def _is_second_of_two(units: Sequence[Unit], at: int) -> bool:
    """Whether words may speak of all names of a list, or of none: "by Stone and Reed, which"."""
    follows = [unit.text for unit in units[at + 1 : at + 3]]
    joined = at > 1 and units[at - 1].text == "and" and units[at - 2].kind is Kind.NAME
    return joined and follows in ([",", "which"], [",", "who"], [",", "and"])


def _is_fronted(units: Sequence[Unit], at: int, found: Governor) -> bool:
    """Whether a participle opens the sentence: "Built in 1871, the Elm Hall"."""
    opening = next((n for n, unit in enumerate(units) if unit.kind is not Kind.MARK), None)
    before = at - 1
    while before > 0 and units[before].text in _ARTICLES:
        before -= 1
    participle = units[found.first].text.endswith(_PARTICIPLES)
    joined = all(unit.text not in (";", ":") for unit in units[found.first : at])
    return participle and opening == found.first and units[before].text == "," and joined


def _is_relative(units: Sequence[Unit], at: int, first: int) -> bool:
    """Whether "which" speaks of the name before its comma, and its clause goes on to the words."""
    if units[at].text not in ("which", "who", "whose") or units[at - 1].text != ",":
        return False
    named = units[_antecedent(units, at)].kind is Kind.NAME
    return named and not any(unit.text == "," for unit in units[at:first])


def _antecedent(units: Sequence[Unit], relative: int) -> int:
    """Where the name is of which ", which" speaks, over a noun behind it: "the Elm restaurant, which"."""
    return relative - 2 - (units[relative - 2].kind is Kind.WORD)


def _is_of_object(units: Sequence[Unit], at: int, value: int, found: Governor) -> bool:
    """Whether a number measures the object of a verb: "Elm Bridge spans a gully 43 meters deep"."""
    if found.first != value:
        return False
    objects = (n for n in range(at + 2, value) if units[n].text in _ARTICLES)
    return any(
        units[n - 1].kind is Kind.WORD and units[n - 1].text not in PREPOSITIONS | AUXILIARIES
        for n in objects
    )


def _is_of_name_before(units: Sequence[Unit], at: int, first: int) -> bool:
    """Whether a participle describes the name before its comma: "holds the ruin of Elm Fort, built in"."""
    name = first - 2
    apart = name > at and units[first - 1].text == "," and units[name].kind is Kind.NAME
    return (
        apart
        and units[first].text.endswith(_PARTICIPLES)
        and lead_of(units, name) not in PREPOSITIONS - {"of"}
    )


def _first_of_list(units: Sequence[Unit], at: int) -> int:
    """The name that a list begins with: "Work at Elm Street and Ash Road began"."""
    here = at - 1
    while here > 0 and units[here].text in _ARTICLES:
        here -= 1
    joined = here > 0 and units[here].text == "and" and units[here - 1].kind is Kind.NAME
    return _first_of_list(units, here - 1) if joined else at


def _is_apposed(clause: Clause, at: int, first: int, *, placed: bool) -> bool:
    """Whether words describe the name before a comma: "in Elm Church, a chapel 89 meters high".

    Where the name only says where something is, `placed`, they must say what kind of thing it is.
    """
    units = clause.units
    if at + 2 >= first or units[at + 1].text != "," or units[at + 2].text not in _APPOSED:
        return False
    between = units[at + 3 : first]
    if any(unit.kind is Kind.NAME or (unit.kind is Kind.MARK and unit.text != "-") for unit in between):
        return False
    finite = units[first].text.endswith("s") and units[first].text not in AUXILIARIES
    if units[at + 2].text == "the" and finite:
        return False  # "West of Norton, the province includes"
    relative = units[at + 2].text in ("which", "who")
    return not placed or relative or any(clause.phrases.is_kind(unit) for unit in between)


def _is_modified(units: Sequence[Unit], at: int) -> bool:
    """Whether only words that describe a name stand before it in its clause: "the engineer Ada Stone"."""
    here = at - 1
    while here >= 0 and (units[here].kind is Kind.WORD or units[here].text == "-") and at - here <= _REACH:
        if units[here].text in PREPOSITIONS | AUXILIARIES | _LINKS:
            return False
        here -= 1
    opens = here < 0 or units[here].kind is Kind.MARK
    return opens and not lead_of(units, at).endswith(("s", "ed"))


_OWNING = ("'s ", "’s ")


def paired(wording: Wording) -> Iterator[Proposed]:
    """What the second look confirms of one subject only, and that one can be what the words are said of."""
    found: dict[tuple[NamedNode, Span], list[str]] = {}
    sentences: dict[Span, Span] = {}
    for subject, term, value, sentence in _pairs(wording) if wording.reads else ():
        if wording.says(sentence, term, subject, value, "", is_firm) is None:
            found.setdefault((term.iri, value), []).append(subject)
            sentences[value] = sentence
    for (iri, value), subjects in found.items():
        term, sentence = wording.schema.properties[iri], sentences[value]
        acting = [
            one
            for one in subjects
            if wording.says(sentence, term, one, value, "", partial(_governs, wording, sentence, one)) is None
        ]
        if acting and _is_list(wording.text, sentence, subjects):
            acting = subjects
        elif len(acting) != 1:
            continue
        words = wording.text.text[value.start : value.end]
        yield from ((one, term, words, sentence) for one in acting)


def _is_list(text: GroundedText, sentence: Span, names: Sequence[str]) -> bool:
    """Whether names open a sentence together: "The Elm Hall and the Ash Tower are both served by"."""
    spans = sorted(found[0] for name in names if (found := text.occurrences(name, sentence)))
    gaps = [text.text[one.end : other.start].casefold() for one, other in pairwise(spans)]
    opening = text.text[sentence.start : spans[0].start].strip().casefold() if spans else "."
    listed = all(gap in (" and ", " and the ", ", ", ", the ", ", and ", ", and the ") for gap in gaps)
    return len(spans) == len(names) > 1 and listed and " and " in gaps[-1] and opening in ("", "the", "both")


def _governs(wording: Wording, sentence: Span, subject: str, clause: Clause, found: Governor) -> bool:
    return is_firm(clause, found) and acts(wording.topics, sentence, subject, clause, found)


def _pairs(wording: Wording) -> Iterator[tuple[str, OntologyProperty, Span, Span]]:
    """Each subject, relation and value of a sentence that has words for the relation."""
    text, known = wording.text, wording.names
    for sentence in text.sentences:
        inside = [one for one in known if sentence.start <= one.start and one.end <= sentence.end]
        longest = [one for one in inside if not any(_is_within(one, other) for other in inside)]
        longest = [one for one in longest if not is_dated_name(text.text[one.start : one.end])]
        about = wording.topics.before(sentence)
        free = [one for one in longest if not text.text.startswith(_OWNING, one.end)]
        named = [text.text[one.start : one.end] for one in free]
        subjects = list(dict.fromkeys([*named, *([about] if about else [])]))
        for group in Group:
            values = longest if group is Group.NAMES else list(values_of(text.text, sentence, group))
            units = units_of(text.text, sentence, [*longest, *values])
            iris = {iri for one in wording.phrases.occurrences(units, group, {}) for iri in one.terms}
            if group is Group.NAMES and any(unit.text in ("'s", "of") for unit in units):
                iris |= {iri for iri in wording.schema.properties if wording.phrases.has(iri, "in")}
            terms = [wording.schema.properties[iri] for iri in sorted(iris, key=lambda iri: iri.value)]
            for term in terms:
                if group_of(term) is Group.NAMES and term.kind is not PropertyKind.OBJECT:
                    continue
                for value in values:
                    words = text.text[value.start : value.end]
                    yield from ((subject, term, value, sentence) for subject in subjects if subject != words)


def _is_within(one: Span, other: Span) -> bool:
    return other != one and other.start <= one.start and one.end <= other.end
