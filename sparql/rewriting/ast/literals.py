"""Strings and numbers as SPARQL writes them (SPARQL 1.1 Query, 4.1.2 and 19.7)."""

from __future__ import annotations

import re

from pyoxigraph import Literal

from sparql.model.vocabulary import XSD

_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_PLAIN = {"t": "\t", "b": "\b", "n": "\n", "r": "\r", "f": "\f", '"': '"', "'": "'", "\\": "\\"}


def read_string(written: str) -> str | None:
    """The value of a quoted string; None where an escape is unknown."""
    quotes = 3 if written[:3] in ('"""', "'''") and len(written) >= 6 else 1
    inner = written[quotes:-quotes]
    if "\\" not in inner:
        return inner
    known = True

    def unescape(found: re.Match[str]) -> str:
        nonlocal known
        if found[1] or found[2]:
            try:
                return chr(int(found[1] or found[2], 16))
            except ValueError:
                known = False
                return ""
        if found[3] not in _PLAIN:
            known = False
        return _PLAIN.get(found[3], "")

    value = _ESCAPE.sub(unescape, inner)
    return value if known else None


def read_number(written: str) -> Literal:
    """A number in its datatype: integer, decimal or, with an exponent, double."""
    if "e" in written.lower():
        return Literal(written, datatype=XSD.double)
    return Literal(written, datatype=XSD.decimal if "." in written else XSD.integer)
