"""Full validation of a graph of any size, portion by portion, in memory that does not grow with the graph.

A store on the disk hands out its default graph subject by subject. So the nodes are judged some thousands at
a time, with all that is stated of them in memory, where most lookups of shapes end. Values that are targets
(`sh:targetObjectsOf`) come value by value, in the same way. What is looked up beside them is read for many
nodes at once and kept: a lookup in the store costs some 30 us of processor time, most of which is not for
what is found.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, groupby, islice

import numpy as np
from pyoxigraph import Literal, NamedNode, Triple

from shapes.gate.affected import AffectedPairs, Pairs
from shapes.model import TargetedShape
from shapes.paths import Repeat, Step, walk
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import DEFAULT, RDF, RDFS
from sparql.storage.embedded_store import EmbeddedStore

_MOST_TYPED = 2**16
_MOST_KNOWN = 2**13
_MOST_ABOUT = 64
"""Of a node with more statements no more than what was asked for is read."""
_OFTEN = 1000
"""So many lookups of values of one predicate are worth reading all of its statements."""
_PLACES = 2**22


class Surroundings:
    """A store that does not change, with what was read of it kept; its memory is bounded."""

    def __init__(self, store: EmbeddedStore) -> None:
        self._store = store
        self._types: dict[Term, list[Triple]] = {}
        self._types_by_hash: _TypesByHash | None = None
        self._about: dict[Term, dict[NamedNode, list[Triple]] | None] = {}
        self._asked: Counter[NamedNode] = Counter()
        self._values: dict[NamedNode, bytearray] = {}

    def expect(self, nodes: Iterable[NamedNode]) -> None:
        """Read the types of nodes that will be asked for."""
        if len(self._types) > _MOST_TYPED:
            self._types.clear()
        if self._types_by_hash is None:
            self._types_by_hash = _TypesByHash(self._store)
        self._types.update(self._types_by_hash.of([node for node in nodes if node not in self._types]))

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples that fit the pattern; `None` is a wildcard."""
        if predicate is None or predicate == RDFS.subClassOf or isinstance(subject, Literal):
            return self._store.match(subject, predicate, object_)
        if subject is None:
            if object_ is not None and self._leads_nowhere(predicate, object_):
                return iter(())
            return self._store.match(subject, predicate, object_)
        found = self._types.get(subject) if predicate == RDF.type else None
        if found is None:
            about = self._all_about(subject)
            if about is None:
                return self._store.match(subject, predicate, object_)
            found = about.get(predicate, [])
        return iter(found) if object_ is None else (one for one in found if one.object == object_)

    def _all_about(self, subject: Term) -> dict[NamedNode, list[Triple]] | None:
        """All that is stated of a node; None where that is much."""
        if subject not in self._about:
            if len(self._about) > _MOST_KNOWN:
                self._about.clear()
            triples = list(islice(self._store.match(subject, None, None), _MOST_ABOUT + 1))
            about: dict[NamedNode, list[Triple]] = {}
            for triple in triples:
                about.setdefault(triple.predicate, []).append(triple)
            self._about[subject] = about if len(triples) <= _MOST_ABOUT else None
        return self._about[subject]

    def _leads_nowhere(self, predicate: NamedNode, value: Term) -> bool:
        """Whether no statement with a predicate surely has this value."""
        places = self._values.get(predicate)
        if places is None:
            self._asked[predicate] += 1
            if self._asked[predicate] < _OFTEN:
                return False
            places = self._values[predicate] = bytearray(_PLACES)
            for value in self._store.values_of(predicate):
                places[hash(value) % _PLACES] = 1
        return not places[hash(value) % _PLACES]


