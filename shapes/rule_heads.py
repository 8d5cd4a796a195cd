"""What a rule of a shape concludes for a focus node (SHACL Advanced Features, 6 and 8).

Node expressions give the terms of `sh:TripleRule`; a CONSTRUCT gives the triples of `sh:SPARQLRule`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Protocol

import pyoxigraph
import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple, Variable
from pyparsing import ParseBaseException
from rdflib.collection import Collection
from rdflib.namespace import SH
from rdflib.plugins.sparql import prepareQuery
from rdflib.plugins.sparql.parserutils import CompValue
from rdflib.term import BNode, Node, URIRef
from rdflib.term import Variable as RdflibVariable

from shapes.engine.functions import Function, extension_functions, unusable_call
from shapes.engine.queries import check_size, only_grows, pattern_dependencies, query_text
from shapes.errors import ShapeMalformed
from shapes.graph import to_oxigraph
from shapes.model import shape_dependencies
from shapes.paths import ANY, HERE, REMOVED, Dependency, Path, invert, join, parse_path, uses, walk
from sparql.model.source import Term, TripleSource
from sparql.syntax.tokens import TokenKind, read_tokens


class RuleUnsupported(Exception):
    """A rule needs what is unsupported here; the message goes on from its name."""


Conforms = Callable[[TripleSource, Node, Term], bool]
"""Whether a node of a source conforms to a shape."""
_FILTER, _UNION, _INTERSECTION, _NODES, _THIS_NODE = (
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
    if node == _THIS_NODE:
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


_THIS = RdflibVariable("this")
_FOCUS = NamedNode("urn:x-ukg:focus")
"""Stands for a focus node without a name where it has to be written in a query."""
_ARBITRARY = frozenset(f"Builtin_{name}" for name in ("UUID", "STRUUID", "RAND", "NOW", "BNODE"))


class Head(Protocol):
    """What a rule concludes."""

    @property
    def grows(self) -> bool:
        """Whether more statements never lead to fewer conclusions."""

    def conclusions(self, source: TripleSource, focus: Term) -> Iterator[Triple]:
        """The triples for a focus node."""

    def candidates(self, source: TripleSource, triple: Triple) -> set[Term] | None:
        """The focus nodes for which it may give a triple; None where these may be any."""

    def dependencies(self) -> Iterator[Dependency]:
        """Which triples it depends on."""


@dataclass(frozen=True)
class _TripleHead:
    parts: tuple[NodeExpression, NodeExpression, NodeExpression]
    conforms: Conforms
    grows: bool
    graph: rdflib.Graph

    def conclusions(self, source: TripleSource, focus: Term) -> Iterator[Triple]:
        found = [part.nodes(source, focus, self.conforms) for part in self.parts]
        for subject, predicate, value in product(*found):
            if isinstance(predicate, NamedNode) and isinstance(subject, NamedNode | BlankNode):
                yield Triple(subject, predicate, value)

    def candidates(self, source: TripleSource, triple: Triple) -> set[Term] | None:
        terms = (triple.subject, triple.predicate, triple.object)
        found: set[Term] | None = None
        for part, term in zip(self.parts, terms, strict=True):
            if part.is_constant:
                if part.constant != term:
                    return set()
            elif found is None and (path := part.ends()) is not None:
                found = walk(source, term, invert(path))
        return found

    def dependencies(self) -> Iterator[Dependency]:
        for part in self.parts:
            yield from part.dependencies(self.graph)


def triple_head(graph: rdflib.Graph, node: Node, conforms: Conforms) -> Head:
    """The head of a `sh:TripleRule`. Raises `RuleUnsupported` and `ShapeMalformed`."""
    parts = []
    for name in ("subject", "predicate", "object"):
        values = list(graph.objects(node, rdflib.URIRef(str(SH) + name)))
        if len(values) != 1:
            raise ShapeMalformed(str(node), f"it has sh:{name} {len(values)} times and takes it once")
        parts.append(parse_expression(graph, values[0]))
    grows = all(part.grows(graph) for part in parts)
    return _TripleHead((parts[0], parts[1], parts[2]), conforms, grows, graph)


class _ConstructHead:
    """A CONSTRUCT, answered by the store's engine over the triples that it can see from a focus node."""

    def __init__(self, name: str, text: str) -> None:
        algebra = _construct_algebra(name, text)
        arbitrary = sorted(_names(algebra) & _ARBITRARY)
        if arbitrary:
            called = ", ".join(one.removeprefix("Builtin_") for one in arbitrary)
            raise RuleUnsupported(f"calls {called}, so it would conclude something else each time")
        self._name = name
        self._template: list[tuple[Any, Any, Any]] = list(algebra.template or _patterns(algebra.p))
        self._dependencies = tuple(dict.fromkeys(pattern_dependencies(algebra.p)))
        if any(one.path is None and one.step.predicate is None for one in self._dependencies):
            raise RuleUnsupported("reads statements with any predicate that nothing connects to $this")
        self.grows = only_grows(algebra.p)
        reason = unusable_call(algebra)
        if reason is not None:
            raise RuleUnsupported(reason)
        self._functions = extension_functions(algebra)
        self._select = _as_select(text)
        try:
            self._binds = _binds_this(self._select, self._functions)
            if not self._binds:
                query = _with_this(self._select, _FOCUS)
                pyoxigraph.Store().query(query, custom_functions=self._functions)
        except SyntaxError as error:
            raise RuleUnsupported(f"has a query that cannot be answered for one node: {error}") from error

    def conclusions(self, source: TripleSource, focus: Term) -> Iterator[Triple]:
        for solution in self._solutions(source, focus):
            made: dict[BNode, BlankNode] = {}
            for pattern in self._template:
                subject, predicate, value = (self._term(part, solution, focus, made) for part in pattern)
                if (
                    isinstance(subject, NamedNode | BlankNode)
                    and isinstance(predicate, NamedNode)
                    and value is not None
                ):
                    yield Triple(subject, predicate, value)

    def candidates(self, source: TripleSource, triple: Triple) -> set[Term] | None:  # noqa: ARG002
        terms = (triple.subject, triple.predicate, triple.object)
        found: set[Term] = set()
        for pattern in self._template:
            if not _may_be(pattern, terms):
                continue
            at = [term for part, term in zip(pattern, terms, strict=True) if part == _THIS]
            if not at:
                return None
            found.add(at[0])
        return found

    def dependencies(self) -> Iterator[Dependency]:
        return iter(self._dependencies)

    def _solutions(self, source: TripleSource, focus: Term) -> Iterator[dict[str, Term]]:
        seen = pyoxigraph.Store()
        seen.extend(pyoxigraph.Quad(*triple) for triple in set(self._seen(source, focus)))
        if self._binds:
            answer: Any = seen.query(
                self._select,
                substitutions={Variable("this"): focus},
                custom_functions=self._functions,
            )
            known = focus
        else:
            known = focus if isinstance(focus, NamedNode | Literal) else _FOCUS
            if known != focus:
                quads = [pyoxigraph.Quad(*_replaced(quad.triple, focus, known)) for quad in seen]
                seen.clear()
                seen.extend(quads)
            answer = seen.query(_with_this(self._select, known), custom_functions=self._functions)
        names = [variable.value for variable in answer.variables]
        for row in answer:
            bound = {name: row[name] for name in names if row[name] is not None}
            yield {name: focus if value == known else value for name, value in bound.items()}

    def _seen(self, source: TripleSource, focus: Term) -> Iterator[Triple]:
        for one in self._dependencies:
            if one.path is None:
                yield from source.match(None, one.step.predicate, None)
                continue
            for node in walk(source, focus, one.path):
                if not one.step.forward:
                    yield from source.match(None, one.step.predicate, node)
                elif not isinstance(node, Literal):
                    yield from source.match(node, one.step.predicate, None)

    def _term(
        self, part: Any, solution: dict[str, Term], focus: Term, made: dict[BNode, BlankNode]
    ) -> Term | None:
        if isinstance(part, RdflibVariable):
            return focus if part == _THIS else solution.get(str(part))
        if isinstance(part, BNode):
            if part not in made:
                # The same node each time, so that it stays and is taken back with what it follows from.
                place = next(n for n, one in enumerate(self._template) if part in one)
                text = repr((self._name, str(focus), sorted((k, str(v)) for k, v in solution.items()), place))
                made[part] = BlankNode("r" + hashlib.sha256(text.encode()).hexdigest()[:24])
            return made[part]
        return to_oxigraph(part)


