"""What the index of geometries is worth: spatial queries with and without it, in one run.

    python -m benchmarks.acceleration [--points 100000] [--areas 5000] [--http]

A store in memory with points and areas spread by chance. For each query the rewritten one (rewriting
included) is timed against the plain one on the same engine with the same functions, and the answers are
compared. A join of two variables is not run plainly: its time is worked out from one area's. With `--http`, a
within-filter of 1% of the points is also asked of a whole server; p50 of 40 requests. Times are wall times.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pyoxigraph
from pyoxigraph import Literal, NamedNode, Quad

from geo.functions import FUNCTIONS
from sparql.model.options import Options
from sparql.model.vocabulary import DEFAULT, GEO, RDF, RDFS, Namespace
from sparql.rewriting.rewriter import Rewriter
from sparql.rewriting.steps import Probe, Row
from tests.support.rewriting import drive

EX = Namespace("http://example.org/")
PREFIXES = """PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
PREFIX ex: <http://example.org/>
"""
RUNS = 5
CENTER = '"POINT(0.5 0.5)"^^geo:wktLiteral'
PLACES = "?f a ex:Place ; geo:hasGeometry ?g . ?g geo:asWKT ?w"
JOIN = (
    "SELECT ?f ?a { ?f a ex:Place ; geo:hasGeometry ?g . ?g geo:asWKT ?w . "
    "?a a ex:Area ; geo:hasGeometry ?h . ?h geo:asWKT ?v FILTER(geof:sfWithin(?w, ?v)) }"
)


def box(share: float) -> str:
    """A square that holds so large a share of the points."""
    low, high = 0.5 - math.sqrt(share) / 2, 0.5 + math.sqrt(share) / 2
    return f'"POLYGON(({low} {low}, {high} {low}, {high} {high}, {low} {high}, {low} {low}))"^^geo:wktLiteral'


QUERIES = {
    "within, .1%": f"SELECT ?f ?w {{ {PLACES} FILTER(geof:sfWithin(?w, {box(0.001)})) }}",
    "within, 1%": f"SELECT ?f ?w {{ {PLACES} FILTER(geof:sfWithin(?w, {box(0.01)})) }}",
    "within, 10%": f"SELECT ?f ?w {{ {PLACES} FILTER(geof:sfWithin(?w, {box(0.1)})) }}",
    "ehInside, 1%": f"SELECT ?f ?w {{ {PLACES} FILTER(geof:ehInside(?w, {box(0.01)})) }}",
    "distance < 2 km": f"SELECT ?f {{ {PLACES} FILTER(geof:distance(?w, {CENTER}, uom:metre) < 2000) }}",
    "within a buffer of 2 km": (
        f"SELECT ?f {{ {PLACES} FILTER(geof:sfWithin(?w, geof:buffer({CENTER}, 2000, uom:metre))) }}"
    ),
    "nearest 10": f"SELECT ?f {{ {PLACES} }} ORDER BY geof:distance(?w, {CENTER}, uom:metre) LIMIT 10",
}


def quads(points: int, areas: int) -> Iterator[Quad]:
    """The places and areas."""
    chance = random.Random(11)
    for number in range(points):
        shape = f"POINT({chance.random():.6f} {chance.random():.6f})"
        yield from feature(f"p{number}", EX.Place, shape)
    for number in range(areas):
        x, y, r = chance.random(), chance.random(), 0.005 * chance.random()
        turns = [2 * math.pi * step / 40 for step in (*range(40), 0)]
        ring = ", ".join(f"{x + r * math.cos(t):.6f} {y + r * math.sin(t):.6f}" for t in turns)
        yield from feature(f"a{number}", EX.Area, f"POLYGON(({ring}))")


def feature(name: str, class_: NamedNode, shape: str) -> Iterator[Quad]:
    node = EX.term(f"{name}/g")
    yield Quad(EX.term(name), RDF.type, class_, DEFAULT)
    yield Quad(EX.term(name), RDFS.label, Literal(name), DEFAULT)
    yield Quad(EX.term(name), GEO.hasGeometry, node, DEFAULT)
    yield Quad(node, GEO.asWKT, Literal(shape, datatype=GEO.wktLiteral), DEFAULT)


class Measured:
    """A store in memory and its rewriter."""

    def __init__(self, points: int, areas: int) -> None:
        self.store = pyoxigraph.Store()
        self.store.bulk_extend(quads(points, areas))
        self.rewriter = Rewriter(self)

    def revision(self) -> int:
        return 1

    def match_quads(self, s: Any, p: Any, o: Any, g: Any = None) -> Iterator[Quad]:
        return iter(self.store.quads_for_pattern(s, p, o, g))

    def rewritten(self, query: str) -> str:
        preparation = self.rewriter.preparation(PREFIXES + query, Options())
        assert preparation is not None
        return drive(self.rewriter.steps(preparation, 1), self._probe)

    def answer(self, query: str) -> Counter[str]:
        """Rewriting and running."""
        return self.run(self.rewritten(query))

    def run(self, text: str) -> Counter[str]:
        rows = self.store.query(text, custom_functions=dict(FUNCTIONS))
        assert isinstance(rows, pyoxigraph.QuerySolutions)
        return Counter(str([str(term) for term in row]) for row in rows)

    def _probe(self, probe: Probe) -> list[Row]:
        rows = self.store.query(probe.text, custom_functions=dict(FUNCTIONS))
        assert isinstance(rows, pyoxigraph.QuerySolutions)
        names = [variable.value for variable in rows.variables]
        return [{name: row[name] for name in names if row[name] is not None} for row in rows]


def timed(work: Any) -> tuple[float, Any]:
    """Seconds and result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def compare(measured: Measured) -> None:
    """Each query with and without the index."""
    print(f"{'query':28}{'rows':>8}{'plain ms':>12}{'indexed ms':>12}{'ratio':>8}")
    for name, query in QUERIES.items():
        fast = [timed(partial(measured.answer, query)) for _ in range(RUNS)]
        plain, expected = timed(partial(measured.run, PREFIXES + query))
        same = "" if fast[0][1] == expected else "  <- differs"
        best = statistics.median(seconds for seconds, _ in fast)
        rows = sum(expected.values())
        print(f"{name:28}{rows:8}{1000 * plain:12.1f}{1000 * best:12.1f}{plain / best:8.0f}{same}")


