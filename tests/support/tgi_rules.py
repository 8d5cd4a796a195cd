"""The rules by which text-generation-inference and its relatives take or refuse a request.

TGI's are written down from its router's sources at the tags v2.4.0, v3.0.0, v3.2.0, v3.3.0 and v3.3.7:

- `router/src/lib.rs`: the structs ChatRequest, GenerateRequest, GenerateParameters, Message, StreamOptions
  and the enum GrammarType, which is tagged by `type` with its content in `value`. `json` (alias
  `json_object`) and `regex` are in all four; `json_schema`, whose content is a JsonSchemaConfig, since 3.3.
  Unknown fields are ignored. `max_completion_tokens` is an alias since 3.2, `stream_options` may not be null
  since 3.2, `guideline` ended with 3.0, `tool_calls` in messages began with 3.2.
- `router/src/validation.rs`: `Validation::validate` and its messages. Since 3.2 `max_new_tokens` counts
  against the limit up to 1,024 only. Since 3.0 the router compiles schemas with outlines-core; in 2.4
  `server/text_generation_server/utils/logits_process.py` does, and one that does not compile is dropped.
- `router/src/server.rs`: axum's Json rejects in plain text (415, 413, 400, 422). In `chat_completions` what
  fails after the stream was begun (validation, overload, generation) is left out of the stream in 2.4, and is
  an event with the status 422, whatever failed, since 3.0 (`into_openai_event`).

The relatives, in what concerns the response format:

- vLLM `entrypoints/openai/protocol.py`, SGLang `srt/entrypoints/openai/protocol.py`: `type` is `text`,
  `json_object` or `json_schema`, the schema is `json_schema.schema`; other fields are ignored.
- llama.cpp `tools/server/server-common.cpp`, `oaicompat_chat_params_parse`: the same three, else 400.
- OpenAI: no field that it does not know, strict schemas only in strict form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator, SchemaError
from outlines_core.fsm.json_schema import build_regex_from_schema

VERSIONS = ("2.4", "3.0", "3.2", "3.3")
BODY_LIMIT = 2_000_000
"""`payload_limit` since 3.0; axum's own limit of 2 MiB before."""
MAX_TOTAL_TOKENS = 4096
MAX_STOP_SEQUENCES = 4
MAX_TOP_TOKENS = 5
DEFAULT_GENERATION_LENGTH = 1024
_PARSE = "Failed to deserialize the JSON body into the target type: "

_CHAT_REQUEST = {
    "model": "Option<String>", "messages": "Vec<Message>!", "frequency_penalty": "Option<f32>",
    "logit_bias": "Option<Vec<f32>>", "logprobs": "Option<bool>", "top_logprobs": "Option<u32>",
    "max_tokens": "Option<u32>", "n": "Option<u32>", "presence_penalty": "Option<f32>",
    "stop": "Option<Vec<String>>", "stream": "bool", "seed": "Option<u64>", "temperature": "Option<f32>",
    "top_p": "Option<f32>", "tools": "Option<Vec<Tool>>", "tool_prompt": "Option<String>",
    "tool_choice": "ToolChoice", "response_format": "Option<GrammarType>",
}  # fmt: skip
_GENERATE_PARAMETERS = {
    "best_of": "Option<usize>", "temperature": "Option<f32>", "repetition_penalty": "Option<f32>",
    "frequency_penalty": "Option<f32>", "top_k": "Option<i32>", "top_p": "Option<f32>",
    "typical_p": "Option<f32>", "do_sample": "bool", "max_new_tokens": "Option<u32>",
    "return_full_text": "Option<bool>", "stop": "Vec<String>", "truncate": "Option<usize>",
    "watermark": "bool", "details": "bool", "decoder_input_details": "bool", "seed": "Option<u64>",
    "top_n_tokens": "Option<u32>", "grammar": "Option<GrammarType>", "adapter_id": "Option<String>",
}  # fmt: skip
_OLD_MESSAGE = {"role": "String!", "content": "MessageContent!", "name": "Option<String>"}
_NEW_MESSAGE = {"role": "String!", "body": "MessageBody", "name": "Option<String>"}
_COMMON = {
    "GenerateRequest": {"inputs": "String!", "parameters": "GenerateParameters"},
    "GenerateParameters": _GENERATE_PARAMETERS,
    "JsonSchemaConfig": {"name": "Option<String>", "schema": "Value!"},
    "Tool": {"type": "String!", "function": "FunctionDefinition!"},
    "FunctionDefinition": {"description": "Option<String>", "name": "String!", "parameters": "Value!"},
}
STRUCTS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "2.4": {
        **_COMMON,
        "ChatRequest": {
            **_CHAT_REQUEST, "guideline": "Option<String>", "stream_options": "Option<StreamOptions>"
        },
        "Message": _OLD_MESSAGE,
        "StreamOptions": {"include_usage": "bool!"},
    },
    "3.0": {
        **_COMMON,
        "ChatRequest": {**_CHAT_REQUEST, "stream_options": "Option<StreamOptions>"},
        "Message": _OLD_MESSAGE,
        "StreamOptions": {"include_usage": "bool!"},
    },
    **{
        version: {
            **_COMMON,
            "ChatRequest": {
                **_CHAT_REQUEST, "max_completion_tokens": "Option<u32>", "stream_options": "StreamOptions"
            },
            "Message": _NEW_MESSAGE,
            "StreamOptions": {"include_usage": "bool"},
        }
        for version in ("3.2", "3.3")
    },
}  # fmt: skip


