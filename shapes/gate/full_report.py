"""Full validation of a graph of any size, portion by portion, in memory that does not grow with the graph.

A store on the disk hands out its default graph subject by subject. So the nodes are judged some thousands at
a time, with all that is stated of them in memory, where most lookups of shapes end. Values that are targets
(`sh:targetObjectsOf`) come value by value, in the same way.
"""

from collections.abc import Iterator
from itertools import chain, groupby

from pyoxigraph import Literal, NamedNode, Triple

from shapes.gate.affected import AffectedPairs, Pairs
from shapes.gate.surroundings import Surroundings
from shapes.model import TargetedShape
from shapes.paths import Repeat, Step, walk
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import DEFAULT, RDF, RDFS
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
        self._about: dict[Term, dict[NamedNode, list[Term]]] = {}

    def __len__(self) -> int:
        return len(self._about)

    def take(self, subject: Term, about: dict[NamedNode, list[Term]]) -> None:
        """Keep all that is stated about a subject: values by predicate."""
        self._about[subject] = about

    def stated_of(self, subject: Term) -> dict[NamedNode, list[Term]] | None:
        """All that is stated about a subject, if it is kept here."""
        return self._about.get(subject)

    def neighbors(self) -> set[NamedNode]:
        """What the subjects are related to and is none of them, but for their classes."""
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
        about = None if subject is None else self._about.get(subject)
        if about is None or isinstance(subject, Literal | None):
            return self._base.match(subject, predicate, object_)
        wanted = about.items() if predicate is None else ((predicate, about.get(predicate, ())),)
        return (
            Triple(subject, one, value)
            for one, values in wanted
            for value in values
            if object_ is None or value == object_
        )


def _subjects(source: EmbeddedStore) -> Iterator[tuple[Term, dict[NamedNode, list[Term]]]]:
    """Every subject with its values by predicate."""
    # One object for each predicate: that of a key is found at once where it is the same.
    known: dict[NamedNode, NamedNode] = {}
    subject: Term | None = None
    about: dict[NamedNode, list[Term]] = {}
    for quad in source.match_quads(None, None, None, DEFAULT):
        if quad.subject != subject:
            if subject is not None:
                yield subject, about
            subject, about = quad.subject, {}
        predicate = quad.predicate
        predicate = known.setdefault(predicate, predicate)
        values = about.get(predicate)
        if values is None:
            about[predicate] = [quad.object]
        else:
            values.append(quad.object)
    if subject is not None:
        yield subject, about


def _by_subject(
    pairs: AffectedPairs, source: EmbeddedStore, surroundings: Surroundings
) -> Iterator[tuple[Portion, Pairs]]:
    """All targets that are subjects, and those that shapes name."""
    named = {shape.name: set(shape.nodes) for shape in pairs.shapes.values() if shape.nodes}
    portion, found = Portion(surroundings), named
    classes = _ShapesOfClasses(pairs, source)
    for subject, about in _subjects(source):
        portion.take(subject, about)
        for shape in _shapes_of(pairs, classes, about):
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
    pairs: AffectedPairs, classes: "_ShapesOfClasses", about: dict[NamedNode, list[Term]]
) -> Iterator[TargetedShape]:
    for predicate in about:
        yield from pairs.by_subject.get(predicate, ())
    for class_ in about.get(RDF.type, ()):
        yield from classes.of(class_)


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
