"""Relations of many pairs at once, against GEOS's matrices, pair by pair."""

from collections.abc import Iterator

import numpy
import pytest
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from geo.relate import bulk
from geo.relate.bulk import classify_pairs
from geo.relate.rcc8 import CODES, RCC8, relate_pairs

Random = numpy.random.Generator
SIDE = 7


def array(shapes: list[BaseGeometry]) -> numpy.ndarray:
    result = numpy.empty(len(shapes), dtype=object)
    result[:] = shapes
    return result


def cells(random: Random) -> list[Polygon]:
    """A coverage of crooked quadrilaterals and triangles, corner for corner, as a city has them."""
    corners = numpy.stack(numpy.meshgrid(numpy.arange(SIDE + 1.0), numpy.arange(SIDE + 1.0)), axis=-1)
    corners[1:-1, 1:-1] += random.uniform(-0.3, 0.3, (SIDE - 1, SIDE - 1, 2))
    corners = corners * 0.01 + numpy.array([-74.2, 40.5])
    found = []
    for i in range(SIDE):
        for j in range(SIDE):
            square = [corners[i, j], corners[i, j + 1], corners[i + 1, j + 1], corners[i + 1, j]]
            if random.random() < 0.3:
                found += [Polygon(square[:3]), Polygon([square[2], square[3], square[0]])]
            else:
                found.append(Polygon(square if random.random() < 0.5 else square[::-1]))
    return found


def coverage(random: Random) -> list[BaseGeometry]:
    """Cells and unions of them: nested, overlapping, with holes, of several parts, touching at corners."""
    parts = cells(random)
    unions = []
    for _ in range(60):
        share = random.choice([0.1, 0.5, 0.9])
        near = parts[random.integers(len(parts))].buffer(random.uniform(0.005, 0.04))
        chosen = [part for part in parts if part.intersects(near) and random.random() < share]
        if chosen:
            unions.append(shapely.union_all(chosen))
    return [*parts, *unions, *parts[:5], *unions[:5]]


def on_a_grid(random: Random) -> BaseGeometry:
    """A ring of corners on a small grid, so that much touches within segments; it may cross itself."""
    return Polygon(random.integers(0, 5, (random.integers(3, 7), 2)) / 64 + numpy.array([-74.25, 40.5]))


def moved(shape: BaseGeometry, random: Random) -> BaseGeometry:
    """A shape whose coordinates are off by some 1e-9 degrees, as those of another source are."""
    return shapely.transform(shape, lambda found: found + random.uniform(-1e-9, 1e-9, (1, 2)))


def families(seed: int) -> Iterator[tuple[str, list[BaseGeometry]]]:
    random = numpy.random.default_rng(seed)
    yield "coverage", coverage(random)
    yield "jittered", [moved(shape, random) for shape in coverage(random)]
    yield "grid", [shape for _ in range(240) if (shape := on_a_grid(random)).is_valid]
    discs = shapely.buffer(shapely.points(random.uniform(0, 0.1, (80, 2))), random.uniform(0.001, 0.05, 80))
    rings = [disc.difference(disc.centroid.buffer(0.3 * disc.length / 6.3)) for disc in discs]
    yield "discs", [*discs, *rings, *[shapely.MultiPolygon([disc]) for disc in discs[:20]], *discs[:10]]


@pytest.mark.parametrize("seed", range(3))
def test_predicates_and_matrices_agree(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bulk, "_MANY_VERTICES", 0)
    for name, shapes in families(seed):
        areas = array(shapes)
        left, right = numpy.triu_indices(len(areas), 1)
        both_ways = numpy.concatenate([left, right]), numpy.concatenate([right, left])
        expected = relate_pairs(areas[both_ways[0]], areas[both_ways[1]])
        found = classify_pairs(areas, areas, *both_ways)
        wrong = numpy.flatnonzero(found != expected)
        assert not len(wrong), (name, areas[both_ways[0][wrong[0]]].wkt, areas[both_ways[1][wrong[0]]].wkt)
        if name in ("coverage", "discs"):
            assert {CODES[code] for code in found} >= {RCC8.DC, RCC8.PO, RCC8.TPP, RCC8.NTPP, RCC8.EQ}
