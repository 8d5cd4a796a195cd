"""The Protocols of models: `ChatModel` (messages in, a reply out), `FormModel` (a form in, answers out)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol, runtime_checkable

from extractors.errors import ModelRequestRefused

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


NONE: Final = " none"
"""The answer of an empty field."""
END_OF_ANSWER: Final = "<|im_end|>"


@dataclass(frozen=True)
class BlankField:
    """A heading, and the grammar (GBNF) of its answers, which allows everything but `none`.

    With `free_value` the value of a pair need not be copied from the text, for those that take no grammar.
    """

    heading: str
    grammar: str
    free_value: bool = False


@dataclass(frozen=True)
class BlankForm:
    """The questions about one text.

    `opening` is what all fields share. A field whose answer is less probable than `least_presence` stays
    empty, and an answer takes at most `maximum_tokens` tokens.
    """

    opening: str
    fields: tuple[BlankField, ...]
    least_presence: float
    maximum_tokens: int


@dataclass(frozen=True)
class FilledField:
    """The answer under one heading; `presence` is the probability that the text holds one, 0 to 1.

    `tokens` are those of the answer, none where the presence was below what was asked for.
    """

    heading: str
    presence: float
    tokens: tuple[Token, ...]

    @property
    def text(self) -> str:
        """The answer's words."""
        return "".join(token.text for token in self.tokens)


@dataclass(frozen=True)
class FilledForm:
    """All answers about one text, in the order of the headings, and what they cost."""

    fields: tuple[FilledField, ...]
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    model: str
    adapter: str | None


@runtime_checkable
class FormModel(Protocol):
    """A model that was trained on the form of `extractors.readers.form`."""

    async def fill(self, form: BlankForm) -> FilledForm:
        """Answer every field on its own.

        Raises `ModelUnavailable`, `ModelTimeout` or
        `ModelRequestRefused`.
        """
        ...


async def fill_with(model: ChatModel | FormModel, form: BlankForm) -> FilledForm:
    """Have any model fill in a form; raises `ModelRequestRefused` for one that cannot."""
    if not isinstance(model, FormModel):
        raise ModelRequestRefused(
            f"The model {model.name} was not trained on forms: choose another extraction method than fast."
        )
    return await model.fill(form)
