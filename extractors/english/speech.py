"""What others say, which the text only reports: quotations, and claims of critics, legends and rumors.

Also the bounds of clauses, and the `Reservation` that every rule on clauses answers with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from extractors.text.chunking import Span


@dataclass(frozen=True)
class Reservation:
    """`kind` names in words what it is instead of a statement ("an order"), `cue` are the text's words."""

    kind: str
    cue: str

    @classmethod
    def of(cls, kind: str, words: str) -> Reservation:
        """The same with the blanks of the words made one."""
        return cls(kind, " ".join(words.split()))


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


ATTRIBUTED: Final = "a claim of others"

# With "that" all of these report; who confirms, shows or finds that something is so says it too.
_REPORTING: Final = (
    r"say(?:s|ing)?|said|claim(?:s|ed|ing)?|argu(?:es?|ed|ing)|assert(?:s|ed|ing)?|maintain(?:s|ed|ing)?|"
    r"insist(?:s|ed|ing)?|believ(?:es?|ed|ing)|th(?:inks?|ought|inking)|suggest(?:s|ed|ing)?|report(?:s|ed|"
    r"ing)?|"
    r"alleg(?:es?|ed|ing)|contend(?:s|ed|ing)?|stat(?:es?|ed|ing)|declar(?:es?|ed|ing)|announc(?:es?|ed|ing)|"
    r"holds?|held|sw(?:ears?|ore|earing)|suspect(?:s|ed|ing)?|speculat(?:es?|ed|ing)|assum(?:es?|ed)|"
    r"suppos(?:es?|ed)|"
    r"guess(?:es|ed)?|hint(?:s|ed)?|impl(?:y|ies|ied)|writes?|wrote|tells?|told|boast(?:s|ed)?|whisper(?:s|"
    r"ed)?|"
    r"fear(?:s|ed)?|feels?|felt|propos(?:es?|ed)|theori[sz](?:es?|ed)|conclud(?:es?|ed)|concede[sd]?|"
    r"testif(?:y|ies|ied)|"
    r"complain(?:s|ed)?|pretend(?:s|ed)?|imagin(?:es?|ed)|persuaded|convinced|teaches|taught|has\s+it|"
    r"have\s+it|had\s+it"
)
# Without "that" only these are followed by a clause.
_BARE: Final = (
    r"says?|said|claim(?:s|ed)?|argues?|argued|insist(?:s|ed)?|believ(?:es?|ed)|thinks?|thought|swears?|"
    r"swore|"
    r"suspect(?:s|ed)?|alleg(?:es?|ed)|suppos(?:es?|ed)|told\s+(?!by\b)\w+|boast(?:s|ed)?|reckons?|guess"
)
_THAT = re.compile(
    rf"(?<!\w)(?:{_REPORTING})(?:\s+(?:us|me|\w+ers|visitors|people))?\s+that(?!\w)", re.IGNORECASE
)
_BARE_CLAUSE = re.compile(rf"(?<!\w)(?i:{_BARE})(?=\s+{NOUN_PHRASE})")
_FINITE = re.compile(rf"(?<!\w){FINITE}(?!\w)")
_PASSIVE = re.compile(
    r"(?<!\w)(?:is|are|was|were|been|being)\s+(?:\w+ly\s+|often\s+|sometimes\s+|also\s+|now\s+)?(?:said|"
    r"believed|thought|"
    r"claimed|rumou?red|reported|alleged|purported|reputed|suggested|assumed|supposed|presumed|held|"
    r"speculated|"
    r"told|argued|hinted|feared)\s+(?:to\s+(?:be|have|date|stand|lie|contain|house)|that)(?!\w)",
    re.IGNORECASE,
)
_HEARSAY = re.compile(
    r"(?<!\w)(?:rumou?rs?|reports?|claims?|stories|tales|speculation|talk|gossip|allegations?|theor(?:y|ies)|"
    r"suggestions?|belief|legends?|myths?|idea|notion|assumption|assertion|story|view|opinion|misconception|"
    r"misunderstanding|hoax)(?:\s+(?:\w+\s+)?(?:is|was|are|were))?\s+that(?=\s+(?-i:"
    rf"{NOUN_PHRASE}))|"
    r"(?<!\w)(?:the\s+story|legend|rumou?r|tradition|folklore|word)\s+(?:goes|has\s+it|holds|says)(?!\w)",
    re.IGNORECASE,
)
_ADVERB = re.compile(
    r"(?<!\w)(?:allegedly|reportedly|supposedly|purportedly|reputedly|apparently|ostensibly|presumably|"
    r"seemingly|"
    r"by\s+(?:some|all|many)\s+accounts|depending\s+on\s+(?:whom?|the|which)|per\s+(?:its|his|her|their|"
    r"the)\s+\w+(?=\s*,)|"
    r"(?:for|to)\s+(?:many|some|most)(?:\s+\w+)?(?=\s*,)|as\s+(?:the\s+)?(?:legend|story|rumou?r|myth|tale|"
    r"saying)\s+(?:goes|has\s+it)|"
    r"as\s+[^,;.]{1,40}?\s+(?:claims?|says?|said|tells?|told|believes?|goes|argues?|insists?|puts\s+it|"
    r"would\s+have\s+it)"
    r"(?=\s*,)|in\s+(?:the\s+)?(?:(?:\w+\s+)?(?:opinion|view|eyes|words|account|estimation|imagination|"
    r"version)\s+of)(?!\w)|"
    r"in\s+(?:his|her|their|my|our|your|[\w'’ ]{1,40}['’]s?)\s+(?:\w+\s+)?(?:opinion|view|eyes|words|"
    r"account|estimation|"
    r"version|imagination|telling)(?!\w)|if\s+(?:we\s+are|you)\s+(?:to\s+)?believe)(?!\w)",
    re.IGNORECASE,
)
# Any other verb with a clause behind "that" says who thinks so, but for those that say it is a fact.
_CLAUSE_VERB = re.compile(
    rf"(?<!\w)(?P<before>[A-Za-z'’]+)\s+(?P<verb>[a-z]{{3,}})\s+that(?=\s+{NOUN_PHRASE})"
)
_SUBJECTS: Final = frozenset(
    """
    i you he she we they it who to has have had is are was were be been do did does not never also
    often always now will would may might can could should must still first later soon once even
    only ever just since
    """.split()
)
_FACTIVE: Final = frozenset(
    """
    show shows showed shown confirm confirms confirmed prove proves proved proven reveal reveals
    revealed find finds found discover discovers discovered demonstrate demonstrates demonstrated
    establish establishes established know knows knew known mean means meant fact such ensure
    ensures ensured make makes made see saw seen after before given now provided except considering
    result indicate indicates indicated recognize recognized regret regrets true clear built opened
    designed named called one those all only same day year time place being than like
    """.split()
)
_UNSURE = re.compile(
    r"(?<!\w)(?:anonymous|unconfirmed|unverified|disputed|anecdotal|dubious|unproven|apocryphal)(?!\w)|"
    r"(?<!\w)(?:one|some|another|several|other|older)\s+(?:\w+\s+)?(?:sources?|accounts?|authors?|scholars?|"
    r"historians?|"
    r"guides?|maps?|experts?|websites?|versions?|theories|theory|texts?)\s+(?!of\b|and\b|in\b)[a-z]+",
    re.IGNORECASE,
)
_PRETENDED = re.compile(
    r"(?<!\w)(?:(?:claim(?:s|ed|ing)?|purport(?:s|ed)?|profess(?:es|ed)?|pretend(?:s|ed)?)\s+to\s+(?:be|"
    r"have)|"
    r"boast(?:s|ed)?\s+of\s+having)(?!\w)"
)
_SOURCED = re.compile(
    r"(?<!\w)(?:puts|places?|dates?|locates?|situates?|ascribes?|attributes?|traces?|assigns?)\s+(?:the\s+|"
    r"an?\s+|its\s+|it\s+)?$|"
    r"(?<!\w)(?:credits?|lists?)\s+$",
)
_SOURCE = re.compile(
    r"(?<!\w)(?:rumou?rs?|legends?|myths?|gossip|theor(?:y|ies|ists?)|folklore|hearsay|whispers?|"
    r"guide\s?books?|brochures?|"
    r"tabloids?|blogg?(?:ers?)|critics|so-called\s+\w+|superstition|tripadvisor|wikipedia|social\s+media|"
    r"posts?|"
    r"advertisements?|adverts?|conspiracy)\s+(?:[^,;:.]{0,60}?\s)?(?:places?|puts?|has|had|have|connects?|"
    r"links?|dates?|"
    r"ascribes?|attributes?|credits?|associates?|identif(?:y|ies)|names?|calls?|makes?|wants?)(?!\w)",
    re.IGNORECASE,
)
_BY_SOME = re.compile(
    r"(?<!\w)(?:(?:considered|thought|believed|credited|regarded|held|said|seen|dated|"
    r"claimed)\s+by\s+(?:some|many|others|"
    r"locals|critics|historians|tradition|legend)|by\s+(?:tradition|legend|rumou?r)|(?:attributed|"
    r"ascribed)\s+(?:\w+\s+)?to)(?!\w)",
    re.IGNORECASE,
)
_HEADED = re.compile(
    r"(?<!\w)(?:answer|claim|statement|headline|message|news|reply|response|motto|quote|rumou?r|sentence|"
    r"title|caption|"
    r"sign|plaque|note|entry|fact|facts|triple|example|legend|story|memo|tweet|post|advert|slogan|warning|"
    r"instruction|"
    r"wish|theory|version|opinion|myth|lie|joke|dream|proposal|idea|thesis|hypothesis|belief|suggestion|"
    r"assertion|"
    r"words?|guess|verdict|view|advice|graffiti|graffito|poster|banner|extraction|letter|e-?mail|comment|"
    r"review|label|following\s+(?:stored|recorded|noted|added|facts?|statements?|claims?|sentences?)|"
    r"question\s+it|wall|reader|text(?=\s+is))(?:\s+(?:is|was|ran|runs|reads?|said|says|went|"
    r"goes)(?:\s+\w+)?)?\s*:\s*(?=\S)",
    re.IGNORECASE,
)
# A building is built "according to plans by" somebody, and a census counts.
_ACCORDING = re.compile(
    r"(?<!\w)according\s+to\s+(?!the\s+following\b|(?:[\w'’.-]+\s+){0,4}?(?:census|statistics|"
    r"official\s+figures|measurements?|plans?|"
    r"designs?|drawings?|projects?|sketch(?:es)?|principles?|rules?|standards?|models?|style|specifications?|"
    r"instructions|wishes|customs?|patterns?|concepts?|"
    r"regulations?)\b)(?:[\w'’.-]+(?:\s+[\w'’.-]+){0,3}(?=\s*[,;.]))?",
    re.IGNORECASE,
)
_WORDS_ABOUT = r"(?:[^,;:.\"“”]{1,40}?\s)?"
_ASIDE = re.compile(
    rf"\s*(?!(?:which|who|whom|whose|that|and|but|where|as\s+well)\b){_WORDS_ABOUT}(?:{_BARE}|reported|"
    r"recalls?|explained|announced|it\s+seems|(?:it|so)\s+(?:is|was)\s+(?:said|claimed|believed|"
    r"thought|reported|rumou?red|alleged)|or\s+so\s+(?:\w+\s+){1,4})(?!\s+(?:to|by|for|on|in|at|as|"
    r"after)\b)(?:\s+(?:the\s+|an?\s+|its\s+|his\s+|her\s+)?"
    r"[\w'’ .-]{1,40})?\s*$"
)
_REST = re.compile(r"[^;.]*")
_SEGMENT = re.compile(r",\s*(?P<words>[^,]+?)\s*(?=,|$)")
_LEGEND = re.compile(
    r"[\"“‘'(]*(?:according\s+to|in)\s+(?:an?\s+|the\s+|local\s+|popular\s+|old\s+|one\s+)*(?:legends?|"
    r"myths?|folklore|"
    r"fairy\s+tales?|tales?|rumou?rs?)(?!\w)|[\"“‘'(]*(?:legend|rumou?r|folklore)\s+(?:has\s+it|says|goes)|"
    r"[\"“‘'(]*the\s+(?:legend|myth|story|tale|rumou?r)\s+(?:goes|is|runs|says|tells)(?!\w)",
    re.IGNORECASE,
)


