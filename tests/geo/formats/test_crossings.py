"""The estimate of how often edges cross, and what is not repaired because of it."""

import math
import time

import pytest
import shapely
from pyoxigraph import Literal

from geo.errors import InvalidShapeError
from geo.formats.literals import parse_geometry
from geo.measure.measures import crossings
from geo.vocabulary import WKT_LITERAL


def star(points: int) -> str:
    step = points // 2
    corners = [2 * math.pi * (n * step % points) / points for n in range(points + 1)]
    return "POLYGON((" + ",".join(f"{math.cos(a):.6f} {math.sin(a):.6f}" for a in corners) + "))"


@pytest.mark.parametrize(
    ("wkt", "count"),
    [
        ("POINT(1 1)", 0),
        ("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", 0),
        ("POLYGON((0 0, 1 1, 1 0, 0 1, 0 0))", 1),
        ("GEOMETRYCOLLECTION(POINT(0 0), LINESTRING(0 0, 2 2), LINESTRING(0 2, 2 0))", 1),
        ("POLYGON EMPTY", 0),
    ],
)
def test_edges_of_a_shape_are_counted_where_they_cross(wkt: str, count: int) -> None:
    assert crossings(shapely.from_wkt(wkt)) == count


def test_edges_of_two_shapes_are_counted_too() -> None:
    first, second = shapely.from_wkt("LINESTRING(0 0, 2 2)"), shapely.from_wkt("LINESTRING(0 2, 2 0, 2 1)")
    assert crossings(first, second) == 1


def test_a_star_that_crosses_itself_everywhere_is_refused_at_once() -> None:
    started = time.perf_counter()
    with pytest.raises(InvalidShapeError, match="too often for a repair"):
        parse_geometry(Literal(star(2001), datatype=WKT_LITERAL))
    assert time.perf_counter() - started < 2


def test_a_ring_that_crosses_itself_seldom_is_repaired() -> None:
    shape = parse_geometry(Literal(star(21), datatype=WKT_LITERAL))
    assert shape.is_valid
    assert not shape.is_empty
