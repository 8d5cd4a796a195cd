"""The rules by which text-generation-inference and its relatives take or refuse a chat completion.

A request is refused with the very status and body that the server in question answers with.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from outlines_core.fsm.json_schema import build_regex_from_schema

BODY_LIMIT = 2 * 1024 * 1024
MAX_TOTAL_TOKENS = 4096
MAX_STOP_SEQUENCES = 4
MAX_TOP_TOKENS = 5
_PARSE = "Failed to deserialize the JSON body into the target type: "


@dataclass(frozen=True)
class Refusal:
    """What is answered instead: `body` is JSON, or plain text."""

    status: int
    body: dict[str, Any] | str


def tgi_refusal(raw: bytes, content_type: str) -> Refusal | dict[str, Any]:
    """The request's body as TGI reads it, or the refusal."""
    if len(raw) > BODY_LIMIT:
        return Refusal(413, "Failed to buffer the request body: length limit exceeded")
    if not content_type.startswith("application/json"):
        return Refusal(415, "Expected request with `Content-Type: application/json`")
    try:
        body = json.loads(raw)
    except ValueError as error:
        return Refusal(400, f"Failed to parse the request body as JSON: {error}")
    if not isinstance(body, dict):
        return Refusal(422, _PARSE + "invalid type: expected struct ChatRequest")
    wrong = _deserialized(body)
    if wrong is not None:
        return Refusal(422, _PARSE + wrong)
    shape = body.get("response_format")
    if shape is not None and body.get("tools") is not None:
        message = "Tool error: Grammar and tools are mutually exclusive"
        return Refusal(422, {"error": message, "error_type": "tool_error"})
    wrong = _validated(body) or (_grammar(shape) if shape is not None else None)
    if wrong is not None:
        return Refusal(422, {"error": f"Input validation error: {wrong}", "error_type": "validation"})
    return body


def _deserialized(body: dict[str, Any]) -> str | None:
    """What serde says of a body that is no ChatRequest."""
    if "messages" not in body:
        return "missing field `messages`"
    for number, message in enumerate(body["messages"]):
        if not isinstance(message, dict) or "role" not in message:
            return f"messages[{number}]: missing field `role`"
    for name, kinds in (("max_tokens", int), ("temperature", (int, float)), ("stream", bool), ("stop", list)):
        if body.get(name) is not None and not isinstance(body[name], kinds):
            return f"{name}: invalid type"
    shape = body.get("response_format")
    if shape is None:
        return None
    kind = shape.get("type")
    if kind is None:
        return "response_format: missing field `type`"
    if kind not in ("json", "json_object", "json_schema", "regex"):
        return f"response_format: unknown variant `{kind}`, expected one of `json`, `regex`, `json_schema`"
    if "value" not in shape:
        return "response_format: missing field `value`"
    return None


def _validated(body: dict[str, Any]) -> str | None:
    words = " ".join(str(message.get("content", "")) for message in body["messages"])
    tokens = len(words.split())
    if not words.strip():
        return "`inputs` cannot be empty"
    stop = body.get("stop") or []
    if len(stop) > MAX_STOP_SEQUENCES:
        return f"`stop` supports up to {MAX_STOP_SEQUENCES} stop sequences. Given: {len(stop)}"
    if (body.get("temperature") or 0.0) < 0.0:
        return "`temperature` must be strictly positive"
    if body.get("top_p") is not None and not 0.0 < body["top_p"] < 1.0:
        return "`top_p` must be > 0.0 and < 1.0"
    if body.get("top_logprobs") is not None and body["top_logprobs"] > MAX_TOP_TOKENS:
        return f"`top_n_tokens` must be >= 0 and <= {MAX_TOP_TOKENS}. Given: {body['top_logprobs']}"
    most = body.get("max_tokens")
    if most is not None and most <= 0:
        return "`max_new_tokens` must be strictly positive"
    if most is not None and tokens + most > MAX_TOTAL_TOKENS:
        return (
            f"`inputs` tokens + `max_new_tokens` must be <= {MAX_TOTAL_TOKENS}. Given: {tokens} `inputs` "
            f"tokens and {most} `max_new_tokens`"
        )
    return None


def _grammar(shape: dict[str, Any]) -> str | None:
    if shape["type"] == "regex":
        return None
    schema = shape["value"]
    if not isinstance(schema, dict) or "properties" not in schema:
        return "grammar is not valid: Grammar must have a 'properties' field"
    try:
        build_regex_from_schema(json.dumps(schema))
    except ValueError as error:
        return f"grammar is not valid: {error}"
    return None


def relative_refusal(raw: bytes, kind: str, models: tuple[str, ...]) -> Refusal | dict[str, Any]:
    """The same for vLLM, SGLang, llama.cpp, and a server (`picky`) that takes no key it does not know."""
    try:
        body: dict[str, Any] = json.loads(raw)
    except ValueError:
        return Refusal(400, _openai_error("Invalid JSON", 400, "BadRequestError"))
    if not body.get("messages"):
        return Refusal(400, _openai_error("messages: field required", 400, "BadRequestError"))
    words = sum(len(str(message.get("content", "")).split()) for message in body["messages"])
    if words > MAX_TOTAL_TOKENS:
        reported = f"This model's maximum context length is {MAX_TOTAL_TOKENS} tokens; you sent {words}."
        return Refusal(400, _openai_error(reported, 400, "BadRequestError"))
    if kind in ("vllm", "openai") and body.get("model") not in models:
        reported = f"The model `{body.get('model')}` does not exist."
        return Refusal(404, _openai_error(reported, 404, "NotFoundError"))
    shape = body.get("response_format")
    if shape is None:
        return body
    if kind == "openai":
        return _openai_refusal(shape) or body
    if kind == "schemaless":
        reported = "response_format is not supported by this model"
        return Refusal(400, _openai_error(reported, 400, "invalid_request_error"))
    if kind == "picky" and set(shape) - {"type", "json_schema"}:
        reported = "Extra inputs are not permitted: response_format.value"
        return Refusal(422, _openai_error(reported, 422, "invalid_request_error"))
    if shape.get("type") == "json_schema" and "schema" not in (shape.get("json_schema") or {}):
        return Refusal(400, _openai_error("json_schema: field required", 400, "BadRequestError"))
    return body


def _openai_refusal(shape: dict[str, Any]) -> Refusal | None:
    """OpenAI takes no key it does not know, and strict schemas only in its strict form."""
    unknown = sorted(set(shape) - {"type", "json_schema"})
    if unknown:
        message = f"Unknown parameter: 'response_format.{unknown[0]}'."
        return Refusal(400, _openai_error(message, 400, "invalid_request_error"))
    named = shape["json_schema"]
    if named.get("strict") and not _is_strict(named["schema"]):
        message = "Invalid schema for response_format: 'additionalProperties' is required to be false"
        return Refusal(400, _openai_error(message, 400, "invalid_request_error"))
    return None


def _is_strict(node: Any) -> bool:
    if isinstance(node, list):
        return all(map(_is_strict, node))
    if not isinstance(node, dict):
        return True
    properties = node.get("properties")
    if isinstance(properties, dict):
        if node.get("additionalProperties") is not False or set(node.get("required", ())) != set(properties):
            return False
        return all(map(_is_strict, properties.values()))
    return all(_is_strict(value) for word, value in node.items() if word not in ("enum", "const"))


def _openai_error(message: str, code: int, kind: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
