"""What the gate needs to know about each shape: its targets, and which triples its verdict depends on.

A dependency is a path from a focus node and one step at its end: a triple that matches the step may change
the verdict of every focus node from which the path leads to it. Dependencies over-approximate: a node judged
needlessly costs time, a missed node would let a violation pass.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import rdflib
from pyoxigraph import NamedNode
from rdflib.collection import Collection
from rdflib.namespace import OWL, RDF, RDFS, SH

from ontology.schema import state_without_cached
from shapes.errors import UNEXPECTED, ShapeMalformed, in_words
from shapes.graph import to_oxigraph
from shapes.paths import (
    ADDED,
    ANY,
    HERE,
    NEITHER,
    REMOVED,
    Dependency,
    Effect,
    Path,
    Repeat,
    Sequence,
    Step,
    join,
    parse_path,
    uses,
)
from sparql.model import vocabulary
from sparql.model.source import Term
from sparql.model.vocabulary import UKG

SOURCES = ("extracted", "update", "graph store", "load", "asserted")
_SEVERITIES = (SH.Violation, SH.Warning, SH.Info)
_SEVERITY_FOR = rdflib.URIRef(UKG.severityFor.value)
_SOURCE = rdflib.URIRef(UKG.source.value)
_CONFLICT = rdflib.URIRef(UKG.onGeometryConflict.value)
_TEXTS = "extracted"


def severities_by_source(graph: rdflib.Graph) -> Mapping[str, Mapping[str, NamedNode]]:
    """By source and shape, the severity of the shape's results. Raises `ShapeMalformed`.

        ex:NameShape ukg:severityFor [ ukg:source "load" ; sh:severity sh:Warning ] .

    says that a load only causes a warning, though the shape is a violation otherwise. The sources are
    "extracted" (texts, and candidates of a client's own extraction), "update", "graph store", "load" and
    "asserted" (everything else, including review).
    """
    found: dict[str, dict[str, NamedNode]] = {}
    for shape, policy in sorted(graph.subject_objects(_SEVERITY_FOR), key=str):
        severity = graph.value(policy, SH.severity)
        sources = [str(source) for source in graph.objects(policy, _SOURCE)]
        unknown = [source for source in sources if source not in SOURCES]
        if severity not in _SEVERITIES or not sources or unknown:
            raise ShapeMalformed(
                str(shape),
                "its ukg:severityFor needs a sh:severity (sh:Violation, sh:Warning or sh:Info) and a "
                f"ukg:source, one of {', '.join(SOURCES)}",
            )
        for source in sources:
            found.setdefault(source, {})[str(shape)] = NamedNode(str(severity))
    return found


def conflicts_by_source(graph: rdflib.Graph) -> Mapping[str, Mapping[NamedNode, NamedNode]]:
    """By source and property, the severity of a contradiction by geometry; without a source, for texts.

        ex:locatedIn ukg:onGeometryConflict sh:Warning , [ ukg:source "update" ; sh:severity sh:Violation ] .

    says that a statement from a text which geometries contradict gets a warning, and one from an update is
    refused. It is written in the ontology or in the shapes; the shapes take precedence. Raises
    `ShapeMalformed`.
    """
    found: dict[str, dict[NamedNode, NamedNode]] = {}
    for property_, policy in sorted(graph.subject_objects(_CONFLICT), key=str):
        alone = policy in _SEVERITIES
        severity = policy if alone else graph.value(policy, SH.severity)
        sources = [_TEXTS] if alone else [str(source) for source in graph.objects(policy, _SOURCE)]
        if severity not in _SEVERITIES or not sources or not set(sources) <= set(SOURCES):
            raise ShapeMalformed(
                str(property_),
                "its ukg:onGeometryConflict is sh:Violation, sh:Warning or sh:Info, or has one of them as "
                f"sh:severity and a ukg:source, one of {', '.join(SOURCES)}",
            )
        for source in sources:
            found.setdefault(source, {})[NamedNode(str(property_))] = NamedNode(str(severity))
    return found


@dataclass(frozen=True)
class CustomComponent:
    """A `sh:ConstraintComponent` of the shapes graph; it applies where its parameters are given."""

    node: rdflib.term.Node
    required: frozenset[rdflib.term.Node]

    def applies_to(self, graph: rdflib.Graph, shape: rdflib.term.Node) -> bool:
        """Whether a shape gives every parameter that is not optional."""
        return all((shape, parameter, None) in graph for parameter in self.required)

    def validators(self, graph: rdflib.Graph, *, property_shape: bool) -> Iterator[rdflib.term.Node]:
        """The validators for a shape of this kind (6.2.3)."""
        kind = SH.propertyValidator if property_shape else SH.nodeValidator
        found = list(graph.objects(self.node, kind))
        yield from found or graph.objects(self.node, SH.validator)


def custom_components(graph: rdflib.Graph) -> tuple[CustomComponent, ...]:
    """Every component declared in the graph, in stable order."""
    found = []
    for node in sorted(set(graph.subjects(RDF.type, SH.ConstraintComponent)), key=str):
        required = {
            graph.value(parameter, SH.path)
            for parameter in graph.objects(node, SH.parameter)
            if graph.value(parameter, SH.optional) != rdflib.Literal(True)
        }
        paths = frozenset(path for path in required if path is not None)
        if paths:
            found.append(CustomComponent(node, paths))
    return tuple(found)


TYPE = Step(vocabulary.RDF.type)
SUBCLASS = Step(vocabulary.RDFS.subClassOf)
TO_CLASSES: Path = join(TYPE, Repeat(SUBCLASS))

_PAIRS = {SH.equals: ANY, SH.disjoint: ADDED, SH.lessThan: ADDED, SH.lessThanOrEquals: ADDED}
_DEEPEST = 15
"""The depth of the engine itself; SHACL leaves recursive shapes undefined (3.4.3)."""
TARGETS = (SH.targetClass, SH.targetNode, SH.targetSubjectsOf, SH.targetObjectsOf, SH.target)
_COUNTED_UP = (SH.minCount, SH.hasValue, SH.qualifiedMinCount)
"""Constraints that more values can only satisfy."""
_SILENT = (
    *_COUNTED_UP,
    *(SH.qualifiedValueShape, SH.qualifiedMaxCount, SH.qualifiedValueShapesDisjoint),
    *(SH.path, SH.name, SH.description, SH.message, SH.severity, SH.order, SH.group, SH.defaultValue),
    *(SH.targetClass, SH.targetNode, SH.targetSubjectsOf, SH.targetObjectsOf, SH.deactivated),
)
"""Properties of a shape by which no further value is a violation by itself."""


@dataclass(frozen=True)
class TargetedShape:
    """A shape with targets of its own."""

    node: rdflib.term.Node
    name: str
    nodes: frozenset[Term]
    classes: frozenset[NamedNode]
    subjects_of: frozenset[NamedNode]
    objects_of: frozenset[NamedNode]
    dependencies: tuple[Dependency, ...]

    def __getstate__(self) -> dict[str, Any]:
        return state_without_cached(self)

    @cached_property
    def predicates(self) -> frozenset[NamedNode]:
        """Every predicate its verdict may depend on."""
        return frozenset(d.step.predicate for d in self.dependencies if d.step.predicate is not None)


def targeted_shapes(graph: rdflib.Graph) -> tuple[TargetedShape, ...]:
    """All active shapes that have targets, in stable order. Raises `ShapeMalformed`, the first of all."""
    found = []
    for one in read_shapes(graph):
        if isinstance(one, ShapeMalformed):
            raise one
        found.append(one)
    return tuple(found)


def read_shapes(graph: rdflib.Graph) -> Iterator[TargetedShape | ShapeMalformed]:
    """The same, with the error in the place of each shape that cannot be run."""
    nodes = {node for predicate in TARGETS for node in graph.subjects(predicate, None)}
    implicit = classes_of(graph)
    for kind in (SH.NodeShape, SH.PropertyShape):
        nodes |= implicit.intersection(graph.subjects(RDF.type, kind))
    active = [node for node in nodes if not is_deactivated(graph, node)]
    components = custom_components(graph)
    for node in sorted(active, key=str):
        try:
            yield _targeted(graph, node, node in implicit, components)
        except ShapeMalformed as error:
            yield error
        except UNEXPECTED as error:
            yield ShapeMalformed(str(node), f"it cannot be read: {in_words(error)}")


def classes_of(graph: rdflib.Graph) -> frozenset[rdflib.term.Node]:
    """The SHACL instances of `rdfs:Class`; a shape among them targets its own instances (SHACL, 2.1.3.3).

    `owl:Class` is a subclass of `rdfs:Class` whether or not the graph holds the axioms of OWL.
    """
    kinds: set[rdflib.term.Node] = set()
    found: list[rdflib.term.Node] = [RDFS.Class, OWL.Class]
    while found:
        kind = found.pop()
        if kind not in kinds:
            kinds.add(kind)
            found += graph.subjects(RDFS.subClassOf, kind)
    return frozenset(node for kind in kinds for node in graph.subjects(RDF.type, kind))


def is_deactivated(graph: rdflib.Graph, node: rdflib.term.Node) -> bool:
    """Whether a shape says `sh:deactivated true` (SHACL, 2.1.4)."""
    return any(isinstance(v, rdflib.Literal) and v.value is True for v in graph.objects(node, SH.deactivated))


def shape_dependencies(
    graph: rdflib.Graph, node: rdflib.term.Node, at: Path, missing: Effect
) -> Iterator[Dependency]:
    """Which triples it depends on whether the nodes at `at` conform to a shape."""
    yield from _Collector(graph, custom_components(graph)).shape(node, at, missing)


def targeted(
    graph: rdflib.Graph,
    node: rdflib.term.Node,
    dependencies: Iterable[Dependency],
    name: str,
    *,
    is_class: bool,
) -> TargetedShape:
    """The targets of a shape, with other dependencies than those of its constraints."""
    classes = set(graph.objects(node, SH.targetClass)) | ({node} if is_class else set())
    return TargetedShape(
        node=node,
        name=name,
        nodes=frozenset(to_oxigraph(n) for n in graph.objects(node, SH.targetNode)),
        classes=_iris(classes),
        subjects_of=_iris(graph.objects(node, SH.targetSubjectsOf)),
        objects_of=_iris(graph.objects(node, SH.targetObjectsOf)),
        dependencies=tuple(dict.fromkeys(dependencies)),
    )


def _targeted(
    graph: rdflib.Graph, node: rdflib.term.Node, is_class: bool, components: tuple[CustomComponent, ...]
) -> TargetedShape:
    merged: dict[tuple[Path | None, Step], Effect] = {}
    try:
        for found in _Collector(graph, components).shape(node, HERE, REMOVED):
            key = (found.path, found.step)
            merged[key] = merged.get(key, NEITHER) | found.effect
    except ShapeMalformed as error:
        # An editor searches for the shape, not for the node inside it.
        raise ShapeMalformed(str(node), error.reason) from error
    dependencies = (Dependency(*key, effect) for key, effect in merged.items() if effect != NEITHER)
    return targeted(graph, node, dependencies, str(node), is_class=is_class)


def _iris(nodes: object) -> frozenset[NamedNode]:
    return frozenset(NamedNode(str(node)) for node in nodes)  # type: ignore[attr-defined]


class _Collector:
    """Walks a shape and everything it refers to, once per place."""

    def __init__(self, graph: rdflib.Graph, components: tuple[CustomComponent, ...]) -> None:
        self._graph = graph
        self._components = components
        self._visited: set[tuple[rdflib.term.Node, Path, Effect]] = set()

    def shape(self, node: rdflib.term.Node, at: Path, missing: Effect) -> Iterator[Dependency]:
        """Dependencies of a shape applied to the nodes at `at`, from the outermost focus node.

        `missing` is the change that can break what the shape requires: REMOVED, under a negation ADDED, or
        ANY where both can.
        """
        too_deep = isinstance(at, Sequence) and len(at.parts) > _DEEPEST
        if (node, at, missing) in self._visited or too_deep or is_deactivated(self._graph, node):
            return
        self._visited.add((node, at, missing))
        graph, excess = self._graph, missing.opposite
        path_node = graph.value(node, SH.path)
        path = None if path_node is None else parse_path(graph, path_node)
        values = at if path is None else join(at, path)
        if path is not None:
            effect = self._effect_of_values(node, missing)
            for prefix, step in uses(path):
                yield Dependency(join(at, prefix), step, effect)
        for predicate, natural in _PAIRS.items():
            effect = missing | excess if natural == ANY else excess
            for other in graph.objects(node, predicate):
                yield Dependency(at, Step(NamedNode(str(other))), effect)
        if (node, SH["class"], None) in graph:
            yield Dependency(values, TYPE, missing)
            yield Dependency(join(values, TO_CLASSES), SUBCLASS, missing)
        if any(isinstance(v, rdflib.Literal) and v.value is True for v in graph.objects(node, SH.closed)):
            yield Dependency(values, Step(None), excess)
        for found in self._queries(node, at, path):
            both = missing | excess if found.effect == ANY else excess if found.effect == ADDED else missing
            yield Dependency(found.path, found.step, both)
        for inner, effect in self._inner(node, missing):
            yield from self.shape(inner, values, effect)

    def _effect_of_values(self, node: rdflib.term.Node, missing: Effect) -> Effect:
        """Whether one value more, or less, can break the constraints on the values."""
        graph = self._graph
        predicates = set(graph.predicates(node, None))
        found = NEITHER
        if predicates & {*_COUNTED_UP, SH.equals} or self._custom(node):
            found |= missing
        if SH.qualifiedMaxCount in predicates or self._custom(node):
            found |= missing.opposite
        if any(str(p).startswith(vocabulary.SH.iri) for p in predicates.difference(_SILENT)):
            found |= missing.opposite
        return found

    def _queries(self, node: rdflib.term.Node, at: Path, path: Path | None) -> Iterator[Dependency]:
        # The query parser is imported only when needed: a start may have everything from the plan cache.
        from shapes.engine.queries import query_dependencies

        for constraint in self._graph.objects(node, SH.sparql):
            if not is_deactivated(self._graph, constraint):
                yield from query_dependencies(self._graph, constraint, at, path)
        for validator in self._custom(node):
            yield from query_dependencies(self._graph, validator, at, path)

    def _custom(self, node: rdflib.term.Node) -> list[rdflib.term.Node]:
        """The validators of the custom constraint components that the shape uses (SHACL, 6)."""
        is_property = self._graph.value(node, SH.path) is not None
        return [
            validator
            for component in self._components
            if component.applies_to(self._graph, node)
            for validator in component.validators(self._graph, property_shape=is_property)
        ]

    def _inner(self, node: rdflib.term.Node, missing: Effect) -> Iterator[tuple[rdflib.term.Node, Effect]]:
        graph = self._graph
        for predicate in (SH.property, SH.node):
            for inner in graph.objects(node, predicate):
                yield inner, missing
        for inner in graph.objects(node, SH["not"]):
            yield inner, missing.opposite
        for predicate, effect in ((SH["and"], missing), (SH["or"], missing), (SH.xone, ANY)):
            for members in graph.objects(node, predicate):
                for inner in Collection(graph, members):
                    yield inner, effect
        counted = NEITHER
        if (node, SH.qualifiedMinCount, None) in graph:
            counted |= missing
        if (node, SH.qualifiedMaxCount, None) in graph:
            counted |= missing.opposite
        for inner in graph.objects(node, SH.qualifiedValueShape):
            yield inner, counted
        if (node, SH.qualifiedValueShapesDisjoint, rdflib.Literal(True)) in graph:
            for inner in siblings(graph, node):
                yield inner, ANY


def siblings(graph: rdflib.Graph, node: rdflib.term.Node) -> Iterator[rdflib.term.Node]:
    """The sibling shapes of a property shape with `sh:qualifiedValueShape` (SHACL, 4.7.3)."""
    own = set(graph.objects(node, SH.qualifiedValueShape))
    for parent in graph.subjects(SH.property, node):
        for other in graph.objects(parent, SH.property):
            for shape in graph.objects(other, SH.qualifiedValueShape):
                if shape not in own:
                    yield shape
