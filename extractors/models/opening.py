"""Opens the configured model: the server at a URL, or the embedded one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from extractors.models.chat import ChatModel, PromptProfile

if TYPE_CHECKING:
    from extractors.models.http.endpoint import Timeouts


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
        from extractors.models.http.endpoint import Timeouts
        from extractors.models.http.http_model import HttpModel

        return HttpModel(
            url,
            model=model,
            api_key=api_key,
            timeouts=timeouts or Timeouts(whole=timeout_seconds or 120.0),
            concurrency=concurrency,
            prompt_profile=prompt_profile,
        )
    from extractors.models.local.embedded import EmbeddedModel
    from extractors.models.local.weights import ADAPTER_PATH

    return EmbeddedModel(
        adapter=adapter or ADAPTER_PATH,
        threads=threads,
        timeout_seconds=timeout_seconds or 120.0,
    )
