"""Full validation of a graph of any size, portion by portion, in memory that does not grow with the graph.

A store on the disk hands out its default graph subject by subject. So the nodes are judged some thousands at
a time, with all that is stated of them in memory, where most lookups of shapes end. Values that are targets
(`sh:targetObjectsOf`) come value by value, in the same way.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from pyoxigraph import Literal, NamedNode, Triple

from shapes.gate.affected import AffectedPairs, Pairs
from shapes.gate.surroundings import Surroundings
from shapes.model import TargetedShape
from shapes.paths import Repeat, Step, walk
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF, RDFS
from sparql.storage.embedded_store import EmbeddedStore

_NODES = 512
_UP = Repeat(Step(RDFS.subClassOf))


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
        self._about: dict[Term, dict[NamedNode, list[Triple]]] = {}

    def __len__(self) -> int:
        return len(self._about)

    def take(self, subject: Term, triples: Iterable[Triple]) -> None:
        """Keep all that is stated about a subject."""
        about: dict[NamedNode, list[Triple]] = {}
        for triple in triples:
            about.setdefault(triple.predicate, []).append(triple)
        self._about[subject] = about

    def neighbors(self) -> set[NamedNode]:
        """What the subjects are related to and is none of them, but for their classes."""
        found = {
            triple.object
            for about in self._about.values()
            for predicate, triples in about.items()
            if predicate != RDF.type
            for triple in triples
            if isinstance(triple.object, NamedNode)
        }
        return found - self._about.keys()

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples that fit the pattern; `None` is a wildcard."""
        about = None if subject is None else self._about.get(subject)
        if about is None:
            return self._base.match(subject, predicate, object_)
        found = chain.from_iterable(about.values()) if predicate is None else about.get(predicate, ())
        return iter(found) if object_ is None else (one for one in found if one.object == object_)


def _by_subject(
    pairs: AffectedPairs, source: TripleSource, surroundings: Surroundings
) -> Iterator[tuple[Portion, Pairs]]:
    """All targets that are subjects, and those that shapes name."""
    named = {shape.name: set(shape.nodes) for shape in pairs.shapes.values() if shape.nodes}
    portion, found = Portion(surroundings), named
    classes = _ShapesOfClasses(pairs, source)
    for subject, about in groupby(source.match(None, None, None), lambda triple: triple.subject):
        triples = list(about)
        portion.take(subject, triples)
        for shape in _shapes_of(pairs, classes, triples):
            # The nodes that a shape names are in the first portion, wherever they come as subjects.
            if subject not in shape.nodes:
                found.setdefault(shape.name, set()).add(subject)
        if len(portion) >= _NODES:
            surroundings.expect(portion.neighbors())
            yield portion, found
            portion, found = Portion(surroundings), {}
    surroundings.expect(portion.neighbors())
    yield portion, found


def _shapes_of(
    pairs: AffectedPairs, classes: "_ShapesOfClasses", triples: Iterable[Triple]
) -> Iterator[TargetedShape]:
    for triple in triples:
        yield from pairs.by_subject.get(triple.predicate, ())
        if triple.predicate == RDF.type:
            yield from classes.of(triple.object)


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
