"""Geometry literals in and out."""

import math

import pytest
import shapely
from hypothesis import example, given
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from geo.errors import AxisOrderError, GeometryError, InvalidShapeError, UnknownCrsError
from geo.formats.literals import is_geometry_literal, parse_geometry, read_geometry, write_geometry
from geo.vocabulary import CRS84, GEOJSON_LITERAL, GEOMETRY_LITERALS, GML_LITERAL, KML_LITERAL, WKT_LITERAL

EPSG = "http://www.opengis.net/def/crs/EPSG/0/"
BOW_TIE = "POLYGON((0 0, 2 2, 2 0, 0 2, 0 0))"
COLUMBIA = shapely.Point(-73.9626, 40.8075)


def wkt(text: str) -> Literal:
    return Literal(text, datatype=WKT_LITERAL)


def gml(text: str) -> Literal:
    return Literal(text, datatype=GML_LITERAL)


def test_wkt_without_a_reference_system_is_longitude_latitude() -> None:
    value = read_geometry(wkt("POINT(-73.9626 40.8075)"))
    assert value.shape == COLUMBIA
    assert value.crs == CRS84


def test_wkt_in_epsg_4326_is_latitude_first() -> None:
    value = read_geometry(wkt(f"<{EPSG}4326> POINT(40.8075 -73.9626)"))
    assert value.shape == COLUMBIA
    assert value.crs == EPSG + "4326"


def test_wkt_in_a_projected_system_comes_out_in_degrees() -> None:
    shape = parse_geometry(wkt(f"<{EPSG}32618> POINT(587505.54 4517850.22)"))
    assert shape.distance(shapely.Point(-73.9628, 40.8072)) < 0.001


@pytest.mark.parametrize("iri", ["urn:ogc:def:crs:EPSG::4326", "https://www.opengis.net/def/crs/EPSG/0/4326"])
def test_the_other_forms_of_a_reference_system_are_understood(iri: str) -> None:
    assert read_geometry(wkt(f"<{iri}>POINT(40.8075 -73.9626)")).crs == EPSG + "4326"


@pytest.mark.parametrize("iri", [EPSG + "999999", "EPSG:4326", "http://example.org/crs", ""])
def test_an_unknown_reference_system_is_refused_by_name(iri: str) -> None:
    with pytest.raises(UnknownCrsError, match=r"Check|Write"):
        parse_geometry(wkt(f"<{iri}> POINT(1 2)"))


def test_swapped_axes_are_named_as_such() -> None:
    with pytest.raises(AxisOrderError, match="axes look swapped: CRS84 is longitude latitude"):
        parse_geometry(wkt("POINT(40.8 -120.5)"))


def test_a_latitude_over_ninety_is_refused_also_when_the_system_is_named() -> None:
    with pytest.raises(AxisOrderError):
        parse_geometry(wkt(f"<{CRS84}> POINT(40.8 -120.5)"))
    with pytest.raises(GeometryError):
        parse_geometry(wkt(f"<{EPSG}4326> POINT(-120.5 40.8)"))


@pytest.mark.parametrize(
    ("code", "right", "swapped"),
    [
        (31467, "5500000 3500000", "3500000 5500000"),
        (2393, "6700000 3380000", "3380000 6700000"),
        (4258, "49 9", "9 49"),
        (32618, "583960 4507523", "4507523 583960"),
    ],
)
def test_swapped_axes_of_a_named_system_are_recognized_by_its_area_of_use(
    code: int, right: str, swapped: str
) -> None:
    assert not parse_geometry(wkt(f"<{EPSG}{code}> POINT({right})")).is_empty
    with pytest.raises(AxisOrderError, match="axes look swapped: the first coordinate"):
        parse_geometry(wkt(f"<{EPSG}{code}> POINT({swapped})"))


@pytest.mark.parametrize(
    "text", ["POINT(1e30 1e30)", "POLYGON((19900000 0, 20200000 0, 20200000 100000, 19900000 0))"]
)
def test_coordinates_past_the_edge_of_their_system_are_refused(text: str) -> None:
    with pytest.raises(GeometryError, match="outside its area of use"):
        parse_geometry(wkt(f"<{EPSG}3857> {text}"))