class _TypesByHash:
    """The types of all nodes of a store in 12 bytes for each statement, read class by class.

    Of a node 64 bits are kept: among 100 million nodes the odds are 1 to 3,700 that any two share them, and
    would have each other's types. Nothing but a report is made from this.
    """

    def __init__(self, store: EmbeddedStore) -> None:
        self._classes = list(store.values_of(RDF.type))
        hashes, numbers = array("q"), array("i")
        for number, class_ in enumerate(self._classes):
            before = len(hashes)
            if isinstance(class_, NamedNode):
                hashes.extend(map(hash, store.subjects_of(RDF.type, class_)))
            else:
                hashes.extend(hash(triple.subject) for triple in store.match(None, RDF.type, class_))
            numbers.extend([number] * (len(hashes) - before))
        unsorted = np.frombuffer(hashes, dtype=np.int64)
        order = np.argsort(unsorted, kind="stable")
        self._hashes, self._numbers = unsorted[order], np.frombuffer(numbers, dtype=np.int32)[order]

    def of(self, nodes: list[NamedNode]) -> Iterator[tuple[NamedNode, list[Triple]]]:
        """Each node with its types as statements."""
        keys = np.fromiter(map(hash, nodes), dtype=np.int64, count=len(nodes))
        begins, ends = (np.searchsorted(self._hashes, keys, side=side).tolist() for side in ("left", "right"))
        for node, begin, end in zip(nodes, begins, ends, strict=True):
            numbers = self._numbers[begin:end].tolist()
            yield node, [Triple(node, RDF.type, self._classes[number]) for number in numbers]


_NODES = 2048
_MANY = 16
"""So many subjects that are alike are judged together."""
_MOST_SIGNATURES = 2**12
_UP = Repeat(Step(RDFS.subClassOf))
Values = dict[NamedNode, list[Term]]
"""What is stated of a subject, by predicate."""


def portions(pairs: AffectedPairs, source: EmbeddedStore) -> Iterator[tuple[TripleSource, Pairs]]:
    """All targets with what is stated of them, in portions; `source` is ordered by subject.

    The graph must not change while it is read, but for what a store keeps of an iterator that has begun.
    """
    surroundings = Surroundings(source)
    return chain(_by_subject(pairs, source, surroundings), _by_value(pairs, surroundings))


