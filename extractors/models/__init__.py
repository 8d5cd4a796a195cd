"""The language models that UrbanKG can talk to: a Protocol, its two adapters, and what their work costs.

The adapters are loaded on first use: a server starts before it needs one.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from extractors.models.chat import ChatModel, Message, PromptProfile, Reply, Role, Token

if TYPE_CHECKING:
    from extractors.models.embedded import EmbeddedModel
    from extractors.models.endpoint import Timeouts
    from extractors.models.metering import MeteredModel
    from extractors.models.retries import RetryPolicy
    from extractors.models.servers import ModelServer, ServerKind

__all__ = [
    "ChatModel",
    "EmbeddedModel",
    "Message",
    "MeteredModel",
    "ModelServer",
    "PromptProfile",
    "Reply",
    "RetryPolicy",
    "Role",
    "ServerKind",
    "Timeouts",
    "Token",
    "open_model",
]

_HOMES = {
    "EmbeddedModel": "extractors.models.embedded",
    "MeteredModel": "extractors.models.metering",
    "ModelServer": "extractors.models.servers",
    "RetryPolicy": "extractors.models.retries",
    "ServerKind": "extractors.models.servers",
    "Timeouts": "extractors.models.endpoint",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def open_model(
    url: str | None,
    *,
    model: str | None = None,
    api_key: str | None = None,
    timeout_seconds: float | None = None,
    timeouts: Timeouts | None = None,
    concurrency: int = 8,
    prompt_profile: PromptProfile = "full",
    threads: int | None = None,
    adapter: Path | None = None,
) -> ChatModel:
    """Open the model that is configured: the server at `url`, or without one the embedded model.

    `timeouts` are a server's, in place of `timeout_seconds`; so is `prompt_profile`. `adapter` replaces the
    shipped adapter of the embedded model. Raises `ModelUnavailable` when the embedded model's weights, engine
    or adapter are missing; a server is first asked with the first request.
    """
    if url:
        from extractors.models.endpoint import Timeouts
        from extractors.models.tgi import HttpModel

        return HttpModel(
            url,
            model=model,
            api_key=api_key,
            timeouts=timeouts or Timeouts(whole=timeout_seconds or 120.0),
            concurrency=concurrency,
            prompt_profile=prompt_profile,
        )
    from extractors.models.embedded import EmbeddedModel
    from extractors.models.weights import ADAPTER_PATH

    return EmbeddedModel(
        adapter=adapter or ADAPTER_PATH,
        threads=threads,
        timeout_seconds=timeout_seconds or 120.0,
    )
