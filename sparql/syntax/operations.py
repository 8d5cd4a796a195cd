"""Updates as a list of operations (SPARQL 1.1 Update, 3).

The text is cut at its top-level semicolons, each operation is put before the engine's parser (without being
run), and its parts are read from its tokens.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

import pyoxigraph
from pyoxigraph import NamedNode

from sparql.model.errors import MalformedRequest, SyntaxProblem
from sparql.syntax.request_facts import Prologue, read_prologue, syntax_problem
from sparql.syntax.templates import Template, read_template
from sparql.syntax.tokens import Token, TokenKind, read_tokens


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


def read_operations(text: str, base: str | None = None) -> Iterator[Operation]:
    """The operations of an update, in order; ``base`` resolves relative IRIs where the text has no BASE.

    Raises SyntaxProblem with the place in the whole text.
    """
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    labels: set[str] = set()
    tokens = list(read_tokens(text, prologue.end))
    begin = 0
    while begin < len(tokens):
        if tokens[begin].is_word("PREFIX", "BASE", "VERSION"):
            prologue = read_prologue(text, tokens[begin].start, prologue)
            while begin < len(tokens) and tokens[begin].start < prologue.end:
                begin += 1
            continue
        end = _end_of_operation(tokens, begin)
        if begin < end or end < len(tokens):
            operation = _read_operation(text, tokens[begin:end], prologue, tokens[begin].start)
            if isinstance(operation, Modify) and operation.where is None:
                _check_labels(tokens[begin:end], labels)
            yield operation
        begin = end + 1


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


def _read_operation(text: str, tokens: list[Token], prologue: Prologue, start: int) -> Operation:
    check_syntax(text, start, tokens[-1].end if tokens else start + 1, prologue)
    parts = _Parts(text, list(_unglued(tokens)), prologue)
    verb = parts.keyword()
    match verb:
        case "INSERT" | "DELETE" | "WITH":
            return _read_modify(parts, verb)
        case "CLEAR" | "DROP":
            silent = parts.take("SILENT")
            return Clear(parts.reference(), silent, verb == "DROP")
        case "CREATE":
            silent = parts.take("SILENT")
            parts.take("GRAPH")
            return Create(parts.iri(), silent)
        case "ADD" | "COPY" | "MOVE":
            silent = parts.take("SILENT")
            source = parts.reference()
            parts.take("TO")
            return Transfer(verb, source, parts.reference(), silent)
        case "LOAD":
            silent = parts.take("SILENT")
            return Load(parts.iri(), silent)
    raise MalformedRequest(f"The operation {verb} is not known here; use those of SPARQL 1.1 Update.")


def _read_modify(parts: _Parts, verb: str) -> Modify:
    nothing = Template()
    if verb != "WITH" and parts.take("DATA"):
        template = parts.template()
        return Modify(
            parts.prologue,
            template if verb == "DELETE" else nothing,
            template if verb == "INSERT" else nothing,
        )
    if verb == "DELETE" and parts.take("WHERE"):
        where = parts.peek_group()
        return Modify(parts.prologue, parts.template(), nothing, where)
    with_graph = parts.iri() if verb == "WITH" else None
    if with_graph is not None:
        verb = parts.keyword()
    found = Modify(parts.prologue, nothing, nothing, with_graph=with_graph)
    if verb == "DELETE":
        found = replace(found, delete=parts.template(with_graph))
        verb = "INSERT" if parts.take("INSERT") else ""
    if verb == "INSERT":
        found = replace(found, insert=parts.template(with_graph))
    using: tuple[list[NamedNode], list[NamedNode]] = ([], [])
    while parts.take("USING"):
        using[parts.take("NAMED")].append(parts.iri())
    parts.take("WHERE")
    return replace(
        found,
        where=parts.peek_group(),
        using=tuple(using[0]),
        using_named=tuple(using[1]),
        has_using=bool(using[0] or using[1]),
    )


class _Parts:
    """The tokens of one operation, taken from the front."""

    def __init__(self, text: str, tokens: list[Token], prologue: Prologue) -> None:
        self.prologue = prologue
        self._text = text
        self._tokens = tokens
        self._next = 0

    def keyword(self) -> str:
        token = self._token()
        self._next += 1
        return token.text.upper()

    def take(self, word: str) -> bool:
        """Pass over a keyword, if it is next."""
        if self._next < len(self._tokens) and self._tokens[self._next].is_word(word):
            self._next += 1
            return True
        return False

    def iri(self) -> NamedNode:
        token = self._token()
        iri = self.prologue.expand(token)
        if iri is None:
            raise MalformedRequest(f"'{token.text}' is no IRI here; put a space after the keyword before it.")
        self._next += 1
        try:
            return NamedNode(iri)
        except ValueError as error:
            raise MalformedRequest(f"<{iri}> is no absolute IRI; declare a BASE or write it out.") from error

    def reference(self) -> GraphReference:
        for graphs in GraphSet:
            if self.take(graphs.value):
                return graphs
        self.take("GRAPH")
        return self.iri()

    def peek_group(self) -> str:
        """The text of the braces that come next, and of what is inside."""
        begin, end = self._braces()
        return self._text[self._tokens[begin].start : self._tokens[end].end]

    def template(self, graph: NamedNode | None = None) -> Template:
        begin, end = self._braces()
        self._next = end + 1
        return read_template(self._text, self._tokens[begin + 1 : end], self.prologue, graph)

    def _braces(self) -> tuple[int, int]:
        depth = 0
        for index in range(self._next, len(self._tokens)):
            if self._tokens[index].text == "{":
                depth += 1
            elif self._tokens[index].text == "}":
                depth -= 1
                if depth == 0:
                    return self._next, index
        raise MalformedRequest("The update's braces cannot be matched; put spaces between its words.")

    def _token(self) -> Token:
        if self._next >= len(self._tokens):
            raise MalformedRequest("The update ends too early; write it with spaces between its words.")
        return self._tokens[self._next]


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
