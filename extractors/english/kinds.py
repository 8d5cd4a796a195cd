"""Whether words are a whole name, which kind a name says of itself, and which the words around it say.

"Gansevoort Street" is a street whatever a model takes it for, and of "It contains Litchfield Villa" no word
says what the villa is, though the text calls something else a park.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.coreference import OPENERS
from extractors.english.descriptions import lead_of
from extractors.english.people import TITLES, looks_like_organization, looks_like_person
from extractors.english.phrases import OF_PLACES, Phrases
from extractors.english.units import (
    AUXILIARIES,
    PREPOSITIONS,
    Kind,
    Unit,
    crosses_lines,
    is_adjectival,
    is_adjective,
    is_indefinite,
    units_of,
)
from extractors.grounding.entities import name_key
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import LabelEntry, Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span, SpanIndex
from extractors.text.cleaning import is_foreign
from ontology.labels import normalize
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty

_LONGEST_WORD: Final = 30
_PLACED = re.compile(
    r"(?:North|South|East|West)(?:east|west)? of [A-Z]|(?:Under|In|At|On|Near|From|Behind|Beside|Opposite|"
    r"Along|Inside|Before|After|Since) the [a-z]"
)
_NAME_FOLLOWS = re.compile(r" [A-Z]")
_PART = re.compile(r"[a-z]+ (?:[a-z]+ )*of ")
_OWNED = re.compile(r"(?!St\b|Saint\b).*\w['’]s? (?:[a-z][\w-]* ?)+$")
_STYLED = re.compile(r".*\b(?:[Ss]tyle|Revival|Deco|Nouveau) (?:[a-z][\w-]* ?)+$")
_AT: Final = 3
_SHAPED = re.compile(r"[\"'”’]?[ -]shaped\b")
_REACH: Final = 24
_HOUSE = re.compile(r"(?<![\w,.])(?<!\bin )(?<!\bby )(?<!\bof )\d+(?:[-–]\d+)?[A-Za-z]? $")


class WholeNames:
    """Looks at the names of one text."""

    def __init__(self, text: GroundedText, linker: Linker, phrases: Phrases) -> None:
        self._text = text
        self._linker = linker
        self._schema = linker.schema
        self._phrases = phrases

    def doubt(self, reading: Interpretation, term: OntologyProperty) -> str | None:
        """What speaks against the ends of a statement being whole names; None for nothing."""
        return self._described(reading, term) or self._cut(reading)

    def _described(self, reading: Interpretation, term: OntologyProperty) -> str | None:
        """Whether an end is only described, and not as what the relation leads to: "a Gothic hall"."""
        ends = [reading.said.triple.subject, *([reading.said.triple.object] if reading.names_object else [])]
        for words in ends:
            spans = self._text.occurrences(words)
            following = {self._schema.find_class(word) for s in spans for word in (words, self._after(s))}
            is_object = reading.names_object and words == ends[-1]
            led = any(kind is not None and kind.iri in term.ranges for kind in following)
            if is_object and led and not self.introduces(words, spans):
                continue
            if not is_object and (address := self._address(words, spans)) is not None:
                return address
            if spans and all(crosses_lines(self._text.text, span) for span in spans):
                return f'"{words}" runs over the end of a line, or is a key with its value.'
            if (description := self._description(words, spans)) is not None:
                return description
            if is_adjective(self._text.text, spans):
                return f'"{words}" says of what kind something is, and is no name.'
            if self._is_common(words):
                return f'"{words}" is a word of the ontology with a capital: it may be no name.'
            if is_object and words.split()[0].isdigit() and not self._is_of_year(words):
                return f'"{words}" opens with a number, as an address does.'
            if self._several(words, spans if is_object else ()):
                return f'"{words}" ends the names of several things.'
            if self._only_opens(words, spans):
                return f'"{words}" opens its sentence and is a word of the ontology: it may be no name.'
            if spans and all(is_indefinite(self._text.text, span) for span in spans):
                return f'"{words}" describes a thing and is no name.'
        return None

    def _description(self, words: str, spans: Sequence[Span]) -> str | None:
        """Why words are no name but a description with a name in it; None where they are none."""
        if self._linker.labels.exact(words):
            return None
        if _PLACED.match(words):
            return f'"{words}" opens with a preposition and is no name.'
        if self.introduces(words, spans):
            return f'"{words}" says what the name behind it is, and is no name.'
        if spans and all(_SHAPED.match(self._text.text, span.end) for span in spans):
            return f'"{words}" says what shape something has and is no name.'
        first, *rest = words.split()
        if is_adjectival(first) and len(rest) == 1 and rest[0].islower():
            return f'"{words}" describes something by a people and is no name.'
        if _STYLED.match(words):
            return f'"{words}" describes a thing by its style and is no name.'
        return f'"{words}" describes a thing by its owner and is no name.' if _OWNED.match(words) else None

    def introduces(self, words: str, spans: Sequence[Span]) -> bool:
        """Whether words describe the name behind them, or a part of a place: "Elm laureate Ada Stone"."""
        titled = words.split()[-1].islower() and " " in words.strip()
        kind = words.split()[-1] in OF_PLACES
        if titled and kind and spans and all(self._text.text.startswith(" of ", one.end) for one in spans):
            return True  # "Norton borough" of "the Norton borough of Weston"
        before = (
            titled and bool(spans) and all(_NAME_FOLLOWS.match(self._text.text, one.end) for one in spans)
        )
        return before or (_PART.match(words) is not None and words.split()[0] not in OF_PLACES)

    def _is_of_year(self, words: str) -> bool:
        """Whether a name opens with a year, and does not end as a street does: "1958 Elm Cup"."""
        year, *rest = words.split()
        return (
            len(year) == 4
            and year[0] in "12"
            and bool(rest)
            and not self._phrases.is_noun(rest[-1].casefold())
        )

    def _is_address(self, span: Span) -> bool:
        """Whether a number of a house stands before a name: "41 Elm Row", but not "in 1902 Elm Hall"."""
        before = _HOUSE.search(self._text.text, max(0, span.start - _REACH), span.start)
        return before is not None and self._phrases.is_noun(_words(self._text, span).split()[-1].casefold())

    def _address(self, words: str, spans: Sequence[Span]) -> str | None:
        """Why words are an address, or a part of one, wherever they occur; None where they are none."""
        if spans and all(self._is_at_house(words, span) for span in spans):
            return f'"{words}" is an address.'
        if spans and all(self._is_address(span) for span in spans):
            return f'"{words}" is a part of an address.'
        return None

    def _is_at_house(self, words: str, span: Span) -> bool:
        """Whether words are a house that something is at: "situated at 54 Elm Row"."""
        number, *rest = words.split()
        numbered = bool(rest) and number.isdigit() and self._phrases.is_noun(rest[-1].casefold())
        return numbered and self._text.text[max(0, span.start - _AT) : span.start].casefold() == "at "

    def _is_common(self, words: str) -> bool:
        """Whether words are a label of a class and no more: "Hall", "High School"."""
        kind = self._schema.find_class(words)
        said = words.strip().casefold()
        labels = () if kind is None else (kind.label, *kind.alternative_labels)
        bare = self._phrases.is_bare(said) or said in (text.casefold() for text in labels)
        return bare and not self._linker.labels.exact(words)

    def _several(self, words: str, spans: Sequence[Span]) -> bool:
        """Whether words name several things: "Ash suburbs", "Elm and Ash Streets"."""
        text = self._text.text
        last = words.split()[-1]
        small = last.islower() and last.endswith("s") and not last.endswith("ss") and " " in words.strip()
        listed = bool(spans) and all(text[: span.start].endswith(" and ") for span in spans)
        return small or (listed and self._phrases.is_plural(words))

    def _only_opens(self, words: str, spans: Sequence[Span]) -> bool:
        """Whether a common word has its capital only from opening a sentence: "Ground was broken in 2006"."""
        plain = " " not in words.strip() and self._phrases.has_word(words)
        return (
            plain
            and not self._linker.labels.exact(words)
            and bool(spans)
            and all(self._text.sentence_of(span).start == span.start for span in spans)
        )

    def _cut(self, reading: Interpretation) -> str | None:
        """Whether the subject is a part of a longer name wherever it occurs: "Stone" of "Stone & Co."."""
        subject = reading.said.triple.subject
        places = self._text.occurrences(subject)
        if not places or self._linker.labels.exact(subject):
            return None
        whole = self.whole(places)
        return None if whole is None else f'"{subject}" is a part of "{whole}".'

    def _after(self, span: Span) -> str:
        return (self._text.text[span.end : span.end + _LONGEST_WORD].split() or [""])[0].strip(".,;:")

    def whole(self, places: Sequence[Span]) -> str | None:
        """The longer name that a name is a part of wherever it occurs: "Norton" of "Norton Hill"."""
        found: Span | None = None
        for place in places:
            runs = self._text.capitalized_runs(self._text.sentence_of(place))
            found = next((run for run in runs if self.is_part({run}, place)), None)
            if found is None:
                return None
        return _words(self._text, found) if found is not None else None

    def is_part(self, names: Collection[Span], value: Span) -> bool:
        """Whether a name goes on beyond a value with capitalized words: "West 54th Street"."""
        text = self._text.text
        for span in names:
            if span.start <= value.start and value.end <= span.end:
                before, after = text[span.start : value.start].split(), text[value.end : span.end].split()
                rest = [word for word in before if not self.describes(word.casefold().strip("."))] + after
                if any(word[0].isupper() and word.casefold() != "the" for word in rest):
                    return True
        return False

    def describes(self, word: str) -> bool:
        """Whether a capital word before a name is none of it: "Architect Ada Stone", "Today Elm Hall"."""
        return word in TITLES or word in OPENERS or self._phrases.is_noun(word)


def _words(text: GroundedText, span: Span) -> str:
    return text.text[span.start : span.end]


_GEOMETRY: Final = NamedNode("http://www.opengis.net/ont/geosparql#Geometry")
_IS_A = re.compile(r"\s+(?:is|was)\s+(?:an?|the|one)\b")
_LONGEST_KIND: Final = 3
_COPULAS: Final = frozenset({"is", "was", "are", "were", ",", "as", "(", "became", "remains", "called"})
_LONGEST_DESCRIPTION: Final = 6
_LONGEST_ASIDE: Final = 12
_OPENING: Final = frozenset(
    "hotel fort lake cinema villa cafe café restaurant museum stadium hospital".split()
)
"""English words for kinds that open a name: "Hotel Elm"."""
_HEAD_FIRST: Final = frozenset("ca es fr gl it pl pt ro".split())
"""Languages in which the word for the kind opens a name; in others it ends it."""
_YEAR_DIGITS: Final = 4
_AWAY: Final = frozenset({"from", "off", "away"})
_SHORTEST_FULL_NAME: Final = 2
_SHORTEST_PART: Final = 5
"""Of a compound such as "Elmstraße": "-burg" says nothing."""


def kind_of_name(name: str, schema: Schema) -> OntologyClass | None:
    """The class whose label ends a name, or ends it before "of", "for" or "in"; None for a label alone."""
    found = name.replace("-", " ").split()
    if not found:
        return None
    while len(found) > 2 and found[-1].isdigit():
        found = found[:-1]
    if found[0].isdigit() and len(found) > _SHORTEST_FULL_NAME and len(found[0]) < _YEAR_DIGITS:
        return None  # "375 Elm Avenue", an address
    for at, word in enumerate(found):
        if word.casefold() in ("of", "for", "in", "at", "on") and at:
            found = found[:at]
            whole = True
            break
    else:
        whole = False
    for size in range(min(_LONGEST_KIND, len(found) - (0 if whole else 1)), 0, -1):
        tail = " ".join(found[-size:]).casefold()
        if (kind := _classes_by_label(schema).get(tail)) is not None:
            return kind
    if found[0].casefold() in _OPENING and len(found) > 1 and schema.find_class(found[-1]) is None:
        return schema.find_class(found[0])
    return _foreign_kind(name, schema)


@lru_cache(maxsize=4)
def _classes_by_label(schema: Schema) -> Mapping[str, OntologyClass]:
    """The classes by their labels in lower case, but for shapes: "Elm Point" is no point."""
    found: dict[str, OntologyClass] = {}
    for kind in schema.classes.values():
        if _GEOMETRY not in schema.superclasses(kind.iri):
            for text in (kind.label, *kind.alternative_labels):
                found.setdefault(text.casefold(), kind)
    return found


def _foreign_kind(name: str, schema: Schema) -> OntologyClass | None:
    """The class that a name says in another language: "Rue Elm", "Elmer Brücke", "Elmstraße"."""
    found = name.casefold().replace("-", " ").split()
    for kind in schema.classes.values():
        for word, language in kind.name_words:
            if language in _HEAD_FIRST:
                says = len(found) > 1 and found[0] == word
            else:
                compound = len(word) >= _SHORTEST_PART and found[-1].endswith(word)
                says = (len(found) > 1 and found[-1] == word) or (compound and found[-1] != word)
            if says:
                return kind
    return None


def suggested_kind(name: str, schema: Schema, guess: NamedNode | None = None) -> OntologyClass | None:
    """The class that a name suggests: what it says it is, a person by a given name, or an organization.

    Where a reader's guess is no person, a given name before more than one word is none either: a firm may be
    called so.
    """
    said = kind_of_name(name, schema)
    person = schema.find_class("person")
    if said is None and person is not None and looks_like_person(name):
        other = guess is not None and person.iri not in schema.superclasses(guess)
        if other and len(name.split()) > _SHORTEST_FULL_NAME:
            return None
        return person if schema.find_class(name.split()[-1]) is None else None
    return said or (schema.find_class("organization") if looks_like_organization(name) else None)


def mentions_kind(text: str, names: Iterable[Span], kind: OntologyClass) -> bool:
    """Whether a text has a class's label outside of all names."""
    free = list(text)
    for name in names:
        free[name.start : name.end] = " " * (name.end - name.start)
    said = normalize("".join(free))
    return any(said[at : at + len(label)] == label for label in _labels(kind) for at in range(len(said)))


