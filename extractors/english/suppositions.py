"""Whether a sentence means what it says of two mentions, or denies, plans, supposes or retracts it.

A cue ("never", "planned", "if") takes back only what it governs, and that is found from the clauses: "was
never a cinema but became a theatre" takes back the cinema and keeps the theatre. Where the grammar leaves it
open, the statement counts as taken back: it then waits for a person, and a lie does not enter the graph.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from extractors.english.speech import Reservation, covered, is_name, reaches
from extractors.text.chunking import Span

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


HYPOTHESIS: Final = "a hypothesis"
WISH: Final = "a wish"
PLAN: Final = "a plan"
DENIAL: Final = "a denial"

_NP = r"(?=\s+(?:that|the|an?|it|he|she|they|we|this|these|there|for\s+a\s+moment|[A-Z]))"
_INVENTED: Final = (
    rf"suppos(?:e|ing){_NP}|imagine(?:{_NP}|\s*[:,])|assum(?:e|ing){_NP}|pretend(?:ing)?{_NP}|"
    rf"picture(?=\s+(?:that|the|an?|this))|"
    rf"presume{_NP}|let(?:['’]s|\s+us|\s+me)\s+(?:just\s+)?(?:say|assume|suppose|imagine|pretend|take|"
    rf"invent|call|consider)|"
    r"what\s+if|consider(?=\s+(?:an?|the\s+(?:following|case|example|idea|possibility))\b)|"
    r"think\s+of(?=\s+an?\b)|"
    r"(?:just\s+)?say(?=\s+(?:that\s+)?(?:the|there)\b)"
)
_OPENER = re.compile(
    rf"[\"“‘'(\s]*(?P<cue>(?:{_INVENTED})|if(?!\s+(?:not|any|anything|ever|at\s+all)\b)|unless|"
    rf"provided(?:\s+that)?(?=\s+(?:the|that|it|an?)\b)|in\s+case|in\s+the\s+event\s+that|"
    rf"granted(?:\s+that)?(?=\s+(?:the|that|an?)\b)|as\s+(?:if|though)(?=\s)|picture\s+this|oh,?\s+that|"
    rf"it\s+is\s+(?:\w+\s+)?(?:possible|conceivable|likely|probable|unlikely|doubtful|unclear|uncertain|"
    rf"disputed)\s+(?:that|whether|if)|"
    r"(?:were|had|should)(?=\s+(?:the|an?|it|he|she|they|this|that|these|there|[A-Z]))(?-i:)|"
    r"hypothetically|theoretically|perhaps|possibly|maybe|in\s+theory|on\s+paper|"
    r"for\s+the\s+sake\s+of(?:\s+the)?\s+(?:argument|example|discussion)|"
    r"(?:for\s+)?(?:example|instance|e\.g\.)\s*:|(?:sample|example|test|dummy|wrong|"
    r"false)\s+(?:\w+\s+)?(?:sentence|text|entry|claim|"
    r"statement|input|output)s?\s*:|as\s+an\s+example\s+of\s+(?:a|an)\s+(?:wrong|false|mistake)|"
    r"in\s+(?:this|that|the\s+following|our|my)\s+(?:\w+\s+)?(?:example|scenario|exercise|"
    r"thought\s+experiment|case\s+study|hypothesis)|"
    r"it\s+(?:could|might|may)\s+be\s+that|there\s+is\s+a\s+chance\s+that|lorem\s+ipsum)",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"(?<!\w)(?:if\s+only|(?<=i\s)(?:wish|hope|pray)(?:ed)?(?=\s)|(?:we|they|many|some|residents|locals|"
    r"people|fans|\w+s)\s+(?:all\s+|really\s+|still\s+)?"
    r"(?:wish(?:ed)?|hoped?|long(?:ed)?|pray(?:ed)?)\s+(?:that|for|the|it|to|[A-Z])|(?:wishes|hopes|longs|"
    r"prays)\s+"
    r"(?:that|the|for|to)|(?:wish|hope)\s+(?:the|that)|may\s+the(?=\s)|would\s+(?:like|love|prefer)|"
    r"it\s+would\s+be\s+(?:nice|good|great|wonderful)\s+if)(?!\w)",
    re.IGNORECASE,
)
_WANT = re.compile(
    r"(?<!\w)(?:wants?|wanted|needs?|invited|asked|urged|wants?)\s+(?:the|an?|its?|this|that|"
    r"[A-Z])(?=[^.;]*\sto\s)"
)
_NEGATED = re.compile(
    r"(?<!\w)(?:(?:nobody|no\s+one|no\s+historian|few\s+people|few)\s+(?:now\s+|still\s+|really\s+|"
    r"seriously\s+)?"
    r"(?:believes?|thinks?|claims?|says?|said|doubts?\s+that|holds?)|it\s+is\s+(?:a\s+)?(?:\w+\s+)?(?:myth|"
    r"misconception|lie|hoax|"
    r"mistake|error|fallacy|nonsense|false|untrue|wrong|incorrect)\s+(?:that|to\s+say)|"
    r"(?:there\s+is\s+)?no\s+(?:\w+\s+)?"
    r"(?:evidence|proof|truth|record|sign|indication)\s+(?:that|for|of|in)|far\s+from\s+(?:being|having)|"
    r"anything\s+but|(?:nearly|almost)\s+(?:built|opened|moved|completed)|confuses?|refut(?:e|es|ed)|"
    r"disprov(?:e|es|ed)|by\s+no\s+means|"
    r"an\s+earlier\s+(?:version|draft|edition)|doubts?\s+that|"
    r"(?:we\s+)?retract(?:s|ed)?|correction\s*:)(?!\w)",
    re.IGNORECASE,
)
_SCHEME = re.compile(
    r"(?<!\w)(?:under\s+(?:the|an?|this|his|her|one|another)\s+(?:[\w-]+\s+){0,2}(?:proposal|plan|scheme|"
    r"project|design|blueprint|"
    r"masterplan)|(?:a|an|one|another|the|his|her|their|various|several)\s+(?:[\w-]+\s+)?(?:designs?|bids?|"
    r"proposals?|schemes?|"
    r"plans?|applications?)\s+(?:for|to)(?=\s[^.;]*(?:never|not\s|rejected|abandoned|shelved|cancell?ed|"
    r"submitted|dropped|"
    r"approved|announced|unveiled|presented))|there\s+(?:is|are|were|was)\s+(?:\w+\s+)?(?:plans?|talks?|"
    r"proposals?)\s+(?:for|to|of)|"
    r"(?:the|a|one|his|her|their)\s+(?:plan|idea|intention|aim|proposal)\s+(?:was|is|had\s+been)\s+(?:for|to)|"
    r"in\s+(?:the\s+)?(?:near\s+)?future|competition\s+entry|plans?\s+calls?\s+for|(?:foresees?|envisages?|"
    r"envisions?|envisaged|envisioned)|(?:is|are)\s+(?:moving|"
    r"relocating|planning|considering|hoping|thinking|looking)(?!\w)|(?:have|has|had)\s+been\s+(?:invited|"
    r"asked|hired|commissioned)\s+to|"
    r"(?:promis|pledg|vow|propos|announc)(?:es?|ed|ing)\s+to(?=\s+[a-z])|"
    r"(?:is|are|was|were|be)\s+going\s+to|(?:hop|intend|plan|aim|prepar|expect|propos)(?:es?|e?d|s|ing|ning|"
    r"ned)?\s+to(?=\s+[a-z]+\s)|"
    r"(?:expect|anticipat|forecast|predict)(?:s|es)?(?=\s+(?:(?:some|about|around|up\s+to|over|more\s+than|"
    r"an?|another|at\s+least)\s+)*\d)|"
    r"(?:meant|intended|supposed)\s+to\s+(?:be|have|open|stand|replace|become|house|rise)|hopes?\s+to)(?!\w)",
    re.IGNORECASE,
)
_RETRACTION = re.compile(
    r"[\s\"“‘'(–—-]*(?:(?:but\s+|however,\s+|yet\s+|in\s+fact,?\s+|of\s+course,?\s+)?(?:this|that|which|it|"
    r"(?:this|that|the|none\s+of\s+(?:this|that)|"
    r"all\s+of\s+(?:this|that)|both|these|such)\s*(?:last\s+)?(?:claims?|statements?|stor(?:y|ies)|"
    r"sentences?|information|rumou?rs?|report|assertion|"
    r"paragraph)?)\s+(?:is|was|are|were|has|have|had|turned|proved|later)?\s*(?:since\s+|later\s+|"
    r"of\s+course\s+|all\s+|simply\s+|plainly\s+|entirely\s+|"
    r"turned\s+out\s+to\s+be|been|proved\s+to\s+be|proven|proved|be|"
    r"turned\s+out)*\s*(?:not\s+(?:\w+\s+)?(?:true|correct|right|so|the\s+case)(?!\s+(?:to|of)\b)|"
    r"isn['’]t\s+true|"
    r"wasn['’]t\s+true|untrue|false|wrong|incorrect|nonsense|an?\s+(?:\w+\s+)?(?:lie|joke|myth|hoax|error|"
    r"mistake|rumou?r|invention|fabrication|"
    r"example|hypothesis|dream)|made\s+up|invented|retracted|withdrawn|disproved|debunked|refuted|denied|"
    r"never\s+happened|fiction|fictional)|"
    r"no,?\s+(?:it|this|that|they)\s+(?:is|was|were|did|does|has|had)\s*(?:not|n['’]t)|"
    r"nothing\s+could\s+be\s+further\s+from|(?:just|only)\s+(?:kidding|joking)|april\s+fool|(?:not|wrong|"
    r"false|nonsense)\s*[!.]|at\s+least,?\s+that\s+is\s+what|or\s+so\b|"
    r"so\s+(?:\w+\s+){1,4}(?:says?|said|claims?|claimed|goes|believed?)|(?:such|that)\s+(?:was|is|"
    r"were)\s+the\s+(?:plan|dream|rumou?r|legend|story|idea))(?!\w)",
    re.IGNORECASE,
)


def supposed(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """The words by which a claim about these mentions is supposed, wished for, planned or denied."""
    last = max(mentions, key=lambda mention: mention.end)
    starts = _clauses(text, sentence, last.start)
    for start in starts:
        match = _OPENER.match(text, start, sentence.end)
        if match and not covered(match.start("cue"), mentions) and match.start("cue") < last.start:
            cue = Span(match.start("cue"), match.end("cue"))
            if start == sentence.start or reaches(text, sentence, cue, last.start):
                return Reservation.of(HYPOTHESIS, match["cue"])
    for kind, pattern in ((WISH, _WISH), (WISH, _WANT), (DENIAL, _NEGATED), (PLAN, _SCHEME)):
        for match in pattern.finditer(text, sentence.start, sentence.end):
            cue = Span(match.start(), match.end())
            if cue.end > last.start:
                break
            if is_name(text, sentence, cue.start, mentions) or _over(text, cue, last, mentions):
                continue
            if reaches(text, sentence, cue, last.start):
                return Reservation.of(kind, match.group())
    return None


def _clauses(text: str, sentence: Span, end: int) -> list[int]:
    breaks = re.finditer(r"[:;–—]\s*|,\s+(?:but|and|so|yet)\s+", text[sentence.start : end])
    return [sentence.start, *(sentence.start + found.end() for found in breaks)]


def _over(text: str, cue: Span, last: Span, mentions: Sequence[Span]) -> bool:
    """Tell words that a comma closes before what is claimed: "The hall, expected to cost much, opened in"."""
    first = min(mentions)
    if cue.start < first.start:
        return "," in text[cue.end : first.start]
    return "," in text[first.end : cue.start] and "," in text[cue.end : last.start]


def opens_hypothesis(text: str, sentence: Span) -> Reservation | None:
    """A supposition that the sentences after it go on with: "Imagine a city on an island."."""
    match = re.compile(
        rf"[\"“‘'(\s]*(?P<cue>{_INVENTED}|(?:example|hypothetically|(?:\w+\s+){{0,3}}(?:made-up|"
        rf"hypothetical|imaginary|invented|fake|fictional|fictitious|false)\s+(?:case|example|"
        rf"city|town|scenario|statement|fact|entry)s?|the\s+following\s+(?:\w+\s+){{0,2}}(?:is|"
        rf"are)\s+(?:false|untrue|wrong|invented|made\s+up|not\s+true)|for\s+the\s+sake\s+of\s+argument)\b)",
        re.IGNORECASE,
    ).match(text, sentence.start, sentence.end)
    return Reservation.of(HYPOTHESIS, match["cue"]) if match else None


def retracted(text: str, start: int, end: int) -> Reservation | None:
    """Words that take back what was said just before: "That is not true."."""
    match = _RETRACTION.match(text, start, end)
    return Reservation.of(DENIAL, match.group().strip(" \t\r\n\"“‘'(–—-")) if match else None
