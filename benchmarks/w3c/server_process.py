"""A real server process on a free port, and requests to it exactly as they are written."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

_START_S = 180.0
_ANSWER_S = 120.0


@dataclass(frozen=True)
class Answered:
    """A response; the names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def media_type(self) -> str:
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()


@dataclass(frozen=True)
class Server:
    """Where a server listens."""

    url: str
    pid: int = 0

    def cpu_s(self) -> float:
        """Seconds of processor time that its own process has had (Linux)."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    @property
    def authority(self) -> str:
        return urlsplit(self.url).netloc

    def send(
        self, method: str, target: str, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Answered:
        """One request with these headers and no others but Host and Content-Length."""
        connection = http.client.HTTPConnection(self.authority, timeout=_ANSWER_S)
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            for name, value in (headers or {}).items():
                connection.putheader(name, value)
            if body is not None or method in ("POST", "PUT"):
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            response = connection.getresponse()
            found = {name.lower(): value for name, value in response.getheaders()}
            return Answered(response.status, found, response.read())
        finally:
            connection.close()

    def update(self, text: str) -> None:
        """Carry out an update that is to succeed."""
        answer = self.send("POST", "/update", {"Content-Type": "application/sparql-update"}, text.encode())
        if answer.status >= 300:
            raise RuntimeError(f"The server refused to prepare a test: {answer.status} {answer.body[:300]!r}")


@contextmanager
def running_server(folder: Path, *, gated: bool = False) -> Iterator[Server]:
    """A server with its data in a new folder under ``folder``; no ontology and no shapes unless ``gated``."""
    nothing, data = folder / "no-schema", folder / "served"
    nothing.mkdir()
    command = [sys.executable, "-m", "server", "serve", "--data", str(data), "--port", "0"]
    if not gated:
        command += ["--ontology", str(nothing), "--shapes", str(nothing)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("URBANKG_")}
    log = folder / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        yield Server(_wait(process, data / "server.json", log), process.pid)
    finally:
        process.terminate()
        process.wait(timeout=60)


def _wait(process: subprocess.Popen[bytes], announcement: Path, log: Path) -> str:
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            url = str(json.loads(announcement.read_text())["url"])
            if Server(url).send("GET", "/healthz").status == 200:
                return url
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            pass
        time.sleep(0.1)
    raise RuntimeError(f"The server did not start: {log.read_text()[-2000:]}")