def _construct_algebra(name: str, text: str) -> CompValue:
    try:
        check_size(text)
        algebra: CompValue = prepareQuery(text).algebra
        pyoxigraph.Store().query(text)
    except (SyntaxError, ValueError, ParseBaseException) as error:
        raise ShapeMalformed(name, f"its SPARQL does not parse: {error}") from error
    except Exception as error:  # rdflib raises bare exceptions for unknown prefixes
        raise ShapeMalformed(name, f"its SPARQL does not parse: {error}") from error
    if algebra.name != "ConstructQuery":
        raise ShapeMalformed(name, "its sh:construct is no CONSTRUCT")
    return algebra


def _binds_this(select: str, functions: dict[NamedNode, Function] | None) -> bool:
    """Whether `$this` is a variable of the answer.

    Not within the reading of a rule: the parser keeps frames of its callers, and an answer may not be
    released by another thread.
    """
    answer: Any = pyoxigraph.Store().query(select, custom_functions=functions)
    return Variable("this") in answer.variables


def _as_select(text: str) -> str:
    """The query with SELECT * in place of its template."""
    tokens = list(read_tokens(text))
    start = next(n for n, token in enumerate(tokens) if token.is_word("CONSTRUCT"))
    end = tokens[start].end
    if tokens[start + 1].text == "{":
        depth = 0
        for token in tokens[start + 1 :]:
            depth += {"{": 1, "}": -1}.get(token.text, 0)
            end = token.end
            if depth == 0:
                break
    return f"{text[: tokens[start].start]}SELECT *{text[end:]}"


