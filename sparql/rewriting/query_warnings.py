"""Geometry literals of a query that cannot be read, and calls that no geometry fits: reported in a warning.

A function that meets one is an error, and an error in a filter is only a solution that is missing. So is one
of an unknown unit, or with an argument too few.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Final

from pyoxigraph import Literal, NamedNode
from shapely import GEOSException

from geo.errors import ArgumentError, GeoError, GeometryError, UnitError
from geo.formats.literals import is_geometry_literal, parse_geometry
from geo.functions import AGGREGATES, DEFINITIONS, FUNCTIONS
from geo.functions.definitions import Parameter
from geo.vocabulary import WKT_LITERAL
from sparql.model.errors import MalformedRequest
from sparql.rewriting.spatial_filters import LONGEST_CONSTANT
from sparql.rewriting.steps import Report
from sparql.syntax import nodes as n
from sparql.syntax.problems import (
    is_known,
    is_named_like_aggregate,
    unknown_function,
    unknown_function_message,
)
from sparql.syntax.tokens import Prologue, TokenKind, read_string, read_tokens


def warn_of_unreadable(literals: Iterable[Literal], report: Report) -> None:
    """Add a warning for each geometry literal that cannot be read."""
    for literal in filter(is_geometry_literal, literals):
        try:
            parse_geometry(literal)
        except GeometryError as error:
            report.warn(
                f"A geometry literal of the query cannot be read, so what uses it is unbound: {error}"
            )


def geometry_literals(text: str, prologue: Prologue) -> Iterator[Literal]:
    """The literals of GeoSPARQL's datatypes in a text that need not be a query."""
    tokens = list(read_tokens(text, prologue.end))
    for string, sign, datatype in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if string.kind is TokenKind.STRING and sign.text == "^^":
            value, iri = read_string(string.text), prologue.expand(datatype)
            if value is not None and iri is not None and iri.startswith("http://www.opengis.net/"):
                yield Literal(value, datatype=NamedNode(iri))


def warn_of_misuse(query: n.Query, report: Report) -> None:
    """Add a warning for each call of a geometry function that is an error whatever its variables are."""
    for call in n.calls_in(query):
        if call.iri in FUNCTIONS:
            terms = tuple(one.term if isinstance(one, n.Constant) else None for one in call.arguments)
            reason = _misuse(call.iri, terms)
            if reason is not None:
                name = call.iri.value.rpartition("/")[2]
                report.warn(f"A call of {name} in the query is unbound whatever it is asked of: {reason}")


@lru_cache(maxsize=64)
def _misuse(function: NamedNode, terms: tuple[NamedNode | Literal | None, ...]) -> str | None:
    """Why the function is an error for these constants; None is what depends on the solution."""
    definition = DEFINITIONS[function]
    arguments: list[NamedNode | Literal] = []
    for position, term in enumerate(terms):
        kind = definition.parameters[position] if position < len(definition.parameters) else None
        if term is None and kind not in (None, *_ANY_OF):
            return None
        if kind is Parameter.GEOMETRY and isinstance(term, Literal) and not is_geometry_literal(term):
            return f'{term} is no geometry literal. Write for example "POINT(-73.96 40.8)"^^geo:wktLiteral.'
        # Whether a call is misused does not depend on the geometry, and the time that it takes does.
        long = kind is Parameter.GEOMETRY and term is not None and len(term.value) > LONGEST_CONSTANT
        arguments.append(_ANY_OF.get(kind, _A_NUMBER) if term is None or long else term)
    try:
        FUNCTIONS[function](*arguments)
    except (ArgumentError, UnitError) as error:
        return str(error)
    except (GeoError, GEOSException):
        return None
    return None


_A_NUMBER: Final = Literal(1)
_ANY_OF: Final[dict[Parameter | None, Literal]] = {
    Parameter.GEOMETRY: Literal("POLYGON((0 0, 0 0.001, 0.001 0.001, 0 0))", datatype=WKT_LITERAL),
    Parameter.NUMBER: _A_NUMBER,
    Parameter.INTEGER: _A_NUMBER,
}
"""An example of each kind of value that a variable may have; units and patterns are no matter of chance."""


def refuse_misused_aggregates(query: n.Query) -> None:
    """Raises UnknownFunction for an aggregate that is not here, MalformedRequest for a misplaced one."""
    for call in n.calls_in(query):
        if call.iri not in AGGREGATES and is_named_like_aggregate(call.iri.value):
            raise unknown_function(call.iri.value)
        if call.iri in AGGREGATES and len(call.arguments) != 1:
            raise MalformedRequest(f"{call.iri} takes one argument: the geometries to put together.")
    for group in n.groups_in(query):
        for element in group.elements:
            if isinstance(element, n.Filter | n.Bind):
                for part in n.walk_expressions(element.expression):
                    if isinstance(part, n.Call) and part.iri in AGGREGATES:
                        raise MalformedRequest(
                            f"{part.iri} is an aggregate: it can be used in SELECT, HAVING and ORDER BY, not "
                            "in FILTER or BIND. Write it in a sub-select around the pattern."
                        )


def warn_of_unknown(query: n.Query, report: Report) -> None:
    """Add a warning for each function that is called and is not defined."""
    for call in n.calls_in(query):
        if not is_known(call.iri):
            report.warn(unknown_function_message(call.iri.value))
