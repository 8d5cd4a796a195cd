"""What "it" and "the university" stand for, where the text makes it plain.

Plain means: exactly one name before it in the paragraph is compatible in class and number. A name that is
wrong is worse than none, so where two could be meant, or the one that fits is of an unknown kind where a
known kind is needed, nothing is resolved and the statement waits for a person.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pyoxigraph import NamedNode

from extractors.grounding.linking import Fit, Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from ontology.terms import OntologyClass

_SENTENCES_BACK: Final = 2
_THING: Final = frozenset({"it", "its", "itself"})
_PERSON: Final = frozenset({"he", "she", "him", "her", "his", "hers", "himself", "herself"})
_DEFINITE = re.compile(r"(?:the|this|that)\s+(?P<noun>[^\W\d_][\w'’ -]*)$", re.IGNORECASE)
_PREPOSITION = re.compile(
    r"(?<!\w)(?:in|on|at|of|by|for|from|to|with|near|within|along|between|beside|behind|under|over|after|before|"
    r"across|around|into|through|against|among|about|opposite|outside|inside|and|or|as)\s+"
    r"(?:(?:the|an?|its|his|her|their|nearby|old|new)\s+)*$",
    re.IGNORECASE,
)
_CAPITALIZED = re.compile(
    r"(?<!\w)[^\W\d_a-z][\w'’.-]*(?:\s+(?:(?:of|the|de|du|la|for|and|&|at|on)\s+){0,2}[^\W\d_a-z][\w'’-]*)*"
)
OPENERS: Final = frozenset(
    """a an the it its he she they this that these those in on at by for from after before during since when
    while as until although though however both today later some many most each every if with within there
    here his her their who what where which and but or not no one two three originally now january february
    march april may june july august september october november december monday tuesday wednesday thursday
    friday saturday sunday""".split()
)


def is_anaphor(words: str) -> bool:
    """Tell a pronoun, or a noun with "the" or "this" before it, from a name."""
    plain = words.strip().casefold()
    if plain in _THING | _PERSON:
        return True
    definite = _DEFINITE.match(words.strip())
    return definite is not None and definite["noun"].islower()


@dataclass(frozen=True)
class _Named:
    """A name in the text with the classes known of it (none: unknown)."""

    span: Span
    words: str
    classes: frozenset[NamedNode]


class Antecedents:
    """The names of one text that pronouns and descriptions may stand for.

    `said` are the names that the model wrote, with the classes that it said of them.
    """

    def __init__(self, text: GroundedText, linker: Linker, said: Mapping[str, Iterable[NamedNode]]) -> None:
        self._text = text
        self._linker = linker
        self._schema = linker.schema
        self._names = tuple(self._collect(said))

    def of(self, words: str, place: Span, expected: frozenset[NamedNode]) -> Span | None:
        """Return where the name stands that these words at this place stand for; None where it is not plain.

        `expected` are the classes that the relation allows at this end (empty: any).
        """
        plain = words.strip().casefold()
        before = self._before(place)
        if plain in _THING | _PERSON:
            if self._opens(place):
                before = [name for name in before if not self._is_complement(name)]
            fitting = [name for name in before if self._suits(name, expected, person=plain in _PERSON)]
        elif (kind := self._kind(words)) is not None:
            fitting = [name for name in before if self._is_of(name, kind)]
        else:
            return None
        different = {self._key(name): name for name in fitting}
        return next(iter(different.values())).span if len(different) == 1 else None

    def _collect(self, said: Mapping[str, Iterable[NamedNode]]) -> Iterable[_Named]:
        """The names in text order; of overlapping ones the longest, with what is known of any of them."""
        text = self._text.text
        found: list[_Named] = []
        for words, classes in said.items():
            of = frozenset(classes)
            found += [_Named(span, words, of) for span in self._text.occurrences(words)]
        for start, end, entries in self._linker.labels.mentions(text):
            known = frozenset(c for entry in entries for c in entry.classes)
            found.append(_Named(Span(start, end), text[start:end], known))
        for match in _CAPITALIZED.finditer(text):
            span = _trimmed(text, match.start(), match.end())
            if span is not None:
                found.append(_Named(span, text[span.start : span.end], frozenset()))
        found.sort(key=lambda name: (name.span.start, -name.span.end, not name.classes))
        taken: list[_Named] = []
        for name in found:
            if taken and name.span.start < taken[-1].span.end:
                last = taken[-1]
                if name.classes and not last.classes and name.span == last.span:
                    taken[-1] = _Named(last.span, last.words, name.classes)
                continue
            taken.append(name)
        return taken

    def _before(self, place: Span) -> list[_Named]:
        """The names before a place in its paragraph, at most two sentences back."""
        sentences = self._text.sentences
        index = next((i for i, s in enumerate(sentences) if s.start <= place.start < s.end), None)
        if index is None:
            return []
        start = sentences[max(0, index - _SENTENCES_BACK)].start
        gap = self._text.text.rfind("\n\n", start, place.start)
        start = gap if gap >= 0 else start
        if self._opens(place) and index > 0:
            # A sentence that opens with "it" goes on about what the one before was about.
            last = [
                n for n in self._names if max(start, sentences[index - 1].start) <= n.span.start < place.start
            ]
            if any(not self._is_complement(name) for name in last):
                start = max(start, sentences[index - 1].start)
        return [name for name in self._names if start <= name.span.start and name.span.end <= place.start]

    def _opens(self, place: Span) -> bool:
        sentence = self._text.sentence_of(place)
        return not self._text.text[sentence.start : place.start].strip(" \t\r\n\"'“‘(")

    def _is_complement(self, name: _Named) -> bool:
        """Tell a name that only says where, of what or by whom: "in Queens", "of the city"."""
        sentence = self._text.sentence_of(name.span)
        return bool(_PREPOSITION.search(self._text.text[sentence.start : name.span.start]))

    def _suits(self, name: _Named, expected: frozenset[NamedNode], *, person: bool) -> bool:
        people = self._schema.find_class("person")
        if people is not None and name.classes:
            is_person = self._linker.fit(name.classes, frozenset({people.iri})) is Fit.INSTANCE
            if is_person != person:
                return False
        elif person and people is None:
            return False
        return self._linker.fit(name.classes, expected) is not Fit.DISJOINT

    def _kind(self, words: str) -> OntologyClass | None:
        """The class that a description names by its whole noun: one thing of it, not several."""
        match = _DEFINITE.match(words.strip())
        if match is None:
            return None
        noun = match["noun"].split()[-1]
        found = self._schema.find_class(match["noun"])
        plural = noun.endswith("s") and not noun.endswith(("ss", "us", "is"))
        return None if found is None or plural else found

    def _is_of(self, name: _Named, kind: OntologyClass) -> bool:
        """Whether a name is known to be of a class, or says so itself: "Columbia University"."""
        classes = set(name.classes)
        if not classes:
            own_class = self._schema.find_class(name.words)
            classes = {own_class.iri} if own_class is not None else set()
        return any(kind.iri in self._schema.superclasses(class_) for class_ in classes)

    def _key(self, name: _Named) -> NamedNode | str:
        """What separates two names: the entity that both name, else their words."""
        found = self._linker.link(name.words, expected=name.classes).iri
        return found if found is not None else " ".join(name.words.casefold().split())


def _trimmed(text: str, start: int, end: int) -> Span | None:
    """A run of capitalized words without the small words that open a sentence; None if nothing is left."""
    while start < end:
        word = re.compile(r"[\w'’.-]+").match(text, start, end)
        if word is None or word.group().casefold().rstrip(".") not in OPENERS:
            break
        start = word.end()
        while start < end and text[start].isspace():
            start += 1
    while end > start and text[end - 1] in ".'’-":
        end -= 1
    return Span(start, end) if start < end else None
