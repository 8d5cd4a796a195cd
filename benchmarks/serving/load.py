"""Load from `wrk` (Debian package of that name): a client that takes little of the machine it shares."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote

from tests.support.processes import cpu_seconds


@dataclass(frozen=True)
class Request:
    """What is sent again and again: `%d` in the text becomes a number below `numbers`, another each time."""

    text: str
    numbers: int = 1
    update: bool = False
    accept: str = "application/sparql-results+json"
    gzip: bool = False
    """Whether the client takes compressed answers."""


@dataclass(frozen=True)
class Measured:
    """Answers and MB per second, CPU time of the server per answer in microseconds, latencies in ms.

    Answers to one client are counted by their mean latency: the end may cut off a long one.
    """

    per_second: float
    mb_per_second: float
    cpu_us: float
    p50_ms: float
    p95_ms: float
    failures: int


def find_wrk() -> str:
    """Its path. Ends the program where it is missing."""
    found = shutil.which("wrk")
    if found is None:
        raise SystemExit("This needs wrk: apt-get install wrk")
    return found


def measure(
    base: str, request: Request, *, clients: int, seconds: int, pid: int, parameters: Mapping[str, str]
) -> Measured:
    """Send the request from so many clients for so long to a server whose main process is `pid`."""
    script = _SCRIPT % {
        "first": json.dumps(_encoded(request.text.partition("%d")[0])),
        "last": json.dumps(_encoded(request.text.partition("%d")[2])),
        "varies": "true" if "%d" in request.text else "false",
        "numbers": request.numbers,
        "method": "POST" if request.update else "GET",
        "more": json.dumps("".join(f"&{name}={quote(value)}" for name, value in parameters.items())),
        "accept": json.dumps(request.accept),
        "encoding": json.dumps("gzip" if request.gzip else "identity"),
        "kind": "update" if request.update else "query",
        "run": random.randrange(1_000_000_000),
    }
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        command = [find_wrk(), "-t1", f"-c{clients}", f"-d{seconds}s", "--timeout", "120s", "-s", file.name]
        before = cpu_seconds(pid)
        output = subprocess.run([*command, base], check=True, capture_output=True, text=True).stdout
        used = cpu_seconds(pid) - before
    found = json.loads(output[output.index("{") :])
    took = found["us"] / 1e6
    return Measured(
        1e6 / found["mean"] if clients == 1 and found["requests"] else found["requests"] / took,
        found["bytes"] / took / 1e6,
        used / max(found["requests"], 1) * 1e6,
        found["p50"] / 1000,
        found["p95"] / 1000,
        found["failures"],
    )


def _encoded(text: str) -> str:
    return quote(text, safe="")


_SCRIPT = """
local sent = 0
math.randomseed(7)
function request()
  sent = sent + 1
  local text = %(first)s
  if %(varies)s then
    local number = "%(kind)s" == "update" and "%(run)d-" .. sent or math.random(0, %(numbers)d - 1)
    text = text .. number .. %(last)s
  end
  local headers = {["Accept"] = %(accept)s, ["Accept-Encoding"] = %(encoding)s}
  if "%(method)s" == "GET" then
    return wrk.format("GET", wrk.path .. "?%(kind)s=" .. text .. %(more)s, headers)
  end
  headers["Content-Type"] = "application/x-www-form-urlencoded"
  return wrk.format("POST", wrk.path, headers, "%(kind)s=" .. text .. %(more)s)
end
function done(summary, latency, requests)
  local e = summary.errors
  local counts = '{"requests": %%d, "bytes": %%d, "us": %%d, "failures": %%d, '
  local form = counts .. '"p50": %%d, "p95": %%d, "mean": %%d}'
  io.write(string.format(form,
    summary.requests, summary.bytes, summary.duration, e.connect + e.read + e.write + e.status + e.timeout,
    latency:percentile(50), latency:percentile(95), latency.mean))
end
"""
