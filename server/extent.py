"""Keeps geometries outside of an extent out of the graph; without one none is looked at.

A city's extent is one area: a setting, or a statement of the ontology (`ukg:extent`). Swapped axes and wrong
reference systems put a place somewhere else on the earth: this finds them whatever system a literal is
written in, since its parsed shape is compared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Final

from pyoxigraph import Literal, Triple

from ontology import Schema
from server.data.loading import shortened
from server.errors import SettingsError
from sparql.model.change import (
    Derive,
    Gate,
    Rejection,
    Selection,
    Statement,
    Violation,
)
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import UKG

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


OUTSIDE: Final = UKG.OutsideExtent


def within_extent(gate: Gate, extent: str, schema: Schema) -> Gate:
    """The gate, and before it the check of geometries; the gate alone without an extent.

    Raises SettingsError.
    """
    area = extent_of(extent, schema)
    return gate if area is None else ExtentGate(gate, area)


def extent_of(extent: str, schema: Schema) -> BaseGeometry | None:
    """The area in CRS84 of the setting, else of the ontology's `ukg:extent`, else None.

    Raises SettingsError.
    """
    if extent.strip():
        return read_extent(extent)
    stated = sorted(stated_extents(schema), key=str)
    if not stated:
        return None
    import shapely

    return shapely.union_all([read_extent(literal) for literal in stated])


def stated_extents(schema: Schema) -> list[Term]:
    """The values of `ukg:extent` in an ontology; of several areas the union counts."""
    return [triple.object for triple in schema.triples if triple.predicate == UKG.extent]


def read_extent(value: str | Term) -> BaseGeometry:
    """The area in CRS84, from a literal or from WKT that may name its reference system.

    Raises SettingsError.
    """
    from geo.errors import GeometryError
    from geo.formats.literals import is_geometry_literal, parse_geometry
    from geo.vocabulary import WKT_LITERAL

    literal = Literal(value, datatype=WKT_LITERAL) if isinstance(value, str) else value
    if not (isinstance(literal, Literal) and is_geometry_literal(literal)):
        raise SettingsError(f"extent: {shortened(str(literal))} is no geometry: write a geo:wktLiteral.")
    try:
        shape = parse_geometry(literal)
    except GeometryError as error:
        raise SettingsError(f"extent: {error}") from error
    if shape.is_empty or shape.geom_type not in ("Polygon", "MultiPolygon"):
        raise SettingsError(
            f"extent: a {shape.geom_type} is no area. Write WKT such as POLYGON ((-74.3 40.45, -73.65 40.45, "
            "-73.65 40.95, -74.3 40.95, -74.3 40.45)), longitude first."
        )
    return shape


def geometries_outside(extent: BaseGeometry, triples: Iterable[Triple]) -> Iterator[Violation]:
    """A violation for each geometry of which a part lies outside of an area (CRS84)."""
    from geo.errors import GeometryError
    from geo.formats.literals import is_geometry_literal, parse_geometry

    for triple in triples:
        literal = triple.object
        if not (isinstance(literal, Literal) and is_geometry_literal(literal)):
            continue
        try:
            shape = parse_geometry(literal)
        except GeometryError:
            continue  # The lexical check refuses it.
        if not extent.covers(shape):
            yield _violation(extent, triple, shape)


class ExtentGate:
    """A gate that also refuses geometry literals of which a part lies outside of an area (CRS84)."""

    def __init__(self, gate: Gate, extent: BaseGeometry) -> None:
        self._gate = gate
        self._extent = extent

    def select(
        self,
        before: TripleSource,
        additions: tuple[Statement, ...],
        removals: frozenset[Triple],
        derive: Derive,
        *,
        partial: bool,
        source: str = "",
    ) -> Selection:
        """What the gate selects of the statements that lie inside; see `Gate.select`."""
        outside = tuple(self._outside(additions))
        if outside and not partial:
            return Selection(rejected=outside)
        refused = {one.statement.triple for one in outside}
        found = self._gate.select(
            before,
            tuple(one for one in additions if one.triple not in refused) if refused else additions,
            removals,
            derive,
            partial=partial,
            source=source,
        )
        return found._replace(rejected=(*outside, *found.rejected)) if outside else found

    def concerns(self, additions: Collection[Triple]) -> bool:
        """Whether a geometry is among the statements, or the gate may object to them."""
        from geo.formats.literals import is_geometry_literal

        return any(is_geometry_literal(one.object) for one in additions) or self._gate.concerns(additions)

    def _outside(self, additions: Iterable[Statement]) -> Iterable[Rejection]:
        for statement in additions:
            for violation in geometries_outside(self._extent, (statement.triple,)):
                yield Rejection(statement, (violation,))


def _violation(extent: BaseGeometry, triple: Triple, shape: BaseGeometry) -> Violation:
    west, south, east, north = extent.bounds
    where = "it is empty"
    if not shape.is_empty:
        point = shape.representative_point()
        where = f"it lies at longitude {point.x:.4f}, latitude {point.y:.4f}"
    return Violation(
        focus=triple.subject,
        message=f"The geometry is not within the extent (longitude {west:.4f} to {east:.4f}, latitude "
        f"{south:.4f} to {north:.4f}): {where}. Check the order of its axes and its reference system, or "
        "the setting extent (ukg:extent in the ontology).",
        component=OUTSIDE,
        path=triple.predicate.value,
    )
