"""Finds the model's words in the text, and the words around them that deny or limit a statement.

A gate cannot catch an invented name, a negation or a plan: the statement is well formed all the same. So each
end of a triple must be in the text, and the words around it must not negate or limit the statement. The rules
for that belong to a language (`RULES`). They hold for texts of that language, for texts of unknown language,
and for sentences of other texts whose function words are of that language.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from extractors.candidates import Evidence
from extractors.english.reservations import English
from extractors.english.speech import Reservation
from extractors.english.units import capitalized_runs
from extractors.text.chunking import Span, sentences
from extractors.text.cleaning import detect_language, is_held_together


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


_SAME = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛ʼ´`′", "'"),
        **dict.fromkeys("“”„‟«»″", '"'),
        **dict.fromkeys("‐‑‒–—―−", "-"),
        **dict(zip("øłđðı", "olddi", strict=True)),
    }
)
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)", re.IGNORECASE)
_TRIMMED = " \t\r\n.,;:!?\"'“”‘’()[]"
_MOST_OCCURRENCES = 50


@dataclass(frozen=True)
class Grounded:
    """Where the two ends of a triple are (None: not in the text), the evidence, and what keeps it from
    being a statement: a denial, a plan, an order, a quotation.
    """

    subject: Span | None
    object: Span | None
    evidence: Evidence | None
    reservation: Reservation | None

    @property
    def cue(self) -> str | None:
        """The words of the text that show the reservation."""
        return self.reservation.cue if self.reservation else None


@dataclass(frozen=True)
class _Folded:
    """A text as it is compared, with the code point of the original that each character comes from."""

    text: str
    origin: tuple[int, ...]


class GroundedText:
    """A text prepared for looking up many names; spans are code points of the text as posted.

    `check` is called with every look-up, and may raise an exception to end the work on the text.
    """

    def __init__(self, text: str, check: Callable[[], None] = lambda: None) -> None:
        self.text = text
        self._check = check
        self._found: dict[tuple[str, Span | None], tuple[Span, ...]] = {}
        self.sentences = sentences(text)
        self._starts = [sentence.start for sentence in self.sentences]
        self._folded = _fold(text)
        self._claims = Claims(text, self.sentences)
        self._runs: dict[Span, tuple[Span, ...]] = {}

    def capitalized_runs(self, sentence: Span) -> tuple[Span, ...]:
        """Return the names that capitalized words in a sentence are; found once for each sentence."""
        self._check()
        if sentence not in self._runs:
            self._runs[sentence] = tuple(capitalized_runs(self.text, sentence))
        return self._runs[sentence]

    def occurrences(self, words: str, within: Span | None = None) -> tuple[Span, ...]:
        """Return where the words occur as whole words, in order.

        Exact spelling is preferred; else case, diacritics, white space and the form of quotes and dashes do
        not count, and an article before the words or punctuation around them is left away.
        """
        self._check()
        key = (words, within)
        if key not in self._found:
            self._found[key] = self._occurrences(words, within or Span(0, len(self.text)))
        return self._found[key]

    def _occurrences(self, words: str, area: Span) -> tuple[Span, ...]:
        bare = words.strip(_TRIMMED)
        for attempt in dict.fromkeys((words.strip(), bare, _ARTICLE.sub("", bare, count=1))):
            if not attempt:
                continue
            if found := self._exact(attempt, area) or self._loose(attempt, area):
                return found
        return ()

    def evidence(self, span: Span) -> Evidence:
        """Return the span with its words."""
        return Evidence(span.start, span.end, self.text[span.start : span.end])

    def quoted(self, quote: str) -> Span | None:
        """Return where the text has the words of a quote; of one with "...", from first to last part."""
        parts = [part for part in re.split(r"\s*(?:\.\.\.|…|\[\.\.\.\])\s*", quote) if part.strip(_TRIMMED)]
        start, end = None, 0
        for part in parts:
            found = self.occurrences(part, Span(end, len(self.text)))
            if not found:
                return None
            start, end = (found[0].start if start is None else start), found[0].end
        return None if start is None else Span(start, end)

    def is_near(self, quote: Span, mention: Span) -> bool:
        """Return whether a mention is in a sentence of a quote, or in the one before or after it."""
        first, last = (
            self._sentence_at(Span(quote.start, quote.start)),
            self._sentence_at(Span(quote.end - 1, quote.end)),
        )
        at = self._sentence_at(mention)
        return first is None or last is None or at is None or first - 1 <= at <= last + 1

    def ground(self, subject: str, object_: str, within: Span, quote: str = "") -> Grounded:
        """Find the nearest pair of mentions of both ends inside a window, and what shows the statement.

        That is the quote where the text has it, else the smallest span over both mentions when they share a
        sentence, else the object's mention. An end that is not in the window is looked for in the whole text.
        """
        subjects = self.occurrences(subject, within) or self.occurrences(subject)
        objects = self.occurrences(object_, within) or self.occurrences(object_)
        cited = self.quoted(quote) if quote else None
        if cited is not None:
            return self._cited(cited, subjects, objects)
        if not (subjects and objects):
            mention = subjects[0] if subjects else None
            value = objects[0] if objects else None
            shown = value or mention
            return Grounded(
                mention, value, self.evidence(shown) if shown else None, self._framed(subjects or objects)
            )
        mention, value = min(
            ((s, o) for s in subjects for o in objects),
            key=lambda pair: (not self._share_sentence(*pair), _overlap(*pair), _gap(*pair), pair),
        )
        together = self._share_sentence(mention, value)
        shown = Span(min(mention.start, value.start), max(mention.end, value.end)) if together else value
        mentions = (mention, value) if together else (value,)
        at = self._sentence_at(min(mentions))
        reservation = None if at is None else self._claims.reserved(at, mentions)
        return Grounded(mention, value, self.evidence(shown), reservation)

    def _cited(self, quote: Span, subjects: Sequence[Span], objects: Sequence[Span]) -> Grounded:
        """The mentions nearest to a quote, which is the evidence; it states them as far as it holds them."""
        mention, value = (
            min(found, key=lambda span: (_gap(span, quote), span), default=None)
            for found in (subjects, objects)
        )
        at = self._sentence_at(quote)
        held = sorted(
            span for span in (mention, value) if span is not None and self._share_sentence(span, quote)
        )
        reservation = None if at is None else self._claims.reserved(at, held or [quote])
        return Grounded(mention, value, self.evidence(quote), reservation)

    def sentence_of(self, span: Span) -> Span:
        """Return the sentence in which a span begins (the span itself when it is in none)."""
        self._check()
        at = self._sentence_at(span)
        return span if at is None else self.sentences[at]

    def _sentence_at(self, span: Span) -> int | None:
        index = bisect_right(self._starts, span.start) - 1
        return index if index >= 0 and span.start < self.sentences[index].end else None

    def _framed(self, mentions: Sequence[Span]) -> Reservation | None:
        """What keeps every sentence that has the name from stating anything; None if one states something."""
        found: Reservation | None = None
        for mention in mentions:
            at = self._sentence_at(mention)
            found = None if at is None else self._claims.framed(at, mention)
            if found is None:
                return None
        return found

    def _share_sentence(self, a: Span, b: Span) -> bool:
        sentence = self.sentence_of(a)
        return sentence.start <= b.start and b.end <= sentence.end and a.end <= sentence.end

    def _exact(self, words: str, area: Span) -> tuple[Span, ...]:
        found: list[Span] = []
        start = self.text.find(words, area.start, area.end)
        while start >= 0 and len(found) < _MOST_OCCURRENCES:
            end = self._whole_characters(start + len(words))
            if end <= area.end and _stands_alone(self.text, start, end):
                found.append(Span(start, end))
            start = self.text.find(words, start + 1, area.end)
        return tuple(found)

    def _loose(self, words: str, area: Span) -> tuple[Span, ...]:
        wanted = _fold(words).text.strip()
        found: list[Span] = []
        folded = self._folded
        first, last = (bisect_left(folded.origin, place) for place in (area.start, area.end))
        at = folded.text.find(wanted, first, last) if wanted else -1
        while at >= 0 and len(found) < _MOST_OCCURRENCES:
            start = folded.origin[at]
            end = self._whole_characters(folded.origin[at + len(wanted) - 1] + 1)
            if end <= area.end and _stands_alone(self.text, start, end):
                found.append(Span(start, end))
            at = folded.text.find(wanted, at + 1, last)
        return tuple(found)

    def _whole_characters(self, end: int) -> int:
        """Move an end behind the marks that belong to the last character."""
        while end < len(self.text) and unicodedata.category(self.text[end]) in {"Mn", "Me"}:
            end += 1
        return end


def _fold(text: str) -> _Folded:
    """Fold case, diacritics, quotes and dashes away, and runs of white space into one space."""
    characters: list[str] = []
    origin: list[int] = []
    for index, character in enumerate(text):
        if character.isspace():
            if not characters or characters[-1] != " ":
                characters.append(" ")
                origin.append(index)
            continue
        for part in _fold_character(character):
            characters.append(part)
            origin.append(index)
    return _Folded("".join(characters), tuple(origin))


def _fold_character(character: str) -> str:
    folded = character.translate(_SAME).casefold()
    if folded.isascii():
        return folded
    parts = unicodedata.normalize("NFKD", folded).translate(_SAME)
    return "".join(part for part in parts if not unicodedata.combining(part))


def _stands_alone(text: str, start: int, end: int) -> bool:
    return not (
        (start > 0 and _joins(text[start - 1]) and _joins(text[start]))
        or (end < len(text) and _joins(text[end]) and _joins(text[end - 1]))
    )


def _joins(character: str) -> bool:
    """Return whether neighbors make one word; scripts without case often write no spaces between words."""
    return character.isalnum() and unicodedata.category(character) != "Lo"


def _gap(a: Span, b: Span) -> int:
    return max(b.start - a.end, a.start - b.end, 0)


def _overlap(a: Span, b: Span) -> bool:
    return a.start < b.end and b.start < a.end