def test_coordinates_between_two_operations_of_their_system_are_read() -> None:
    # In the British area of use, but in that of one operation one way and of another one back.
    placed = parse_geometry(wkt(f"<{EPSG}27700> POINT(680350.72 147510.14)"))
    assert (shapely.get_x(placed), shapely.get_y(placed)) == pytest.approx((2.008, 51.158), abs=1e-3)


@pytest.mark.parametrize("code", [4978, 5773])
def test_a_system_without_two_axes_of_places_is_refused(code: int) -> None:
    with pytest.raises(UnknownCrsError, match="Transform the coordinates"):
        parse_geometry(wkt(f"<{EPSG}{code}> POINT(1 2)"))


def test_projected_coordinates_without_a_system_are_refused() -> None:
    with pytest.raises(AxisOrderError, match="reference system of projected coordinates"):
        parse_geometry(wkt("POINT(587505 4517850)"))


@pytest.mark.parametrize("text", ["POINT(NaN 1)", "POINT(1 inf)", "POINT(1e999 1)", "LINESTRING(0 0, 1 NaN)"])
def test_coordinates_that_are_not_finite_are_refused(text: str) -> None:
    with pytest.raises(GeometryError, match="not a finite number"):
        parse_geometry(wkt(text))


@pytest.mark.parametrize(
    "text",
    [
        *("POINT", "POINT(1)", "somewhere", "POINT(1 2) x", "LINESTRING(1 1)", "COMPOUNDCURVE((0 0, 1 1))"),
        *("TIN(((0 0, 1 0, 1 1, 0 0)))", "POINT(\N{ARABIC-INDIC DIGIT ONE} 2)"),
        "CURVEPOLYGON((0 0, 1 0, 1 1))",
    ],
)
def test_what_is_no_wkt_is_refused_with_a_fix(text: str) -> None:
    with pytest.raises(GeometryError, match=r"Write for example|Write its faces|Draw"):
        parse_geometry(wkt(text))


def test_ewkt_is_refused_and_the_right_form_shown() -> None:
    with pytest.raises(GeometryError, match="EPSG/0/CODE"):
        parse_geometry(wkt("SRID=4326;POINT(1 2)"))


@pytest.mark.parametrize("datatype", sorted(GEOMETRY_LITERALS, key=str))
@pytest.mark.parametrize("text", ["", "  \n"])
def test_an_empty_literal_is_an_empty_geometry(datatype: NamedNode, text: str) -> None:
    assert parse_geometry(Literal(text, datatype=datatype)).is_empty


def test_heights_and_measures_are_kept() -> None:
    shape = parse_geometry(wkt("POINT ZM(1 2 3 4)"))
    assert (shape.x, shape.y, shape.z, shape.m) == (1, 2, 3, 4)  # type: ignore[attr-defined]
    assert write_geometry(shape).value == "POINT ZM (1 2 3 4)"
    raised = parse_geometry(wkt(f"<{EPSG}4326> POINT Z(40 -73 12)"))
    assert raised.z == 12  # type: ignore[attr-defined]


def test_heights_and_measures_are_kept_from_one_reference_system_to_another() -> None:
    text = (
        "GEOMETRYCOLLECTION ZM (POINT ZM (2 1 3 4), LINESTRING ZM (2 1 3 4, 3 1 5 6), "
        "POLYGON ZM ((2 1 1 1, 3 1 2 2, 3 2 3 3, 2 1 1 1)), MULTIPOINT ZM (EMPTY, (2 1 3 4)))"
    )
    shape = parse_geometry(wkt(f"<{EPSG}4326> {text}"))
    assert shape == shapely.from_wkt(
        text.replace("2 1 ", "1 2 ").replace("3 1 ", "1 3 ").replace("3 2 3", "2 3 3")
    )
    assert write_geometry(shape, WKT_LITERAL, EPSG + "4326").value == f"<{EPSG}4326> {text}"
    assert parse_geometry(wkt(f"<{EPSG}4326> POINT M (2 1 4)")) == shapely.from_wkt("POINT M (1 2 4)")


