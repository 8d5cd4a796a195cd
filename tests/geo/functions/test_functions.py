"""The GeoSPARQL functions, called by the engine."""

from functools import cache

import pytest
import shapely
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from geo.errors import GeometryError
from geo.formats.literals import GeometryValue, parse_geometry, read_geometry
from geo.functions import AGGREGATES, FUNCTIONS, FunctionTable
from geo.functions.definitions import GeometryArgument
from geo.measure.measures import area_m2, distance_m
from geo.vocabulary import GEOF, UKGF, WKT_LITERAL

PREFIXES = {
    "geo": "http://www.opengis.net/ont/geosparql#",
    "geof": GEOF,
    "uom": "http://www.opengis.net/def/uom/OGC/1.0/",
    "unit": "http://qudt.org/vocab/unit/",
    "crs": "http://www.opengis.net/def/crs/EPSG/0/",
    "ukgf": UKGF,
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
SQUARE = '"POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))"^^geo:wktLiteral'
OTHER = '"POLYGON((1 1, 3 1, 3 3, 1 3, 1 1))"^^geo:wktLiteral'
INNER = '"POLYGON((0.5 0.5, 1 0.5, 1 1, 0.5 1, 0.5 0.5))"^^geo:wktLiteral'
POINT = '"POINT(1 1)"^^geo:wktLiteral'
LINE = '"LINESTRING(0 0, 0 1)"^^geo:wktLiteral'
MANY = '"MULTIPOINT((0 0), (2 0), (1 1))"^^geo:wktLiteral'


def ask(expression: str, table: FunctionTable | None = None) -> Literal | None:
    """The value that the engine gives to an expression."""
    solutions = Store().query(
        f"SELECT ({expression} AS ?value) {{}}",
        prefixes=PREFIXES,
        custom_functions=dict(table.functions if table else FUNCTIONS),
    )
    assert isinstance(solutions, QuerySolutions)
    value = next(solutions)["value"]
    assert value is None or isinstance(value, Literal)
    return value


def text(expression: str) -> str:
    value = ask(expression)
    assert value is not None, f"{expression} is unbound"
    return value.value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f"geof:sfEquals({SQUARE}, {SQUARE})", "true"),
        (f"geof:sfDisjoint({SQUARE}, {OTHER})", "false"),
        (f"geof:sfIntersects({SQUARE}, {OTHER})", "true"),
        (f"geof:sfTouches({SQUARE}, {LINE})", "true"),
        (f"geof:sfCrosses({LINE}, {SQUARE})", "false"),
        (f"geof:sfWithin({POINT}, {SQUARE})", "true"),
        (f"geof:sfContains({SQUARE}, {POINT})", "true"),
        (f"geof:sfOverlaps({SQUARE}, {OTHER})", "true"),
        (f"geof:ehEquals({SQUARE}, {SQUARE})", "true"),
        (f"geof:ehDisjoint({SQUARE}, {OTHER})", "false"),
        (f"geof:ehMeet({SQUARE}, {LINE})", "true"),
        (f"geof:ehOverlap({SQUARE}, {OTHER})", "true"),
        (f"geof:ehCovers({SQUARE}, {INNER})", "false"),
        (f"geof:ehCoveredBy({INNER}, {SQUARE})", "false"),
        (f"geof:ehInside({INNER}, {SQUARE})", "true"),
        (f"geof:ehContains({SQUARE}, {INNER})", "true"),
        (f"geof:rcc8eq({SQUARE}, {SQUARE})", "true"),
        (f"geof:rcc8dc({SQUARE}, {OTHER})", "false"),
        (f"geof:rcc8ec({SQUARE}, {OTHER})", "false"),
        (f"geof:rcc8po({SQUARE}, {OTHER})", "true"),
        (f"geof:rcc8tpp({INNER}, {SQUARE})", "false"),
        (f"geof:rcc8tppi({SQUARE}, {INNER})", "false"),
        (f"geof:rcc8ntpp({INNER}, {SQUARE})", "true"),
        (f"geof:rcc8ntppi({SQUARE}, {INNER})", "true"),
        (f'geof:relate({SQUARE}, {POINT}, "T********")', "true"),
        (f"geof:relate({SQUARE}, {POINT})", "0F2FF1FF2"),
        (f"geof:asWKT(geof:boundary({LINE}))", "MULTIPOINT ((0 0), (0 1))"),
        (f"geof:asWKT(geof:centroid({SQUARE}))", "POINT (1 1)"),
        (f"geof:asWKT(geof:convexHull({MANY}))", "POLYGON ((0 0, 1 1, 2 0, 0 0))"),
        (f"geof:isEmpty(geof:concaveHull({MANY}))", "false"),
        (f"geof:asWKT(geof:envelope({LINE}))", "LINESTRING (0 0, 0 1)"),
        (f"geof:sfContains(geof:boundingCircle({SQUARE}), {POINT})", "true"),
        (f"geof:asWKT(geof:intersection({SQUARE}, {OTHER}))", "POLYGON ((2 2, 2 1, 1 1, 1 2, 2 2))"),
        (f"geof:sfContains(geof:union({SQUARE}, {OTHER}), {OTHER})", "true"),
        (f"geof:sfIntersects(geof:difference({SQUARE}, {OTHER}), {OTHER})", "true"),
        (f"geof:numGeometries(geof:symDifference({SQUARE}, {OTHER}))", "2"),
        (f"geof:asWKT(geof:geometryN({MANY}, 3))", "POINT (1 1)"),
        (f"geof:dimension({SQUARE})", "2"),
        ('geof:coordinateDimension("POINT ZM(1 2 3 4)"^^geo:wktLiteral)', "4"),
        ('geof:spatialDimension("POINT ZM(1 2 3 4)"^^geo:wktLiteral)', "3"),
        ('geof:is3D("POINT Z(1 2 3)"^^geo:wktLiteral)', "true"),
        ('geof:isMeasured("POINT M(1 2 3)"^^geo:wktLiteral)', "true"),
        ('geof:isEmpty(""^^geo:wktLiteral)', "true"),
        ('geof:isSimple("LINESTRING(0 0, 2 2, 2 0, 0 2)"^^geo:wktLiteral)', "false"),
        (f"geof:geometryType({MANY})", "http://www.opengis.net/ont/sf#MultiPoint"),
        (f"geof:numGeometries({MANY})", "3"),
        (f"geof:getSRID({POINT})", "http://www.opengis.net/def/crs/OGC/1.3/CRS84"),
        (f"geof:minX({OTHER})", "1"),
        (f"geof:maxy({OTHER})", "3"),
        ('geof:minZ("LINESTRING Z(1 2 3, 4 5 6)"^^geo:wktLiteral)', "3"),
        (f"geof:distance({POINT}, {LINE}, uom:degree)", "1"),
        (f"geof:length({LINE}, uom:degree)", "1"),
        (f"geof:perimeter({SQUARE}, uom:degree)", "8"),
        (f"geof:asGeoJSON({POINT})", '{"type":"Point","coordinates":[1.0,1.0]}'),
        (f"geof:sfEquals(geof:asGML({SQUARE}), geof:asKML({SQUARE}))", "true"),
        (f"geof:asWKT(geof:asGeoJSON({POINT}))", "POINT (1 1)"),
    ],
)
def test_a_function_gives_what_the_specification_says(expression: str, expected: str) -> None:
    assert text(expression) == expected


