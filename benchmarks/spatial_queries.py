"""Spatial queries through SPARQL against the same in PostGIS: wall time of the whole answer, in milliseconds.

    python benchmarks/spatial_queries.py [--runs N]

100,000 points and 5,000 areas: filters by a constant area that .1, 1 and 10 percent of the points lie in, the
ten points nearest to a place, and a join of two variables. The server runs as a process and answers over
HTTP; PostGIS (left out where it is not installed) over its own protocol. Both must give the same rows.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import numpy
import shapely
from peers.answer import Missing
from peers.postgis import PostGIS, running_postgis
from pyoxigraph import Literal, Quad, Triple
from w3c.server_process import Server, running_server

from sparql.bulk import BulkLoad
from sparql.relations import SpatialRelations
from sparql.store import EmbeddedStore
from sparql.vocabulary import GEO, RDF, Namespace
from sparql.writer import Writer

EX = Namespace("http://example.org/")
POINTS, AREAS, SIDE = 100_000, 5_000, 0.4
CORNER = numpy.array([-74.2, 40.5])
PREFIXES = """PREFIX ex: <http://example.org/> PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/> """


def main() -> None:
    """Fill both, ask both."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=5, help="runs of each query; the median counts")
    runs = parser.parse_args().runs
    random = numpy.random.default_rng(7)
    points = shapely.points(random.uniform(0, SIDE, (POINTS, 2)).round(7) + CORNER)
    corners = random.uniform(0, SIDE, (AREAS, 2)).round(7) + CORNER
    # Read back from what the server is given, so that both have the same corners to the last digit.
    areas = shapely.from_wkt(
        shapely.to_wkt(shapely.box(*corners.T, *(corners + 0.004).T), rounding_precision=7)
    )
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="queries-")))
        fill(folder / "served", points, areas)
        server = stack.enter_context(running_server(folder))
        peer = open_peer(stack, points, areas)
        print(f"{POINTS:,} points, {AREAS:,} areas; wall ms, median of {runs}; {peer.title if peer else ''}")
        for name, sparql, sql in queries():
            theirs = None if peer is None else partial(count, peer, sql)
            compare(name, runs, partial(ask, server, sparql), theirs)


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


def compare(name: str, runs: int, ours: Callable[[], int], theirs: Callable[[], int] | None) -> None:
    """Time both in turns and print a line."""
    times: dict[str, list[float]] = {"ours": [], "peer": []}
    rows: dict[str, int] = {}
    for _ in range(runs):
        for who, run in (("ours", ours), ("peer", theirs)):
            if run is not None:
                start = time.perf_counter()
                rows[who] = run()
                times[who].append((time.perf_counter() - start) * 1e3)
    line = f"  {name:38} {rows['ours']:7,} rows  ours {statistics.median(times['ours']):9.1f}"
    if theirs is not None:
        line += f"  PostGIS {statistics.median(times['peer']):9.1f}"
        line += "" if rows["ours"] == rows["peer"] else f"  DIFFERS: {rows['peer']:,} rows"
    print(line, flush=True)


def ask(server: Server, text: str) -> int:
    """The number of rows of a query's answer; it is read whole."""
    headers = {"Accept": "application/sparql-results+json", "Cache-Control": "no-cache"}
    target = "/sparql?" + urlencode({"query": PREFIXES + text, "timeout": "100"})
    try:
        answer = server.send("GET", target, headers)
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