def attributed(text: str, sentence: Span, mentions: Sequence[Span]) -> Reservation | None:
    """The words by which a claim about these mentions is somebody else's."""
    first, last = min(mentions), max(mentions, key=lambda mention: mention.end)
    end = max(sentence.end, last.end)
    if pretended := _PRETENDED.search(text, first.end, max(first.end, last.start)):
        return Reservation.of(ATTRIBUTED, pretended.group())
    before = text[sentence.start : first.start]
    if (sourced := _SOURCED.search(before)) and re.search(
        r"\b(?:in|to|at|with|on|near)\b", text[first.end : last.start]
    ):
        return Reservation.of(ATTRIBUTED, before[sourced.start() :])
    for pattern in (
        _THAT,
        _PASSIVE,
        _HEARSAY,
        _ADVERB,
        _ACCORDING,
        _BARE_CLAUSE,
        _SOURCE,
        _BY_SOME,
        _HEADED,
        _UNSURE,
        _CLAUSE_VERB,
    ):
        for match in pattern.finditer(text, sentence.start, last.start):
            cue = Span(match.start(), match.end())
            if is_name(text, sentence, cue.start, mentions) or not reaches(text, sentence, cue, last.start):
                continue
            if pattern is _CLAUSE_VERB and not _governs(text, sentence, match):
                continue
            if pattern is _HEADED and cue.end > first.start:
                continue
            if pattern is _BARE_CLAUSE and not _is_clause(text, cue, first, last):
                continue
            is_aside = pattern in (_ADVERB, _ACCORDING) and text[cue.end :].lstrip()[:1] == ","
            if is_aside or not _closes(text, cue, first, last, end):
                return Reservation.of(ATTRIBUTED, match.group())
    return _aside(text, first, last, end)