def said_kind(units: Sequence[Unit], name: Span, kind: OntologyClass) -> Unit | None:
    """The unit that begins a class's label in words about a name, before or behind it; None for none."""
    at = next((n for n, unit in enumerate(units) if unit.start <= name.start < unit.end), None)
    if at is None:
        return None
    return _behind(units, at, kind) or _before(units, at, kind)


def described_kind(units: Sequence[Unit], at: int, schema: Schema) -> OntologyClass | None:
    """The class that a noun phrase behind a name says: "Line 5, Norton's busiest tram line, starts".

    The phrase stands after a comma or "is", opens with an article or an owner, and ends with a class's label.
    """
    here = at + 1
    if here < len(units) and units[here].text == "(":
        here = next((n + 1 for n in range(here, len(units)) if units[n].text == ")"), len(units))
    if here >= len(units) or units[here].text not in (",", "is", "was"):
        return None
    if units[here].text != "," and lead_of(units, at) in PREPOSITIONS:
        return None  # "the Elm Tower in Norton was the tallest building"
    here += 1
    if here + 1 < len(units) and units[here + 1].text == "'s":
        here += 2
    elif here < len(units) and units[here].text in ("a", "an", "the"):
        here += 1
    else:
        return None
    end = here
    while end < len(units) and end < here + _LONGEST_DESCRIPTION and _is_plain(units[end]):
        end += 1
    if end >= len(units) or end == here or units[end].kind is Kind.NAME or units[end].text == "'s":
        return None
    if units[end].text in _AWAY:
        return None  # "a block from the square"
    said = [unit.text for unit in units[here:end]]
    sizes = range(min(_LONGEST_KIND, len(said)), 0, -1)
    return next((kind for n in sizes if (kind := schema.find_class(" ".join(said[-n:]))) is not None), None)


