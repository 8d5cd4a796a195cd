"""The HTTP API as commands call it: of the server that holds the folder, else of one in this process."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, TYPE_CHECKING, Any, Final

from server.errors import FolderMissing, ServerError
from server.running_server import refusal, running_server

if TYPE_CHECKING:
    import httpx

    from server.services import Services
    from server.settings import Settings

_TIMEOUT_S: Final = 600.0
_EVENTS_TIMEOUT_S: Final = 120.0
"""The server sends a comment every 15 seconds where there are no events."""
_MOST_BYTES: Final = 2**30


class RemoteFailed(ServerError):
    """The server refused or failed; `problem` is its whole answer (RFC 9457), with the message in it."""

    def __init__(self, message: str, problem: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.problem = problem or {}


class RemoteBrokeOff(RemoteFailed):
    """The server cannot be reached, or broke off in the middle of an answer."""


class Api:
    """Calls of the HTTP API. All raise `RemoteFailed`; what opens a folder raises its errors too."""

    def __init__(self, settings: Settings, http: httpx.Client, folder: FolderServer | None = None) -> None:
        self.settings = settings
        self._http = http
        self._folder = folder

    @property
    def is_served(self) -> bool:
        """Whether the server is another process, which goes on when this command ends."""
        return self._folder is None

    @property
    def works(self) -> bool:
        """Whether the server works on jobs."""
        return self._folder is None or self._folder.works

    @property
    def url(self) -> str:
        """The server's address, for messages."""
        return str(self._http.base_url).rstrip("/")

    def get(self, path: str, **parameters: Any) -> dict[str, Any]:
        """The JSON answer of an address; parameters that are None are left out."""
        found: dict[str, Any] = self._send("GET", path, params=_given(parameters)).json()
        return found

    def post(
        self, path: str, message: Mapping[str, Any] | None = None, *, timeout: float | None = _TIMEOUT_S
    ) -> dict[str, Any]:
        """The JSON answer to a message; `timeout` in seconds between two parts of the answer."""
        found: dict[str, Any] = self._send("POST", path, json=message or {}, timeout=timeout).json()
        return found

    def delete(self, path: str) -> None:
        """A deletion whose answer has no body."""
        self._send("DELETE", path)

    def upload(self, path: str, content: Iterator[bytes], kind: str, **parameters: Any) -> dict[str, Any]:
        """The JSON answer to a body that is sent as it is made. Raises the errors of `content` too."""
        options = {"content": content, "headers": {"content-type": kind}, "params": _given(parameters)}
        found: dict[str, Any] = self._send("POST", path, **options).json()
        return found

    def download(self, method: str, path: str, output: IO[bytes], **options: Any) -> None:
        """Write an answer into a file as it comes. Raises `RemoteFailed` also half-way."""
        with self._stream(method, path, **options) as response:
            for piece in response.iter_bytes():
                output.write(piece)

    def query(self, text: str, accept: str, output: IO[bytes], *, explain: bool = False) -> None:
        """Write the answer to a SPARQL query in that media type, or how it would run, as it comes."""
        headers = {"content-type": "application/sparql-query", "accept": accept}
        parameters = {"explain": "true"} if explain else {}
        self.download("POST", "/sparql", output, content=text.encode(), headers=headers, params=parameters)

    def events(self, path: str, known: int | None) -> Iterator[tuple[int, str, str]]:
        """Server-sent events after a known one (number, name and data), until the server ends them."""
        last = {} if known is None else {"last-event-id": str(known)}
        headers = {"accept": "text/event-stream", **last}
        fields: dict[str, str] = {}
        with self._stream("GET", path, headers=headers, timeout=_EVENTS_TIMEOUT_S) as response:
            for line in response.iter_lines():
                name, _, value = line.partition(": ")
                if name:
                    fields[name] = value
                elif "data" in fields:
                    yield int(fields["id"]), fields["event"], fields["data"]
                    fields = {}

    def find_again(self) -> None:
        """Call the server that holds the folder now, after a restart."""
        server = running_server(self.settings.data)
        if server is not None:
            self._http.base_url = server.url

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        with self._stream(method, path, **options) as response:
            response.read()
            return response

    @contextmanager
    def _stream(self, method: str, path: str, **options: Any) -> Iterator[httpx.Response]:
        import httpx

        if self._folder is not None:
            self._folder.open_for(method, path)
        try:
            with self._http.stream(method, path, **options) as response:
                if response.is_error:
                    response.read()
                    raise RemoteFailed(refusal(response), _problem(response))
                yield response
        except httpx.HTTPError as error:
            raise RemoteBrokeOff(f"The server at {self.url} does not answer: {error}. Try again.") from error


