"""Small queries that a rewriting asks on its way, answered from the checkpoint that the query will read."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from pyoxigraph import BlankNode, Literal, NamedNode

from sparql.model.vocabulary import XSD

Row = dict[str, NamedNode | BlankNode | Literal]
Result = TypeVar("Result")


@dataclass(frozen=True)
class Probe:
    """A SELECT whose solutions are needed."""

    text: str


Steps = Generator[Probe, list[Row], Result]
"""Work that asks probes: yields each, is sent its solutions, and returns a result."""


def rows_of(results: dict[str, Any]) -> list[Row]:
    """The solutions of SPARQL 1.1 JSON results."""
    return [
        {name: _term(value) for name, value in solution.items()}
        for solution in results["results"]["bindings"]
    ]


def _term(value: dict[str, str]) -> NamedNode | BlankNode | Literal:
    if value["type"] == "uri":
        return NamedNode(value["value"])
    if value["type"] == "bnode":
        return BlankNode(value["value"])
    if "xml:lang" in value:
        return Literal(value["value"], language=value["xml:lang"])
    return Literal(value["value"], datatype=NamedNode(value.get("datatype", XSD.string.value)))