@pytest.mark.parametrize("datatype", sorted(GEOMETRY_LITERALS, key=str))
def test_heights_that_only_some_positions_have_are_left_out_of_a_literal(datatype: NamedNode) -> None:
    shape = shapely.GeometryCollection([shapely.Point(1, 2, 3), shapely.LineString([(3, 4), (5, 6)])])
    assert parse_geometry(write_geometry(shape, datatype)) == shapely.force_2d(shape)


def test_an_invalid_shape_is_repaired_and_the_fault_kept() -> None:
    value = read_geometry(wkt(BOW_TIE))
    assert value.shape.is_valid
    assert value.repair is not None
    assert "Self-intersection" in value.repair


def test_an_invalid_shape_is_refused_on_demand() -> None:
    with pytest.raises(InvalidShapeError, match="Self-intersection"):
        read_geometry(wkt(BOW_TIE), invalid="refuse")


def test_a_ring_left_open_is_closed_or_refused() -> None:
    value = read_geometry(wkt("POLYGON((0 0, 0 3, 3 3, 3 0))"))
    assert value.shape.equals(shapely.box(0, 0, 3, 3))
    assert value.repair == "Ring not closed"
    with pytest.raises(GeometryError, match="closed"):
        read_geometry(wkt("POLYGON((0 0, 0 3, 3 3, 3 0))"), invalid="refuse")


def test_a_shape_that_collapses_when_repaired_is_refused() -> None:
    with pytest.raises(InvalidShapeError, match="nothing is left"):
        parse_geometry(wkt("POLYGON((0 0, 1 1, 0 0))"))


def test_geojson_is_read_from_geometries_and_features() -> None:
    for text in (
        '{"type": "Point", "coordinates": [-73.9626, 40.8075]}',
        '{"type": "Feature", "geometry": {"type": "Point", "coordinates": [-73.9626, 40.8075]}}',
    ):
        assert parse_geometry(Literal(text, datatype=GEOJSON_LITERAL)) == COLUMBIA


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[1, 2]",
        '{"type": "Point"}',
        '{"type": "Point", "coordinates": ["a", 1]}',
        '{"type": "Point", "coordinates": [1, 2], "crs": {"properties": {"name": "EPSG:3857"}}}',
        '{"type": "Point", "coordinates": [1, 2], "crs": "EPSG:3857"}',
        '{"type": "Point", "coordinates": [1, 2], "crs": {"properties": "EPSG:3857"}}',
    ],
)
def test_broken_geojson_is_refused(text: str) -> None:
    with pytest.raises(GeometryError):
        parse_geometry(Literal(text, datatype=GEOJSON_LITERAL))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "<g:Point xmlns:g='http://www.opengis.net/gml/3.2'><g:pos>1 2</g:pos></g:Point>",
            "POINT(1 2)",
        ),
        ("<Point xmlns='http://opengis.net/gml'><coordinates>1,2</coordinates></Point>", "POINT(1 2)"),
        ("<Point srsName='urn:ogc:def:crs:EPSG::4326'><pos>2 1</pos></Point>", "POINT(1 2)"),
        ("<LineString><pos>0 0</pos><pos>1 1</pos></LineString>", "LINESTRING(0 0, 1 1)"),
        (
            "<LineString srsDimension='3'><posList>0 0 5 1 1 6</posList></LineString>",
            "LINESTRING Z(0 0 5, 1 1 6)",
        ),
        (
            "<Curve><segments><LineStringSegment><posList>0 0 1 1</posList></LineStringSegment>"
            "<LineStringSegment><posList>1 1 2 0</posList></LineStringSegment></segments></Curve>",
            "LINESTRING(0 0, 1 1, 2 0)",
        ),
        (
            "<Polygon><exterior><LinearRing><posList>0 0 4 0 4 4 0 0</posList></LinearRing></exterior>"
            "<interior><LinearRing><posList>2 1 3 1 3 2 2 1</posList></LinearRing></interior></Polygon>",
            "POLYGON((0 0, 4 0, 4 4, 0 0), (2 1, 3 1, 3 2, 2 1))",
        ),
        (
            "<MultiSurface><surfaceMembers><Polygon><outerBoundaryIs><LinearRing><coordinates>0,0 1,0 1,1 0,0"
            "</coordinates></LinearRing></outerBoundaryIs></Polygon></surfaceMembers></MultiSurface>",
            "MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)))",
        ),
        (
            "<Envelope><lowerCorner>0 0</lowerCorner><upperCorner>2 1</upperCorner></Envelope>",
            "POLYGON((2 0, 2 1, 0 1, 0 0, 2 0))",
        ),
        (
            "<MultiPoint><pointMember><Point><pos>1 2</pos></Point></pointMember></MultiPoint>",
            "MULTIPOINT((1 2))",
        ),
        (
            "<MultiPoint><pointMember><Point/></pointMember><pointMember><Point><pos>1 2</pos></Point>"
            "</pointMember></MultiPoint>",
            "MULTIPOINT((1 2))",
        ),
        (
            "<MultiSurface><surfaceMember><MultiPolygon><polygonMember><Polygon><exterior><LinearRing>"
            "<posList>0 0 1 0 1 1 0 0</posList></LinearRing></exterior></Polygon></polygonMember>"
            "</MultiPolygon></surfaceMember></MultiSurface>",
            "MULTIPOLYGON(((0 0, 1 0, 1 1, 0 0)))",
        ),
        ("<Point><coordinates decimal=',' cs=';'>1,5;2</coordinates></Point>", "POINT(1.5 2)"),
        ("<Point><coordinates cs='' ts=''>1,2</coordinates></Point>", "POINT(1 2)"),
    ],
)
def test_gml_of_every_version_is_read(text: str, expected: str) -> None:
    assert parse_geometry(gml(text)) == shapely.from_wkt(expected)


