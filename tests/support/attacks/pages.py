"""Web pages of other origins, names that were pointed here, and requests of others through a proxy."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from tests.support.attacks.attack import Result, Target

GROUP = "pages"
_LOOKUP = "/sparql?query=SELECT%20%3Fo%20%7B%20%3Chttp%3A%2F%2Fexample.org%2F1%3E%20%3Fp%20%3Fo%20%7D"
_INSERT = b"INSERT DATA { <http://example.org/x> <http://example.org/p> 1 }"
_READS = (
    "/sparql?query=SELECT%20%28COUNT%28%2A%29%20AS%20%3Fn%29%20%7B%3Fs%20%3Fp%20%3Fo%7D",
    _LOOKUP,
    "/query?query=ASK%7B%7D",
    "/dump",
    "/store?default",
    "/documents",
    "/review",
    "/rules",
    "/metrics",
    "/openapi.json",
    "/readyz",
    "/.well-known/void",
)
_WRITES = (
    ("POST", "/update", "application/sparql-update", _INSERT),
    ("POST", "/sparql", "application/sparql-update", _INSERT),
    ("POST", "/update", "application/x-www-form-urlencoded", b"update=CLEAR+GRAPH+%3Curn%3Ax%3E"),
    ("POST", "/candidates", "application/json", b'{"statements": []}'),
    ("PUT", "/store?graph=http://example.org/g", "text/turtle", b""),
    ("DELETE", "/documents/x", "text/plain", b""),
    ("POST", "/optimize", "text/plain", b""),
    ("PUT", "/shapes/a.ttl", "text/turtle", b""),
)
_PROXIED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via")


def attacks(open_: Target) -> Iterator[Result]:
    """Reads and writes by origin and host; the request target and not the header counts."""
    here = f"127.0.0.1:{open_.port}"
    hosts = (
        "evil.example",
        f"evil.example:{open_.port}",
        "127.0.0.1.evil.example",
        "evil@127.0.0.1",
        "0",
        "",
    )
    for host in hosts:
        statuses = {open_.send("GET", path, {"Host": host}).status for path in _READS}
        yield Result(GROUP, f"read under the name {host!r}", statuses == {421}, f"statuses {statuses}")
        statuses = {
            open_.send(method, path, {"Host": host, "Content-Type": kind}, body).status
            for method, path, kind, body in _WRITES
        }
        yield Result(GROUP, f"write under the name {host!r}", statuses == {421}, f"statuses {statuses}")
    for host in (here, f"localhost:{open_.port}", f"[::1]:{open_.port}"):
        statuses = {open_.send("GET", path, {"Host": host}).status for path in _READS}
        yield Result(GROUP, f"the own name {host} is answered", statuses == {200}, f"statuses {statuses}")
    for origin in (
        "https://evil.example",
        "null",
        "http://127.0.0.1:1",
        f"https://{here}",
        f"http://{here}.x",
    ):
        headers = {"Host": here, "Origin": origin}
        statuses = {
            open_.send(method, path, {**headers, "Content-Type": kind}, body).status
            for method, path, kind, body in _WRITES
        }
        yield Result(GROUP, f"write from the origin {origin}", statuses == {403}, f"statuses {statuses}")
        readable = [path for path in _READS if _may_read(open_, path, headers)]
        yield Result(GROUP, f"read from the origin {origin}", not readable, ", ".join(readable))
    for header in _PROXIED:
        sent = {"Host": here, header: "192.0.2.1"}
        statuses = {
            open_.send(method, path, {**sent, "Content-Type": kind}, body).status
            for method, path, kind, body in _WRITES
        }
        yield Result(GROUP, f"write through a proxy that says {header}", statuses == {401}, f"{statuses}")
    yield from _targets(open_, here)
    yield open_.alive(GROUP)


def _targets(open_: Target, here: str) -> Iterator[Result]:
    for path in (_LOOKUP, "/dump", "/readyz"):
        foreign = open_.send("GET", f"http://evil.example{path}", {"Host": here}).status
        own = open_.send("GET", f"http://{here}{path}", {"Host": "evil.example"}).status
        held = (foreign, own) == (421, 200)
        yield Result(GROUP, f"the host in the target counts: {path[:12]}", held, f"statuses {foreign}, {own}")
    user = open_.send("GET", f"http://evil.example@{here}/dump", {"Host": here}).status
    yield Result(GROUP, "a user before the host in the target", user == 400, f"status {user}")


def _may_read(open_: Target, path: str, headers: dict[str, str]) -> bool:
    """Whether an answer, or the one to a preflight, has a header that lets a page read."""
    asked = {**headers, "Access-Control-Request-Method": "POST"}
    answers = (
        httpx.get(open_.url + path, headers=headers, timeout=60, trust_env=False),
        httpx.options(open_.url + path, headers=asked, timeout=60, trust_env=False),
    )
    return any("access-control-allow-origin" in answer.headers for answer in answers)
