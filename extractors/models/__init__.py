"""The language models that UrbanKG can talk to: a Protocol and its two adapters."""

from __future__ import annotations

from pathlib import Path

from extractors.models.chat import ChatModel, Message, PromptProfile, Reply, Role, Token
from extractors.models.embedded import EmbeddedModel
from extractors.models.retries import RetryPolicy
from extractors.models.servers import ModelServer, ServerKind
from extractors.models.weights import ADAPTER_PATH

__all__ = [
    "ChatModel",
    "EmbeddedModel",
    "Message",
    "ModelServer",
    "PromptProfile",
    "Reply",
    "RetryPolicy",
    "Role",
    "ServerKind",
    "Token",
    "open_model",
]


def open_model(
    url: str | None,
    *,
    model: str | None = None,
    api_key: str | None = None,
    timeout_seconds: float | None = None,
    concurrency: int = 8,
    threads: int | None = None,
    adapter: Path | None = None,
) -> ChatModel:
    """Open the model that is configured: the server at `url`, or without one the embedded model.

    `adapter` replaces the shipped adapter of the embedded model. Raises `ModelUnavailable` when the embedded
    model's weights, engine or adapter are missing; a server is first asked with the first request.
    """
    if url:
        # Its client library takes most of a second to import: a server that needs none does not wait for it.
        from extractors.models.tgi import HttpModel

        return HttpModel(
            url,
            model=model,
            api_key=api_key,
            timeout_seconds=timeout_seconds or 60.0,
            concurrency=concurrency,
        )
    return EmbeddedModel(
        adapter=adapter or ADAPTER_PATH,
        threads=threads,
        timeout_seconds=timeout_seconds or 120.0,
    )
