"""The terms of an ontology and of the data, and the function words, by the words that name them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from pyoxigraph import NamedNode

from extractors.english.quantities import unit_of
from ontology import OntologyProperty, PropertyKind, Schema
from ontology.labels import local_name, readable, singular, split_camel_case, words
from sparql.ask import penalties
from sparql.ask.linking.readings import (
    Adjective,
    ClassName,
    Comparator,
    Derived,
    HowMuch,
    Meaning,
    Measure,
    More,
    Near,
    Neighbor,
    On,
    Ordinal,
    PropertyName,
    Question,
    Superlative,
    Word,
)
from sparql.ask.linking.summary import DataSummary
from sparql.ask.linking.words import english, idle_words, key_of
from sparql.ask.places import StatedPlaces
from sparql.ask.plan.terms import Aggregate, Op, Place, Side, Size, Term

LONGEST: Final = 6
_LONG: Final = 5
_MOST_AKIN: Final = 3
_LONGER: Final = frozenset({"of", "in", "by", "at", "on", "for", "to", "from", "with", "as"})

Found = tuple[Meaning, float]


class TermNames:
    """Classes and properties by the words of their labels. Built anew for another ontology or data."""

    def __init__(self, schema: Schema, summary: DataSummary) -> None:
        self._schema = schema
        self._places = StatedPlaces.of(schema)
        self._functions = FunctionWords()
        self._used: set[NamedNode] = set()
        self._by_key: dict[tuple[str, ...], dict[Meaning, float]] = defaultdict(dict)
        self._class_keys: set[tuple[str, ...]] = set()
        self._written: set[tuple[tuple[str, ...], Meaning]] = set()
        self._main_words: list[tuple[str, PropertyName]] = []
        self._defined: dict[tuple[str, ...], list[PropertyName]] = defaultdict(list)
        self._classes(summary)
        self._properties(summary)

    def find(self, tokens: Sequence[str]) -> list[Found]:
        """Return the terms that words name, with a cost each."""
        written = tuple(singular(token.lower()) for token in tokens)
        found = self._by_key.get(key_of(tuple(tokens)), {})
        exact = [(m, c) for m, c in found.items() if (written, m) in self._written]
        # "Built" is no building: a class has no other forms than the plural.
        others = [
            (m, c + penalties.OTHER_FORM) for m, c in found.items() if (written, m) not in self._written
        ]
        return [*exact, *(pair for pair in others if not isinstance(pair[0], ClassName))]

    def akin(self, word: str) -> list[Found]:
        """Return the properties that a word may mean which no label has: "telephone", "expert".

        A word of the label begins or ends like it, or the definition of the property has it.
        """
        found: dict[Meaning, float] = dict.fromkeys(
            self._defined.get(key_of((word,)), ()), penalties.IN_DEFINITION
        )
        for other, meaning in self._main_words:
            short, long = sorted((word, other), key=len)
            if len(short) >= _LONG and (long.startswith(short) or long.endswith(short)):
                found[meaning] = penalties.LIKE_LABEL
        return list(found.items()) if len(found) <= _MOST_AKIN else []

    def property_named(self, wanted: Iterable[str]) -> list[PropertyName]:
        """Return the properties named by any of some words."""
        found = (self.find(word.split()) for word in wanted)
        return [
            m
            for each in found
            for m, cost in each
            if isinstance(m, PropertyName) and cost < penalties.LABEL_PART
        ]

    def classes_named(self, wanted: Iterable[str]) -> frozenset[NamedNode]:
        """Return the classes named by any of some words, with those below them."""
        named = [m.term.iri for word in wanted for m, _ in self.find([word]) if isinstance(m, ClassName)]
        return frozenset(below for iri in named for below in (iri, *self._schema.subclasses(iri)))

    def _add(self, label: str, meaning: Meaning, cost: float) -> tuple[str, ...]:
        found = words(label.partition("(")[0]) or words(label)
        key = key_of(found)
        self._written.add((tuple(singular(word) for word in found), meaning))
        if key and cost < self._by_key[key].get(meaning, 9.0):
            self._by_key[key][meaning] = cost
        return key

    def _classes(self, summary: DataSummary) -> None:
        labels = self._class_labels(summary)
        names = Counter(readable(label).casefold() for label in labels.values())
        for iri, label in labels.items():
            known = self._schema.classes.get(iri)
            words_of = readable(label)
            # Two classes of known label, both with instances: the reader has to know which is meant.
            alone = names[words_of.casefold()] == 1
            longer = words_of if alone else f"{local_name(iri.value)} {words_of}"
            meaning = ClassName(Term(iri, longer))
            self._add(longer, meaning, 0.0)
            key = self._add(label, meaning, 0.0)
            self._class_keys.add(key)
            for other in known.alternative_labels if known else ():
                narrower = key_of(tuple(words(other)))
                # "Art museum" as another word for "museum" is a narrower kind: the modifier is not the class.
                if len(narrower) <= len(key) or narrower[-len(key) :] != key:
                    self._class_keys.add(self._add(other, meaning, penalties.OTHER_LABEL))
            if len(key) > 1:
                self._add(words(label)[-1], meaning, penalties.LABEL_PART)

    def _class_labels(self, summary: DataSummary) -> dict[NamedNode, str]:
        """The classes with their labels; of several with one label those with instances, if any has."""
        found: dict[NamedNode, str] = {}
        groups: dict[str, list[NamedNode]] = defaultdict(list)
        declared = {iri: known for iri, known in self._schema.classes.items() if not known.deprecated}
        for iri in sorted(declared.keys() | summary.classes, key=str):
            known = declared.get(iri)
            if known is not None and known.borrowed and iri not in summary.classes:
                continue
            found[iri] = known.label if known and known.label else split_camel_case(local_name(iri.value))
            groups[readable(found[iri]).casefold()].append(iri)
        for group in groups.values():
            used = {iri for iri in group if not summary.classes.isdisjoint(self._schema.subclasses(iri))}
            for iri in group if used and len(group) > 1 else ():
                if iri not in used:
                    del found[iri]
        return found

    def _properties(self, summary: DataSummary) -> None:
        declared = {
            iri: known
            for iri, known in self._schema.properties.items()
            if not known.deprecated
            and not (known.borrowed and iri not in summary.uses)
            and known.kind is not PropertyKind.ANNOTATION
        }
        used = self._used = {iri for iri, use in summary.uses.items() if use.edges}
        known_elsewhere = {iri for iri in used if iri in self._schema.properties} - declared.keys()
        for iri in sorted(declared.keys() | used - known_elsewhere, key=str):
            known = declared.get(iri)
            if not known and iri.value.startswith(_STANDARD):
                continue
            label = known.label if known and known.label else split_camel_case(local_name(iri.value))
            self._property(iri, label, known)

    def _property(self, iri: NamedNode, label: str, known: OntologyProperty | None) -> None:
        passive = words(label)[-1:] == ["by"]
        term = Term(iri, readable(label))
        meaning = self._place_of(iri, label) or PropertyName(term, known)
        active = PropertyName(term, known, active=True) if isinstance(meaning, PropertyName) else meaning
        self._labeled(label, meaning, 0.0)
        for other in known.alternative_labels if known else ():
            says_by = words(other)[-1:] == ["by"]
            self._labeled(other, active if passive and not says_by else meaning, penalties.OTHER_LABEL)
        for word in words(label) if len(words(label)) > 1 else ():
            if word not in _LONGER and not self._functions.knows([word]) and len(word) > 2:
                part = replace(meaning, partial=True) if isinstance(meaning, PropertyName) else meaning
                self._add(word, part, penalties.LABEL_PART)
        if isinstance(meaning, PropertyName):
            meaning = replace(meaning, partial=True)
            self._main_words += [(word, meaning) for word in words(label) if len(word) >= _LONG]
            for word in words(known.definition) if known else ():
                if len(word) >= _LONG - 1 and not self._functions.knows([word]) and word not in _idle():
                    self._defined[key_of((word,))].append(meaning)

    def _labeled(self, label: str, meaning: Meaning, cost: float) -> None:
        """Add a label; "has part" is "part" too, and "designed by" is "designed"."""
        found = words(label)
        # A value of so many hectares is for the numbers to read: the property may be in square kilometers.
        if not found or (cost and unit_of(label.lower()) is not None):
            return
        if cost and (self._functions.knows(found) or self._begins_with_class(found)):
            return
        self._add(label, meaning, cost)
        if isinstance(meaning, PropertyName):
            if len(found) > 1 and found[0] in ("has", "is", "was"):
                self._add(" ".join(found[1:]), meaning, cost + penalties.INFLECTED_LABEL)
            if len(found) > 1 and found[-1] in _LONGER:
                shorter = replace(meaning, active=True) if found[-1] == "by" else meaning
                self._add(" ".join(found[:-1]), shorter, cost + penalties.INFLECTED_LABEL)

    def _begins_with_class(self, found: Sequence[str]) -> bool:
        return any(key_of(tuple(found[:n])) in self._class_keys for n in range(1, len(found)))

    def _place_of(self, iri: NamedNode, label: str) -> Place | None:
        for place, properties in (
            (Place.WITHIN, self._places.inside),
            (Place.CONTAINS, self._places.around),
            (Place.TOUCHES, self._places.touches),
            (Place.OVERLAPS, self._places.crosses),
        ):
            if iri in properties:
                return place
        # "Runs through", which no statement has, is where geometries say it is.
        if iri in self._used:
            return None
        named = self._functions.find(words(label))
        return next((meaning for meaning, _ in named if isinstance(meaning, Place)), None)


@cache
def _idle() -> frozenset[str]:
    return idle_words()


_STANDARD: Final = (
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "http://www.w3.org/2000/01/rdf-schema#",
    "http://www.w3.org/2004/02/skos/core#",
    "http://www.w3.org/2002/07/owl#",
    "http://www.opengis.net/ont/geosparql#",
)


_ORDER: Final = {
    "most": Superlative(most=True),
    "least": Superlative(most=False),
    "first": Superlative(most=False, dated=True),
    "last": Superlative(most=True, dated=True),
    "near": Superlative(most=False, distance=True),
    "far": Superlative(most=True, distance=True),
}
_SECTIONS: Final[Mapping[str, Callable[[str], Meaning]]] = {
    "places": Place,
    "near": lambda _: Near(),
    "neighbors": lambda _: Neighbor(),
    "on": lambda _: On(),
    "sides": Side,
    "logic": Word,
    "others": lambda _: Word.OTHERS,
    "differences": lambda _: Word.DIFFERENCE,
    "compare": lambda name: Comparator(Op(name)),
    "dated": lambda name: Comparator(Op(name), dated=True),
    "compare_behind": lambda name: Comparator(Op(name), behind=True),
    "compare_distance": lambda name: Comparator(Op(name), distant=True),
    "counts": lambda name: More(Op(name)),
    "order": _ORDER.__getitem__,
    "extremes": lambda name: Superlative(most=name in (Side.NORTH, Side.EAST), side=Side(name)),
    "aggregates": Aggregate,
    "sizes": lambda name: Measure(Size(name) if name != "distance" else None),
    "covering": lambda _: Measure(Size.AREA, verb=True),
    "questions": Question,
}
"""What the phrases of a section of `english.toml` mean, by their name in it."""


class FunctionWords:
    """The closed lists of English function words (`english.toml`)."""

    def __init__(self) -> None:
        self._by_key: dict[tuple[str, ...], list[Found]] = defaultdict(list)
        lists = english()
        for section, meaning_of in _SECTIONS.items():
            cost = penalties.ON if section == "on" else 0.0
            for name, phrases in lists[section].items():
                self._add_all(phrases, meaning_of(name), cost)
        for word, number in lists["ordinals"].items():
            self._add(word, Ordinal(number))
        for name, how in lists["derived"].items():
            self._add(name, derived(how))
        adjectives = {name: _adjective(name, found) for name, found in lists["adjectives"].items()}
        for adjective in adjectives.values():
            self._add_degrees(adjective)
        for name, phrases in lists["superlatives"].items():
            adjective = adjectives[name]
            self._add_all(phrases, Superlative(most=not adjective.least, adjective=adjective))
        for name, phrases in lists["comparatives"].items():
            adjective = adjectives[name]
            op = Op.LESS if adjective.least else Op.MORE
            self._add_all(phrases, Comparator(op, adjective=adjective))

    def find(self, tokens: Sequence[str]) -> list[Found]:
        """Return what function words mean."""
        return self._by_key.get(key_of(tuple(tokens)), [])

    def knows(self, tokens: Sequence[str]) -> bool:
        """Return whether words are function words, or the inflected form of one."""
        return key_of(tuple(tokens)) in self._by_key

    def _add(self, phrase: str, meaning: Meaning, cost: float = 0.0) -> None:
        self._by_key[key_of(tuple(words(phrase)) or (phrase,))].append((meaning, cost))

    def _add_all(self, phrases: Iterable[str], meaning: Meaning, cost: float = 0.0) -> None:
        """Add phrases; one with a tilde is a rarer meaning of the words."""
        for phrase in phrases:
            rare = phrase.startswith("~")
            self._add(phrase.removeprefix("~"), meaning, penalties.RARE_MEANING if rare else cost)

    def _add_degrees(self, adjective: Adjective) -> None:
        if adjective.verb:
            self._add(adjective.name, adjective)
            return
        most = not adjective.least
        more = Op.MORE if most else Op.LESS
        comparative, superlative = _degrees(adjective.name)
        for phrase in (superlative, f"most {adjective.name}"):
            self._add(phrase, Superlative(most=most, adjective=adjective))
        self._add(f"least {adjective.name}", Superlative(most=not most, adjective=adjective))
        for phrase in (f"{comparative} than", f"more {adjective.name} than"):
            self._add(phrase, Comparator(more, adjective=adjective))
        self._add(comparative, Comparator(more, adjective=adjective), penalties.COMPARATIVE_ALONE)
        self._add(
            f"less {adjective.name} than", Comparator(Op.LESS if most else Op.MORE, adjective=adjective)
        )
        self._add(f"how {adjective.name}", HowMuch(adjective))
        self._add(adjective.name, adjective, penalties.ADJECTIVE_ALONE)


def _adjective(name: str, found: dict[str, object]) -> Adjective:
    listed = found.get("words", ())
    assert isinstance(listed, list | tuple)
    size = found.get("size")
    return Adjective(
        name,
        tuple(str(word) for word in listed),
        Size(size) if isinstance(size, str) else None,
        bool(found.get("age")),
        bool(found.get("least")),
        bool(found.get("verb")),
    )


def derived(found: Mapping[str, list[str]]) -> Derived:
    """Read how a quantity is worked out."""
    per = found.get("per")
    return Derived(tuple(found.get("times", ())), (per[0], per[1]) if per else None)


def _degrees(adjective: str) -> tuple[str, str]:
    """Return the comparative and superlative: "big" is "bigger", "biggest"."""
    if adjective.endswith("y"):
        stem = adjective[:-1] + "i"
    elif adjective.endswith("e"):
        stem = adjective[:-1]
    elif (
        len(adjective) <= 4
        and adjective[-1] in "gtnd"
        and adjective[-2] in "aeiou"
        and adjective[-3] not in "aeiou"
    ):
        stem = adjective + adjective[-1]
    else:
        stem = adjective
    return f"{stem}er", f"{stem}est"
