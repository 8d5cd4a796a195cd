"""The answer of a reader of values that could not read one."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Unreadable"]


@dataclass(frozen=True)
class Unreadable:
    """Why some words cannot be read as a value."""

    reason: str
