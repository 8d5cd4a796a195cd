"""SERVICE and LOAD without the engine's network access: their content is fetched and put in their place.

`SERVICE <e> { P }` is, by definition (SPARQL 1.1 Federated Query, 2 and 4), the solutions that `<e>` gives
for P, joined with the surrounding pattern; so VALUES with those solutions replace it. `LOAD <d> INTO GRAPH
<g>` is INSERT DATA of the document's triples (SPARQL 1.1 Update, 3.1.4). The resulting request reaches no
other host.

Only SERVICE with an IRI, in a text that `sparql.syntax.parser` reads, is replaced; anything else stays and
is refused later. Bindings from around a SERVICE are not sent with it, so its pattern should be selective by
itself. Blank nodes of a remote answer become IRIs, since VALUES takes none.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import IO, Protocol, cast

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

from sparql.model.errors import FetchFailed, FetchRefused, PayloadProblem, RemoteAccessRefused
from sparql.syntax.nesting import ShallowFile
from sparql.syntax.nodes import Nested, Node, walk
from sparql.syntax.parser import QueryReader, parse_query
from sparql.syntax.request_facts import Kind, facts_of
from sparql.syntax.tokens import NotUnderstood, Prologue, Token
from sparql.syntax.updates import operations_in

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
    if facts_of(text).kind is not Kind.UPDATE:
        with suppress(NotUnderstood):
            parsed = parse_query(text, base)
            yield from _services(text, parsed.prologue, parsed.query)
        return
    for tokens, prologue in operations_in(text, base):
        if tokens[0].is_word("LOAD"):
            yield from _load(tokens, prologue)
            continue
        pattern = next((at for at, one in enumerate(tokens, 1) if one.is_word("WHERE")), len(tokens))
        with suppress(NotUnderstood):
            yield from _services(text, prologue, QueryReader(text, prologue, tokens[pattern:]).group())


def _services(text: str, prologue: Prologue, tree: Node) -> Iterator[RemotePart]:
    end = 0
    for node in walk(tree):
        if isinstance(node, Nested) and node.keyword == "SERVICE" and node.start >= end:
            end, group = node.end, node.groups[0]
            if isinstance(node.name, NamedNode):
                query = f"{prologue.as_text()} SELECT * WHERE {text[group.start : group.end]}"
                yield RemotePart("SERVICE", node.name.value, node.start, end, node.silent, query)


def _load(tokens: Sequence[Token], prologue: Prologue) -> Iterator[RemotePart]:
    words = [one for one in tokens if not one.is_word("LOAD", "SILENT", "INTO", "GRAPH")]
    try:
        target, *graph = [NamedNode(prologue.expand(one) or "") for one in words]
    except ValueError:
        return
    silent = len(tokens) > 1 and tokens[1].is_word("SILENT")
    into = next(iter(graph), None)
    yield RemotePart("LOAD", target.value, tokens[0].start, tokens[-1].end, silent, graph=into)


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
        guarded = cast("IO[bytes]", ShallowFile(io.BytesIO(results), Rdf.JSON_LD))
        found = parse_query_results(guarded, format=QueryResultsFormat.JSON)
        if not isinstance(found, QuerySolutions):
            raise FetchFailed(endpoint, "it answered a SELECT with a boolean")
        names = [variable.value for variable in found.variables]
        rows = [[_written(solution[name], endpoint) for name in names] for solution in found]
    except (SyntaxError, ValueError, PayloadProblem) as error:
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
