"""Spatial queries through SPARQL against the same in PostGIS, and without the index: milliseconds an answer.

    python -m benchmarks.spatial_queries [--runs N] [--index-only]

100,000 points and 5,000 areas: filters by a constant area that .1, 1 and 10 percent of the points lie in, the
ten points nearest to a place, and a join of two variables. The server runs as a process and answers over
HTTP; PostGIS (left out where it is not installed) over its own protocol, its client prepares what it has sent
five times. Both must give the same rows, and keep one connection. Wall time of the whole answer, and CPU time
of the server with its readers and of the one backend: a query of more than a tenth of a second runs at a low
priority here, so that its wall time follows what else the machine has to do.
Both are asked the same some times before the clock counts, so that neither is measured while it reads its
pages or meets its own code for the first time; how long their first answer took is printed too. Filters are
also asked with optimize=false, once, unless it is to be about the index only. Four minutes on a quiet
machine, and two with --index-only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import numpy
import shapely
from pyoxigraph import Literal, Quad, Triple

from benchmarks.peers.answer import Missing
from benchmarks.peers.postgis import PostGIS, running_postgis
from benchmarks.serving.connection import Connection
from benchmarks.w3c.server_process import running_server
from sparql.model.vocabulary import GEO, RDF, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.bulk import BulkLoad
from sparql.writing.writer import Writer
from tests.support.processes import cpu_seconds

EX = Namespace("http://example.org/")
POINTS, AREAS, SIDE = 100_000, 5_000, 0.4
# Rounds before the clock counts: so many, or as many as begin within this time.
WARMING, WARMING_S = 20, 2.0
CORNER = numpy.array([-74.2, 40.5])
PREFIXES = """PREFIX ex: <http://example.org/> PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/> """


