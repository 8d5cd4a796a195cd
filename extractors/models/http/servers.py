"""Which kind of model server is behind a URL, and the request format of that kind.

Recognized by GET /info (only text-generation-inference answers with `router` and `max_total_tokens`), else by
`owned_by` in GET /v1/models. /generate is never probed: SGLang has it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from extractors.models.http.endpoint import Endpoint
from extractors.models.schemas import strict_form

__all__ = ["ModelServer", "SchemaMode", "ServerKind", "recognize", "response_format", "server_root"]


OPENAI_HOSTS = frozenset(("api.openai.com",))


class ServerKind(StrEnum):
    """The servers that are known; OTHER is any that offers OpenAI's chat completions."""

    TGI = "text-generation-inference"
    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llamacpp"
    OPENAI = "openai"
    OTHER = "other"


class SchemaMode(StrEnum):
    """How a request carries the schema of the reply.

    BOTH is the one format that all known servers follow: TGI reads `value`, the others `json_schema`.
    OpenAI's own and some others refuse unknown keys and get `json_schema` alone (NAMED). SPELLED: the server
    ignores or refuses schemas, so the prompt spells the format out and the reply is checked here.
    """

    BOTH = "both"
    NAMED = "named"
    SPELLED = "spelled"


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
    max_stop_sequences: int | None = None

    @property
    def gives_logprobs(self) -> bool:
        """Say whether asking for log-probabilities is known to be safe."""
        return self.kind is not ServerKind.OTHER

    @property
    def adapters_always(self) -> bool:
        """Say whether its adapters work on every request, whatever model that names."""
        return self.kind is ServerKind.LLAMA_CPP and bool(self.adapters)


def server_root(url: str) -> str:
    """Cut a configured URL down to the server's root: with or without /v1, a slash, or the whole endpoint."""
    root = url.strip().rstrip("/")
    for tail in ("/chat/completions", "/v1"):
        root = root.removesuffix(tail)
    return root.rstrip("/")


def response_format(mode: SchemaMode, schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the part of a request that asks for the schema, or None where the prompt does that."""
    if mode is SchemaMode.SPELLED:
        return None
    if mode is SchemaMode.NAMED:
        closed, strict = strict_form(schema)
        named = {"name": "reply", "schema": closed, "strict": strict}
        return {"type": "json_schema", "json_schema": named}
    named = {"name": "reply", "schema": dict(schema), "strict": True}
    return {"type": "json_schema", "json_schema": named, "value": dict(schema)}


async def recognize(endpoint: Endpoint) -> ModelServer:
    """Find out the kind of a server. Raises `AttemptFailed` when it cannot be reached."""
    if urlsplit(endpoint.root).hostname in OPENAI_HOSTS:
        return ModelServer(ServerKind.OPENAI, ())
    info = await endpoint.get("/info")
    entries = _entries(await endpoint.get("/v1/models"))
    names = tuple(str(entry["id"]) for entry in entries if "id" in entry)
    if "router" in info and "max_total_tokens" in info:
        model = info.get("model_id")
        base = str(model) if model else None
        return ModelServer(
            ServerKind.TGI,
            tuple(dict.fromkeys((*((base,) if base else ()), *names))),
            concurrency=_count(info, "max_concurrent_requests"),
            version=_words(info, "version"),
            base=base,
            adapters=tuple(name for name in names if name != base),
            max_input_tokens=_count(info, "max_input_tokens"),
            max_total_tokens=_count(info, "max_total_tokens"),
            max_stop_sequences=_count(info, "max_stop_sequences"),
        )
    owners = {str(entry.get("owned_by", "")).lower() for entry in entries}
    if ServerKind.VLLM.value in owners:
        return await _vllm(endpoint, names, entries)
    if ServerKind.SGLANG.value in owners:
        length = next((_count(entry, "max_model_len") for entry in entries), None)
        return ModelServer(ServerKind.SGLANG, names, base=_first(names), max_total_tokens=length)
    if ServerKind.LLAMA_CPP.value in owners:
        return await _llama_cpp(endpoint, names)
    return ModelServer(ServerKind.OTHER, names)


async def _vllm(
    endpoint: Endpoint, names: tuple[str, ...], entries: tuple[Mapping[str, Any], ...]
) -> ModelServer:
    """A LoRA adapter is a model with a parent here."""
    adapters = tuple(str(entry.get("id")) for entry in entries if entry.get("parent"))
    return ModelServer(
        ServerKind.VLLM,
        names,
        version=_words(await endpoint.get("/version"), "version"),
        base=_first(tuple(name for name in names if name not in adapters)),
        adapters=adapters,
        max_total_tokens=next((_count(entry, "max_model_len") for entry in entries), None),
    )


async def _llama_cpp(endpoint: Endpoint, names: tuple[str, ...]) -> ModelServer:
    """Its slots are how many requests it works on at a time; others wait in it without a sign of life."""
    props = await endpoint.get("/props")
    defaults = props.get("default_generation_settings")
    loaded = (await endpoint.get_list("/lora-adapters")) if props else ()
    adapters = tuple(
        PurePath(str(entry.get("path"))).stem for entry in loaded if float(entry.get("scale") or 0) > 0
    )
    return ModelServer(
        ServerKind.LLAMA_CPP,
        names,
        concurrency=_count(props, "total_slots"),
        version=_words(props, "build_info"),
        base=_first(names),
        adapters=adapters,
        max_total_tokens=_count(defaults, "n_ctx") if isinstance(defaults, Mapping) else None,
    )


def _entries(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    data = body.get("data")
    return tuple(entry for entry in data if isinstance(entry, Mapping)) if isinstance(data, list) else ()


def _count(body: Mapping[str, Any], key: str) -> int | None:
    value = body.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _words(body: Mapping[str, Any], key: str) -> str | None:
    value = body.get(key)
    return value if isinstance(value, str) and value else None


def _first(names: tuple[str, ...]) -> str | None:
    return names[0] if names else None