@dataclass(frozen=True)
class Refusal:
    """What is answered instead: `body` is JSON, or plain text.

    `late`: found after a stream was begun, so that a streamed request is answered with 200 all the same.
    """

    status: int
    body: dict[str, Any] | str
    late: bool = False


def chat_refusal(raw: bytes, content_type: str, version: str) -> Refusal | dict[str, Any]:
    """The body of a chat completion as TGI reads it, or the refusal."""
    body = _read_body(raw, content_type, "ChatRequest", version)
    if isinstance(body, Refusal):
        return body
    if body.get("response_format") is not None and body.get("tools") is not None:
        return _error(422, "Tool error: Grammar and tools are mutually exclusive", "tool_error")
    most = body.get("max_tokens")
    if most is None and version in ("3.2", "3.3"):
        most = body.get("max_completion_tokens")
    greedy = body.get("temperature") == 0
    parameters = {
        "temperature": None if greedy else body.get("temperature"),
        "frequency_penalty": body.get("frequency_penalty"),
        "repetition_penalty": None if body.get("presence_penalty") is None else body["presence_penalty"] + 2,
        "top_p": body.get("top_p"),
        "do_sample": not greedy,
        "max_new_tokens": 100 if most is None and version == "2.4" else most,
        "stop": body.get("stop") or [],
        "seed": body.get("seed"),
        "top_n_tokens": body.get("top_logprobs"),
        "grammar": body.get("response_format"),
    }
    words = " ".join(_said(message) for message in body["messages"])
    return _validate(words, parameters, version) or body


def generate_refusal(raw: bytes, content_type: str, version: str) -> Refusal | dict[str, Any]:
    """The body for `/generate` as TGI reads it, or the refusal."""
    body = _read_body(raw, content_type, "GenerateRequest", version)
    if isinstance(body, Refusal):
        return body
    return _validate(body["inputs"], body.get("parameters", {"do_sample": True}), version) or body


