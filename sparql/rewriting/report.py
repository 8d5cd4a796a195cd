"""What became of each part of a query that could be rewritten: shown by `explain=true`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

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
