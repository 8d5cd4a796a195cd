"""All rules for English in one order, over the clause, its sentence and the sentences around it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from extractors.english.clauses.attribution import attributed, opens_legend
from extractors.english.clauses.clause_bounds import same_paragraph
from extractors.english.clauses.fiction import FICTION, fiction, opens_fiction
from extractors.english.clauses.negation_and_modality import hedge
from extractors.english.clauses.orders import opens_orders, order, order_about_it, pasted, prompt
from extractors.english.clauses.quotations import quotation
from extractors.english.clauses.suppositions import PLAN, opens_hypothesis, retracted, supposed
from extractors.reservations import Reservation
from extractors.text.chunking import Span

__all__ = ["English"]

_FRAMES: Final = (pasted, prompt, supposed, order, quotation, fiction, attributed)
_OPENS: Final = (opens_orders, opens_fiction, opens_hypothesis, opens_legend)
_RESET = re.compile(
    r"[\"“‘'(]*(?:but\s+)?(?:in\s+(?:reality|fact|truth|real\s+life|actual\s+fact)|actually|"
    r"as\s+a\s+matter\s+of\s+fact|"
    r"historically|the\s+real|today|nowadays)(?!\w)",
    re.IGNORECASE,
)
_HEADING = re.compile(
    r"[\s=#*]*(?:plot|synopsis|plot\s+(?:summary|synopsis)|story(?:line)?|in\s+(?:popular\s+)?fiction|"
    r"legends?|myths?|"
    r"rumou?rs?|(?P<plan>proposals?|future(?:\s+plans)?|plans?|proposed\s+\w+|planned\s+\w+))[\s=#*:]*",
    re.IGNORECASE,
)
_LONGEST_HEADING: Final = 60
_MOST_SENTENCES: Final = 100
_REACH: Final = 1500
"""How many characters around a claim are looked at: a text may be one sentence of any length."""


class English:
    """How English marks what it does not state as fact."""

    def reserved(
        self, text: str, sentences: Sequence[Span], at: int, mentions: Sequence[Span]
    ) -> Reservation | None:
        """What keeps a claim about these mentions, the first in sentence `at`, from being stated."""
        return self.framed(text, sentences, at, mentions) or hedge(
            text, _near(sentences[at], mentions), mentions
        )

    def framed(
        self, text: str, sentences: Sequence[Span], at: int, mentions: Sequence[Span]
    ) -> Reservation | None:
        """What keeps all that the clause says from being stated."""
        sentence = _near(sentences[at], mentions)
        for frame in _FRAMES:
            if found := frame(text, sentence, mentions):
                return found
        return _taken_back(text, sentences, at, mentions) or _scope(text, sentences, at)


def _near(sentence: Span, mentions: Sequence[Span]) -> Span:
    start, end = min(mentions).start - _REACH, max(mention.end for mention in mentions) + _REACH
    return Span(max(sentence.start, start), max(min(sentence.end, end), min(mentions).end))


def _taken_back(
    text: str, sentences: Sequence[Span], at: int, mentions: Sequence[Span]
) -> Reservation | None:
    """What the rest of the sentence, or the sentence after it, does to what was said."""
    sentence = _near(sentences[at], mentions)
    end = max(mention.end for mention in mentions)
    for mark in re.finditer(r"[,;:–—]|\s-\s", text[end : max(end, sentence.end)]):
        start = end + mark.end()
        if found := order_about_it(text, start, sentence.end) or retracted(text, start, sentence.end):
            return found
    if at + 1 < len(sentences) and same_paragraph(text, sentence, sentences[at + 1]):
        after = sentences[at + 1]
        return retracted(text, after.start, after.end) or order_about_it(text, after.start, after.end)
    return None


def _scope(text: str, sentences: Sequence[Span], at: int) -> Reservation | None:
    """What an earlier sentence of the paragraph, or its heading, makes of all that follows."""
    if _RESET.match(text, sentences[at].start, sentences[at].end):
        return None
    for index in range(at - 1, max(-1, at - _MOST_SENTENCES), -1):
        earlier = sentences[index]
        if not same_paragraph(text, earlier, sentences[index + 1]):
            break
        if _RESET.match(text, earlier.start, earlier.end):
            return None
        if found := _opened(text, earlier):
            return found
    return _heading(text, sentences, at)


@lru_cache(maxsize=4096)
def _opened(text: str, sentence: Span) -> Reservation | None:
    """What a sentence makes of those after it."""
    start = Span(sentence.start, min(sentence.end, sentence.start + _REACH))
    return next((found for opens in _OPENS if (found := opens(text, start))), None)


def _heading(text: str, sentences: Sequence[Span], at: int) -> Reservation | None:
    """The heading above a sentence, where it is that of a plot, a legend or a plan."""
    for index in range(at - 1, max(-1, at - _MOST_SENTENCES), -1):
        line = text[sentences[index].start : sentences[index].end]
        alone = not same_paragraph(text, sentences[index], sentences[index + 1])
        if alone and len(line) <= _LONGEST_HEADING and line[-1:] not in {".", "!", "?", '"', "”"}:
            match = _HEADING.fullmatch(line)
            return Reservation.of(PLAN if match["plan"] else FICTION, line) if match else None
    return None
