"""The tools: for each its arguments, the call of the HTTP API it makes, and what of the answer it gives.

They are offered by the Model Context Protocol's official SDK, which takes longer to import than the server to
start: this file is imported with the first request.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import httpx
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    ToolAnnotations,
)
from mcp_types import Tool as ToolDescription
from pydantic import Field, ValidationError
from starlette.requests import Request
from starlette.types import Receive, Scope, Send

from server.errors import ServerError
from server.http.reporting.statements import StatementJson
from server.message import Message, member_problems
from server.running_server import refusal
from sparql.model.answer_warnings import unknown_name

_MOST_ROWS: Final = 1000
_IRI: Final = r'^[A-Za-z][A-Za-z0-9+.-]*:[^\x00-\x20<>"{}|^`\\]+$'
_SPARQL: Final = "application/sparql-query"
_RESULTS: Final = "application/sparql-results+json"
_LABEL: Final = "<http://www.w3.org/2000/01/rdf-schema#label>"
_LONG: Final = 500
"""Characters of a value in a description; the geometry of a coast has a hundred thousand."""


@dataclass(frozen=True)
class Call:
    """A request of the HTTP API. `content` is sent as `content_type`, `json` as JSON."""

    method: str
    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    json: Any = None
    content: str | None = None
    content_type: str | None = None
    accept: str = "application/json"


class Calls(Protocol):
    """Sends calls; `request` is that of the client, where it came over HTTP."""

    async def send(self, call: Call, request: Request | None, /) -> httpx.Response:
        """The answer, also one that refuses. Raises `ServerError` when there is no answer."""
        ...


class Search(Message):
    """Find entities, classes and properties by their names. Begin here: queries need the IRIs it gives."""

    text: str = Field(min_length=1, max_length=200, description="Words, or the start of one.")
    kind: Literal["entity", "class", "property"] | None = Field(None, description="Only of this kind.")
    limit: int = Field(10, ge=1, le=100)


class Vocabulary(Message):
    """The classes and properties that the graph's data use, with the number of uses, the most used first."""

    limit: int = Field(50, ge=1, le=_MOST_ROWS, description="So many classes, and so many properties.")


class Describe(Message):
    """All that the graph says of one entity: its own statements, and those of others about it."""

    iri: str = Field(pattern=_IRI, description="The entity's IRI, as `search` gives it.")
    limit: int = Field(100, ge=1, le=_MOST_ROWS, description="So many statements of each direction.")


class Query(Message):
    """Run a SPARQL 1.1 query, with GeoSPARQL functions (geof:) and relations (geo:sfWithin, geo:rcc8ec ...).

    SELECT and ASK give SPARQL 1.1 results in JSON, CONSTRUCT and DESCRIBE give Turtle.
    """

    sparql: str = Field(min_length=1, description="The query, with its PREFIX lines.")
    rows: int = Field(100, ge=1, le=_MOST_ROWS, description="At most so many rows are given.")


class Ask(Message):
    """Answer a question in plain words from the graph. What is missing is named, never guessed."""

    question: str = Field(min_length=1)
    context: str = Field("", description='Words that narrow the question, such as "in Queens".')
    history: list[str] = Field(default_factory=list, max_length=20, description="The questions before.")


class Propose(Message):
    """Propose statements. Each passes the shapes or waits in review with the reason; nothing is lost."""

    statements: list[StatementJson] = Field(min_length=1, max_length=1000)
    source: str | None = Field(None, description="Where they come from: a URL, a title.")
    text: str | None = Field(None, description="The text they were taken from; evidence is checked.")
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")


class ReadText(Message):
    """Extract statements from a text by the server's own model; each passes the shapes or waits in review."""

    text: str = Field(min_length=1)
    source: str | None = Field(None, description="Where the text comes from: a URL, a title.")
    commit: bool = Field(True, description="false: only say what would be accepted and refused.")


class Review(Message):
    """Statements that wait for a person's decision, with what the shapes say of them, newest first."""

    text: str | None = Field(None, description="Words in names, quotes or reasons.")
    status: Literal["open", "accepted", "rejected", "any"] = "open"
    limit: int = Field(20, ge=1, le=100)
    offset: int = Field(0, ge=0)