@pytest.mark.parametrize(
    "text",
    [
        "<Point><pos>1 2</Point>",
        "<Point><pos>1 x</pos></Point>",
        "<Circle/>",
        "<LineString><posList>1 2 3</posList></LineString>",
        "<Polygon><exterior><LinearRing><posList>0 0 1 0</posList></LinearRing></exterior></Polygon>",
        "<!DOCTYPE a [<!ENTITY e SYSTEM 'file:///etc/hostname'>]><Point><pos>&e;</pos></Point>",
        "<Point srsDimension='x'><pos>1 2</pos></Point>",
        "<LineString srsDimension='0'><posList>1 2</posList></LineString>",
        "<Point><pos>1 2</pos><pos>3 4</pos></Point>",
        "<Envelope><lowerCorner>0 0</lowerCorner></Envelope>",
        "<Envelope><lowerCorner>NaN 0</lowerCorner><upperCorner>2 1</upperCorner></Envelope>",
        "<Polygon><interior><LinearRing><posList>0 0 1 0 1 1 0 0</posList></LinearRing></interior></Polygon>",
        "<MultiSurface><surfaceMember><Point><pos>1 2</pos></Point></surfaceMember></MultiSurface>",
        "<MultiPoint><pointMember><LineString><posList>0 0 1 1</posList></LineString></pointMember>"
        "</MultiPoint>",
    ],
)
def test_broken_gml_is_refused(text: str) -> None:
    with pytest.raises(GeometryError):
        parse_geometry(gml(text))


@pytest.mark.parametrize(
    "text",
    [
        "<Curve><segments><LineStringSegment><posList>0 0 1 1</posList></LineStringSegment>"
        "<Arc><posList>1 1 2 2 3 1</posList></Arc></segments></Curve>",
        "<Surface><patches><PolygonPatch><exterior><LinearRing><posList>0 0 1 0 1 1 0 0</posList>"
        "</LinearRing></exterior></PolygonPatch><Cone/></patches></Surface>",
    ],
)
def test_a_part_that_is_not_read_is_never_left_out(text: str) -> None:
    with pytest.raises(GeometryError, match="is not read here"):
        parse_geometry(gml(text))


