"""What commands cost as processes of their own, and how soon a server that is started answers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from benchmarks.bulk.data import EX, URBAN

ROOT = Path(__file__).parents[2]
_LONGEST_START_S = 600.0
_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_READ_LINES = 60
_JOIN = f"SELECT ?name {{ <{EX}b7> <{URBAN}locatedIn> ?d . ?d <{_LABEL}> ?name }} ORDER BY ?name"
"""Its cost does not grow with the graph: a query over everything would measure the query, not the start."""


@dataclass(frozen=True)
class Cost:
    """Processor seconds (user and system), seconds by the clock, and the most memory held, in MB."""

    cpu_s: float
    wall_s: float
    peak_mb: float

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.cpu_s + other.cpu_s, self.wall_s + other.wall_s, max(self.peak_mb, other.peak_mb))

    def __str__(self) -> str:
        return f"{self.cpu_s:8.1f} CPU s {self.wall_s:8.1f} s {self.peak_mb:8.0f} MB"


def cost_of(*command: str | Path, codes: tuple[int, ...] = (0,)) -> tuple[Cost, str]:
    """Run a command to its end; what it cost and the end of what it wrote. Raises RuntimeError."""
    began = time.monotonic()
    process = subprocess.Popen(
        [str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT
    )
    assert process.stdout is not None
    lines = process.stdout.read().splitlines()[-_READ_LINES:]
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    output = "\n".join(lines)
    if process.returncode not in codes:
        raise RuntimeError(f"{command} ended with {process.returncode}:\n{output}")
    return Cost(used.ru_utime + used.ru_stime, time.monotonic() - began, used.ru_maxrss / 1024), output


@dataclass(frozen=True)
class Start:
    """Seconds from the start of a server to its first answer and to its first acknowledged write."""

    query_s: float
    write_s: float


@contextmanager
def _server(data: Path) -> Iterator[subprocess.Popen[bytes]]:
    log = (data.parent / "server.log").open("ab")
    command = [sys.executable, "-m", "server", "serve", "--data", str(data), "--port", "0"]
    process = subprocess.Popen(command, stdout=log, stderr=log, cwd=ROOT)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()


def start_of(data: Path) -> Start:
    """Start a server on a folder and wait for its first answer and its first write."""
    described = data / "server.json"
    described.unlink(missing_ok=True)
    with httpx.Client(timeout=_LONGEST_START_S, trust_env=False) as client:
        began = time.monotonic()
        with _server(data) as process:
            url = _first(process, lambda: _address(described))
            query = {"query": _JOIN}
            _first(process, lambda: _done(client, f"{url}/sparql", query))
            query_s = time.monotonic() - began
            update = {
                "update": f'INSERT DATA {{ <http://example.org/started> <http://example.org/at> "{began}" }}'
            }
            _first(process, lambda: _done(client, f"{url}/update", update))
            return Start(query_s, time.monotonic() - began)


def _first(process: subprocess.Popen[bytes], look: Callable[[], str | None]) -> str:
    """What `look` finds first. Raises RuntimeError when the server ends, or takes too long."""
    deadline = time.monotonic() + _LONGEST_START_S
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}; see server.log")
        time.sleep(0.02)
    raise RuntimeError("the server was not ready in time; see server.log")


def _address(described: Path) -> str | None:
    try:
        return str(json.loads(described.read_text())["url"])
    except (OSError, ValueError, KeyError):
        return None


def _done(client: httpx.Client, url: str, form: dict[str, str]) -> str | None:
    """Ask for one thing; None while the server is not ready. Raises RuntimeError when it refuses."""
    try:
        answer = client.post(url, data=form)
    except httpx.TransportError:
        return None
    if answer.is_success:
        return "done"
    if answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        return None
    raise RuntimeError(f"{url} answered {answer.status_code}: {answer.text}")
