"""The values of columns and tags as literals: of the datatype in the mapping, else of their own type."""

import math
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from pyoxigraph import Literal, NamedNode

from sparql.model.vocabulary import XSD

_TRUE, _FALSE = {"true", "yes", "1", "t", "y"}, {"false", "no", "0", "f", "n"}
_WHOLE = {"integer", "int", "long", "short", "nonNegativeInteger", "positiveInteger", "gYear"}


class ValueProblem(ValueError):
    """A value that does not fit the datatype in the mapping."""


def as_text(value: Any) -> str:
    """A value as text without surrounding blanks; empty for None, empty text and NaN."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, date | time):
        return value.isoformat()
    return str(value).strip()


def as_literal(value: Any, datatype: NamedNode | None) -> Literal:
    """A non-empty value as a literal. Raises ValueProblem where it does not fit the datatype."""
    text = as_text(value)
    if datatype is None:
        return Literal(text) if isinstance(value, str) else Literal(text, datatype=_own_datatype(value))
    name = datatype.value.removeprefix(XSD.iri)
    if name == "boolean":
        if text.lower() not in _TRUE | _FALSE:
            raise ValueProblem(
                f"'{text}' is neither yes nor no. Remove the datatype xsd:boolean, or fix the value."
            )
        return Literal("true" if text.lower() in _TRUE else "false", datatype=datatype)
    if name in _WHOLE and isinstance(value, float) and not value.is_integer():
        raise ValueProblem(
            f"{value} is not whole, but the datatype is xsd:{name}. Use xsd:decimal or xsd:double."
        )
    if name == "date" and isinstance(value, datetime):
        text = value.date().isoformat()
    if name == "gYear" and isinstance(value, date):
        text = f"{value.year:04}"
    if name == "dateTime" and isinstance(value, date) and not isinstance(value, datetime):
        text += "T00:00:00"
    return Literal(text, datatype=datatype)


def _own_datatype(value: Any) -> NamedNode:
    if isinstance(value, bool):
        return XSD.boolean
    if isinstance(value, int):
        return XSD.integer
    if isinstance(value, Decimal):
        return XSD.decimal
    if isinstance(value, float):
        return XSD.double
    if isinstance(value, datetime):
        return XSD.dateTime
    return XSD.date if isinstance(value, date) else XSD.string
