"""What the rest of UrbanKG knows of a model that fills in forms: a text and headings in, answers out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from extractors.models.chat import Token

__all__ = ["FilledField", "FilledForm", "FormModel"]


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
    """A model that was trained on the form of `extractors.form`."""

    async def fill(
        self, opening: str, headings: Sequence[str], *, least_presence: float, max_tokens: int
    ) -> FilledForm:
        """Answer every heading on its own; fields less probable than `least_presence` are left empty.

        An answer takes at most `max_tokens` tokens. Raises `ModelUnavailable`, `ModelTimeout` or
        `ModelRequestRefused`.
        """
        ...
