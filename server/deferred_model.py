"""A model that is opened when it is first asked: a server starts and serves without one."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from extractors.models import ChatModel, Message, PromptProfile, Reply


class DeferredModel:
    """Opens a model with `open_` on first use; until then no weights are read and none need be there.

    Raises `ModelUnavailable` from `complete` when the model cannot be opened, and tries again next time.
    """

    def __init__(self, open_: Callable[[], ChatModel], *, name: str, prompt_profile: PromptProfile) -> None:
        self.name = name
        self.prompt_profile: PromptProfile = prompt_profile
        self._open = open_
        self._model: ChatModel | None = None
        self._opening = asyncio.Lock()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog as the model does."""
        async with self._opening:
            if self._model is None:
                self._model = await asyncio.to_thread(self._open)
                self.name = self._model.name
        return await self._model.complete(
            messages, schema=schema, max_tokens=max_tokens, temperature=temperature
        )

    async def close(self) -> None:
        """Let go of the model if it was opened."""
        if self._model is not None:
            await self._model.close()