def join(measured: Measured, areas: int) -> None:
    """The join of all places with all areas."""
    one = JOIN.replace("?a a ex:Area", "VALUES ?a { ex:a1 } ?a a ex:Area")
    plain = timed(lambda: measured.run(PREFIXES + one))[0] * areas
    fast, rows = timed(lambda: measured.run(measured.rewritten(JOIN)))
    print(
        f"{'join, places in areas':28}{sum(rows.values()):8}{1000 * plain:11.0f}*{1000 * fast:12.1f}"
        f"{plain / fast:8.0f}   * one area's time by their number"
    )


async def over_http(points: int) -> None:
    """The filter of 1% through a whole server."""
    from server.app import create_app
    from server.runtime.wiring import build
    from server.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        async with build(Settings.model_validate({"data": Path(folder) / "data", "readers": 2})) as services:
            services.writer.bulk(quads(points, 0))
            transport = httpx.ASGITransport(create_app(services))
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
                times = []
                for number in range(45):
                    # Another query each time, so that nothing is remembered.
                    text = QUERIES["within, 1%"].replace("ex:Place", f"ex:Place, ?t{number}")
                    start = time.perf_counter()
                    response = await client.get("/sparql", params={"query": PREFIXES + text})
                    times.append(time.perf_counter() - start)
                    assert response.status_code == 200, response.text
                rows = len(response.json()["results"]["bindings"])
    middle = statistics.median(times[5:])
    print(f"through the application: within, 1% ({rows} rows): p50 {1000 * middle:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=100_000)
    parser.add_argument("--areas", type=int, default=5000)
    parser.add_argument("--http", action="store_true")
    arguments = parser.parse_args()
    measured = Measured(arguments.points, arguments.areas)
    seconds, _ = timed(lambda: measured.rewriter.geometries.at(1))
    print(f"{arguments.points:,} points, {arguments.areas:,} areas; index built in {seconds:.2f} s")
    compare(measured)
    join(measured, arguments.areas)
    if arguments.http:
        asyncio.run(over_http(arguments.points))


if __name__ == "__main__":
    main()