class Portion:
    """A source with all statements about some subjects in memory."""

    def __init__(self, base: TripleSource) -> None:
        self._base = base
        self._about: dict[Term, Values] = {}
        self._quoting: dict[Term, Values] = {}
        self.stated_of: Callable[[Term], Values | None] = self._about.get
        """All that is stated about a subject but for RDF 1.2 triple terms, if it is kept here."""

    def __len__(self) -> int:
        return len(self._about)

    def take(self, subject: Term, about: Values, *, quotes: bool = False) -> None:
        """Keep all that is stated about a subject; `quotes` where RDF 1.2 triple terms are among it."""
        if quotes:
            self._quoting[subject] = about
            about = {
                predicate: [value for value in values if not isinstance(value, Triple)]
                for predicate, values in about.items()
            }
        self._about[subject] = about

    def neighbors(self) -> set[NamedNode]:
        """The nodes that the subjects are related to, without the subjects themselves and their classes."""
        found = {
            value
            for about in self._about.values()
            for predicate, values in about.items()
            if predicate != RDF.type
            for value in values
            if isinstance(value, NamedNode)
        }
        return found - self._about.keys()

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples that fit the pattern; `None` is a wildcard."""
        about = None if subject is None else self._quoting.get(subject) or self._about.get(subject)
        if about is None or isinstance(subject, Literal | None):
            return self._base.match(subject, predicate, object_)
        wanted = about.items() if predicate is None else ((predicate, about.get(predicate, ())),)
        return (
            Triple(subject, one, value)
            for one, values in wanted
            for value in values
            if object_ is None or value == object_
        )


def _subjects(source: EmbeddedStore) -> Iterator[tuple[Term, Values, bool]]:
    """Every subject with its values by predicate, and whether RDF 1.2 triple terms are among them."""
    # One object for each predicate: that of a key is found at once where it is the same.
    known: dict[NamedNode, NamedNode] = {}
    current: Term | None = None
    about: Values = {}
    quotes = False
    for subject, predicate, value, _ in source.match_quads(None, None, None, DEFAULT):
        if subject != current:
            if current is not None:
                yield current, about, quotes
            current, about, quotes = subject, {}, False
        predicate = known.setdefault(predicate, predicate)
        if predicate in about:
            about[predicate].append(value)
        else:
            about[predicate] = [value]
        if type(value) is Triple:
            quotes = True
    if current is not None:
        yield current, about, quotes


def _by_subject(
    pairs: AffectedPairs, source: EmbeddedStore, surroundings: Surroundings
) -> Iterator[tuple[TripleSource, Pairs]]:
    """All targets that are subjects, and those that shapes name."""
    shapes = _ShapesOfSubjects(pairs, source)
    named: Pairs = {shape.name: set(shape.nodes) for shape in pairs.shapes.values() if shape.nodes}
    # The nodes that a shape names come first, wherever they come as subjects.
    yield surroundings, named
    portion, alike = Portion(surroundings), dict[_Signature, list[Term]]()
    for subject, about, quotes in _subjects(source):
        portion.take(subject, about, quotes=quotes)
        signature = tuple(about), tuple(about.get(RDF.type, ()))
        alike.setdefault(signature, []).append(subject)
        if len(portion) >= _NODES:
            surroundings.expect(portion.neighbors())
            for found in _targets(shapes, alike, named):
                yield portion, found
            portion, alike = Portion(surroundings), {}
    surroundings.expect(portion.neighbors())
    for found in _targets(shapes, alike, named):
        yield portion, found


_Signature = tuple[tuple[NamedNode, ...], tuple[Term, ...]]
"""The predicates and the types of a subject, from which its shapes follow."""


def _targets(
    shapes: "_ShapesOfSubjects", alike: dict[_Signature, list[Term]], named: Pairs
) -> Iterator[Pairs]:
    """The targets among subjects: the same set for all shapes where many are alike, then the others."""
    others: Pairs = {}
    for signature, subjects in alike.items():
        nodes: set[Term] = set(subjects)
        found = {name: nodes - named[name] if name in named else nodes for name in shapes.of(signature)}
        if len(nodes) >= _MANY:
            yield found
            continue
        for name, few in found.items():
            others.setdefault(name, set()).update(few)
    yield others


class _ShapesOfSubjects:
    """The shapes that subjects are targets of, found once for all with the same signature."""

    def __init__(self, pairs: AffectedPairs, source: TripleSource) -> None:
        self._pairs = pairs
        self._classes = _ShapesOfClasses(pairs, source)
        self._known: dict[_Signature, list[str]] = {}

    def of(self, signature: _Signature) -> list[str]:
        """The names of the shapes."""
        names = self._known.get(signature)
        if names is None:
            if len(self._known) >= _MOST_SIGNATURES:
                self._known.clear()
            predicates, types = signature
            shapes = [shape for one in predicates for shape in self._pairs.by_subject.get(one, ())]
            shapes += [shape for type_ in types for shape in self._classes.of(type_)]
            names = self._known[signature] = list(dict.fromkeys(shape.name for shape in shapes))
        return names


def _by_value(pairs: AffectedPairs, source: TripleSource) -> Iterator[tuple[TripleSource, Pairs]]:
    """All targets that are values and were not judged as subjects."""
    classes = _ShapesOfClasses(pairs, source)
    for predicate, shapes in pairs.by_object.items():
        found: Pairs = {}
        values = groupby(source.match(None, predicate, None), lambda triple: triple.object)
        for count, (value, _) in enumerate(values, start=1):
            for shape in shapes:
                if not _is_judged(shape, predicate, value, classes, source):
                    found.setdefault(shape.name, set()).add(value)
            if count % _NODES == 0:
                yield source, found
                found = {}
        yield source, found


def _is_judged(
    shape: TargetedShape,
    predicate: NamedNode,
    value: Term,
    classes: "_ShapesOfClasses",
    source: TripleSource,
) -> bool:
    """Whether a value is a target of a shape otherwise, or as a value of an earlier predicate."""
    if value in shape.nodes:
        return True
    for other in sorted(shape.objects_of, key=str):
        if other == predicate:
            break
        if next(source.match(None, other, value), None) is not None:
            return True
    if isinstance(value, Literal | Triple):
        return False
    if any(next(source.match(value, one, None), None) is not None for one in shape.subjects_of):
        return True
    return bool(shape.classes) and any(
        shape in classes.of(triple.object) for triple in source.match(value, RDF.type, None)
    )


class _ShapesOfClasses:
    """The shapes that a class and those above it are targets of, looked up once."""

    def __init__(self, pairs: AffectedPairs, source: TripleSource) -> None:
        self._pairs = pairs
        self._source = source
        self._known: dict[Term, tuple[TargetedShape, ...]] = {}

    def of(self, class_: Term) -> tuple[TargetedShape, ...]:
        known = self._known.get(class_)
        if known is None:
            above = walk(self._source, class_, _UP)
            found = {shape.name: shape for one in above for shape in self._pairs.by_class.get(one, ())}  # type: ignore[arg-type]
            known = self._known[class_] = tuple(found.values())
        return known
