"""Where a sentence has the words of a relation's labels, whatever their inflection and what is between them.

Of phrases that overlap the longest counts, among relations that could take the same kind of object: "opened
in" before a date is no "in". English puts when, where and as what between a verb and the preposition that
leads to its agent ("founded in 1838 by"), and from where between a verb of motion and "to".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.units import AUXILIARIES, WORKS, Kind, Unit, is_adverb
from ontology.labels import stem, words
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind
from ontology.vocabulary import XSD

_LEADS: Final = frozenset("in on at as for around during between from near".split())
_ENDS: Final = AUXILIARIES | frozenset(
    """by which who that whose while where when it he she they and but or to after before designs design plans
    drawings run led owned held made sold bought""".split()
)
_IN_PERIOD: Final = frozenset({"and", "to"})
_FINAL: Final = frozenset("by to as after for in at over across and".split())
_DIRECTIONS: Final = frozenset("up down out over on all the way north south east west across".split())
_PARTS: Final = frozenset("in of at near on through".split())
_ARTICLES: Final = frozenset({"the", "a", "an"})
_DATE: Final = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?|\d{4}s?|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|early|late|mid|the|about|around|circa|spring|summer|autumn|fall|winter|,"
)
_HERE: Final = frozenset({"there", "here"})
_LONGEST_ADJUNCT: Final = 7
_LONGEST_ORIGIN: Final = 9
_LONGEST_PLACE: Final = 4


def after_adjuncts(units: Sequence[Unit], here: int, word: str, *, dated: bool) -> int:
    """Where the next word of a label may stand, past what says when, where or from where; else `here`.

    `dated`: the label leads to a date, and then only the first date of a period is passed over, and the
    name of what work is on.
    """
    if dated and word not in ("of", "on") and (end := _past_work(units, here)) != here:
        return end
    if here >= len(units) or word not in _FINAL or dated != (word == "and"):
        return here
    if dated:
        end = here
        while end < len(units) and (_is_dated(units[end]) or units[end].text == ","):
            end += 1
        return end if end > here and end < len(units) and units[end].text == word else here
    is_between, longest = (_is_origin, _LONGEST_ORIGIN) if word == "to" else (_is_date, _LONGEST_ADJUNCT)
    is_between = _is_adjunct if word == "by" else is_between
    if word in ("in", "at") and _is_often(units[here:]):
        here += 2  # "held every March in"
        if here < len(units) and units[here].text == word:
            return here
    if word == "in" and here < len(units) and units[here].text in ("on", "at"):
        is_between, longest = _is_place, _LONGEST_PLACE
    if word in ("over", "across"):
        is_between, longest = _is_load, _LONGEST_PLACE
    for end in range(here + 1, min(here + longest + 1, len(units))):
        if units[end].text == word:
            between = units[here:end]
            return end if is_between(between) or (word == "to" and _is_date(between)) else here
    return here


def _past_work(units: Sequence[Unit], here: int) -> int:
    """Where a verb may stand behind what work is on: "construction of the Elm Hall began"; else `here`."""
    if not 0 < here < len(units) or units[here - 1].text not in WORKS or units[here].text not in ("of", "on"):
        return here
    at = here + 1 + (here + 1 < len(units) and units[here + 1].text == "the")
    return at + 1 if at < len(units) and units[at].kind is Kind.NAME else here


def _is_often(units: Sequence[Unit]) -> bool:
    """Whether words say how often: "every March"."""
    return len(units) > 2 and units[0].text in ("every", "each") and units[1].text not in _ARTICLES


def _is_place(between: Sequence[Unit]) -> bool:
    """Whether words are a street or a site: "on Elm Street" of "born on Elm Street in Norton"."""
    rest = [unit for unit in between[1:] if unit.text not in _ARTICLES]
    return len(rest) == 1 and rest[0].kind is Kind.NAME


def _is_load(between: Sequence[Unit]) -> bool:
    """Whether words are what is carried: "the trains" of "carries the trains over"."""
    return all(
        unit.kind is Kind.NAME or unit.text in _ARTICLES | {"and"} or unit.text.isalpha() for unit in between
    ) and not any(unit.text in _ENDS or is_adverb(unit) for unit in between)


def _is_dated(unit: Unit) -> bool:
    return unit.text[0].isdigit() or _DATE.match(unit.text) is not None


def _is_date(between: Sequence[Unit]) -> bool:
    """Whether words say when: "in 2021", "on May 2, 1901"."""
    rest = between[1:]
    dated = any(any(c.isdigit() for c in unit.text) for unit in rest)
    return between[0].text in ("in", "on") and dated and all(_DATE.fullmatch(unit.text) for unit in rest)


def _is_adjunct(between: Sequence[Unit]) -> bool:
    """Whether words only say when, where, for what or as what; another verb or clause ends them."""
    period = any(unit.text[0].isdigit() for unit in between)
    if between[0].text in _HERE:
        between = between[1:]  # "put up there in 1897 by"
    return (not between or between[0].text in _LEADS) and all(
        _DATE.fullmatch(unit.text)
        or (period and unit.text in _IN_PERIOD)
        or unit.kind is Kind.NAME
        or (unit.kind is Kind.WORD and unit.text not in _ENDS and not unit.text.endswith(("ed", "ing")))
        for unit in between
    )


def _is_origin(between: Sequence[Unit]) -> bool:
    """Whether words say from where: "from the foot of Elm Hill in Norton up"."""
    names = sum(unit.kind is Kind.NAME for unit in between)
    return (
        between[0].text == "from"
        and 1 <= names <= 2
        and all(
            unit.kind is Kind.NAME
            or unit.text in _DIRECTIONS | _PARTS | _ARTICLES
            or (unit.kind is Kind.WORD and unit.text not in _ENDS and not is_adverb(unit))
            for unit in between[1:]
        )
    )


_OTHER_WORDS: Final = frozenset(
    {"constructed", "found", "founded", "located", "including", "institution", "institutions", "institute"}
)
"""Words that look like a form of another word: what was found was not founded, nor "located" a location."""
_FORMERLY: Final = frozenset("originally formerly first once previously initially".split())
_BEFORE_ADJECTIVES: Final = frozenset("and or the of in its their other a an".split())
"""What stands before a participle that describes a noun: "and surrounding Norton"."""
OF_PLACES: Final = frozenset(
    """neighborhood neighbourhood district borough area section quarter county village town city region state
    province suburb community museum church theater theatre line campus""".split()
)
"""Nouns that only say what a name before them is: "the Norton neighborhood"."""
_OF_NAMES: Final = frozenset(
    """building buildings branch location ramp ramps entrance entrances border approach site portion extension
    office offices store stores plant factory headquarters terminal corner side end family""".split()
)
"""Nouns that name another thing, which a name before them describes: "the Elm Bridge ramp"."""
_ABOUT: Final = frozenset("about some around approximately roughly nearly almost over".split())
_SQUARED: Final = frozenset(stem(word) for word in ("square", "sq", "cubic"))
_NO_LONGER: Final = frozenset({"former", "onetime"})
_LIMITS: Final = frozenset({"line", "lines", "limits"})
_AREAS: Final = frozenset({"county", "city", "state", "town", "borough"})
_AFTER_HEADS: Final = frozenset("of for in at on and de".split())
_TAILS: Final = frozenset({"in", "on", "at"})
"""Words at the end of a label that do not make another relation of it: "closed on" is "closed"."""
_SHORTEST_ROLE: Final = 5
_IRREGULAR: Final = {
    "author": "written",
    "writer": "written",
    "screenwriter": "written",
    "songwriter": "written",
    "builder": "built",
    "maker": "made",
    "leader": "led",
    "holder": "held",
    "keeper": "kept",
    "teacher": "taught",
    "seller": "sold",
}
_NUMBERS: Final = frozenset(
    {"integer", "decimal", "double", "float", "nonNegativeInteger", "positiveInteger", "int", "long"}
)


class Group(Enum):
    """What a relation leads to; only relations of one group compete for the same words."""

    NAMES = "names"
    DATES = "dates"
    NUMBERS = "numbers"


def group_of(term: OntologyProperty) -> Group:
    """The group of a relation, by the datatypes of its range."""
    if term.kind is PropertyKind.OBJECT:
        return Group.NAMES
    kinds = {iri.value.removeprefix(XSD) for iri in term.ranges}
    if any(kind.startswith(("date", "gYear")) for kind in kinds):
        return Group.DATES
    return Group.NUMBERS if kinds & _NUMBERS else Group.NAMES


@dataclass(frozen=True)
class Occurrence:
    """A label's words at `units[first:last]`; `terms` are the relations of the group that have that label.

    `passive`: they end with "by". `gap`: where the units begin and end that stand between them.
    """

    first: int
    last: int
    terms: frozenset[NamedNode]
    passive: bool
    gap: tuple[int, int] | None = None


@dataclass(frozen=True)
class _Label:
    """`passive`: the label is a participle after "was", as in "was called"; `past`: after no other form."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    term: NamedNode
    passive: bool = False
    past: bool = False


