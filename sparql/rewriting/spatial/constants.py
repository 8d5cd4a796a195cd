"""What a part of a query comes to before it basic graph patterns: constants, and functions of constants."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Final

from pyoxigraph import Literal, NamedNode

from geo.errors import GeoError
from geo.formats.literals import GeometryValue, is_geometry_literal, read_geometry
from geo.functions import FUNCTIONS
from sparql.model.vocabulary import XSD
from sparql.rewriting.ast import nodes as n

_NUMERIC = frozenset(
    XSD.term(name) for name in ("integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger")
)

LONGEST_CONSTANT: Final = 2_000
"""Characters of the arguments of a call up to which it is worked out here, where no limit of time ends it."""


class NotConstant(Exception):
    """The expression depends on the solution, or on something not worked out here."""


@dataclass(frozen=True)
class UnreadableConstant(Exception):
    """The expression is an error whatever the solution: a filter on it is never true."""

    reason: str


def constants_in(elements: Iterable[n.Element]) -> Mapping[str, n.Expression]:
    """The variables that have one value in all solutions of a group: by BIND, or VALUES of one row."""
    found: dict[str, n.Expression] = {}
    for element in elements:
        if isinstance(element, n.Bind) and not n.variables_of(element.expression):
            found[element.variable] = element.expression
        elif isinstance(element, n.Values) and len(element.rows) == 1:
            for name, term in zip(element.variables, element.rows[0], strict=False):
                if isinstance(term, NamedNode | Literal):
                    found[name] = n.Constant(term)
    return found


def term_of(expression: n.Expression, known: Mapping[str, n.Expression]) -> NamedNode | Literal:
    """The value of a constant expression. Raises NotConstant and UnreadableConstant."""
    if isinstance(expression, n.Constant):
        return expression.term
    if isinstance(expression, n.VariableUse) and expression.name in known:
        return term_of(known[expression.name], {})
    if isinstance(expression, n.Call) and expression.iri in FUNCTIONS:
        arguments = [term_of(argument, known) for argument in expression.arguments]
        if sum(len(argument.value) for argument in arguments) > LONGEST_CONSTANT:
            raise NotConstant
        try:
            value = FUNCTIONS[expression.iri](*arguments)
        except GeoError as error:
            raise UnreadableConstant(str(error)) from error
        if isinstance(value, NamedNode | Literal):
            return value
    if isinstance(expression, n.Operation) and expression.name == "STRDT" and len(expression.arguments) == 2:
        text, datatype = (term_of(argument, known) for argument in expression.arguments)
        if isinstance(text, Literal) and isinstance(datatype, NamedNode) and text.datatype == XSD.string:
            return Literal(text.value, datatype=datatype)
    raise NotConstant


def geometry_of(expression: n.Expression, known: Mapping[str, n.Expression]) -> GeometryValue:
    """The geometry of a constant expression. Raises NotConstant and UnreadableConstant."""
    term = term_of(expression, known)
    if not isinstance(term, Literal) or not is_geometry_literal(term):
        raise UnreadableConstant(
            f'{term} is no geometry literal; write for example "POINT(-73.96 40.8)"^^geo:wktLiteral.'
        )
    try:
        return read_geometry(term)
    except GeoError as error:
        raise UnreadableConstant(str(error)) from error


def number_of(expression: n.Expression, known: Mapping[str, n.Expression]) -> float:
    """The number of a constant expression. Raises NotConstant."""
    if isinstance(expression, n.Operation):
        numbers = [number_of(argument, known) for argument in expression.arguments]
        match expression.name, numbers:
            case "unary -", [one]:
                return -one
            case "*", [left, right]:
                return left * right
            case "+", [left, right]:
                return left + right
            case "/", [left, right] if right:
                return left / right
        raise NotConstant
    term = term_of(expression, known)
    if isinstance(term, Literal) and term.datatype in _NUMERIC:
        try:
            number = float(Decimal(term.value))
        except InvalidOperation:
            raise NotConstant from None
        if math.isfinite(number):
            return number
    raise NotConstant