def _is_plain(unit: Unit) -> bool:
    """Whether a word may be part of a noun phrase."""
    joined = unit.kind is Kind.WORD or unit.text == "-"
    return joined and unit.text not in PREPOSITIONS | AUXILIARIES | {"and", "or", "that", "which", "who"}


def _behind(units: Sequence[Unit], at: int, kind: OntologyClass) -> Unit | None:
    """The label after "is a", "was the" or a comma, within the noun phrase that follows."""
    here = at + 1
    while here < len(units) and (
        units[here].kind is Kind.NAME or units[here].text in ("and", ",", "the")
    ):  # the rest of a list: "Gellért Baths and Rudas Baths are bath houses"
        here += 1
    listed = here
    for start in dict.fromkeys((at + 1, listed, _after_aside(units, at + 1))):
        if start >= len(units) or not (
            units[start].text in _COPULAS or (start > at + 1 and units[start - 1].text == ",")
        ):
            continue
        for place in range(start, min(start + _LONGEST_DESCRIPTION + 1, len(units))):
            if place > start and units[place].text in PREPOSITIONS:
                break
            if _has_label(units, place, kind):
                return units[place]
    return None


def _after_aside(units: Sequence[Unit], at: int) -> int:
    """The place behind brackets or an aside between commas: "Elm Hall, known as the Elm, is a museum"."""
    closing = {"(": ")", ",": ","}.get(units[at].text) if at < len(units) else None
    closed = (n for n in range(at + 1, min(at + _LONGEST_ASIDE, len(units))) if units[n].text == closing)
    return next(closed, at - 1) + 1