class Decide(Message):
    """Decide on a review item in the name of a person. `statements` correct it when it is accepted."""

    item: str = Field(min_length=1, pattern=r"^[^/?#\s]+$", description="The item's `id`.")
    decision: Literal["accept", "reject", "reopen"]
    by: str = Field(min_length=1, max_length=200, description="The person who decides.")
    reason: str | None = None
    statements: list[StatementJson] | None = Field(None, min_length=1, max_length=50)


A = TypeVar("A", bound=Message)


@dataclass(frozen=True)
class Tool(Generic[A]):
    """One tool. Its arguments' docstring is its description; several calls are made one after the other."""

    name: str
    arguments: type[A]
    calls: Callable[[A], Mapping[str, Call]]
    given: Callable[[A, Mapping[str, httpx.Response]], dict[str, Any]]
    writes: bool = False


def _one(call: Callable[[A], Call]) -> Callable[[A], Mapping[str, Call]]:
    return lambda arguments: {"answer": call(arguments)}


def _json(_arguments: Message, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
    found: dict[str, Any] = answers["answer"].json()
    return found


def _without(*members: str) -> Callable[[Message, Mapping[str, httpx.Response]], dict[str, Any]]:
    """The JSON answer but for members that take much room and say little in words."""

    def given(arguments: Message, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
        return {name: value for name, value in _json(arguments, answers).items() if name not in members}

    return given


def _sparql(text: str) -> Call:
    accept = f"{_RESULTS}, text/turtle;q=0.9"
    return Call("POST", "/sparql", content=text, content_type=_SPARQL, accept=accept)


def _results(arguments: Query, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
    """Rows as the query gives them, with the number of those that are left out."""
    answer = answers["answer"]
    if _RESULTS not in answer.headers["content-type"]:
        return {"turtle": answer.text}
    found: dict[str, Any] = answer.json()
    if "results" in found:
        rows = found["results"]["bindings"]
        found["results"]["bindings"] = rows[: arguments.rows]
        found["left_out"] = max(0, len(rows) - arguments.rows)
    return found


def _uses(arguments: Vocabulary) -> Mapping[str, Call]:
    count = "(COUNT(*) AS ?uses)"
    end = f"GROUP BY ?iri ORDER BY DESC(?uses) LIMIT {arguments.limit}"
    labeled = "SELECT ?iri (SAMPLE(?name) AS ?label) ?uses {{ {{ SELECT ?iri {0} {{ {1} }} {2} }} {3} }} {4}"
    name = f"OPTIONAL {{ ?iri {_LABEL} ?name }}"
    last = "GROUP BY ?iri ?uses ORDER BY DESC(?uses)"
    return {
        "classes": _sparql(labeled.format(count, "?thing a ?iri", end, name, last)),
        "properties": _sparql(labeled.format(count, "?thing ?iri ?value", end, name, last)),
    }


def _statements(arguments: Describe) -> Mapping[str, Call]:
    iri = f"<{arguments.iri}>"
    found = (
        "SELECT ?{0} ?property (SAMPLE(?name) AS ?label) {{ {{ SELECT * {{ {1} }} LIMIT {2} }} "
        "OPTIONAL {{ ?{0} {3} ?name }} }} GROUP BY ?{0} ?property"
    )
    return {
        "statements": _sparql(found.format("value", f"{iri} ?property ?value", arguments.limit, _LABEL)),
        "about_it": _sparql(found.format("subject", f"?subject ?property {iri}", arguments.limit, _LABEL)),
    }


def _rows(_arguments: Message, answers: Mapping[str, httpx.Response]) -> dict[str, Any]:
    """Plain rows of each answer: of each term its value, cut where it is long."""
    return {
        name: [
            {variable: _short(term["value"]) for variable, term in row.items()}
            for row in answer.json()["results"]["bindings"]
        ]
        for name, answer in answers.items()
    }


def _short(value: str) -> str:
    if len(value) <= _LONG:
        return value
    return f"{value[:_LONG]}... ({len(value):,} characters; query for the whole)"


def _decided(arguments: Decide) -> Call:
    message = arguments.model_dump(mode="json", exclude={"item", "decision"}, exclude_none=True)
    return Call("POST", f"/review/{arguments.item}/{arguments.decision}", json=message)


def _message(arguments: Message) -> dict[str, Any]:
    return arguments.model_dump(mode="json", exclude_unset=True)


TOOLS: Final[tuple[Tool[Any], ...]] = (
    Tool("search", Search, _one(lambda a: Call("GET", "/suggest", a.model_dump())), _json),
    Tool("vocabulary", Vocabulary, _uses, _rows),
    Tool("describe", Describe, _statements, _rows),
    Tool("query", Query, _one(lambda a: _sparql(a.sparql)), _results),
    Tool("ask", Ask, _one(lambda a: Call("POST", "/ask", json=_message(a))), _without("map", "trace")),
    Tool(
        "propose_statements",
        Propose,
        _one(lambda a: Call("POST", "/candidates", json=_message(a))),
        _without("trace"),
        writes=True,
    ),
    Tool(
        "read_text",
        ReadText,
        _one(lambda a: Call("POST", "/extractions", json=_message(a))),
        _without("trace"),
        writes=True,
    ),
    Tool("review", Review, _one(lambda a: Call("GET", "/review", a.model_dump())), _json),
    Tool("decide", Decide, _one(_decided), _json, writes=True),
)
"""Every tool that a model is offered."""


_INSTRUCTIONS: Final = (
    "A knowledge graph of places with geometries. `search` finds the IRIs of names, `vocabulary` the "
    "classes and properties in use, `describe` what is known of one entity, `query` runs SPARQL with "
    "GeoSPARQL, `ask` answers a question in words. `propose_statements` and `read_text` add statements: "
    "shapes judge each, and what they refuse waits in `review`. `decide` only in the name of a person who "
    "told you to."
)


def protocol_server(calls: Calls) -> Server[Any]:
    """A server of the protocol whose tools make these calls."""

    async def list_tools(
        _context: ServerRequestContext[Any], _parameters: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=[_description(tool) for tool in TOOLS])

    async def call_tool(
        context: ServerRequestContext[Any], parameters: CallToolRequestParams
    ) -> CallToolResult:
        try:
            found = await _call(calls, context, parameters.name, parameters.arguments or {})
        except ServerError as error:
            return CallToolResult(content=[TextContent(type="text", text=str(error))], is_error=True)
        text = TextContent(type="text", text=json.dumps(found, ensure_ascii=False))
        return CallToolResult(content=[text], structured_content=found)

    return Server(
        "urbankg",
        title="UrbanKG",
        version=version("urbankg"),
        instructions=_INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


class HttpEndpoint:
    """The protocol over HTTP (streamable HTTP, without sessions): one request, one answer in JSON."""

    def __init__(self, calls: Calls, path: str, most_bytes: int) -> None:
        self._server = protocol_server(calls)
        self._path = path
        self._most_bytes = most_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. The checks of `Host` and `Origin` are made before."""
        app = self._server.streamable_http_app(
            streamable_http_path=self._path,
            json_response=True,
            stateless_http=True,
            max_request_body_size=self._most_bytes,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        async with self._server.session_manager.run():
            await app(scope, receive, send)


async def serve_standard_streams(calls: Calls) -> None:
    """The protocol over standard input and output, until the input ends."""
    server = protocol_server(calls)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def _description(tool: Tool[Any]) -> ToolDescription:
    return ToolDescription(
        name=tool.name,
        description=inspect.getdoc(tool.arguments),
        input_schema=tool.arguments.model_json_schema(),
        annotations=ToolAnnotations(read_only_hint=not tool.writes, open_world_hint=False),
    )


async def _call(
    calls: Calls, context: ServerRequestContext[Any], name: str, sent: dict[str, Any]
) -> dict[str, Any]:
    """What a tool gives. Raises `ServerError` with what is wrong, or why it was refused."""
    tool = next((known for known in TOOLS if known.name == name), None)
    if tool is None:
        raise ServerError(unknown_name("tool", name, [known.name for known in TOOLS]))
    try:
        arguments = tool.arguments.model_validate(sent)
    except ValidationError as error:
        problems = member_problems(error.errors(), tool.arguments, "arguments")
        raise ServerError("; ".join(f"{place}: {message}" for place, message in problems)) from error
    answers = {}
    for part, call in tool.calls(arguments).items():
        answers[part] = await calls.send(call, context.request)
        if answers[part].is_error:
            raise ServerError(refusal(answers[part]))
    return tool.given(arguments, answers)
