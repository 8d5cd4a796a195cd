"""Relations computed from borders, against GEOS's matrices, pair by pair."""

import logging
import sys
from collections.abc import Iterator
from fractions import Fraction

import numpy
import pytest
import shapely
from shapely import Polygon
from shapely.geometry.base import BaseGeometry

from geo.kernel import borders
from geo.relate import bulk
from geo.relate.rcc8 import CODES, RCC8, code_of, relate_pairs

Random = numpy.random.Generator
SIDE = 7


@pytest.fixture(autouse=True)
def with_kernel() -> None:
    assert borders.compiled_kernel() is not None, "numba is not installed: make setup installs it"


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


def crooked(random: Random) -> BaseGeometry:
    """Any ring of a few corners, most of which cross themselves."""
    return Polygon(random.integers(0, 5, (random.integers(3, 7), 2)) * 0.01 + numpy.array([-74.2, 40.5]))


def on_a_grid(random: Random) -> BaseGeometry:
    """Valid areas of corners on a small grid, so that much touches within segments."""
    areas = shapely.get_parts(shapely.make_valid(crooked(random)))
    return shapely.union_all([area for area in areas if area.geom_type == "Polygon"])


def moved(shape: BaseGeometry, random: Random) -> BaseGeometry:
    """A shape whose coordinates are off by some 1e-9 degrees, as those of another source are."""
    return shapely.transform(shape, lambda found: found + random.uniform(-1e-9, 1e-9, (1, 2)))


def families(seed: int) -> Iterator[tuple[str, list[BaseGeometry]]]:
    random = numpy.random.default_rng(seed)
    yield "coverage", coverage(random)
    yield "jittered", [moved(shape, random) for shape in coverage(random)]
    yield "grid", [shape for _ in range(120) if not (shape := on_a_grid(random)).is_empty]
    yield "invalid", [*[crooked(random) for _ in range(60)], *coverage(random)[:60]]
    discs = shapely.buffer(shapely.points(random.uniform(0, 0.1, (80, 2))), random.uniform(0.001, 0.05, 80))
    rings = [disc.difference(disc.centroid.buffer(0.3 * disc.length / 6.3)) for disc in discs]
    yield "discs", [*discs, *rings, *[shapely.MultiPolygon([disc]) for disc in discs[:20]], *discs[:10]]


@pytest.mark.parametrize("seed", range(6))
def test_every_pair_that_is_decided_agrees_with_geos(seed: int) -> None:
    for name, shapes in families(seed):
        areas = array(shapes)
        left, right = numpy.triu_indices(len(areas), 1)
        both_ways = numpy.concatenate([left, right]), numpy.concatenate([right, left])
        settled = borders.settle_areas(borders.compiled_kernel(), areas, *both_ways)
        expected = relate_pairs(areas[both_ways[0]], areas[both_ways[1]])
        wrong = numpy.flatnonzero((settled != borders.OPEN) & (settled != expected))
        assert not len(wrong), (name, areas[both_ways[0][wrong[0]]].wkt, areas[both_ways[1][wrong[0]]].wkt)
        if name in ("coverage", "discs"):
            relations = {CODES[code] for code in settled if code != borders.OPEN}
            assert relations >= {RCC8.DC, RCC8.PO, RCC8.NTPP, RCC8.NTPPi, RCC8.EQ}
            assert (settled != borders.OPEN).mean() > 0.4


def test_neighbors_of_a_coverage_are_all_decided() -> None:
    areas = array(list(cells(numpy.random.default_rng(3))))
    left, right = numpy.triu_indices(len(areas), 1)
    settled = borders.settle_areas(borders.compiled_kernel(), areas, left, right)
    assert set(settled.tolist()) == {code_of(RCC8.DC), code_of(RCC8.EC)}


def related(one: BaseGeometry, other: BaseGeometry) -> str:
    areas = array([one, other])
    code = borders.settle_areas(borders.compiled_kernel(), areas, numpy.array([0]), numpy.array([1]))[0]
    return "open" if code == borders.OPEN else CODES[code].value


SQUARE = shapely.box(0, 0, 4, 4)
HOLED = Polygon(SQUARE.exterior, [shapely.box(1, 1, 3, 3).exterior.coords])


def test_an_enclave_that_fills_a_hole_touches() -> None:
    assert related(HOLED, shapely.box(1, 1, 3, 3)) == "EC"


