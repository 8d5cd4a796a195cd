"""Many literals at once mean what each of them means by itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import Literal
from shapely.geometry.base import BaseGeometry

from geo.errors import GeometryError
from geo.formats.literals import parse_geometry, parse_many
from geo.vocabulary import GEOJSON_LITERAL, WKT_LITERAL

ODD = [
    "POINT(1 1)",
    "POINT (1 2)",
    " point z (1 2 3)\n",
    "POINT ZM (1 2 3 4)",
    "POINT Z (1 2 NaN)",
    "POINT M (1 2 NaN)",
    "POINT (NaN 1)",
    "POINT (inf 1)",
    "POINT EMPTY",
    "GEOMETRYCOLLECTION EMPTY",
    "",
    "  ",
    "POINT (181 1)",
    "POINT (180.0000000001 1)",
    "POINT (1 91)",
    "LINESTRING (0 0, 200 1)",
    "<http://www.opengis.net/def/crs/EPSG/0/4326> POINT(1 2)",
    "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POINT(1 2)",
    "<http://nowhere.example/> POINT(1 2)",
    "SRID=4326;POINT(1 2)",
    "POINT (nowhere)",
    "POINT (1 2) and more",
    "POLYGON ((0 0, 1 1, 0 1, 1 0, 0 0))",
    "POLYGON ((0 0, 1 0, 1 1))",
    "POLYGON ((0 0, 1 0, 0 0, 0 0))",
    "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))",
    "POINT (1e999 1)",
    "POINT (\uff11 2)",
    "TRIANGLE ((0 0, 1 0, 1 1, 0 0))",
    "TIN (((0 0, 1 0, 1 1, 0 0)))",
    "POLYHEDRALSURFACE (((0 0, 1 0, 1 1, 0 0)))",
    "CIRCULARSTRING (0 0, 1 1, 2 0)",
    "MULTIPOINT (1 1, 2 2)",
    "LINEARRING (0 0, 1 0, 1 1, 0 0)",
    "LINESTRING (0 0, 0 0)",
]


def alone(literal: str | Literal | None) -> BaseGeometry | str | None:
    """The shape, or what is wrong with it."""
    if literal is None:
        return None
    try:
        return parse_geometry(Literal(literal, datatype=WKT_LITERAL) if isinstance(literal, str) else literal)
    except GeometryError as error:
        return str(error)


def together(literals: list[str | Literal | None]) -> list[BaseGeometry | str | None]:
    read = parse_many(literals)
    return [
        read.faults.get(position) if shape is None else shape for position, shape in enumerate(read.shapes)
    ]


def identical(one: object, other: object) -> bool:
    if isinstance(one, BaseGeometry) and isinstance(other, BaseGeometry):
        return one.wkb == other.wkb
    return one == other


@pytest.mark.parametrize("text", ODD)
def test_a_literal_means_the_same_among_others_as_alone(text: str) -> None:
    texts = ["POINT (5 5)", text, "POINT (6 6)"]
    assert all(identical(*pair) for pair in zip(together(list(texts)), map(alone, texts), strict=True))


@given(st.lists(st.sampled_from(ODD), max_size=20))
def test_any_of_them_in_any_order_mean_what_they_do_alone(texts: list[str]) -> None:
    assert all(identical(*pair) for pair in zip(together(list(texts)), map(alone, texts), strict=True))


def test_other_literals_and_gaps_are_distinguished() -> None:
    point = Literal('{"type": "Point", "coordinates": [1, 2]}', datatype=GEOJSON_LITERAL)
    some = [point, None, Literal("POINT (1 2)"), "POINT (1 2)"]
    assert all(identical(*pair) for pair in zip(together(some), map(alone, some), strict=True))


def test_there_may_be_more_than_are_read_together() -> None:
    texts = [f"POINT ({number / 100} 1)" if number % 700 else "POINT (nowhere)" for number in range(2500)]
    read = parse_many(texts)
    assert sorted(read.faults) == [0, 700, 1400, 2100]
    assert [shape.x for shape in read.shapes if shape is not None] == [
        number / 100 for number in range(2500) if number % 700
    ]
    assert len(parse_many([]).shapes) == 0