def main() -> None:
    """Fill both, ask both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=15, help="runs of each query; the median counts")
    parser.add_argument("--index-only", action="store_true", help="leave out what is asked without it")
    arguments = parser.parse_args()
    runs = arguments.runs
    random = numpy.random.default_rng(7)
    points = as_written(shapely.points(random.uniform(0, SIDE, (POINTS, 2)).round(7) + CORNER))
    corners = random.uniform(0, SIDE, (AREAS, 2)).round(7) + CORNER
    areas = as_written(shapely.box(*corners.T, *(corners + 0.004).T))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="queries-")))
        fill(folder / "served", points, areas)
        server = stack.enter_context(running_server(folder))
        client = stack.enter_context(Connection(server.authority, timeout_s=120))
        peer = open_peer(stack, points, areas)
        title = peer.title if peer else ""
        print(
            f"{POINTS:,} points, {AREAS:,} areas; wall ms (CPU ms; first answer), median of {runs}; {title}"
        )
        process = json.loads((folder / "served" / "server.json").read_text())["pid"]
        ours = Timed("ours", partial(cpu_seconds, process))
        # The server answers before its index of geometries is there; what waits for that is not counted.
        ask(client, next(queries())[1], timeout_s=100)
        sides = [ours] if peer is None else [ours, Timed("PostGIS", peer.cpu_seconds)]
        for name, sparql, sql in queries():
            runners = [partial(ask, client, sparql), *([] if peer is None else [partial(count, peer, sql)])]
            compare(name, runs, list(zip(sides, runners, strict=True)))
            if "FILTER" in sparql and "?z" not in sparql and not arguments.index_only:
                slow = partial(ask, client, sparql, optimize=False, timeout_s=100)
                compare("  without the index", 1, [(ours, slow)], warming=0)


def as_written(shapes: numpy.ndarray) -> numpy.ndarray:
    """Shapes read back from what the server is given: both have the same corners to the last digit."""
    read: numpy.ndarray = shapely.from_wkt(shapely.to_wkt(shapes, rounding_precision=7))
    return read


@dataclass
class Timed:
    """One side of the comparison; `cpu` returns the CPU seconds that it has taken so far."""

    title: str
    cpu: Callable[[], float]
    wall_ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)
    first_ms: float = 0.0
    rows: int = 0

    def warmed(self) -> None:
        """Forget what was timed so far, but for the first answer."""
        self.first_ms = self.wall_ms[0]
        self.wall_ms, self.cpu_ms = [], []

    def run(self, answer: Callable[[], int]) -> None:
        """Ask once."""
        # Asked for before the clock starts: it reads the files of every process of the server.
        spent = self.cpu()
        start = time.perf_counter()
        self.rows = answer()
        self.wall_ms.append((time.perf_counter() - start) * 1e3)
        self.cpu_ms.append((self.cpu() - spent) * 1e3)

    def __str__(self) -> str:
        median, cpu = statistics.median(self.wall_ms), statistics.mean(self.cpu_ms)
        return f"{self.title} {median:8.2f} ({cpu:.1f}; {self.first_ms:.1f})"


def queries() -> Iterator[tuple[str, str, str]]:
    """Name, SPARQL and SQL."""
    for share in (0.001, 0.01, 0.1):
        half = SIDE * share**0.5 / 2
        middle = CORNER + SIDE / 2
        area = shapely.box(*(middle - half), *(middle + half)).wkt
        yield (
            f"within a constant area, {share:.1%}",
            "SELECT ?f { ?f a ex:Poi ; geo:hasDefaultGeometry/geo:asWKT ?w "
            f'FILTER(geof:sfWithin(?w, "{area}"^^geo:wktLiteral)) }}',
            f"SELECT id FROM points WHERE ST_Within(g, ST_GeomFromText('{area}'))",
        )
    place = shapely.Point(CORNER + SIDE / 3).wkt
    yield (
        "the ten nearest",
        "SELECT ?f { ?f a ex:Poi ; geo:hasDefaultGeometry/geo:asWKT ?w } "
        f'ORDER BY geof:distance(?w, "{place}"^^geo:wktLiteral, uom:metre) LIMIT 10',
        f"SELECT id FROM points ORDER BY g::geography <-> ST_GeomFromText('{place}')::geography LIMIT 10",
    )
    yield (
        "points within areas, both variables",
        "SELECT ?f ?z { ?f a ex:Poi ; geo:hasDefaultGeometry/geo:asWKT ?w . ?z a ex:Zone ; "
        "geo:hasDefaultGeometry/geo:asWKT ?v FILTER(geof:sfWithin(?w, ?v)) }",
        "SELECT points.id, areas.id FROM points JOIN areas ON ST_Within(points.g, areas.g)",
    )


def compare(
    name: str, runs: int, sides: Sequence[tuple[Timed, Callable[[], int]]], *, warming: int = WARMING
) -> None:
    """Time all in turns and print a line; the last number is theirs by ours."""
    for side, _ in sides:
        side.wall_ms, side.cpu_ms = [], []
    begun = time.monotonic()
    for _ in range(warming):
        for side, answer in sides:
            side.run(answer)
        if time.monotonic() - begun > WARMING_S:
            break
    for side, _ in sides:
        if side.wall_ms:
            side.warmed()
    for _ in range(runs):
        for side, answer in sides:
            side.run(answer)
    ours, *others = (side for side, _ in sides)
    line = f"  {name:38} {ours.rows:7,} rows  {ours}"
    for other in others:
        ratio = statistics.median(other.wall_ms) / statistics.median(ours.wall_ms)
        line += f"  {other}  {ratio:.2f} times as fast"
        line += "" if ours.rows == other.rows else f"  DIFFERS: {other.rows:,} rows"
    print(line, flush=True)


def ask(client: Connection, text: str, *, optimize: bool = True, timeout_s: float | None = None) -> int:
    """The number of rows of a query's answer; it is read whole."""
    headers = {"Accept": "application/sparql-results+json", "Cache-Control": "no-cache"}
    # Asked as most clients do, with nothing but the query, unless that would not end.
    parameters = {"query": PREFIXES + text}
    if timeout_s is not None:
        parameters["timeout"] = f"{timeout_s:g}"
    if not optimize:
        parameters["optimize"] = "false"
    try:
        answer = client.get("/sparql?" + urlencode(parameters), headers)
    except TimeoutError:
        print("    no answer in two minutes")
        return -1
    if answer.status != 200:
        print(f"    {answer.status}: {answer.body[:300].decode(errors='replace')}")
        return -1
    return len(json.loads(answer.body)["results"]["bindings"])


def count(peer: PostGIS, text: str) -> int:
    """The number of rows of a query's answer; they are read whole."""
    return len(peer.rows(text))


def open_peer(stack: ExitStack, points: numpy.ndarray, areas: numpy.ndarray) -> PostGIS | None:
    """PostGIS with both tables, where it is installed."""
    try:
        peer = stack.enter_context(running_postgis())
    except Missing as missing:
        print(missing)
        return None
    peer.fill("points", points)
    peer.connection.execute("CREATE INDEX ON points USING gist ((g::geography))")
    peer.fill("areas", areas)
    return peer


def fill(folder: Path, points: numpy.ndarray, areas: numpy.ndarray) -> None:
    """Write the features and their relations to a folder."""
    store = EmbeddedStore(folder)
    BulkLoad(store, Writer(store, deriver=SpatialRelations())).run(
        Quad(triple.subject, triple.predicate, triple.object)
        for kind, shapes in (("Poi", points), ("Zone", areas))
        for number, wkt in enumerate(shapely.to_wkt(shapes, rounding_precision=7))
        for triple in statements(f"{kind}-{number}", kind, wkt)
    )
    store.close()


def statements(name: str, kind: str, wkt: str) -> Iterator[Triple]:
    """A feature of a class with its default geometry."""
    node = EX.term(name + "/geometry")
    yield Triple(EX.term(name), RDF.type, EX.term(kind))
    yield Triple(EX.term(name), GEO.hasDefaultGeometry, node)
    yield Triple(node, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral))


if __name__ == "__main__":
    main()
