"""Claims of others: what critics, legends, rumors, mayors and brochures say, which the text only reports."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from extractors.english.clauses.clause_bounds import FINITE, NOUN_PHRASE, is_name, reaches
from extractors.reservations import Reservation
from extractors.text.chunking import Span

__all__ = ["ATTRIBUTED", "attributed", "opens_legend"]

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
    """.split()  # noqa: SIM905
)
_FACTIVE: Final = frozenset(
    """
    show shows showed shown confirm confirms confirmed prove proves proved proven reveal reveals
    revealed find finds found discover discovers discovered demonstrate demonstrates demonstrated
    establish establishes established know knows knew known mean means meant fact such ensure
    ensures ensured make makes made see saw seen after before given now provided except considering
    result indicate indicates indicated recognize recognized regret regrets true clear built opened
    designed named called one those all only same day year time place being than like
    """.split()  # noqa: SIM905
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
