"""What a filter is true of is the same by the coordinates of points as by their shapes."""

import numpy
import pytest
import shapely

from sparql.rewriting.spatial_filters import Operand, Slack, SpatialFilter
from sparql.syntax import nodes as n

GRID = numpy.array([(x / 2, y / 2) for x in range(-2, 11) for y in range(-2, 11)])
CONSTANTS = [
    "POINT (1 1)",
    "MULTIPOINT (1 1, 2 2.5)",
    "LINESTRING (0 0, 4 4, 4 0)",
    "LINEARRING (0 0, 4 0, 4 4, 0 0)",
    "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 3 1, 3 3, 1 3, 1 1))",
    "POLYGON ((0 0, 4 4, 0 4, 0 0))",
    "MULTIPOLYGON (((0 0, 1 0, 1 1, 0 0)), ((2 2, 4 2, 4 4, 2 2)))",
    "GEOMETRYCOLLECTION (POINT (0 4), LINESTRING (0 0, 2 2), POLYGON ((2 2, 4 2, 4 4, 2 2)))",
    "POLYGON Z ((0 0 1, 4 0 2, 4 4 3, 0 0 1))",
    "POLYGON ((0 0, 4 4, 4 0, 0 4, 0 0))",
]


@pytest.mark.parametrize("function", ["sfIntersects", "sfWithin", "sfContains"])
@pytest.mark.parametrize("constant_left", [False, True])
@pytest.mark.parametrize("text", CONSTANTS)
def test_points_by_their_coordinates_and_by_their_shapes(
    function: str, constant_left: bool, text: str
) -> None:
    constant, operand = shapely.from_wkt(text), Operand("w", plain=True, slack=Slack())
    sides = (constant, operand) if constant_left else (operand, constant)
    filter_ = SpatialFilter(n.VariableUse("w"), function, *sides, Slack())
    if not filter_.covers_points(constant_left=constant_left):
        # A point holds nothing but points.
        assert function == ("sfWithin" if constant_left else "sfContains")
        return
    by_coordinates = filter_.holds_at(shapely.from_wkt(text), GRID, constant_left=constant_left)
    by_shapes = filter_.holds(shapely.from_wkt(text), shapely.points(GRID), constant_left=constant_left)
    assert by_coordinates.tolist() == by_shapes.tolist()
    assert 0 < by_shapes.sum() < len(GRID)