def test_an_island_in_a_hole_is_apart() -> None:
    assert related(HOLED, shapely.box(1.5, 1.5, 2, 2)) == "DC"


def test_an_area_without_its_hole_holds_the_one_with_it() -> None:
    assert related(HOLED, SQUARE) == "TPP"


def test_the_way_round_and_the_beginning_of_a_ring_do_not_matter() -> None:
    assert related(SQUARE, Polygon([(4, 4), (4, 0), (0, 0), (0, 4)])) == "EQ"


def test_heights_and_repeated_corners_do_not_matter() -> None:
    raised = Polygon([(4, 0, 1), (8, 0, 1), (8, 0, 2), (8, 4, 1), (4, 4, 3), (4, 4, 3), (4, 0, 1)])
    assert related(SQUARE, raised) == "EC"


@pytest.mark.parametrize(
    "left_alone",
    [
        Polygon([(4, 1), (6, 1), (6, 3), (4, 3)]),  # touches within a segment
        Polygon([(0, 0), (4, 4), (4, 0), (0, 4)]),  # crosses itself
        Polygon([(4, 0), (6, 0), (4, 0), (4, 2)]),  # goes back on itself
        shapely.union(shapely.box(4, 0, 5, 1), shapely.box(5, 1, 6, 2)),  # a vertex twice
        Polygon([(4, 0), (5, 0), (5, numpy.inf)]),
        Polygon([(4, 0), (5, 0), (5, 1e-200)]),
    ],
)
def test_what_is_not_sure_is_left_to_geos(left_alone: BaseGeometry) -> None:
    assert related(SQUARE, left_alone) == "open"


ISLAND = shapely.box(1.5, 1.5, 2.5, 2.5)


@pytest.mark.parametrize(
    "left_alone",
    [
        Polygon(SQUARE.exterior, [shapely.box(5, 1, 6, 2).exterior.coords]),  # a hole beside it
        Polygon(SQUARE.exterior, [shapely.box(-1, -1, 5, 5).exterior.coords]),  # a hole around it
        Polygon(HOLED.exterior, [HOLED.interiors[0], ISLAND.exterior.coords]),  # a hole in a hole
        shapely.MultiPolygon([SQUARE, shapely.box(1, 1, 2, 2)]),  # a part within another
        shapely.MultiPolygon([ISLAND, Polygon(ISLAND.exterior), SQUARE]),
        shapely.MultiPolygon([SQUARE, Polygon(shapely.box(6, 0, 9, 3).exterior, [ISLAND.exterior.coords])]),
    ],
)
def test_rings_that_are_not_nested_are_left_to_geos(left_alone: BaseGeometry) -> None:
    assert not left_alone.is_valid
    assert related(shapely.box(20, 20, 24, 24), left_alone) == "open"


def test_an_island_in_a_hole_is_a_part_like_another() -> None:
    nested = shapely.MultiPolygon([ISLAND, HOLED])
    assert nested.is_valid
    assert related(nested, shapely.box(1.6, 1.6, 2, 2)) == "NTPPi"
    assert related(nested, HOLED) == "TPPi"
    assert related(shapely.box(1.1, 1.1, 1.4, 1.4), nested) == "DC"
    assert related(nested, shapely.MultiPolygon([HOLED, shapely.box(1.4, 1.4, 2.6, 2.6)])) == "TPP"


def test_an_area_that_meets_itself_does_not_matter_to_others_with_the_same_border() -> None:
    """A segment is looked at once for all who have it, whatever else is wrong with the first of them."""
    spiked = Polygon([(0, 0), (4, 0), (4, 4), (5, 5), (4, 4), (0, 4)])
    crossing = Polygon([(3, 1), (6, 1), (6, 3)])
    areas = array([spiked, SQUARE, crossing])
    settled = borders.settle_areas(borders.compiled_kernel(), areas, numpy.array([0, 1]), numpy.array([2, 2]))
    assert settled.tolist() == [borders.OPEN, code_of(RCC8.PO)]


def test_a_pair_may_be_asked_for_several_times_and_both_ways() -> None:
    areas = array([SQUARE, shapely.box(4, 0, 8, 4), shapely.box(1, 1, 2, 2)])
    left, right = numpy.array([0, 2, 1, 0, 0, 2, 0]), numpy.array([1, 0, 0, 2, 1, 0, 0])
    settled = borders.settle_areas(borders.compiled_kernel(), areas, left, right)
    assert [CODES[code].value for code in settled[:-1]] == ["EC", "NTPP", "EC", "NTPPi", "EC", "NTPP"]
    assert settled[-1] == borders.OPEN


