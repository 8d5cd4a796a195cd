"""Inputs that cost more to answer than to send: each ends at its route's limit, with words, beside others.

One server, with short limits, is sent each in turn while another client looks up single nodes. An input holds
where the answer comes within the limit of its route, with a status below 500 (503 and 504 say that a limit
was reached) and, from 400 on, with a problem that has a title and a detail.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self

from tests.support.attacks.attack import Result, Target
from tests.support.fuzzing.ledger import HANG_S, Answer
from tests.support.fuzzing.slow import unread
from tests.support.fuzzing.wire import Exchange, exchange, once, request
from tests.support.running_server import RunningServer
from tests.support.workshop import folders

GROUP = "costly"
QUERY_S: Final = 1.0
EXTRACTION_S: Final = 2.0
READING_S: Final = 60.0
"""How long the files of an edit may be read (`server.rules.edits`), which no setting changes."""
PLAIN_S: Final = 2.0
"""For what is read and refused, or is small."""
CLIENT_S: Final = 1.5
P99_S = 0.2
_MARGIN_S = 0.5
_GROWN_BYTES = 500 * 2**20


@dataclass(frozen=True)
class Costly:
    """One input; `body` is made when it is sent. `limit_s` is the limit of the route by the settings."""

    name: str
    method: str
    path: str
    kind: str
    body: Callable[[], bytes | str]
    limit_s: float = PLAIN_S
    slow: bool = False
    headers: Mapping[str, str | bytes] = field(default_factory=dict)
    pieces: Callable[[bytes], Iterable[tuple[float, bytes]]] | None = None
    """How the request is sent, where not at once."""
    unread: bool = False
    """Whether nothing of the answer is read: then the connection ends at the limit."""
    closed: bool = False
    """Whether the connection may end without an answer: the request was never complete."""

    def send(self, target: Target) -> Answer:
        """The answer of a server."""
        body = self.body()
        hang_s = self.limit_s + HANG_S
        data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
        raw = request(self.method, self.path, {"Content-Type": self.kind, **self.headers}, data)
        if self.unread:
            return unread(target.url, raw, hang_s)
        if self.pieces is None:
            return exchange(target.url, once(self.name, raw, self.method), hang_s)[0]
        return exchange(target.url, Exchange(self.name, tuple(self.pieces(raw)), self.method), hang_s)[0]

    def result(self, target: Target, slack: float = 1.0) -> Result:
        """Whether the server held."""
        answer = self.send(target)
        label = f"{self.method} {self.path.partition('?')[0]}: {self.name}"
        allowed = (self.limit_s + _MARGIN_S) * slack
        detail = f"status {answer.status}, {answer.seconds:.2f} s of {allowed:.1f} s"
        wrong = "" if answer.seconds <= allowed else "too late"
        if answer.status is None:
            wrong = wrong or ("" if self.closed and not answer.hung else "no answer")
        elif answer.status >= 500 and answer.status not in (503, 504):
            wrong = "a failure of the server"
        elif answer.status >= 400 and not self.unread and not _in_words(answer.body):
            wrong = "no words"
        said = answer.body[:300].decode("utf-8", "replace") if wrong else ""
        return Result(GROUP, label, not wrong, f"{detail} {wrong} {said}".rstrip())


def _in_words(body: bytes) -> bool:
    try:
        problem = json.loads(body)
        return bool(problem["title"]) and bool(problem["detail"])
    except (ValueError, KeyError, TypeError):
        return False


def results(
    target: Target, inputs: Sequence[Costly], *, p99_s: float = P99_S, slack: float = 1.0
) -> Iterator[Result]:
    """Each input in turn; then what the lookups beside them took, and what the server's memory is."""
    before = _most_memory(target.server.process.pid)
    with Lookups(target.url) as lookups:
        for costly in inputs:
            begun = time.monotonic()
            result = costly.result(target, slack)
            worst = max(lookups.since(begun), default=0.0)
            memory = _most_memory(target.server.process.pid) >> 20
            seen = f"{result.detail}, lookups to {worst * 1e3:.0f} ms, {memory} MB"
            yield Result(result.group, result.name, result.held, seen)
            if costly.path.startswith(("/shapes/", "/ontologies/")) and "status 20" in result.detail:
                target.send("DELETE", costly.path)
    yield lookups.result(p99_s)
    grown = _most_memory(target.server.process.pid) - before
    yield Result(GROUP, "memory of the server", grown < _GROWN_BYTES, f"{grown / 2**20:+.0f} MB at most")
    yield target.alive(GROUP)


