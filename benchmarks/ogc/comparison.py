"""Whether two answers say the same: geometry compared as geometry, numbers within half a percent."""

from __future__ import annotations

import math
import re
from typing import Any

import shapely
from pyoxigraph import Literal, QueryBoolean, QueryResultsFormat, QuerySolutions, parse_query_results

from geo.errors import GeometryError
from geo.formats.literals import is_geometry_literal, read_geometry

NUMBER_TOLERANCE = 0.005
# How far borders may be apart, in degrees: some answers were drawn in single precision (1e-5).
_DEGREES = 2e-5
# What some stores write for an envelope, which is no WKT: two corners.
_BOX = re.compile(r"(?:<[^>]*>)?\s*(?:BOX|ENVELOPE)\(([-\d.]+) ([-\d.]+),\s*([-\d.]+) ([-\d.]+)\)")
_NUMBERS = ("integer", "decimal", "double", "float")

Row = tuple[Any, ...]


class Answer:
    """A parsed answer: a truth value, or variables and rows."""

    def __init__(self, body: bytes, format_: QueryResultsFormat = QueryResultsFormat.XML) -> None:
        parsed = parse_query_results(body, format=format_)
        self.truth = bool(parsed) if isinstance(parsed, QueryBoolean) else None
        self.names: list[str] = []
        self.rows: list[Row] = []
        if isinstance(parsed, QuerySolutions):
            self.names = [variable.value for variable in parsed.variables]
            self.rows = [tuple(solution) for solution in parsed]


def difference(wanted: Answer, found: Answer, *, ordered: bool) -> str | None:
    """What is not as wanted, in words; None where both say the same."""
    if wanted.truth is not None or found.truth is not None:
        return None if wanted.truth == found.truth else f"{found.truth} instead of {wanted.truth}"
    if sorted(wanted.names) != sorted(found.names):
        return f"variables {found.names} instead of {wanted.names}"
    if len(wanted.rows) != len(found.rows):
        return f"{len(found.rows)} rows instead of {len(wanted.rows)}"
    positions = [found.names.index(name) for name in wanted.names]
    rest = [tuple(row[position] for position in positions) for row in found.rows]
    for row in wanted.rows:
        candidates = rest[:1] if ordered else rest
        match = next((other for other in candidates if _same_row(row, other)), None)
        if match is None:
            return f"no row like {_shown(row)}; there is {_shown(candidates[0])}"
        rest.remove(match)
    return None


def _same_row(wanted: Row, found: Row) -> bool:
    return all(_same_term(a, b) for a, b in zip(wanted, found, strict=True))


def _same_term(wanted: Any, found: Any) -> bool:
    if wanted == found:
        return True
    if not (isinstance(wanted, Literal) and isinstance(found, Literal)):
        return False
    if is_geometry_literal(wanted) and is_geometry_literal(found):
        return wanted.datatype == found.datatype and _same_geometry(wanted, found)
    numbers = [literal.datatype.value.rpartition("#")[2] in _NUMBERS for literal in (wanted, found)]
    if all(numbers):
        return math.isclose(float(wanted.value), float(found.value), rel_tol=NUMBER_TOLERANCE)
    return False


def _same_geometry(wanted: Literal, found: Literal) -> bool:
    """In the same reference system the same places, whatever the order of vertices and parts."""
    try:
        a, b = read_geometry(_with_polygon(wanted)), read_geometry(found)
    except GeometryError:
        return False
    if a.crs != b.crs:
        return False
    if shapely.equals(a.shape, b.shape):
        return True
    apart = shapely.hausdorff_distance(a.shape, b.shape)
    return bool(apart < _DEGREES) and a.shape.geom_type == b.shape.geom_type


def _with_polygon(literal: Literal) -> Literal:
    match = _BOX.fullmatch(literal.value)
    if match is None:
        return literal
    west, south, east, north = map(float, match.groups())
    return Literal(shapely.box(west, south, east, north).wkt, datatype=literal.datatype)


def _shown(row: Row) -> str:
    return ", ".join("nothing" if term is None else str(term)[:200] for term in row)