def _is_clause(text: str, cue: Span, first: Span, last: Span) -> bool:
    """Tell "claimed the hall was built" from "claimed the coast"."""
    if "," in text[cue.end : max(cue.end, first.start)]:
        return False
    return bool(_FINITE.search(text, cue.end, last.start)) or (first == last and cue.end <= last.start)


def _governs(text: str, sentence: Span, match: re.Match[str]) -> bool:
    """Tell "they learned that the hall ..." from "the hall that the city ..." and from what was found out."""
    opens = match.start() == sentence.start or not text[sentence.start : match.start()].strip("\"“‘'( ")
    before = match["before"].casefold()
    is_subject = before in _SUBJECTS or before.endswith("ly") or (opens and before not in {"the", "a", "an"})
    return is_subject and match["verb"] not in _FACTIVE


def _closes(text: str, cue: Span, first: Span, last: Span, end: int) -> bool:
    """Tell an aside between the mentions that is over before the verb: "said to be the oldest, opened in"."""
    if not (first.end <= cue.start and cue.end <= last.start) or "," not in text[first.end : cue.start]:
        return False
    comma = text.find(",", cue.end, last.start)
    return comma >= 0 and bool(
        re.match(rf"\s*(?:\w+ly\s+|also\s+|now\s+)?{FINITE}(?!\w)", text[comma + 1 : end])
    )