def test_boxes_that_meet_are_all_found_once() -> None:
    kernel = borders.compiled_kernel()
    assert kernel is not None
    random = numpy.random.default_rng(5)
    for count in (1, 2, 5, 300):
        corners = random.integers(0, 60, (count, 2)).astype(float)
        boxes = numpy.column_stack([corners, corners + random.integers(0, 9, (count, 2))])
        west, south, east, north = boxes.T
        meet = (west[:, None] <= east) & (east[:, None] >= west) & (south[:, None] <= north)
        expected = numpy.argwhere(numpy.triu(meet & (north[:, None] >= south), 1))
        found = numpy.sort(borders.meeting_boxes(kernel, boxes), axis=1)
        assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, expected.tolist()))


def test_pairs_of_boxes_are_those_of_a_tree() -> None:
    random = numpy.random.default_rng(9)
    shapes = array([*coverage(random), Polygon(), *shapely.points(random.uniform(0, 1, (9, 2))), Polygon()])
    assert borders.compiled_kernel() is not None
    for some in (shapes, shapes[:1], shapes[-1:], shapes[:0]):
        found = borders.box_pairs(some)
        assert found is not None
        right, left = shapely.STRtree(some).query(some)
        expected = {(a, b) for a, b in zip(left.tolist(), right.tolist(), strict=True) if a < b}
        assert sorted(zip(*(side.tolist() for side in found), strict=True)) == sorted(expected)


def test_turns_are_exact() -> None:
    kernel = borders.compiled_kernel()
    assert kernel is not None
    random = numpy.random.default_rng(1)
    for _ in range(3000):
        a, b = random.uniform(-100, 100, (2, 2))
        c = a + (b - a) * random.choice([0.5, random.uniform(0, 1)])
        c = numpy.nextafter(c, random.choice([-numpy.inf, numpy.inf], 2)) if random.random() < 0.5 else c
        if random.random() < 0.3:
            # On one line for sure: differences are exact, and products are rounded alike.
            a, b = random.integers(-1000, 1000, (2, 2)) / 3 * 2.0 ** random.integers(-20, 20)
            c = a + (b - a) * random.choice([2.0, 4.0, -1.0])
        (ax, ay), (bx, by), (cx, cy) = ([Fraction(float(value)) for value in point] for point in (a, b, c))
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        assert kernel.turn(*a, *b, *c) == (area > 0) - (area < 0)


def test_bulk_relations_are_the_same_with_and_without_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    random = numpy.random.default_rng(8)
    shapes = array(
        [*coverage(random), *shapely.points(random.uniform(0, 0.07, (60, 2)) + numpy.array([-74.2, 40.5]))]
    )
    monkeypatch.setattr(borders, "_WORTH_LOADING", 1)
    found = [pairs_of(shapes, tolerance_m) for tolerance_m in (0.0, 1.0)]
    monkeypatch.setattr(borders, "compiled_kernel", lambda: None)
    assert found == [pairs_of(shapes, tolerance_m) for tolerance_m in (0.0, 1.0)]


def pairs_of(shapes: numpy.ndarray, tolerance_m: float) -> dict[tuple[int, int], int]:
    found = {}
    for pairs in bulk.relate_all(shapely.from_wkb(shapely.to_wkb(shapes)), tolerance_m):
        found.update(
            zip(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True), pairs.codes, strict=True)
        )
    return found


def test_a_machine_without_numba_relates_by_geos_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "geo.kernel.border_kernel", None)
    borders.compiled_kernel.cache_clear()
    with caplog.at_level(logging.INFO, logger="geo.kernel.borders"):
        assert borders.compiled_kernel() is None
    borders.compiled_kernel.cache_clear()
    assert "by GEOS alone" in caplog.text


def test_few_pairs_do_not_load_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(borders, "compiled_kernel", lambda: pytest.fail("the kernel was asked for"))
    areas = array(list(cells(numpy.random.default_rng(3))))
    left, right = numpy.triu_indices(len(areas), 1)
    assert set(borders.settle(areas, areas, left, right).tolist()) == {borders.OPEN}
