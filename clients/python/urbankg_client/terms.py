"""RDF terms: how they are made, and what they are in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, datetime
from decimal import Decimal
from typing import Final

from urbankg_client.models import Term, TripleTerm

XSD: Final = "http://www.w3.org/2001/XMLSchema#"
WKT: Final = "http://www.opengis.net/ont/geosparql#wktLiteral"
_INTEGERS: Final = (
    "integer long int short byte unsignedLong unsignedInt unsignedShort unsignedByte "
    "nonNegativeInteger positiveInteger nonPositiveInteger negativeInteger"
)

Value = str | int | float | bool | Decimal | date | datetime


def iri(value: str) -> Term:
    """An IRI as a term."""
    return Term(type="uri", value=value)


def literal(value: object, *, datatype: str | None = None, language: str | None = None) -> Term:
    """A literal; of a Python number, boolean, date or time the datatype is known."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if isinstance(value, datetime):
        text = value.isoformat()
    if datatype is None and language is None:
        datatype = next((XSD + name for kind, name in _DATATYPES if isinstance(value, kind)), None)
    members = {"type": "literal", "value": text, "datatype": datatype, "xml:lang": language}
    return Term.model_validate({name: member for name, member in members.items() if member is not None})


def as_python(term: Term) -> Value:
    """A number, a boolean, a date or a time where the datatype says so, else the words."""
    if isinstance(term.value, TripleTerm):
        one = term.value
        return f"<<( {as_python(one.subject)} {as_python(one.predicate)} {as_python(one.object)} )>>"
    datatype = (term.datatype or "").removeprefix(XSD)
    read = _READERS.get(datatype)
    if term.type != "literal" or read is None:
        return term.value
    try:
        return read(term.value)
    except (ValueError, ArithmeticError, LookupError):
        return term.value


def _boolean(text: str) -> bool:
    return {"true": True, "1": True, "false": False, "0": False}[text]


def _double(text: str) -> float:
    return float(re.sub("INF", "inf", text))


_DATATYPES: Final[tuple[tuple[type, str], ...]] = (
    (bool, "boolean"),
    (int, "integer"),
    (float, "double"),
    (Decimal, "decimal"),
    (datetime, "dateTime"),
    (date, "date"),
)
_READERS: Final[dict[str, Callable[[str], Value]]] = {
    "boolean": _boolean,
    "double": _double,
    "float": _double,
    "decimal": Decimal,
    "date": date.fromisoformat,
    "dateTime": datetime.fromisoformat,
    **dict.fromkeys(_INTEGERS.split(), int),
}