def test_measures_are_geodesic_and_in_the_unit_asked_for() -> None:
    here, there = shapely.Point(1, 1), shapely.LineString([(0, 0), (0, 1)])
    meters = distance_m(here, there)
    assert float(text(f"geof:distance({POINT}, {LINE}, uom:metre)")) == pytest.approx(meters)
    assert float(text(f"geof:metricDistance({POINT}, {LINE})")) == pytest.approx(meters)
    assert float(text(f"geof:distance({POINT}, {LINE}, unit:KiloM)")) == pytest.approx(meters / 1000)
    assert float(text(f"geof:length({LINE}, uom:metre)")) == pytest.approx(110_574.4, rel=1e-5)
    assert float(text(f"geof:metricLength({LINE})")) == pytest.approx(110_574.4, rel=1e-5)
    area = area_m2(shapely.box(0, 0, 2, 2))
    assert float(text(f"geof:area({SQUARE}, uom:square_metre)")) == pytest.approx(area)
    assert float(text(f"geof:metricArea({SQUARE})")) == pytest.approx(area)
    assert float(text(f"geof:area({SQUARE}, unit:HA)")) == pytest.approx(area / 10_000)
    assert float(text(f"geof:metricPerimeter({SQUARE})")) == float(
        text(f"geof:perimeter({SQUARE}, uom:metre)")
    )


