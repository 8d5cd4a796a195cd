"""The `FormModel` Protocol: a text and headings in, answers out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

from extractors.errors import ModelRequestRefused
from extractors.models.chat import ChatModel, Token

__all__ = [
    "END_OF_ANSWER",
    "NONE",
    "BlankField",
    "BlankForm",
    "FilledField",
    "FilledForm",
    "FormModel",
    "fill_with",
]

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
    """A model that was trained on the form of `extractors.prompting.form`."""

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
