"""Refuses JSON schemas that would bring a model server down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from extractors.errors import ModelRequestRefused

__all__ = ["refuse_recursion"]


def refuse_recursion(schema: Mapping[str, Any]) -> None:
    """Raise `ModelRequestRefused` for a schema that refers to itself: it crashes TGI's compiler."""

    def walk(node: Any, open_references: frozenset[str]) -> None:
        if isinstance(node, Mapping):
            reference = node.get("$ref")
            if isinstance(reference, str):
                if reference in open_references or reference == "#":
                    raise ModelRequestRefused(
                        f"the schema refers to itself through {reference}: write it flat"
                    )
                walk(_resolve(schema, reference), open_references | {reference})
            for key, value in node.items():
                if key not in ("$defs", "definitions", "enum", "const"):
                    walk(value, open_references)
        elif isinstance(node, list):
            for value in node:
                walk(value, open_references)

    walk(schema, frozenset())


def _resolve(schema: Mapping[str, Any], reference: str) -> Any:
    node: Any = schema
    for part in reference.removeprefix("#/").split("/"):
        node = node.get(part) if isinstance(node, Mapping) else None
    if node is None:
        raise ModelRequestRefused(f"the schema refers to {reference}, which it does not define")
    return node