class Lookups:
    """Another client, in a process of its own, that looks up one node a hundred times a second."""

    def __init__(self, url: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _LOOKING_UP, url.removeprefix("http://")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._taken: list[tuple[float, float]] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            begun, seconds = map(float, line.split())
            self._taken.append((begun, seconds))

    def since(self, begun: float) -> list[float]:
        """The seconds that each took which ended since then (`time.monotonic`)."""
        return [seconds for at, seconds in list(self._taken) if at + seconds >= begun]

    def p99(self) -> float:
        """Seconds that one in a hundred exceeds."""
        taken = sorted(self.since(0))
        return taken[int(len(taken) * 0.99)] if taken else math.inf

    def result(self, p99_s: float) -> Result:
        """Whether they were answered quickly throughout."""
        taken = sorted(self.since(0)) or [math.inf]
        detail = (
            f"{len(taken)} lookups, p50 {taken[len(taken) // 2] * 1e3:.1f} ms, "
            f"p99 {self.p99() * 1e3:.0f} ms, max {taken[-1] * 1e3:.0f} ms"
        )
        return Result(GROUP, "lookups of another client", self.p99() < p99_s, detail)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._reader.join(timeout=60)
        assert self._process.stdout is not None
        self._process.stdout.close()


_LOOKING_UP = """
import http.client, select, sys, time
path = "/sparql?query=SELECT%20*%20%7B%3Chttp%3A%2F%2Fexample.org%2F7%3E%20%3Fp%20%3Fo%7D"
connection = http.client.HTTPConnection(sys.argv[1], timeout=120)
while not select.select([sys.stdin], [], [], 0.01)[0]:
    begun = time.monotonic()
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        failed = answer.status != 200
    except (OSError, http.client.HTTPException):
        connection.close()
        failed = True
    print(begun, 1e9 if failed else time.monotonic() - begun, flush=True)
"""


@contextmanager
def limited_server() -> Iterator[Target]:
    """A server with short limits over a small city, its shapes and 300 nodes."""
    with tempfile.TemporaryDirectory(prefix="urbankg-costly-") as name:
        root = Path(name)
        folders(root)
        config = root / "urbankg.toml"
        config.write_text(
            f'log_level = "warning"\nreaders = 1\nlanguage = ""\nreasoner = "none"\n'
            f'ontology = "{root / "ontology"}"\nshapes = "{root / "shapes"}"\n'
            f"query_timeout_s = {QUERY_S}\nquery_timeout_max_s = {QUERY_S}\n"
            f"extraction_timeout = {EXTRACTION_S}\nclient_timeout_s = {CLIENT_S}\n"
            "max_update_chars = 5000000\nquery_memory_mb = 512\n"
        )
        with RunningServer(root / "data", "--config", str(config)) as server:
            target = Target(server, root)
            put = target.send("PUT", "/store?default", {"Content-Type": "text/turtle"}, _GRAPH.encode())
            assert put.status in (200, 201, 204), put.body
            yield target


_GRAPH = "".join(
    f"<http://example.org/{n}> <http://example.org/p> {n} ; a <http://example.org/city#Road> ;"
    f" <http://example.org/city#near> <http://example.org/{(n + 1) % 300}> .\n"
    for n in range(300)
)


def _most_memory(pid: int) -> int:
    """The most bytes of main memory that the process held so far."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) * 1024
