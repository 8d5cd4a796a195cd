"""From a change to the (shape, focus node) pairs whose verdict it may worsen.

A triple affects a node if it makes it a target, or if the node lies at the start of a path that one of the
shape's dependencies walks to that triple. Paths are walked backwards over the graph before and after
together, so that removed triples still lead to the nodes they affected. Shapes are indexed by the predicates
and classes they mention: a triple that none mentions costs one dictionary lookup.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Triple

from shapes.model import TargetedShape
from shapes.paths import Dependency, Path, Repeat, Step, invert, walk
from shapes.time_limit import check_time
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF, RDFS

Pairs = dict[str, set[Term]]
"""Focus nodes by the shape's name."""

_TYPE = RDF.type
_SUBCLASS = RDFS.subClassOf
_UP = Repeat(Step(_SUBCLASS))
_DOWN = invert(_UP)


@dataclass(frozen=True)
class _Route:
    """How a triple leads back to focus nodes: from one of its ends, along a path, for these shapes."""

    forward: bool
    path: Path | None
    shapes: tuple[TargetedShape, ...]


_Routes = dict[NamedNode | None, tuple[_Route, ...]]


class AffectedPairs:
    """The index of a shapes graph by predicate and class."""

    def __init__(self, shapes: Sequence[TargetedShape]) -> None:
        self.shapes: Mapping[str, TargetedShape] = {shape.name: shape for shape in shapes}
        self._added = _routes(shapes, lambda dependency: dependency.effect.added)
        self._removed = _routes(shapes, lambda dependency: dependency.effect.removed)
        self.by_class: dict[NamedNode, list[TargetedShape]] = {}
        self.by_subject: dict[NamedNode, list[TargetedShape]] = {}
        self.by_object: dict[NamedNode, list[TargetedShape]] = {}
        for shape in shapes:
            for class_ in shape.classes:
                self.by_class.setdefault(class_, []).append(shape)
            for predicate in shape.subjects_of:
                self.by_subject.setdefault(predicate, []).append(shape)
            for predicate in shape.objects_of:
                self.by_object.setdefault(predicate, []).append(shape)
        classes = (_TYPE, _SUBCLASS) if self.by_class else ()
        self._spoken_removed = frozenset(self._removed)
        self._spoken_added = frozenset((*self._added, *self.by_subject, *self.by_object, *classes))

    def concerns(self, additions: Iterable[Triple], removals: Iterable[Triple]) -> bool:
        """Whether any shape mentions such triples, decided without reading the graph."""
        for triples, spoken in ((additions, self._spoken_added), (removals, self._spoken_removed)):
            if None in spoken or any(triple.predicate in spoken for triple in triples):
                return True
        return False

    def of(
        self,
        additions: Collection[Triple],
        removals: Collection[Triple],
        either: TripleSource,
        after: TripleSource,
    ) -> Pairs:
        """Pairs affected by these triples. `either` is before and after together, `after` the future graph.

        Raises `JudgingTimeout`.
        """
        found: Pairs = {}
        targets = _Membership(after)
        for triple in additions:
            self._new_targets(triple, after, targets, found)
        walked: dict[tuple[int, Term], set[Term]] = {}
        for triples, routes in ((additions, self._added), (removals, self._removed)):
            anywhere = routes.get(None, ())
            for triple in triples:
                check_time()
                for route in (*routes.get(triple.predicate, ()), *anywhere):
                    self._walk_back(route, triple, either, after, targets, walked, found)
        return found

    def _walk_back(
        self,
        route: _Route,
        triple: Triple,
        either: TripleSource,
        after: TripleSource,
        targets: "_Membership",
        walked: dict[tuple[int, Term], set[Term]],
        found: Pairs,
    ) -> None:
        start = triple.subject if route.forward else triple.object
        if (id(route), start) in walked:
            return
        walked[id(route), start] = nodes = set()
        if route.path is not None:
            nodes |= walk(either, start, route.path)
        for shape in route.shapes:
            judged = found.get(shape.name, ())
            if route.path is None:
                nodes = self.targets(shape, after)
            for node in nodes:
                if node not in judged and targets(shape, node):
                    judged = found.setdefault(shape.name, set())
                    judged.add(node)

    def _new_targets(self, triple: Triple, after: TripleSource, targets: "_Membership", found: Pairs) -> None:
        predicate = triple.predicate
        for shape in self.by_subject.get(predicate, ()):
            found.setdefault(shape.name, set()).add(triple.subject)
        for shape in self.by_object.get(predicate, ()):
            found.setdefault(shape.name, set()).add(triple.object)
        if not self.by_class:
            return
        if predicate == _TYPE:
            for class_ in targets.superclasses(triple.object):
                for shape in self.by_class.get(class_, ()):  # type: ignore[arg-type]
                    found.setdefault(shape.name, set()).add(triple.subject)
        elif predicate == _SUBCLASS:
            self._new_subclass(triple, after, targets, found)

    def _new_subclass(
        self, triple: Triple, after: TripleSource, targets: "_Membership", found: Pairs
    ) -> None:
        """A class axiom makes instances of the subclass targets of what targets its superclasses."""
        shapes = [
            shape
            for class_ in targets.superclasses(triple.object)
            for shape in self.by_class.get(class_, ())  # type: ignore[arg-type]
        ]
        if not shapes:
            return
        for subclass in walk(after, triple.subject, _DOWN):
            for instance in after.match(None, _TYPE, subclass):
                for shape in shapes:
                    found.setdefault(shape.name, set()).add(instance.subject)

    def targets(self, shape: TargetedShape, source: TripleSource) -> set[Term]:
        """All target nodes of a shape in the source."""
        return set(self._each_target(shape, source))

    def _each_target(self, shape: TargetedShape, source: TripleSource) -> Iterator[Term]:
        yield from shape.nodes
        for class_ in shape.classes:
            for subclass in walk(source, class_, _DOWN):
                yield from (t.subject for t in source.match(None, _TYPE, subclass))
        for predicate in shape.subjects_of:
            yield from (t.subject for t in source.match(None, predicate, None))
        for predicate in shape.objects_of:
            yield from (t.object for t in source.match(None, predicate, None))

    def is_target(self, source: TripleSource, name: str, node: Term) -> bool:
        """Whether a node is a target of the shape of that name."""
        return _Membership(source)(self.shapes[name], node)

    def everything(self, source: TripleSource) -> Pairs:
        """Every pair of the graph: what a full validation judges."""
        return {shape.name: self.targets(shape, source) for shape in self.shapes.values()}


