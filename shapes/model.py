"""What the gate must know of each shape: its targets, and which triples its verdict depends on.

A dependency is a path from a focus node and one step at its end: a triple that matches the step may
change the verdict of every focus node from which the path leads to it. Dependencies over-approximate,
never under: a node judged needlessly costs time, a node missed would cost trust.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import rdflib
from pyoxigraph import NamedNode
from rdflib.collection import Collection
from rdflib.namespace import OWL, RDF, RDFS, SH

from shapes.errors import ShapeMalformed
from shapes.paths import HERE, Dependency, Path, Repeat, Step, join, parse_path, uses
from shapes.queries import query_dependencies
from shapes.terms import to_oxigraph
from sparql import vocabulary
from sparql.source import Term

TYPE = Step(vocabulary.RDF.type)
SUBCLASS = Step(vocabulary.RDFS.subClassOf)
TO_CLASSES: Path = join(TYPE, Repeat(SUBCLASS))

_PAIRS = (SH.equals, SH.disjoint, SH.lessThan, SH.lessThanOrEquals)
_LISTS = (SH["and"], SH["or"], SH.xone)
_NESTED = (SH.node, SH["not"], SH.qualifiedValueShape)
_DEEPEST = 15
"""As deep as the engine itself goes; SHACL leaves recursive shapes undefined (3.4.3)."""
TARGETS = (SH.targetClass, SH.targetNode, SH.targetSubjectsOf, SH.targetObjectsOf, SH.target)


@dataclass(frozen=True)
class TargetedShape:
    """A shape with targets of its own, as the gate sees it."""

    node: rdflib.term.Node
    name: str
    nodes: frozenset[Term]
    classes: frozenset[NamedNode]
    subjects_of: frozenset[NamedNode]
    objects_of: frozenset[NamedNode]
    dependencies: tuple[Dependency, ...]
    unbounded: bool
    """Whether its targets are given by a query (SHACL-AF): then only a run over everything is sure."""

    @property
    def predicates(self) -> frozenset[NamedNode]:
        """Every predicate its verdict may depend on."""
        return frozenset(d.step.predicate for d in self.dependencies if d.step.predicate is not None)


def targeted_shapes(graph: rdflib.Graph) -> tuple[TargetedShape, ...]:
    """All active shapes that have targets, in stable order. Raises `ShapeMalformed`."""
    nodes = {node for predicate in TARGETS for node in graph.subjects(predicate, None)}
    for class_type in (RDFS.Class, OWL.Class):
        for node in graph.subjects(RDF.type, class_type):
            if (node, RDF.type, SH.NodeShape) in graph or (node, RDF.type, SH.PropertyShape) in graph:
                nodes.add(node)
    active = [node for node in nodes if graph.value(node, SH.deactivated) != rdflib.Literal(True)]
    return tuple(_targeted(graph, node) for node in sorted(active, key=str))


def _targeted(graph: rdflib.Graph, node: rdflib.term.Node) -> TargetedShape:
    classes = set(graph.objects(node, SH.targetClass))
    if (node, RDF.type, RDFS.Class) in graph or (node, RDF.type, OWL.Class) in graph:
        classes.add(node)
    try:
        collected = dict.fromkeys(_Collector(graph).shape(node, HERE))
    except ShapeMalformed as error:
        # An editor looks for the shape, not for the node inside it.
        raise ShapeMalformed(str(node), error.reason) from error
    return TargetedShape(
        node=node,
        name=str(node),
        nodes=frozenset(to_oxigraph(n) for n in graph.objects(node, SH.targetNode)),
        classes=_iris(classes),
        subjects_of=_iris(graph.objects(node, SH.targetSubjectsOf)),
        objects_of=_iris(graph.objects(node, SH.targetObjectsOf)),
        dependencies=tuple(collected),
        unbounded=(node, SH.target, None) in graph,
    )


def _iris(nodes: object) -> frozenset[NamedNode]:
    return frozenset(NamedNode(str(node)) for node in nodes)  # type: ignore[attr-defined]


class _Collector:
    """Walks a shape and everything it refers to, once per place."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._graph = graph
        self._visited: set[tuple[rdflib.term.Node, Path]] = set()

    def shape(self, node: rdflib.term.Node, at: Path) -> Iterator[Dependency]:
        """Dependencies of a shape applied to the nodes at `at`, from the outermost focus node."""
        if (node, at) in self._visited or _length(at) > _DEEPEST:
            return
        self._visited.add((node, at))
        graph = self._graph
        path_node = graph.value(node, SH.path)
        values = at
        if path_node is not None:
            path = parse_path(graph, path_node)
            for prefix, step in uses(path):
                yield Dependency(join(at, prefix), step)
            values = join(at, path)
        for predicate in _PAIRS:
            for other in graph.objects(node, predicate):
                yield Dependency(at, Step(NamedNode(str(other))))
        if (node, SH["class"], None) in graph:
            yield Dependency(values, TYPE)
            yield Dependency(join(values, TO_CLASSES), SUBCLASS)
        if (node, SH.closed, rdflib.Literal(True)) in graph:
            yield Dependency(values, Step(None))
        for query in graph.objects(node, SH.sparql):
            select = graph.value(query, SH.select) or graph.value(query, SH.ask)
            yield from query_dependencies(graph, query, str(select), at, path_node)
        for inner in self._inner(node):
            yield from self.shape(inner, values)

    def _inner(self, node: rdflib.term.Node) -> Iterator[rdflib.term.Node]:
        yield from self._graph.objects(node, SH.property)
        for predicate in _NESTED:
            yield from self._graph.objects(node, predicate)
        for predicate in _LISTS:
            for members in self._graph.objects(node, predicate):
                yield from Collection(self._graph, members)


def _length(path: Path) -> int:
    return len(path.parts) if hasattr(path, "parts") else 1
