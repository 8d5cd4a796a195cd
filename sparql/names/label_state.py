"""One version of the index of names: the labels and classes of each subject, and the subjects of each label.

Nothing here is locked; `sparql.names.labels.LabelIndex` guards it.
"""

from __future__ import annotations

from typing import Final

from pyoxigraph import Literal, NamedNode, Quad

from extractors.grounding.linking import LabelEntry, normalize
from extractors.grounding.name_similarity import marks
from sparql.names.trigrams import TrigramIndex

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
