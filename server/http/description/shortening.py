"""Examples are real answers, cut so that they can be read."""

from __future__ import annotations

from typing import Any, Final

_ITEMS: Final = 2
_POSITIONS: Final = 5
_CHARACTERS: Final = 400
_LINES: Final = 12


def shortened(value: Any) -> Any:
    """A value with the first items of each list and the beginning of each text."""
    if isinstance(value, dict):
        return {name: shortened(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shortened(part) for part in _first(value)]
    return _beginning(value) if isinstance(value, str) else value


def _first(items: list[Any]) -> list[Any]:
    if all(isinstance(item, dict | str) for item in items):
        return items[:_ITEMS]
    # Positions of a border, which ends where it begins.
    if len(items) > _POSITIONS and all(isinstance(item, list) for item in items):
        return [*items[: _POSITIONS - 1], items[-1]]
    return items


def _beginning(text: str) -> str:
    lines = text.split("\n")
    if len(lines) > _LINES:
        text = "\n".join(lines[:_LINES]) + "\n"
    return text if len(text) <= _CHARACTERS else text[:_CHARACTERS] + "…"
