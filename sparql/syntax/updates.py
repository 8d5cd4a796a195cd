"""Updates as a list of operations (SPARQL 1.1 Update, 3), and their quad templates (3.1.3).

The text is cut at its top-level semicolons, each operation is put before the engine's parser (without being
run), and its parts are read from its tokens. A template is Turtle with variables and GRAPH blocks: each
variable is replaced by an IRI that stands for it, and the engine's own Turtle reader reads the rest, so that
lists, blank nodes and reifiers mean here exactly what they mean to the engine.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import pyoxigraph
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

from sparql.model.errors import MalformedRequest, SyntaxProblem
from sparql.model.source import Term
from sparql.syntax.problems import syntax_problem
from sparql.syntax.tokens import (
    NotUnderstood,
    Prologue,
    TermReader,
    Token,
    TokenKind,
    read_prologue,
    read_tokens,
)

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


class GraphSet(Enum):
    """The keywords for sets of graphs in graph management (3.2)."""

    DEFAULT = "DEFAULT"
    NAMED = "NAMED"
    ALL = "ALL"


GraphReference = NamedNode | GraphSet


@dataclass(frozen=True)
class Modify:
    """DELETE/INSERT with a WHERE (3.1.3); also DELETE WHERE and, without ``where``, the DATA forms (3.1.1).

    ``where`` is SPARQL text with its braces; ``using`` and ``using_named`` are its dataset, ``with_graph``
    is the graph of WITH.
    """

    prologue: Prologue
    delete: Template
    insert: Template
    where: str | None = None
    with_graph: NamedNode | None = None
    using: tuple[NamedNode, ...] = ()
    using_named: tuple[NamedNode, ...] = ()
    has_using: bool = False


@dataclass(frozen=True)
class Clear:
    """CLEAR, or DROP if ``drop`` (3.1.5, 3.2.2)."""

    target: GraphReference
    silent: bool
    drop: bool


@dataclass(frozen=True)
class Create:
    """CREATE (3.2.1)."""

    graph: NamedNode
    silent: bool


@dataclass(frozen=True)
class Transfer:
    """ADD, COPY or MOVE (3.2.3 to 3.2.5), as ``verb``."""

    verb: str
    source: GraphReference
    destination: GraphReference
    silent: bool


@dataclass(frozen=True)
class Load:
    """LOAD (3.1.4) that was not replaced by what it loads: it is valid and fails, or does nothing."""

    document: NamedNode
    silent: bool


Operation = Modify | Clear | Create | Transfer | Load

_KEYWORDS = (
    "INSERT|DELETE|DATA|WHERE|WITH|USING|NAMED|CLEAR|DROP|CREATE|LOAD|SILENT|INTO|GRAPH|DEFAULT|ALL"
    "|COPY|MOVE|ADD|TO"
)
_GLUED = re.compile(rf"(?:{_KEYWORDS})+", re.IGNORECASE)
_KEYWORD = re.compile(_KEYWORDS, re.IGNORECASE)
# An operation that parses and then fails at once: what follows it is parsed and not run.
_FAILING = "DROP GRAPH <urn:x-urbankg:none>; "


def operations_in(text: str, base: str | None = None) -> Iterator[tuple[list[Token], Prologue]]:
    """The tokens and declarations of each operation of an update, which need not be valid.

    ``base`` resolves relative IRIs where the text has no BASE.
    """
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    tokens = list(read_tokens(text, prologue.end))
    begin = 0
    while begin < len(tokens):
        if tokens[begin].is_word("PREFIX", "BASE", "VERSION"):
            prologue = read_prologue(text, tokens[begin].start, prologue)
            while begin < len(tokens) and tokens[begin].start < prologue.end:
                begin += 1
            continue
        end = _end_of_operation(tokens, begin)
        # What is empty is reported by the engine, but for an end behind the last semicolon.
        yield tokens[begin:end] or tokens[begin : begin + 1], prologue
        begin = end + 1


def read_operations(text: str, base: str | None = None) -> Iterator[Operation]:
    """The operations of an update, in order. Raises SyntaxProblem with the place in the whole text."""
    labels: set[str] = set()
    for tokens, prologue in operations_in(text, base):
        operation = _read_operation(text, tokens, prologue)
        if isinstance(operation, Modify) and operation.where is None:
            _check_labels(tokens, labels)
        yield operation


def _check_labels(tokens: list[Token], labels: set[str]) -> None:
    """A blank node belongs to one operation (3.1.1): note its label, refuse it in a second one."""
    found = {token.text for token in tokens if token.kind is TokenKind.BLANK_NODE}
    if shared := found & labels:
        raise SyntaxProblem(
            f"The blank node {min(shared)} stands in two operations; name it differently in each."
        )
    labels |= found


def check_syntax(text: str, start: int, end: int, prologue: Prologue) -> None:
    """Have the engine parse the operation between two offsets. Raises SyntaxProblem."""
    before = f"{prologue.as_text()} {_FAILING}"
    operation = before + text[start:end]
    try:
        pyoxigraph.Store().update(operation)
    except SyntaxError as error:
        problem = syntax_problem("update", str(error), operation)
        raise _moved(problem, text, start, len(before)) from error
    except RuntimeError:
        return


def _moved(problem: SyntaxProblem, text: str, start: int, inserted: int) -> SyntaxProblem:
    """The problem with its place counted in the whole text."""
    if problem.line is None or problem.column is None:
        return problem
    line = problem.line + text.count("\n", 0, start)
    column = problem.column
    if problem.line == 1:
        column += start - (text.rfind("\n", 0, start) + 1) - inserted
    place = f"line {problem.line}, column {problem.column}"
    return SyntaxProblem(problem.message.replace(place, f"line {line}, column {column}"), line, column)


def _end_of_operation(tokens: list[Token], begin: int) -> int:
    depth = 0
    for index in range(begin, len(tokens)):
        if tokens[index].text == "{":
            depth += 1
        elif tokens[index].text == "}":
            depth -= 1
        elif tokens[index].text == ";" and depth == 0:
            return index
    return len(tokens)


def _read_operation(text: str, tokens: list[Token], prologue: Prologue) -> Operation:
    check_syntax(text, tokens[0].start, tokens[-1].end, prologue)
    try:
        return _OperationReader(text, prologue, list(_unglued(tokens))).operation()
    except NotUnderstood as error:
        raise MalformedRequest(
            f"The update cannot be read: {error.reason}. Put spaces between its words, declare a BASE or "
            "write absolute IRIs, and use the operations of SPARQL 1.1 Update."
        ) from error


class _OperationReader(TermReader):
    """Reads the tokens of one operation, which the engine accepts."""

    def operation(self) -> Operation:
        token = self._next()
        verb = token.text.upper()
        match verb:
            case "INSERT" | "DELETE" | "WITH":
                return self._modify(verb)
            case "CLEAR" | "DROP":
                silent = self._take_word("SILENT")
                return Clear(self._reference(), silent, verb == "DROP")
            case "CREATE":
                silent = self._take_word("SILENT")
                self._take_word("GRAPH")
                return Create(self._iri(), silent)
            case "ADD" | "COPY" | "MOVE":
                silent, source = self._take_word("SILENT"), self._reference()
                self._take_word("TO")
                return Transfer(verb, source, self._reference(), silent)
            case "LOAD":
                silent = self._take_word("SILENT")
                return Load(self._iri(), silent)
        raise self._stop(token)

    def _modify(self, verb: str) -> Modify:
        nothing = Template()
        if verb != "WITH" and self._take_word("DATA"):
            template = self._template()
            return Modify(
                self._prologue,
                template if verb == "DELETE" else nothing,
                template if verb == "INSERT" else nothing,
            )
        if verb == "DELETE" and self._take_word("WHERE"):
            begin = self._position
            template = self._template()
            return Modify(self._prologue, template, nothing, self._text_from(begin))
        with_graph = self._iri() if verb == "WITH" else None
        found = Modify(self._prologue, nothing, nothing, with_graph=with_graph)
        if verb == "DELETE" or (verb == "WITH" and self._take_word("DELETE")):
            found = replace(found, delete=self._template(with_graph))
        if verb == "INSERT" or self._take_word("INSERT"):
            found = replace(found, insert=self._template(with_graph))
        using: tuple[list[NamedNode], list[NamedNode]] = ([], [])
        while self._take_word("USING"):
            using[self._take_word("NAMED")].append(self._iri())
        self._take_word("WHERE")
        begin = self._position
        self._braces()
        return replace(
            found,
            where=self._text_from(begin),
            using=tuple(using[0]),
            using_named=tuple(using[1]),
            has_using=bool(using[0] or using[1]),
        )

    def _reference(self) -> GraphReference:
        for graphs in GraphSet:
            if self._take_word(graphs.value):
                return graphs
        self._take_word("GRAPH")
        return self._iri()

    def _template(self, graph: NamedNode | None = None) -> Template:
        begin = self._position + 1
        self._braces()
        return read_template(self._text, self._tokens[begin : self._position - 1], self._prologue, graph)

    def _braces(self) -> None:
        """Pass over the braces that come next, and what is inside."""
        end = closing_brace(self._tokens, self._position)
        if not self._at("{") or end == len(self._tokens):
            raise NotUnderstood("its braces cannot be matched")
        self._position = end + 1

    def _text_from(self, begin: int) -> str:
        return self._text[self._tokens[begin].start : self._end()]


def _unglued(tokens: list[Token]) -> Iterator[Token]:
    """The engine reads INSERTDATA as two keywords, so do we."""
    depth = 0
    for token in tokens:
        depth += (token.text == "{") - (token.text == "}")
        if token.kind is TokenKind.WORD and depth == 0 and _GLUED.fullmatch(token.text):
            for word in _KEYWORD.finditer(token.text):
                yield Token(TokenKind.WORD, word[0], token.start + word.start(), token.start + word.end())
        else:
            yield token


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
            name, end = tokens[index + 1], closing_brace(tokens, index + 2)
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


def closing_brace(tokens: Sequence[Token], opening: int) -> int:
    """Where the brace is closed that opens at a token; behind the last token where it is not."""
    depth = 0
    for index in range(opening, len(tokens)):
        if tokens[index].text == "{":
            depth += 1
        elif tokens[index].text == "}":
            depth -= 1
        if depth == 0:
            break
    else:
        return len(tokens)
    return index


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
