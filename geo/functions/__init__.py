"""The functions and aggregates of GeoSPARQL 1.1 and the eight tools, for the engine's custom functions.

    store.query(text, custom_functions=FUNCTIONS, custom_aggregate_functions=AGGREGATES)

All but the DGGS ones. They replace the engine's own, which only read CRS84 WKT. The tools of UrbanKGent have
their names with a lower-case first letter, such as `ukgf:point2Polygon(?a, ?b)`.
"""

from collections.abc import Callable, Mapping
from typing import Final

import numpy
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from shapely import GEOSException
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError, GeometryError
from geo.formats.literals import GeometryValue, Invalid, read_geometry
from geo.functions import construction, properties, topology
from geo.functions.construction import AGGREGATIONS, Combine
from geo.functions.definitions import (
    Definition,
    GeometryArgument,
    Parameter,
    Result,
    read_integer,
    read_iri,
    read_number,
    read_text,
    same_kind,
    write_result,
)
from geo.toolkit import TOOLS, Meeting, Tool
from geo.vocabulary import GEOF, UKGF, WKT_LITERAL

Term = NamedNode | BlankNode | Literal | Triple
Function = Callable[..., Term | None]
OnUnreadable = Callable[[Literal, GeometryError], None]


def _tool_call(tool: Tool) -> Callable[..., Result]:
    """A tool as filters need it: those that ask whether two geometries intersect are true or false."""

    def call(*values: GeometryValue) -> Result:
        found = tool.call(*(value.shape for value in values))
        if isinstance(found, Meeting):
            return found is not Meeting.NONE
        return Literal(str(found)) if isinstance(found, str) else found

    return call


_TOOLS: Final = tuple(
    Definition(
        (name[0].lower() + name[1:],),
        (Parameter.GEOMETRY,) * tool.geometries,
        _tool_call(tool),
        namespace=UKGF,
    )
    for name, tool in TOOLS.items()
)
_DEFINITIONS: Final[tuple[Definition, ...]] = (
    *topology.DEFINITIONS,
    *construction.DEFINITIONS,
    *properties.DEFINITIONS,
    *_TOOLS,
)
DEFINITIONS: Final[Mapping[NamedNode, Definition]] = {
    NamedNode(definition.namespace + name): definition
    for definition in _DEFINITIONS
    for name in definition.names
}
"""The definition of each function, by its IRI."""


class FunctionTable:
    """GeoSPARQL functions and aggregates and the eight tools by IRI, for one query, connection or process.

    A call that fails raises a GeoError, which the engine turns into a SPARQL error: an unbound value, or a
    row that a filter drops. Since that is silent, `on_unreadable` is called with every geometry literal that
    could not be read, and the reason, each time. `invalid` says whether invalid shapes are repaired or
    refused.
    """

    def __init__(self, on_unreadable: OnUnreadable | None = None, invalid: Invalid = "repair") -> None:
        self._on_unreadable = on_unreadable
        self._invalid: Invalid = invalid
        self.functions: Mapping[NamedNode, Function] = {
            iri: self._callable(definition) for iri, definition in DEFINITIONS.items()
        }
        self.aggregates: Mapping[NamedNode, Callable[[], Accumulator]] = {
            NamedNode(GEOF + name): self._aggregate(combine) for name, combine in AGGREGATIONS.items()
        }

    def read(self, term: object) -> GeometryValue:
        """The geometry of a term. Raises ArgumentError for no literal, GeometryError if unreadable."""
        if not isinstance(term, Literal):
            raise ArgumentError(f"{term} is not a geometry literal. Give the value of geo:asWKT or its like.")
        try:
            return read_geometry(term, self._invalid)
        except GeometryError as error:
            if self._on_unreadable:
                self._on_unreadable(term, error)
            raise

    def _callable(self, definition: Definition) -> Function:
        readers: dict[Parameter, Callable[[object], object]] = {
            Parameter.NUMBER: read_number,
            Parameter.INTEGER: read_integer,
            Parameter.IRI: read_iri,
            Parameter.TEXT: read_text,
        }
        chosen = tuple(
            GeometryArgument(self.read) if parameter is Parameter.GEOMETRY else readers[parameter]
            for parameter in definition.parameters
        )
        calculate, fewest, most = definition.calculate, definition.fewest, len(chosen)

        def call(*terms: Term) -> Term | None:
            if not fewest <= len(terms) <= most:
                raise ArgumentError(f"{len(terms)} arguments do not fit. Call {definition.signature}.")
            try:
                return write_result(
                    calculate(*[read(term) for read, term in zip(chosen, terms, strict=False)])
                )
            except GEOSException as error:
                raise GeometryError(
                    f"{definition.signature} fails for these geometries: {error}. Use simpler ones."
                ) from error

        return call

    def _aggregate(self, combine: Combine) -> "Callable[[], Accumulator]":
        return lambda: Accumulator(self.read, combine)


class Accumulator:
    """One group of an aggregate: collects its geometries and combines them in the end."""

    def __init__(self, read: Callable[[object], GeometryValue], combine: Combine) -> None:
        self._read = read
        self._combine = combine
        self._first: GeometryValue | None = None
        self._shapes: list[BaseGeometry] = []

    def accumulate(self, term: Term) -> None:
        """Add one geometry literal."""
        value = self._read(term)
        self._first = self._first or value
        self._shapes.append(value.shape)

    def finish(self) -> Term:
        """The result in the datatype and reference system of the first geometry; empty for an empty group."""
        shapes = numpy.empty(len(self._shapes), dtype=object)
        shapes[:] = self._shapes
        first = self._first or read_geometry(_EMPTY)
        return write_result(same_kind(first, self._combine(shapes)) if len(shapes) else first)


_EMPTY: Final = Literal("GEOMETRYCOLLECTION EMPTY", datatype=WKT_LITERAL)

_PLAIN: Final = FunctionTable()
FUNCTIONS: Final = _PLAIN.functions
"""The functions, without a report of unreadable literals."""
AGGREGATES: Final = _PLAIN.aggregates
"""The aggregates, without a report of unreadable literals."""
