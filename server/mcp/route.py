"""`POST /mcp`: the Model Context Protocol, whose tools call this application's own routes."""

from __future__ import annotations

from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.http.access.keys import Scope as KeyScope
from server.http.bodies.content_coding import is_packed
from server.http.bodies.request_bodies import read_body
from server.mcp.calling import AppCalls
from server.services import Services

PATH = "/mcp"


class McpRoute:
    """The route; the protocol's SDK is imported with the first request."""

    def __init__(self, services: Services, app: ASGIApp) -> None:
        self._services = services
        self._app = app
        self._endpoint: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request. Raises what `Guard.check` raises; each tool is checked again by its own route."""
        await self._services.guard.check(Request(scope, receive), *KeyScope)
        if self._endpoint is None:
            from server.mcp.protocol import HttpEndpoint

            self._endpoint = HttpEndpoint(AppCalls(self._app), PATH, self._services.settings.max_body_bytes)
        request = Request(scope, receive)
        if is_packed(request.headers.get("content-encoding")):
            scope, receive = _plain(scope, await read_body(request, self._services.settings.max_body_bytes))
        await self._endpoint(scope, receive, send)


def _plain(scope: Scope, body: bytes) -> tuple[Scope, Receive]:
    """A request with this body, as if it had come unpacked."""
    kept = [one for one in scope["headers"] if one[0] not in (b"content-encoding", b"content-length")]
    headers = [*kept, (b"content-length", b"%d" % len(body))]

    async def receive() -> Message:
        return {"type": "http.request", "body": body, "more_body": False}

    return {**scope, "headers": headers}, receive


def mcp_route(services: Services, app: ASGIApp) -> Route:
    """The route, with the application whose routes the tools call."""
    return Route(PATH, McpRoute(services, app), methods=["POST"], include_in_schema=False)