def test_a_buffer_in_meters_is_one_in_meters() -> None:
    for expression in (f"geof:buffer({POINT}, 1000, uom:metre)", f"geof:metricBuffer({POINT}, 1000.0)"):
        value = ask(expression)
        assert value is not None
        ring = parse_geometry(value)
        distances = [distance_m(shapely.Point(1, 1), shapely.Point(p)) for p in shapely.get_coordinates(ring)]
        assert distances == pytest.approx([1000] * len(distances), rel=1e-6)
    degrees = ask(f"geof:buffer({POINT}, 1, uom:degree)")
    assert degrees is not None
    assert parse_geometry(degrees).bounds == (0, 0, 2, 2)


def test_a_result_is_in_the_reference_system_and_datatype_of_the_first_argument() -> None:
    latitude_first = (
        '"<http://www.opengis.net/def/crs/EPSG/0/4326> LINESTRING(40 -74, 41 -73)"^^geo:wktLiteral'
    )
    assert text(f"geof:envelope({latitude_first})").startswith(f"<{PREFIXES['crs']}4326> POLYGON ((40 -73")
    assert text(f"geof:minX({latitude_first})") == "40"
    assert text(f"STR(DATATYPE(geof:centroid(geof:asGeoJSON({SQUARE}))))").endswith("geoJSONLiteral")


def test_transform_goes_to_another_system_and_back() -> None:
    there = f'geof:transform("POINT(-73.9626 40.8075)"^^geo:wktLiteral, "{PREFIXES["crs"]}32618"^^xsd:anyURI)'
    assert text(there).startswith(f"<{PREFIXES['crs']}32618> POINT (5875")
    back = parse_geometry(Literal(text(there), datatype=WKT_LITERAL))
    assert back.distance(shapely.Point(-73.9626, 40.8075)) < 1e-9


@pytest.mark.parametrize(
    "expression",
    [
        'geof:sfWithin("POINT(1"^^geo:wktLiteral, ' + SQUARE + ")",
        'geof:isEmpty("POINT(40 -120)"^^geo:wktLiteral)',
        f"geof:distance({POINT}, {LINE}, uom:square_metre)",
        f"geof:distance({POINT}, {LINE}, <http://example.org/cubit>)",
        f"geof:distance({POINT}, {LINE})",
        f"geof:buffer({POINT}, 'wide', uom:metre)",
        f"geof:geometryN({MANY}, 4)",
        f"geof:minZ({POINT})",
        "geof:isEmpty('POINT(1 1)')",
        'geof:boundary("GEOMETRYCOLLECTION(POINT(1 1))"^^geo:wktLiteral)',
        f'geof:buffer({POINT}, "NaN"^^xsd:double, uom:degree)',
        f'geof:buffer({POINT}, "many"^^xsd:integer, uom:metre)',
        "geof:isEmpty(geo:asWKT)",
        f'geof:relate({SQUARE}, {POINT}, "TTT")',
        f"geof:transform({POINT}, <http://example.org/crs>)",
        f'geof:distance(""^^geo:wktLiteral, {POINT}, uom:metre)',
    ],
)
def test_a_call_that_cannot_be_answered_is_a_sparql_error(expression: str) -> None:
    assert ask(expression) is None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('geof:union("POINT Z(1 2 3)"^^geo:wktLiteral, "LINESTRING(0 0, 1 1)"^^geo:wktLiteral)', "false"),
        ('geof:union("POINT Z(1 2 3)"^^geo:wktLiteral, "POINT Z(0 0 1)"^^geo:wktLiteral)', "true"),
        ('geof:symDifference("POINT Z(1 2 3)"^^geo:wktLiteral, "POINT(0 0)"^^geo:wktLiteral)', "false"),
    ],
)
def test_a_result_has_heights_where_all_of_it_has(expression: str, expected: str) -> None:
    assert text(f"geof:is3D({expression})") == expected