def _said(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return " ".join(str(chunk.get("text", "")) for chunk in content)
    return str(content or "")


def _read_body(raw: bytes, content_type: str, struct: str, version: str) -> Refusal | dict[str, Any]:
    """What axum's `Json` makes of a body."""
    if not content_type.startswith("application/json"):
        return Refusal(415, "Expected request with `Content-Type: application/json`")
    if len(raw) > BODY_LIMIT:
        return Refusal(413, "Failed to buffer the request body: length limit exceeded")
    try:
        body = json.loads(raw)
    except ValueError as error:
        return Refusal(400, f"Failed to parse the request body as JSON: {error}")
    wrong = _misread(body, struct, version)
    if wrong is not None:
        return Refusal(422, f"{_PARSE}{wrong} at line 1 column {len(raw)}")
    assert isinstance(body, dict)
    return body


_NUMBERS = {"u32": (0, 2**32), "u64": (0, 2**64), "usize": (0, 2**64), "i32": (-(2**31), 2**31)}


def _misread(value: Any, kind: str, version: str) -> str | None:
    """What serde says of a value that is not of a Rust type."""
    if kind.startswith("Option<"):
        return None if value is None else _misread(value, kind[7:-1], version)
    if kind.startswith("Vec<"):
        if not isinstance(value, list):
            return _invalid(value, "a sequence")
        found = ((number, _misread(item, kind[4:-1], version)) for number, item in enumerate(value))
        return next((f"[{number}]{_under(wrong)}" for number, wrong in found if wrong is not None), None)
    if kind in _NUMBERS:
        low, high = _NUMBERS[kind]
        whole = isinstance(value, int) and not isinstance(value, bool) and low <= value < high
        return None if whole else _invalid(value, kind)
    if kind in _ENUMS:
        return _ENUMS[kind](value, version)
    if kind in STRUCTS[version]:
        return _misread_struct(value, kind, version)
    right = {
        "Value": True,
        "String": isinstance(value, str),
        "bool": isinstance(value, bool),
        "f32": isinstance(value, int | float) and not isinstance(value, bool),
    }[kind]
    return None if right else _invalid(value, {"String": "a string", "bool": "a boolean"}.get(kind, kind))


def _misread_struct(value: Any, kind: str, version: str) -> str | None:
    if not isinstance(value, dict):
        return _invalid(value, f"struct {kind}")
    for name, wanted in STRUCTS[version][kind].items():
        if wanted == "MessageBody":  # flattened
            wrong = _misread_message_body(value, version)
            if wrong is not None:
                return wrong
        elif name in value:
            wrong = _misread(value[name], wanted.rstrip("!"), version)
            if wrong is not None:
                return f"{name}{_under(wrong)}"
        elif wanted.endswith("!"):
            return f"missing field `{name}`"
    return None


def _under(wrong: str) -> str:
    """What is wrong below a field, with the path to it as serde_path_to_error writes it."""
    path = re.match(r"(?:\[\d+\]|\w+)(?:\.\w+|\[\d+\])*: ", wrong)
    return (wrong if wrong.startswith("[") else f".{wrong}") if path else f": {wrong}"


def _invalid(value: Any, expected: str) -> str:
    names = {bool: "boolean", int: "integer", float: "floating point", str: "string", list: "sequence",
             dict: "map", type(None): "null"}  # fmt: skip
    shown = f" `{value}`" if isinstance(value, int | float) else f" {json.dumps(value)}" if value else ""
    return f"invalid type: {names[type(value)]}{shown}, expected {expected}"


def _misread_grammar(value: Any, version: str) -> str | None:
    """The enum GrammarType: `#[serde(tag = "type", content = "value")]`."""
    contents = {"json": "Value", "json_object": "Value", "regex": "String"}
    variants = "`json` or `regex`"
    if version == "3.3":
        contents["json_schema"] = "JsonSchemaConfig"
        variants = "one of `json`, `regex`, `json_schema`"
    if not isinstance(value, dict):
        return _invalid(value, "adjacently tagged enum GrammarType")
    if "type" not in value:
        return "missing field `type`"
    if value["type"] not in contents:
        return f"unknown variant `{value['type']}`, expected {variants}"
    if "value" not in value:
        return "missing field `value`"
    return _misread(value["value"], contents[value["type"]], version)


def _misread_message_content(value: Any, version: str) -> str | None:
    """The untagged enum MessageContent: a text, or chunks of text and images."""
    if isinstance(value, str) or (
        isinstance(value, list)
        and all(isinstance(chunk, dict) and chunk.get("type") in ("text", "image_url") for chunk in value)
    ):
        return None
    return "data did not match any variant of untagged enum MessageContent"


def _misread_message_body(value: Mapping[str, Any], version: str) -> str | None:
    """The untagged enum MessageBody: `content` or `tool_calls`."""
    if "content" in value and _misread_message_content(value["content"], version) is None:
        return None
    if isinstance(value.get("tool_calls"), list):
        return None
    return "no variant of enum MessageBody found in flattened data"


def _misread_tool_choice(value: Any, version: str) -> str | None:
    if value is None or isinstance(value, str | dict):
        return None
    return "data did not match any variant of untagged enum ToolTypeDeserializer"


_ENUMS: Mapping[str, Callable[[Any, str], str | None]] = {
    "GrammarType": _misread_grammar,
    "MessageContent": _misread_message_content,
    "ToolChoice": _misread_tool_choice,
}


def _validate(inputs: str, parameters: Mapping[str, Any], version: str) -> Refusal | None:
    wrong = _bad_parameter(parameters) or _bad_length(inputs, parameters, version)
    grammar = parameters.get("grammar")
    if wrong is None and grammar is not None:
        wrong = _bad_grammar(grammar, version)
    return None if wrong is None else _error(422, f"Input validation error: {wrong}", "validation", late=True)


def _bad_parameter(parameters: Mapping[str, Any]) -> str | None:
    """What `Validation::validate` says of the parameters, in its order. Words stand for tokens."""

    def outside(name: str, fits: Callable[[Any], bool]) -> bool:
        value = parameters.get(name)
        return value is not None and not fits(value)

    stop = parameters.get("stop") or []
    if outside("temperature", lambda value: value > 0):
        return "`temperature` must be strictly positive"
    if outside("repetition_penalty", lambda value: value > 0):
        return "`repetition_penalty` must be strictly positive"
    if outside("frequency_penalty", lambda value: -2 <= value <= 2):
        return "`frequency_penalty` must be >= -2.0 and <= 2.0"
    for name in ("top_p", "typical_p"):
        if outside(name, lambda value: 0 < value < 1):
            return f"`{name}` must be > 0.0 and < 1.0"
    if outside("top_k", lambda value: value > 0):
        return "`top_k` must be strictly positive"
    if parameters.get("max_new_tokens") == 0:
        return "`max_new_tokens` must be strictly positive"
    if len(stop) > MAX_STOP_SEQUENCES:
        return f"`stop` supports up to {MAX_STOP_SEQUENCES} stop sequences. Given: {len(stop)}"
    if outside("top_n_tokens", lambda value: value <= MAX_TOP_TOKENS):
        return f"`top_n_tokens` must be >= 0 and <= {MAX_TOP_TOKENS}. Given: {parameters['top_n_tokens']}"
    return None


def _bad_length(inputs: str, parameters: Mapping[str, Any], version: str) -> str | None:
    if not inputs:
        return "`inputs` cannot be empty"
    tokens, most = len(inputs.split()), parameters.get("max_new_tokens")
    if most is None:
        most = max(0, MAX_TOTAL_TOKENS - tokens)
    if version in ("3.2", "3.3"):
        most = min(most, DEFAULT_GENERATION_LENGTH)
    if tokens + most > MAX_TOTAL_TOKENS:
        return (
            f"`inputs` tokens + `max_new_tokens` must be <= {MAX_TOTAL_TOKENS}. Given: {tokens} `inputs` "
            f"tokens and {most} `max_new_tokens`"
        )
    if tokens > MAX_TOTAL_TOKENS - 1:
        return f"`inputs` must have less than {MAX_TOTAL_TOKENS - 1} tokens. Given: {tokens}"
    return None


def _bad_grammar(grammar: Mapping[str, Any], version: str) -> str | None:
    schema = tgi_schema(grammar)
    if grammar["type"] == "regex":
        return None
    if isinstance(schema, str):
        try:
            schema = json.loads(schema)
        except ValueError as error:
            return f"grammar is not valid: {error}"
    if not isinstance(schema, dict):
        return "grammar is not supported"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"grammar is not valid: {error.message}"
    if "properties" not in schema:
        return "grammar is not valid: Grammar must have a 'properties' field"
    if version != "2.4":
        try:
            build_regex_from_schema(json.dumps(schema))
        except ValueError as error:
            return f"cannot compile regex from schema: {error}"
    return None


def tgi_schema(grammar: Mapping[str, Any]) -> Any:
    """The schema that a GrammarType holds."""
    value = grammar["value"]
    return value["schema"] if grammar["type"] == "json_schema" else value


def _error(status: int, message: str, kind: str, *, late: bool = False) -> Refusal:
    return Refusal(status, {"error": message, "error_type": kind}, late)


def relative_refusal(raw: bytes, kind: str, models: tuple[str, ...]) -> Refusal | dict[str, Any]:
    """The same for vLLM, SGLang, llama.cpp, OpenAI and a server without schemas (`schemaless`)."""
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
    return body if shape is None else _shape_refusal(shape, kind) or body


def _shape_refusal(shape: dict[str, Any], kind: str) -> Refusal | None:
    if kind == "openai":
        return _openai_refusal(shape)
    if kind == "schemaless":
        reported = "response_format is not supported by this model"
        return Refusal(400, _openai_error(reported, 400, "invalid_request_error"))
    if shape.get("type") not in ("text", "json_object", "json_schema"):
        reported = (
            f'response_format type must be one of "text" or "json_object", but got: {shape.get("type")}'
        )
        return Refusal(400, _openai_error(reported, 400, "invalid_request_error"))
    if shape.get("type") == "json_schema" and "schema" not in (shape.get("json_schema") or {}):
        return Refusal(400, _openai_error("json_schema: field required", 400, "BadRequestError"))
    return None


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
