"""A sentence as units: names, numbers, words and marks, with what each is to its neighbors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from extractors.english.people import joined_runs, looks_like_person
from extractors.text.chunking import Span
from extractors.text.cleaning import LETTER, MARKS
from ontology.labels import stem, words

_TOKEN = re.compile(
    r"\[(?:\d{1,3}|[a-z]|note \d{1,3}|citation needed)\]|['’]s(?!\w)"
    rf"|{LETTER}+(?:[.,]\d+)*(?:['’]{LETTER}+)?|[^\w\s]"
)
_CAPITAL = r"[^\W\d_a-zß-öø-ÿ]"
_ABBREVIATED = rf"(?:(?<=\b{_CAPITAL})|(?<=\b{_CAPITAL}\w)|(?<=\b{_CAPITAL}\w\w))\.(?=\s{_CAPITAL})"
_PLURAL_OWNER = rf"(?<=s)['’](?=\s{_CAPITAL})"  # "Elm Girls' School"
_WORD = (
    rf"(?:{_CAPITAL}[\w{MARKS}'’]*(?<!['’]s)(?<!['’])(?:{_ABBREVIATED}|{_PLURAL_OWNER})?"
    r"|\d+(?:st|nd|rd|th))"
)
_SMALL = (
    r"(?:(?:of|de|du|del|della|delle|dei|degli|des|di|da|do|dos|la|le|el|las|los|the|von|van|der|den|ter|y)"
    r"\s+|l['’]|d['’]){0,2}"
)
_RUN = re.compile(
    rf"(?<!{LETTER})(?!The\s){_WORD}(?:[\s-]{_SMALL}{_WORD})*"
    rf"(?:(?:, {_WORD}){{0,3}},? & {_WORD}(?: {_WORD})*)?"
    r"(?:,? (?:Jr|Sr|Inc|Ltd|LLC|Corp|GmbH)\b\.?)?"
)
_PART_OF = re.compile(r"(?P<part>\S.*\s(?:Side|End|Quarter|Neighbou?rhood)) of (?P<whole>\S.*)")
_COUNT = (
    r"(?:an?|another|some|several|many|few|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\d+)"
)
_INDEFINITE = re.compile(
    rf"(?<!\w)(?i:{_COUNT})(?:\s+(?!(?:in|on|at|of|to|by|for|near|from|with|and|or|that|which|who|where)\b)"
    r"[a-z][\w-]*){0,2}\s+$"
)
_IS_A = re.compile(
    r"\b(?:is|was|became|become|becomes)\s+an?\s+(?:(?!(?:in|on|at|of|to|by|for|near|from|with)\b)[a-z][\w-]*\s+){0,2}$"
)
_COLON = re.compile(r"(?: [a-z]+){0,2}:\s")
_KEY = re.compile(r"[^\n:]{1,30}:\s|\s*\n")
_SHORTEST_WRAPPED: Final = 50
_REACH: Final = 40
_ADJECTIVE = re.compile(r"\b[Aa]n?\s+$")
_OPENING = re.compile(r"[ \t\r\n\"'“‘(]*+")
_ADJECTIVAL = re.compile(
    r"[A-Z]\w*(?:ican|ese|ish|ian|ench|utch|reek|erman|wiss|lean|rean|pean"
    r"|aelic|eltic|rabic|lavic|andic)"
)
_QUALIFIED = re.compile(r"(?:(?:,| and| or) [A-Z]\w+)*\s+(?!(?:and|or|in|on|at|of|to|by|for|is|was)\b)[a-z]")
_NOUN_FOLLOWS = re.compile(
    r"\s+(?!(?:and|or|in|on|at|of|to|by|for|is|was|has|had|that|which|who|with|from)\b)[a-z]"
)
_ARTICLE = re.compile(r"(?:the|an?)\s+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)")
_ADVERBS: Final = frozenset(
    """also now still first later soon once again today then originally only just never both already
    largely mostly mainly partly""".split()
)
AUXILIARIES: Final = frozenset(
    "is are was were be been being has have had having does did do will would can could may might".split()
)
PREPOSITIONS: Final = frozenset(
    """in on at of by for from to with near within inside into along between beside behind under over after
    before across around through against among about opposite outside above below beneath until since during
    as than without toward towards onto upon via per past off beyond underneath alongside atop""".split()
)


WORKS: Final = frozenset({"construction", "building", "work", "works"})
"""Nouns for what is done to a thing: "construction of the Elm Hall began"."""
_WORK_ON: Final = re.compile(rf"(?:{'|'.join(word.capitalize() for word in WORKS)}) (?:of|on) ")
_OPENERS: Final = PREPOSITIONS | {
    "nearby",
    "visit",
    "discover",
    "explore",
    "enjoy",
    "unlike",
    "despite",
    "like",
    "because",
    "while",
    "when",
    "where",
    "although",
    "if",
}
_DATED = re.compile(
    r"(?:.*\s)?(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"\w+day|Spring|Summer|Autumn|Fall|Winter) the "
)
_TIMES: Final = frozenset({"Then", "Today", "Now", "Later", "Here", "Once", "Originally", "See", "Meet"})
_ROLES: Final = frozenset(
    f"{role}{end}"
    for role in ("Architect", "Builder", "Designer", "Engineer", "Sculptor", "Owner", "Developer", "Artist")
    for end in ("", "s")
)
_NAMING_OPENERS: Final = frozenset({"Called", "Named", "Renamed", "Nicknamed", "Dubbed", "Christened"})
_NAMING: Final = frozenset(stem(word) for word in ("known", "called", "named"))


class Kind(Enum):
    """What a unit is."""

    NAME = "name"
    WORD = "word"
    MARK = "mark"


@dataclass(frozen=True, slots=True)
class Unit:
    """A name, which is one unit however many words it has, a word or number, or a punctuation mark.

    `text` is in lower case, `stem` what inflections of a word share.
    """

    kind: Kind
    text: str
    stem: str
    start: int
    end: int


def is_adverb(unit: Unit) -> bool:
    """Tell a word that may stand between the words of a label: "was also designed by"."""
    return unit.kind is Kind.WORD and (unit.text in _ADVERBS or unit.text.endswith("ly"))


def units_of(text: str, sentence: Span, names: Iterable[Span]) -> Sequence[Unit]:
    """Cut a sentence into units; `names` are spans of names and values, the longest of overlapping ones.

    The end of a line that is not wrapped, such as a heading, is a mark as between the cells of a table.
    """
    taken: list[Span] = []
    for name in sorted(names, key=lambda span: (span.start, -span.end)):
        inside = sentence.start <= name.start and name.end <= sentence.end
        if inside and (not taken or name.start >= taken[-1].end):
            taken.append(name)
    units = [_name(text, name) for name in taken]
    starts = [sentence.start, *(name.end for name in taken)]
    ends = [*(name.start for name in taken), sentence.end]
    for start, end in zip(starts, ends, strict=True):
        for match in _TOKEN.finditer(text, start, end):
            units += _words(match.group(), match.start())
    units += (
        Unit(Kind.MARK, "|", "", end, end + 1)
        for end in _line_ends(text, sentence)
        if not any(name.start <= end < name.end for name in taken)
    )
    return sorted(units, key=lambda unit: unit.start)


def spaced(text: str, unit: Unit) -> str:
    """The words of a unit as the text has them, with one blank between two."""
    return " ".join(text[unit.start : unit.end].split())


def outside(units: Sequence[Unit], at: int) -> tuple[Sequence[Unit], int]:
    """Leave out what is in brackets; return the new place of the unit at `at` as well.

    Brackets around that unit stay, and end what is returned: they belong to a name before them.
    """
    depth = 0
    kept: list[int] = []
    opened: list[int] = []
    for place, unit in enumerate(units):
        if unit.text == "(":
            opened.append(len(kept))
            depth += 1
        kept.append(place)
        if unit.text == ")" and depth:
            depth -= 1
            first = opened.pop()
            if at in kept[first:]:
                break
            del kept[first:]
    return [units[place] for place in kept], kept.index(at)


def with_past_names(units: Sequence[Unit]) -> Sequence[Unit]:
    """Read "was known as Stalinallee until 1961" as "was formerly known as": the name is no longer used."""
    for at, unit in enumerate(units):
        named = any(one.stem in _NAMING for one in units[at + 1 : at + 3])
        ends = (n for n in range(at + 2, min(at + 8, len(units) - 1)) if units[n].text in ("until", "before"))
        over = any(units[n - 1].kind is Kind.NAME and units[n + 1].text[0].isdigit() for n in ends)
        if unit.text in ("was", "were") and named and over:
            formerly = Unit(Kind.WORD, "formerly", stem("formerly"), unit.start, unit.end)
            return [*units[:at], formerly, *units[at + 1 :]]
    return units


def capitalized_runs(text: str, sentence: Span) -> Iterable[Span]:
    """The names that capitalized words inside a sentence are, and at its start those of several words.

    A preposition at the start is none of the name: "In Norton". "Lower East Side of Norton" is two
    names. One word after "a" and before a noun only describes it: "a Jesuit church".
    """
    return joined_runs(text, _runs(text, sentence))


def _runs(text: str, sentence: Span) -> Iterable[Span]:
    """The runs of capitalized words."""
    line = sentence.start  # Where the line of the run begins.
    for match in _runs_of_lines(text, sentence):
        line = text.rfind("\n", line, match.start()) + 1 or line
        described = _ADJECTIVE.search(text, max(sentence.start, match.start() - _REACH), match.start())
        if described and _NOUN_FOLLOWS.match(text, match.end(), sentence.end) and " " not in match.group():
            continue
        if _is_key(text, match):
            continue
        if _ORDINAL.fullmatch(match.group()) and _NOUN_FOLLOWS.match(text, match.end(), sentence.end):
            continue
        opens = _OPENING.fullmatch(text, line, match.start()) is not None
        word, _, rest = match.group().partition(" ")
        asks = word.casefold() in AUXILIARIES or word.endswith(("ed", "ing"))
        asks = asks and _ARTICLE.match(rest) is not None  # "Does the", "Nicknamed the"
        asks = asks or word in _NAMING_OPENERS or (word in _TIMES and rest.startswith("the "))
        if (dated := _DATED.match(match.group())) is not None:
            yield Span(match.start() + dated.end(), match.end())  # "Every June the Elm Fair"
        elif opens and rest and (asks or word.casefold() in _OPENERS):
            yield from _parts(match.end() - len(_without_article(rest)), match.end(), text)
        elif rest and (_ADJECTIVAL.fullmatch(word) or (opens and word in _ROLES)) and looks_like_person(rest):
            yield Span(match.end() - len(rest), match.end())  # "the Italian Ada Stone"
        elif opens and (work := _WORK_ON.match(match.group())) is not None:
            yield Span(match.end() - len(_without_article(match.group()[work.end() :])), match.end())
        elif (of_place := _person_of_place(match.group())) is not None:
            yield Span(match.start(), match.start() + of_place)
            yield Span(match.start() + of_place + len(" of "), match.end())
        elif (part := _PART_OF.match(match.group())) is not None:
            yield Span(match.start(), match.start() + part.end("part"))
            yield Span(match.start() + part.start("whole"), match.end())
        elif not opens or rest:
            yield Span(match.start(), match.end())


def _without_article(words: str) -> str:
    article = _ARTICLE.match(words)
    return words[article.end() :] if article is not None else words


def _parts(start: int, end: int, text: str) -> Iterable[Span]:
    """The names behind an opening preposition: "In Norton the Elm Line" has two."""
    place, the, _ = text[start:end].partition(" the ")
    if the:
        yield Span(start, start + len(place))
    yield Span(start + len(place) + len(the) if the else start, end)


def _person_of_place(words: str) -> int | None:
    """Where the name of a person ends before that of a place: "Ada Stone of Norton"; None for other names."""
    person, of, place = words.partition(" of ")
    named = bool(of) and " " in person and " " not in place and looks_like_person(person)
    return len(person) if named else None


def _is_key(text: str, match: re.Match[str]) -> bool:
    """Whether a word opens the key of a line or an entry: "Owner: Oak Trust", "Floor area: 40 acres"."""
    at = match.start()
    while at and text[at - 1] in " \t":
        at -= 1
    opens = not at or text[at - 1] in "\n|•*(;"
    return opens and " " not in match.group() and _COLON.match(text, match.end()) is not None


def _runs_of_lines(text: str, sentence: Span) -> Iterable[re.Match[str]]:
    """The runs, cut where a line ends that is not wrapped: a heading, an entry of a list."""
    start = sentence.start
    for end in _line_ends(text, sentence):
        yield from _RUN.finditer(text, start, end)
        start = end
    yield from _RUN.finditer(text, start, sentence.end)


def _line_ends(text: str, sentence: Span) -> Iterable[int]:
    """Where a line of a sentence ends that is not wrapped."""
    for end in range(sentence.start, sentence.end):
        if text[end] == "\n":
            line = text[text.rfind("\n", 0, end) + 1 : end]
            if len(line) < _SHORTEST_WRAPPED or _KEY.match(text, end + 1):
                yield end


def crosses_lines(text: str, name: Span) -> bool:
    """Tell words that are no name: a line that is not wrapped ends in them, or a key and its value are."""
    return any(True for _ in _line_ends(text, name)) or ": " in text[name.start : name.end]


def is_indefinite(text: str, span: Span) -> bool:
    """Tell a description after "a" or a number: "a Jesuit church", "five former Zeppelin" of "hangars".

    What "is a" leads to is one with capitals, too: "is an auxiliary Interstate Highway".
    """
    before = max(0, span.start - _REACH)
    if _IS_A.search(text, before, span.start) is not None:
        return True
    small = text[span.start : span.end].split()[-1].islower() or _NOUN_FOLLOWS.match(text, span.end)
    return bool(small) and _INDEFINITE.search(text, before, span.start) is not None


def is_adjectival(word: str) -> bool:
    """Whether a word is that of a people: "German"."""
    return _ADJECTIVAL.fullmatch(word) is not None


def is_adjective(text: str, spans: Sequence[Span]) -> bool:
    """Tell a word of a people before a noun wherever it occurs: "serving American food"."""
    alone = [span for span in spans if not re.match(r" [A-Z]", text[span.end : span.end + 2])]
    words = [_ADJECTIVAL.fullmatch(text[span.start : span.end]) for span in alone]
    return bool(alone) and all(words) and all(_QUALIFIED.match(text, span.end) for span in alone)


def _name(text: str, span: Span) -> Unit:
    return Unit(Kind.NAME, text[span.start : span.end].casefold(), "", span.start, span.end)


def _words(token: str, start: int) -> Iterable[Unit]:
    end = start + len(token)
    if token[0] == "[" and len(token) > 1:
        return  # the mark of a footnote
    if not (token[0].isalnum() or token[0] == "_"):
        yield Unit(Kind.MARK, token.replace("’", "'"), "", start, end)
        return
    for mark in ("'s", "’s"):
        if token.endswith(mark):
            yield _word(token[:-2], start, end - 2)
            yield Unit(Kind.MARK, "'s", "", end - 2, end)
            return
    yield _word(token, start, end)


def _word(token: str, start: int, end: int) -> Unit:
    plain = " ".join(words(token)) or token.casefold()
    return Unit(Kind.WORD, plain, stem(plain), start, end)
