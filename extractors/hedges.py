"""Whether a sentence means what it says of two mentions, or denies, plans or supposes it.

A cue ("never", "planned", "if") takes back only what it governs, and that is told from the clauses: "was
never a cinema but became a theatre" takes back the cinema and keeps the theatre. Where the grammar leaves it
open, the statement counts as taken back: it then waits for a person, and a lie does not enter the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from extractors.windows import Span

__all__ = ["hedge"]

_WORDS_AFTER: Final = 4
_WORDS_AHEAD: Final = 3
"""How far ahead "no" and "without" reach: "no stage", "without a large organ"."""

_CLAUSE_END = re.compile(r"[,;:()–—]|(?:^|\s)-\s")
_RELATIVE = re.compile(r"\s*(?:which|who|whom|whose|that|where|when)\b", re.IGNORECASE)

_DENIAL = (
    r"(?<!if )not(?!\s+(?:only|just|merely|far|long|least|unlike|to\s+mention|the\s+only|surprisingly)\b)|"
    r"never(?!-)|neither|nor|cannot|\w+n['’]t|hardly|none\s+of|no\s+longer|yet\s+to|"
    r"fail(?:s|ed)?\s+to|den(?:y|ies|ied)|refus(?:es|ed)\s+to|declin(?:es|ed)\s+to|reject(?:s|ed)|"
    r"ceased\s+(?:to\s+be|being)|stopped\s+being|contrary\s+to|"
    r"(?:wrong|mistaken|false|erroneous|incorrect)ly"
)
_SUPPOSITION = (
    r"planned(?!\s+by\b)|proposed|proposal|proposes?|unbuilt|unrealized|unrealised|never-built|upcoming|"
    r"hypothetical|fictional|fictitious|imaginary|imagined|supposedly|allegedly|reportedly|rumou?red|"
    r"perhaps|possibly|probably|maybe|(?:un)?likely|speculated|(?:believed|thought|said)\s+to|"
    r"according\s+to\s+(?:legend|myth|rumou?rs?)|legend\s+has\s+it|might|may|whether|"
    r"(?:could|should)\s+(?:have|be|become|open|replace|rise|move)|"
    r"would(?!\s+(?:later|soon|eventually|subsequently|become|go\s+on)\b)|"
    r"will\s+(?:not\s+)?(?:be|open|become|have|house|connect|replace|serve|close|host|run|rise|stand|contain|"
    r"extend|move|start|begin|feature|offer|cross|include|cover)|"
    r"(?<!as )if(?!\s+not\b)|unless|plan\s+to|plans\s+(?:to|for)|"
    r"(?:expected|scheduled|slated|set|due)\s+to\s+(?:be|become|open|close|move|start|begin|replace|rise|have)|"
    r"considered\s+(?:for|moving|building)|"
    r"(?:was|were|is|are)\s+to\s+(?:be|have)|cancell?ed"
)
# What takes back only the words that follow it.
_FORWARD = (
    r"(?:aim|seek|sought|want|tr(?:y|ies)|attempt|"
    r"intend|hope|threaten)(?:s|e?d)?\s+to|tried\s+to|"
    r"without(?!\s+(?:a\s+)?doubt)|instead\s+of|rather\s+than|except|excluding|other\s+than|lack(?:s|ed|ing)?|"
    r"no(?=\s+(?:[a-z]|$))(?!\s+(?:less|more|fewer|later|longer|doubt|other|wonder|small|sooner|one)\b)"
)
_CUE = re.compile(rf"(?<!\w)(?:{_DENIAL}|{_SUPPOSITION})(?!\w)", re.IGNORECASE)
_CUE_BEFORE = re.compile(rf"(?<!\w)(?:{_DENIAL}|{_SUPPOSITION}|{_FORWARD})(?!\w)", re.IGNORECASE)
_FORWARD_CUE = re.compile(
    r"(?:without|instead|rather|except|excluding|other|lack\w*|no)\b(?!\s+longer)", re.IGNORECASE
)
_MONTH_MAY = re.compile(r"May\b|may\s+\d")
_UNTIL = re.compile(r"\buntil\s+(?:\S+\s+){0,2}$", re.IGNORECASE)

# What opens a sentence and holds for all of it, beyond the first comma.
_SENTENTIAL = re.compile(
    r"[\"'“‘(]*(?P<cue>according\s+to\s+(?:legend|myth|rumou?rs?|(?:an?|the)\s+(?:legend|myth|rumou?r))|"
    r"legend\s+has\s+it|supposedly|allegedly|reportedly|perhaps|possibly|maybe|unless|if(?!\s+not\b)|"
    r"under\s+(?:the|an?)\s+(?:proposal|plan)|in\s+(?:the|his|her|an?)\s+(?:novel|film|movie|story|legend|game))\b",
    re.IGNORECASE,
)
_CONTRAST = (
    r"(?<!nothing )(?<!anything )(?<!all )but(?!\s+(?:for|not\s+least)\b)|yet(?!\s+to\b)|instead(?!\s+of\b)|"
    r"rather(?!\s+than\b)|however|nevertheless|whereas|while|although|though"
)
_FINITE = (
    r"is|are|was|were|has|had|does|did|became|becomes?|remains?|remained|stands?|stood|lies|lay|sits|sat|"
    r"opens?|opened|reopened|houses|housed|serves|served|contains?|contained|moved|moves|began|begins|runs|ran|"
    r"rises|rose|covers|covered|belongs|belonged|closed|closes|joined|hosts|hosted|it|he|she|they|this|there"
)
_ADVERBS = r"(?:(?:\w+ly|later|then|now|still|today|also|soon|instead|since)\s+)*"
# From here on another clause speaks, and what was denied before is not denied any more.
_NEW_CLAUSE = re.compile(
    rf";|(?<!\w)(?:{_CONTRAST})(?!\w)|\band\s+{_ADVERBS}(?:{_FINITE})(?!\w)", re.IGNORECASE
)
_NEW_SUBJECT = re.compile(
    rf"(?<!\w)(?:{_CONTRAST}|and|so|because|when|after|before|until|since)(?!\w)", re.IGNORECASE
)
_AFTER_STOP = re.compile(
    rf"(?<!\w)(?:{_CONTRAST}|because|since|until|before|after|when|which|who|that|where|so|"
    rf"and\s+(?:(?:never|not|later|then|no|will|would)|{_FINITE}))(?!\w)",
    re.IGNORECASE,
)
_NOT_ANOTHER = re.compile(r"\s*not\s+(?:in|on|at|by|from|an?|the|\d)", re.IGNORECASE)


def hedge(text: str, sentence: Span, mentions: Sequence[Span]) -> str | None:
    """Return the words that take back what a sentence says of these mentions, or None.

    `mentions` are one or two spans that stand in the sentence; of one, its subject stands in another
    sentence, so that what precedes it here is said of it.
    """
    first, last = min(mentions), max(mentions, key=lambda span: span.end)
    end = max(sentence.end, last.end)
    if text[sentence.start : end].rstrip(" \t\r\n\"'”’)").endswith("?"):
        return "?"
    whole = _SENTENTIAL.match(text, sentence.start, end)
    if whole and not any(mention.start <= whole.start("cue") < mention.end for mention in mentions):
        return " ".join(whole["cue"].split())
    for stretch, pattern, target in _stretches(text, sentence, first, last, end):
        for cue in pattern.finditer(text, stretch.start, stretch.end):
            if _is_name(text, cue.start(), sentence, mentions) or _is_until(text, cue, target):
                continue
            if not (_FORWARD_CUE.match(cue.group()) and _is_far(text, cue, target)):
                return " ".join(cue.group().split())
    return None


def _stretches(
    text: str, sentence: Span, first: Span, last: Span, end: int
) -> Iterator[tuple[Span, re.Pattern[str], Span]]:
    """Yield what may govern: the clauses before, between and after the mentions, with the cues that count."""
    before = [m.end() for m in _CLAUSE_END.finditer(text, sentence.start, first.start)]
    alone = first == last
    start = before[-1] if before else sentence.start
    resets = (_NEW_CLAUSE if alone else _NEW_SUBJECT).finditer(text, start, first.start)
    start = max((m.end() for m in resets), default=start)
    yield Span(start, first.start), _CUE_BEFORE, first
    if first.end < last.start:
        start = max((m.end() for m in _NEW_CLAUSE.finditer(text, first.end, last.start)), default=first.end)
        for span in _between(text, start, last.start):
            yield span, _CUE_BEFORE, last
    ended = _CLAUSE_END.search(text, last.end, end)
    rest = text[last.end : ended.start() if ended else end]
    stop = _AFTER_STOP.search(rest)
    rest = rest[: stop.start()] if stop else rest
    near = re.match(rf"(?:\s*\S+){{0,{_WORDS_AFTER}}}", rest)
    if not _NOT_ANOTHER.match(rest):
        yield Span(last.end, last.end + (near.end() if near else 0)), _CUE, last


def _between(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the clauses between two mentions, but for a relative clause that closes before the second."""
    marks = [*_CLAUSE_END.finditer(text, start, end), None]
    opened = False
    for mark in marks:
        stop = mark.start() if mark else end
        aside = opened and mark is not None and _RELATIVE.match(text, start, stop)
        if not aside:
            yield Span(start, stop)
        start, opened = (mark.end(), True) if mark else (end, True)


def _is_name(text: str, at: int, sentence: Span, mentions: Sequence[Span]) -> bool:
    """Tell a cue from a part of a name: within a mention, a month, or capitalised inside the sentence."""
    if any(mention.start <= at < mention.end for mention in mentions) or _MONTH_MAY.match(text, at):
        return True
    opens = not text[sentence.start : at].strip(" \t\r\n\"'“‘(")
    return text[at].isupper() and not opens


def _is_until(text: str, cue: re.Match[str], target: Span) -> bool:
    """Tell "did not open until 1902", which says that it opened in 1902."""
    return cue.end() <= target.start and bool(_UNTIL.search(text, cue.end(), target.start))


def _is_far(text: str, cue: re.Match[str], target: Span) -> bool:
    """Tell "no" and "without" that speak of other words than the mention that follows."""
    return cue.end() > target.start or len(text[cue.end() : target.start].split()) > _WORDS_AHEAD
