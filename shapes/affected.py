"""From a change to the (shape, focus node) pairs whose verdict it may change.

The method: a triple affects a node if it makes it a target, or if the node lies at the start of a
path that one of the shape's dependencies walks to that triple. Paths are walked backwards over the
graph before and after together, so that removed triples still lead to those they affected.
"""

from collections.abc import Iterable, Mapping, Sequence

from pyoxigraph import Literal, NamedNode, Triple

from shapes.model import TargetedShape
from shapes.paths import Dependency, Repeat, Step, invert, walk
from sparql.source import Term, TripleSource
from sparql.vocabulary import RDF, RDFS

Pairs = dict[str, set[Term]]
"""Focus nodes by the shape's name."""

_UP = Repeat(Step(RDFS.subClassOf))
_DOWN = invert(_UP)


class AffectedPairs:
    """The index of a shapes graph by predicate and class, asked once per change."""

    def __init__(self, shapes: Sequence[TargetedShape]) -> None:
        self.shapes: Mapping[str, TargetedShape] = {shape.name: shape for shape in shapes}
        self._by_predicate: dict[NamedNode | None, list[tuple[TargetedShape, Dependency]]] = {}
        self._by_class: dict[NamedNode, list[TargetedShape]] = {}
        self._by_subject: dict[NamedNode, list[TargetedShape]] = {}
        self._by_object: dict[NamedNode, list[TargetedShape]] = {}
        for shape in shapes:
            for dependency in shape.dependencies:
                self._by_predicate.setdefault(dependency.step.predicate, []).append((shape, dependency))
            for class_ in shape.classes:
                self._by_class.setdefault(class_, []).append(shape)
            for predicate in shape.subjects_of:
                self._by_subject.setdefault(predicate, []).append(shape)
            for predicate in shape.objects_of:
                self._by_object.setdefault(predicate, []).append(shape)

    def of(self, triples: Iterable[Triple], either: TripleSource, after: TripleSource) -> Pairs:
        """Pairs affected by these triples. `either` is before and after together, `after` what will be."""
        found: Pairs = {}
        asked: set[tuple[str, Term, Dependency]] = set()
        is_target = _Membership(after)
        for triple in triples:
            self._new_targets(triple, after, found)
            keyed = self._by_predicate.get(triple.predicate, []) + self._by_predicate.get(None, [])
            for shape, dependency in keyed:
                start = triple.subject if dependency.step.forward else triple.object
                if (shape.name, start, dependency) in asked:
                    continue
                asked.add((shape.name, start, dependency))
                if dependency.path is None:
                    nodes = self.targets(shape, after)
                else:
                    nodes = walk(either, start, invert(dependency.path))
                for node in nodes:
                    if node not in found.get(shape.name, ()) and is_target(shape, node):
                        found.setdefault(shape.name, set()).add(node)
        return found

    def _new_targets(self, triple: Triple, after: TripleSource, found: Pairs) -> None:
        predicate = triple.predicate
        for shape in self._by_subject.get(predicate, ()):
            if any(True for _ in after.match(triple.subject, predicate, None)):
                found.setdefault(shape.name, set()).add(triple.subject)
        for shape in self._by_object.get(predicate, ()):
            if any(True for _ in after.match(None, predicate, triple.object)):
                found.setdefault(shape.name, set()).add(triple.object)
        if predicate == RDF.type and self._by_class:
            is_there = any(True for _ in after.match(triple.subject, predicate, triple.object))
            for class_ in walk(after, triple.object, _UP) if is_there else ():
                if isinstance(class_, NamedNode):
                    for shape in self._by_class.get(class_, ()):
                        found.setdefault(shape.name, set()).add(triple.subject)
        if predicate == RDFS.subClassOf and self._by_class and triple in after.match(*triple):
            self._new_subclass(triple, after, found)

    def _new_subclass(self, triple: Triple, after: TripleSource, found: Pairs) -> None:
        """A class axiom makes instances of the subclass targets of what targets its superclasses."""
        shapes = [
            shape
            for class_ in walk(after, triple.object, _UP)
            if isinstance(class_, NamedNode)
            for shape in self._by_class.get(class_, ())
        ]
        if not shapes:
            return
        for subclass in walk(after, triple.subject, _DOWN):
            for instance in after.match(None, RDF.type, subclass):
                for shape in shapes:
                    found.setdefault(shape.name, set()).add(instance.subject)

    def targets(self, shape: TargetedShape, source: TripleSource) -> set[Term]:
        """All target nodes of a shape: a run over everything."""
        nodes: set[Term] = set(shape.nodes)
        for class_ in shape.classes:
            for subclass in walk(source, class_, _DOWN):
                nodes.update(t.subject for t in source.match(None, RDF.type, subclass))
        for predicate in shape.subjects_of:
            nodes.update(t.subject for t in source.match(None, predicate, None))
        for predicate in shape.objects_of:
            nodes.update(t.object for t in source.match(None, predicate, None))
        return nodes

    def is_target(self, source: TripleSource, name: str, node: Term) -> bool:
        """Whether a node is a target of the shape of that name."""
        return _Membership(source)(self.shapes[name], node)

    def everything(self, source: TripleSource) -> Pairs:
        """Every pair of the graph: what a full validation judges."""
        return {shape.name: self.targets(shape, source) for shape in self.shapes.values()}


class _Membership:
    """Whether a node is a target of a shape; classes of a node are looked up once."""

    def __init__(self, source: TripleSource) -> None:
        self._source = source
        self._classes: dict[Term, set[Term]] = {}

    def __call__(self, shape: TargetedShape, node: Term) -> bool:
        if node in shape.nodes:
            return True
        if shape.classes and not isinstance(node, Literal) and shape.classes & self._classes_of(node):
            return True
        match = self._source.match
        return any(any(True for _ in match(node, p, None)) for p in shape.subjects_of) or any(
            any(True for _ in match(None, p, node)) for p in shape.objects_of
        )

    def _classes_of(self, node: Term) -> set[Term]:
        if node not in self._classes:
            direct = {t.object for t in self._source.match(node, RDF.type, None)}
            self._classes[node] = {c for class_ in direct for c in walk(self._source, class_, _UP)}
        return self._classes[node]