@contextmanager
def opened_api(settings: Settings, *, works: bool = False) -> Iterator[Api]:
    """The API of the server that holds the folder, else of one in this process, until the block ends.

    With `works`, the one in this process works on jobs. Raises `FolderMissing`, and what keeps the folder
    from being opened.
    """
    import httpx

    server = running_server(settings.data)
    if server is not None:
        key = {} if settings.api_key is None else {"authorization": f"Bearer {settings.api_key}"}
        with httpx.Client(base_url=server.url, headers=key, timeout=_TIMEOUT_S, trust_env=False) as http:
            yield Api(settings, http)
        return
    if not settings.data.is_dir():
        raise FolderMissing(settings.data)
    with FolderServer(settings, works=works) as folder:
        transport = httpx.HTTPTransport(uds=str(folder.socket))
        with httpx.Client(base_url="http://localhost", transport=transport, timeout=None) as http:
            yield Api(settings, http, folder)


class FolderServer:
    """Serves a folder to this command alone: on a thread, over a Unix socket that only this user can open."""

    def __init__(self, settings: Settings, *, works: bool) -> None:
        # Limits are for clients: who runs a command may do with the folder what he likes.
        own = {"host": "127.0.0.1", "max_body_bytes": _MOST_BYTES, "requests_per_second": 0}
        self._settings = settings.model_copy(update=own)
        self.works = works
        self._place = TemporaryDirectory(prefix="urbankg-")
        self.socket = Path(self._place.name) / "api"
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()), name="serving")
        self._loop: asyncio.AbstractEventLoop
        self._services: Services
        self._opened: Future[None] = Future()
        self._leaving: Future[None] = Future()
        self._opening = asyncio.Lock()
        self._reads = False

    def __enter__(self) -> FolderServer:
        self._listener.bind(str(self.socket))
        self._listener.listen()
        self._thread.start()
        try:
            self._opened.result()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._leaving.set_result(None)
        self._thread.join()
        self._listener.close()
        self._place.cleanup()

    def open_for(self, method: str, path: str) -> None:
        """Open what a request needs. Raises what it fails with.

        A list needs the store alone, a query the readers, and only the rest the shapes and the indexes.
        """
        if method != "GET" and not path.startswith("/jobs"):
            opening = self._open(everything=path != "/sparql")
            asyncio.run_coroutine_threadsafe(opening, self._loop).result()

    async def _open(self, *, everything: bool) -> None:
        async with self._opening:
            if not self._reads:
                await self._services.readers.start()
                self._reads = True
        if everything:
            self._services.startup.start()
            await self._services.opened()

    async def _serve(self) -> None:
        # What is imported stays, and the collector would look through it again and again.
        gc.disable()
        import uvicorn

        from server.app import create_app
        from server.runtime.wiring import build

        gc.freeze()
        gc.enable()
        async with AsyncExitStack() as stack:
            try:
                services = self._services = build(self._settings, serves=False)
                stack.push_async_callback(services.close)
                if self.works:
                    await self._open(everything=True)
                    await stack.enter_async_context(services.job_worker.working(services.opened))
            except BaseException as error:  # noqa: BLE001 (raised on the thread of the command)
                self._opened.set_exception(error)
                return
            config = uvicorn.Config(
                create_app(services),
                lifespan="off",
                ws="none",
                access_log=False,
                log_config=None,
                log_level="warning",
                timeout_graceful_shutdown=2,
            )
            server = uvicorn.Server(config)
            serving = asyncio.create_task(server.serve(sockets=[self._listener]))
            self._loop = asyncio.get_running_loop()
            self._opened.set_result(None)
            await asyncio.wrap_future(self._leaving)
            services.draining.begin()
            services.leave()
            server.should_exit = True
            await serving


def _given(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters as an address has them, without those that are None."""
    words = {True: "true", False: "false"}
    given = {name: value for name, value in parameters.items() if value is not None}
    return {name: words[value] if isinstance(value, bool) else value for name, value in given.items()}


def _problem(response: httpx.Response) -> Mapping[str, Any]:
    """The members of a problem; empty for any other answer."""
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
