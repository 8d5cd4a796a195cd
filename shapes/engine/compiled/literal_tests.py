"""Tests of literals that give the reference engine's answer, or raise `Unsure`."""

import re
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache

import rdflib
from pyoxigraph import Literal

from geo.remembered import remembered
from shapes.terms import to_rdflib
from sparql.model.literals import in_lexical_space
from sparql.model.source import Term
from sparql.model.vocabulary import RDF, RDFS, XSD


class Unsure(Exception):
    """A case that only the reference engine can decide. It never leaves this package."""


_ANY_LITERAL = frozenset((RDFS.Literal.value, RDFS.Datatype.value))
_STRING, _LANG_STRING = XSD.string.value, RDF.langString.value
_VALUE_TYPES: dict[str, type | tuple[type, ...]] = {
    XSD.integer.value: int,
    XSD.float.value: float,
    XSD.decimal.value: Decimal,
    XSD.boolean.value: bool,
    XSD.date.value: date,
    XSD.time.value: time,
    XSD.dateTime.value: datetime,
}
_DATE = "[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_PLAIN_FORMS = {
    XSD.integer.value: re.compile(r"[+-]?[0-9]{1,18}").fullmatch,
    XSD.nonNegativeInteger.value: re.compile(r"[0-9]{1,18}").fullmatch,
    XSD.decimal.value: re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?").fullmatch,
    XSD.gYear.value: re.compile(r"[1-9][0-9]{3}").fullmatch,
    XSD.date.value: re.compile(_DATE).fullmatch,
    XSD.dateTime.value: re.compile(_DATE + "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z?").fullmatch,
}


def has_datatype(value: Term, datatypes: frozenset[str]) -> bool:
    """Whether a value conforms to `sh:datatype` (SHACL, 4.1.2) with one of these."""
    if not isinstance(value, Literal):
        return False
    own = value.datatype.value
    return (own in datatypes and _is_of_its_datatype(value, own)) or not datatypes.isdisjoint(
        _ANY_LITERAL - {own}
    )


def _is_of_its_datatype(value: Literal, own: str) -> bool:
    if own in (_STRING, _LANG_STRING):
        return True
    plain = _PLAIN_FORMS.get(own)
    if plain is not None and plain(value.value) is not None:
        return True
    return not _is_recognized(own) or _is_well_typed(value)


@lru_cache(maxsize=256)
def _is_recognized(datatype: str) -> bool:
    """Whether the reference engine recognizes a datatype (RDF 1.1, 5.4), which those of geometries it does
    not; of an unrecognized datatype every text is well-typed."""
    return rdflib.URIRef(datatype) in rdflib.term.XSDToPython


@remembered((200, 4096))
def _is_well_typed(literal: Literal) -> bool:
    node = to_rdflib(literal)
    kind = _VALUE_TYPES.get(literal.datatype.value)
    ill_typed = getattr(node, "ill_typed", None) is True
    return not ill_typed and (kind is None or isinstance(getattr(node, "value", None), kind))


_INTEGERS = frozenset(
    XSD.term(name).value
    for name in (
        *("integer", "decimal", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_is_number = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?").fullmatch
_DAY = "[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
# In these forms, texts sort in the order of their values.
_ORDERED = {
    XSD.date.value: re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}").fullmatch,
    XSD.dateTime.value: re.compile(
        r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-2][0-9]:[0-9]{2}:[0-9]{2}Z"
    ).fullmatch,
    XSD.gYear.value: re.compile(r"[1-9][0-9]{3}").fullmatch,
}


def order(first: Term, second: Term) -> int:
    """-1, 0 or 1 for the order of two literals. Raises `Unsure` except for plain numbers and dates."""
    if isinstance(first, Literal) and isinstance(second, Literal):
        one, other = first.datatype.value, second.datatype.value
        if one in _INTEGERS and other in _INTEGERS:
            if _is_number(first.value) and _is_number(second.value):
                return _sign(Decimal(first.value), Decimal(second.value))
        elif one == other and one in _ORDERED:
            is_plain = _ORDERED[one]
            name = one.removeprefix(XSD.iri)
            if all(is_plain(text) and in_lexical_space(name, text) for text in (first.value, second.value)):
                return _sign(first.value, second.value)
    raise Unsure


def _sign(first: Decimal | str, second: Decimal | str) -> int:
    return (first > second) - (first < second)  # type: ignore[operator]
