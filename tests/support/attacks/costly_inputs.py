"""The inputs of `costly`, by route."""
# ruff: noqa: E501, E731

from __future__ import annotations

import gzip
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any, Final

from tests.support.attacks.costly import CLIENT_S, EXTRACTION_S, PLAIN_S, QUERY_S, READING_S, Costly
from tests.support.workshop import CITY

_JSON = "application/json"
_QUERY = "application/sparql-query"
_UPDATE = "application/sparql-update"
_TURTLE = "text/turtle"
_NDJSON = "application/x-ndjson"
_XML = "application/rdf+xml"
_GEOF = "http://www.opengis.net/def/function/geosparql/"
_GEO = "http://www.opengis.net/ont/geosparql#"
_METRE = "<http://www.opengis.net/def/uom/OGC/1.0/metre>"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_PREFIXES = (
    "@prefix : <http://example.org/city#> . @prefix s: <http://example.org/shapes#> .\n"
    "@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .\n"
)
_CITY = "PREFIX : <http://example.org/city#> "
_GRAPH = "/store?graph=urn:x:hostile"


def inputs() -> Iterator[Costly]:
    """All of them, each route's together."""
    yield from _questions()
    yield from _texts()
    yield from _candidates()
    yield from _jobs()
    yield from _relations()
    yield from _features()
    yield from _queries()
    yield from _updates()
    yield from _uploads()
    yield from _shapes()
    yield from _ontologies()
    yield from _connections()
    yield from _unread()


TEXTS: Final = {
    "a word 39 times": "park " * 39,
    "16,000 characters without a stop": "the park near the road of the park beside " * 380,
    "nested brackets": "(" * 3000 + "park" + ")" * 3000,
    "NULs": "Where\x00 is\x00 the park\x00?" * 50,
    "right to left": "\u202eWhere is \u05d4\u05e4\u05d0\u05e8\u05e7 the \u0627\u0644\u062d\u062f\u064a\u0642\u0629 park?\u202c"
    * 20,
    "emoji": "\U0001f3de\ufe0f\U0001f468\u200d\U0001f469\u200d\U0001f467" * 400,
    "huge numbers": "parks with more than " + "9" * 4000 + " roads within 1e308 km",
    "all negations": "not " * 300 + "a park",
    "one word of 16,000 letters": "p" * 16_000,
    "combining marks": "e" + "\u0301" * 15_000,
    "numbers and commas": "1,2,3," * 2500,
    "half a surrogate pair": "park \ud83d",
}
"""Texts and questions; the last is no text."""


def _questions() -> Iterator[Costly]:
    for name, text in TEXTS.items():
        yield Costly(name, "POST", "/ask", _JSON, partial(json.dumps, {"question": text}), QUERY_S * 2)
    turns = {"question": "And the roads?", "history": ["Which parks are near a road? " * 200] * 20}
    yield Costly("a long history", "POST", "/ask", _JSON, partial(json.dumps, turns), QUERY_S * 2)
    yield Costly("wrong types", "POST", "/ask", _JSON, lambda: '{"question": [1], "history": {"a": 1}}')
    yield Costly("one member twice", "POST", "/ask", _JSON, lambda: '{"question": "a", "question": {}}')
    yield Costly("a deep plan", "POST", "/ask/run", _JSON, lambda: _nested({"op": "not"}, "of", 900))


def _nested(outer: dict[str, Any], member: str, deep: int) -> str:
    value: dict[str, Any] = {**outer}
    for _ in range(deep):
        value = {**outer, member: value}
    return json.dumps({"plan": value})


def _texts() -> Iterator[Costly]:
    for name, text in TEXTS.items():
        sent = partial(json.dumps, {"text": text, "commit": False})
        yield Costly(name, "POST", "/extractions", _JSON, sent, EXTRACTION_S, slow=name != "nested brackets")
    longest = partial(json.dumps, {"text": "The park is near the road. " * 7400})
    yield Costly("200,000 characters", "POST", "/extractions", _JSON, longest, EXTRACTION_S, slow=True)
    yield Costly("wrong types", "POST", "/extractions", _JSON, lambda: '{"text": {"a": [1, 2]}}')
    yield Costly("deep JSON", "POST", "/extractions", _JSON, lambda: '{"text":' * 100_000)


def _statement(n: int, predicate: str, value: object) -> dict[str, object]:
    city = "http://example.org/city#"
    return {"subject": f"{city}x{n}", "predicate": predicate, "object": value}


