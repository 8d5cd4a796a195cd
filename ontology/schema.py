"""The ontology as other packages read it: classes, properties, hierarchies, and terms that fit a text.

A small model is offered only a few relations, so the right ones must be among them. Three kinds of evidence
count, in this order: a label or alternative label occurs in the text as a phrase; single words of a label
occur; words of the definition occur. Rare words count more (inverse document frequency).
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, TypeVar

from pyoxigraph import NamedNode, Triple

from ontology import vocabulary as v
from ontology.errors import OntologyError
from ontology.graph import Graph, class_hierarchy, disjoint_pairs, property_hierarchy
from ontology.labels import normalize, readable, stem, words
from ontology.loading import OntologyFile, read_folder
from ontology.reading import check_terms, read_classes, read_properties
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind, Snippet

PHRASE_WEIGHT = 4.0
WORD_WEIGHT = 1.0
DEFINITION_WEIGHT = 0.25
FUNCTION_WORD_WEIGHT = 0.4
FUNCTION_PHRASE_WEIGHT = 1.2
LONGEST_PHRASE = 6

_FUNCTION_WORDS = """
    a an the of in on at to by for from with and or as is are was were be been it its he she they
    his her their this that these those which who whom where when while than then there has have had
    not no but if into over under out up down off between through during about after before one each
    all any some other also more most such same so can may will would
