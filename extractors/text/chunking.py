"""Cutting a text into sentences and into the chunks that a model reads at once.

Everything is a span of code points in the text as posted, end exclusive; nothing is copied or changed.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

_CHARACTERS_PER_WORD = 12
_LOOK_BACK = 40
_LONGEST_LEAD = 40
_LONGEST_SENTENCE = 2000
_CUTS = ("\n", "\t", ", ", " ")
"""Where a sentence that is too long is cut, the better places first."""

_PARAGRAPH = re.compile(r"\n[ \t\r]*+\n\s*+|\n(?=[ \t]*(?:[-*•·–—]|>+|\d+[.)])[ \t])")
_NOTES = r"(?:\[(?:\d{1,3}|[a-z]|note\ \d{1,3}|citation\ needed)\])*+"
_END = re.compile(
    r"""(?<![.!?…])(?P<mark>[.!?…]++[")\]'’”»]*+)"""
    + _NOTES
    + r"""(?P<gap>\s++)["'“‘«(\[]*+(?P<next>\w++)|(?P<wide>[。！？])"""
)
_LAST_WORD = re.compile(r"[^\s(\[\"“‘]+$")
_ABBREVIATIONS = (
    "st ste mt ft ave av blvd rd dr sq pl hwy pkwy bldg apt mr mrs ms messrs prof rev fr hon gen col maj "
    "capt cmdr adm lt sgt gov sen rep pres supt dept univ jr sr inc ltd co corp bros assn assoc no nos vs "
    "etc eg ie cf ca c approx est b d fl jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu "
    "fri sat sun am pm ne nw se sw vol pp p fig ed eds"
)
# What may follow an abbreviation only when it ended its sentence.
_OPENERS = (
    "the it its in a an this that these those he she they we his her their there here on at by for from "
    "after before during then when while as since until although though however both today later some many "
    "most each every if between with within according under over all another other such"
)
_ABBREVIATION, _OPENER = frozenset(_ABBREVIATIONS.split()), frozenset(_OPENERS.split())


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A stretch of a text in code points, end exclusive."""

    start: int
    end: int


class SpanIndex:
    """Spans of a text, found by the part of it in which they begin."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.all = frozenset(spans)
        self._ordered = sorted(self.all)

    def __iter__(self) -> Iterator[Span]:
        return iter(self.all)

    def beginning_in(self, part: Span) -> Sequence[Span]:
        """Return those that begin in a part, in order."""
        first = bisect_left(self._ordered, Span(part.start, 0))
        return self._ordered[first : bisect_left(self._ordered, Span(part.end, 0))]


@dataclass(frozen=True, slots=True)
class Chunk:
    """What a model is shown at once, and the sentence that opened its paragraph when that came before.

    Paragraphs open with what they are about, and go on with "it": the lead says what "it" is.
    """

    start: int
    end: int
    lead: Span | None = None


@dataclass(frozen=True, slots=True)
class ChunkSize:
    """How much text a model is shown at once; both limits hold."""

    sentences: int
    words: int


def sentences(text: str) -> tuple[Span, ...]:
    """Return the sentences of a text in order, without the white space around them.

    Abbreviations (St., No., U.S.) and initials end a sentence only before a word that opens one. Marks of
    footnotes may follow the stop: "in 1901.[4] It". What goes on for more than 2,000 characters without an
    end is no sentence but a list or a table: it is cut at lines, tabs, commas or blanks.
    """
    return tuple(sentence for paragraph in _paragraphs(text) for sentence in paragraph)


def chunks(text: str, size: ChunkSize) -> tuple[Chunk, ...]:
    """Return the chunks that together hold every sentence once, in order.

    Whole paragraphs stay together where they fit; a sentence longer than a chunk is cut between words.
    """
    found: list[Chunk] = []
    held: list[Span] = []
    lead: Span | None = None
    for paragraph in _paragraphs(text):
        pieces = [piece for sentence in paragraph for piece in _cut(text, sentence, size)]
        if held and not _fits(text, [*held, *pieces], size):
            found.append(_chunk(held, lead))
            held, lead = [], None
        for piece in pieces:
            if held and not _fits(text, [*held, piece], size):
                found.append(_chunk(held, lead))
                held, lead = [], paragraph[0] if _words(text, paragraph[0]) <= _LONGEST_LEAD else None
            held.append(piece)
    if held:
        found.append(_chunk(held, lead))
    return tuple(found)


def _paragraphs(text: str) -> Iterator[list[Span]]:
    start = 0
    for gap in [*_PARAGRAPH.finditer(text), None]:
        end = gap.start() if gap else len(text)
        if found := list(_sentences_within(text, start, end)):
            yield found
        start = gap.end() if gap else end


def _sentences_within(text: str, start: int, end: int) -> Iterator[Span]:
    position = start
    while match := _END.search(text, position, end):
        position = match.end("wide") if match["wide"] else match.start("gap")
        if match["wide"] or _ends_sentence(
            text[max(start, match.start() - _LOOK_BACK) : match.start()], match["mark"], match["next"]
        ):
            yield from _stripped(text, start, position)
            start = position
    yield from _stripped(text, start, end)


def _ends_sentence(before: str, mark: str, following: str) -> bool:
    if following[0].islower():
        return False
    if mark != ".":
        return True
    last = _LAST_WORD.search(before)
    if last is None:
        return True
    word = re.split(r"[-–—/]", last.group())[-1] or last.group()
    opens = following.casefold() in _OPENER
    if word.casefold().replace(".", "") in _ABBREVIATION:
        return opens
    is_initial = len(word) == 1 and word.isupper()
    is_dotted = "." in word and all(len(part) <= 2 for part in word.split("."))  # U.S, N.Y, J.P
    return opens if is_initial or is_dotted else True


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > _LONGEST_SENTENCE:
        places = (text.rfind(cut, start + 1, start + _LONGEST_SENTENCE) for cut in _CUTS)
        cut = next((place for place in places if place > 0), start + _LONGEST_SENTENCE - 1) + 1
        yield from _stripped(text, start, cut)
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield Span(start, end)


def _cut(text: str, sentence: Span, size: ChunkSize) -> Iterable[Span]:
    longest = size.words * _CHARACTERS_PER_WORD
    words = [
        Span(begin, min(begin + longest, sentence.start + word.end()))
        for word in re.finditer(r"\S+", text[sentence.start : sentence.end])
        for begin in range(sentence.start + word.start(), sentence.start + word.end(), longest)
    ]
    first = 0
    for index in range(1, len(words) + 1):
        full = index - first == size.words
        if index == len(words) or full or words[index].end - words[first].start > longest:
            yield Span(words[first].start, words[index - 1].end)
            first = index


def _fits(text: str, spans: Sequence[Span], size: ChunkSize) -> bool:
    if len(spans) > size.sentences:
        return False
    if spans[-1].end - spans[0].start > size.words * _CHARACTERS_PER_WORD:
        return False
    return sum(_words(text, span) for span in spans) <= size.words


def _words(text: str, span: Span) -> int:
    by_length = (span.end - span.start) // _CHARACTERS_PER_WORD
    return max(len(text[span.start : span.end].split()), by_length)


def _chunk(spans: Sequence[Span], lead: Span | None) -> Chunk:
    return Chunk(spans[0].start, spans[-1].end, lead)
