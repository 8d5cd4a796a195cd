"""Every route of the description, with every key: what a key may not do, it cannot.

`scope_of` is written by hand: what a route asks for is compared with what it should ask for. A route that it
does not know is a failure, so a new route is attacked from the day it comes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import httpx

from server.http.access.keys import Scope
from tests.support.attacks.attack import ONE_SCOPE, Result, Target
from tests.support.fuzzing.described import routes_of

GROUP = "keys"
_OPEN: Final = frozenset({"/", "/healthz", "/readyz", "/access"})
_EXTRACT: Final = ("/extractions", "/candidates", "/jobs", "/documents", "/models/probe", "/sources")
_REVIEW: Final = ("/review", "/entities", "/proposals", "/gaps")
_ADMIN: Final = ("/check", "/impact", "/ontologies", "/rules", "/shapes", "/backup", "/loads", "/optimize")
_WRITE: Final = ("/update", "/store")
_ASKING: Final = ("/sparql", "/query", "/ask", "/relations")
_READ: Final = (
    *_ASKING,
    *("/store", "/dump", "/documents", "/entities", "/extractions", "/jobs", "/models", "/ontology"),
    *(
        "/ontologies",
        "/shapes",
        "/rules",
        "/review",
        "/proposals",
        "/metrics",
        "/changes",
        "/features",
        "/collections",
        "/conformance",
        "/gaps",
        "/suggest",
        "/verdicts",
        "/queries/slow",
        "/.well-known/void",
    ),
)
_BY_SCOPE: Final = (
    (Scope.EXTRACT, _EXTRACT),
    (Scope.REVIEW, _REVIEW),
    (Scope.ADMIN, _ADMIN),
    (Scope.WRITE, _WRITE),
    (Scope.READ, _ASKING),
)
_REFUSED: Final = (401, 403)
# Feeds of events would never end.
_ACCEPT: Final = "*/*;q=0.1, application/x-ndjson, text/turtle, application/json"


def scope_of(method: str, path: str) -> Scope | None:
    """What an operation should need; None for one that nobody has thought of."""
    if method == "GET":
        return Scope.READ if any(_is_under(path, one) for one in _READ) else None
    return next((scope for scope, paths in _BY_SCOPE if any(_is_under(path, one) for one in paths)), None)


def attacks(keyed: Target) -> Iterator[Result]:
    """Each operation with no key, a wrong one, a proxied request, and a key of each other scope."""
    description = httpx.get(keyed.url + "/openapi.json", timeout=60, trust_env=False).json()
    for route in routes_of(description):
        if route.path in _OPEN:
            continue
        needed = scope_of(route.method, route.path)
        name = f"{route.method} {route.path}"
        if needed is None:
            yield Result(GROUP, name, held=False, detail="a new route: say in scope_of which key it needs")
            continue
        yield _with_every_key(keyed, route.method, route.path, needed)
    yield from _by_form(keyed)
    yield keyed.alive(GROUP)


def _with_every_key(keyed: Target, method: str, path: str, needed: Scope) -> Result:
    wrong = []
    target = path.replace("{", "").replace("}", "")
    body = b"{}" if method in ("POST", "PUT") else b""
    kind = {"Content-Type": "application/json", "Accept": _ACCEPT}
    for label, headers in (
        ("no key", {}),
        ("a wrong key", {"Authorization": "Bearer ukg_000000000000_" + "A" * 43}),
        ("nonsense", {"X-API-Key": "ukg_"}),
        ("basic", {"Authorization": "Basic dXNlcjpwYXNz"}),
    ):
        status = keyed.send(method, target, {**kind, **headers}, body).status
        if status != 401:
            wrong.append(f"{label}: {status}")
    for scope in ONE_SCOPE:
        status = keyed.send(method, target, {**kind, **keyed.bearer(scope)}, body).status
        # A form or a body of no known type may hold an update: the type is refused before the scope.
        may = scope in (needed, Scope.ADMIN)
        if may == (status in _REFUSED) or status is None or status >= 500:
            wrong.append(f"{scope}: {status}")
    return Result(GROUP, f"{method} {path} needs {needed}", not wrong, ", ".join(wrong))


def _by_form(keyed: Target) -> Iterator[Result]:
    """The endpoint takes queries and updates: the text decides, and not the form."""
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    update = {"Content-Type": "application/sparql-update"}
    insert = b"INSERT DATA { <http://example.org/a> <http://example.org/b> 1 }"
    cases = (
        ("an update as a form", form, b"update=" + insert.replace(b" ", b"+"), Scope.WRITE),
        ("an update as the body", update, insert, Scope.WRITE),
        ("a query as a form", form, b"query=ASK%7B%7D", Scope.READ),
    )
    for name, headers, body, needed in cases:
        wrong = []
        for scope in ONE_SCOPE:
            status = keyed.send("POST", "/sparql", {**headers, **keyed.bearer(scope)}, body).status
            expected = 200 if scope in (needed, Scope.ADMIN) else 403
            if status != expected:
                wrong.append(f"{scope}: {status}")
        yield Result(GROUP, f"{name} needs {needed}", not wrong, ", ".join(wrong))
    hidden = keyed.send("POST", "/sparql", {**form, **keyed.bearer(Scope.READ)}, b"query=CLEAR+ALL").status
    yield Result(GROUP, "an update sent as a query", hidden == 400, f"status {hidden}")


def _is_under(path: str, start: str) -> bool:
    return path == start or path.startswith(start + "/")
