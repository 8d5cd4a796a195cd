"""Quad templates of updates: read once, filled in per solution (SPARQL 1.1 Update, 3.1.3).

A template is Turtle with variables and GRAPH blocks. Each variable is replaced by an IRI that stands for it
and the rest is read by the engine's own Turtle reader, so that lists, blank nodes and reifiers mean here
exactly what they mean to the engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    RdfFormat,
    Triple,
    parse,
)

from sparql.model.errors import MalformedRequest
from sparql.model.source import Term
from sparql.syntax.request_facts import Prologue
from sparql.syntax.tokens import Token, TokenKind

_VARIABLE = "urn:x-urbankg:variable:"


class Solution(Protocol):
    """One solution of a query: the term of each variable, None where it is unbound."""

    def __getitem__(self, name: str, /) -> Any: ...


GraphName = NamedNode | BlankNode | DefaultGraph
Fill = Callable[[str], Term | None]
"""From the name of a variable or (with ``_:``) the label of a blank node to its term; None is unbound."""


@dataclass(frozen=True)
class Template:
    """Quads in which some IRIs represent variables."""

    quads: tuple[Quad, ...] = ()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables, in no particular order."""
        found: set[str] = set()
        for quad in self.quads:
            for term in (quad.subject, quad.predicate, quad.object, quad.graph_name):
                found.update(_variables_of(term))
        return tuple(sorted(found))

    def instantiate(self, solution: Solution | None = None) -> Iterator[Quad]:
        """The quads of one solution. Quads with an unbound or misplaced term are left out; blank nodes
        are new for each solution, one per label."""
        nodes: dict[str, BlankNode] = {}

        def fill(name: str) -> Term | None:
            if name.startswith("_:"):
                return nodes.setdefault(name, BlankNode())
            return None if solution is None else solution[name]

        for quad in self.quads:
            subject, predicate, object_ = (
                _filled(term, fill) for term in (quad.subject, quad.predicate, quad.object)
            )
            graph = (
                quad.graph_name
                if isinstance(quad.graph_name, DefaultGraph)
                else _filled(quad.graph_name, fill)
            )
            if (
                isinstance(subject, NamedNode | BlankNode)
                and isinstance(predicate, NamedNode)
                and object_ is not None
                and isinstance(graph, NamedNode | BlankNode | DefaultGraph)
            ):
                yield Quad(subject, predicate, object_, graph)


def read_template(
    text: str, tokens: Sequence[Token], prologue: Prologue, graph: NamedNode | None = None
) -> Template:
    """The template whose tokens, without its outer braces, are given.

    ``graph`` is where triples outside GRAPH go (WITH); the default graph otherwise. Raises MalformedRequest.
    """
    outside: GraphName = graph or DefaultGraph()
    quads: list[Quad] = []
    start = index = 0
    while index < len(tokens):
        if tokens[index].is_word("GRAPH"):
            quads += _read_triples(text, tokens[start:index], prologue, outside)
            name, end = tokens[index + 1], _closing(tokens, index + 2)
            quads += _read_triples(text, tokens[index + 3 : end], prologue, _graph_name(name, prologue))
            start = index = end + 1
        else:
            index += 1
    return Template((*quads, *_read_triples(text, tokens[start:], prologue, outside)))


def _read_triples(text: str, tokens: Sequence[Token], prologue: Prologue, graph: GraphName) -> Iterator[Quad]:
    if tokens and tokens[0].text == ".":
        tokens = tokens[1:]
    if not tokens:
        return
    pieces, position = [prologue.as_text(), "\n"], tokens[0].start
    for token in tokens:
        if token.kind is TokenKind.VARIABLE:
            pieces += (text[position : token.start], f"<{_VARIABLE}{token.text[1:]}>")
            position = token.end
    pieces += (text[position : tokens[-1].end], "" if tokens[-1].text == "." else " .")
    try:
        for quad in parse("".join(pieces), format=RdfFormat.TURTLE):
            yield Quad(quad.subject, quad.predicate, quad.object, graph)
    except SyntaxError as error:
        raise MalformedRequest(
            f"The triples near '{text[tokens[0].start : tokens[0].start + 60]}' cannot be written: {error}. "
            "Write them as Turtle allows: no literal as subject, spaces around keywords."
        ) from error


def _graph_name(token: Token, prologue: Prologue) -> NamedNode:
    if token.kind is TokenKind.VARIABLE:
        return NamedNode(_VARIABLE + token.text[1:])
    iri = prologue.expand(token)
    if iri is None:
        raise MalformedRequest(f"GRAPH {token.text} names no graph; write an IRI or a variable.")
    return NamedNode(iri)


def _closing(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].text == "{":
            depth += 1
        elif tokens[index].text == "}":
            depth -= 1
            if depth == 0:
                return index
    return len(tokens)


def _filled(term: Any, fill: Fill) -> Term | None:
    if isinstance(term, NamedNode):
        return fill(term.value[len(_VARIABLE) :]) if term.value.startswith(_VARIABLE) else term
    if isinstance(term, BlankNode):
        return fill(f"_:{term.value}")
    if isinstance(term, Triple):
        subject, predicate, object_ = (
            _filled(part, fill) for part in (term.subject, term.predicate, term.object)
        )
        if (
            isinstance(subject, NamedNode | BlankNode)
            and isinstance(predicate, NamedNode)
            and object_ is not None
        ):
            return Triple(subject, predicate, object_)
        return None
    assert isinstance(term, Literal)
    return term


def _variables_of(term: object) -> Iterator[str]:
    if isinstance(term, NamedNode) and term.value.startswith(_VARIABLE):
        yield term.value[len(_VARIABLE) :]
    elif isinstance(term, Triple):
        for part in (term.subject, term.predicate, term.object):
            yield from _variables_of(part)
