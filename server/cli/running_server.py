"""A running server that holds the data folder: commands on that folder call it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from server.errors import ServerError

if TYPE_CHECKING:
    import httpx

FILE = "server.json"


class RemoteFailed(ServerError):
    """The running server refused or failed; `problem` is its whole answer, with the message in it."""

    def __init__(self, message: str, problem: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.problem = problem or {}


class RemoteBrokeOff(RemoteFailed):
    """The running server cannot be reached, or broke off in the middle of an answer."""


@dataclass(frozen=True)
class RunningServer:
    """The address of a server that holds a folder."""

    url: str
    pid: int
    api_key: str | None = field(default=None, repr=False)

    def post(self, path: str, message: dict[str, Any], timeout: float | None = 600) -> dict[str, Any]:
        """Send a message and return the JSON answer; `timeout` in seconds. Raises `RemoteFailed`."""
        found: dict[str, Any] = self._send(path, json=message, timeout=timeout).json()
        return found

    def get(self, path: str, parameters: dict[str, str] | None = None) -> dict[str, Any]:
        """The JSON answer of an address. Raises `RemoteFailed`."""
        found: dict[str, Any] = self._send(path, method="GET", params=parameters or {}).json()
        return found

    def delete(self, path: str, parameters: dict[str, str] | None = None) -> dict[str, Any]:
        """The JSON answer to a deletion. Raises `RemoteFailed`."""
        found: dict[str, Any] = self._send(path, method="DELETE", params=parameters or {}).json()
        return found

    def remove(self, path: str) -> None:
        """A deletion whose answer has no body. Raises `RemoteFailed`."""
        self._send(path, method="DELETE")

    def upload(
        self, path: str, content: Iterator[bytes], kind: str, parameters: dict[str, str]
    ) -> dict[str, Any]:
        """Stream a body; the JSON answer. Raises `RemoteFailed`, and the errors of ``content``."""
        headers = {"content-type": kind}
        found: dict[str, Any] = self._send(path, content=content, headers=headers, params=parameters).json()
        return found

    def events(self, path: str, known: int | None) -> Iterator[tuple[int, str, str]]:
        """Server-sent events after a known one: number, name and data, until the server ends them.

        Raises `RemoteFailed`, and `RemoteBrokeOff` when they break off.
        """
        import httpx

        last = {} if known is None else {"last-event-id": str(known)}
        headers = {"accept": "text/event-stream", **last, **self._key()}
        # The server sends a comment every 15 seconds without events.
        options: dict[str, Any] = {"headers": headers, "timeout": 120, "trust_env": False}
        fields: dict[str, str] = {}
        try:
            with httpx.stream("GET", self.url + path, **options) as response:
                if response.is_error:
                    response.read()
                    raise RemoteFailed(_detail(response), _problem(response))
                for line in response.iter_lines():
                    name, _, value = line.partition(": ")
                    if name:
                        fields[name] = value
                    elif "data" in fields:
                        yield int(fields["id"]), fields["event"], fields["data"]
                        fields = {}
        except httpx.HTTPError as error:
            raise RemoteBrokeOff(f"The server at {self.url} broke off: {error}. Try again.") from error

    def download(self, path: str, parameters: dict[str, str], output: IO[bytes]) -> None:
        """Stream the answer of an address into a file. Raises `RemoteFailed`, also half-way."""
        import httpx

        try:
            with httpx.stream(
                "GET",
                self.url + path,
                params=parameters,
                headers=self._key(),
                timeout=600,
                trust_env=False,
            ) as response:
                if response.is_error:
                    response.read()
                    raise RemoteFailed(_detail(response))
                for piece in response.iter_bytes():
                    output.write(piece)
        except httpx.HTTPError as error:
            raise RemoteFailed(f"The server at {self.url} broke off: {error}. Try again.") from error

    def query(self, text: str, accept: str, *, explain: bool = False) -> bytes:
        """The answer to a SPARQL query in that media type, or how it would run. Raises `RemoteFailed`."""
        headers = {"content-type": "application/sparql-query", "accept": accept}
        path = "/sparql?explain=true" if explain else "/sparql"
        return self._send(path, content=text.encode(), headers=headers).content

    def _send(self, path: str, *, method: str = "POST", **options: Any) -> httpx.Response:
        import httpx

        options = {"timeout": 600, **options, "headers": {**options.get("headers", {}), **self._key()}}
        try:
            response = httpx.request(method, self.url + path, trust_env=False, **options)
        except httpx.HTTPError as error:
            raise RemoteBrokeOff(f"The server at {self.url} does not answer: {error}. Restart it.") from error
        if response.is_error:
            raise RemoteFailed(_detail(response), _problem(response))
        return response

    def _key(self) -> dict[str, str]:
        return {} if self.api_key is None else {"authorization": f"Bearer {self.api_key}"}


@contextmanager
def announced(folder: Path, url: str) -> Iterator[None]:
    """Publish the server's address in the folder, which this process holds, until the block ends."""
    file = folder / FILE
    made = file.with_name(f".{FILE}.new")
    made.write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")
    os.replace(made, file)
    try:
        yield
    finally:
        withdraw(folder)


def withdraw(folder: Path) -> None:
    """Remove the address of this process, if it is still the one that is published."""
    # The folder is released by now: the next server may have written its own address already.
    server = running_server(folder)
    if server is not None and server.pid == os.getpid():
        (folder / FILE).unlink(missing_ok=True)


def running_server(folder: Path, api_key: str | None = None) -> RunningServer | None:
    """The server that holds the folder, if its address is published and its process is alive."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        server = RunningServer(found["url"], int(found["pid"]), api_key)
        os.kill(server.pid, 0)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return server


def _problem(response: httpx.Response) -> Mapping[str, Any]:
    """The members of a problem (RFC 9457); empty for any other answer."""
    if "json" not in response.headers.get("content-type", ""):
        return {}
    try:
        found = response.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _detail(response: httpx.Response) -> str:
    try:
        return str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"The server answered {response.status_code}: {response.text[:300]}"
