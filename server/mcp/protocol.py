"""The Model Context Protocol by its official SDK: lists the tools, checks arguments, makes the calls."""

from __future__ import annotations

import inspect
import json
from importlib.metadata import version
from typing import Any, Final

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
from pydantic import ValidationError
from starlette.types import Receive, Scope, Send

from server.errors import ServerError
from server.mcp.calling import Calls
from server.mcp.tools import TOOLS, Tool
from server.message import member_problems
from sparql.model.answer_warnings import unknown_name

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
    tool = next((one for one in TOOLS if one.name == name), None)
    if tool is None:
        raise ServerError(unknown_name("tool", name, [one.name for one in TOOLS]))
    try:
        arguments = tool.arguments.model_validate(sent)
    except ValidationError as error:
        problems = member_problems(error.errors(), tool.arguments, "arguments")
        raise ServerError("; ".join(f"{place}: {message}" for place, message in problems)) from error
    answers = {}
    for part, call in tool.calls(arguments).items():
        answers[part] = await calls.send(call, context.request)
        if answers[part].is_error:
            raise ServerError(_refusal(answers[part]))
    return tool.given(arguments, answers)


def _refusal(answer: httpx.Response) -> str:
    """A problem (RFC 9457) in words, with the members that say what to do."""
    try:
        found = answer.json()
        return str(found["detail"]) + "".join(
            f"\n{name}: {json.dumps(found[name], ensure_ascii=False)}"
            for name in ("errors", "violations", "results")
            if found.get(name)
        )
    except (ValueError, KeyError, TypeError):
        return f"The server answered {answer.status_code}: {answer.text[:300]}"
