"""The `ChatModel` Protocol: messages in, one reply out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

__all__ = ["ChatModel", "Message", "PromptProfile", "Reply", "Role", "Token"]

Role = Literal["system", "user", "assistant"]
PromptProfile = Literal["compact", "full"]


@dataclass(frozen=True)
class Message:
    """One turn of a dialog."""

    role: Role
    content: str


@dataclass(frozen=True)
class Token:
    """One generated token with the natural logarithm of its probability."""

    text: str
    logprob: float


@dataclass(frozen=True)
class Reply:
    """What a model answered, and what the answer cost.

    `tokens` is empty when the server gives no log-probabilities; otherwise their texts, joined, are `text`.
    `adapter` names the LoRA adapter that was in force, `seconds` is wall time and includes retries, of which
    there were `attempts` less one.
    """

    text: str
    finish_reason: str
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    model: str
    adapter: str | None
    tokens: tuple[Token, ...] = ()
    attempts: int = 1


class ChatModel(Protocol):
    """A language model that completes a dialog, under a JSON schema where one is given.

    `prompt_profile` says which prompts suit it: "compact" is what the embedded model was trained on, "full"
    is for larger models behind an HTTP server.
    """

    @property
    def name(self) -> str:
        """What the model is called in provenance."""
        ...

    @property
    def prompt_profile(self) -> PromptProfile:
        """Which prompts suit it."""
        ...

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog in at most `max_tokens` tokens; with a schema, the reply's text is JSON.

        Raises `ModelUnavailable`, `ModelTimeout`, `ModelReplyError` (not JSON, truncated, empty) or
        `ModelRequestRefused`.
        """
        ...

    async def close(self) -> None:
        """Close connections and processes; the model cannot be used afterwards."""
        ...
