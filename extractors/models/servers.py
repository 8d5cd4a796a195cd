"""Which kind of model server is behind a URL, and what that kind needs to be asked.

Told apart by GET /info (only text-generation-inference answers with `router` and `max_total_tokens`), else by
`owned_by` in GET /v1/models. /generate is never probed: SGLang has it too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

import httpx

__all__ = ["ModelServer", "ServerKind", "recognise", "response_format", "server_root"]


class ServerKind(StrEnum):
    """The servers whose habits we know; OTHER is any that speaks OpenAI's chat completions."""

    TGI = "text-generation-inference"
    VLLM = "vllm"
    SGLANG = "sglang"
    LLAMA_CPP = "llamacpp"
    OPENAI = "openai"
    OTHER = "other"


@dataclass(frozen=True)
class ModelServer:
    """What a server said about itself; `concurrency` is the most requests it takes at a time."""

    kind: ServerKind
    models: tuple[str, ...]
    concurrency: int | None = None

    @property
    def gives_logprobs(self) -> bool:
        """Say whether asking for log-probabilities is known to be safe."""
        return self.kind is not ServerKind.OTHER


def server_root(url: str) -> str:
    """Cut a configured URL down to the server's root: with or without /v1, a slash, or the whole endpoint."""
    root = url.strip().rstrip("/")
    for tail in ("/chat/completions", "/v1"):
        root = root.removesuffix(tail)
    return root.rstrip("/")


def response_format(kind: ServerKind, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Give the one shape that all servers honour: TGI reads `value`, the others `json_schema`.

    OpenAI's own endpoint refuses unknown keys and gets `json_schema` alone.
    """
    named = {"name": "reply", "schema": dict(schema), "strict": True}
    shape: dict[str, Any] = {"type": "json_schema", "json_schema": named}
    if kind is not ServerKind.OPENAI:
        shape["value"] = dict(schema)
    return shape


async def recognise(client: httpx.AsyncClient, root: str) -> ModelServer:
    """Ask the server who it is; raises `httpx.TransportError` when it cannot be reached."""
    if urlsplit(root).hostname == "api.openai.com":
        return ModelServer(ServerKind.OPENAI, ())
    info = _object(await client.get(f"{root}/info"))
    if "router" in info and "max_total_tokens" in info:
        model = info.get("model_id")
        limit = info.get("max_concurrent_requests")
        listed = _listed(_object(await client.get(f"{root}/v1/models")))[0]
        names = tuple(dict.fromkeys((*((str(model),) if model else ()), *listed)))
        return ModelServer(ServerKind.TGI, names, limit if isinstance(limit, int) else None)
    models, owners = _listed(_object(await client.get(f"{root}/v1/models")))
    for kind in (ServerKind.VLLM, ServerKind.SGLANG, ServerKind.LLAMA_CPP):
        if kind.value in owners:
            return ModelServer(kind, models)
    return ModelServer(ServerKind.OTHER, models)


def _listed(body: Mapping[str, Any]) -> tuple[tuple[str, ...], frozenset[str]]:
    data = body.get("data")
    entries = [entry for entry in data if isinstance(entry, Mapping)] if isinstance(data, list) else []
    names = tuple(str(entry["id"]) for entry in entries if "id" in entry)
    return names, frozenset(str(entry.get("owned_by", "")).lower() for entry in entries)


def _object(response: httpx.Response) -> Mapping[str, Any]:
    """Read a JSON object; anything else (404, HTML, a list) counts as nothing said."""
    if not response.is_success:
        return {}
    try:
        body = response.json()
    except ValueError:
        return {}
    return body if isinstance(body, Mapping) else {}
