"""Replacing parts of a text by their offsets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """What stands from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit], start: int = 0, end: int | None = None) -> str:
    """The part of a text from `start` to `end` with the edits in it, which must not overlap."""
    done: list[str] = []
    position = start
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        done += (text[position : edit.start], edit.text)
        position = edit.end
    done.append(text[position:end])
    return "".join(done)
