"""The JSON schemas that every kind of model server takes: what ours must stay within.

The dialect is what text-generation-inference compiles (outlines-core), the narrowest: what it would reject,
compile into something else or compile for minutes is refused, with words that say what to write instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from extractors.errors import ModelRequestRefused

LONGEST_STRING: Final = 100
"""Most that `maxLength` may say: a server unrolls it, and 300 takes it some twenty seconds."""

_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))
_FORMATS: Final = frozenset(("date", "time", "date-time", "uuid"))
_UNKNOWN: Final = {
    "allOf": "write the object's properties in one place",
    "not": "leave it out and check the reply",
    "if": "leave it out and check the reply",
    "patternProperties": "name the properties",
    "prefixItems": "use `items`",
}
_SAYS_SOMETHING: Final = frozenset(("type", "enum", "const", "anyOf", "oneOf", "properties", "$ref"))


def check_schema(schema: Mapping[str, Any]) -> None:
    """Raise `ModelRequestRefused` for a schema outside the dialect."""
    if not isinstance(schema.get("properties"), Mapping):
        raise _refused("the schema", "has no `properties`", "describe an object with named properties")
    _Check(schema).node(schema, "the schema", frozenset())


class _Check:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def node(self, node: Any, place: str, references: frozenset[str]) -> None:
        if not isinstance(node, Mapping):
            raise _refused(place, f"is {json.dumps(node)}", "write an object, such as {'type': 'string'}")
        reference = node.get("$ref")
        if isinstance(reference, str):
            if reference in references or reference == "#":
                raise _refused(place, f"refers to itself through {reference}", "write it flat")
            self.node(self._resolved(reference, place), place, references | {reference})
            return
        self._words(node, place)
        self._values(node, place)
        for word in ("anyOf", "oneOf"):
            for number, choice in enumerate(node.get(word, ()), 1):
                self.node(choice, f"{place}, choice {number}", references)
        for name, below in (node.get("properties") or {}).items():
            self.node(below, f"property {name!r}", references)
        for word in ("items", "additionalProperties"):
            if isinstance(node.get(word), Mapping):
                self.node(node[word], f"{place}, {word}", references)

    def _resolved(self, reference: str, place: str) -> Any:
        node: Any = self._root
        for part in reference.removeprefix("#/").split("/"):
            node = node.get(part) if isinstance(node, Mapping) else None
        if node is None or not reference.startswith("#/"):
            raise _refused(place, f"refers to {reference}, which it does not define", "define it in $defs")
        return node

    def _words(self, node: Mapping[str, Any], place: str) -> None:
        for word, fix in _UNKNOWN.items():
            if word in node:
                raise _refused(place, f"uses `{word}`", fix)
        if not _SAYS_SOMETHING & node.keys():
            raise _refused(place, "does not say which values it takes", "give it a `type`")

    def _values(self, node: Mapping[str, Any], place: str) -> None:
        kind = node.get("type", "object")
        if not isinstance(kind, str):
            raise _refused(place, "has a list of types", "use `anyOf`, or one type")
        if kind not in _TYPES:
            raise _refused(place, f"has the type {kind!r}", f"use one of {', '.join(sorted(_TYPES))}")
        shape = node.get("format")
        if shape is not None and shape not in _FORMATS:
            raise _refused(
                place, f"has the format {shape!r}", f"use {', '.join(sorted(_FORMATS))}, or check the reply"
            )
        choices = [*node.get("enum", ()), *([node["const"]] if "const" in node else [])]
        if "enum" in node and not choices:
            raise _refused(place, "has an empty `enum`", "give it choices")
        if any(isinstance(choice, Mapping | list) for choice in choices):
            raise _refused(place, "has an object or array among its choices", "use plain values")
        least, most = node.get("minLength", 0), node.get("maxLength", LONGEST_STRING)
        if max(least, most) > LONGEST_STRING:
            raise _refused(
                place,
                f"allows {max(least, most)} characters by `maxLength`, which takes a server long to compile",
                f"say at most {LONGEST_STRING}, or leave it out and check the reply",
            )
        if "maxLength" in node and least > most:
            raise _refused(place, "has a `minLength` above its `maxLength`", "swap them")


def _refused(place: str, what: str, fix: str) -> ModelRequestRefused:
    return ModelRequestRefused(f"{place} {what}, which not every model server takes: {fix}")
