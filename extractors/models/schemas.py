"""The JSON schemas that every kind of model server takes, and how one is rewritten for a server.

The dialect is what text-generation-inference compiles (outlines-core), the narrowest: what it would reject,
drop dead over or compile for minutes is refused here, with words that say what to write instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from extractors.errors import ModelReplyError, ModelRequestRefused
from extractors.models.chat import Message, Reply
from extractors.models.http.replies import parsed, tokens_between

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
    """Raise `ModelRequestRefused` for a schema outside the dialect; nothing is sent then."""
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


def strict_form(schema: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """Give the schema as OpenAI wants it, and whether it may be called strict.

    Strict mode wants `additionalProperties` false in every object, which is added, and every property
    required, which is the schema's own affair: without that the server only tries to follow it.
    """
    strict = True

    def closed(node: Any) -> Any:
        nonlocal strict
        if isinstance(node, list):
            return [closed(one) for one in node]
        if not isinstance(node, Mapping):
            return node
        found = {
            word: {name: closed(one) for name, one in value.items()}
            if word in ("properties", "$defs")
            else value
            if word in ("enum", "const", "required")
            else closed(value)
            for word, value in node.items()
        }
        if "properties" in found:
            found.setdefault("additionalProperties", False)
            if found["additionalProperties"] is not False or set(found.get("required", ())) != set(
                found["properties"]
            ):
                strict = False
        return found

    return closed(schema), strict


def spelled_out(messages: tuple[Message, ...], schema: Mapping[str, Any]) -> tuple[Message, ...]:
    """Spell the schema out in the last message, for a server that ignores schemas."""
    addition = (
        "\n\nAnswer with one JSON document and nothing else: no explanation, no code fence. It must follow "
        f"this JSON schema exactly:\n{json.dumps(schema, ensure_ascii=False)}"
    )
    *before, last = messages
    return (*before, Message(last.role, last.content + addition))


_DECODER: Final = json.JSONDecoder()
_MOST_QUOTED: Final = 200


def check_document(reply: Reply, schema: Mapping[str, Any]) -> None:
    """Raise `ModelReplyError` unless the reply is a JSON document of the schema."""
    try:
        trouble = _trouble(parsed(reply.text), schema)
    except ValueError as error:
        trouble = f"it is not JSON ({error})"
    if trouble is not None:
        raise _unusable(
            reply, f"does not follow the schema, because {trouble}: does the server follow schemas?"
        )


def find_document(reply: Reply, schema: Mapping[str, Any]) -> Reply:
    """Cut a reply of a server that ignores schemas down to the JSON that follows the schema.

    Such replies come in code fences and with explanations. Raises `ModelReplyError` when none follows it.
    """
    text, position, trouble = reply.text, 0, "it holds no JSON object"
    while (start := text.find("{", position)) >= 0:
        try:
            document, end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            position = start + 1
            continue
        wrong = _trouble(document, schema)
        if wrong is None:
            return replace(reply, text=text[start:end], tokens=tokens_between(reply.tokens, start, end))
        position, trouble = end, wrong
    raise _unusable(
        reply,
        f"is not what the prompt asks for, because {trouble}: use a server that follows JSON schemas, or a "
        "larger model",
    )


def _trouble(document: Any, schema: Mapping[str, Any]) -> str | None:
    """Say why a document is not of the schema, or None."""
    error = best_match(Draft202012Validator(schema).iter_errors(document))
    if error is None:
        return None
    place = f" at {error.json_path}" if error.absolute_path else ""
    return f"{error.message[:_MOST_QUOTED]}{place}"


def _unusable(reply: Reply, trouble: str) -> ModelReplyError:
    return ModelReplyError(
        f"the model's reply {trouble}",
        reply.text,
        prompt_tokens=reply.prompt_tokens,
        completion_tokens=reply.completion_tokens,
    )
