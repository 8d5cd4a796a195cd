"""The eight tools, in both orders of their arguments."""

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geo.errors import ArgumentError
from geo.toolkit import (
    TOOLS,
    Belonging,
    Meeting,
    distance,
    geohash,
    linestring_for_polygon,
    linestring_to_polygon,
    point_for_linestring,
    point_to_polygon,
    polygon_for_polygon,
    polygon_to_polygon,
)

PARK = shapely.box(-73.98, 40.76, -73.95, 40.80)
POND = shapely.box(-73.97, 40.77, -73.96, 40.78)
FOUNTAIN = shapely.Point(-73.965, 40.775)
PATH = shapely.LineString([(-73.97, 40.77), (-73.96, 40.79)])
STREET = shapely.LineString([(-74.0, 40.77), (-73.9, 40.77)])


def test_the_geohash_has_eight_characters() -> None:
    assert geohash(shapely.Point(-5.6, 42.6), 5) == "ezs42"
    assert geohash(shapely.Point(10.40744, 57.64911), 8) == "u4pruydq"
    assert len(geohash(PARK)) == 8


def test_an_empty_geometry_has_no_geohash() -> None:
    with pytest.raises(ArgumentError, match="Give"):
        geohash(shapely.Point())


def test_the_distance_is_in_kilometers_and_the_same_both_ways() -> None:
    a, b = shapely.Point(0, 0), shapely.Point(0, 1)
    assert distance(a, b) == distance(b, a) == pytest.approx(110.574, rel=1e-5)


@pytest.mark.parametrize(
    ("tool", "part", "whole"),
    [
        (point_to_polygon, FOUNTAIN, PARK),
        (linestring_to_polygon, PATH, PARK),
        (polygon_to_polygon, POND, PARK),
    ],
)
def test_a_part_belongs_to_its_whole_in_either_order(tool, part, whole) -> None:  # type: ignore[no-untyped-def]
    assert tool(part, whole) is Belonging.FIRST_IN_SECOND
    assert tool(whole, part) is Belonging.SECOND_IN_FIRST


def test_what_is_outside_or_on_the_border_belongs_to_neither() -> None:
    assert point_to_polygon(shapely.Point(0, 0), PARK) is Belonging.NEITHER
    assert point_to_polygon(shapely.Point(-73.98, 40.77), PARK) is Belonging.NEITHER
    assert linestring_to_polygon(PARK, STREET) is Belonging.NEITHER
    assert polygon_to_polygon(PARK, PARK) is Belonging.EQUAL


def test_what_meets_is_told_apart_by_inner_points_in_either_order() -> None:
    assert linestring_for_polygon(STREET, PARK) is Meeting.OVERLAP
    assert linestring_for_polygon(PARK, STREET) is Meeting.OVERLAP
    assert polygon_for_polygon(POND, PARK) is polygon_for_polygon(PARK, POND) is Meeting.OVERLAP
    beside = shapely.box(-73.95, 40.76, -73.94, 40.80)
    assert polygon_for_polygon(beside, PARK) is polygon_for_polygon(PARK, beside) is Meeting.TOUCH
    assert polygon_for_polygon(shapely.box(0, 0, 1, 1), PARK) is Meeting.NONE


def test_a_point_is_on_a_line_within_a_meter_of_it() -> None:
    assert point_for_linestring(shapely.Point(-73.95, 40.77), STREET) is Meeting.OVERLAP
    assert point_for_linestring(STREET, shapely.Point(-73.95, 40.77)) is Meeting.OVERLAP
    assert point_for_linestring(shapely.Point(-73.95, 40.770005), STREET) is Meeting.OVERLAP
    assert point_for_linestring(shapely.Point(-73.95, 40.77002), STREET) is Meeting.NONE
    assert point_for_linestring(shapely.Point(-74.0, 40.770005), STREET) is Meeting.TOUCH
    assert point_for_linestring(FOUNTAIN, STREET) is Meeting.NONE


def test_a_tool_refuses_geometries_of_other_kinds() -> None:
    with pytest.raises(ArgumentError, match="takes a point and a polygon"):
        point_to_polygon(PATH, PARK)


def test_there_are_eight_tools_under_the_names_of_the_paper() -> None:
    assert set(TOOLS) == {
        *("Geohash", "Distance", "Point2Polygon", "Linestring2Polygon", "Polygon2Polygon"),
        *("Point4Linestring", "Linestring4Polygon", "Polygon4Polygon"),
    }


@given(st.floats(-180, 179.9), st.floats(-90, 89.9))
def test_close_places_share_the_start_of_their_geohash(x: float, y: float) -> None:
    assert geohash(shapely.Point(x, y), 12).startswith(geohash(shapely.Point(x, y)))
