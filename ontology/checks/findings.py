"""A finding of a check: the rule, its level, the place, and the fix."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

__all__ = ["Finding", "Level", "Rule", "in_order"]


class Level(StrEnum):
    """The level of a finding, in the terms of ROBOT's report.

    ERROR: the file contradicts itself and is not put in force. WARN: it works, but probably not as meant.
    INFO: worth knowing.
    """

    ERROR = "ERROR"
    WARN = "WARN"
    INFO = "INFO"


@dataclass(frozen=True)
class Rule:
    """A rule of the check; `summary` describes in one sentence what it finds.

    `blocks`: an ERROR by it keeps an edit from being put in force.
    """

    name: str
    level: Level
    summary: str
    blocks: bool = True


@dataclass(frozen=True)
class Finding:
    """One violation of a rule. `line` counts from 1."""

    rule: Rule
    message: str
    fix: str
    subject: str = ""
    file: Path | None = None
    line: int | None = None

    @property
    def level(self) -> Level:
        """The level of its rule."""
        return self.rule.level


_RANK = {Level.ERROR: 0, Level.WARN: 1, Level.INFO: 2}


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The most severe first, then by rule, file, line and subject; each once."""
    return tuple(
        sorted(
            dict.fromkeys(findings),
            key=lambda one: (
                _RANK[one.level], one.rule.name, str(one.file or ""), one.line or 0, one.subject, one.message,
            ),
        )
    )  # fmt: skip
