"""Where the clauses of an English sentence begin, and how far words at the start of one reach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from extractors.text.chunking import Span

__all__ = ["FINITE", "NOUN_PHRASE", "clause_starts", "covered", "is_name", "reaches", "same_paragraph"]

FINITE: Final = (
    r"(?:is|are|was|were|has|had|have|does|did|became|stands?|stood|lies|lay|opens?|opened|houses|runs|ran|"
    r"crosses|crossed|belongs|dates|replaced|designed|built|closed|moved|serves|contains|connects)"
)
"""Verbs that say that a clause is one: those that city texts use most."""

NOUN_PHRASE: Final = (
    r"(?:the|an?|its|it|he|she|they|we|his|her|their|our|this|that|these|those|there|[A-Z“‘\"'])"
)
"""What opens a noun phrase; to be used without IGNORECASE."""

_BOUNDARY = re.compile(r"[,;:()–—]+|\s-{1,2}\s|(?<!\w)(?:and|so|but|then|that)\s|[\"“”‘«»]|(?<!\w)'")
_TURN = re.compile(
    r";|(?<!\w)(?:but|while|whereas|although|though|however|in\s+(?:reality|fact|truth)|actually)(?!\w)",
    re.IGNORECASE,
)
_SUBORDINATE = re.compile(
    r"[\"“‘'(]*(?:although|though|while|because|since|as|when|after|before|whereas|despite|even)(?!\w)",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\s*(?:which|who|whom|whose|where|when)(?!\w)", re.IGNORECASE)
_GAP = re.compile(r"\n[ \t\r]*\n")


def clause_starts(text: str, sentence: Span, end: int) -> Iterator[int]:
    """Yield where clauses may begin between the start of the sentence and `end`."""
    starts = [sentence.start, *(m.end() for m in _BOUNDARY.finditer(text, sentence.start, end))]
    for start in starts:
        while start < end and text[start].isspace():
            start += 1
        if start < end:
            yield start


def covered(at: int, mentions: Sequence[Span]) -> bool:
    """Tell whether a place stands within a mention, so that the words there are part of a name."""
    return any(mention.start <= at < mention.end for mention in mentions)


def is_name(text: str, sentence: Span, at: int, mentions: Sequence[Span]) -> bool:
    """Tell a part of a name: within a mention, or capitalized inside the sentence."""
    opens = not text[sentence.start : at].strip(" \t\r\n\"'“‘(")
    return covered(at, mentions) or (text[at].isupper() and not opens)


def reaches(text: str, sentence: Span, cue: Span, target: int) -> bool:
    """Tell whether what a cue says still holds at `target`, which follows it.

    It ends with a semicolon or a turn ("but"), with a subordinate clause that opens the sentence ("Although
    critics say it is old, ..."), and with a relative clause between commas ("which critics call old, ...").
    """
    between = text[cue.end : target]
    if _TURN.search(between):
        return False
    comma = text.find(",", cue.end, target)
    if comma < 0:
        return True
    clause = max(text.rfind(",", sentence.start, cue.start) + 1, sentence.start)
    opens = clause == sentence.start and _SUBORDINATE.match(text, clause)
    return not (opens or (clause > sentence.start and _RELATIVE.match(text, clause)))


def same_paragraph(text: str, first: Span, second: Span) -> bool:
    """Tell whether no blank line stands between two sentences."""
    return not _GAP.search(text, first.end, second.start)