def _candidates() -> Iterator[Costly]:
    city = "http://example.org/city#"
    literal = {"type": "literal", "value": "a"}

    def many(count: int) -> str:
        # As short as a candidate can be: the body has a limit, too.
        return json.dumps([_statement(n, f"{city}name", literal) for n in range(count)])

    def chain(count: int) -> str:
        rows = [
            _statement(n, f"{city}near", {"type": "uri", "value": f"{city}x{n + 1}"}) for n in range(count)
        ]
        return json.dumps(rows)

    same = partial(json.dumps, [_statement(1, f"{city}name", literal)] * 9_000)
    yield Costly("100,000", "POST", "/candidates", _JSON, partial(many, 100_000))
    yield Costly("9,000", "POST", "/candidates", _JSON, partial(many, 9_000), QUERY_S * 3, slow=True)
    yield Costly("1,000 that are refused", "POST", "/candidates", _JSON, partial(chain, 1_000), QUERY_S * 2)
    yield Costly("9,000 times the same", "POST", "/candidates", _JSON, same, QUERY_S * 3, slow=True)
    yield Costly("one member twice", "POST", "/candidates", _JSON, lambda: '[{"subject": 1, "subject": []}]')
    yield Costly("deep JSON", "POST", "/candidates", _JSON, lambda: "[" * 700_000)
    yield Costly("a huge number", "POST", "/candidates", _JSON, lambda: '[{"confidence": 1e99999}]')
    infinite = [{**_statement(1, f"{city}name", literal), "confidence": float("nan")}]
    yield Costly("NaN", "POST", "/candidates", _JSON, partial(json.dumps, infinite))
    rows = [_statement(1, f"{city}name", {"type": "literal", "value": "\x00\u202e" * 1000})]
    yield Costly("NULs and overrides", "POST", "/candidates", _JSON, partial(json.dumps, rows))


def _jobs() -> Iterator[Costly]:
    yield Costly(
        "100,000 documents",
        "POST",
        "/jobs?paused=true",
        _NDJSON,
        lambda: '{"text": "The park is near."}\n' * 100_000,
        20.0,
        slow=True,
    )
    yield Costly(
        "a line without end", "POST", "/jobs?paused=true", _NDJSON, lambda: '{"text": "' + "a" * 5_000_000
    )
    yield Costly("nested zips", "POST", "/jobs?paused=true", "application/zip", _nested_zips)
    yield Costly(
        "a zip of spaces",
        "POST",
        "/jobs?paused=true",
        "application/zip",
        partial(_zip, "a.txt", b" " * 100_000_000),
        10.0,
    )
    yield Costly(
        "a zip that leaves its folder",
        "POST",
        "/jobs?paused=true",
        "application/zip",
        partial(_zip, "../../a.txt", b"a"),
    )
    yield Costly(
        "a cut zip",
        "POST",
        "/jobs?paused=true",
        "application/zip",
        lambda: _zip("a.txt", b"park" * 9999)[:-30],
    )
    yield Costly(
        "cut gzip",
        "POST",
        "/jobs?paused=true",
        _NDJSON,
        lambda: gzip.compress(b'{"text": "a"}\n' * 99)[:-9],
        headers={"Content-Encoding": "gzip"},
    )
    yield Costly("deep JSON", "POST", "/jobs?paused=true", _NDJSON, lambda: '{"text":' * 100_000 + "\n")


def _zip(name: str, content: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)
    return file.getvalue()


def _nested_zips() -> bytes:
    content = b" " * 10_000_000
    for n in range(6):
        content = _zip(f"{n}.zip" if n else "a.txt", content)
    return content


