"""The feature index, against brute force."""

import itertools
import random

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError, MissingFeatureError
from geo.measure.measures import distance_m
from geo.relate.index import FeatureIndex
from geo.relate.rcc8 import RCC8, relate
from geo.relate.tolerance import relate_within

NEW_YORK = (-74.0, 40.7)


def box(x: int, y: int, width: int, height: int) -> BaseGeometry:
    """A box on a grid of .01 degrees."""
    west, south, east, north = (-7400 + x, 4070 + y, -7400 + x + width, 4070 + y + height)
    return shapely.box(west / 100, south / 100, east / 100, north / 100)


@st.composite
def shapes(draw: st.DrawFn) -> BaseGeometry:
    x, y = draw(st.integers(0, 6)), draw(st.integers(0, 6))
    if draw(st.booleans()):
        return box(x, y, draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    end = ((-7400 + x) / 100, (4070 + y) / 100)
    return shapely.Point(end) if draw(st.booleans()) else shapely.LineString([NEW_YORK, end, (-73.95, 40.8)])


edits = st.lists(
    st.tuples(st.sampled_from(["put", "put", "drop"]), st.integers(0, 12), shapes()), max_size=40
)


def brute_force(features: dict[int, BaseGeometry]) -> set[tuple[int, int, RCC8]]:
    pairs = itertools.permutations(features, 2)
    related = {(a, b, relate(features[a], features[b]).rcc8) for a, b in pairs}
    return {triple for triple in related if triple[2] is not RCC8.DC}


@given(edits, st.lists(st.tuples(st.integers(0, 12), shapes()), max_size=6, unique_by=lambda pair: pair[0]))
@settings(deadline=None)
def test_after_any_edits_the_index_relates_like_brute_force(
    changes: list[tuple[str, int, BaseGeometry]], start: list[tuple[int, BaseGeometry]]
) -> None:
    features = dict(start)
    index = FeatureIndex(start)
    for action, key, shape in changes:
        if action == "put":
            features[key] = shape
            index.replace(key, shape)
        elif key in features:
            del features[key]
            index.remove(key)
    expected = brute_force(features)
    one_by_one = {
        (key, other, relation)
        for key, shape in features.items()
        for other, relation in index.relations_of(shape, exclude=key)
    }
    in_bulk = {pair for a, b, r in index.relate_all() for pair in ((a, b, r), (b, a, r.inverse))}
    chosen = sorted(features)[::3]
    of_some = [{a, b} for a, b, _ in index.relate_all(chosen)]
    assert one_by_one == expected
    assert in_bulk == expected
    assert {frozenset(pair) for pair in of_some} == {
        frozenset((a, b)) for a, b, _ in expected if a in chosen or b in chosen
    }
    assert len(of_some) * 2 == sum(a in chosen or b in chosen for a, b, _ in expected)
    assert set(index) == set(features)
    assert all(index.get(key) == shape for key, shape in features.items())


def test_the_index_stays_right_when_the_delta_is_merged_and_trees_die() -> None:
    random.seed(4)
    index: FeatureIndex[int] = FeatureIndex()
    points = {key: shapely.Point(random.uniform(-74, -73), random.uniform(40, 41)) for key in range(3500)}
    for key, point in points.items():
        index.insert(key, point)
    for key in range(0, 3500, 3):
        index.remove(key)
        del points[key]
    for key in range(1, 3500, 3):
        points[key] = shapely.Point(-points[key].x - 148, points[key].y)
        index.replace(key, points[key])
    area = shapely.box(-73.7, 40.2, -73.4, 40.6)
    expected = {key for key, point in points.items() if area.contains(point)}
    assert {key for key, relation in index.relations_of(area) if relation is RCC8.NTPPi} == expected
    assert len(index) == len(points)


def test_only_features_whose_boxes_meet_are_related() -> None:
    index = FeatureIndex((n, box(n * 2, 0, 1, 1)) for n in range(500))
    assert index.relations_of(box(10, 0, 1, 1), exclude=5) == []
    assert index.pairs_related == 0
    assert index.relations_of(box(10, 0, 3, 1), exclude=5) == [(6, RCC8.TPPi)]
    assert index.pairs_related == 1


def test_an_edit_far_away_costs_the_same_in_a_large_index() -> None:
    counts = []
    for size in (100, 2000):
        index = FeatureIndex((n, shapely.Point(n / 20, 10)) for n in range(size))
        index.relations_of(shapely.Point(50 / 20, 10))
        counts.append(index.pairs_related)
    assert counts == [1, 1]


def test_the_relation_reads_from_the_geometry_to_the_feature() -> None:
    index = FeatureIndex([("borough", box(0, 0, 5, 5))])
    assert index.relations_of(box(1, 1, 1, 1)) == [("borough", RCC8.NTPP)]
    assert index.relations_of(box(-1, -1, 9, 9)) == [("borough", RCC8.NTPPi)]


def test_many_vertices_are_related_as_exactly_as_few() -> None:
    circles = [
        shapely.Point(x / 10, y / 10).buffer(r / 10, quad_segs=32)
        for x, y, r in [(0, 0, 2), (0, 0, 1), (1, 0, 1), (3, 0, 1), (0, 0, 2), (9, 9, 1), (1, 0, 2)]
    ]
    ring = shapely.difference(circles[0], circles[1])
    line = shapely.segmentize(shapely.LineString([(-1, 0), (1, 0)]), 0.01)
    features = dict(enumerate([*circles, ring, line, shapely.Point(0, 0), shapely.Point(0.2, 0)]))
    index = FeatureIndex(features.items())
    in_bulk = {pair for a, b, r in index.relate_all() for pair in ((a, b, r), (b, a, r.inverse))}
    assert in_bulk == brute_force(features)


def test_empty_geometries_are_held_and_relate_to_nothing() -> None:
    index = FeatureIndex([("a", shapely.Point()), ("b", box(0, 0, 1, 1))])
    index.insert("c", shapely.Polygon())
    assert index.relations_of(shapely.Point()) == []
    assert list(index.relate_all()) == []
    index.remove("a")
    assert index.nearest(shapely.Point(*NEW_YORK), 3) == [("b", 0.0)]


def test_a_key_is_there_once_and_must_be_there_to_be_removed() -> None:
    index = FeatureIndex([("a", box(0, 0, 1, 1))])
    with pytest.raises(MissingFeatureError, match="Use replace"):
        index.insert("a", box(0, 0, 1, 1))
    with pytest.raises(MissingFeatureError, match="not in the index"):
        index.remove("b")
    with pytest.raises(MissingFeatureError, match="given twice"):
        FeatureIndex([("a", box(0, 0, 1, 1)), ("a", box(0, 0, 1, 1))])


def test_a_tolerance_must_be_a_sensible_number_of_meters() -> None:
    with pytest.raises(ArgumentError, match="Give meters"):
        FeatureIndex(tolerance_m=-1)


places = st.tuples(st.floats(-179.9, 179.9), st.floats(-80, 80)).map(shapely.Point)


@given(st.lists(places, min_size=1, max_size=15), places, st.integers(1, 5))
@settings(deadline=None)
def test_the_nearest_features_are_those_that_measuring_all_of_them_finds(
    points: list[shapely.Point], middle: shapely.Point, count: int
) -> None:
    index = FeatureIndex(enumerate(points))
    found = [meters for _, meters in index.nearest(middle, count)]
    assert found == pytest.approx(sorted(distance_m(middle, point) for point in points)[:count])


@given(st.lists(places, min_size=1, max_size=15), places, st.floats(1000, 5_000_000))
@settings(deadline=None)
def test_the_features_within_a_distance_are_those_that_measuring_all_of_them_finds(
    points: list[shapely.Point], middle: shapely.Point, distance: float
) -> None:
    index = FeatureIndex(enumerate(points))
    expected = {key for key, point in enumerate(points) if distance_m(middle, point) <= distance}
    assert {key for key, _ in index.within_distance(middle, distance)} == expected


def test_a_tolerance_holds_in_bulk_and_one_by_one() -> None:
    features = {
        "a": box(0, 0, 1, 1),
        "b": shapely.box(-73.99 + 1e-7, 40.7, -73.98, 40.71),
        "c": box(1, 1, 1, 1),
    }
    index = FeatureIndex(features.items(), tolerance_m=1)
    assert relate(features["a"], features["b"]).rcc8 is RCC8.DC
    assert dict(index.relations_of(features["a"], exclude="a"))["b"] is RCC8.EC
    expected = {
        frozenset((a, b)): relate_within(features[a], features[b], 1).rcc8
        for a, b in itertools.combinations(features, 2)
    }
    assert {frozenset((a, b)): relation for a, b, relation in index.relate_all()} == expected
