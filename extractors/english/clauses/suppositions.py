"""Hypotheses, examples and wishes that hold for a whole clause, and the retractions of what was just said."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from extractors.english.clauses.clause_bounds import covered, is_name, reaches
from extractors.reservations import Reservation
from extractors.text.chunking import Span

__all__ = ["DENIAL", "HYPOTHESIS", "PLAN", "WISH", "opens_hypothesis", "retracted", "supposed"]

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
