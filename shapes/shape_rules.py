"""The rules of a shapes graph (SHACL Advanced Features, 8), as `sparql.inference.chase` follows them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import rdflib
from pyoxigraph import Triple
from pyshacl.pytypes import SHACLExecutor
from pyshacl.shapes_graph import ShapesGraph
from rdflib.namespace import RDF, SH
from rdflib.term import Node

from shapes.engine.reference import DataGraph, ShapesGraphCache
from shapes.errors import UNEXPECTED, ShapeMalformed, in_words
from shapes.gate.affected import AffectedPairs, Pairs
from shapes.graph import add_all, graph_in_memory, to_rdflib
from shapes.model import TargetedShape, classes_of, is_deactivated, shape_dependencies, targeted
from shapes.paths import HERE, REMOVED, Dependency
from shapes.rule_heads import Conforms, Head, RuleUnsupported, construct_head, triple_head
from sparql.inference.chase import Pair
from sparql.model.source import Term, TripleSource

_RULE, _TRIPLE_RULE, _SPARQL_RULE, _CONDITION = (
    rdflib.URIRef(str(SH) + name) for name in ("rule", "TripleRule", "SPARQLRule", "condition")
)


@dataclass(frozen=True)
class ShapeRule:
    """A rule of a shape; its targets are those of the shape, and its dependencies are its own."""

    name: str
    node: Node
    order: float
    conditions: tuple[Node, ...]
    head: Head
    shape: TargetedShape
    grows: bool


@dataclass(frozen=True)
class NotRun:
    """A rule that is not run; the reason goes on from its name."""

    node: Node
    reason: str


def read_rules(graph: rdflib.Graph, conforms: Conforms) -> Iterator[ShapeRule | NotRun]:
    """The active rules of active shapes, in stable order."""
    implicit = classes_of(graph)
    pairs = sorted(set(graph.subject_objects(_RULE)), key=lambda pair: (str(pair[0]), str(pair[1])))
    for number, (shape, node) in enumerate(pairs):
        if is_deactivated(graph, shape) or is_deactivated(graph, node):
            continue
        try:
            yield _read(graph, shape, node, conforms, number, is_class=shape in implicit)
        except RuleUnsupported as error:
            yield NotRun(node, str(error))
        except ShapeMalformed as error:
            yield NotRun(node, f"is ill-formed: {error.reason}")
        except UNEXPECTED as error:
            yield NotRun(node, f"cannot be read: {in_words(error)}")


def _read(
    graph: rdflib.Graph, shape: Node, node: Node, conforms: Conforms, number: int, *, is_class: bool
) -> ShapeRule:
    kinds = set(graph.objects(node, RDF.type))
    if _TRIPLE_RULE in kinds:
        head = triple_head(graph, node, conforms)
    elif _SPARQL_RULE in kinds:
        head = construct_head(graph, node)
    else:
        raise RuleUnsupported("is neither a sh:TripleRule nor a sh:SPARQLRule")
    if (shape, rdflib.URIRef(str(SH) + "target"), None) in graph:
        raise RuleUnsupported("is a rule of a shape with sh:target")
    conditions = tuple(sorted(graph.objects(node, _CONDITION), key=str))
    needed: list[Dependency] = list(head.dependencies())
    asked = [d for one in conditions for d in shape_dependencies(graph, one, HERE, REMOVED)]
    grows = head.grows and not any(d.effect.added for d in asked)
    name = str(node) if isinstance(node, rdflib.URIRef) else f"{shape} rule {number + 1}"
    return ShapeRule(
        name=name,
        node=node,
        order=_order(graph, node),
        conditions=conditions,
        head=head,
        shape=targeted(graph, shape, _of_any_effect([*needed, *asked]), name, is_class=is_class),
        grows=grows,
    )


def _of_any_effect(dependencies: list[Dependency]) -> Iterator[Dependency]:
    return (Dependency(one.path, one.step) for one in dependencies)


def _order(graph: rdflib.Graph, node: Node) -> float:
    value = graph.value(node, SH.order)
    try:
        return float(str(value)) if value is not None else 0.0
    except ValueError as error:
        raise ShapeMalformed(str(node), "its sh:order is no number") from error


class _Conditions:
    """Whether nodes conform to shapes of a graph, by pySHACL; its shapes are read when first needed."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._graph = graph
        self._loaded: ShapesGraph | None = None
        self._executor = SHACLExecutor()

    def __call__(self, source: TripleSource, shape: Node, node: Term) -> bool:
        focus = to_rdflib(node)
        if focus is None:
            return False
        found = self._shapes().lookup_shape_from_node(shape)
        conforms, _ = found.validate(self._executor, DataGraph(source), focus=[focus])
        return bool(conforms)

    def _shapes(self) -> ShapesGraph:
        if self._loaded is None:
            graph = graph_in_memory()
            add_all(graph, iter(self._graph))
            for prefix, namespace in self._graph.namespaces():
                graph.bind(prefix, namespace)
            for name in ("condition", "filterShape"):
                # The engine reads as shapes only what is typed or has a target.
                for node in set(graph.objects(None, rdflib.URIRef(str(SH) + name))):
                    kind = SH.NodeShape if graph.value(node, SH.path) is None else SH.PropertyShape
                    graph.add((node, RDF.type, kind))
            self._loaded = ShapesGraph(ShapesGraphCache(graph))
            self._loaded.shapes  # noqa: B018
        return self._loaded