class Phrases:
    """The labels of all relations of one ontology."""

    def __init__(self, schema: Schema) -> None:
        self._labels: dict[tuple[Group, str], list[_Label]] = {}
        self._converses: dict[NamedNode, frozenset[str]] = {}
        self._own: dict[NamedNode, list[_Label]] = {}
        self._known: set[tuple[str, ...]] = set()
        labels = (t for one in schema.classes.values() for t in (one.label, *one.alternative_labels))
        self._heads = frozenset(word for text in labels for word in words(text)[-1:])
        self._nouns = frozenset(stem(word) for word in self._heads)
        kinds = [text for one in schema.classes.values() for text in (one.label, *one.alternative_labels)]
        ways = [text for one in schema.properties.values() for text in (one.label, *one.alternative_labels)]
        self._words = frozenset(stem(word) for text in (*kinds, *ways) for word in words(text))
        for term in schema.properties.values():
            if term.deprecated or term.kind is PropertyKind.ANNOTATION:
                continue
            for text in (term.label, *term.alternative_labels):
                self._add(group_of(term), term.iri, text)
                done = _participle(text) if term.kind is PropertyKind.OBJECT else None
                if done is not None:
                    self._add(group_of(term), term.iri, f"{done} by")

    def _add(self, group: Group, iri: NamedNode, text: str) -> None:
        label = _label(text, iri)
        if label is not None:
            self._labels.setdefault((group, label.stems[0]), []).append(label)
            self._own.setdefault(iri, []).append(label)
            self._known.add(label.words)
            if len(label.words) == 2 and label.words[1] == "by":
                known = self._converses.get(iri, frozenset())
                self._converses[iri] = known | {label.stems[0]}

    def converse_verbs(self, iri: NamedNode) -> frozenset[str]:
        """The verbs, as stems, that say a relation from its other end: "designed" of "designed by"."""
        return self._converses.get(iri, frozenset())

    def is_converse(self, unit: Unit) -> bool:
        """Whether a word is a verb that says some relation from its other end."""
        return unit.kind is Kind.WORD and any(unit.stem in verbs for verbs in self._converses.values())

    def knows(self, text: str) -> bool:
        """Whether words are a label of any relation."""
        return tuple(words(text)) in self._known

    def is_number(self, term: OntologyProperty) -> bool:
        """Whether a relation with labels leads to a number."""
        return term.iri in self._own and group_of(term) is Group.NUMBERS

    def is_kind(self, unit: Unit) -> bool:
        """Whether a word is the noun of a class: "neighborhood"."""
        return unit.kind is Kind.WORD and unit.stem in self._nouns

    def is_other(self, units: Sequence[Unit], at: int) -> bool:
        """Whether a name only describes a thing: "the Elm Street building"."""
        before, after = units[at - 1 : at] if at else (), units[at + 1 : at + 2]
        own = units[at].text.split()[-1]
        if not before or not after or before[0].text not in ("the", "a", "an", "its"):
            return False
        if after[0].text in _OF_NAMES or (after[0].text in _LIMITS and own in _AREAS):
            return True
        if after[0].kind is not Kind.WORD or after[0].text in OF_PLACES:
            return False
        kind = self.is_kind(after[0]) and not after[0].text.endswith("s")
        return kind and self.is_noun(own) and after[0].stem != stem(own)

    def is_head(self, noun: str, name: str) -> bool:
        """Whether a name says it of itself: "Norton Academy" is the academy, "Academy Lane" is none."""
        found, sought = words(name), words(noun)
        cut = (n for n, word in enumerate(found) if n and (word in _AFTER_HEADS or word.isdigit()))
        head = found[: next(cut, len(found))]
        if head[-len(sought) :] == sought:
            return True
        return head[: len(sought)] == sought and not self.is_noun(head[-1])

    def is_noun(self, word: str) -> bool:
        """Whether a word is the noun of a class, or of a relation's label: "Architect"."""
        return stem(word) in self._nouns

    def is_bare(self, name: str) -> bool:
        """Whether a name is nothing but the noun of a class: "Terminal"."""
        return name.strip().casefold() in self._heads

    def is_plural(self, name: str) -> bool:
        """Whether a name ends with the noun of a class in the plural: "Ash Streets"."""
        last = name.split()[-1].casefold()
        return " " in name and last.endswith("s") and not last.endswith("ss") and stem(last) in self._nouns

    def has_word(self, word: str) -> bool:
        """Whether a word is part of any label, of a class or a relation."""
        return stem(word.casefold()) in self._words

    def is_main(self, iri: NamedNode, units: Sequence[Unit]) -> bool:
        """Whether units have the first word of a relation's main label."""
        return any(unit.stem == self._own[iri][0].stems[0] for unit in units)

    def has(self, iri: NamedNode, text: str) -> bool:
        """Whether a word is one of the labels of a relation."""
        return any(label.words == (text,) for label in self._own.get(iri, ()))

    def has_words(self, iri: NamedNode, said: Sequence[str]) -> bool:
        """Whether words, or other forms of them, are a label of the relation: "members of"."""
        stems = tuple(stem(word) for word in said)
        return any(label.stems == stems for label in self._own.get(iri, ()))

    def has_noun(self, iri: NamedNode, noun: str) -> bool:
        """Whether a label of the relation ends with this noun, as a stem."""
        return any(label.stems[-1] == stem(noun) for label in self._own.get(iri, ()))

    def has_noun_form(self, iri: NamedNode, noun: str) -> bool:
        """Whether a label of the relation has this very noun, in the singular or the plural."""
        return any(noun in (word, f"{word}s") for label in self._own.get(iri, ()) for word in label.words)

    def within(self, iri: NamedNode, text: str) -> bool:
        """Whether a text has all words of one of a relation's labels, in any order."""
        said = {stem(word) for word in words(text)}
        squared = said & _SQUARED
        return any(
            said.issuperset(label.stems) and (not squared or squared & set(label.stems))
            for label in self._own.get(iri, ())
        )

    def around(self, units: Sequence[Unit], value: int, iri: NamedNode) -> tuple[int, int] | None:
        """Where a label of the relation has a number between its words: "home to 214,000 people"."""
        left = value
        while left and units[left - 1].text in _ABOUT:
            left -= 1
        for label in self._own.get(iri, ()):
            for cut in range(1, len(label.words)):
                first, last = left - cut, value + 1 + len(label.words) - cut
                if first < 0 or last > len(units):
                    continue
                said = [unit.text for unit in (*units[first:left], *units[value + 1 : last])]
                if said == list(label.words):
                    return first, last
        return None

    def occurrences(
        self, units: Sequence[Unit], group: Group, extra: Mapping[NamedNode, str]
    ) -> Sequence[Occurrence]:
        """The labels in the units, longest first where they overlap; `extra` are more labels of relations."""
        more = [label for iri, text in extra.items() if (label := _label(text, iri)) is not None]
        found: dict[tuple[int, int, bool], set[NamedNode]] = {}
        gaps: dict[tuple[int, int, bool], tuple[int, int]] = {}
        for at, unit in enumerate(units):
            if unit.kind is not Kind.WORD:
                continue
            known = self._labels.get((group, unit.stem), [])
            for label in [*known, *(one for one in more if one.stems[0] == unit.stem)]:
                matched = _match(units, at, label, group)
                if matched is not None:
                    end, gap = matched
                    key = (at, end, label.words[-1] == "by")
                    found.setdefault(key, set()).add(label.term)
                    if gap is not None:
                        gaps[key] = gap
        for (first, last, by), terms in found.items():
            for (start, end, _), inner in found.items():
                tail = units[end:last]
                dated = group is Group.DATES
                if start == first and tail and dated and not by and all(u.text in _TAILS for u in tail):
                    terms |= inner
        all_ = [Occurrence(*key[:2], frozenset(t), key[2], gaps.get(key)) for key, t in found.items()]
        return [one for one in all_ if not any(self._covers(units, other, one) for other in all_)]

    def _covers(self, units: Sequence[Unit], outer: Occurrence, inner: Occurrence) -> bool:
        """Whether a longer phrase takes another's words; not where it only adds a kind: "station on"."""
        inside = outer.first <= inner.first and inner.last <= outer.last
        if not inside or (outer.first, outer.last) == (inner.first, inner.last):
            return False
        if outer.gap is not None and (
            outer.gap[0] <= inner.last <= outer.gap[1] or outer.gap[1] <= inner.first
        ):
            return False
        if any(unit.text == "and" for unit in units[outer.first : outer.last]):
            return False
        added = units[outer.first : inner.first] if outer.last == inner.last else ()
        return not added or any(unit.stem not in self._nouns for unit in added)


