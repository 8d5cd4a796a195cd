"""Rows of a SELECT query as GeoJSON features (RFC 7946), converted as they arrive.

The rows are read as TSV, since a line of it is a row and terms are whole. The first column with a geometry
literal, or the one that the request names, is the geometry; the others are properties.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, Final

import pyoxigraph
import shapely
from pyoxigraph import BlankNode, Literal, NamedNode, QueryResultsFormat, QuerySolutions, Triple

from geo.errors import GeometryError
from geo.formats.literals import is_geometry_literal, read_geometry
from sparql.model.errors import MalformedRequest
from sparql.model.vocabulary import XSD

Cell = NamedNode | BlankNode | Literal | Triple | None

_INTEGERS: Final = {XSD.integer, XSD.int, XSD.long, XSD.nonNegativeInteger}
_NUMBERS: Final = {XSD.decimal, XSD.double, XSD.float}


async def features_of(lines: AsyncGenerator[bytes], column: str | None) -> AsyncIterator[bytes]:
    """The text of a feature collection, in pieces. Its first piece needs the first rows.

    Raises `MalformedRequest` where there is no such column, or no column with a geometry.
    """
    head, rows = b"", b""
    chosen: str | None = None
    first = True
    async with aclosing(lines):
        async for chunk in lines:
            rows += chunk
            if not head:
                head, mark, rows = rows.partition(b"\n")
                if not mark:
                    head, rows = b"", head
                    continue
                names = [name.removeprefix("?") for name in head.decode().split("\t")]
                if column is not None and column.removeprefix("?") not in names:
                    known = ", ".join(f"?{name}" for name in names)
                    raise MalformedRequest(
                        f"The answer has no column ?{column} to take geometry from: {known}."
                    )
                chosen = column and column.removeprefix("?")
            whole, mark, rest = rows.rpartition(b"\n")
            if not mark:
                continue
            rows = rest
            chosen, text = await asyncio.to_thread(_converted, head, whole, chosen)
            if text:
                yield (b'{"type":"FeatureCollection","features":[' if first else b",") + text
                first = False
    yield b'{"type":"FeatureCollection","features":[]}' if first else b"]}"


def _converted(head: bytes, rows: bytes, column: str | None) -> tuple[str | None, bytes]:
    """The features of whole lines, separated by commas, and the column of the geometry."""
    if not rows.strip(b"\n") and head.count(b"\t") == 0:
        return column, b""
    names, table = _table(head + b"\n" + rows + b"\n")
    if column is None:
        column = next((names[at] for at in range(len(names)) if _holds_geometry(table, at)), None)
        if column is None:
            raise MalformedRequest(
                "No column of the answer has a geometry in its first rows; select one, such as "
                "?place geo:hasDefaultGeometry/geo:asWKT ?wkt, or name it with geometry=wkt."
            )
    at = names.index(column)
    return column, b",".join(_feature(names, row, at) for row in table)


def _table(rows: bytes) -> tuple[list[str], list[Sequence[Cell]]]:
    """The columns and rows. The engine's results end here: an error's frame may end in another thread."""
    solutions = pyoxigraph.parse_query_results(rows, QueryResultsFormat.TSV)
    assert isinstance(solutions, QuerySolutions)
    return [variable.value for variable in solutions.variables], [tuple(solution) for solution in solutions]


def _holds_geometry(table: Sequence[Sequence[Cell]], at: int) -> bool:
    return any(is_geometry_literal(row[at]) for row in table)


def _feature(names: Sequence[str], row: Sequence[Cell], at: int) -> bytes:
    properties = {
        name: _plain(cell) for number, (name, cell) in enumerate(zip(names, row, strict=True)) if number != at
    }
    members = json.dumps(properties, ensure_ascii=False)
    return f'{{"type":"Feature","geometry":{_geometry(row[at])},"properties":{members}}}'.encode()


def _geometry(cell: Cell) -> str:
    """The geometry in CRS84; null for other terms, as RFC 7946 has it (3.2)."""
    if not isinstance(cell, Literal) or not is_geometry_literal(cell):
        return "null"
    try:
        shape = read_geometry(cell).shape
    except GeometryError:
        return "null"
    written: str = shapely.to_geojson(shape)
    return written


def _plain(cell: Cell) -> Any:
    """A term as JSON has it: numbers and truth values as such, all others as their text."""
    if isinstance(cell, Literal):
        try:
            if cell.datatype in _INTEGERS:
                return int(cell.value)
            if cell.datatype in _NUMBERS:
                number = float(cell.value)
                return number if abs(number) < float("inf") else cell.value
        except ValueError:
            return cell.value
        return cell.value == "true" if cell.datatype == XSD.boolean else cell.value
    return cell.value if isinstance(cell, NamedNode) else None if cell is None else str(cell)


async def begun(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The same pieces, the first of which has been made, so that its errors come before the answer's head."""
    first = await anext(pieces)

    async def both() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return both()