def test_kml_is_longitude_latitude_altitude() -> None:
    text = (
        "<Placemark><name>x</name><Point><coordinates> -73.9626,40.8075,1 </coordinates></Point></Placemark>"
    )
    assert parse_geometry(Literal(text, datatype=KML_LITERAL)).equals(COLUMBIA)


@pytest.mark.parametrize(
    "text",
    [
        "<Placemark/>",
        "<Point><coordinates>1,x</coordinates></Point>",
        "<Point><coordinates>1,2 3,4</coordinates></Point>",
        "<Point><coordinates>1,NaN</coordinates></Point>",
        "<Point>",
    ],
)
def test_broken_kml_is_refused(text: str) -> None:
    with pytest.raises(GeometryError):
        parse_geometry(Literal(text, datatype=KML_LITERAL))


def test_only_the_four_datatypes_are_geometry() -> None:
    assert is_geometry_literal(wkt("POINT(1 2)"))
    assert not is_geometry_literal(Literal("POINT(1 2)"))
    assert not is_geometry_literal(NamedNode("http://example.org/a"))
    with pytest.raises(GeometryError, match="not a geometry datatype"):
        parse_geometry(Literal("POINT(1 2)"))


longitudes = st.floats(-179, 179).map(lambda x: round(x, 9))
latitudes = st.floats(-89, 89).map(lambda y: round(y, 9))
positions = st.tuples(longitudes, latitudes)


@st.composite
def drawn_shapes(draw: st.DrawFn) -> BaseGeometry:
    kind = draw(st.sampled_from(["point", "points", "line", "box", "boxes", "holed", "mixed"]))
    x, y = draw(st.tuples(st.floats(-170, 160), st.floats(-80, 70)))
    box, other = shapely.box(x, y, x + 1, y + 1), shapely.box(x + 2, y, x + 3, y + 0.5)
    if kind == "point":
        return shapely.Point(draw(positions))
    if kind == "points":
        return shapely.MultiPoint(draw(st.lists(positions, min_size=2, max_size=4, unique=True)))
    if kind == "line":
        return shapely.LineString(draw(st.lists(positions, min_size=2, max_size=5, unique=True)))
    if kind == "boxes":
        return shapely.MultiPolygon([box, other])
    if kind == "holed":
        return shapely.Polygon(box.exterior, [shapely.box(x + 0.25, y + 0.25, x + 0.5, y + 0.5).exterior])
    return shapely.GeometryCollection([box, shapely.Point(x, y)]) if kind == "mixed" else box


@given(drawn_shapes(), st.sampled_from(sorted(GEOMETRY_LITERALS, key=str)))
@example(shapely.box(0, 0.0008023340253407312, 1, 1.0008023340253407), WKT_LITERAL)
@example(shapely.box(0, 1.2345678901234567e-12, 1, 1), WKT_LITERAL)
def test_a_shape_written_and_read_again_is_the_same(shape: BaseGeometry, datatype: NamedNode) -> None:
    assert parse_geometry(write_geometry(shape, datatype)) == shape


@given(drawn_shapes(), st.sampled_from([WKT_LITERAL, GML_LITERAL]))
def test_a_shape_in_epsg_4326_reads_back_the_same(shape: BaseGeometry, datatype: NamedNode) -> None:
    literal = write_geometry(shape, datatype, EPSG + "4326")
    value = read_geometry(literal)
    assert value.crs == EPSG + "4326"
    assert value.shape == shape


@given(st.text(max_size=60))
def test_any_text_is_a_geometry_or_a_clear_error(text: str) -> None:
    for datatype in GEOMETRY_LITERALS:
        try:
            shape = parse_geometry(Literal(text, datatype=datatype))
        except GeometryError:
            continue
        assert all(math.isfinite(number) for number in shapely.get_coordinates(shape).ravel())
