"""What one node of a JSON schema says of a value, of its beginning, or of its size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Node", "allows", "choices", "holds", "is_long_enough", "kind_of", "required"]

Node = Mapping[str, Any]


def choices(option: Node) -> Sequence[Any]:
    """The values among which one must be chosen."""
    return (option["const"],) if "const" in option else option["enum"]


def allows(option: Node, kind: str) -> bool:
    """Whether a value of this kind is allowed here."""
    types = option.get("type")
    allowed = (types,) if isinstance(types, str) else types
    named = (kind, "integer") if kind == "number" else (kind,)
    if isinstance(allowed, Sequence) and not any(name in allowed for name in named):
        return False
    if "enum" in option or "const" in option:
        return any(kind_of(choice) == kind for choice in choices(option))
    if kind != "object" and "properties" in option and types is None:
        return False
    return not (kind != "array" and "items" in option and types is None)


def kind_of(value: Any) -> str:
    """What a value looks like in JSON: an object, array, string, number or word."""
    if isinstance(value, bool) or value is None:
        return "word"
    if isinstance(value, int | float):
        return "number"
    return "string" if isinstance(value, str) else "object" if isinstance(value, Mapping) else "array"


def holds(option: Node, value: Any) -> bool:
    """Whether a string, number or word is what the schema allows."""
    types = option.get("type")
    allowed = (types,) if isinstance(types, str) else types
    if isinstance(allowed, Sequence) and not any(_is_a(value, name) for name in allowed):
        return False
    if "enum" in option or "const" in option:
        return any(kind_of(choice) == kind_of(value) and choice == value for choice in choices(option))
    if isinstance(value, str):
        most, least = option.get("maxLength"), option.get("minLength")
        return not (isinstance(most, int) and len(value) > most) and not (
            isinstance(least, int) and len(value) < least
        )
    return True


def _is_a(value: Any, name: str) -> bool:
    if name == "integer":
        return kind_of(value) == "number" and (isinstance(value, int) or value.is_integer())
    if name in ("boolean", "null"):
        return isinstance(value, bool) if name == "boolean" else value is None
    return kind_of(value) == name


def is_long_enough(option: Node, items: int) -> bool:
    """Whether an array may end after so many members."""
    least = option.get("minItems")
    return not isinstance(least, int) or items >= least


def required(option: Node) -> Sequence[str]:
    """The keys that an object must have."""
    found = option.get("required", ())
    return found if isinstance(found, Sequence) else ()
