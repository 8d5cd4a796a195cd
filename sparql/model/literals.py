"""The lexical spaces of the XSD datatypes that RDF supports (XML Schema 1.1 part 2; RDF 1.1 Concepts, 5.1).

RDF does not trim: white space around a number is outside its lexical space, and so is a day that does not
exist in the calendar.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, lru_cache
from typing import Final
from typing import Literal as OneOf

from pyoxigraph import Literal, NamedNode, Triple

from geo.errors import GeometryError
from geo.remembered import remembered
from geo.vocabulary import GEOMETRY_LITERALS, WKT_LITERAL
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.vocabulary import RDF, SH, UKG, XSD

Check = Callable[[str], bool]

_ZONE = r"(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))?"
_YEAR = r"-?(?:[1-9]\d{3,}|0\d{3})"
_MONTH = r"(?:0[1-9]|1[0-2])"
_DAY = r"(?:0[1-9]|[12]\d|3[01])"
_TIME = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_FLOATING = rf"{_NUMBER}(?:[eE][+-]?\d+)?|[+-]?INF|NaN"
_MONTHS = r"(?:\d+Y(?:\d+M)?|\d+M)"
_CLOCK = r"T(?:\d+H(?:\d+M)?(?:\d+(?:\.\d+)?S)?|\d+M(?:\d+(?:\.\d+)?S)?|\d+(?:\.\d+)?S)"
_DAYS = rf"(?:\d+D(?:{_CLOCK})?|{_CLOCK})"
_SIX_BITS = r"[A-Za-z0-9+/] ?"
# XML 1.0, productions 4 and 4a, without the colon.
_START = (
    "A-Z_a-z\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u02ff\u0370-\u037d\u037f-\u1fff\u200c\u200d\u2070-\u218f"
    "\u2c00-\u2fef\u3001-\ud7ff\uf900-\ufdcf\ufdf0-\ufffd\U00010000-\U000effff"
)
_FOLLOWING = _START + "\\-.0-9\u00b7\u0300-\u036f\u203f\u2040"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """Compiled on first use: compiling all of them takes a noticeable part of the start."""
    return re.compile(pattern, re.ASCII)


def _matching(pattern: str) -> Check:
    return lambda text: _compiled(pattern).fullmatch(text) is not None


def _between(lowest: int | None, highest: int | None) -> Check:
    """Integers from `lowest` to `highest`, both included; None is without a bound."""
    is_integer = _matching(r"[+-]?\d+")
    # A number with more digits than any bound is judged by its sign, so no huge number is ever computed.
    most = max(len(str(abs(bound))) for bound in (lowest, highest) if bound is not None)

    def check(text: str) -> bool:
        if not is_integer(text):
            return False
        negative, digits = text[0] == "-", text.lstrip("+-").lstrip("0")
        if len(digits) > most:
            return (lowest if negative else highest) is None
        value = int(digits or "0") * (-1 if negative else 1)
        return (lowest is None or value >= lowest) and (highest is None or value <= highest)

    return check


def _dated(rest: str) -> Check:
    """A calendar date (XML Schema 1.1 part 2, 3.3.7.2: the day of the month), followed by `rest`."""
    pattern = rf"({_YEAR})-({_MONTH})-({_DAY}){rest}"

    def check(text: str) -> bool:
        found = _compiled(pattern).fullmatch(text)
        return found is not None and _is_day(int(found[1][-4:]), int(found[2]), int(found[3]))

    return check


def _is_day(year: int, month: int, day: int) -> bool:
    """Whether a month has this day; the calendar repeats, so the last four digits of the year count."""
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return day <= (29 if leap else 28)
    return day <= (30 if month in (4, 6, 9, 11) else 31)


def _is_month_day(text: str) -> bool:
    found = _compiled(_MONTH_AND_DAY).fullmatch(text)
    return found is not None and _is_day(2000, int(found[1]), int(found[2]))


_MONTH_AND_DAY = rf"--({_MONTH})-({_DAY}){_ZONE}"
_WIDTHS = {"byte": 8, "short": 16, "int": 32, "long": 64}

_CHECKS: Final[Mapping[str, Check]] = {
    "boolean": _matching("true|false|1|0"),
    "decimal": _matching(_NUMBER),
    "integer": _matching(r"[+-]?\d+"),
    "double": _matching(_FLOATING),
    "float": _matching(_FLOATING),
    "nonNegativeInteger": _between(0, None),
    "positiveInteger": _between(1, None),
    "nonPositiveInteger": _between(None, 0),
    "negativeInteger": _between(None, -1),
    **{name: _between(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) for name, bits in _WIDTHS.items()},
    **{f"unsigned{name.title()}": _between(0, 2**bits - 1) for name, bits in _WIDTHS.items()},
    "date": _dated(_ZONE),
    "dateTime": _dated(f"T{_TIME}{_ZONE}"),
    "dateTimeStamp": _dated(f"T{_TIME}{_ZONE[:-1]}"),
    "time": _matching(_TIME + _ZONE),
    "gYear": _matching(_YEAR + _ZONE),
    "gYearMonth": _matching(f"{_YEAR}-{_MONTH}{_ZONE}"),
    "gMonth": _matching(f"--{_MONTH}{_ZONE}"),
    "gMonthDay": _is_month_day,
    "gDay": _matching(f"---{_DAY}{_ZONE}"),
    "duration": _matching(rf"-?P(?:{_MONTHS}(?:{_DAYS})?|{_DAYS})"),
    "yearMonthDuration": _matching(rf"-?P{_MONTHS}"),
    "dayTimeDuration": _matching(rf"-?P{_DAYS}"),
    "hexBinary": _matching("(?:[0-9a-fA-F]{2})*"),
    "base64Binary": _matching(
        rf"(?:(?:{_SIX_BITS}){{4}})*"
        rf"(?:(?:{_SIX_BITS}){{3}}[A-Za-z0-9+/]|(?:{_SIX_BITS}){{2}}[AEIMQUYcgkosw048] ?=|"
        rf"{_SIX_BITS}[AQgw] ?= ?=)?"
    ),
    "language": _matching("[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*"),
    "normalizedString": _matching("[^\t\n\r]*"),
    "token": _matching("(?:[^\t\n\r ]+(?: [^\t\n\r ]+)*)?"),
    "NMTOKEN": _matching(f"[:{_FOLLOWING}]+"),
    "Name": _matching(f"[:{_START}][:{_FOLLOWING}]*"),
    "NCName": _matching(f"[{_START}][{_FOLLOWING}]*"),
}


def check_of(name: str) -> Check | None:
    """The function that checks the lexical space of the XSD datatype with that local name.

    None for `string` and `anyURI`, which accept any text, and for names that XSD does not define.
    """
    return _CHECKS.get(name)


def in_lexical_space(name: str, text: str) -> bool:
    """Whether a text is in the lexical space of the XSD datatype with that local name."""
    check = check_of(name)
    return check is None or check(text)


InvalidGeometry = OneOf["repair", "refuse"]
_PLAIN = frozenset((XSD.string.value, RDF.langString.value))


def literal_violations(triple: Triple, invalid: InvalidGeometry = "repair") -> tuple[Violation, ...]:
    """Violations of RDF 1.1 section 3.3 (lexical space) and GeoSPARQL 1.1 section 8 (geometry literals).

    A violation of severity `sh:Warning` reports a geometry that was repaired.
    """
    value = triple.object
    if not isinstance(value, Literal):
        return ()
    datatype = value.datatype.value
    if datatype in _PLAIN:
        return ()
    problem = _problem(value, datatype, invalid)
    if problem is None:
        return ()
    component, message, severity = problem
    return (
        Violation(
            focus=triple.subject,
            message=message,
            component=component,
            path=triple.predicate.value,
            value=value,
            severity=severity,
        ),
    )


def sort_out(
    additions: Iterable[Statement], invalid: InvalidGeometry = "repair"
) -> tuple[tuple[Statement, ...], list[Rejection], list[Rejection]]:
    """Statements with valid literals, those without, and warnings about the former."""
    sound: list[Statement] = []
    malformed: list[Rejection] = []
    repaired: list[Rejection] = []
    for statement in additions:
        violations = literal_violations(statement.triple, invalid)
        if any(violation.blocking for violation in violations):
            malformed.append(Rejection(statement, violations))
            continue
        sound.append(statement)
        if violations:
            repaired.append(Rejection(statement, violations))
    return tuple(sound), malformed, repaired


@remembered((200, 8192))
def _problem(
    literal: Literal, datatype: str, invalid: InvalidGeometry
) -> tuple[NamedNode, str, NamedNode] | None:
    """The fault of a literal: component, message and severity."""
    if datatype.startswith(XSD.iri):
        name = datatype.removeprefix(XSD.iri)
        if in_lexical_space(name, literal.value):
            return None
        message = f"'{literal.value}' is not a value of xsd:{name}; write it in that datatype's form."
        return UKG.MalformedLiteral, message, SH.Violation
    if literal.datatype in GEOMETRY_LITERALS:
        # Imported with the first geometry: a store opens and answers before it is written to.
        from geo.formats.literals import read_geometry

        try:
            fault = read_geometry(literal, invalid).repair
        except GeometryError as error:
            return UKG.MalformedLiteral, str(error), SH.Violation
        if fault is None:
            return None
        message = (
            f"The geometry is not valid: {fault}. It is repaired where it is used; better repair the source."
        )
        return UKG.RepairedGeometry, message, SH.Warning
    return None


# The literals of many statements at once, for bulk loads: only the doubtful ones are looked at one by one.
#
# What is found sound here is sound by `sparql.model.literals` too (a test compares both); what is
# doubtful may still be sound, and `literal_violations` decides.
_KEPT = 16_384
"""Verdicts on so many texts of a datatype are kept: years and small numbers repeat."""
_WKT = WKT_LITERAL.value
_GEOMETRIES = frozenset(datatype.value for datatype in GEOMETRY_LITERALS)


def doubtful(objects: Iterable[object]) -> list[int]:
    """The positions, in order, of the objects that are not surely in the lexical space of their datatype."""
    found: list[int] = []
    wkt: list[tuple[int, str]] = []
    for position, value in enumerate(objects):
        if type(value) is not Literal:
            continue
        datatype = value.datatype.value
        check = _check(datatype)
        if check is None or check(value.value):
            continue
        if datatype == _WKT:
            wkt.append((position, value.value))
        else:
            found.append(position)
    if wkt:
        # Imported with the first geometry: most loads have none.
        from geo.formats.literals import plainly_sound

        sound = plainly_sound([text for _, text in wkt])
        found += [position for (position, _), fine in zip(wkt, sound, strict=True) if not fine]
        found.sort()
    return found


@lru_cache(maxsize=1024)
def _check(datatype: str) -> Check | None:
    """Whether a text is surely a value of a datatype; None where every text is one."""
    if datatype in _GEOMETRIES:
        return lambda text: False
    if not datatype.startswith(XSD.iri):
        return None
    check = check_of(datatype.removeprefix(XSD.iri))
    return None if check is None else lru_cache(maxsize=_KEPT)(check)
