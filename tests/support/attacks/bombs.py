"""Small requests that would become large: compressed, nested, or with entities that grow."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from tests.support.attacks.attack import Result, Target
from tests.support.fuzzing.documents import rdf, sparql

GROUP = "bombs"
_SLOW_S = 20.0
_GROWN_BYTES = 400 * 2**20
_DEEP = 3_000
_Sent = tuple[str, str, str, dict[str, str | bytes], bytes]


def attacks(open_: Target) -> Iterator[Result]:
    """None fails the server, keeps it busy, or makes it grow."""
    before = _memory(open_.server.process.pid)
    for name, method, path, headers, body in (*_compressed(), *_nested(), *_large(), *_laughs()):
        answer = open_.send(method, path, headers, body)
        fine = answer.status is not None and (answer.status < 500 or answer.status in (501, 503, 504))
        held = fine and answer.seconds < _SLOW_S and not answer.hung
        yield Result(GROUP, name, held, f"status {answer.status}, {answer.seconds:.1f} s")
    grown = _memory(open_.server.process.pid) - before
    yield Result(GROUP, "the server's memory", grown < _GROWN_BYTES, f"{grown / 2**20:+.0f} MB")
    yield open_.alive(GROUP)


def _compressed() -> Iterator[_Sent]:
    zeros = b" " * 200_000_000
    for coding, body in (("gzip", gzip.compress(zeros, 6)), ("deflate", zlib.compress(zeros, 6))):
        for path, kind in (
            ("/candidates", "application/json"),
            ("/jobs", "application/x-ndjson"),
            ("/extractions", "application/json"),
            ("/update", "application/sparql-update"),
        ):
            headers: dict[str, str | bytes] = {"Content-Type": kind, "Content-Encoding": coding}
            yield f"{coding} at {path}", "POST", path, headers, body


def _nested() -> Iterator[_Sent]:
    kind: dict[str, str | bytes] = {"Content-Type": "application/json"}
    for path in ("/candidates", "/extractions", "/ask", "/relations", "/loads"):
        yield f"nested JSON at {path}", "POST", path, kind, b'{"a":' * _DEEP + b"1" + b"}" * _DEEP
    for what, media_type, body in rdf(_DEEP):
        yield (
            f"{what} in {media_type}",
            "PUT",
            "/store?graph=http%3A%2F%2Fe%2Fdeep",
            {"Content-Type": media_type},
            body,
        )
    for what, text in sparql(_DEEP):
        body = text.encode("utf-8", "surrogatepass")
        yield (
            f"{what} in a query",
            "POST",
            "/sparql?timeout=5",
            {"Content-Type": "application/sparql-query"},
            body,
        )


def _large() -> Iterator[_Sent]:
    yield "a large header", "GET", "/readyz", {"X": "y" * 300_000}, b""
    yield "many headers", "GET", "/readyz", {f"X-{n}": "y" for n in range(20_000)}, b""
    yield "a long target", "GET", "/sparql?query=" + "a" * 300_000, {}, b""
    yield "a long number", "POST", "/relations", {"Content-Type": "application/json"}, b"9" * 500_000


def _laughs() -> Iterator[_Sent]:
    entities = '<!DOCTYPE a [<!ENTITY e0 "ha">' + "".join(
        f"<!ENTITY e{n + 1} '&e{n};&e{n};'>" for n in range(40)
    )
    for language, element in (
        ("gml", "<gml:Point xmlns:gml='http://www.opengis.net/gml'><gml:pos>&e40;</gml:pos></gml:Point>"),
        ("kml", "<Point xmlns='http://www.opengis.net/kml/2.2'><coordinates>&e40;</coordinates></Point>"),
    ):
        literal = json.dumps(entities + "]>" + element)
        typed = f"{literal}^^<http://www.opengis.net/ont/geosparql#{language}Literal>"
        text = f"ASK {{ FILTER(<http://www.opengis.net/def/function/geosparql/isEmpty>({typed})) }}"
        query: dict[str, str | bytes] = {"Content-Type": "application/sparql-query"}
        yield f"entities in {language} of a query", "POST", "/sparql?timeout=5", query, text.encode()
        update: dict[str, str | bytes] = {"Content-Type": "application/sparql-update"}
        property_ = f"<http://www.opengis.net/ont/geosparql#as{language.upper()}>"
        insert = f"INSERT DATA {{ <http://e/g> {property_} {typed} }}"
        yield f"entities in {language} of an update", "POST", "/update", update, insert.encode()
        given = json.dumps({"a": entities + "]>" + element, "b": "POINT(1 1)"}).encode()
        yield (
            f"entities in {language} at /relations",
            "POST",
            "/relations",
            {"Content-Type": "application/json"},
            given,
        )


def _memory(pid: int) -> int:
    """Bytes of main memory that the process holds."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096
