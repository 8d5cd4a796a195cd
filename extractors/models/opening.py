"""Opens the configured model: the server at a URL, or the embedded one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from extractors.errors import ModelUnavailable
from extractors.models.chat import ChatModel, PromptProfile
from extractors.models.local.weights import FORM, read_card

if TYPE_CHECKING:
    from extractors.models.http.endpoint import Timeouts


def embedded_adapter(model: str | None, adapter: str | None) -> Path | None:
    """The adapter of the embedded model: the shipped one belongs to the packaged weights alone."""
    from extractors.models.local.weights import ADAPTER_PATH

    if adapter:
        return Path(adapter)
    return None if model else ADAPTER_PATH


def prompts_of(
    url: str | None, *, model: str | None, adapter: str | None, prompts: PromptProfile | None
) -> PromptProfile:
    """Which prompts the configured model gets: what its adapter says that it was trained on, or what is set.

    A model without an adapter, or with one that is only known by name, gets the full ones. Raises
    `ModelUnavailable` where others are set than the adapter was trained on.
    """
    path = Path(adapter) if adapter and Path(adapter).exists() else None
    if not url:
        path = embedded_adapter(model, adapter)
    if path is None:
        return prompts or "full"
    card = read_card(path)
    if prompts == "full" != card.prompt_profile or (prompts == "compact" and FORM not in card.turns):
        raise ModelUnavailable(
            f"the adapter {card.name} was trained to answer {', '.join(card.turns)}: it cannot be asked with "
            f"{prompts} prompts. Leave model_prompts out, or name another adapter"
        )
    return prompts or card.prompt_profile


def open_model(
    url: str | None,
    *,
    model: str | None = None,
    adapter: str | None = None,
    api_key: str | None = None,
    timeout_seconds: float | None = None,
    timeouts: Timeouts | None = None,
    concurrency: int = 8,
    prompts: PromptProfile | None = None,
    threads: int | None = None,
) -> ChatModel:
    """Open the model that is configured: the server at `url`, or without one the embedded model.

    `model` is the base, `adapter` the LoRA adapter on it: for a server both are names that it knows, or the
    adapter is the folder of its training, which has its name; for the embedded model both are GGUF files, or
    that folder. `timeouts` are a server's, in place of `timeout_seconds`. Raises `ModelUnavailable` when the
    embedded model's weights, engine or adapter are missing; a server is first asked with the first request.
    """
    profile = prompts_of(url, model=model, adapter=adapter, prompts=prompts)
    if url:
        from extractors.models.http.endpoint import Timeouts
        from extractors.models.http.http_model import HttpModel

        named = read_card(Path(adapter)).name if adapter and Path(adapter).exists() else adapter
        return HttpModel(
            url,
            model=named or model,
            api_key=api_key,
            timeouts=timeouts or Timeouts(whole=timeout_seconds or 120.0),
            concurrency=concurrency,
            prompt_profile=profile,
        )
    from extractors.models.local.embedded import EmbeddedModel

    return EmbeddedModel(
        weights=Path(model) if model else None,
        adapter=embedded_adapter(model, adapter),
        prompt_profile=profile,
        threads=threads,
        timeout_seconds=timeout_seconds or 120.0,
    )