@pytest.mark.parametrize("function", ["intersection", "union", "difference", "symDifference"])
@pytest.mark.parametrize("other", ["POINT EMPTY", "LINEARRING(0 0, 1 0, 1 1, 0 0)"])
def test_sets_are_taken_of_collections_empty_geometries_and_rings(function: str, other: str) -> None:
    collection = '"GEOMETRYCOLLECTION(POINT(3 2), POLYGON((0 0, 2 0, 2 1, 0 0)))"^^geo:wktLiteral'
    for pair in (f'{collection}, "{other}"^^geo:wktLiteral', f'"{other}"^^geo:wktLiteral, {collection}'):
        assert ask(f"geof:{function}({pair})") is not None


@pytest.mark.parametrize(
    "expression",
    [
        'geof:buffer("POINT(179 89)"^^geo:wktLiteral, 5, uom:degree)',
        'geof:boundingCircle("LINESTRING(-179 0, 179 0)"^^geo:wktLiteral)',
    ],
)
def test_what_reaches_past_the_edge_of_the_plane_of_degrees_is_cut_there(expression: str) -> None:
    value = ask(expression)
    assert value is not None
    assert shapely.box(-180, -90, 180, 90).covers(parse_geometry(value))


def test_an_unreadable_literal_is_reported_with_its_reason() -> None:
    heard: list[tuple[Literal, GeometryError]] = []
    table = FunctionTable(on_unreadable=lambda literal, error: heard.append((literal, error)))
    assert ask(f'geof:sfWithin("POINT(40 -120)"^^geo:wktLiteral, {SQUARE})', table) is None
    [(literal, error)] = heard
    assert literal.value == "POINT(40 -120)"
    assert "axes look swapped" in str(error)


def test_invalid_shapes_are_repaired_or_refused_as_the_table_is_configured() -> None:
    bow_tie = '"POLYGON((0 0, 2 2, 2 0, 0 2, 0 0))"^^geo:wktLiteral'
    assert ask(f"geof:isEmpty({bow_tie})") is not None
    assert ask(f"geof:isEmpty({bow_tie})", FunctionTable(invalid="refuse")) is None


@pytest.mark.parametrize(
    ("name", "area", "points"),
    [
        ("aggBoundingBox", 6.0, 5),
        ("aggConvexHull", 4.0, 7),
        ("aggConcaveHull", None, None),
        ("aggBoundingCircle", None, None),
        ("aggUnion", 2.0, None),
        ("aggCentroid", 0.0, 1),
        ("aggConcatLines", None, None),
    ],
)
def test_an_aggregate_makes_one_geometry_of_a_group(
    name: str, area: float | None, points: int | None
) -> None:
    store = Store()
    p = NamedNode("http://example.org/p")
    for n, shape in enumerate(["POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", "POLYGON((2 1, 3 1, 3 2, 2 2, 2 1))"]):
        store.add(Quad(NamedNode(f"http://example.org/{n}"), p, Literal(shape, datatype=WKT_LITERAL)))
    solutions = store.query(
        f"SELECT (geof:{name}(?wkt) AS ?value) {{ ?s <http://example.org/p> ?wkt }}",
        prefixes=PREFIXES,
        custom_aggregate_functions=dict(AGGREGATES),
    )
    assert isinstance(solutions, QuerySolutions)
    value = next(solutions)["value"]
    assert isinstance(value, Literal)
    shape = parse_geometry(value)
    assert not shape.is_empty
    assert area is None or shape.area == pytest.approx(area)
    assert points is None or len(shapely.get_coordinates(shape)) == points


