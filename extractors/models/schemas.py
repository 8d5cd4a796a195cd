"""How a JSON schema is written for a model server, and how its reply is checked against it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from extractors.errors import ModelReplyError
from extractors.models.chat import Message, Reply
from extractors.models.http.replies import parsed, tokens_between


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
