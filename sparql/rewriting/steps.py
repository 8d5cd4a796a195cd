"""What the parts of a rewriting share: probes that it asks on its way, when it must stop, and its report."""

from __future__ import annotations

import time
from collections.abc import Generator
from dataclasses import dataclass, field
from math import inf
from typing import Any, Final, TypeVar

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


class Stopped(Exception):
    """The work was stopped. Never leaves this package."""


class Stop:
    """The work checks it every few milliseconds; those who wait set it, from any thread.

    `timeout_s` are seconds from now.
    """

    def __init__(self, timeout_s: float = inf) -> None:
        self._deadline = time.monotonic() + timeout_s

    def now(self) -> None:
        """Nobody waits any more."""
        self._deadline = -inf

    def check(self) -> None:
        """Raise `Stopped` where the work is to end."""
        if time.monotonic() >= self._deadline:
            raise Stopped


UNLIMITED: Final = Stop()


FILTER = "spatial filter"
"""The name of what is reported about filters over geometries."""
_LONGEST_EXCERPT = 160


@dataclass
class Report:
    """`done` and `left` hold a rewriting's name, the part of the query, and what was done, or why not.

    `warnings` are for the client, beside the answer.
    """

    done: list[dict[str, Any]] = field(default_factory=list)
    left: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def did(self, rewriting: str, part: str, what: str, **figures: int) -> None:
        """Note a rewriting."""
        self.done.append({"rewriting": rewriting, "part": excerpt(part), "what": what, **figures})

    def leave(self, rewriting: str, part: str, why: str) -> None:
        """Note something that stays as it is."""
        entry = {"rewriting": rewriting, "part": excerpt(part), "why": why}
        if entry not in self.left:
            self.left.append(entry)

    def warn(self, message: str) -> None:
        """Note a warning for the client."""
        if message not in self.warnings:
            self.warnings.append(message)

    def add(self, other: Report) -> None:
        """Note all that another one notes."""
        self.done += other.done
        self.left += [entry for entry in other.left if entry not in self.left]
        for message in other.warnings:
            self.warn(message)

    def members(self) -> dict[str, Any]:
        """The report as JSON members."""
        return {"done": self.done, "left": self.left, "warnings": self.warnings}


def excerpt(text: str) -> str:
    """A part of a query on one line, not too long."""
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_EXCERPT else line[: _LONGEST_EXCERPT - 3] + "..."
