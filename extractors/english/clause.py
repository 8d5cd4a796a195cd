"""A sentence around an object: the words in it that say a relation, other objects, and other subjects."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from extractors.english.descriptions import Description, lead_of
from extractors.english.phrases import Group, Occurrence, Phrases, group_of
from extractors.english.subjects import is_complement
from extractors.english.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb
from extractors.grounding.entities import name_key
from ontology.terms import OntologyProperty, PropertyKind

_OPENERS: Final = frozenset({"(", "|", "•", ";", "*", "-", "–", ","})
_BEFORE_ADDRESS: Final = frozenset({"at", ",", ":", "*", "•", "|", "("})
_BEING: Final = frozenset({"is", "was", "are", "were"})
_LONGEST_KEY: Final = 3
_PLACED: Final = frozenset("located situated set standing lying built found based".split())


@dataclass(frozen=True)
class Clause:
    """A sentence around an object: its units, where the object and the subject are, and the labels in it.

    `value` and `others` are indexes of units; `others` those of the subject, if the sentence has it.
    """

    units: Sequence[Unit]
    value: int
    others: frozenset[int]
    occurrences: Sequence[Occurrence]
    term: OntologyProperty
    phrases: Phrases


@dataclass(frozen=True)
class Governor:
    """The words that say the relation, at `units[first:last]`. `converse`: the object is their subject.

    `subject`: the unit of which they say it, where the construction itself says so.
    """

    first: int
    last: int
    converse: bool = False
    subject: int | None = None


def is_glued(units: Sequence[Unit], at: int) -> bool:
    """Whether a mark joins two words without a blank: "St. Mary's-in-the-Fields"."""
    before, after = units[at - 1] if at else None, units[at + 1] if at + 1 < len(units) else None
    return (
        before is not None
        and after is not None
        and (before.end, units[at].end) == (units[at].start, after.start)
    )


def is_fronted(units: Sequence[Unit], place: int, at: int) -> bool:
    """Whether only a place opens the sentence, before its subject: "Located in Norton, Elm Hall was"."""
    opening = [one.text for one in units[:place] if one.text not in ("the", "now", "today")]
    opens = len(opening) == 1 or (len(opening) == 2 and opening[0] in _PLACED)
    return opens and at + 1 < len(units) and units[at + 1].text in AUXILIARIES


def keyed(clause: Clause) -> Governor | None:
    """A label with a colon before the value, that opens a line, brackets or an entry of a list."""
    units, at = clause.units, clause.value - 1
    if at < 1 or units[at].text != ":":
        return None
    at -= units[at - 1].text == "."  # "Tel.:"
    for one in clause.occurrences:
        if one.last == at and clause.term.iri in one.terms and _opens(units, one.first, _LONGEST_KEY):
            return Governor(one.first, one.last)
    first = at - 1
    while first > max(0, at - _LONGEST_KEY) and units[first].kind is Kind.WORD and not _opens(units, first):
        first -= 1
    key = " ".join(unit.text for unit in units[first:at])
    named = _opens(units, first) and clause.phrases.has(clause.term.iri, key)
    return Governor(first, at) if named else None


def is_entry(units: Sequence[Unit], found: Governor) -> bool:
    """Whether words are the key of an entry."""
    behind = [unit.text for unit in units[found.last : found.last + 2]]
    return behind[:1] == [":"] or behind == [".", ":"]


def names_role(clause: Clause, found: Governor) -> bool:
    """Whether the words are a role that a name is said to have: "its architect was Ada Stone"."""
    units, last = clause.units, found.last
    led = found.first > 0 and units[found.first - 1].text in ("its", "the")
    verb = last - 1 if units[last - 1].text in _BEING else last
    return led and verb < clause.value <= verb + 2 and units[verb].text in _BEING


def of_address(clause: Clause) -> Governor | None:
    """A number of a house with its street, for a relation that leads to an address: "at 41 Elm Row"."""
    units, at = clause.units, clause.value
    if not clause.phrases.has_noun(clause.term.iri, "address") or at < 1:
        return None
    words = units[at].text.split()
    numbered = len(words) > 1 and _is_house(words[0]) != _is_house(words[-1]) and ":" not in units[at].text
    if not numbered or units[at - 1].text not in _BEFORE_ADDRESS:
        return None
    return Governor(at - 1, at)


def _is_house(word: str) -> bool:
    """Whether a word is the number of a house: "41", "41a", "41-43"; not "86th"."""
    return word[0].isdigit() and not word.endswith(("st", "nd", "rd", "th"))


def _opens(units: Sequence[Unit], at: int, most: int = 1) -> bool:
    """Whether an entry begins with a unit, or fewer than `most` before it: behind a mark, on a new line."""
    if most > 1 and at > 0 and units[at - 1].kind is Kind.WORD and not _opens(units, at):
        return _opens(units, at - 1, most - 1)
    if at <= 0:
        return True
    before = units[at - 1]
    return before.text in _OPENERS or units[at].start - before.end > 1 or before.text == "."


def is_half(clause: Clause, found: Governor) -> bool:
    """Whether an agent is one of two single words: "designed by Reed and Stem" may name one firm."""
    units, at = clause.units, clause.value
    if units[max(found.last - 1, 0)].text != "by" or " " in units[at].text:
        return False
    firm = [unit.text for unit in units[at + 1 : at + 4 : 2]] == [",", "and"]
    if firm and all(unit.kind is Kind.NAME and " " not in unit.text for unit in units[at + 2 : at + 5 : 2]):
        return True  # "by Stone, Reed and White"
    for word, other in ((at + 1, at + 2), (at - 1, at - 2)):
        if 0 <= other < len(units) and units[word].text in ("and", "&"):
            return units[other].kind is Kind.NAME and " " not in units[other].text
    return False


def is_compound(units: Sequence[Unit], at: int) -> bool:
    """Whether a dash without blanks joins a name to another: "at Elm Hall–42nd Street"."""
    return any(
        units[n].text in ("–", "—", "-", "/") and is_glued(units, n)
        for n in (at - 1, at + 1)
        if n > 0 and n + 1 < len(units)
    )


def is_owner(clause: Clause, found: Governor) -> bool:
    """Whether an object has "'s" behind it: "designed by Norton's Ada Stone"; after "in" a place may."""
    after = clause.value + 1
    owns = after < len(clause.units) and clause.units[after].text == "'s"
    return owns and found.first < clause.value and not clause.phrases.has(clause.term.iri, "in")


def is_part_of_words(clause: Clause) -> bool:
    """Whether a value is one end of a dash, or describes: "built as a War factory", "owns the Elm rights"."""
    units, at = clause.units, clause.value
    described = at > 0 and units[at - 1].text in ("a", "an") and clause.term.kind is not PropertyKind.OBJECT
    return described or is_compound(units, at) or _describes_several(units, at)


def _describes_several(units: Sequence[Unit], at: int) -> bool:
    """Whether a name stands before a noun in the plural that ends its phrase: "the Elm trademarks"."""
    after = units[at + 1 : at + 3]
    plural = len(after) > 1 and after[0].text.isalpha() and after[0].text.endswith("s")
    led = at > 0 and units[at - 1].text in ("the", "by", "for") and plural and after[0].kind is Kind.WORD
    ends = len(after) > 1 and (after[1].kind is Kind.MARK or after[1].text in ("and", "or"))
    return led and ends and after[0].text not in AUXILIARIES | PREPOSITIONS and not is_adverb(after[0])


_NUMBERED: Final = frozenset(
    "first second third fourth fifth sixth seventh eighth ninth tenth original previous earlier".split()
)
_COUNTING: Final = frozenset("two three four five six seven eight nine ten twelve several many".split())
_WITH: Final = frozenset({"at", "with", "near", "beside", "which", "whom"})
_BESIDE: Final = frozenset("of from for like than with after near unlike".split())
_LISTING: Final = frozenset({"and", "or", "the", "with"})
_OPEN: Final = frozenset("it him her them itself this these".split())
_LONGEST_OBJECT: Final = 3
_PRONOUNS: Final = frozenset("it its he she they his her their this these both which who that".split())
_POSSESSIVE: Final = frozenset({"its", "his", "her", "their"})
_NOT_NOUNS: Final = frozenset("the a an and or but which that who it its".split())
_BEFORE_PAIRS: Final = frozenset("from to between with after for by".split())
_JOINING: Final = frozenset("connect link join unit".split())
_NOUN_ENDS: Final = PREPOSITIONS | AUXILIARIES | _NOT_NOUNS
_PARTICLES_OF_PLACE: Final = frozenset("in within inside at on".split())
_PARTICLES: Final = frozenset("in on at from within inside along".split())


def other_subject(units: Sequence[Unit], first: int, value: int) -> Unit | None:
    """The name that opens a sentence that has no pronoun before the words: "Elm Bridge connects"."""
    before = units[: min(first, value)]
    if any(unit.text in _PRONOUNS for unit in before):
        return None
    at = next((n for n, unit in enumerate(before) if unit.kind is Kind.NAME), None)
    opens = at is not None and all(one.kind is Kind.MARK or one.text == "the" for one in before[:at])
    return units[at] if at is not None and opens else None


def is_behind(clause: Clause, found: Governor) -> bool:
    """Whether "it" stands before the words, and the subject only behind the object."""
    said = any(unit.text == "it" for unit in clause.units[: found.first])
    return said and bool(clause.others) and min(clause.others) > clause.value


def is_only_behind(clause: Clause, found: Governor) -> bool:
    """Whether the subject is only named behind a value that is said of another thing.

    It is a complement ("completed in 2012 at the Elm Archives"), or another name is the subject ("Elm Row is
    in Norton, bordering the Ash Row").
    """
    units = clause.units
    if not clause.others or min(clause.others) < max(found.last, clause.value) or found.first > clause.value:
        return False
    placing = units[found.last - 1].text in _PARTICLES_OF_PLACE
    before = (n for n, unit in enumerate(units[: found.first]) if unit.kind is Kind.NAME)
    named = any(not is_complement(units, n) for n in before)
    short = any(
        unit.kind is Kind.NAME and f" {units[at].text} " in f" {unit.text} " and unit is not units[at]
        for unit in units
        for at in clause.others
    )
    placed = all(lead_of(units, at) in _WITH for at in clause.others) and not short
    return placed or (placing and named)


def is_region(clause: Clause, found: Governor) -> bool:
    """Whether the subject is named only right behind the object, as its region: "in Ash Village, Norton"."""
    behind = clause.units[clause.value + 1 : clause.value + 2]
    fronted = all(unit.kind is Kind.MARK for unit in clause.units[: found.first])
    closed = clause.units[clause.value + 3 : clause.value + 4]
    apart = not fronted or any(unit.text == "," for unit in closed)
    if clause.others and min(clause.others) > clause.value and apart and found.first < clause.value:
        between = clause.units[clause.value + 1 : min(clause.others)]
        plain = all(unit.kind is Kind.NAME or unit.text not in AUXILIARIES for unit in between)
        verb = len(between) > 1 and between[0].text == "and" and between[1].kind is Kind.WORD
        verb = verb and between[1].text not in _NOT_NOUNS
        if plain and (verb or any(unit.text == "of" for unit in between)):
            return True  # "in the Ash section of Norton", "spans the Wye and connects Norton"
    if not (clause.others and apart and behind and behind[0].text == ","):
        return False
    first, last = clause.value + 1, min(clause.others)
    chain = clause.units[first:last]  # "in Ash Village, Norton, Weston"
    named = all(unit.kind is Kind.NAME or unit.text == "," for unit in chain)
    return len(clause.others) == 1 and last > clause.value and named and chain[-1].text == ","


def objects_of(units: Sequence[Unit], at: int) -> Sequence[Unit] | None:
    """The names that a verb has as its objects; None for "it", "the hall", or nothing that follows it."""
    found: list[Unit] = []
    if at + 2 < len(units) and units[at].text == "and" and units[at + 2].text in ("the", "it"):
        at += 2  # "owns and operates the station"
    for place, unit in enumerate(units[at:], at):
        if unit.kind is Kind.NAME:
            found.append(unit)
        elif found and (unit.text not in _LISTING or unit.kind is Kind.MARK) and unit.text != ",":
            break
        elif not found and (unit.text in _OPEN or (unit.kind is Kind.MARK and place == at)):
            return None
        elif not found and (unit.kind is Kind.MARK or place > at + _LONGEST_OBJECT):
            break
        elif not found and place > at + 1 and unit.text in _PARTICLES:
            break  # "the garden on Elm Lane"
    described = at < len(units) and units[at].text in ("the", "this", "that", "both")
    return None if not found and (described or at >= len(units)) else found


def is_numbered(units: Sequence[Unit], at: int) -> bool:
    """Whether a name stands for another thing that bore it: "the fourth Ash Bridge, built in 1912"."""
    return at > 1 and units[at - 1].text in _NUMBERED and units[at - 2].text in ("the", "this", "that")


def acts_on_other(clause: Clause, found: Governor) -> bool:
    """Whether a verb has an object of its own, of which a date speaks: "Stone & Co. built it in 1912"."""
    units, at = clause.units, found.first
    actor = _actor(clause, at)
    if actor is None or actor not in clause.others:
        return False
    follows = units[at + 1] if at + 1 < len(units) else None
    has_object = follows is not None and (
        follows.kind is Kind.NAME or follows.text in ("it", "them", "the", "a", "this")
    )
    return has_object or is_actor(clause, actor)


def is_actor(clause: Clause, at: int) -> bool:
    """Whether a name acts in a relative clause: "the tower, which Stone & Co. built"."""
    units = clause.units
    lead = at - 1 - (at > 0 and units[at - 1].text == "the")
    verb = at + 1
    while verb < len(units) and (is_adverb(units[verb]) or units[verb].text in ("has", "had")):
        verb += 1
    acting = verb < len(units) and clause.phrases.is_converse(units[verb])
    return acting and lead > 0 and units[lead].text in ("which", "that", "whom")


def is_done_to_it(clause: Clause, found: Governor) -> bool:
    """Whether a name does something to "it", of which a date speaks: "Stone & Co. built it in 1912"."""
    it = clause.units[found.first + 1 : found.first + 2]
    return _actor(clause, found.first) is not None and [unit.text for unit in it] == ["it"]


def _actor(clause: Clause, verb: int) -> int | None:
    """The place of the name that a verb has as its subject."""
    at = verb - 1
    while at > 0 and is_adverb(clause.units[at]):
        at -= 1
    named = at >= 0 and clause.units[at].kind is Kind.NAME
    return at if named and clause.phrases.is_converse(clause.units[verb]) else None


def is_object_before(clause: Clause, found: Governor) -> bool:
    """Whether the subject is only the object of the verb before "and": "The bridge carries Line 5 and is"."""
    units, last = clause.units, max(clause.others, default=-1)
    if last < 1 or last > found.first or len(clause.others) != 1 or lead_of(units, last) in ("", ","):
        return False
    between = [unit.text for unit in units[last + 1 : found.first]]
    return between[:1] == ["and"] and all(word in AUXILIARIES for word in between[1:])


def is_acted_on(units: Sequence[Unit], at: int, last: int) -> bool:
    """Whether a verb behind the words does something to a name: "opened in 1969 and replaced Elm Lane"."""
    return at > last and lead_of(units, at).endswith("ed")


def opens_next_clause(clause: Clause) -> bool:
    """Whether the subject only begins the clause behind the object: "began in 1923, and Stone opened it"."""
    first = min(clause.others, default=-1)
    if first <= clause.value + 1:
        return False
    lead = first - 1
    while lead > clause.value and clause.units[lead].text == "the":
        lead -= 1
    follows = clause.units[first + 1].kind if first + 1 < len(clause.units) else Kind.MARK
    return follows is Kind.WORD and [unit.text for unit in clause.units[lead - 1 : lead + 1]] == [",", "and"]


def of_named_kind(clause: Clause, found: Governor) -> str | None:
    """A name with its noun right before a preposition: "after Elm station on the Main Line"."""
    units, noun = clause.units, found.first - 1
    lone = found.last == found.first + 1 and units[found.first].text in _PARTICLES
    named = noun > 1 and units[noun - 1].kind is Kind.NAME and units[noun - 2].text in PREPOSITIONS
    if not (lone and named and clause.phrases.is_kind(units[noun])):
        return None
    return f"{units[noun - 1].text} {units[noun].text}"


def is_numeral(word: str) -> bool:
    """Whether a word numbers one of several: "the first shop"."""
    return word in _NUMBERED


def has_it_too(units: Sequence[Unit], clause: Clause, found: Governor) -> bool:
    """Whether the subject acts on "it" as well: "Stone & Co. built it and Jo Reed designed it"."""
    if found.last >= len(units) or units[found.last].text != "it":
        return False
    before = [at for at in clause.others if at < clause.value]
    return bool(before) and any(unit.text == "it" for unit in units[max(before) : clause.value])


def says_of_owned(clause: Clause, found: Governor) -> bool:
    """Whether the words speak of a thing that is only beside the subject.

    That is a thing which the subject owns ("Elm School's campus was built"), or one that another thing is
    of ("a branch of the museum in Weston").
    """
    units, first = clause.units, found.first
    owned = [at for at in clause.others if at + 2 < len(units) and units[at + 1].text == "'s"]
    before = [at for at in clause.others if at < first]
    if before and set(before) <= set(owned) and units[max(before) + 2].kind is Kind.WORD:
        between = units[max(before) + 2 : first]
        return any(unit.text in AUXILIARIES for unit in between) and not _is_measure(between, clause)
    noun = first - 1
    lone = found.last == first + 1 and units[first].text in _PARTICLES
    if not lone or noun < 2 or units[noun].kind is not Kind.WORD or units[noun].text in _NOUN_ENDS:
        return False
    here = noun - 1
    while here > 0 and units[here].kind is Kind.WORD and units[here].text not in _NOUN_ENDS:
        here -= 1
    return (
        here > 1
        and units[here].text == "the"
        and units[here - 1].text in _BESIDE
        and not _is_one_of(units, here)
    )


def _is_measure(between: Sequence[Unit], clause: Clause) -> bool:
    """Whether the noun behind "'s" is a label of the relation: "Elm Hall's population was"."""
    return any(clause.phrases.has_noun(clause.term.iri, unit.text) for unit in between)


def owner_before(units: Sequence[Unit], found: Governor) -> Unit | None:
    """The name that owns what the words speak of: "home to the BBC's headquarters Elm House"."""
    owned = found.first > 1 and units[found.first - 1].text == "'s"
    return units[found.first - 2] if owned and units[found.first - 2].kind is Kind.NAME else None


def name_before(clause: Clause, found: Governor) -> Unit | None:
    """The name that a noun or an alias right behind it describes: "in Weston, capital of Norton"."""
    units, at, term = clause.units, found.first - 1, clause.term
    if at > 0 and units[at].text == ",":
        at -= 1
    if at > 0 and units[at].text in ("a", "an") and units[at - 1].kind is Kind.NAME:
        return units[at - 1]  # "making Norton a suburb of"
    alias = term.kind is not PropertyKind.OBJECT and group_of(term) is Group.NAMES
    noun = clause.phrases.is_kind(units[found.first]) and not units[found.first].text.endswith("ed")
    apart = at == found.first - 2 and not is_complement(units, at)
    return units[at] if at >= 0 and ((alias and apart) or noun) and units[at].kind is Kind.NAME else None


def is_one_of_two(units: Sequence[Unit], at: int) -> bool:
    """Whether a name is an end of what leads from one to the other: "connects Elm Park in Norton to"."""
    here = at - 1
    while here > 0 and units[here].text in ("the", "and", ","):
        here -= 1
        if units[here].kind is Kind.NAME:
            here -= 1
    return here >= 0 and (units[here].text in _BEFORE_PAIRS or units[here].stem.startswith(tuple(_JOINING)))


def noun_before(units: Sequence[Unit], found: Governor) -> Unit | None:
    """The noun that a participle behind it describes, where that is no name for the subject.

    "It consists of houses built in 1902" does not say when it was built, "it is a house built in 1902" does.
    """
    first = _verb_of_agent(units, found)
    at = first - 1
    while at > 0 and is_adverb(units[at]):
        at -= 1
    verb = next((unit for unit in units[first : found.last] if not is_adverb(unit)), units[at])
    participle = verb.text.endswith(("ed", "ing", "built", "made", "held", "run", "laid", "known"))
    if at < 1 or not participle or units[at].kind is not Kind.WORD or is_adverb(units[at]):
        return None
    if units[at].text in _NOUN_ENDS or units[at].text.endswith(("ed", "ing")) or units[at].text[0].isdigit():
        return None
    start = at
    while start > 0 and (
        (units[start - 1].kind is Kind.WORD and units[start - 1].text not in _NOUN_ENDS)
        or (units[start - 1].text == "-" and is_glued(units, start - 1))
    ):
        start -= 1
    lead = units[start - 1].text if start else ""
    if lead in ("the", "a", "an", "its"):
        lead = units[start - 2].text if start > 1 else ""
        counted = False
    else:
        counted = any(unit.text[0].isdigit() or unit.text in _COUNTING for unit in units[start:at])
    if lead == "of" and start > 1 and _is_one_of(units, start):
        return None
    return units[at] if lead in PREPOSITIONS - {"as"} or counted else None


def _verb_of_agent(units: Sequence[Unit], found: Governor) -> int:
    """Where words begin, or the verb before "by" where they say what its agent is: "drawn by architect"."""
    first = found.first
    return first - 2 if first > 1 and units[first - 1].text == "by" else first


def _is_one_of(units: Sequence[Unit], start: int) -> bool:
    """Whether "of" belongs to "one of the": "is one of the oldest halls built"."""
    before = [unit.text for unit in units[max(0, start - 4) : start]]
    return "one" in before or "some" in before


def only_places(units: Sequence[Unit], subjects: Collection[int], anchor: int) -> bool:
    """Whether the subject only places another thing: "a room in Weston, Norton, owned by"."""
    before = [at for at in subjects if at < anchor - 1 and not _is_apposed(units, at, anchor)]
    return (
        bool(before)
        and len(before) == len(subjects)
        and all(lead_of(units, at) in _PARTICLES_OF_PLACE or _is_region_behind(units, at) for at in before)
    )


def _is_apposed(units: Sequence[Unit], at: int, anchor: int) -> bool:
    """Whether words behind a comma and an article describe a name: "in Weston, the capital of"."""
    return units[at + 1].text == "," and [one.text for one in units[at + 2 : anchor]] in (
        ["the"],
        ["a"],
        ["an"],
    )


def _is_region_behind(units: Sequence[Unit], at: int) -> bool:
    """Whether a name is the region of a place before it: "in Weston, Norton"; not "in Weston, Elm is"."""
    if at + 1 < len(units) and units[at + 1].text in AUXILIARIES:
        return False
    place = at - 2
    placed = place > 0 and units[at - 1].text == "," and lead_of(units, place) in _PARTICLES_OF_PLACE
    return placed and not is_fronted(units, place, at)


def listed_with(units: Sequence[Unit], subject: Unit) -> Sequence[Unit]:
    """The names that open a clause together: "Elm Hall and the Ash Tower were designed by"."""
    at = next(n for n, unit in enumerate(units) if unit is subject)
    found, here = [subject], at - 1
    while here > 0 and units[here].text in ("and", ",", "the", "both"):
        if units[here].text in ("and", ",") and units[here - 1].kind is Kind.NAME:
            found.append(units[here - 1])
            here -= 1
        here -= 1
    opens = here < 0 or units[here].kind is Kind.MARK or units[here].text in ("the", "both")
    joined = any(unit.text == "and" for unit in units[max(here, 0) : at])
    return found if opens and joined else [subject]


def first_name(clause: Clause, found: Governor) -> int | None:
    """The place of the first name before words that is no complement."""
    names = (n for n, unit in enumerate(clause.units[: found.first]) if unit.kind is Kind.NAME)
    return next((n for n in names if not is_complement(clause.units, n)), None)


def is_named_behind(clause: Clause, at: int, about: Description, subject: str) -> bool:
    """Whether a name stands behind what is said of "the hall", and has no word of that."""
    named = any(name_key(word) in name_key(subject).split() for word in about.noun.split())
    whole = name_key(clause.units[at].text) == name_key(subject) and lead_of(clause.units, at) != "as"
    return at > clause.value and whole and not (about.inner or about.possessive or named)
