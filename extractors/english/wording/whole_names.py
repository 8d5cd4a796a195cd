"""Whether words are a whole name: no description, no part of a longer one, no common word with a capital."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from extractors.english.coreference import OPENERS
from extractors.english.people import TITLES
from extractors.english.wording.phrases import OF_PLACES, Phrases
from extractors.english.wording.units import (
    crosses_lines,
    is_adjectival,
    is_adjective,
    is_indefinite,
)
from extractors.grounding.interpretation import Interpretation
from extractors.grounding.linking import Linker
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span
from ontology.terms import OntologyProperty

__all__ = ["WholeNames"]

_LONGEST_WORD: Final = 30
_PLACED = re.compile(
    r"(?:North|South|East|West)(?:east|west)? of [A-Z]|(?:Under|In|At|On|Near|From|Behind|Beside|Opposite|"
    r"Along|Inside|Before|After|Since) the [a-z]"
)
_NAME_FOLLOWS = re.compile(r" [A-Z]")
_PART = re.compile(r"[a-z]+ (?:[a-z]+ )*of ")
_OWNED = re.compile(r"(?!St\b|Saint\b).*\w['’]s? (?:[a-z][\w-]* ?)+$")
_STYLED = re.compile(r".*\b(?:[Ss]tyle|Revival|Deco|Nouveau) (?:[a-z][\w-]* ?)+$")
_AT: Final = 3
_SHAPED = re.compile(r"[\"'”’]?[ -]shaped\b")
_REACH: Final = 24
_HOUSE = re.compile(r"(?<![\w,.])(?<!\bin )(?<!\bby )(?<!\bof )\d+(?:[-–]\d+)?[A-Za-z]? $")


class WholeNames:
    """Looks at the names of one text."""

    def __init__(self, text: GroundedText, linker: Linker, phrases: Phrases) -> None:
        self._text = text
        self._linker = linker
        self._schema = linker.schema
        self._phrases = phrases

    def doubt(self, reading: Interpretation, term: OntologyProperty) -> str | None:
        """What speaks against the ends of a statement being whole names; None for nothing."""
        return self._described(reading, term) or self._cut(reading)

    def _described(self, reading: Interpretation, term: OntologyProperty) -> str | None:
        """Whether an end is only described, and not as what the relation leads to: "a Gothic hall"."""
        ends = [reading.said.triple.subject, *([reading.said.triple.object] if reading.names_object else [])]
        for words in ends:
            spans = self._text.occurrences(words)
            following = {self._schema.find_class(word) for s in spans for word in (words, self._after(s))}
            is_object = reading.names_object and words == ends[-1]
            led = any(kind is not None and kind.iri in term.ranges for kind in following)
            if is_object and led and not self.introduces(words, spans):
                continue
            if not is_object and (address := self._address(words, spans)) is not None:
                return address
            if spans and all(crosses_lines(self._text.text, span) for span in spans):
                return f'"{words}" runs over the end of a line, or is a key with its value.'
            if (description := self._description(words, spans)) is not None:
                return description
            if is_adjective(self._text.text, spans):
                return f'"{words}" says of what kind something is, and is no name.'
            if self._is_common(words):
                return f'"{words}" is a word of the ontology with a capital: it may be no name.'
            if is_object and words.split()[0].isdigit() and not self._is_of_year(words):
                return f'"{words}" opens with a number, as an address does.'
            if self._several(words, spans if is_object else ()):
                return f'"{words}" ends the names of several things.'
            if self._only_opens(words, spans):
                return f'"{words}" opens its sentence and is a word of the ontology: it may be no name.'
            if spans and all(is_indefinite(self._text.text, span) for span in spans):
                return f'"{words}" describes a thing and is no name.'
        return None

    def _description(self, words: str, spans: Sequence[Span]) -> str | None:
        """Why words are no name but a description with a name in it; None where they are none."""
        if self._linker.labels.exact(words):
            return None
        if _PLACED.match(words):
            return f'"{words}" opens with a preposition and is no name.'
        if self.introduces(words, spans):
            return f'"{words}" says what the name behind it is, and is no name.'
        if spans and all(_SHAPED.match(self._text.text, span.end) for span in spans):
            return f'"{words}" says what shape something has and is no name.'
        first, *rest = words.split()
        if is_adjectival(first) and len(rest) == 1 and rest[0].islower():
            return f'"{words}" describes something by a people and is no name.'
        if _STYLED.match(words):
            return f'"{words}" describes a thing by its style and is no name.'
        return f'"{words}" describes a thing by its owner and is no name.' if _OWNED.match(words) else None

    def introduces(self, words: str, spans: Sequence[Span]) -> bool:
        """Whether words describe the name behind them, or a part of a place: "Elm laureate Ada Stone"."""
        titled = words.split()[-1].islower() and " " in words.strip()
        kind = words.split()[-1] in OF_PLACES
        if titled and kind and spans and all(self._text.text.startswith(" of ", one.end) for one in spans):
            return True  # "Norton borough" of "the Norton borough of Weston"
        before = (
            titled and bool(spans) and all(_NAME_FOLLOWS.match(self._text.text, one.end) for one in spans)
        )
        return before or (_PART.match(words) is not None and words.split()[0] not in OF_PLACES)

    def _is_of_year(self, words: str) -> bool:
        """Whether a name opens with a year, and does not end as a street does: "1958 Elm Cup"."""
        year, *rest = words.split()
        return (
            len(year) == 4
            and year[0] in "12"
            and bool(rest)
            and not self._phrases.is_noun(rest[-1].casefold())
        )

    def _is_address(self, span: Span) -> bool:
        """Whether a number of a house stands before a name: "41 Elm Row", but not "in 1902 Elm Hall"."""
        before = _HOUSE.search(self._text.text, max(0, span.start - _REACH), span.start)
        return before is not None and self._phrases.is_noun(_words(self._text, span).split()[-1].casefold())

    def _address(self, words: str, spans: Sequence[Span]) -> str | None:
        """Why words are an address, or a part of one, wherever they occur; None where they are none."""
        if spans and all(self._is_at_house(words, span) for span in spans):
            return f'"{words}" is an address.'
        if spans and all(self._is_address(span) for span in spans):
            return f'"{words}" is a part of an address.'
        return None

    def _is_at_house(self, words: str, span: Span) -> bool:
        """Whether words are a house that something is at: "situated at 54 Elm Row"."""
        number, *rest = words.split()
        numbered = bool(rest) and number.isdigit() and self._phrases.is_noun(rest[-1].casefold())
        return numbered and self._text.text[max(0, span.start - _AT) : span.start].casefold() == "at "

    def _is_common(self, words: str) -> bool:
        """Whether words are a label of a class and no more: "Hall", "High School"."""
        kind = self._schema.find_class(words)
        said = words.strip().casefold()
        labels = () if kind is None else (kind.label, *kind.alternative_labels)
        bare = self._phrases.is_bare(said) or said in (text.casefold() for text in labels)
        return bare and not self._linker.labels.exact(words)

    def _several(self, words: str, spans: Sequence[Span]) -> bool:
        """Whether words name several things: "Ash suburbs", "Elm and Ash Streets"."""
        text = self._text.text
        last = words.split()[-1]
        small = last.islower() and last.endswith("s") and not last.endswith("ss") and " " in words.strip()
        listed = bool(spans) and all(text[: span.start].endswith(" and ") for span in spans)
        return small or (listed and self._phrases.is_plural(words))

    def _only_opens(self, words: str, spans: Sequence[Span]) -> bool:
        """Whether a common word has its capital only from opening a sentence: "Ground was broken in 2006"."""
        plain = " " not in words.strip() and self._phrases.has_word(words)
        return (
            plain
            and not self._linker.labels.exact(words)
            and bool(spans)
            and all(self._text.sentence_of(span).start == span.start for span in spans)
        )

    def _cut(self, reading: Interpretation) -> str | None:
        """Whether the subject is a part of a longer name wherever it occurs: "Stone" of "Stone & Co."."""
        subject = reading.said.triple.subject
        places = self._text.occurrences(subject)
        if not places or self._linker.labels.exact(subject):
            return None
        whole = self.whole(places)
        return None if whole is None else f'"{subject}" is a part of "{whole}".'

    def _after(self, span: Span) -> str:
        return (self._text.text[span.end : span.end + _LONGEST_WORD].split() or [""])[0].strip(".,;:")

    def whole(self, places: Sequence[Span]) -> str | None:
        """The longer name that a name is a part of wherever it occurs: "Norton" of "Norton Hill"."""
        found: Span | None = None
        for place in places:
            runs = self._text.capitalized_runs(self._text.sentence_of(place))
            found = next((run for run in runs if self.is_part({run}, place)), None)
            if found is None:
                return None
        return _words(self._text, found) if found is not None else None

    def is_part(self, names: Collection[Span], value: Span) -> bool:
        """Whether a name goes on beyond a value with capitalized words: "West 54th Street"."""
        text = self._text.text
        for span in names:
            if span.start <= value.start and value.end <= span.end:
                before, after = text[span.start : value.start].split(), text[value.end : span.end].split()
                rest = [word for word in before if not self.describes(word.casefold().strip("."))] + after
                if any(word[0].isupper() and word.casefold() != "the" for word in rest):
                    return True
        return False

    def describes(self, word: str) -> bool:
        """Whether a capital word before a name is none of it: "Architect Ada Stone", "Today Elm Hall"."""
        return word in TITLES or word in OPENERS or self._phrases.is_noun(word)


def _words(text: GroundedText, span: Span) -> str:
    return text.text[span.start : span.end]