def test_every_function_and_aggregate_of_the_standard_but_the_dggs_one_is_there() -> None:
    families = {
        "sf": "Equals Disjoint Intersects Touches Crosses Within Contains Overlaps",
        "eh": "Equals Disjoint Meet Overlap Covers CoveredBy Inside Contains",
        "rcc8": "eq dc ec po tppi tpp ntpp ntppi",
        "as": "GeoJSON GML KML WKT",
        "metric": "Area Buffer Distance Length Perimeter",
        "": "relate area boundary boundingCircle buffer centroid concaveHull convexHull coordinateDimension "
        "difference dimension distance envelope geometryN geometryType getSRID intersection is3D isEmpty "
        "isMeasured isSimple length maxX maxY maxZ maxx maxy maxz minX minY minZ minx miny minz "
        "numGeometries perimeter spatialDimension symDifference transform union",
    }
    standard = {prefix + name for prefix, names in families.items() for name in names.split()}
    assert {iri.value.removeprefix(GEOF) for iri in FUNCTIONS if iri.value.startswith(GEOF)} == standard
    aggregates = "BoundingBox BoundingCircle Centroid ConcatLines ConcaveHull ConvexHull Union"
    assert {GEOF + "agg" + name for name in aggregates.split()} <= {iri.value for iri in AGGREGATES}


def test_a_constant_argument_gives_the_same_answers_as_one_that_changes() -> None:
    shapes = [SQUARE, OTHER, INNER, POINT, LINE, MANY, SQUARE, POINT]
    for name in (
        "sfWithin",
        "sfContains",
        "sfTouches",
        "sfCrosses",
        "ehInside",
        "ehCovers",
        "rcc8ntpp",
        "relate",
    ):
        function = FUNCTIONS[NamedNode(GEOF + name)]
        for constant in map(literal, shapes):
            for other in [literal(shape) for shape in shapes for _ in range(2)]:
                assert function(other, constant) == fresh(name, other, constant)
                assert function(constant, other) == fresh(name, constant, other)


@cache
def fresh(name: str, one: Literal, other: Literal) -> object:
    """The answer of a function that has seen nothing before."""
    return FunctionTable().functions[NamedNode(GEOF + name)](one, other)


def test_a_constant_argument_is_read_and_prepared_once() -> None:
    read: list[object] = []

    def count(term: object) -> GeometryValue:
        read.append(term)
        return read_geometry(literal(SQUARE))

    argument = GeometryArgument(count)
    values = [argument(literal(SQUARE)) for _ in range(4)]
    assert len(read) == 1
    assert [bool(shapely.is_prepared(value.shape)) for value in values] == [False, True, True, True]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('ukgf:geohash("POINT(10.40744 57.64911)"^^geo:wktLiteral)', "u4pruydq"),
        (f"ukgf:point2Polygon({POINT}, {SQUARE})", "first in second"),
        (f"ukgf:point2Polygon({SQUARE}, {POINT})", "second in first"),
        (f"ukgf:linestring2Polygon({LINE}, {SQUARE})", "neither"),
        (f"ukgf:polygon2Polygon({INNER}, {SQUARE})", "first in second"),
        (f"ukgf:point4Linestring({POINT}, {LINE})", "false"),
        (f"ukgf:linestring4Polygon({SQUARE}, {LINE})", "true"),
        (f"ukgf:polygon4Polygon({SQUARE}, {OTHER})", "true"),
    ],
)
def test_the_eight_tools_can_be_called_in_queries(expression: str, expected: str) -> None:
    assert text(expression) == expected


def test_the_distance_tool_gives_kilometers() -> None:
    meters = float(text(f"geof:metricDistance({POINT}, {LINE})"))
    assert float(text(f"ukgf:distance({LINE}, {POINT})")) == pytest.approx(meters / 1000)


def test_a_tool_with_the_wrong_geometries_is_a_sparql_error() -> None:
    assert ask(f"ukgf:point2Polygon({LINE}, {SQUARE})") is None


def literal(shape: str) -> Literal:
    return Literal(shape.split('"')[1], datatype=WKT_LITERAL)
