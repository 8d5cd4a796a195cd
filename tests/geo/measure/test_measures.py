"""Geodesic measures."""

import numpy
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from geo.errors import ArgumentError
from geo.measure.measures import (
    area_m2,
    box_around,
    buffer_m,
    distance_m,
    distances_m,
    length_m,
    may_be_near,
    perimeter_m,
)


def test_the_distance_between_points_is_the_geodesic() -> None:
    new_york, london = shapely.Point(-74.0060, 40.7128), shapely.Point(-0.1278, 51.5074)
    assert distance_m(new_york, london) == pytest.approx(5_585_234, rel=1e-5)


def test_many_distances_are_those_one_by_one_to_the_last_digit() -> None:
    random = numpy.random.default_rng(1)
    points = shapely.points(random.uniform(-1, 1, (500, 2)) * numpy.array([180, 90]))
    place = shapely.Point(-74.0060, 40.7128)
    assert distances_m(place, points).tolist() == [distance_m(place, one) for one in points]
    assert distances_m(place, points, towards=True).tolist() == [distance_m(one, place) for one in points]


def test_the_distance_of_parallel_edges_is_taken_where_the_meridians_are_closest() -> None:
    left, right = shapely.box(-83.5, 34.2, -83.3, 34.4), shapely.box(-83.2, 34.3, -83.0, 34.5)
    top = distance_m(shapely.Point(-83.3, 34.4), shapely.Point(-83.2, 34.4))
    assert distance_m(left, right) == pytest.approx(top, rel=1e-6)


def test_the_way_across_the_antimeridian_is_taken() -> None:
    fiji, samoa = shapely.Point(179.9, -17), shapely.Point(-179.9, -17).buffer(0.01)
    assert distance_m(fiji, samoa) < 21_000
    assert distance_m(samoa, fiji) == pytest.approx(distance_m(fiji, samoa))


def test_what_meets_is_at_no_distance_and_what_is_empty_at_none() -> None:
    assert distance_m(shapely.box(0, 0, 1, 1), shapely.Point(1, 1)) == 0
    with pytest.raises(ArgumentError, match="empty"):
        distance_m(shapely.Point(), shapely.Point(1, 1))


def test_a_point_near_a_long_edge_is_measured_to_the_edge_as_drawn() -> None:
    edge = shapely.LineString([(-100, 49), (-99, 49)])
    beside = shapely.Point(-99.5, 49.001)
    assert distance_m(beside, edge) == pytest.approx(111.2, abs=0.3)


@st.composite
def drawn_shapes(draw: st.DrawFn) -> tuple[shapely.Geometry, shapely.Geometry]:
    """Two shapes within some degrees of each other, but for the poles, on both sides of 180 degrees."""
    x = draw(st.one_of(st.floats(-180, 180), st.floats(175, 180), st.floats(-180, -175)))
    y = draw(st.floats(-85, 85))
    return _near(draw, x, y), _near(draw, x, y)


def _near(draw: st.DrawFn, x: float, y: float) -> shapely.Geometry:
    x = (x + draw(st.floats(-3, 3)) + 180) % 360 - 180
    y = y + draw(st.floats(-3, 3))
    width, height = draw(st.sampled_from([0.0, 1e-4, 0.01, 1.0])), draw(st.sampled_from([1e-4, 0.02, 0.5]))
    corners = [(x, y), (min(x + width, 180), y), (min(x + width, 180), y + height)]
    kind = draw(st.sampled_from(["point", "line", "area"]))
    if kind == "point":
        return shapely.Point(x, y)
    area = shapely.Polygon(corners)
    return area if kind == "area" and area.is_valid else shapely.LineString(corners)


@given(drawn_shapes())
def test_what_is_near_is_never_taken_for_far(pair: tuple[shapely.Geometry, shapely.Geometry]) -> None:
    one, other = pair
    # A part in a hundred: so exactly are distances known.
    meters = distance_m(one, other) * 1.01 + 0.1
    assert may_be_near(one, numpy.array([other, other]), meters).all()


def test_what_is_clearly_further_is_excluded_by_its_shape_and_not_its_box() -> None:
    ring = shapely.Point(-74, 40.7).buffer(0.5).exterior
    inside = shapely.box(-74.01, 40.69, -73.99, 40.71)
    assert distance_m(ring, inside) > 39_000
    assert may_be_near(ring, numpy.array([inside]), 36_000).tolist() == [False]
    assert may_be_near(ring, numpy.array([inside]), 42_000).tolist() == [True]


def test_areas_leave_holes_out_and_perimeters_count_them() -> None:
    plain = shapely.box(0, 0, 1, 1)
    holed = shapely.Polygon(plain.exterior, [shapely.box(0.2, 0.2, 0.4, 0.4).exterior])
    hole = shapely.box(0.2, 0.2, 0.4, 0.4)
    assert area_m2(holed) == pytest.approx(area_m2(plain) - area_m2(hole))
    assert perimeter_m(holed) == pytest.approx(perimeter_m(plain) + perimeter_m(hole))
    assert area_m2(shapely.GeometryCollection([plain, shapely.Point(5, 5)])) == area_m2(plain)
    assert area_m2(plain.reverse()) == pytest.approx(area_m2(plain))
    line = shapely.LineString([(0, 0), (0, 1)])
    assert (area_m2(line), perimeter_m(line)) == (0, 0)
    assert length_m(line) == pytest.approx(110_574.4, rel=1e-5)


def test_a_buffer_holds_its_geometry_and_ends_at_its_radius() -> None:
    county = shapely.box(-83.6, 34.1, -83.2, 34.5)
    grown = buffer_m(county, 10)
    assert grown.contains(county)
    border = [shapely.Point(p) for p in shapely.get_coordinates(shapely.segmentize(grown, 0.005))]
    assert [distance_m(p, county) for p in border] == pytest.approx([10] * len(border), rel=0.02)
    assert county.contains(buffer_m(county, -10))


def test_a_buffer_across_the_antimeridian_comes_in_two_parts() -> None:
    circle = buffer_m(shapely.Point(179.999, 10), 1000)
    assert circle.geom_type == "MultiPolygon"
    assert circle.bounds[0] == -180
    assert circle.bounds[2] == 180
    assert area_m2(circle) == pytest.approx(3.1416e6, rel=0.003)


@pytest.mark.parametrize("radius", [float("nan"), float("inf"), 3e6])
def test_an_impossible_radius_is_refused(radius: float) -> None:
    with pytest.raises(ArgumentError, match="Give a radius"):
        buffer_m(shapely.Point(0, 0), radius)


def test_a_buffer_that_reaches_a_pole_is_refused() -> None:
    with pytest.raises(ArgumentError, match="pole"):
        buffer_m(shapely.Point(0, 89.99), 5000)


@given(
    st.floats(-180, 180),
    st.floats(-89, 89),
    st.floats(1, 3_000_000),
    st.floats(-180, 180),
    st.floats(-89, 89),
)
def test_the_box_around_a_place_holds_all_that_is_within_the_radius(
    x: float, y: float, radius: float, other_x: float, other_y: float
) -> None:
    place, other = shapely.Point(x, y), shapely.Point(other_x, other_y)
    if distance_m(place, other) <= radius:
        assert box_around(place, radius).intersects(other)
