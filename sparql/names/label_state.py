"""One version of the index of names: the labels and classes of each subject, and the subjects of each label.

Nothing here is locked; `sparql.names.labels.LabelIndex` guards it.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from heapq import nsmallest
from math import ceil
from typing import Final

import numpy
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Quad

from extractors.grounding.linking import LabelEntry, marks, normalize
from geo.remembered import remembered

Numbers = NDArray[numpy.uint64]
_NUMBER: Final = numpy.dtype("L")
_EMPTY: Final = array("L")
_LOOK: Final = 500
"""Reading this many entries takes about as long as one check of what is known."""


@remembered((100, 2000))
def _trigrams(key: str) -> frozenset[str]:
    """Return the trigrams of each word, padded with two blanks in front and one behind."""
    grams: set[str] = set()
    for word in key.split(" "):
        padded = f"  {word} "
        grams.update(padded[i : i + 3] for i in range(len(padded) - 2))
    return frozenset(grams)


def _dice(grams: frozenset[str], others: frozenset[str]) -> float:
    return 2 * len(grams & others) / (len(grams) + len(others))


class TrigramIndex:
    """Finds the keys whose trigrams are most similar to those of a query (Dice coefficient, 0 to 1).

    Keys below `floor` are not found: that lets a query read only its rarest trigrams' lists, since a key that
    shares none of those cannot reach the floor. Removed keys leave holes that are swept when they outnumber
    the keys. `read` counts the list entries that were read, for tests.
    """

    def __init__(self, floor: float = 0.4) -> None:
        self.floor = floor
        self.read = 0
        self._keys: list[str | None] = []
        self._number: dict[str, int] = {}
        self._sizes = array("L")
        self._lists: dict[str, array[int]] = {}

    def __len__(self) -> int:
        return len(self._number)

    def add(self, key: str) -> None:
        """Index a key; a known one is ignored."""
        if key in self._number:
            return
        number = len(self._keys)
        self._keys.append(key)
        self._number[key] = number
        grams = _trigrams(key)
        self._sizes.append(len(grams))
        for gram in grams:
            self._lists.setdefault(gram, array("L")).append(number)

    def discard(self, key: str) -> None:
        """Remove a key; an unknown one is ignored."""
        number = self._number.pop(key, None)
        if number is None:
            return
        self._keys[number] = None
        self._sizes[number] = 0
        if len(self._keys) > 2 * len(self._number) + 1000:
            self._sweep()

    def similar(self, key: str, limit: int) -> list[tuple[str, float]]:
        """Return at most `limit` keys with their similarity, best first, ties in alphabetical order.

        The lists of rare trigrams are read first. A key in none of them can share at most the remaining
        trigrams, so the long lists are skipped once enough keys are known to be more similar.
        """
        grams = _trigrams(key)
        if not key or limit < 1:
            return []
        count = len(grams)
        # dice >= f needs shared >= f * |Q| / (2 - f), as the key holds at least the shared ones
        needed = max(1, ceil(self.floor * count / (2 - self.floor)))
        lists = sorted((numpy.frombuffer(self._lists.get(gram, _EMPTY), _NUMBER) for gram in grams), key=len)
        last = count - needed
        read = 0
        for position, numbers in enumerate(lists[: last + 1]):
            read += len(numbers)
            unread = lists[position + 1 :]
            if position < last and len(unread[0]) <= read + _LOOK:
                # Reading the rest costs no more than another check of what is known.
                continue
            self.read += read
            # A key in none of the lists read so far cannot be more similar than this.
            beyond = 2 * len(unread) / (count + len(unread)) if position < last else 0.0
            best = self._best(count, lists[: position + 1], unread, limit, beyond)
            if position == last or len(best) == limit:
                return best
        return []

    def similar_among(self, key: str, known: Iterable[str], limit: int) -> list[tuple[str, float]]:
        """The same among a few keys of the index."""
        grams = _trigrams(key)
        scored = ((_dice(grams, _trigrams(key)), key) for key in known)
        ranked = nsmallest(limit, ((-score, one) for score, one in scored if score >= self.floor))
        return [(key, -score) for score, key in ranked]

    def _best(
        self, count: int, read: list[Numbers], unread: list[Numbers], limit: int, beyond: float
    ) -> list[tuple[str, float]]:
        """The best of the keys found so far, if they are more similar than `beyond`."""
        numbers, shared = numpy.unique(numpy.concatenate(read), return_counts=True)
        sizes = numpy.frombuffer(self._sizes, _NUMBER)[numbers]
        hopes = 2 * (shared + len(unread)) / (count + sizes)
        hopeful = numpy.flatnonzero((sizes > 0) & (hopes >= self.floor) & (hopes > beyond))
        if beyond and len(hopeful) < limit:
            return []
        numbers, shared, sizes = numbers[hopeful], shared[hopeful], sizes[hopeful]
        for block in unread:
            # The numbers of a list are sorted.
            places = block.searchsorted(numbers)
            places[places == len(block)] = 0
            shared += block[places] == numbers
        scores = 2 * shared / (count + sizes)
        taken = numpy.flatnonzero((scores >= self.floor) & (scores > beyond))
        if len(taken) > limit:
            taken = taken[scores[taken] >= numpy.partition(scores[taken], -limit)[-limit]]
        ranked = zip((-scores[taken]).tolist(), map(self._key, numbers[taken].tolist()), strict=True)
        return [(key, -score) for score, key in nsmallest(limit, ranked)]

    def _key(self, number: int) -> str:
        key = self._keys[number]
        assert key is not None
        return key

    def _sweep(self) -> None:
        keys = list(self._number)
        self._keys, self._number, self._sizes, self._lists = [], {}, array("L"), {}
        for key in keys:
            self.add(key)


_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_RDFS = "http://www.w3.org/2000/01/rdf-schema#"
_OWL = "http://www.w3.org/2002/07/owl#"
_SKOS = "http://www.w3.org/2004/02/skos/core#"

MAIN_LABELS: Final = frozenset(
    NamedNode(iri)
    for iri in (
        _RDFS + "label",
        _SKOS + "prefLabel",
        "https://schema.org/name",
        "http://schema.org/name",
        "http://xmlns.com/foaf/0.1/name",
        "http://purl.org/dc/terms/title",
    )
)
ALIASES: Final = frozenset(NamedNode(_SKOS + name) for name in ("altLabel", "hiddenLabel"))

TYPE: Final = NamedNode(_RDF + "type")
_NO_CLASS: Final = frozenset(NamedNode(_OWL + name) for name in ("NamedIndividual", "Thing"))
_TERM_TYPES: Final = frozenset(
    [NamedNode(_RDF + "Property"), NamedNode(_RDFS + "Class"), NamedNode(_RDFS + "Datatype")]
    + [
        NamedNode(_OWL + name)
        for name in (
            *("Class", "Restriction", "Ontology", "ObjectProperty", "DatatypeProperty", "AnnotationProperty"),
            *("OntologyProperty", "FunctionalProperty", "InverseFunctionalProperty", "TransitiveProperty"),
            *("SymmetricProperty", "AsymmetricProperty", "ReflexiveProperty", "IrreflexiveProperty"),
        )
    ]
)


class SubjectFacts:
    """The relevant facts about one subject; idempotent under repeated quads."""

    __slots__ = ("classes", "labels")

    def __init__(self) -> None:
        self.labels: set[tuple[NamedNode, Literal]] = set()
        self.classes: set[NamedNode] = set()

    @property
    def is_term(self) -> bool:
        return not self.classes.isdisjoint(_TERM_TYPES)


class LabelState:
    """One version of the index; `LabelIndex` guards it."""

    def __init__(self, label_properties: frozenset[NamedNode]) -> None:
        self.label_properties = label_properties
        self.facts: dict[NamedNode, SubjectFacts] = {}
        self.entries: dict[str, dict[NamedNode, tuple[LabelEntry, ...]]] = {}
        self.keys_of: dict[NamedNode, frozenset[str]] = {}
        self.terms: dict[str, set[NamedNode]] = {}
        self.term_keys: dict[NamedNode, frozenset[str]] = {}
        # The length in words of the longest key by first word, and the number of keys by length.
        self.longest: dict[str, int] = {}
        self._lengths: dict[tuple[str, int], int] = {}
        self.trigrams = TrigramIndex()
        # Keys with a number or a word such as "East", by these.
        self.marked: dict[frozenset[str], set[str]] = {}

    def note(self, quad: Quad, *, added: bool) -> NamedNode | None:
        """Add one quad; return its subject when its names changed."""
        subject, predicate, value = quad.subject, quad.predicate, quad.object
        if not isinstance(subject, NamedNode):
            return None
        if predicate == TYPE and isinstance(value, NamedNode):
            facts = self.facts.setdefault(subject, SubjectFacts())
            (facts.classes.add if added else facts.classes.discard)(value)
            return subject
        if predicate in self.label_properties and isinstance(value, Literal):
            facts = self.facts.setdefault(subject, SubjectFacts())
            (facts.labels.add if added else facts.labels.discard)((predicate, value))
            return subject
        return None

    def index(self, iri: NamedNode) -> None:
        """Update the entries of one subject to match its facts."""
        facts = self.facts[iri]
        for key in self.keys_of.pop(iri, frozenset()):
            self._drop(key, iri)
        for key in self.term_keys.pop(iri, frozenset()):
            self.terms[key].discard(iri)
            if not self.terms[key]:
                del self.terms[key]
        if not facts.labels and not facts.classes:
            del self.facts[iri]
        elif facts.is_term:
            self.term_keys[iri] = frozenset(normalize(label.value) for _, label in facts.labels)
            for key in self.term_keys[iri]:
                self.terms.setdefault(key, set()).add(iri)
        elif facts.labels:
            self._insert(iri, facts)

    def _insert(self, iri: NamedNode, facts: SubjectFacts) -> None:
        classes = frozenset(facts.classes - _NO_CLASS)
        main: dict[str, bool] = {}
        for predicate, label in facts.labels:
            main[label.value] = main.get(label.value, False) or predicate in MAIN_LABELS
        keys = set()
        for label_text, is_main in sorted(main.items()):
            key = normalize(label_text)
            if not key:
                continue
            keys.add(key)
            if key not in self.entries:
                self.trigrams.add(key)
                marked = marks(key)
                if marked:
                    self.marked.setdefault(marked, set()).add(key)
                self._count(key)
            bearers = self.entries.setdefault(key, {})
            bearers[iri] = (*bearers.get(iri, ()), LabelEntry(iri, label_text, is_main, classes))
        self.keys_of[iri] = frozenset(keys)

    def _drop(self, key: str, iri: NamedNode) -> None:
        bearers = self.entries[key]
        del bearers[iri]
        if not bearers:
            del self.entries[key]
            self.trigrams.discard(key)
            self._discount(key)
            marked = self.marked.get(marks(key))
            if marked is not None:
                marked.discard(key)
                if not marked:
                    del self.marked[marks(key)]

    def _count(self, key: str) -> None:
        first, size = key.split(" ", 1)[0], key.count(" ") + 1
        self._lengths[first, size] = self._lengths.get((first, size), 0) + 1
        self.longest[first] = max(size, self.longest.get(first, 0))

    def _discount(self, key: str) -> None:
        first, size = key.split(" ", 1)[0], key.count(" ") + 1
        self._lengths[first, size] -= 1
        if self._lengths[first, size]:
            return
        del self._lengths[first, size]
        longest = self.longest[first]
        while longest and (first, longest) not in self._lengths:
            longest -= 1
        if longest:
            self.longest[first] = longest
        else:
            del self.longest[first]

    def named(self, key: str) -> list[LabelEntry]:
        """Return the entries of a normalized key, main labels first."""
        entries = [entry for found in self.entries.get(key, {}).values() for entry in found]
        return sorted(entries, key=by_importance) if len(entries) > 1 else entries


def by_importance(entry: LabelEntry) -> tuple[bool, str, str]:
    """Order entries: main labels first."""
    return (not entry.main, entry.iri.value, entry.label)