def _routes(shapes: Sequence[TargetedShape], counts: Callable[[Dependency], bool]) -> _Routes:
    """By predicate, the distinct routes back to focus nodes; shapes that share a route share its walk."""
    grouped: dict[NamedNode | None, dict[tuple[bool, Path | None], dict[str, TargetedShape]]] = {}
    for shape in shapes:
        for dependency in shape.dependencies:
            if counts(dependency):
                back = None if dependency.path is None else invert(dependency.path)
                routes = grouped.setdefault(dependency.step.predicate, {})
                routes.setdefault((dependency.step.forward, back), {})[shape.name] = shape
    return {
        predicate: tuple(
            _Route(forward, path, tuple(named.values())) for (forward, path), named in found.items()
        )
        for predicate, found in grouped.items()
    }


class _Membership:
    """Whether a node is a target of a shape; classes of a node are looked up once."""

    def __init__(self, source: TripleSource) -> None:
        self._source = source
        self._classes: dict[Term, set[Term]] = {}
        self._superclasses: dict[Term, set[Term]] = {}

    def __call__(self, shape: TargetedShape, node: Term) -> bool:
        if node in shape.nodes:
            return True
        match = self._source.match
        if not isinstance(node, Literal):
            if shape.classes and not shape.classes.isdisjoint(self._classes_of(node)):
                return True
            for predicate in shape.subjects_of:
                for _ in match(node, predicate, None):
                    return True
        for predicate in shape.objects_of:
            for _ in match(None, predicate, node):
                return True
        return False

    def superclasses(self, class_: Term) -> set[Term]:
        """The class and everything above it."""
        found = self._superclasses.get(class_)
        if found is None:
            found = self._superclasses[class_] = walk(self._source, class_, _UP)
        return found

    def _classes_of(self, node: Term) -> set[Term]:
        found = self._classes.get(node)
        if found is None:
            direct = {t.object for t in self._source.match(node, _TYPE, None)}
            found = self._classes[node] = {c for class_ in direct for c in self.superclasses(class_)}
        return found