def _ring(points: int, *, crossing: bool = False, shift: float = 0.0) -> str:
    """A circle as WKT; a crossing one goes back and forth, so that nearly all its edges meet."""
    step = (points // 2 - 1) if crossing else 1
    angles = [2 * math.pi * ((n * step) % points) / points for n in range(points)]
    corners = [f"{shift + math.cos(a):.6f} {math.sin(a):.6f}" for a in angles]
    return ",".join([*corners, corners[0]])


def _comb(teeth: int) -> str:
    """Two combs across each other meet at every pair of teeth."""
    up = [f"{n / teeth:.5f} {n % 2}" for n in range(teeth)]
    return ",".join(up)


def _turned(teeth: int) -> str:
    return ",".join(f"{n % 2} {n / teeth:.5f}" for n in range(teeth))


def _relations() -> Iterator[Costly]:
    def pair(a: object, b: object) -> str:
        return json.dumps({"a": a, "b": b})

    point = "POINT(0 0)"
    shapes: dict[str, tuple[object, object]] = {
        "POINT EMPTY": ("POINT EMPTY", "POLYGON EMPTY"),
        "NaN": ("POINT(NaN NaN)", point),
        "numbers without a value": ("POINT(1e400 -1e400)", point),
        "deep collections": ("GEOMETRYCOLLECTION(" * 5000 + point + ")" * 5000, point),
        "deep GeoJSON": (_collections(400), point),
        "wrong types": ({"type": "Polygon", "coordinates": [[["a", {}], None]]}, [1]),
    }
    for name, (a, b) in shapes.items():
        yield Costly(name, "POST", "/relations", _JSON, partial(pair, a, b), QUERY_S)
    yield Costly(
        "a polygon of 70,000 vertices",
        "POST",
        "/relations",
        _JSON,
        lambda: pair(f"POLYGON(({_ring(35_000)}))", f"POLYGON(({_ring(35_000, shift=0.001)}))"),
        QUERY_S,
    )
    yield Costly(
        "a polygon of 1,000,000 vertices",
        "POST",
        "/relations",
        _JSON,
        lambda: pair(f"POLYGON(({_ring(1_000_000)}))", point),
        QUERY_S,
        slow=True,
    )
    yield Costly(
        "lines that cross ten million times",
        "POST",
        "/relations",
        _JSON,
        lambda: pair(f"LINESTRING({_comb(3200)})", f"LINESTRING({_turned(3200)})"),
        QUERY_S,
    )
    yield Costly(
        "a star that crosses itself",
        "POST",
        "/relations",
        _JSON,
        lambda: pair(f"POLYGON(({_ring(6001, crossing=True)}))", point),
        QUERY_S,
    )
    yield Costly(
        "two unions of 3,000",
        "POST",
        "/relations",
        _JSON,
        lambda: pair(_squares(3_000, 0.0), _squares(3_000, 0.3)),
        QUERY_S,
    )


def _collections(deep: int) -> dict[str, Any]:
    value: dict[str, Any] = {"type": "Point", "coordinates": [0, 0]}
    for _ in range(deep):
        value = {"type": "GeometryCollection", "geometries": [value]}
    return value


def _squares(count: int, shift: float) -> str:
    corners = ((0, 0), (0.9, 0), (0.9, 0.9), (0, 0.9), (0, 0))
    squares = (
        ",".join(f"{x + (n % 60) / 1 + shift:.2f} {y + n // 60 + shift:.2f}" for x, y in corners)
        for n in range(count)
    )
    return "MULTIPOLYGON(" + ",".join(f"(({square}))" for square in squares) + ")"


def _features() -> Iterator[Costly]:
    for name, query in {
        "no numbers": "bbox=a,b,c,d",
        "NaN": "bbox=NaN,NaN,NaN,NaN",
        "infinity": "tolerance=inf",
        "a box from the outside": "bbox=-1e308,-1e308,1e308,1e308",
        "600 IRIs": "&".join(f"iri=urn:x:{n}" for n in range(600)),
        "a NUL": "iri=urn:x:%00",
        "a huge limit": "limit=" + "9" * 5000,
    }.items():
        yield Costly(name, "GET", f"/features?{query}", "", lambda: b"")


def _queries() -> Iterator[Costly]:
    def literal(wkt: str, kind: str = "wkt") -> str:
        return json.dumps(wkt) + f"^^<{_GEO}{kind}Literal>"

    def call(name: str, *arguments: str) -> str:
        return f"SELECT (<{_GEOF}{name}>({', '.join(arguments)}) AS ?x) {{}}"

    point = literal("POINT(0 0)")
    cross = " ".join(f"?a{n} ?p{n} ?b{n} ." for n in range(8))
    star: Callable[[], str] = lambda: f"POLYGON(({_ring(2001, crossing=True)}))"
    texts: dict[str, Any] = {
        "a Cartesian product": f"SELECT (COUNT(*) AS ?n) {{ {cross} }}",
        "a sorted Cartesian product": f"SELECT * {{ {cross} }} ORDER BY ?a7",
        "paths over everything": "SELECT (COUNT(*) AS ?n) { ?a (!<urn:x:p>|^!<urn:x:p>)* ?b . ?c (!<urn:x:p>)+ ?d }",
        "a regular expression that backtracks": f'ASK {{ FILTER(REGEX("{"a" * 40}!", "^(a+)+$")) }}',
        "REPLACE that grows": 'SELECT (STRLEN(REPLACE(REPLACE(REPLACE("'
        + "a" * 300
        + '", "a", "'
        + "b" * 300
        + '"), "b", "'
        + "c" * 300
        + '"), "c", "'
        + "d" * 99
        + '")) AS ?n) {}',
        "a buffer of 1e9 m": call("buffer", point, "1e9", _METRE),
        "a buffer of NaN": call("buffer", point, '"NaN"^^<http://www.w3.org/2001/XMLSchema#double>', _METRE),
        "a buffer of a comb": lambda: call("buffer", literal(f"LINESTRING({_comb(3000)})"), "100000", _METRE),
        "the intersection of two combs": lambda: call(
            "intersection", literal(f"LINESTRING({_comb(3200)})"), literal(f"LINESTRING({_turned(3200)})")
        ),
        "the union of thousands": lambda: call(
            "union", literal(_squares(1500, 0)), literal(_squares(1500, 0.3))
        ),
        "the area of a star": lambda: call("metricArea", literal(star())),
        "the boundary of NaN": call("boundary", literal("POLYGON((NaN 0, 1 1, 1 0, NaN 0))")),
        "entities in GML": call("isEmpty", literal(_entities("gml"), "gml")),
        "entities in KML": call("isEmpty", literal(_entities("kml"), "kml")),
        "POINT EMPTY": call("distance", literal("POINT EMPTY"), point, _METRE),
        "distances of all pairs": f"SELECT (SUM(<{_GEOF}distance>({literal(_squares(50, 0))}, {point}, {_METRE})) AS ?d) {{ ?a ?b ?c . ?d ?e ?f }}",
        "a function that is no function": call("buffer" * 1000, point),
        "brackets": "ASK " + "{" * 20_000 + "}" * 20_000,
        "IN with thousands": "ASK { ?a ?b ?c FILTER(?c IN (" + ",".join(map(str, range(30_000))) + ")) }",
    }
    for name, text in texts.items():
        yield Costly(name, "POST", "/sparql", _QUERY, text if callable(text) else partial(str, text), QUERY_S)
    million = lambda: call("isSimple", literal(f"POLYGON(({_ring(1_000_000)}))"))
    yield Costly("a polygon of 1,000,000 vertices", "POST", "/sparql", _QUERY, million, QUERY_S, slow=True)


def _entities(language: str) -> str:
    entities = '<!DOCTYPE a [<!ENTITY e0 "1 ">' + "".join(
        f"<!ENTITY e{n + 1} '&e{n};&e{n};'>" for n in range(40)
    )
    point = {
        "gml": "<gml:Point xmlns:gml='http://www.opengis.net/gml'><gml:pos>&e40;</gml:pos></gml:Point>",
        "kml": "<Point xmlns='http://www.opengis.net/kml/2.2'><coordinates>&e40;</coordinates></Point>",
    }
    return f"{entities}]>{point[language]}"


def _updates() -> Iterator[Costly]:
    def insert(wkt: str, count: int = 1) -> str:
        literal = f"{json.dumps(wkt)}^^<{_GEO}wktLiteral>"
        places = " ".join(
            f":g{n} a :Road ; <{_GEO}hasDefaultGeometry> [ <{_GEO}asWKT> {literal} ] ." for n in range(count)
        )
        return f"{_CITY} INSERT DATA {{ {places} }}"

    deleting = f"{_CITY} DELETE {{ ?g ?p ?o . ?o ?q ?w }} WHERE {{ ?g <{_GEO}hasDefaultGeometry> ?o ; ?p ?o . ?o ?q ?w }}"
    everything = "INSERT { ?a ?p ?f } WHERE { ?a ?p ?b . ?c ?q ?d . ?e ?r ?f . ?g ?s ?h }"
    yield Costly("a Cartesian product", "POST", "/update", _UPDATE, lambda: everything, QUERY_S)
    for name, wkt in {
        "POINT EMPTY": lambda: insert("POINT EMPTY"),
        "NaN": lambda: insert("POINT(NaN 1)"),
        "a star that crosses itself": lambda: insert(f"POLYGON(({_ring(3001, crossing=True)}))"),
        "two combs": lambda: (
            insert(f"LINESTRING({_comb(3200)})")
            + " ; "
            + insert(f"LINESTRING({_turned(3200)})").removeprefix(_CITY).replace(":g0", ":h0")
        ),
        "60 geometries in one place": lambda: insert("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", 60),
        "300 geometries in one place": lambda: insert("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", 300),
    }.items():
        yield Costly(name, "POST", "/update", _UPDATE, wkt, QUERY_S, slow=name.startswith("300"))
        yield Costly(f"{name}, taken out", "POST", "/update", _UPDATE, lambda: deleting, QUERY_S * 2)
    yield Costly(
        "a polygon of 250,000 vertices",
        "POST",
        "/update",
        _UPDATE,
        lambda: insert(f"POLYGON(({_ring(250_000)}))"),
        QUERY_S * 2,
        slow=True,
    )
    yield Costly("that, taken out", "POST", "/update", _UPDATE, lambda: deleting, QUERY_S * 2, slow=True)


def _uploads() -> Iterator[Costly]:
    packed: dict[str, str | bytes] = {"Content-Encoding": "gzip"}
    yield Costly(
        "a gzip bomb",
        "PUT",
        _GRAPH,
        _TURTLE,
        lambda: gzip.compress(b" " * 200_000_000),
        QUERY_S,
        headers=packed,
    )
    yield Costly(
        "gzip in gzip",
        "PUT",
        _GRAPH,
        _TURTLE,
        lambda: gzip.compress(gzip.compress(b" " * 100_000_000)),
        headers=packed,
    )
    yield Costly(
        "cut gzip",
        "POST",
        _GRAPH,
        _TURTLE,
        lambda: gzip.compress(b"<urn:a> <urn:b> 'c' .\n" * 999)[:-9],
        headers=packed,
    )
    yield Costly("a deep list", "PUT", _GRAPH, _TURTLE, lambda: "<urn:a> <urn:b> " + "(" * 100_000)
    yield Costly(
        "entities",
        "PUT",
        _GRAPH,
        _XML,
        lambda: _entities("gml").replace(
            "<gml:Point", "<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><gml:Point"
        ),
    )
    yield Costly("deep JSON-LD", "PUT", _GRAPH, "application/ld+json", lambda: '{"urn:x:p":' * 50_000)
    yield Costly(
        "a context elsewhere",
        "PUT",
        _GRAPH,
        "application/ld+json",
        lambda: '{"@context": "http://127.0.0.1:9/a", "@id": "urn:x:a"}',
    )
    yield Costly(
        "parts without end", "POST", _GRAPH, "multipart/form-data; boundary=a", lambda: b"--a\r\n" * 200_000
    )
    yield Costly("NULs", "PUT", _GRAPH, _TURTLE, lambda: b"\x00" * 1_000_000)
    yield Costly(
        "control characters", "PUT", _GRAPH, _TURTLE, lambda: "<urn:a> <urn:b> '\u202e\u0007\u001b[31m' ."
    )
    yield Costly(
        "one triple 200,000 times",
        "PUT",
        _GRAPH,
        _TURTLE,
        lambda: "<urn:a> <urn:b> 'c' .\n" * 200_000,
        QUERY_S,
        slow=True,
    )


def _shape(text: str) -> str:
    return _PREFIXES + text


def _constraint(where: str) -> str:
    return _shape(
        f's:Costly sh:targetClass :Road ; sh:sparql [ sh:message "No." ; sh:select """SELECT $this WHERE {{ {where} }}""" ] .'
    )


def _shapes() -> Iterator[Costly]:
    at = "/shapes/hostile.ttl"
    texts: dict[str, tuple[Any, float]] = {
        "a Cartesian constraint": (
            _constraint("$this ?p ?o . ?a ?b ?c . ?d ?e ?f . ?g ?h ?i FILTER(?c = 1.5 && ?f = 2.5)"),
            QUERY_S,
        ),
        "a path over everything": (
            _shape(
                "s:Far sh:targetClass :Road ; sh:path [ sh:zeroOrMorePath [ sh:alternativePath ( :near [ sh:inversePath :near ] ) ] ] ; sh:maxCount 1 ."
            ),
            QUERY_S,
        ),
        "a pattern that backtracks": (
            _shape('s:Slow sh:targetClass :Road ; sh:path :name ; sh:pattern "^(a|a)*(a+)+$" .'),
            PLAIN_S,
        ),
        "a shape of itself": (
            _shape("s:Self sh:targetClass :Road ; sh:path :near ; sh:node s:Self ."),
            PLAIN_S,
        ),
        "shapes of each other": (
            _shape("s:A sh:targetClass :Road ; sh:not s:B . s:B sh:or ( s:A s:B ) ."),
            PLAIN_S,
        ),
        "a cyclic list": (
            _shape("s:L sh:targetClass :Road ; sh:in _:a . _:a rdf:first 1 ; rdf:rest _:a ."),
            PLAIN_S,
        ),
        "a deep path": (
            _shape(
                "s:P sh:targetClass :Road ; sh:maxCount 1 ; sh:path "
                + "[ sh:zeroOrMorePath " * 80
                + ":near"
                + " ]" * 80
                + " ."
            ),
            QUERY_S,
        ),
        "a function that calls itself": (
            _shape(
                's:f a sh:SPARQLFunction ; sh:returnType rdfs:Resource ; sh:select "SELECT (<http://example.org/shapes#f>() AS ?x) {}" . s:C sh:targetClass :Road ; sh:sparql [ sh:select "SELECT $this { FILTER(<http://example.org/shapes#f>() = 1) }" ] .'
            ),
            QUERY_S,
        ),
        "no Turtle": ("\x00\x01\x02" * 1000, PLAIN_S),
        "numbers out of range": (
            _shape(
                "s:N sh:targetClass :Road ; sh:path :name ; sh:minCount " + "9" * 400 + " ; sh:maxLength -1 ."
            ),
            PLAIN_S,
        ),
    }
    for name, (text, limit_s) in texts.items():
        # Reading and checking the files comes before the graph is tried, which has the limit of a query.
        yield Costly(name, "PUT", f"{at}?dry-run=true", _TURTLE, partial(str, text), limit_s + PLAIN_S * 3)
    for count in (2_000, 50_000):
        many = lambda count=count: _shape(
            "".join(
                f"s:S{n} sh:targetClass :Park ; sh:path :near ; sh:maxCount {n} .\n" for n in range(count)
            )
        )
        yield Costly(f"{count:,} shapes", "PUT", at, _TURTLE, many, READING_S + QUERY_S * 5, slow=True)


def _ontologies() -> Iterator[Costly]:
    at = "/ontologies/hostile.ttl"
    texts: dict[str, tuple[Any, float]] = {
        "an ontology that imports itself": (
            "<urn:x:o> a owl:Ontology ; owl:imports <urn:x:o>, <http://example.org/city>, <http://127.0.0.1:9/x> .",
            PLAIN_S,
        ),
        "a circle of classes": (
            "".join(f":C{n} rdfs:subClassOf :C{(n + 1) % 60} .\n" for n in range(60)),
            QUERY_S,
        ),
        "a cyclic list": (":U owl:unionOf _:a . _:a rdf:first :Park ; rdf:rest _:a .", PLAIN_S),
        "a chain of 400 properties": (":near owl:propertyChainAxiom ( " + ":near " * 400 + ") .", QUERY_S),
        "unions of unions": (
            ":U owl:equivalentClass " + "[ owl:unionOf ( :Park " * 80 + ":Road" + " ) ]" * 80 + " .",
            PLAIN_S,
        ),
        "labels with overrides": (':R a owl:Class ; rdfs:label "\u202e' + "\u2066" * 500 + '"@en .', PLAIN_S),
    }
    for name, (text, limit_s) in texts.items():
        yield Costly(
            name, "PUT", f"{at}?dry-run=true", _TURTLE, partial(str, _PREFIXES + text), limit_s + PLAIN_S * 3
        )
        edit = partial(json.dumps, {"ontology": {"hostile.ttl": _PREFIXES + text}})
        yield Costly(name, "POST", "/check", _JSON, edit, limit_s + PLAIN_S * 3, slow=True)
        yield Costly(name, "POST", "/impact", _JSON, edit, limit_s + PLAIN_S * 3, slow=True)
    deep = "".join(f":D{n} rdfs:subClassOf :D{n + 1} ; rdfs:label 'd{n}'@en .\n" for n in range(20_000))
    yield Costly(
        "20,000 classes in a chain",
        "PUT",
        f"{at}?dry-run=true",
        _TURTLE,
        partial(str, _PREFIXES + deep),
        READING_S + QUERY_S,
        slow=True,
    )
    circle = "".join(f":C{n} rdfs:subClassOf :C{(n + 1) % 500} .\n" for n in range(500))
    yield Costly(
        "a circle of 500 classes",
        "PUT",
        f"{at}?dry-run=true",
        _TURTLE,
        partial(str, _PREFIXES + circle),
        READING_S + QUERY_S,
        slow=True,
    )
    without = partial(json.dumps, {"ontology": {"city.ttl": None}})
    yield Costly("without its only file", "POST", "/impact", _JSON, without, QUERY_S + PLAIN_S * 3)
    twice = CITY.replace(":Park a", ":Park a :Park, :Road, :Place ; a")
    yield Costly(
        "classes that are their own",
        "POST",
        "/check",
        _JSON,
        partial(json.dumps, {"ontology": {"city.ttl": twice}}),
        PLAIN_S * 3,
    )


def _connections() -> Iterator[Costly]:
    longer: dict[str, str | bytes] = {"Content-Length": "100000"}
    shorter: dict[str, str | bytes] = {"Content-Length": "3"}
    body = lambda: '{"question": "Which parks are near a road?"}'
    for path in ("/ask", "/candidates", "/relations"):
        yield Costly(
            "a body that does not come", "POST", path, _JSON, body, CLIENT_S + 1, headers=longer, closed=True
        )
    yield Costly("a body longer than it says", "POST", "/ask", _JSON, body, headers=shorter, closed=True)
    for length in ("-1", "1e9", "9" * 30, "0x10"):
        yield Costly(
            f"a length of {length[:9]}",
            "POST",
            "/relations",
            _JSON,
            body,
            headers={"Content-Length": length},
            closed=True,
        )
    yield Costly(
        "a body that comes slowly",
        "POST",
        "/candidates",
        _JSON,
        body,
        CLIENT_S + 4,
        headers={"Content-Length": "100"},
        pieces=_slowly,
        closed=True,
    )
    for method, path, kind in (
        ("PUT", _GRAPH, _TURTLE),
        ("POST", "/candidates", _JSON),
        ("POST", "/jobs?paused=true", _NDJSON),
        ("PUT", "/shapes/hostile.ttl", _TURTLE),
    ):
        yield Costly(
            "1 GB in pieces",
            method,
            path,
            kind,
            lambda: b"",
            60.0,
            slow=True,
            headers={"Transfer-Encoding": "chunked", "Content-Length": ""},
            pieces=_endless,
            closed=True,
        )


def _unread() -> Iterator[Costly]:
    """A graph of 40 MB, and who asks for it and reads nothing."""
    for n in range(10):
        literal = lambda n=n: f"<urn:x:a> <urn:x:p> '{n}{'a' * 4_000_000}' .\n"
        yield Costly(f"4 MB, {n}", "POST", _GRAPH, _TURTLE, literal, QUERY_S * 2)
    every = "query=SELECT%20*%20%7BGRAPH%20%3Curn:x:hostile%3E%20%7B?a%20?b%20?c%7D%7D"
    for path in (f"/sparql?{every}", "/dump?graph=urn:x:hostile", _GRAPH):
        for n in range(3):
            yield Costly(f"an answer that nobody reads, {n}", "GET", path, "", str, CLIENT_S + 1, unread=True)
    yield Costly("that, taken out", "DELETE", _GRAPH, "", str, QUERY_S * 2)


def _slowly(raw: bytes) -> Iterable[tuple[float, bytes]]:
    head, _, body = raw.partition(b"\r\n\r\n")
    yield 0.0, head + b"\r\n\r\n"
    for n in range(4):
        yield 1.0, body[n : n + 1]


def _endless(raw: bytes) -> Iterable[tuple[float, bytes]]:
    lines = raw.split(b"\r\n\r\n")[0].split(b"\r\n")
    yield 0.0, b"\r\n".join(one for one in lines if not one.startswith(b"Content-Length")) + b"\r\n\r\n"
    piece = b"<urn:x:a> <urn:x:p> 'some text' .\n" * 30_000
    chunk = f"{len(piece):x}\r\n".encode() + piece + b"\r\n"
    yield from [(0.0, chunk)] * 1000
    yield 0.0, b"0\r\n\r\n"