def _aside(text: str, first: Span, last: Span, end: int) -> Reservation | None:
    """The speaker named between commas or at the end: ", critics say, ", ", according to its owner."."""
    if first.end < last.start:
        for match in _SEGMENT.finditer(text[first.end : last.start]):
            if _ASIDE.match(match["words"]) and match.end() < last.start - first.end:
                return Reservation.of(ATTRIBUTED, match["words"])
    rest = _REST.match(text, last.end, end)
    after = rest.group() if rest else ""
    source = _ACCORDING.search(after)
    if source and not re.search(r",?\s(?:and|but|while)\s", after[: source.start()]):
        return Reservation.of(ATTRIBUTED, after[source.start() :])
    adverb = _ADVERB.search(after)
    if adverb and re.fullmatch(r"\s*,?\s*", after[: adverb.start()]):
        return Reservation.of(ATTRIBUTED, adverb.group())
    for match in _SEGMENT.finditer(after.rstrip(" \t\r\n\"'”’)!?")):
        if _ASIDE.match(match["words"]):
            return Reservation.of(ATTRIBUTED, match["words"])
    return None


def opens_legend(text: str, sentence: Span) -> Reservation | None:
    """A legend or a rumor that the sentences after it go on with."""
    match = _LEGEND.match(text, sentence.start, sentence.end)
    return Reservation.of(ATTRIBUTED, match.group()) if match else None