def _with_this(text: str, focus: NamedNode | Literal) -> str:
    """The query with a term in place of $this."""
    parts, at = [], 0
    for token in read_tokens(text):
        if token.kind is TokenKind.VARIABLE and token.text[1:] == "this":
            parts += [text[at : token.start], str(focus)]
            at = token.end
    return "".join([*parts, text[at:]])


def _replaced(triple: Triple, old: Term, new: Term) -> tuple[Any, Any, Any]:
    subject, predicate, value = (new if term == old else term for term in triple)
    return subject, predicate, value


def _may_be(pattern: tuple[Any, Any, Any], terms: tuple[Term, ...]) -> bool:
    """Whether a triple of a template can be a triple."""
    return all(
        isinstance(part, RdflibVariable)
        or (isinstance(term, BlankNode) if isinstance(part, BNode) else to_oxigraph(part) == term)
        for part, term in zip(pattern, terms, strict=True)
    )


def construct_head(graph: rdflib.Graph, node: Node) -> Head:
    """The head of a `sh:SPARQLRule`. Raises `RuleUnsupported` and `ShapeMalformed`."""
    texts = list(graph.objects(node, rdflib.URIRef(str(SH) + "construct")))
    if len(texts) != 1:
        raise ShapeMalformed(str(node), f"it has sh:construct {len(texts)} times and takes it once")
    known = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in graph.namespaces())
    return _ConstructHead(str(node), known + query_text(graph, node, str(texts[0])))


def _names(node: Any) -> set[str]:
    if isinstance(node, CompValue):
        found = {name for key, value in node.items() if key != "_vars" for name in _names(value)}
        return found | {node.name}
    if isinstance(node, list | tuple | set):
        return {name for value in node for name in _names(value)}
    return set()


def _patterns(node: Any) -> list[tuple[Any, Any, Any]]:
    """The template of `CONSTRUCT WHERE`."""
    while isinstance(node, CompValue) and node.name != "BGP":
        node = node.get("p")
    return list(node.triples) if isinstance(node, CompValue) else []