class ShapeRules:
    """The rules of a shapes graph. `not_run` are those that cannot be run, each with the reason."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._conforms = _Conditions(graph)
        found = list(read_rules(graph, self._conforms))
        self.not_run = tuple(one for one in found if isinstance(one, NotRun))
        self.rules = {one.name: one for one in found if isinstance(one, ShapeRule)}
        self._pairs = AffectedPairs([one.shape for one in self.rules.values()])
        self.version = _version(graph, tuple(self.rules.values()))

    def __bool__(self) -> bool:
        return bool(self.rules)

    @property
    def all_grow(self) -> bool:
        """Whether more statements never lead to fewer conclusions of any rule."""
        return all(rule.grows for rule in self.rules.values())

    def affected(self, triple: Triple, source: TripleSource) -> Iterable[Pair]:
        """The pairs whose conclusions may depend on a triple of the source."""
        if self._pairs.concerns([triple], ()):
            yield from _each(self._pairs.of([triple], (), source, source))

    def everything(self, source: TripleSource) -> Iterable[Pair]:
        """All pairs."""
        return _each(self._pairs.everything(source))

    def candidates(self, triple: Triple, source: TripleSource) -> Iterator[Pair]:
        """The pairs that may conclude a triple."""
        for rule in self.rules.values():
            nodes = rule.head.candidates(source, triple)
            if nodes is None:
                nodes = self._pairs.targets(rule.shape, source)
            yield from ((rule.name, node) for node in nodes)

    def conclusions(self, pair: Pair, source: TripleSource) -> frozenset[Triple]:
        """What a rule concludes for a focus node."""
        name, node = pair
        rule = self.rules[name]
        if not self._pairs.is_target(source, name, node):
            return frozenset()
        if not all(self._conforms(source, condition, node) for condition in rule.conditions):
            return frozenset()
        return frozenset(rule.head.conclusions(source, node))

    def rank(self, name: str) -> tuple[float, bool, str]:
        """By sh:order; then first what needs no absence."""
        rule = self.rules[name]
        return rule.order, not rule.grows, name

    def only_grows(self, name: str) -> bool:
        """Whether more statements never lead to fewer conclusions of a rule."""
        return self.rules[name].grows


def shape_rules(graph: rdflib.Graph) -> ShapeRules | None:
    """The rules of a shapes graph; None where it has none that is run."""
    if (None, rdflib.URIRef(str(SH) + "rule"), None) not in graph:
        return None
    return ShapeRules(graph) or None


def not_run(graph: rdflib.Graph) -> dict[Node, str]:
    """The rules of a shapes graph that are not run, with the reasons."""
    return {one.node: one.reason for one in ShapeRules(graph).not_run}


def _each(pairs: Pairs) -> Iterator[Pair]:
    return ((name, node) for name, nodes in pairs.items() for node in nodes)


def _version(graph: rdflib.Graph, rules: Sequence[ShapeRule]) -> str:
    """A digest of all that the rules and their shapes say."""
    lines: set[str] = set()
    waiting: list[Node] = [node for rule in rules for node in (rule.shape.node, rule.node, *rule.conditions)]
    seen: set[Node] = set()
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        for predicate, value in graph.predicate_objects(node):
            lines.add(f"{'' if isinstance(node, rdflib.BNode) else node} {predicate} {value.n3()}")
            if (value, None, None) in graph and not isinstance(value, rdflib.Literal):
                waiting.append(value)
    stable = sorted(line for line in lines if "_:" not in line)
    return hashlib.sha256("\n".join(stable).encode()).hexdigest()[:12]
