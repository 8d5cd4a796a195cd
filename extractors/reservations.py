"""What keeps the words of a text from being a statement of fact, and which words show it."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Reservation"]


@dataclass(frozen=True)
class Reservation:
    """`kind` names in words what it is instead of a statement ("an order"), `cue` are the text's words."""

    kind: str
    cue: str

    @classmethod
    def of(cls, kind: str, words: str) -> Reservation:
        """The same with the blanks of the words made one."""
        return cls(kind, " ".join(words.split()))
