"""How many requests a model takes at a time."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from extractors.models.chat import ChatModel

__all__ = ["UNLIMITED", "Limited", "limit_of"]

UNLIMITED = 1_000
"""For a model that does not report a limit."""


@runtime_checkable
class Limited(Protocol):
    """A model that reports how many requests it takes at a time."""

    async def at_once(self) -> int:
        """Ask the model; raises `ModelUnavailable` or `ModelTimeout` when it cannot be asked."""
        ...


async def limit_of(model: ChatModel) -> int:
    """Return how many requests a model takes at a time; raises what `at_once` raises."""
    return await model.at_once() if isinstance(model, Limited) else UNLIMITED
