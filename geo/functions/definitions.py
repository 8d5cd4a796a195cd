"""The definition of a function: its name, how its arguments are read, and its implementation."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

import shapely
from pyoxigraph import Literal, NamedNode
from shapely.geometry.base import BaseGeometry

from geo.errors import ArgumentError
from geo.formats.literals import GeometryValue, write_geometry
from geo.vocabulary import ANY_URI, BOOLEAN, DOUBLE, GEOF, GEOMETRY_LITERALS, INTEGER, XSD

Result = bool | int | float | GeometryValue | Literal
Implementation = Callable[..., Result]

_NUMERIC: Final = frozenset(
    XSD + name
    for name in (
        *("integer", "decimal", "double", "float", "int", "long", "short", "byte"),
        *("nonNegativeInteger", "positiveInteger", "nonPositiveInteger", "negativeInteger"),
        *("unsignedInt", "unsignedLong", "unsignedShort", "unsignedByte"),
    )
)


class Parameter(Enum):
    """The kinds of arguments."""

    GEOMETRY = "a geometry literal"
    NUMBER = "a number"
    INTEGER = "an integer"
    IRI = "an IRI"
    TEXT = "a string"


@dataclass(frozen=True)
class Definition:
    """A function of the register: its local names, its parameters, and its implementation.

    The last `optional` parameters may be omitted. `calculate` gets geometry values, floats, ints and
    strings, and returns a bool, number, geometry value or literal. IRIs begin with `namespace`.
    """

    names: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    calculate: Implementation
    optional: int = 0
    namespace: str = GEOF

    @property
    def fewest(self) -> int:
        """How many arguments must be given."""
        return len(self.parameters) - self.optional

    @property
    def signature(self) -> str:
        """How the function is called, in words, for error messages."""
        prefix = "geof" if self.namespace == GEOF else "ukgf"
        return f"{prefix}:{self.names[0]}({', '.join(parameter.value for parameter in self.parameters)})"


def define(name: str, calculate: Implementation, *parameters: Parameter, optional: int = 0) -> Definition:
    """A definition with one name or, separated by spaces, several names."""
    return Definition(tuple(name.split()), parameters, calculate, optional)


def same_kind(value: GeometryValue, shape: BaseGeometry) -> GeometryValue:
    """A result in the datatype and reference system of a function's first argument."""
    return replace(value, shape=shape, repair=None)


def read_number(term: object) -> float:
    """The number of a numeric literal. Raises ArgumentError."""
    if isinstance(term, Literal) and term.datatype.value in _NUMERIC:
        try:
            return float(term.value)
        except ValueError:
            pass
    raise ArgumentError(f"{term} is not a number. Give a numeric literal such as 100 or 2.5.")


def read_integer(term: object) -> int:
    """The integer of a numeric literal. Raises ArgumentError."""
    number = read_number(term)
    if not number.is_integer():
        raise ArgumentError(f"{number} is not an integer. Give a whole number.")
    return int(number)


def read_iri(term: object) -> str:
    """An IRI, written as such or as an xsd:anyURI or string literal. Raises ArgumentError."""
    if isinstance(term, NamedNode) or (isinstance(term, Literal) and term.datatype not in GEOMETRY_LITERALS):
        return term.value
    raise ArgumentError(
        f"{term} is not an IRI. Give an IRI such as <http://www.opengis.net/def/uom/OGC/1.0/metre>."
    )


def read_text(term: object) -> str:
    """The text of a literal. Raises ArgumentError."""
    if isinstance(term, Literal):
        return term.value
    raise ArgumentError(f"{term} is not a string. Give a string literal.")


def write_result(result: Result) -> Literal:
    """The literal of a function's result."""
    if isinstance(result, Literal):
        return result
    if isinstance(result, GeometryValue):
        return write_geometry(result.shape, result.datatype, result.crs)
    if isinstance(result, bool):
        return Literal("true" if result else "false", datatype=BOOLEAN)
    if isinstance(result, int):
        return Literal(str(result), datatype=INTEGER)
    return Literal(repr(float(result)), datatype=DOUBLE)


def any_uri(iri: str) -> Literal:
    """An IRI as an xsd:anyURI literal, the form in which GeoSPARQL functions return IRIs."""
    return Literal(iri, datatype=ANY_URI)


ReadGeometry = Callable[[object], GeometryValue]


class GeometryArgument(threading.local):
    """One argument of one function, which remembers its last term.

    An argument that repeats counts as constant: it is returned as a prepared copy, so that predicates on it
    are fast. The memory is per thread, since prepared geometries must not be shared between threads.
    """

    def __init__(self, read: ReadGeometry) -> None:
        self._read = read
        self._term: object = None
        self._value: GeometryValue | None = None
        self._constant = False

    def __call__(self, term: object) -> GeometryValue:
        """The geometry of a term, prepared where it repeats. Raises what reading raises."""
        if self._value is None or term != self._term:
            self._value = self._read(term)
            self._term, self._constant = term, False
        elif not self._constant:
            self._value, self._constant = _prepared(self._value), True
        return self._value


def _prepared(value: GeometryValue) -> GeometryValue:
    copy = shapely.from_wkb(shapely.to_wkb(value.shape))
    shapely.prepare(copy)
    return replace(value, shape=copy)
