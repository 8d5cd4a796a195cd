"""Which kind of model server is behind a URL, and the request format of that kind.

Recognized by GET /info (only text-generation-inference answers with `router` and `max_total_tokens`), else by
`owned_by` in GET /v1/models. /generate is never probed: SGLang has it too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from extractors.models.http.endpoint import Endpoint
from extractors.models.schemas import strict_form

OPENAI_HOSTS = frozenset(("api.openai.com",))


class ServerKind(StrEnum):
    """The servers that are known; OTHER is any that offers OpenAI's chat completions."""

    TGI = "text-generation-inference"
    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llamacpp"
    OPENAI = "openai"
    OTHER = "other"


SchemaForm = Callable[[Mapping[str, Any]], dict[str, Any]]
"""Gives the `response_format` that asks for a schema."""


def tgi_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The enum `GrammarType` of TGI's router, in the form of every version; the others refuse or drop it."""
    return {"type": "json", "value": dict(schema)}


def openai_form(schema: Mapping[str, Any]) -> dict[str, Any]:
    """OpenAI's form, which vLLM, SGLang and llama.cpp take too; TGI refuses it."""
    closed, strict = strict_form(schema)
    return {"type": "json_schema", "json_schema": {"name": "reply", "schema": closed, "strict": strict}}


def schema_forms(kind: ServerKind) -> tuple[SchemaForm, ...]:
    """Give the forms that a server of this kind may take, the likeliest first."""
    if kind is ServerKind.TGI:
        return (tgi_form,)
    # A server that does not say what it is may be a TGI behind a gateway.
    return (openai_form, tgi_form) if kind is ServerKind.OTHER else (openai_form,)


@dataclass(frozen=True)
class ModelServer:
    """What a server reports about itself.

    `models` begins with the base model if the server reports it. `concurrency` is the most
    requests that it takes at a time, the tokens are its limits for one request; None where it does not say.
    """

    kind: ServerKind
    models: tuple[str, ...]
    concurrency: int | None = None
    version: str | None = None
    base: str | None = None
    adapters: tuple[str, ...] = ()
    max_input_tokens: int | None = None
    max_total_tokens: int | None = None


async def recognize(endpoint: Endpoint) -> ModelServer:
    """Find out the kind of a server. Raises `AttemptFailed` when it cannot be reached."""
    if urlsplit(endpoint.root).hostname in OPENAI_HOSTS:
        return ModelServer(ServerKind.OPENAI, ())
    info = _object(await endpoint.get("/info"))
    entries = _objects(_object(await endpoint.get("/v1/models")).get("data"))
    names = tuple(str(entry["id"]) for entry in entries if "id" in entry)
    if "router" in info and "max_total_tokens" in info:
        base = _words(info, "model_id")
        return ModelServer(
            ServerKind.TGI,
            names or ((base,) if base else ()),
            concurrency=_count(info, "max_concurrent_requests"),
            version=_words(info, "version"),
            base=base,
            max_input_tokens=_count(info, "max_input_tokens"),
            max_total_tokens=_count(info, "max_total_tokens"),
        )
    owners = {str(entry.get("owned_by", "")).lower() for entry in entries}
    if ServerKind.LLAMA_CPP.value in owners:
        return await _llama_cpp(endpoint, names)
    kind = next((kind for kind in (ServerKind.VLLM, ServerKind.SGLANG) if kind.value in owners), None)
    if kind is None:
        return ModelServer(ServerKind.OTHER, names)
    # Both list a LoRA adapter as a model with a parent.
    adapters = tuple(str(entry.get("id")) for entry in entries if entry.get("parent"))
    return ModelServer(
        kind,
        names,
        version=_words(_object(await endpoint.get("/version")), "version"),
        base=next((name for name in names if name not in adapters), None),
        adapters=adapters,
        max_total_tokens=next((_count(entry, "max_model_len") for entry in entries), None),
    )


async def _llama_cpp(endpoint: Endpoint, names: tuple[str, ...]) -> ModelServer:
    """Its slots are how many requests it works on at a time; others wait in it without a sign of life."""
    props = _object(await endpoint.get("/props"))
    loaded = _objects(await endpoint.get("/lora-adapters")) if props else ()
    return ModelServer(
        ServerKind.LLAMA_CPP,
        names,
        concurrency=_count(props, "total_slots"),
        version=_words(props, "build_info"),
        base=names[0] if names else None,
        adapters=tuple(
            PurePath(str(entry.get("path"))).stem for entry in loaded if float(entry.get("scale") or 0) > 0
        ),
        max_total_tokens=_count(_object(props.get("default_generation_settings")), "n_ctx"),
    )


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _objects(value: Any) -> tuple[Mapping[str, Any], ...]:
    return tuple(entry for entry in value if isinstance(entry, Mapping)) if isinstance(value, list) else ()


def _count(body: Mapping[str, Any], key: str) -> int | None:
    value = body.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _words(body: Mapping[str, Any], key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) and value else None