"""
FUNCTION_WORDS = frozenset(stem(word) for word in _FUNCTION_WORDS.split())


TermT = TypeVar("TermT", bound=OntologyClass | OntologyProperty)


class TermIndex(Generic[TermT]):
    """Terms in file order, found by the words of a text."""

    def __init__(self, terms: Sequence[TermT]) -> None:
        self._terms: tuple[TermT, ...] = tuple(terms)
        self._phrases: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._words: dict[str, dict[int, float]] = defaultdict(dict)
        for number, term in enumerate(self._terms):
            for label in (term.label, *term.alternative_labels):
                for form in dict.fromkeys((label, readable(label))):
                    self._add_label(number, form)
            for word in set(_stems(term.definition)) - FUNCTION_WORDS:
                self._words[word].setdefault(number, DEFINITION_WEIGHT)

    def _add_label(self, number: int, label: str) -> None:
        phrase = tuple(_stems(label))
        if not phrase:
            return
        if number not in self._phrases[phrase]:
            self._phrases[phrase].append(number)
        for word in set(phrase) - FUNCTION_WORDS:
            self._words[word][number] = WORD_WEIGHT

    def scores(self, text: str) -> dict[int, float]:
        """The score of each term for a text, by its number in file order, without terms that do not fit."""
        stems = _stems(text)
        found: dict[int, float] = defaultdict(float)
        for phrase in _phrases(stems):
            holders = self._phrases.get(phrase)
            if holders:
                weight = self._phrase_weight(phrase)
                for number in holders:
                    found[number] = max(found[number], weight)
        for word in set(stems):
            holding = self._words.get(word)
            if holding:
                rarity = self._rarity(len(holding))
                for number, weight in holding.items():
                    found[number] += weight * rarity
        return found

    def _phrase_weight(self, phrase: tuple[str, ...]) -> float:
        """Higher for longer and rarer phrases, lower for function words such as "in"."""
        meaning = sum(word not in FUNCTION_WORDS for word in phrase)
        sharing = 1 / math.sqrt(len(self._phrases[phrase]))
        if meaning == 0:
            return FUNCTION_PHRASE_WEIGHT * len(phrase) * sharing
        return PHRASE_WEIGHT * (meaning + FUNCTION_WORD_WEIGHT * (len(phrase) - meaning)) * sharing

    def _rarity(self, holders: int) -> float:
        return math.log1p(len(self._terms) / holders) / math.log1p(len(self._terms) or 1)

    def best(self, text: str, limit: int, boosts: dict[int, float] | None = None) -> tuple[TermT, ...]:
        """The terms that best fit a text, then others in file order, `limit` in all."""
        found = self.scores(text)
        for number, boost in (boosts or {}).items():
            found[number] = found.get(number, 0.0) + boost
        order = sorted(range(len(self._terms)), key=lambda number: (-found.get(number, 0.0), number))
        return tuple(self._terms[number] for number in order[: max(limit, 0)])


def _stems(text: str) -> list[str]:
    return [stem(word) for word in words(text)]


def _phrases(stems: Sequence[str]) -> set[tuple[str, ...]]:
    """Every run of up to `LONGEST_PHRASE` words."""
    return {
        tuple(stems[start : start + length])
        for start in range(len(stems))
        for length in range(1, min(LONGEST_PHRASE, len(stems) - start) + 1)
    }


def state_without_cached(instance: object) -> dict[str, Any]:
    """The attributes of an instance without its cached properties, for `__getstate__`.

    Pickling the attributes themselves fails where another thread computes a cached property meanwhile.
    """
    # The copy is one step of the interpreter: no other thread comes in between.
    attributes = dict(vars(instance))
    kind = type(instance)
    return {
        name: value
        for name, value in attributes.items()
        if not isinstance(getattr(kind, name, None), cached_property)
    }


DATE_BOOST = 0.6
CLASS_BOOST = 0.25
_YEAR = re.compile(r"(?<!\d)1[0-9]{3}(?!\d)|(?<!\d)20[0-9]{2}(?!\d)")
_AFTER_HEAD = frozenset(normalize("of in on at for with by from near to that which who and or located based"))
_DATE_TYPES = frozenset(NamedNode(v.XSD + name) for name in ("date", "gYear", "gYearMonth", "dateTime"))


class Schema:
    """The content of the loaded ontology files. Immutable: an edit makes a new one.

    Mappings are in file order. `version` is a short hash over the contents of the files, and
    `version_iris` are their owl:versionIRI. Terms that the files only declare, and that another vocabulary
    defines, are among `classes` and `properties` but are not offered for a text.
    """

    def __init__(self, files: Sequence[OntologyFile]) -> None:
        self.files = tuple(files)
        graph = self.graph
        check_terms(files, graph)
        self.triples: frozenset[Triple] = frozenset(triple for file in files for triple in file.triples)
        self.classes: Mapping[NamedNode, OntologyClass] = MappingProxyType(read_classes(graph))
        self.properties: Mapping[NamedNode, OntologyProperty] = MappingProxyType(read_properties(graph))
        self.ontologies: Mapping[NamedNode, tuple[Triple, ...]] = MappingProxyType(_ontologies(files))
        self.prefixes: Mapping[str, str] = MappingProxyType(_prefixes(files))
        digests = "".join(sorted(file.digest for file in files))
        self.version = hashlib.sha256(digests.encode()).hexdigest()[:12]
        self.version_iris: tuple[NamedNode, ...] = tuple(
            value for _, value in graph.pairs(v.VERSION_IRI) if isinstance(value, NamedNode)
        )
        self._class_order = class_hierarchy(graph)
        self._property_order = property_hierarchy(graph)
        self._disjoint = disjoint_pairs(graph)

    @cached_property
    def graph(self) -> Graph:
        """The triples of all files, in the order of the files."""
        return Graph(triple for file in self.files for triple in file.triples)

    @classmethod
    def load(cls, folder: Path, edits: Mapping[str, bytes | None] | None = None) -> Schema:
        """Read every *.ttl, *.owl, *.rdf and *.nt of a folder and their imports; no file: an empty schema.

        `edits` replace files of the folder, by name (see `read_folder`). Raises OntologyError, whose
        message names the file, the line and the fix.
        """
        return cls(read_folder(folder, edits))

    @classmethod
    def load_readable(
        cls, folder: Path, edits: Mapping[str, bytes | None] | None = None, known: Schema | None = None
    ) -> tuple[Schema, list[OntologyError]]:
        """The same of what can be read, with the errors of the rest.

        It is `known` itself where that was made of the same files; of others, the same are not parsed again.
        Raises OntologyError where the terms of the files that were read contradict each other.
        """
        problems: list[OntologyError] = []
        former = () if known is None else known.files
        files = read_folder(folder, edits, problems, former)
        if known is not None and list(map(id, files)) == list(map(id, former)):
            return known, problems
        return cls(files), problems

    @classmethod
    def empty(cls) -> Schema:
        """A schema without terms."""
        return cls(())

    def written(self, iri: NamedNode) -> str:
        """An IRI in Turtle, with the longest prefix of the files that fits."""
        fitting = [
            (len(namespace), prefix)
            for prefix, namespace in self.prefixes.items()
            if iri.value.startswith(namespace) and _LOCAL_NAME.fullmatch(iri.value[len(namespace) :])
        ]
        if not fitting:
            return str(iri)
        length, prefix = max(fitting)
        return f"{prefix}:{iri.value[length:]}"

    def superclasses(self, iri: NamedNode) -> frozenset[NamedNode]:
        """The class itself and all classes above it."""
        return self._class_order.above(iri)

    def subclasses(self, iri: NamedNode) -> frozenset[NamedNode]:
        """The class itself and all classes below it."""
        return self._class_order.below(iri)

    def superproperties(self, iri: NamedNode) -> frozenset[NamedNode]:
        """The property itself and all properties above it."""
        return self._property_order.above(iri)

    def subproperties(self, iri: NamedNode) -> frozenset[NamedNode]:
        """The property itself and all properties below it."""
        return self._property_order.below(iri)

    def are_disjoint(self, a: NamedNode, b: NamedNode) -> bool:
        """Whether the axioms say that nothing can be an instance of both classes."""
        return any(
            frozenset({one, other}) in self._disjoint
            for one in self.superclasses(a)
            for other in self.superclasses(b)
        )

    def __getstate__(self) -> dict[str, Any]:
        return state_without_cached(self)

    def disjoint_with(self, iri: NamedNode) -> tuple[NamedNode, ...]:
        """The classes that the axioms state to be disjoint with this one, in order."""
        return self._disjoint_by_class.get(iri, ())

    @cached_property
    def _disjoint_by_class(self) -> dict[NamedNode, tuple[NamedNode, ...]]:
        found: dict[NamedNode, set[NamedNode]] = {}
        for pair in self._disjoint:
            for iri in pair:
                found.setdefault(iri, set()).update(pair - {iri})
        return {iri: tuple(sorted(apart, key=lambda one: one.value)) for iri, apart in found.items()}

    @property
    def disjointness_stated(self) -> bool:
        """Whether any two classes are stated to share nothing."""
        return bool(self._disjoint)

    def find_class(self, words: str) -> OntologyClass | None:
        """The class named by words: by label, else by alternative label, else by their longest ending.

        "private Ivy League research university" is a university, and so is "a university in New York City":
        words after a preposition only describe. Case, hyphens and plurals do not matter.
        """
        wanted = normalize(words)
        head = next(
            (place for place, word in enumerate(wanted) if place and word in _AFTER_HEAD), len(wanted)
        )
        ends = [place for place, word in enumerate(wanted) if place >= head and word in _AFTER_HEAD]
        for end in [len(wanted), *reversed(ends)]:
            for start in range(head):
                found = self._classes_by_label.get(wanted[start:end])
                if found is not None:
                    return found
        return None

    def find_property(self, words: str) -> OntologyProperty | None:
        """The property named by words: by label, else by alternative label; all words must match."""
        return self._properties_by_label.get(normalize(words))

    def snippet(self, text: str, limit_classes: int = 20, limit_properties: int = 20) -> Snippet:
        """The classes and properties that best fit a text; ties and the rest are in file order."""
        classes = self._class_index.best(text, limit_classes)
        named = self._class_index.scores(text)
        return Snippet(classes, self._property_index.best(text, limit_properties, self._boosts(text, named)))

    def _boosts(self, text: str, named: Mapping[int, float]) -> dict[int, float]:
        """Extra score for dates where the text has a year, and for properties of the mentioned classes."""
        boosts = dict.fromkeys(self._dated, DATE_BOOST) if _YEAR.search(text) else {}
        strong = [self._offered_classes[number].iri for number, score in named.items() if score >= 1]
        above = frozenset().union(*(self.superclasses(iri) for iri in strong)) if strong else frozenset()
        for number, domains in enumerate(self._offered_domains):
            if not above.isdisjoint(domains):
                boosts[number] = boosts.get(number, 0.0) + CLASS_BOOST / len(domains)
        return boosts

    @cached_property
    def _offered_classes(self) -> tuple[OntologyClass, ...]:
        return tuple(term for term in self.classes.values() if not term.borrowed and not term.deprecated)

    @cached_property
    def _offered_properties(self) -> tuple[OntologyProperty, ...]:
        return tuple(
            term
            for term in self.properties.values()
            if not term.borrowed and not term.deprecated and term.kind is not PropertyKind.ANNOTATION
        )

    @cached_property
    def _offered_domains(self) -> tuple[frozenset[NamedNode], ...]:
        return tuple(term.domains for term in self._offered_properties)

    @cached_property
    def _dated(self) -> tuple[int, ...]:
        return tuple(
            number for number, term in enumerate(self._offered_properties) if term.ranges & _DATE_TYPES
        )

    @cached_property
    def _class_index(self) -> TermIndex[OntologyClass]:
        return TermIndex(self._offered_classes)

    @cached_property
    def _property_index(self) -> TermIndex[OntologyProperty]:
        return TermIndex(self._offered_properties)

    @cached_property
    def _classes_by_label(self) -> dict[tuple[str, ...], OntologyClass]:
        return _by_label(self._offered_classes)

    @cached_property
    def _properties_by_label(self) -> dict[tuple[str, ...], OntologyProperty]:
        return _by_label(self._offered_properties)


def _by_label(terms: Iterable[TermT]) -> dict[tuple[str, ...], TermT]:
    """Main labels take precedence over alternative ones, earlier terms over later ones."""
    ordered = list(terms)
    found: dict[tuple[str, ...], TermT] = {}
    for term in ordered:
        found.setdefault(normalize(term.label), term)
    for term in ordered:
        for label in term.alternative_labels:
            found.setdefault(normalize(label), term)
    found.pop((), None)
    return found


def _ontologies(files: Iterable[OntologyFile]) -> dict[NamedNode, tuple[Triple, ...]]:
    # For most triples only the predicate is examined.
    return {
        triple.subject: file.triples
        for file in files
        for triple in file.triples
        if triple.predicate == v.TYPE
        and triple.object == v.ONTOLOGY
        and isinstance(triple.subject, NamedNode)
    }


_LOCAL_NAME = re.compile(r"[A-Za-z0-9_](?:[\w.-]*[\w-])?")
"""Local names that Turtle takes as they are."""


def _prefixes(files: Iterable[OntologyFile]) -> dict[str, str]:
    found: dict[str, str] = {}
    for file in files:
        for prefix, namespace in file.prefixes.items():
            found.setdefault(prefix, namespace)
    return found
