"""`POST /mcp`, and calls of the HTTP API: of the application itself, or of the server that holds a folder.

Over HTTP (`/mcp`) and over standard input and output (`urbankg mcp`), a language model may do with the graph
what the HTTP API lets the same client do.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
from starlette.requests import Request
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import ServerError
from server.http.access.keys import Scope as KeyScope
from server.http.bodies.content_coding import is_packed
from server.http.bodies.request_bodies import read_body
from server.running_server import RunningServer, running_server
from server.services import Services

if TYPE_CHECKING:
    from server.mcp.tools import Call

_TIMEOUT_S = 600.0
_START_S = 120.0
# What belongs to the body or the connection of the client's own request.
_NOT_PASSED_ON = frozenset({"accept", "accept-encoding", "connection", "content-length", "content-type"})


class AppCalls:
    """Calls of this application with the key, the address and the origin of the client: what it may do by
    itself, and nothing else."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def send(self, call: Call, request: Request | None, /) -> httpx.Response:
        """The answer, also one that refuses."""
        assert request is not None
        client = request.client
        transport = httpx.ASGITransport(
            self._app,
            raise_app_exceptions=False,
            client=("unknown", 0) if client is None else (client.host, client.port),
        )
        passed = {name: value for name, value in request.headers.items() if name not in _NOT_PASSED_ON}
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
            return await http.send(_built(http, call, passed))


class FolderCalls:
    """Calls of the server that holds a data folder; where none does, one is started and ended with these."""

    def __init__(self, folder: Path, api_key: str | None, flags: Sequence[str]) -> None:
        """`flags` are those of `urbankg serve` beside the folder."""
        self._folder = folder
        self._key = api_key
        self._flags = tuple(flags)
        self._started: subprocess.Popen[bytes] | None = None
        self._starting = asyncio.Lock()
        self._http = httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False)

    async def send(self, call: Call, _request: Request | None, /) -> httpx.Response:
        """The answer, also one that refuses. Raises `ServerError` when there is no server and none starts."""
        headers = {} if self._key is None else {"authorization": f"Bearer {self._key}"}
        for last in (False, True):
            server = await self._server()
            try:
                return await self._http.send(_built(self._http, call, headers, server.url))
            except httpx.ConnectError as error:
                # It has ended, and its address is not gone yet.
                if last:
                    raise ServerError(f"The server at {server.url} does not answer: {error}.") from error
                await asyncio.sleep(1)
        raise AssertionError

    async def close(self) -> None:
        """End the server that was started here."""
        await self._http.aclose()
        if self._started is not None and self._started.poll() is None:
            self._started.terminate()
            await asyncio.to_thread(self._started.wait)

    async def _server(self) -> RunningServer:
        async with self._starting:
            found = running_server(self._folder)
            return await asyncio.to_thread(self._start) if found is None else found

    def _start(self) -> RunningServer:
        command = [sys.executable, "-m", "server", "serve", "--data", str(self._folder), "--port", "0"]
        # Standard output is the protocol's.
        self._started = subprocess.Popen(
            [*command, *self._flags], stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
        )
        return _waited_for(self._started, lambda: running_server(self._folder))


def _waited_for(process: subprocess.Popen[bytes], found: Callable[[], RunningServer | None]) -> RunningServer:
    """The server, once it publishes its address: it listens by then. Raises `ServerError`."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        server = found()
        if server is not None:
            return server
        if process.poll() is not None:
            raise ServerError(f"The server did not start (exit code {process.returncode}); see its messages.")
        time.sleep(0.05)
    process.terminate()
    raise ServerError(f"The server did not start within {_START_S:.0f} s.")


def _built(
    http: httpx.AsyncClient, call: Call, headers: Mapping[str, str], address: str = ""
) -> httpx.Request:
    sent = {**headers, "accept": call.accept}
    if call.content_type is not None:
        sent["content-type"] = call.content_type
    parameters = {name: value for name, value in call.parameters.items() if value is not None}
    body: dict[str, Any] = {} if call.json is None else {"json": call.json}
    return http.build_request(
        call.method, address + call.path, params=parameters, content=call.content, headers=sent, **body
    )


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
            from server.mcp.tools import HttpEndpoint

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
