"""Geometry literals of a query that cannot be read: told, since what they lead to is silence.

A function that meets one is an error, and an error in a filter is only a solution that is missing.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import Literal, NamedNode

from geo import GeometryError, is_geometry_literal, parse_geometry
from sparql.rewriting.literals import read_string
from sparql.rewriting.report import Report
from sparql.syntax import Prologue
from sparql.tokens import TokenKind, read_tokens


def warn_of_unreadable(text: str, prologue: Prologue, report: Report) -> None:
    """Add a warning for each geometry literal of the text that cannot be read."""
    for literal in _geometry_literals(text, prologue):
        try:
            parse_geometry(literal)
        except GeometryError as error:
            report.warn(
                f"A geometry literal of the query cannot be read, so what uses it is unbound: {error}"
            )


def _geometry_literals(text: str, prologue: Prologue) -> Iterator[Literal]:
    tokens = list(read_tokens(text, prologue.end))
    for string, sign, datatype in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if string.kind is TokenKind.STRING and sign.text == "^^":
            value, iri = read_string(string.text), prologue.expand(datatype)
            if value is not None and iri is not None and iri.startswith("http://www.opengis.net/"):
                literal = Literal(value, datatype=NamedNode(iri))
                if is_geometry_literal(literal):
                    yield literal
