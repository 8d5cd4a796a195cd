"""Node expressions (SHACL Advanced Features, 6) as the rules need them: what they give for a focus node."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import rdflib
from pyoxigraph import Triple
from rdflib.collection import Collection
from rdflib.namespace import SH
from rdflib.term import BNode, Node, URIRef

from shapes.derivation.rule_errors import RuleUnsupported
from shapes.errors import ShapeMalformed
from shapes.model import shape_dependencies
from shapes.paths import ANY, HERE, REMOVED, Dependency, Path, join, parse_path, uses, walk
from shapes.terms import to_oxigraph
from sparql.model.source import Term, TripleSource

__all__ = ["Conforms", "NodeExpression", "parse_expression"]

Conforms = Callable[[TripleSource, Node, Term], bool]
"""Whether a node of a source conforms to a shape."""
_FILTER, _UNION, _INTERSECTION, _NODES, _THIS = (
    URIRef(str(SH) + name) for name in ("filterShape", "union", "intersection", "nodes", "this")
)


@dataclass(frozen=True)
class NodeExpression:
    """An expression as alternatives: each is a path, the nodes at which are filtered by shapes.

    `constant` stands for the focus node where the path starts from it. `all_of` are other expressions that
    must give a node as well.
    """

    path: Path = HERE
    constant: Term | None = None
    shapes: tuple[Node, ...] = ()
    any_of: tuple[NodeExpression, ...] = ()
    all_of: tuple[NodeExpression, ...] = ()

    @property
    def is_constant(self) -> bool:
        """Whether it gives one node, whatever the focus node is."""
        return self.constant is not None and self.path == HERE and not self.shapes

    def nodes(self, source: TripleSource, focus: Term, conforms: Conforms) -> set[Term]:
        """The nodes that it gives for a focus node."""
        starts: set[Term] = {focus if self.constant is None else self.constant}
        if self.any_of:
            starts = {node for one in self.any_of for node in one.nodes(source, focus, conforms)}
        if self.all_of:
            starts = set.intersection(*(one.nodes(source, focus, conforms) for one in self.all_of))
        found = {end for start in starts for end in walk(source, start, self.path)}
        return {
            node
            for node in found
            if not isinstance(node, Triple) and all(conforms(source, shape, node) for shape in self.shapes)
        }

    def dependencies(self, graph: rdflib.Graph) -> Iterator[Dependency]:
        """Which triples it depends on, from the focus node; of any node where it starts from a constant."""
        inner = [d for one in (*self.any_of, *self.all_of) for d in one.dependencies(graph)]
        yield from inner
        starts: Sequence[Path | None] = [HERE] if self.constant is None else [None]
        if self.any_of or self.all_of:
            starts = [one.ends() for one in (*self.any_of, *self.all_of)]
        for start in starts:
            for prefix, step in uses(self.path):
                yield Dependency(None if start is None else join(start, prefix), step, ANY)
            for shape in self.shapes:
                at = HERE if start is None else join(start, self.path)
                for found in shape_dependencies(graph, shape, at, REMOVED):
                    yield Dependency(None, found.step, found.effect) if start is None else found

    def grows(self, graph: rdflib.Graph) -> bool:
        """Whether more statements never make it give fewer nodes."""
        asked = (d for shape in self.shapes for d in shape_dependencies(graph, shape, HERE, REMOVED))
        return not any(d.effect.added for d in asked) and all(
            one.grows(graph) for one in (*self.any_of, *self.all_of)
        )

    def ends(self) -> Path | None:
        """The path from the focus node to what it gives; None where that may be anything."""
        if self.constant is not None or self.any_of or self.all_of:
            return None
        return self.path


def parse_expression(graph: rdflib.Graph, node: Node) -> NodeExpression:
    """The expression that a node of the shapes graph is. Raises `RuleUnsupported` and `ShapeMalformed`."""
    if node == _THIS:
        return NodeExpression()
    if not isinstance(node, BNode):
        return NodeExpression(constant=to_oxigraph(node))
    said = set(graph.predicates(node))
    if SH.path in said and said <= {SH.path, _NODES}:
        inner = _inner(graph, node)
        return _then(inner, parse_path(graph, _one(graph, node, SH.path)))
    if _FILTER in said and said <= {_FILTER, _NODES}:
        inner = _inner(graph, node)
        shapes = tuple(sorted(graph.objects(node, _FILTER), key=str))
        return NodeExpression(
            inner.path, inner.constant, (*inner.shapes, *shapes), inner.any_of, inner.all_of
        )
    for predicate, several in ((_UNION, "any_of"), (_INTERSECTION, "all_of")):
        if said == {predicate}:
            members = Collection(graph, _one(graph, node, predicate))
            parts = tuple(parse_expression(graph, member) for member in members)
            if not parts:
                raise ShapeMalformed(str(node), "its list of node expressions is empty")
            return NodeExpression(**{several: parts})  # type: ignore[arg-type]
    names = ", ".join(sorted(graph.namespace_manager.normalizeUri(str(one)) for one in said))
    raise RuleUnsupported(f"has a node expression of {names or 'nothing'}, which is unsupported")


def _then(inner: NodeExpression, path: Path) -> NodeExpression:
    if inner.shapes:
        return NodeExpression(path, any_of=(inner,))
    return NodeExpression(join(inner.path, path), inner.constant, (), inner.any_of, inner.all_of)


def _inner(graph: rdflib.Graph, node: Node) -> NodeExpression:
    given = graph.value(node, _NODES)
    return NodeExpression() if given is None else parse_expression(graph, given)


def _one(graph: rdflib.Graph, node: Node, predicate: Node) -> Node:
    values = list(graph.objects(node, predicate))
    if len(values) != 1:
        raise ShapeMalformed(str(node), f"it has {len(values)} values of {predicate} and takes one")
    return values[0]
