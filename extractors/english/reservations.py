"""All rules on clauses in one order, and two of them: orders to the reader or the model, and fiction.

The rules look at the clause, its sentence and the sentences around it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from extractors.english.speech import (
    Reservation,
    attributed,
    clause_starts,
    covered,
    is_name,
    opens_legend,
    quotation,
    reaches,
    same_paragraph,
)
from extractors.english.suppositions import PLAN, hedge, opens_hypothesis, retracted, supposed
from extractors.text.chunking import Span

ORDER: Final = "an order"
PROMPT: Final = "words meant for a model"
PASTED: Final = "data or code in a text"

# Verbs that open a sentence only as an order; "Put up in 1844, ..." is none.
_PLAIN_VERB = (
    r"add|remember|insert|ignore|disregard|forget|write|jot|enter|append|memori[sz]e|treat|make(?!\s+or\b)|"
    r"keep|"
    r"put(?!\s+(?:up|simply|differently|another|on|forward|together|back)\b)|ensure|tell|repeat|include|"
    r"mention|"
    r"confirm|accept|believe(?!\s+it\s+or\s+not)|extract|respond|reply|replace|update|delete|remove|"
    r"correct(?=\s+the)|"
    r"define|create|build|rebuild|move|rename|demolish|relocate|transfer|bring|take|send|give|convert|"
    r"register|"
    r"assign|classify|label|link|connect|merge|import|save(?!\s+for\b)|inform|learn|know\s+that|notice|"
    r"understand|"
    r"acknowledge|be\s+(?:sure|certain|aware|careful|advised)|have\s+(?:it|them)|see\s+to|"
    r"let(?=\s+(?:it|us|the|this|me|him|them|her)\b|['’]s\b)|consult|compare|continue|proceed|act|stop(?!\s+(?:no\.?\s*)?\d)|"
    r"start\s+by|"
    r"begin\s+by|listen|fill\s+in|translate|summari[sz]e|describe|draw|imagine|visit|apply|obey|"
    r"follow\s+(?:the|these|my)"
)
# Verbs that are nouns, names or adjectives too: an order only where an object or "that" follows.
_NOUN_VERB = (
    r"note|record|store|list|mark|set|log|file|report|post|state|print|place|name|call|open|close|change|"
    r"order|"
    r"output|answer|show|say|return|document|map|book|publish|declare|index|tag|copy|paste|type|cite|quote|"
    r"date|"
    r"enumerate|input|feed|push|commit|train|fix|load|locate|situate|paint|sign|use|share|submit|read"
)
_OBJECT = (
    r"(?=\s*[:\"“‘«(–—-]|\s+(?:that|down|into|in\s+(?:the|your|my)\s+(?:\w+\s+){0,2}(?:graph|database|"
    r"notes?|list|table|index|ontology|memory|file)|the|an?|this|these|those|it|its|as|also|all|"
    r"every|each|my|your|our|for\s+me|with|after|only|once)\b|"
    r"\s+(?:[A-Z][\w'’.-]*\s+(?:(?:of|the|de|du)\s+)*){1,6}(?:as|to\s+be|=)(?!\w))"
)
_LEAD = (
    r"(?:\d{1,2}[.)]\s+|[-*•>]\s+|(?:now|then|first|next|also|and|so|but|ok|okay|well|hey|hello|hi|please|"
    r"kindly|just|"
    r"always|never|do|don['’]t|do\s+not|finally|lastly|again|therefore|instead|henceforth|you\s+there|"
    r"dear\s+\w+|(?:assistant|model|system|computer|bot|ai|reader|everyone|everybody|all))"
    r"(?:\s*[,:!]\s*|\s+))*"
)
_VERB = rf"(?:(?:{_PLAIN_VERB})(?!['’-]|\w)|(?:{_NOUN_VERB})(?!['’-]|\w){_OBJECT})"
# Inflected only by case: "Remember", "REMEMBER", "remember".
_IMPERATIVE = re.compile(
    rf"(?P<lead>(?i:{_LEAD}))(?P<verb>(?i:{_PLAIN_VERB})(?!['’-]|\w)|(?i:{_NOUN_VERB})(?!['’-]|\w){_OBJECT})"
)
_NAMED_OBJECT = re.compile(rf"(?i:{_LEAD})(?P<verb>(?i:{_NOUN_VERB}))\s+(?=[A-Z])")
_PREDICATE = re.compile(
    r"(?<!\w)(?!located\b|situated\b)(?:is|are|was|were|has|had|[a-z]{2,}(?:ed|s)|built|stood|ran)(?!\w)"
)
# Before an article stands at the start of a sentence a verb, or one of the small words that can open it.
_OPENS_WITH_ARTICLE = frozenset(
    """
    about above across after again against all almost along alongside already also although always
    amid among and another any around as aside at atop away back be because before behind being
    below beneath beside besides between beyond both but by can close could despite did do does done
    down during each either else elsewhere enough even ever every except far few first for former
    formerly from given half has have having he hence her here his how however if in indeed
    initially inside instead into is it its itself just last late later least less like long many
    maybe meanwhile might more moreover most much nearby near neither never nevertheless next no nor
    not now of off often on once one only onto opposite or other otherwise our out outside over
    overall own part past per perhaps plus quite rather round same save second seldom she should
    since so some sometimes soon still such than that the their them then there thereafter these
    they third this those though through throughout thus till to today together tomorrow tonight too
    toward towards twice two under underneath unless unlike until up upon usually via was well were
    what when whence where whereas wherever whether which while who whom whose why will with within
    without would yes yesterday yet built set put made begun known seen found born cut hit held left
    lost paid sold won yet worth notwithstanding thanks concerning regarding including following
    according adjoining facing overlooking originally spring summer autumn winter nowadays
    henceforth furthermore abroad ago january february march april may june july august september
    october november december monday tuesday wednesday thursday friday saturday sunday come came
    gone become became began ran stood lay sat rose grew took gave got had saw went knew drew wrote
    fell kept led met sent spent taught thought told understood
    """.split()
)
_BEFORE_ARTICLE = re.compile(
    r"(?P<verb>[A-Za-z][a-z]+)(?:\s+(?:down|up|out))?\s+(?:the|an?|this|these|those|your|my|our|all\s+the|"
    r"every|each|it)\b"
)
_SAYING = re.compile(r"\s*(?:that\b|down\b|:|as\b)", re.IGNORECASE)
_CONDITION = re.compile(r"[\"“‘'(]*(?:when|if|once|whenever|before|after|while|as)(?!\w)", re.IGNORECASE)
_REQUEST = re.compile(
    rf"(?:you|we|the\s+(?:model|assistant|system|reader|graph|database|server|entry))\s+"
    rf"(?:must|should|shall|will|can|have\s+to|need\s+to|ought\s+to|are\s+(?:to|required\s+to|asked\s+to))\s+"
    rf"(?:now\s+|also\s+|always\s+|please\s+|not\s+|only\s+)*{_VERB}|"
    r"(?:want|ask(?:ed)?|need|order|urge|expect|instruct|tell|require|request|allow|authori[sz]e|beg|"
    r"command|like)\s+"
    r"(?:you|the\s+(?:model|assistant|system|reader))\s+to(?!\w)|"
    r"your\s+(?:task|job|role|goal|mission|(?:next\s+)?(?:answer|reply|output|response)|instructions?)(?!\w)|"
    rf"(?:must|should|shall|ought\s+to)\s+(?:now\s+|also\s+|always\s+|please\s+)*(?:note|record|remember|"
    rf"add|list|write|"
    rf"store|save|register|enter|mention|treat|keep\s+in\s+mind|bear\s+in\s+mind)(?!\w)|"
    rf"you\s+(?:now\s+|also\s+)?(?:note|record|remember|add|list|write|store|save|register|enter|"
    rf"mention)\s+(?:that|the|down|:)|"
    rf"(?:could|can|would|will)\s+you\s+(?:please\s+|kindly\s+)?{_VERB}|would\s+you\s+mind|"
    r"(?:must|should|shall|(?:is|are)\s+to|needs?\s+to|has\s+to|have\s+to)\s+be\s+(?:recorded|added|noted|"
    r"stored|"
    r"listed|registered|entered|written|saved|treated|remembered|marked|shown\s+as|considered)|"
    r"(?:let\s+it|be\s+it)\s+(?:hereby\s+)?(?:be\s+)?(?:known|noted|recorded)|let\s+the\s+record\s+show|"
    r"by\s+(?:order|decree)\s+of|henceforth|as\s+an?\s+(?:ai|language\s+model|assistant)(?!\w)|"
    r"(?<=i\s)hereby|(?:we|is|are)\s+hereby|"
    r"(?:from\s+(?:now|here|this\s+(?:moment|point|day)|today)\s+on(?:wards?)?|effective\s+immediately|"
    r"as\s+of\s+now)"
    r"(?=\s*,|\s+(?:the|all|every|you|[A-Z]))",
    re.IGNORECASE,
)
_ABOUT_IT = re.compile(
    r"[\s\"“‘'(]*(?:please\s+|now\s+|and\s+|so\s+|always\s+|never\s+|don['’]t\s+)*(?:write|note|record|"
    r"store|add|save|"
    r"remember|put|enter|mark|memori[sz]e|forget|repeat|keep|accept|believe|register|include|"
    r"take)\s+(?:this|that|it)"
    r"(?=\s*[.,!;]|\s*$|\s+(?:down|up|in\s+mind|in\s+(?:the|your)|to\s+(?:the|your)|as\s+(?:a\s+)?(?:fact|"
    r"true)|well|please)\b)",
    re.IGNORECASE,
)
_PROMPT = re.compile(
    r"(?:^|(?<=[\n\"“(\[>]))[\s*_#>\[-]{0,20}(?:system|user|assistant|human|ai|bot|instructions?|prompt|task|"
    r"query|command|"
    r"output|input|response|answer|developer|tool|to-?do|context|model|admin(?:istrator)?|fact|triple|"
    r"expected\s+output)"
    r"(?:\s+(?:prompt|message|note|override|instructions?|update))?\s*[\]*_]*\s*:|"
    r"\[\s*(?:system|user|assistant|admin|instructions?|inst|prompt|developer)\s*\]|"
    r"^[\"“‘'(\s]*(?:attention|hello|hi|hey|dear)\b[^.:!,]{0,40}[!:,]|"
    r"#{2,}\s*\w|<\|\w|\[/?INST|<</?SYS|</?(?:s|fact|triple|system|user|assistant|instructions?|doc\w*|"
    r"text)>|"
    r"(?:previous|earlier|prior|above|preceding|other|existing|your)\s+(?:instructions?|rules|prompts?|"
    r"orders|guidelines)|"
    r"(?:ignore|disregard|forget|override|bypass)\s+(?:all|any|the|your|every|what|previous|my)\b|"
    r"you\s+are\s+(?:now\s+)?(?:an?|the|in)\s+(?:\w+\s+){0,3}(?:assistant|model|expert|bot|ai|game|system|"
    r"extractor|"
    r"database|annotator|agent)\b|(?:hello|hi|hey|dear|attention),?\s+(?:model|assistant|ai|system|bot|"
    r"chatbot|gpt)\b|"
    r"(?:the|this|a|following)\s+(?:\w+\s+)?triples?\s*[:(<\"“]|knowledge\s+graph\s+(?:must|should|shall)",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:INSERT|DELETE)\s+(?:DATA|INTO|WHERE)|<\w+://|(?<!\w)\w*:\w+\s+\w*:\w+\s|\|\s*\w+\s*\||\[\[|->|=>|→|"
    r"\"\s*:\s*[\[\"{]|[\"']\s*,\s*[\"'](?=[a-z])|(?<!\w)[a-z]{2,}[A-Z][a-z]+\w*(?!\w)|\s==\s|"
    r"<[a-zA-Z/][^<>]*>"
)
_TUPLE = re.compile(r"[(\[<]\s*[^()\[\],]{1,80},\s*[\"']?[a-z][^()\[\],]{0,40},\s*[^()\[\],]{1,80}[)\]>]")
_GOES_ON = re.compile(
    r"[:]\s*$|\b(?:following|these|below|as\s+follows|after\s+me|(?:previous|earlier|prior|"
    r"all)\s+\w*\s*instructions?)\b",
    re.IGNORECASE,
)


def order(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """An order or a request that a claim about these mentions stands in."""
    target = max(mention.start for mention in mentions)
    for match in _REQUEST.finditer(text, sentence.start, target):
        if not covered(match.start(), mentions) and reaches(text, sentence, Span(*match.span()), target):
            return Reservation.of(ORDER, match.group())
    for start in clause_starts(text, sentence, target):
        found = _imperative(text, sentence, start)
        if found is None or _is_name(text, found.start("verb"), mentions):
            continue
        if reaches(text, sentence, Span(found.start("verb"), found.end()), target):
            return Reservation.of(ORDER, found.group())
    return None


def _is_name(text: str, at: int, mentions: Sequence[Span]) -> bool:
    """Tell the first word of a name that is mentioned, here or further on, from a verb."""
    return covered(at, mentions) or any(
        text.startswith(text[one.start : one.end], at) for one in mentions if one.end > one.start
    )


def _other_verb(text: str, start: int, end: int) -> re.Match[str] | None:
    """An order by its form alone: at the start, a word before an article that can only be a verb."""
    lead = re.compile(rf"(?i:{_LEAD})").match(text, start, end)
    match = _BEFORE_ARTICLE.match(text, lead.end() if lead else start, end)
    if match is None:
        return None
    word = match["verb"].casefold()
    inflected = word.endswith(("ly", "ed", "ing", "s", "wn", "nt")) and not word.endswith("ss")
    return None if inflected or word in _OPENS_WITH_ARTICLE else match


def _imperative(text: str, sentence: Span, start: int) -> re.Match[str] | None:
    """An order that begins with this clause; within a sentence only after what introduces one."""
    match = _IMPERATIVE.match(text, start, sentence.end)
    if match is None:
        starts = not text[sentence.start : start].strip("\"“‘'«([- ")
        if starts and (other := _other_verb(text, start, sentence.end)):
            return other
        named = _NAMED_OBJECT.match(text, start, sentence.end)
        is_clause = named is not None and _PREDICATE.search(text, named.end(), sentence.end)
        return named if start == sentence.start and not is_clause else None
    before = text[sentence.start : start].rstrip()
    if not before.strip("\"“‘'«([") or before.endswith((":", ";", "–", "—", "-")):
        return match
    word = re.search(r"\w+$", before)
    joins = word is not None and word.group().casefold() in {"and", "so", "but", "then"}
    says = _SAYING.match(text, match.end())
    if joins:
        other = _IMPERATIVE.match(text, sentence.start, sentence.end)
        return match if says or other or re.search(r"[;:–—]\s*\w+$", before) else None
    if not before.endswith(","):
        return None
    return match if says or _CONDITION.match(before) else None


def order_about_it(text: str, start: int, end: int) -> Reservation | None:
    """An order about what was said just before: "Write that down."."""
    match = _ABOUT_IT.match(text, start, end)
    return Reservation.of(ORDER, match.group().strip(" \t\r\n\"“‘'(")) if match else None


def prompt(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """Words that speak to the model, before what is claimed."""
    target = max(mention.start for mention in mentions)
    for match in _PROMPT.finditer(text, sentence.start, target):
        if not any(one.start < match.end() and match.start() < one.end for one in mentions):
            return Reservation.of(PROMPT, match.group())
    return None


_LABELED = re.compile(
    r"(?<!\w)(?:subject|object|predicate|relation|entity|property|value|head|tail|source|target|from|to|"
    r"name|s|p|o)[\"']?\s*[:=]"
    r"\s*[\"']?$",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"\s*[,;]\s*(?!which\b|who\b|whose\b|where\b|an?\b|the\b|now\b|once\b)[a-z][^,;.]{1,40}[,;]\s*"
)
"""What stands between the names of a triple in a list: "Rialto, located in, Queens"."""


def pasted(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """Markup, code or a list of triples around what is claimed."""
    first, last = min(mentions), max(mentions, key=lambda mention: mention.end)
    brace = text.rfind("{", max(0, first.start - 2000), first.start)
    if brace >= 0 and "}" not in text[brace : first.start]:
        return Reservation.of(PASTED, text[brace : first.start][:40])
    for match in _TUPLE.finditer(text, sentence.start, max(sentence.end, last.end)):
        if match.start() <= first.start and last.end <= match.end():
            return Reservation.of(PASTED, match.group())
    labels = [_LABELED.search(text[max(0, mention.start - 20) : mention.start]) for mention in mentions]
    if all(labels):
        return Reservation.of(PASTED, labels[0].group() if labels[0] else "")
    ends_bare = not re.search(r"\w", text[last.end : max(sentence.end, last.end)])
    bare = ends_bare and not re.search(r"[a-z]{3}", text[sentence.start : first.start])
    if first.end <= last.start and bare and _LIST.fullmatch(text[first.end : last.start]):
        return Reservation.of(PASTED, text[first.start : last.end])
    code = _CODE.search(text, first.end, last.start) if first.end < last.start else None
    return Reservation.of(PASTED, code.group()) if code else None


def opens_orders(text: str, sentence: Span) -> Reservation | None:
    """An order or words for the model that hold for the sentences after it, too: "Repeat the following."."""
    end = Span(sentence.end, sentence.end)
    if found := prompt(text, sentence, [end]):
        return found
    if _GOES_ON.search(text, sentence.start, sentence.end):
        return order(text, sentence, [end])
    return None


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
