"""The rules of a shapes graph (SHACL Advanced Features, 8), and why those are not run that are not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import rdflib
from rdflib.namespace import RDF, SH
from rdflib.term import Node

from shapes.derivation.heads import Head, construct_head, triple_head
from shapes.derivation.node_expressions import Conforms
from shapes.derivation.rule_errors import RuleUnsupported
from shapes.errors import UNEXPECTED, ShapeMalformed, in_words
from shapes.model import TargetedShape, classes_of, is_deactivated, shape_dependencies, targeted
from shapes.paths import HERE, REMOVED, Dependency

__all__ = ["NotRun", "ShapeRule", "read_rules"]

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
