"""Direct speech: what stands in quotation marks is what somebody said, unless it is a name or a title."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from extractors.english.clauses.clause_bounds import FINITE
from extractors.reservations import Reservation
from extractors.text.chunking import Span

__all__ = ["QUOTATION", "quotation", "quoted"]

QUOTATION: Final = "a quotation"

_SHOWN: Final = 40
_NEAR: Final = 60
_PARAGRAPH = re.compile(r"\n[ \t\r]*\n\s*")
_OPENING = re.compile(
    r"(?<!\w)[“„«]|(?<![\w\"])\"(?=\S)|(?<!\w)‘(?=\S)|(?<![^\s(\[“\"—–])'(?=[\w“\"])(?!\d0s|tis\b|twas\b)|"
    r"(?<!\d)\"(?=\w)"
)
_CLOSING: Final = {
    "“": re.compile("[”“]"),
    "„": re.compile("[“”]"),
    "«": re.compile("»"),
    '"': re.compile(r"\""),
    "‘": re.compile(r"’(?!\w)"),
    "'": re.compile(r"(?<=[\w.,!?;:…)])'(?!\w)"),
}
_PLURAL = re.compile(r"(?<=s)['’](?=\s+[a-z])")
_ENDED = re.compile(r"(?<=[.,!?…])['’](?!\w)")
_CLAUSE = re.compile(rf"(?<!\w){FINITE}(?!\w)")
_SPEECH = re.compile(
    r"(?<!\w)(?:sa(?:ys?|id)|saying|writes?|wrote|writing|tells?|told|claims?|claimed|claiming|insist(?:s|"
    r"ed)|"
    r"repl(?:y|ies|ied)|answer(?:s|ed)|shout(?:s|ed)|add(?:s|ed)|boast(?:s|ed)|whisper(?:s|ed)|recall(?:s|"
    r"ed)|"
    r"explain(?:s|ed)|announc(?:es|ed)|declar(?:es|ed)|stat(?:es|ed)|reads?|ran|runs|ask(?:s|ed)|not(?:es|"
    r"ed)|"
    r"remark(?:s|ed)|argu(?:es|ed)|tweet(?:s|ed)?|post(?:s|ed)|quot(?:es|ed)|report(?:s|ed)|suggest(?:s|ed)|"
    r"according|joked?|lied|swore|swears|exclaim(?:s|ed)|mutter(?:s|ed)|comment(?:s|ed)|maintain(?:s|ed)|"
    r"headline|slogan|motto|caption|inscription|sign|plaque)(?!\w)",
    re.IGNORECASE,
)


@lru_cache(maxsize=8)
def quoted(text: str) -> tuple[Span, ...]:
    """The stretches in quotation marks, without the marks; one that is not closed ends with its paragraph."""
    gaps = [*_PARAGRAPH.finditer(text), None]
    found: list[Span] = []
    start = 0
    for gap in gaps:
        end = gap.start() if gap else len(text)
        found += _within(text, start, end)
        start = gap.end() if gap else end
    return tuple(found)


def _within(text: str, start: int, end: int) -> Iterator[Span]:
    while opening := _OPENING.search(text, start, end):
        mark = opening.group()
        closing = _CLOSING[mark].search(text, opening.end(), end)
        if closing and mark in "'‘" and _PLURAL.match(text, closing.start()):
            other = _OPENING.search(text, closing.end(), end)
            later = _ENDED.search(text, closing.end(), other.start() if other else end)
            closing = later or closing
        if closing is None and mark in "'‘\"":
            # An inch mark, an apostrophe; but a paragraph of speech that goes on in the next is not closed.
            if mark == '"' and not text[: opening.start()].rsplit("\n", 1)[-1].strip():
                yield Span(opening.end(), end)
                return
            start = opening.end()
            continue
        yield Span(opening.end(), closing.start() if closing else end)
        start = closing.end() if closing else end


def quotation(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """The quotation in which a claim about these mentions stands."""
    spans = [_around(text, mention) for mention in mentions]
    inside = [span for span in spans if span is not None]
    if not inside:
        return None
    if len(inside) == len(mentions) and len(set(inside)) == 1 and len(mentions) > 1:
        span = inside[0]
        if (
            _CLAUSE.search(text, span.start, span.end)
            or _is_spoken(text, sentence, span)
            or "," in text[span.start : span.end]
        ):
            return _shown(text, span)
    for span in inside:
        ends = text[span.start : span.end].rstrip()[-1:] in set(".,!?…")
        parts = len(inside) == len(mentions) > 1
        if (_CLAUSE.search(text, span.start, span.end) or parts) and (
            _is_spoken(text, sentence, span) or ends
        ):
            return _shown(text, span)
    return None


def _around(text: str, mention: Span) -> Span | None:
    """The quotation that holds more than this mention: a name in quotation marks is only a name."""
    for span in quoted(text):
        if span.start > mention.start:
            break
        if span.start <= mention.start and mention.end <= span.end:
            rest = text[span.start : mention.start] + text[mention.end : span.end]
            words = re.sub(r"\b(?:the|an?)\b|\W", "", rest, flags=re.IGNORECASE)
            return span if words else None
    return None


def _is_spoken(text: str, sentence: Span, span: Span) -> bool:
    """Tell whether words around the quotation say that somebody said or wrote it."""
    before = text[max(0, min(sentence.start, span.start), span.start - _NEAR) : span.start]
    after = text[span.end : span.end + _NEAR]
    return bool(_SPEECH.search(before) or _SPEECH.search(after) or re.search(r":\s*\W$", before))


def _shown(text: str, span: Span) -> Reservation:
    words = text[span.start : span.end]
    return Reservation.of(QUOTATION, words if len(words) <= _SHOWN else f"{words[:_SHOWN]}…")
