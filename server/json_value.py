"""Any value of JSON, as a type that has a name in the description: a member that is free in its form."""

from __future__ import annotations

from typing_extensions import TypeAliasType

JsonValue = TypeAliasType(
    "JsonValue", "str | bool | int | float | list[JsonValue] | dict[str, JsonValue] | None"
)
