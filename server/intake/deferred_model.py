"""A model that is opened at its first use: a server starts and serves without one."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from extractors.models.chat import ChatModel, Message, PromptProfile, Reply
from extractors.models.forms import BlankForm, FilledForm, fill_with
from extractors.models.limits import limit_of


@runtime_checkable
class Reachable(Protocol):
    """A model behind an address: it can be connected to before its first use, and has a state."""

    async def start(self, schemas: Iterable[Mapping[str, Any]] = ()) -> None:
        """Connect to the server, and let it compile these schemas."""
        ...

    def state(self) -> dict[str, Any]:
        """What is known of the server now."""
        ...


class DeferredModel:
    """Opens a model with `open_` at its first use; until then no weights are read or needed.

    Raises `ModelUnavailable` from `complete` when the model cannot be opened, and tries again next time.
    """

    def __init__(self, open_: Callable[[], ChatModel], *, name: str, prompt_profile: PromptProfile) -> None:
        self._name = name
        self.prompt_profile: PromptProfile = prompt_profile
        self._open = open_
        self._model: ChatModel | None = None
        self._opening = asyncio.Lock()

    @property
    def name(self) -> str:
        """The model's own name, once it is open."""
        return self._name if self._model is None else self._model.name

    @property
    def is_open(self) -> bool:
        """Whether it was opened."""
        return self._model is not None

    async def start(self, schemas: Iterable[Mapping[str, Any]] = ()) -> None:
        """Open the model now, and connect to its server if it has one. Raises `ModelError`."""
        model = await self._opened()
        if isinstance(model, Reachable):
            await model.start(schemas)

    def state(self) -> dict[str, Any] | None:
        """The state of the model's server; None if there is none, or before the model was opened."""
        return self._model.state() if isinstance(self._model, Reachable) else None

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog as the model does."""
        model = await self._opened()
        return await model.complete(messages, schema=schema, max_tokens=max_tokens, temperature=temperature)

    async def at_once(self) -> int:
        """How many questions the model takes at a time. Raises what `complete` raises."""
        return await limit_of(await self._opened())

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form as the model does."""
        model = await self._opened()
        return await fill_with(model, form)

    async def _opened(self) -> ChatModel:
        async with self._opening:
            if self._model is None:
                self._model = await asyncio.to_thread(self._open)
        return self._model

    async def close(self) -> None:
        """Let go of the model if it was opened."""
        if self._model is not None:
            await self._model.close()
