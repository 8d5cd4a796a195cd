"""Every route that the server describes, with every method, odd parameters, odd bodies."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

from tests.support.fuzzing.wire import Exchange, once, request

METHODS = (
    "GET",
    "HEAD",
    "OPTIONS",
    "POST",
    "PUT",
    "DELETE",
    "PATCH",
    "TRACE",
    "CONNECT",
    "PROPFIND",
    "QUERY",
    "FOO",
)
_VALUES = (
    "",
    "%00",
    "a%00b",
    "%FF",
    "%ED%A0%80",
    "%C0%AF",
    "%",
    "%zz",
    "%u0041",
    "\x7f",
    "%F0%9F%8C%8D",
    "%E2%80%AE%D9%A1%D9%A2",
    "-1",
    "-0",
    "0",
    "1e999",
    "9" * 400,
    "-" + "9" * 400,
    "9223372036854775808",
    "18446744073709551616",
    "0.0000000000001",
    "NaN",
    "Infinity",
    "0x10",
    "1_000",
    "true",
    "null",
    "[]",
    "%7B%7D",
    "http://example.org/%20a%3Cb%3E",
    "http://[::1",
    "http://example.org/" + "a" * 20_000,
    "urn:x",
    "javascript:alert(1)",
    "%22%3E%3Cscript%3E",
    "..%2F..%2Fetc%2Fpasswd",
    "a" * 30_000,
    "%0d%0aX-Injected:%20yes",
    "SELECT%20*%20WHERE%20%7B%3Fs%20%3Fp%20%3Fo%7D%20LIMIT%2099999999999999999999999999",
    "ASK%20%7B%7D",
)
_JSON_BODIES = (
    b"",
    b"null",
    b"[]",
    b"{}",
    b"0",
    b'"\\ud800"',
    b"{" * 100_000,
    b"[" * 100_000 + b"]" * 100_000,
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b"9" * 5000,
    b"1e99999",
    b"NaN",
    b"\xff\xfe{\x00}\x00",
    b"\xef\xbb\xbf{}",
    b"{'a': 1}",
    b'{"a": 1, "a": 2}',
    b"\x00",
    b'{"\\u0000": "\\u0000"}',
)
_MEMBER_VALUES: tuple[Any, ...] = (
    None,
    "",
    "\x00",
    "\ud800",
    "\U0001f30d\u202e\u0661",
    "a" * 50_000,
    -1,
    0,
    10**400,
    1.5,
    True,
    [],
    [[[[]]]],
    {},
    {"a": None},
    ["/nonexistent/\x00"],
    "/nonexistent/" + "a" * 5000,
    "POINT(1e999 nan)",
    "POLYGON((0 0, 0 0, 0 0))",
    "POINT(" * 2000,
    "\N{SPACE}" * 1000,
)
_TYPES = (
    "",
    "application/json",
    "application/json; charset=utf-16",
    "application/json; charset=\xff",
    "APPLICATION/JSON",
    "text/turtle",
    "text/turtle; charset=latin-1",
    "application/sparql-query; charset=utf-7",
    "application/x-www-form-urlencoded",
    "multipart/form-data",
    "multipart/form-data; boundary=",
    "multipart/form-data; boundary=" + "b" * 5000,
    "application/octet-stream",
    ";;;=",
    "\xff/\xfe",
)


@dataclass(frozen=True)
class Route:
    """One operation as described: its parameters by place, and the media types of its body."""

    method: str
    path: str
    parameters: tuple[tuple[str, str], ...]
    body: Mapping[str, Any]
    members: tuple[str, ...]


def routes_of(description: Mapping[str, Any]) -> list[Route]:
    """The operations of an OpenAPI description."""
    found = []
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            content = operation.get("requestBody", {}).get("content", {})
            schema = content.get("application/json", {}).get("schema", {})
            while "$ref" in schema:
                schema = description["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
            parameters = tuple((one["in"], one["name"]) for one in operation.get("parameters", ()))
            members = tuple(schema.get("properties", ()))
            found.append(Route(method.upper(), path, parameters, content, members))
    return found


def _at(path: str, value: str = "x") -> str:
    while "{" in path:
        before, _, rest = path.partition("{")
        path = before + value + rest.partition("}")[2]
    return path


def methods(routes: list[Route]) -> Iterator[Exchange]:
    """Every method on every address, with an empty body."""
    for path in dict.fromkeys(route.path for route in routes):
        if path in ("/optimize", "/backup"):
            continue
        for method in METHODS:
            target = "127.0.0.1:80" if method == "CONNECT" else _at(path)
            # A feed of events would never end, and nothing is wrong with that.
            headers = {"Accept": "*/*;q=0.1, application/x-ndjson, text/turtle, application/json"}
            yield once(f"{method} {path}", request(method, target, headers), method)


def parameters(routes: list[Route]) -> Iterator[Exchange]:
    """Odd values in every parameter of every route, and in ones that there are not."""
    for route in routes:
        asked = [*route.parameters, ("query", "no-such-parameter")]
        for place, name in asked:
            for value in _VALUES:
                label = f"{route.method} {route.path} {name}={value[:30]!r}"
                headers: dict[str, str | bytes] = {}
                target = _at(route.path)
                if place == "path":
                    target = _at(route.path, value or "%20")
                elif place == "query":
                    target += f"?{quote(name)}={value}"
                else:
                    headers[name] = value.encode("utf-8", "surrogatepass")
                if route.path == "/changes":
                    headers["Accept"] = "application/x-ndjson"
                yield once(label, request(route.method, target, headers), route.method)
            if place == "query":
                target = f"{_at(route.path)}?{quote(name)}=1&{quote(name)}=2"
                yield once(f"{route.method} {route.path} {name} twice", request(route.method, target))


def bodies(routes: list[Route]) -> Iterator[Exchange]:
    """Odd bodies and odd content types for every route that takes a body."""
    for route in routes:
        if not route.body:
            continue
        target = _at(route.path) + ("?default" if route.path == "/store" else "")
        for kind in (*_TYPES, *route.body):
            for body in (b"", b"\x00\xff\xfe", "caf\xe9".encode("latin-1"), b"<a:a> <a:b> <a:c> ."):
                label = f"{route.method} {route.path} {kind[:40]!r} {body[:10]!r}"
                header = {"Content-Type": kind.encode("latin-1")} if kind else {}
                yield once(label, request(route.method, target, header, body), route.method)
        if "application/json" in route.body:
            for body in _json_bodies(route):
                header = {"Content-Type": b"application/json"}
                label = f"{route.method} {route.path} {body[:60]!r}"
                yield once(label, request(route.method, target, header, body), route.method)
        yield from _encoded(route, target)


def _json_bodies(route: Route) -> Iterator[bytes]:
    yield from _JSON_BODIES
    for member in route.members:
        for value in _MEMBER_VALUES:
            usual = {other: "POINT(1 1)" for other in route.members if other in ("a", "b")}
            yield json.dumps({**usual, member: value}).encode()


@cache
def _bomb() -> bytes:
    return gzip.compress(b" " * 50_000_000, 6)


def _encoded(route: Route, target: str) -> Iterator[Exchange]:
    """Codings that are broken, cut off, unknown, or that grow without end."""
    kind = next(iter(route.body))
    good = gzip.compress(b"<a:a> <a:b> <a:c> .")
    coded = (
        ("gzip", b"not gzip"),
        ("gzip", good[:-6]),
        ("gzip", good[:-8] + b"\x00" * 8),
        ("gzip", good + b"trailing"),
        ("gzip", good * 3),
        ("gzip", b""),
        ("gzip", gzip.compress(good)),
        ("gzip, gzip", gzip.compress(good)),
        ("GZIP", good),
        ("deflate", good),
        ("br", b"\x00"),
        ("", good),
        ("\xff", good),
        ("gzip", _bomb()),
    )
    for coding, body in coded:
        headers = {"Content-Type": kind.encode(), "Content-Encoding": coding.encode("latin-1")}
        label = f"{route.method} {route.path} coding {coding!r} of {len(body)} bytes"
        yield once(label, request(route.method, target, headers, body), route.method)


_PART = b'Content-Disposition: form-data; name="f"; filename="f.ttl"\r\nContent-Type: text/turtle\r\n\r\n'
_TURTLE = b"<http://e/a> <http://e/b> <http://e/c> ."


def forms() -> Iterator[Exchange]:
    """Multipart bodies that are broken in all the ways that multipart can be."""
    broken = (
        b"",
        b"--b",
        b"--b--",
        b"--b\r\n",
        b"--b\r\n\r\n",
        b"--b\r\n" + _PART,
        b"--b\r\n" + _PART + _TURTLE,
        b"--b\r\n" + _PART + _TURTLE + b"\r\n--b",
        b"--b\r\n" + _PART + _TURTLE + b"\r\n--c--\r\n",
        b"--b\n" + _PART.replace(b"\r\n", b"\n") + _TURTLE + b"\n--b--\n",
        b"--b\r\n" + b"X: y\r\n" * 5000 + b"\r\n\r\n--b--\r\n",
        b"--b\r\n" + b"X" * 100_000,
        b"--b\r\n\xff\xfe: \x00\r\n\r\n" + _TURTLE + b"\r\n--b--\r\n",
        b"--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\n--b--\r\n--b--\r\n",
        b"--b\r\nContent-Disposition: form-data; name*=utf-8''%ff\r\n\r\nx\r\n--b--\r\n",
        b"--b\r\nContent-Type: text/turtle; charset=utf-16\r\n\r\nx\r\n--b--\r\n",
        (b"--b\r\n" + _PART + _TURTLE + b"\r\n") * 300 + b"--b--\r\n",
        b"preamble without end " * 5000,
        b"--b \t\r\n" + _PART + _TURTLE + b"\r\n--b-- \r\nepilogue",
    )
    kinds = (
        "multipart/form-data; boundary=b",
        "multipart/form-data; boundary=\xff",
        'multipart/form-data; boundary="',
    )
    for kind in kinds:
        for body in broken:
            headers = {"Content-Type": kind.encode("latin-1")}
            data = request("POST", "/store?graph=http://example.org/form", headers, body)
            yield once(f"{kind[-12:]!r} {body[:40]!r}", data, "POST")
