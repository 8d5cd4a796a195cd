"""A model whose answers are sampled instead of the likeliest ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from extractors.models.chat import ChatModel, Message, PromptProfile, Reply
from extractors.models.forms import BlankForm, FilledForm, fill_with

__all__ = ["SampledModel"]


class SampledModel:
    """Calls another model at `temperature` instead of 0.

    Closing it leaves the other model open.
    """

    def __init__(self, model: ChatModel, temperature: float) -> None:
        self.name = model.name
        self.prompt_profile: PromptProfile = model.prompt_profile
        self._model = model
        self._temperature = temperature

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog as the other model does."""
        return await self._model.complete(
            messages, schema=schema, max_tokens=max_tokens, temperature=temperature or self._temperature
        )

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form as the other model does, which takes the likeliest answers always."""
        return await fill_with(self._model, form)

    async def close(self) -> None:
        """Nothing to let go of."""