def _before(units: Sequence[Unit], at: int, kind: OntologyClass) -> Unit | None:
    """The label right before the name: "the architect Renzo Piano", "the village of Belleville"."""
    here = at - 1
    if here >= 0 and units[here].text in ("of", ","):
        here -= 1
    for place in range(max(0, here - _LONGEST_KIND), here + 1):
        if _has_label(units, place, kind, ends=here + 1):
            return units[place]
    return None


def _has_label(units: Sequence[Unit], at: int, kind: OntologyClass, *, ends: int | None = None) -> bool:
    for label in _labels(kind):
        last = at + len(label)
        if normalize(" ".join(unit.text for unit in units[at:last])) == label and (
            ends is None or last == ends
        ):
            return True
    return False


def _labels(kind: OntologyClass) -> Iterator[tuple[str, ...]]:
    for text in (kind.label, *kind.alternative_labels):
        yield normalize(text)


class KindLook:
    """Looks again at the kinds of names of one text; `is_english` says whether a sentence is."""

    def __init__(
        self,
        text: GroundedText,
        linker: Linker,
        names: SpanIndex,
        whole: WholeNames,
        is_english: Callable[[Span], bool],
    ) -> None:
        self._text = text
        self._linker = linker
        self._schema = linker.schema
        self._names = names
        self._whole = whole
        self._is_english = is_english

    def look(self, reading: Interpretation) -> Interpretation:
        """Take the kind that the name says, or that the text says of it, rather than one said of others."""
        name, kind = reading.said.triple.subject, reading.type
        places = self._text.occurrences(name)
        english = all(self._is_english(self._text.sentence_of(one)) for one in places)
        if kind is None or not places or not english or any(self.said_kind(one, kind) for one in places):
            return reading
        known = self._linker.labels.exact(name)
        if not known and (other := self._in_other_name(reading, kind)) is not None:
            return replace(reading, doubt=f'The text has "{kind.label}" in the name "{other}" only.')
        if not known and (whole := self._whole.whole(places)) is not None:
            return replace(reading, doubt=f'"{name}" is a part of "{whole}".')
        if known:
            return self._known_kind(reading, kind, known)
        own_kind = suggested_kind(name, self._schema, kind.iri)
        above = self._schema.superclasses
        if own_kind is not None and kind.iri in above(own_kind.iri):
            return reading
        plain = kind_of_name(name, self._schema) or normalize(reading.said.triple.object) in _labels(kind)
        if own_kind is not None and plain and above(own_kind.iri) & above(kind.iri):
            said_so = replace(reading.said, triple=replace(reading.said.triple, object=own_kind.label))
            return replace(reading, type=own_kind, said=said_so)
        if mentions_kind(self._text.text, self._names, kind):
            return replace(reading, doubt=f'The text says "{kind.label}" of another thing.')
        return replace(reading, doubt=f'Neither the text nor the name says "{kind.label}" of "{name}".')

    def said_of_foreign(self, names: Iterable[Span]) -> Iterator[tuple[str, str, Span]]:
        """What "is a museum" says of names without Latin letters: the name, the kind, the sentence."""
        for name in sorted(names):
            words = _words(self._text, name)
            if not is_foreign(words) or not _IS_A.match(self._text.text, name.end):
                continue
            said = [kind for kind in self._schema.classes.values() if self.said_kind(name, kind) is not None]
            if said:
                kind = max(said, key=lambda one: (len(one.label), one.label))
                yield words, kind.label, self._text.sentence_of(name)

    def described(self, name: str) -> tuple[OntologyClass, Span] | None:
        """The kind that a noun phrase behind a name says, and its sentence."""
        for place in self._text.occurrences(name):
            sentence = self._text.sentence_of(place)
            inside = self._names.beginning_in(sentence)
            spans = {one for one in inside if one.end <= place.start or place.end <= one.start}
            units = units_of(self._text.text, sentence, {*spans, place})
            at = next((n for n, unit in enumerate(units) if unit.start == place.start), None)
            kind = None if at is None else described_kind(units, at, self._schema)
            if kind is not None and self._is_english(sentence):
                return kind, sentence
        return None

    def _in_other_name(self, reading: Interpretation, kind: OntologyClass) -> str | None:
        """The name that has the word for a kind, where that is another name's: "Central Park"."""
        word, name = reading.grounded.object, reading.said.triple.subject
        own = kind_of_name(name, self._schema)
        if word is None or (own is not None and self._related(own, kind)):
            return None
        runs = self._text.capitalized_runs(self._text.sentence_of(word))
        found = next((run for run in runs if run.start <= word.start and word.end <= run.end), None)
        other = found is not None and name_key(name) not in name_key(_words(self._text, found))
        return _words(self._text, found) if found is not None and other else None

    def _related(self, a: OntologyClass, b: OntologyClass) -> bool:
        above = self._schema.superclasses
        return a.iri in above(b.iri) or b.iri in above(a.iri)

    def _known_kind(
        self, reading: Interpretation, kind: OntologyClass, known: Sequence[LabelEntry]
    ) -> Interpretation:
        """Doubt a guess about a name that is known, and by one thing only, as something else."""
        above = self._schema.superclasses
        classes = {one for entry in known for one in entry.classes}
        related = any(kind.iri in above(one) or one in above(kind.iri) for one in classes)
        if related or not classes or len({self._linker.same(entry.iri) for entry in known}) != 1:
            return reading
        labels = sorted(self._schema.classes[one].label for one in classes if one in self._schema.classes)
        doubt = (
            f'No word of the text says "{kind.label}" of it, and the graph knows it as {" or ".join(labels)}.'
        )
        return replace(reading, doubt=doubt)

    def said_kind(self, name: Span, kind: OntologyClass) -> Unit | None:
        """The word for a kind that a sentence says of a name."""
        sentence = self._text.sentence_of(name)
        inside = self._names.beginning_in(sentence)
        spans = {span for span in inside if span.end <= name.start or name.end <= span.start}
        return said_kind(units_of(self._text.text, sentence, {*spans, name}), name, kind)
