"""SERVICE and LOAD without the engine's network access: their content is fetched and put in their place.

`SERVICE <e> { P }` is, by definition (SPARQL 1.1 Federated Query, 2 and 4), the solutions that `<e>` gives
for P, joined with the surrounding pattern; so VALUES with those solutions replace it. `LOAD <d> INTO GRAPH
<g>` is INSERT DATA of the document's triples (SPARQL 1.1 Update, 3.1.4). The resulting request reaches no
other host.

Only SERVICE with an IRI, its keyword written apart, is replaced; anything else stays and is refused later.
Bindings from around a SERVICE are not sent with it, so its pattern should be selective by itself. Blank nodes
of a remote answer become IRIs, since VALUES takes none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Protocol

from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    QueryResultsFormat,
    QuerySolutions,
    Triple,
    parse_query_results,
    serialize,
)
from pyoxigraph import RdfFormat as Rdf

from sparql.model.errors import FetchFailed, FetchRefused, RemoteAccessRefused
from sparql.syntax.request_facts import Prologue, read_prologue
from sparql.syntax.tokens import Token, TokenKind, read_tokens

BLANK_NODES = "urn:x-urbankg:remote-blank-node:"
_VARIABLE = re.compile(r"\w+")


class Sources(Protocol):
    """Fetches from other hosts. Raises FetchRefused, RemoteAccessRefused and FetchFailed, which SILENT
    ignores.
    """

    async def results(self, endpoint: str, query: str) -> bytes:
        """The answer to a SELECT, as SPARQL 1.1 JSON results."""
        ...

    async def triples(self, document: str) -> Sequence[Triple]:
        """The triples of a document, with new blank nodes."""
        ...


@dataclass(frozen=True)
class RemotePart:
    """One SERVICE or LOAD: its position in the text, its target and what it requests."""

    keyword: str
    target: str
    start: int
    end: int
    silent: bool = False
    query: str = ""
    graph: NamedNode | None = None


def remote_parts(text: str, base: str | None = None) -> Iterator[RemotePart]:
    """The outermost SERVICE and LOAD that can be replaced, in order."""
    prologue = read_prologue(text, 0, Prologue({}, base, 0))
    tokens = list(read_tokens(text, prologue.end))
    index = depth = 0
    while index < len(tokens):
        token = tokens[index]
        part: tuple[RemotePart, int] | None = None
        if depth == 0 and token.is_word("PREFIX", "BASE", "VERSION"):
            prologue = read_prologue(text, token.start, prologue)
        elif token.is_word("SERVICE") and depth > 0:
            part = _read_service(text, tokens, index, prologue)
        elif token.is_word("LOAD") and depth == 0:
            part = _read_load(tokens, index, prologue)
        if part is not None:
            yield part[0]
            index = part[1]
            continue
        if token.kind is TokenKind.PUNCTUATION:
            depth += (token.text == "{") - (token.text == "}")
        index += 1


@dataclass(frozen=True)
class Localized:
    """A request that reaches no other host; `passed_over` has the reason for each SILENT part that failed."""

    text: str
    passed_over: tuple[str, ...] = ()


async def localize(text: str, sources: Sources, base: str | None = None) -> Localized:
    """The request with every remote part fetched and put in its place; line numbers stay the same.

    Raises FetchRefused, RemoteAccessRefused and FetchFailed, unless the part is SILENT.
    """
    done: list[str] = []
    passed_over: list[str] = []
    position = 0
    for part in remote_parts(text, base):
        done.append(text[position : part.start])
        try:
            done.append(await _content(part, sources))
        except (FetchFailed, FetchRefused, RemoteAccessRefused) as error:
            if not part.silent:
                raise
            # One solution without bindings (Federated Query, 2.3); for LOAD, an operation that does nothing.
            done.append("{ }" if part.keyword == "SERVICE" else "INSERT DATA { }")
            passed_over.append(f"{part.keyword} SILENT is skipped: {error}")
        done.append("\n" * text.count("\n", part.start, part.end))
        position = part.end
    return Localized("".join((*done, text[position:])), tuple(passed_over))


async def _content(part: RemotePart, sources: Sources) -> str:
    if part.keyword == "SERVICE":
        return values_of(await sources.results(part.target, part.query), part.target)
    return _data_of(await sources.triples(part.target), part.graph)


def values_of(results: bytes, endpoint: str) -> str:
    """A group that gives exactly the solutions of these JSON results. Raises FetchFailed."""
    try:
        found = parse_query_results(results, format=QueryResultsFormat.JSON)
        if not isinstance(found, QuerySolutions):
            raise FetchFailed(endpoint, "it answered a SELECT with a boolean")
        names = [variable.value for variable in found.variables]
        rows = [[_written(solution[name], endpoint) for name in names] for solution in found]
    except (SyntaxError, ValueError) as error:
        raise FetchFailed(endpoint, f"it did not answer with SPARQL JSON results ({error})") from error
    if not all(_VARIABLE.fullmatch(name) for name in names):
        raise FetchFailed(endpoint, "it answered with names that are not variables")
    head = " ".join(f"?{name}" for name in names)
    body = " ".join(f"({' '.join(row)})" for row in rows)
    return f"{{ VALUES ({head}) {{ {body} }} }}"


def _written(term: NamedNode | BlankNode | Literal | Triple | None, endpoint: str) -> str:
    if term is None:
        return "UNDEF"
    if isinstance(term, Triple):
        raise FetchFailed(endpoint, "it answered with a triple term, which cannot be passed on")
    if isinstance(term, BlankNode):
        name = blake2b(f"{endpoint}\0{term.value}".encode(), digest_size=12).hexdigest()
        return f"<{BLANK_NODES}{name}>"
    return str(term)


def _data_of(triples: Sequence[Triple], graph: NamedNode | None) -> str:
    data = (serialize(triples, format=Rdf.N_TRIPLES) or b"").decode().replace("\n", " ")
    return f"INSERT DATA {{ {data} }}" if graph is None else f"INSERT DATA {{ GRAPH {graph} {{ {data} }} }}"


def _read_service(
    text: str, tokens: Sequence[Token], index: int, prologue: Prologue
) -> tuple[RemotePart, int] | None:
    start, index = tokens[index].start, index + 1
    silent = index < len(tokens) and tokens[index].is_word("SILENT")
    index += silent
    target = prologue.expand(tokens[index]) if index < len(tokens) else None
    end = _end_of_group(tokens, index + 1)
    if target is None or end is None:
        return None
    group = text[tokens[index + 1].start : tokens[end].end]
    query = f"{prologue.as_text()} SELECT * WHERE {group}"
    return RemotePart("SERVICE", target, start, tokens[end].end, silent, query), end + 1


def _read_load(tokens: Sequence[Token], index: int, prologue: Prologue) -> tuple[RemotePart, int] | None:
    start, index = tokens[index].start, index + 1
    silent = index < len(tokens) and tokens[index].is_word("SILENT")
    index += silent
    target = prologue.expand(tokens[index]) if index < len(tokens) else None
    if target is None:
        return None
    graph: NamedNode | None = None
    rest = tokens[index + 1 : index + 4]
    if len(rest) == 3 and rest[0].is_word("INTO") and rest[1].is_word("GRAPH"):
        try:
            graph = NamedNode(prologue.expand(rest[2]) or "")
        except ValueError:
            return None
        index += 3
    return RemotePart("LOAD", target, start, tokens[index].end, silent, graph=graph), index + 1


def _end_of_group(tokens: Sequence[Token], begin: int) -> int | None:
    depth = 0
    if begin >= len(tokens) or tokens[begin].text != "{":
        return None
    for index in range(begin, len(tokens)):
        if tokens[index].kind is TokenKind.PUNCTUATION:
            depth += (tokens[index].text == "{") - (tokens[index].text == "}")
            if depth == 0:
                return index
    return None
