"""Whether a text states something as fact, or as an order, a quotation, a plan, fiction or a rumor.

The rules belong to a language (`RULES`). They hold for texts of that language, for texts of unknown
language, and for sentences of other texts whose function words are of that language: an order in
English is an order within a French text too. All other sentences are not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from extractors.english import English
from extractors.reservations import Reservation
from extractors.text.chunking import Span
from extractors.text.cleaning import detect_language, is_held_together

__all__ = ["RULES", "Claims", "Rules"]


class Rules(Protocol):
    """How one language marks what it does not state as fact."""

    def reserved(
        self, text: str, sentences: Sequence[Span], at: int, mentions: Sequence[Span]
    ) -> Reservation | None:
        """What keeps a claim about one or two mentions, the first in sentence `at`, from being stated."""
        ...

    def framed(
        self, text: str, sentences: Sequence[Span], at: int, mentions: Sequence[Span]
    ) -> Reservation | None:
        """The same, of what frames a whole clause only: not a denial or a modal verb within it."""
        ...


RULES: Final[dict[str, Rules]] = {"en": English()}


class Claims:
    """Judges the claims of one text by the rules of its language."""

    def __init__(self, text: str, sentences: Sequence[Span]) -> None:
        self._text = text
        self._sentences = sentences
        self._language = detect_language(text, expected=tuple(RULES))

    def reserved(self, at: int, mentions: Sequence[Span]) -> Reservation | None:
        """What keeps a claim about these mentions, the first in sentence `at`, from being stated."""
        rules = self._rules(at)
        return rules.reserved(self._text, self._sentences, at, mentions) if rules else None

    def framed(self, at: int, mention: Span) -> Reservation | None:
        """What keeps everything about this mention in sentence `at` from being stated."""
        rules = self._rules(at)
        return rules.framed(self._text, self._sentences, at, [mention]) if rules else None

    def _rules(self, at: int) -> Rules | None:
        if self._language is not None and self._language in RULES:
            return RULES[self._language]
        sentence = self._text[self._sentences[at].start : self._sentences[at].end]
        for language, rules in RULES.items():
            if self._language is None or is_held_together(sentence, language):
                return rules
        return None
