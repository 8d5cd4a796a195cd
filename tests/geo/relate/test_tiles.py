"""Strips give every related pair once, whatever the features and however they are cut."""

import numpy
import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely.geometry.base import BaseGeometry

from geo.relate.bulk import TileTask, relate_all, relate_tile, tiles_of
from geo.relate.rcc8 import INVERSE_CODES

CORNERS = st.integers(0, 8)
SIZES = st.sampled_from([0, 1, 2, 7])


@st.composite
def drawn_features(draw: st.DrawFn) -> list[BaseGeometry]:
    places = draw(st.lists(st.tuples(CORNERS, CORNERS, SIZES, SIZES), max_size=14))
    shapes: list[BaseGeometry] = [shapely.Point()] if draw(st.booleans()) else []
    for x, y, width, height in places:
        corners = shapely.MultiPoint([(x, y), (x + width, y + height)])
        shapes.append(shapely.envelope(corners))
    return shapes


def in_strips(shapes: list[BaseGeometry], tolerance_m: float, owned: int) -> list[tuple[int, int, int]]:
    found = []
    for strip in tiles_of(shapely.bounds(array(shapes)), tolerance_m, owned):
        pieces = shapely.to_wkb(array(shapes)[strip.rows]).tolist()
        offsets = numpy.cumsum([0, *map(len, pieces)], dtype=numpy.int64)
        task = TileTask(strip.number, b"".join(pieces), offsets, strip.first, tolerance_m)
        pairs = relate_tile(task)
        left, right = strip.rows[pairs.left].tolist(), strip.rows[pairs.right].tolist()
        found += list(zip(left, right, pairs.codes.tolist(), strict=True))
    return found


def array(shapes: list[BaseGeometry]) -> numpy.ndarray:  # type: ignore[type-arg]
    result = numpy.empty(len(shapes), dtype=object)
    result[:] = shapes
    return result


def turned(pairs: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    return sorted((a, b, c) if a < b else (b, a, int(INVERSE_CODES[c])) for a, b, c in pairs)


@settings(deadline=None)
@given(drawn_features(), st.integers(1, 6), st.sampled_from([0.0, 1000.0]))
def test_strips_of_any_size_give_the_pairs_of_one_sweep(
    shapes: list[BaseGeometry], owned: int, tolerance_m: float
) -> None:
    whole = [
        (int(a), int(b), int(c))
        for pairs in relate_all(array(shapes), tolerance_m)
        for a, b, c in zip(pairs.left, pairs.right, pairs.codes, strict=True)
    ]
    assert turned(in_strips(shapes, tolerance_m, owned)) == turned(whole)


def test_a_feature_that_spans_everything_is_a_guest_of_every_later_strip() -> None:
    shapes: list[BaseGeometry] = [
        shapely.box(0, 0, 100, 1),
        *(shapely.box(x, 0, x + 0.5, 1) for x in range(1, 9)),
    ]
    strips = list(tiles_of(shapely.bounds(array(shapes)), 0.0, 3))
    assert [len(strip.rows) - strip.first for strip in strips] == [3, 3, 3]
    assert all(0 in strip.rows for strip in strips)
    assert len(in_strips(shapes, 0.0, 3)) == 8


@pytest.mark.parametrize("shapes", [[], [shapely.Point()]])
def test_nothing_to_relate_is_no_strip(shapes: list[BaseGeometry]) -> None:
    assert list(tiles_of(shapely.bounds(array(shapes)), 0.0, 3)) == []