@lru_cache(maxsize=4)
def phrases_of(schema: Schema) -> Phrases:
    """The phrases of an ontology, read once."""
    return Phrases(schema)


def _participle(role: str) -> str | None:
    """What the one does who has a role: "directed" of "director"; None for other words."""
    word = role.casefold()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    plain = word.isalpha() and len(word) > _SHORTEST_ROLE and word.endswith(("er", "or"))
    return f"{word[:-2]}ed" if plain else None


def _label(text: str, iri: NamedNode) -> _Label | None:
    found = words(text)
    passive = len(found) == 2 and found[0] in AUXILIARIES and found[1].endswith("ed")
    past = passive and found[0] in ("was", "were")
    while len(found) > (2 if found[0] in ("has", "have") else 1) and found[0] in AUXILIARIES | {
        "the",
        "a",
        "an",
    }:
        found = found[1:]
    return _Label(tuple(found), tuple(stem(word) for word in found), iri, passive, past) if found else None


def _may_lead(word: str, label: _Label) -> bool:
    """Whether a passive label can stand behind a word; what "was called" so is not what "is called" so."""
    return word in AUXILIARIES | _FORMERLY and not (label.past and word in ("is", "are"))


def _match(
    units: Sequence[Unit], at: int, label: _Label, group: Group
) -> tuple[int, tuple[int, int] | None] | None:
    """Where the label's words end that begin at a unit, and the gap in them, if there is one.

    Adverbs, "and operated", what says when or where, and what work is on may stand between them.
    """
    here, gap = at, None
    for place, (word, short) in enumerate(zip(label.words, label.stems, strict=True)):
        if place:
            while here < len(units) and is_adverb(units[here]) and units[here].stem != short:
                here += 1
            if word == "by" and here + 2 < len(units) and units[here].text in ("and", ","):
                here = next((n for n in range(here + 2, here + 4) if _is(units, n, "by")), here)
            after = after_adjuncts(units, here, word, dated=group is Group.DATES)
            here, gap = after, (here, after) if after != here else gap
        if here >= len(units) or units[here].kind is not Kind.WORD:
            return None
        if units[here].text != word and (
            len(word) < 4 or units[here].text in _OTHER_WORDS or units[here].stem != short or label.passive
        ):
            return None
        here += 1
    participle = units[at].text.endswith("ing") and not label.words[0].endswith("ing")
    if participle and at and here == at + 1 and units[at - 1].text in _BEFORE_ADJECTIVES:
        return None
    counted = len(label.words) > 1 and label.words[1] == "of" and units[at].text == f"{label.words[0]}s"
    if counted or (at and units[at - 1].text in _NO_LONGER):
        return None  # "the northern parts of Norton", "the former site of the fair"
    if label.passive and not (at and _may_lead(units[at - 1].text, label)):
        return None  # "commonly called"
    agent = units[at].text.endswith(("er", "ers", "ment", "ments"))
    if label.words[0].endswith("ed") and agent:
        return None  # the first settlers settled nothing yet
    led = len(label.words) > 1 and label.words[0].endswith("ed")
    if led and not units[at].text.endswith(("ed", "en", "t")):
        return None  # "the name for" is no "named for"
    return here, gap


def _is(units: Sequence[Unit], at: int, text: str) -> bool:
    return at < len(units) and units[at].text == text
