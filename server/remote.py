"""A running server that holds the data folder: commands on that folder talk to it."""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from server.errors import ServerError

FILE = "server.json"


class RemoteFailed(ServerError):
    """The running server refused or failed; its own words are the message."""


@dataclass(frozen=True)
class RunningServer:
    """The address of a server that holds a folder."""

    url: str
    pid: int

    def post(self, path: str, message: dict[str, Any]) -> dict[str, Any]:
        """Send a message and return the JSON answer. Raises `RemoteFailed`."""
        found: dict[str, Any] = self._send(path, json=message).json()
        return found

    def query(self, text: str, accept: str) -> bytes:
        """The answer to a SPARQL query in that media type. Raises `RemoteFailed`."""
        headers = {"content-type": "application/sparql-query", "accept": accept}
        return self._send("/sparql", content=text.encode(), headers=headers).content

    def _send(self, path: str, **options: Any) -> httpx.Response:
        try:
            response = httpx.post(self.url + path, timeout=600, trust_env=False, **options)
        except httpx.HTTPError as error:
            raise RemoteFailed(
                f"The server at {self.url} does not answer: {error}. Start it anew."
            ) from error
        if response.is_error:
            raise RemoteFailed(_detail(response))
        return response


def announce(folder: Path, url: str) -> None:
    """Leave the server's address in the folder it holds."""
    (folder / FILE).write_text(json.dumps({"url": url, "pid": os.getpid()}), encoding="utf-8")


def withdraw(folder: Path) -> None:
    """Take the address away again."""
    (folder / FILE).unlink(missing_ok=True)


def running_server(folder: Path) -> RunningServer | None:
    """The server that holds the folder, if one says so and its process lives."""
    try:
        found = json.loads((folder / FILE).read_text(encoding="utf-8"))
        server = RunningServer(found["url"], int(found["pid"]))
        os.kill(server.pid, 0)
    except (OSError, ValueError, KeyError):
        return None
    return server


def _detail(response: httpx.Response) -> str:
    try:
        return str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"The server answered {response.status_code}: {response.text[:300]}"
