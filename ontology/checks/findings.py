"""What a check finds in a file: a named rule, how bad it is, where, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Finding", "Level", "Rule", "in_order"]


class Level(StrEnum):
    """How bad a finding is; the words are those of ROBOT's report.

    ERROR: the file contradicts itself and is not put in force. WARN: it works, most likely not as meant.
    INFO: worth knowing.
    """

    ERROR = "ERROR"
    WARN = "WARN"
    INFO = "INFO"


@dataclass(frozen=True)
class Rule:
    """A rule of the check; `summary` says in one sentence what it looks for."""

    name: str
    level: Level
    summary: str


@dataclass(frozen=True)
class Finding:
    """One place where a rule does not hold. `line` counts from 1."""

    rule: Rule
    message: str
    mend: str
    subject: str = ""
    file: Path | None = None
    line: int | None = None

    @property
    def level(self) -> Level:
        """The level of its rule."""
        return self.rule.level


_RANK = {Level.ERROR: 0, Level.WARN: 1, Level.INFO: 2}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The worst first, then by rule, file, line and subject; each once."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda one: (
                _RANK[one.level], one.rule.name, str(one.file or ""), one.line or 0, one.subject, one.message,
            ),
        )
    )  # fmt: skip
