"""Which literals can be values of a datatype: `"16"^^xsd:integer` is a decimal, and `16.0` is an integer.

By the datatype map of OWL 2 (Structural Specification, 4): derived types share the values of their base,
`xsd:float`, `xsd:double` and the decimals have none in common, nor have strings and strings with a language.
Where a lexical form may lie in several types, all of them are taken, so that nothing is excluded wrongly.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode

from ontology import vocabulary as v
from sparql.model.vocabulary import SH, XSD

__all__ = ["Parts", "can_be_any", "spellings"]

Parts = list[tuple[NamedNode, Literal | NamedNode]]

_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
_FAMILIES = (
    ("string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN"),
    ("dateTime", "dateTimeStamp"),
    ("duration", "dayTimeDuration", "yearMonthDuration"),
)
_ALONE = frozenset(
    (
        "boolean",
        "float",
        "double",
        "date",
        "time",
        "gYear",
        "gYearMonth",
        "gMonth",
        "gMonthDay",
        "gDay",
        "hexBinary",
        "base64Binary",
        "anyURI",
    )
)
_WHOLE = r"^\s*[+-]?[0-9]+(\.0*)?\s*$"
_DECIMAL = XSD.term("decimal")
_REAL = frozenset((NamedNode(v.OWL + "real"), NamedNode(v.OWL + "rational")))
_PLAIN = NamedNode(v.RDF + "PlainLiteral")


def spellings(datatype: NamedNode) -> tuple[Sequence[Parts], Parts]:
    """The datatypes that values may be written in, each with its conditions; and what holds of all.

    Nothing of a datatype whose values are not known here: see `can_be_any`.
    """
    name = datatype.value.removeprefix(v.XSD)
    if name in _BOUNDS:
        low, high = _BOUNDS[name]
        others = [one for one in _BOUNDS if one != name]
        written: list[Parts] = [[(SH.datatype, XSD.term(one))] for one in (name, *others)]
        written.append([(SH.datatype, _DECIMAL), (SH.pattern, Literal(_WHOLE))])
        limits = ((SH.minInclusive, low), (SH.maxInclusive, high))
        return written, [(at, _whole(number)) for at, number in limits if number is not None]
    if datatype == _DECIMAL or datatype in _REAL:
        return [[(SH.datatype, one)] for one in (_DECIMAL, *map(XSD.term, _BOUNDS))], []
    for family in _FAMILIES:
        if name in family:
            ordered = (name, *(one for one in family if one != name))
            return [[(SH.datatype, XSD.term(one))] for one in ordered], []
    if datatype == _PLAIN:
        return [[(SH.datatype, one)] for one in (*map(XSD.term, _FAMILIES[0]), v.LANG_STRING)], []
    return [[(SH.datatype, datatype)]], []


def can_be_any(datatype: NamedNode) -> bool:
    """Whether a datatype's values are not known here, so that no literal is surely outside of it."""
    if datatype == v.LANG_STRING or datatype in (_PLAIN, _DECIMAL) or datatype in _REAL:
        return False
    name = datatype.value.removeprefix(v.XSD)
    known = name in _BOUNDS or name in _ALONE or any(name in family for family in _FAMILIES)
    return not (known and datatype.value.startswith(v.XSD))


def _whole(number: int) -> Literal:
    return Literal(str(number), datatype=XSD.integer)
