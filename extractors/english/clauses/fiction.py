"""Stories, films, games and dreams: what is so in them is not so in the city."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from extractors.english.clauses.clause_bounds import covered, is_name, reaches
from extractors.reservations import Reservation
from extractors.text.chunking import Span

__all__ = ["FICTION", "fiction", "opens_fiction"]

FICTION: Final = "fiction"

_WORK: Final = (
    r"(?:novel|novella|film|movie|story|short\s+story|tale|fairy[ -]tale|legend|myth|poem|play|opera|"
    r"musical|ballet|"
    r"game|videogame|book|comic|manga|anime|series(?!\s+of\b)|show|sitcom|trilogy|saga|screenplay|script|"
    r"dream|nightmare|vision|"
    r"simulation|fantasy|fable|parable|epic|cartoon|thriller|adaptation|sequel|prequel|plot|storyline|"
    r"scenario|joke|"
    r"riddle|multiverse|metaverse|alternate\s+history|daydream|hallucination|fan\s*fiction|radio\s+drama|"
    r"drama)"
)
_PART: Final = (
    r"(?:(?:opening|closing|first|second|third|fourth|fifth|last|final|next|same|pilot|one|famous|\w+th)\s+"
    r"(?:scene|act|chapter|episode|level|shot|verse|instal?lment|season|series)|(?:scene|act|chapter|"
    r"episode|level)\s+"
    r"(?:\d+|[IVX]+|one|two|three|four|five|six))"
)
_REAL: Final = (
    r"(?!\s+(?:industry|business|trade|district|quarter|festival|archives?|theat\w+|museum|house|fair|"
    r"market|club|"
    r"school|department|collection|room|hall|cent(?:er|re)|studios?|library|park|shops?|stores?|premiere|"
    r"history|crew|"
    r"set|window|rights|version\s+of\s+the\s+building|against|between|era|production|making|off|debut|"
    r"career|style|form|format|edition|award|critics?|score|genre|role|together)\b|[-\w]|"
    r"\s+of\s+(?:the\s+|this\s+|our\s+|a\s+|its\s+)?(?:\w+\s+)?(?:cit|town|buil|bridge|house|district|"
    r"neighbo|countr|"
    r"place|region|church|theat|hotel|universit|railway|village|street|square|architec|urban|port|harbou?r|"
    r"island|"
    r"museum|palace|castle|park|nation|state|century)|['’]s\s)"
)
_DETERMINED: Final = (
    r"(?:an?|the|this|that|his|her|their|my|our|your|one|some|another)\s+(?:[\w'’-]+\s+){0,3}?"
)
_POSSESSIVE: Final = r"(?:[\w'’.-]+\s+){0,4}?[\w.-]+(?:['’]s|s['’])\s+(?:[\w-]+\s+){0,3}?"
_INSIDE = re.compile(
    rf"(?<!\w)(?:with)?in\s+(?:the\s+(?:world|universe|pages|plot|fiction|setting|story)\s+of\s+)?"
    rf"(?:(?:{_DETERMINED}|{_POSSESSIVE}){_WORK}{_REAL}|(?:the|its|his|her)\s+{_PART}(?=\s*,|\s+of\s+(?:the|"
    rf"his|her|a)\s)"
    r"(?!\s+of\s+(?:the\s+)?(?:crime|club|city|team|league|church))|"
    r"(?:season|episode|chapter|act|scene|level)\s+(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|"
    r"[IVX]+)(?=\s*,)|"
    r"it(?=\s*,)|(?:[\w'’-]+\s+){0,4}?(?:(?:short\s+)?stories|(?:fairy[ -]|folk\s?)?tales|novels|films|"
    r"movies|comics|poems|dreams|"
    r"myths|legends|fiction|folklore)(?=\s*,|\s+(?:the|an?|[A-Z]))(?!\s+of\b)|"
    r"the\s+(?:[\w'’-]+\s+){1,3}?(?:universe|multiverse|mythology|legendarium)|"
    r"(?:[\w'’:-]+\s+){1,6}\((?:an?|the)\s+(?:[\w-]+\s+){0,3}(?:game|film|movie|novel|series|book|comic|"
    r"play|musical|show)\)|"
    r"(?:[\w'’:-]+\s+){0,5}[\w'’:-]+,\s+an?\s+(?:[\w-]+\s+){0,3}(?:video\s+game|game|film|movie|novel|comic|"
    r"tv\s+series)(?=\s*,)|"
    r"an?\s+(?:\w+\s+)?(?:parallel|alternate|alternative|imaginary|fictional|made-up|invented|virtual|"
    r"different|another)\s+"
    r"(?:\w+\s+)?(?:universe|world|reality|timeline|history|version|city|country|life|dimension|future|past)|"
    r"(?:the|this|that)\s+(?:alternate|alternative|parallel|virtual|fictional|imaginary)\s+\w+)",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"(?<!\w)(?:had|have)\s+(?:a|an|this|the)\s+(?:\w+\s+)?(?:dream|nightmare|vision)(?!\w)|"
    r"(?<!\w)(?:on\s+(?:screen|stage)(?=\s*,)|as\s+the\s+curtain\s+(?:rises|falls)|april\s+fool\w*)(?!\w)|"
    r"(?<!\w)once\s+upon\s+a\s+time(?!\w)|(?<!\w)long\s+ago\s+in\s+a\s+(?:land|kingdom)\s+far",
    re.IGNORECASE,
)
_CONTENT = re.compile(
    rf"(?<!\w)(?i:the|this|that|his|her|their|my|our|an?|one|"
    rf"[\w.-]+['’]s)\s+(?:[\w'’-]+\s+){{0,3}}?(?:{_WORK}|episode|chapter|scene)(?:\s+[A-Z][^,.;:]{{0,60}}?|"
    rf"\s+of\s+[^,.;:]{{1,60}}?)??\s+"
    r"(?:(?:opens|begins|starts|ends)\s+(?:on|with|in|when)|"
    r"(?!is\b|was\b|has\b|runs\b|opens\b|costs\b|sells\b|stars\b|belongs\b|dates\b|houses\b|hosts\b|"
    r"remains\b|wins\b|"
    r"comes\b|consists\b|lists\b|includes\b|appears\b|says\b|does\b|attracts\b|draws\b|s\b)[a-z]+s(?=\s)|"
    r"takes\s+place|is\s+about|centers\s+on|centres\s+on|revolves|unfolds|has\s+(?:the|a|an|its)|"
    r"is\s+called)(?!\w)"
)
_PEOPLE = re.compile(
    rf"(?<!\w)(?:(?:hero|heroine|villain|main\s+characters?|characters?|detective|ghost|lovers?|king|queen|"
    rf"plot|action)\s+"
    rf"(?:of|in|from)\s+(?:the|an?|his|her|this)\s+(?:[\w-]+\s+){{0,2}}?{_WORK}|heroine|protagonists?|"
    rf"antagonists?|narrator|"
    r"(?:the\s+)?players?\s+(?:can|must|may|learn|find|enter|visit|explore|discover|reach|travel|meet|see|"
    r"control|start|defend|build))(?!\w)"
)
_DREAM = re.compile(
    r"(?<!\w)(?:(?:author|writer|novelist|director|poet|screenwriter|film-?maker|playwright|"
    r"designer\s+of\s+the\s+game)\s+"
    r"(?:moves|places|sets|puts|transports|relocates|imagines|invents|has)\s+(?:the|an?|[A-Z])|"
    r"(?:dream(?:ed|t|s)|imagin(?:es|ed)|fantasi[sz](?:es|ed)|pretend(?:s|ed)|invents|invented\s+that|"
    r"daydream(?:s|ed)|hallucinat(?:es|ed))\s+(?:that|of|the|an?|how|about|it|[A-Z])|make[- ]believe|"
    r"mythical|made-up|fabled|non-?existent|fictional|fictitious|imaginary)(?!\w)"
)
_MADE_OF_IT = re.compile(
    r"(?<!\w)(?:filmed|was\s+shot|were\s+shot|published|released|premiered|box\s+office|directed|"
    r"written\s+by|"
    r"screened|translated|bestseller)(?!\w)",
    re.IGNORECASE,
)
_CHAPTER = re.compile(
    r"[\"“‘'(]*(?:chapter|act|scene|episode)\s+(?:\d+|[IVX]+|one|two|three|four|five|six)\s*[.:]",
    re.IGNORECASE,
)
_FOLLOWING = re.compile(
    r"(?<!\w)the\s+(?:following|next|story\s+below)(?:\s+\w+){0,2}\s+(?:is|are)\s+(?:an?\s+|pure\s+|"
    r"entirely\s+|all\s+)*"
    r"(?:fiction|fictional|invented|made[ -]up|imaginary|untrue|false|satire|parody|joke|story|dream|draft|"
    r"example)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:[,;:(–—-]|(?<!\w)(?:and|but|or|that|so|yet|where|because|while))$", re.IGNORECASE)
_TRAILING = re.compile(rf"\s*,?\s*{_INSIDE.pattern}", re.IGNORECASE)


def fiction(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """The words that put a claim about these mentions into a story, a game or a dream."""
    first, last = min(mentions), max(mentions, key=lambda mention: mention.end)
    for match in _ONCE.finditer(text, sentence.start, last.start):
        if not covered(match.start(), mentions):
            return Reservation.of(FICTION, match.group())
    for pattern in (_INSIDE, _DREAM):
        for match in pattern.finditer(text, sentence.start, last.start):
            cue = Span(match.start(), match.end())
            if is_name(text, sentence, cue.start, mentions) or not reaches(text, sentence, cue, last.start):
                continue
            if pattern is not _INSIDE or _opens_clause(text, sentence, cue, first):
                return Reservation.of(FICTION, match.group())
    for pattern in (_CONTENT, _PEOPLE):
        for match in pattern.finditer(text, sentence.start, first.start):
            cue = Span(match.start(), match.end())
            if not covered(cue.start, mentions) and reaches(text, sentence, cue, first.start):
                return Reservation.of(FICTION, match.group())
    trailing = _TRAILING.match(text, last.end, max(sentence.end, last.end))
    return Reservation.of(FICTION, trailing.group().strip(" ,")) if trailing else None


def opens_fiction(text: str, sentence: Span) -> Reservation | None:
    """A sentence inside a story that the sentences after it go on with; not one about how it was made."""
    if _MADE_OF_IT.search(text, sentence.start, sentence.end):
        return None
    for pattern in (_INSIDE, _ONCE, _DREAM, _CONTENT, _PEOPLE, _FOLLOWING, _CHAPTER):
        match = pattern.search(text, sentence.start, sentence.end)
        if match is None or (pattern is _DREAM and not {"that", "of"} & set(match.group().split())):
            continue
        cue = Span(match.start(), match.end())
        if pattern is not _INSIDE or _opens_clause(text, sentence, cue, sentence):
            return Reservation.of(FICTION, match.group())
    return None


def _opens_clause(text: str, sentence: Span, cue: Span, first: Span) -> bool:
    """Tell "In the story, the hall" and "The hall in the story" from "the only book in the series"."""
    before = text[sentence.start : cue.start].rstrip()
    return not before.strip("\"'“‘(") or bool(_CLAUSE.search(before)) or cue.start - first.end == 1
