"""Whether a sentence means what it says of two mentions, or denies, plans or supposes it.

A cue ("never", "planned", "if") takes back only what it governs, and that is found from the clauses: "was
never a cinema but became a theatre" takes back the cinema and keeps the theatre. Where the grammar leaves it
open, the statement counts as taken back: it then waits for a person, and a lie does not enter the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from extractors.reservations import Reservation
from extractors.text.chunking import Span

__all__ = ["hedge"]

_WORDS_AFTER: Final = 4
_WORDS_AHEAD: Final = 3
"""How far ahead "no" and "without" reach: "no stage", "without a large organ"."""

_CLAUSE_END = re.compile(r"[,;:()–—]|(?:^|\s)-\s")
_RELATIVE = re.compile(r"\s*(?:which|who|whom|whose|that|where|when)\b", re.IGNORECASE)

_DENIAL = (
    r"(?<!if )not(?!\s+(?:only|just|merely|far|long|least|unlike|to\s+mention|the\s+only|surprisingly)\b)|"
    r"never(?!-)|nobody|no\s+one|neither|nor|cannot|\w+n['’]t|hardly|none\s+of|no\s+longer|yet\s+to|"
    r"fail(?:s|ed)?\s+to|den(?:y|ies|ied)|refus(?:es|ed)\s+to|declin(?:es|ed)\s+to|reject(?:s|ed)|"
    r"ceased\s+(?:to\s+be|being)|stopped\s+being|contrary\s+to|"
    r"(?:wrong|mistaken|false|erroneous|incorrect)ly"
)
_SUPPOSITION = (
    r"(?<!\bas\s)planned(?!\s+(?:by\b|(?:and|,)\s+(?:built|constructed|laid|designed|developed|opened)|"
    r"(?:\w+\s+)?(?:communit|cit|town|suburb|neighbo|settlement|village|capital|garden)))|proposed|proposal|"
    r"proposes?|unbuilt|unrealized|unrealised|never-built|upcoming|"
    r"hypothetical|fictional|fictitious|imaginary|imagined|supposedly|allegedly|reportedly|rumou?red|"
    r"perhaps|possibly|probably|maybe|(?:un)?likely|speculated|(?:believed|thought|said)\s+to|"
    r"according\s+to\s+(?:legend|myth|rumou?rs?)|legend\s+has\s+it|might|may|whether|"
    r"(?:could|should)\s+(?:have|be|become|open|replace|rise|move)|"
    r"would(?!\s+(?:later|soon|eventually|subsequently|become|go\s+on)\b)|"
    r"(?<!the )(?<!his )(?<!her )(?<!its )(?<!their )(?<!'s )(?<!’s )(?<!a )(?<!free )(?<!last )"
    r"(?<!good )will\s+"
    r"(?:not\s+|also\s+|\w+ly\s+|soon\s+|then\s+)*(?!of\b|to\b|and\b|in\b|by\b|was\b|is\b|he\b|"
    r"she\b)(?-i:[a-z]+)|"
    r"(?<!as )if(?!\s+(?:not|any|anything|ever|at\s+all)\b)|unless|plan\s+to|plans\s+(?:to|for)|"
    r"(?:expected|scheduled|slated|set|due)\s+to\s+(?:be|become|(?:re-?)?open|close|"
    r"move|start|begin|replace|rise|have|house|host|stand|connect|run|welcome|include|serve|take)(?!\w)|"
    r"considered\s+(?:for|moving|building)|under\s+(?:consideration|discussion)|(?<!a )must(?!-)|ought\s+to|"
    r"(?:was|were|is|are)\s+to\s+(?:be(?!\s+(?:found|seen|had)\b)|have|stand|rise)|"
    r"(?:is|are)\s+to\s+(?:(?:re-?)?open|house|host|move|replace|close|connect|cross|start|begin|serve|"
    r"include|contain|become)|"
    r"cancell?ed"
)
# What takes back only the words that follow it.
_FORWARD = (
    r"(?:aim|seek|sought|want|tr(?:y|ies)|attempt|"
    r"intend|hope|threaten)(?:s|e?d)?\s+to|tried\s+to|"
    r"without(?!\s+(?:a\s+)?doubt)|instead\s+of|rather\s+than|except|excluding|other\s+than|lack(?:s|ed|"
    r"ing)?|"
    r"no(?=\s+(?:[a-z]|$))(?!\s+(?:less|more|fewer|later|longer|doubt|other|wonder|small|sooner|one)\b)"
)
_BARRED = r"without|instead|rather|except|excluding|other|lack|no\b"
_INTENDED = re.compile(
    r"plan|propos|unbuilt|unreal|never-built|upcoming|will\b|expect|schedul|slated|set\b|due\b|consider|"
    r"is\s+to|are\s+to|"
    r"was\s+to|were\s+to|cancel|aim|seek|sought|attempt|intend|tr(?:y|ies)",
    re.IGNORECASE,
)
_CUE = re.compile(rf"(?<!\w)(?:{_DENIAL}|{_SUPPOSITION})(?!\w)", re.IGNORECASE)
_CUE_BEFORE = re.compile(rf"(?<!\w)(?:{_DENIAL}|{_SUPPOSITION}|{_FORWARD})(?!\w)", re.IGNORECASE)
_FORWARD_CUE = re.compile(
    r"(?:without|instead|rather|except|excluding|other|lack\w*|no)\b(?!\s+longer)", re.IGNORECASE
)
_MONTH_MAY = re.compile(r"May\b|may\s+\d")
_UNTIL = re.compile(r"\buntil\s+(?:\S+\s+){0,2}$", re.IGNORECASE)

_CONTRAST = (
    r"(?<!nothing )(?<!anything )(?<!all )but(?!\s+(?:for|not\s+least)\b)|yet(?!\s+to\b)|instead(?!\s+of\b)|"
    r"rather(?!\s+than\b)|however|nevertheless|whereas|while|although|though"
)
_FINITE = (
    r"is|are|was|were|has|had|does|did|became|becomes?|remains?|remained|stands?|stood|lies|lay|sits|sat|"
    r"opens?|opened|reopened|houses|housed|serves|served|contains?|contained|moved|moves|began|begins|runs|"
    r"ran|"
    r"rises|rose|covers|covered|belongs|belonged|closed|closes|joined|hosts|hosted|it|he|she|they|this|there"
)
_ADVERBS = r"(?:(?:\w+ly|later|then|now|still|today|also|soon|instead|since)\s+)*"
_VERB_NEXT = re.compile(
    rf"\s*{_ADVERBS}(?:is|are|was|were|has|had|became|opened|stands|stood|closed|lies)(?!\w)"
)
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


def hedge(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """Return what takes back what a sentence says of these mentions, or None.

    `mentions` are one or two spans that stand in the sentence; of one, its subject stands in another
    sentence, so that what precedes it here is said of it.
    """
    first, last = min(mentions), max(mentions, key=lambda span: span.end)
    end = max(sentence.end, last.end)
    if text[sentence.start : end].rstrip(" \t\r\n\"'”’)").endswith("?"):
        return Reservation("a question", "?")
    for stretch, pattern, target in _stretches(text, sentence, first, last, end):
        for cue in pattern.finditer(text, stretch.start, stretch.end):
            if _is_name(text, cue.start(), sentence, mentions) or _is_until(text, cue, target):
                continue
            if not (_FORWARD_CUE.match(cue.group()) and _is_far(text, cue, target)):
                return Reservation.of(_kind(cue.group()), cue.group())
    return None


def _kind(cue: str) -> str:
    if re.match(rf"(?:{_DENIAL}|{_BARRED})(?!\w)", cue, re.IGNORECASE):
        return "a denial"
    return "a plan" if _INTENDED.match(cue) else "a supposition"


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
    """Yield the clauses between two mentions, but for an aside that closes before the second.

    That is a relative clause, or one between commas after which the verb follows: ", never large, is in".
    """
    marks = [*_CLAUSE_END.finditer(text, start, end), None]
    opened = False
    for mark in marks:
        stop = mark.start() if mark else end
        aside = mark is not None and (
            _RELATIVE.match(text, start, stop) or _VERB_NEXT.match(text, mark.end())
        )
        if not (opened and aside):
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
