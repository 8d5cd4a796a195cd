"""The eight relations, for points, lines and areas."""

import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import NamedNode
from shapely.geometry.base import BaseGeometry

from geo.relate.rcc8 import CODES, PROPERTIES, RCC5, RCC8, RELATIONS, classify, relate, relate_pairs

SQUARE = "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))"
CASES = [
    # areas
    (SQUARE, "POLYGON((6 0, 8 0, 8 4, 6 4, 6 0))", "DC"),
    (SQUARE, "POLYGON((4 0, 8 0, 8 4, 4 4, 4 0))", "EC"),
    (SQUARE, "POLYGON((4 4, 8 4, 8 8, 4 8, 4 4))", "EC"),
    (SQUARE, "POLYGON((2 2, 6 2, 6 6, 2 6, 2 2))", "PO"),
    (SQUARE, "POLYGON((0 0, 0 4, 4 4, 4 2, 4 0, 0 0))", "EQ"),
    ("POLYGON((0 1, 2 1, 2 2, 0 2, 0 1))", SQUARE, "TPP"),
    ("POLYGON((1 1, 2 1, 2 2, 1 2, 1 1))", SQUARE, "NTPP"),
    # lines and areas
    ("LINESTRING(6 6, 7 7)", SQUARE, "DC"),
    ("LINESTRING(0 0, 4 0)", SQUARE, "EC"),
    ("LINESTRING(4 2, 8 2)", SQUARE, "EC"),
    ("LINESTRING(2 2, 8 2)", SQUARE, "PO"),
    ("LINESTRING(0 2, 2 2)", SQUARE, "TPP"),
    ("LINESTRING(1 1, 2 2)", SQUARE, "NTPP"),
    # lines
    ("LINESTRING(0 0, 1 1)", "LINESTRING(2 2, 3 3)", "DC"),
    ("LINESTRING(0 0, 1 1)", "LINESTRING(1 1, 3 0)", "EC"),
    ("LINESTRING(0 0, 1 1)", "LINESTRING(0 2, 1 1, 2 2)", "EC"),
    ("LINESTRING(0 0, 2 2)", "LINESTRING(0 2, 2 0)", "PO"),
    ("LINESTRING(0 0, 2 2)", "LINESTRING(2 2, 1 1, 0 0)", "EQ"),
    ("LINESTRING(0 0, 2 0)", "LINESTRING(0 0, 4 0)", "TPP"),
    ("LINESTRING(1 0, 2 0)", "LINESTRING(0 0, 4 0)", "NTPP"),
    # points
    ("POINT(1 1)", "POINT(2 2)", "DC"),
    ("POINT(1 1)", "POINT(1 1)", "EQ"),
    ("POINT(1 1)", "MULTIPOINT((1 1), (2 2))", "NTPP"),
    ("MULTIPOINT((1 1), (3 3))", "MULTIPOINT((1 1), (2 2))", "PO"),
    ("POINT(1 1)", SQUARE, "NTPP"),
    ("POINT(0 1)", SQUARE, "EC"),
    ("POINT(9 9)", SQUARE, "DC"),
    ("POINT(1 0)", "LINESTRING(0 0, 4 0)", "NTPP"),
    ("POINT(0 0)", "LINESTRING(0 0, 4 0)", "EC"),
    # empty
    ("POINT EMPTY", SQUARE, "DC"),
    ("POLYGON EMPTY", "POLYGON EMPTY", "DC"),
]


@pytest.mark.parametrize(("left", "right", "expected"), CASES)
def test_a_pair_has_the_relation_that_the_table_gives_it(left: str, right: str, expected: str) -> None:
    relation = relate(shapely.from_wkt(left), shapely.from_wkt(right))
    assert relation.rcc8 == expected
    assert relate(shapely.from_wkt(right), shapely.from_wkt(left)).rcc8 == RCC8(expected).inverse


def test_an_enclave_that_fills_the_hole_of_a_county_is_externally_connected() -> None:
    county = shapely.from_wkt("POLYGON((0 0, 9 0, 9 9, 0 9, 0 0), (3 3, 6 3, 6 6, 3 6, 3 3))")
    city = shapely.from_wkt("POLYGON((3 3, 6 3, 6 6, 3 6, 3 3))")
    relation = relate(city, county)
    assert relation.matrix == "FF2F1F212"
    assert relation.rcc8 is RCC8.EC
    assert relation.rcc5 is RCC5.EC


@st.composite
def shapes(draw: st.DrawFn) -> BaseGeometry:
    """Small points, lines and boxes on a coarse grid, so that every relation comes up."""
    numbers = st.integers(0, 5)
    kind = draw(st.sampled_from(["point", "line", "box"]))
    x, y = draw(numbers), draw(numbers)
    if kind == "point":
        return shapely.Point(x, y)
    if kind == "line":
        others = draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=3))
        line = shapely.LineString([(x, y), *others])
        return line if line.length else shapely.Point(x, y)
    return shapely.box(x, y, x + draw(st.integers(1, 4)), y + draw(st.integers(1, 4)))


@given(shapes(), shapes())
def test_the_relation_of_right_to_left_is_the_inverse(a: BaseGeometry, b: BaseGeometry) -> None:
    assert relate(a, b).rcc8 == relate(b, a).rcc8.inverse
    assert relate(a, b).rcc5 == relate(b, a).rcc5.inverse


@given(shapes())
def test_every_shape_equals_itself(shape: BaseGeometry) -> None:
    assert relate(shape, shape).rcc8 is RCC8.EQ


@given(st.lists(st.sampled_from("F012"), min_size=9, max_size=9).map("".join))
def test_every_matrix_has_exactly_one_class_and_its_transpose_the_inverse(matrix: str) -> None:
    transpose = "".join(matrix[3 * column + row] for row in range(3) for column in range(3))
    assert classify(transpose) is classify(matrix).inverse


def test_pairs_are_related_in_bulk_like_one_by_one() -> None:
    left = [shapely.from_wkt(case[0]) for case in CASES]
    right = [shapely.from_wkt(case[1]) for case in CASES]
    assert [CODES[code] for code in relate_pairs(left, right)] == [case[2] for case in CASES]


def test_each_relation_has_its_geosparql_property() -> None:
    assert RCC8.NTPPi.property == NamedNode("http://www.opengis.net/ont/geosparql#rcc8ntppi")
    assert len(PROPERTIES) == 8
    assert all(RELATIONS[relation.property] is relation for relation in RCC8)


def test_the_five_classes_fold_tangential_and_not_into_in_and_its_inverse() -> None:
    assert {relation.rcc5 for relation in (RCC8.TPP, RCC8.NTPP)} == {RCC5.IN}
    assert {relation.rcc5 for relation in (RCC8.TPPi, RCC8.NTPPi)} == {RCC5.INi}
