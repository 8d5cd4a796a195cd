"""Calls of the HTTP API: of the application itself for a client's request, or of a server by its address."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import httpx
from starlette.requests import Request
from starlette.types import ASGIApp

from server.cli.running_server import RunningServer, running_server
from server.errors import ServerError

_TIMEOUT_S = 600.0
_START_S = 120.0
# What belongs to the body or the connection of the client's own request.
_NOT_PASSED_ON = frozenset({"accept", "accept-encoding", "connection", "content-length", "content-type"})


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
            found = running_server(self._folder, self._key)
            return await asyncio.to_thread(self._start) if found is None else found

    def _start(self) -> RunningServer:
        command = [sys.executable, "-m", "server", "serve", "--data", str(self._folder), "--port", "0"]
        # Standard output is the protocol's.
        self._started = subprocess.Popen(
            [*command, *self._flags], stdin=subprocess.DEVNULL, stdout=sys.stderr.fileno()
        )
        return _waited_for(self._started, lambda: running_server(self._folder, self._key))


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
