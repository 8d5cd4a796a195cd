"""What a sentence is about, so that "it" and "the museum" at the start of the next one can be read.

A paragraph goes on about its subject: after "Elm Hall is run by Oak Trust" it is not the trust of which
"It opened in 1901" speaks. Where no name opens a sentence its topic is left open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from typing import Final

from extractors.english.descriptions import OTHERS
from extractors.english.people import looks_like_person
from extractors.english.phrases import Phrases
from extractors.english.units import AUXILIARIES, PREPOSITIONS, Kind, Unit, is_adverb
from extractors.grounding.entities import name_key
from extractors.grounding.mentions import GroundedText
from extractors.text.chunking import Span

_THINGS: Final = frozenset({"it", "its"})
_PRESENTING: Final = frozenset("nearby next here there opposite behind beyond close also across".split())
_STANDING: Final = frozenset("is was stands stood lies lay rises sits".split())
_LONGEST_PLACE: Final = 5
_DEFINITE: Final = frozenset("the this that it he she they".split())
_OBJECTS: Final = frozenset("the a an it its this and".split())
_GAP = re.compile(r"\n[ \t\r]*\n")
_BULLETS: Final = frozenset('"“-•*·–—>')
_BEFORE_CLAUSES: Final = (
    "and but that when where while as if because until since which what before after than"
)
IT: Final = re.compile(rf"(?<=[a-z] ){''.join(f'(?<! {word} )' for word in _BEFORE_CLAUSES.split())}it(?!\w)")
"""The word as an object: no clause begins with it."""
_STOPS: Final = frozenset("airport airfield station port harbor harbour".split())
_LONGEST_NOUN: Final = 3
_SENTENCES_BACK: Final = 3

UnitsOf = Callable[[Span], Sequence[Unit]]
Suits = Callable[[str, str], bool]
"""Whether a noun ("museum") can describe a name, or does so in the text."""


class Topics:
    """The topics of one text's sentences, each found once."""

    def __init__(
        self, text: GroundedText, units: UnitsOf, suits: Suits, is_called: Suits, phrases: Phrases
    ) -> None:
        self._text = text
        self._units = units
        self._suits = suits
        self._is_called = is_called
        self._phrases = phrases
        self._found: dict[int, str | None] = {}

    def before(self, sentence: Span) -> str | None:
        """What "it" at the start of a sentence stands for; None where that is open."""
        at = next((n for n, one in enumerate(self._text.sentences) if one.start == sentence.start), 0)
        while at and not _GAP.search(
            self._text.text, self._text.sentences[at - 1].end, self._text.sentences[at].start
        ):
            at -= 1
            topic = self._topic(at)
            if topic is None or not looks_like_person(topic):
                return topic  # "it" is no person
        return None

    def may_be(self, sentence: Span, is_subject: Callable[[Unit], bool]) -> bool:
        """Whether "it" at the start of a sentence can be a name, of which the sentence before says something.

        It can not where that is about another thing, nor where that has the name only as a complement.
        """
        at = next((n for n, one in enumerate(self._text.sentences) if one.start == sentence.start), 0)
        if at == 0:
            return True
        topic, units = self.before(sentence), self._units(self._text.sentences[at - 1])
        if units and is_subject(units[0]) and (self._has_made(units) or _is_served(units, 1)):
            return False  # "Ada Stone founded the firm in 1868. It"
        if topic is not None:
            return is_subject(Unit(Kind.NAME, topic.casefold(), "", 0, 0))
        names = [n for n, unit in enumerate(units) if unit.kind is Kind.NAME]
        described = next((unit.text for unit in units if unit.kind is not Kind.MARK), "") in _DEFINITE
        free = [n for n in names if not _is_complement(units, n)]
        mine = [n for n in names if is_subject(units[n])]
        return not (mine and (free or described) and not set(mine) & set(free))

    def is_apart(self, sentence: Span, name: str, units: Sequence[Unit], noun: Sequence[str]) -> bool:
        """Whether a sentence that opens with a noun or with "they" is about other things than a name.

        The text has the name only after it, and no word of that noun; or "they" are none of the sentence
        before: "Three hotels are still open. They are in Norton".
        """
        at = next((n for n, one in enumerate(self._text.sentences) if one.start == sentence.start), 0)
        first = next(iter(self._text.occurrences(name)), None)
        named = any(name_key(word) in name_key(name).split() for word in noun)
        if first is not None and first.start >= sentence.end and not named:
            return True
        several = at > 0 and bool(units) and units[0].text == "they"
        return several and not self._text.occurrences(name, self._text.sentences[at - 1])

    def of(self, sentence: Span) -> str | None:
        """What a sentence is about; None where that is open."""
        at = next((n for n, one in enumerate(self._text.sentences) if one.start == sentence.start), None)
        return None if at is None else self._topic(at)

    def of_text(self, sentence: Span) -> str | None:
        """What a list in a text is about.

        The heading of its paragraph, else the one topic of all sentences before it, else that of the title.
        """
        at = next((n for n, one in enumerate(self._text.sentences) if one.start == sentence.start), 0)
        if (heading := self._heading(at)) is not None:
            return heading
        found = {topic for before in range(at) if (topic := self._topic(before)) is not None}
        if len(found) == 1:
            return next(iter(found))
        return self._topic(0) if at and self._is_title(self._text.sentences[0]) else None

    def _heading(self, at: int) -> str | None:
        """The name that stands alone in the line above a list, in the paragraph of a sentence."""
        sentences = self._text.sentences
        while at and not _GAP.search(self._text.text, sentences[at - 1].end, sentences[at].start):
            at -= 1
        units = self._units(sentences[at])
        alone = len(units) > 1 and units[0].kind is Kind.NAME and units[1].text == "|"
        return self._text.text[units[0].start : units[0].end] if alone else None

    def _is_title(self, line: Span) -> bool:
        """Whether a line stands by itself and says nothing: no full stop ends it, and no verb is in it."""
        verbs = any(unit.text in AUXILIARIES for unit in self._units(line))
        words = self._text.text[line.start : line.end]
        return self._text.text[line.end : line.end + 1] == "\n" and not (
            verbs or "\n" in words or words[-1] in ".!?"
        )

    def recent(self, sentence: Span) -> Sequence[str]:
        """What the text is about before a sentence: the topics of its paragraph, and what opens the text.

        Where the topic of the sentence before is open, it may be any of the things that it names.
        """
        at = next((n for n, one in enumerate(self._text.sentences) if one.start == sentence.start), 0)
        found: list[str] = []
        for before in range(at - 1, -1, -1):
            here = self._text.sentences[before]
            if _GAP.search(self._text.text, here.end, self._text.sentences[before + 1].start):
                break
            topic = self._topic(before)
            found += [topic] if topic is not None else self._free(here) if before == at - 1 else []
        opening = self._units(self._text.sentences[0]) if at else ()
        names = [unit for unit in opening if unit.kind is Kind.NAME]
        first = names[:1] + [unit for unit in names[1:] if self._opens_line(unit)]
        return [*found, *(self._text.text[unit.start : unit.end] for unit in first)]

    def _opens_line(self, unit: Unit) -> bool:
        """Whether a name stands first in its line, behind a heading."""
        line = self._text.text.rfind("\n", 0, unit.start) + 1
        return line > 0 and self._text.text[line : unit.start].strip().casefold() in ("", "the")

    def _free(self, sentence: Span) -> Sequence[str]:
        """The names of a sentence that do not only say where or by whom."""
        units = self._units(sentence)
        free = [n for n, one in enumerate(units) if one.kind is Kind.NAME and not _is_complement(units, n)]
        return [self._text.text[units[n].start : units[n].end] for n in free]

    def described(self, sentence: Span, noun: str) -> str | None:
        """The one topic of the sentences before that a noun can describe: "the museum".

        One name in them that has the noun itself goes before, unless the text calls the topic so; of several
        it may be any.
        """
        if noun.split()[0] in OTHERS:
            return None
        at = next((n for n, one in enumerate(self._text.sentences) if one.start == sentence.start), 0)
        places = range(at - 1, max(-1, at - 1 - _SENTENCES_BACK), -1)
        topics = [topic for before in places if (topic := self._topic(before)) is not None]
        called = [topic for topic in topics if self._suits(noun, topic) and _has(topic, noun)]
        named = [name for before in places for name in self._named(self._text.sentences[before], noun)]
        suiting = [topic for topic in topics if self._suits(noun, topic)]
        called = called or [topic for topic in topics if self._is_called(noun, topic)]
        own = named if len(set(named)) == 1 else ()
        return next(iter(called or own or suiting), None)

    def _named(self, sentence: Span, noun: str) -> Sequence[str]:
        """The names of a sentence that a noun is the head of: "Norton Academy" for "the academy"."""
        units = {unit.text: unit for unit in self._units(sentence) if unit.kind is Kind.NAME}
        found = [self._text.text[unit.start : unit.end] for unit in units.values()]
        return [name for name in found if _has(name, noun) and self._suits(noun, name)]

    def _topic(self, at: int) -> str | None:
        if at not in self._found:
            self._found[at] = None
            self._found[at] = self._find(at)
        return self._found[at]

    def _find(self, at: int) -> str | None:
        sentence = self._text.sentences[at]
        units: Sequence[Unit] = [unit for unit in self._units(sentence) if unit.text not in _BULLETS]
        if at == 0 and self._is_title(sentence):
            if self._text.text[sentence.start : sentence.end].isupper():
                return None  # which of its words are a name no capital says
            units = _after_colon(units)
        if (made := self._made(units)) is not None:
            return self._text.text[made.start : made.end]
        place = 0
        while place < len(units) and is_adverb(units[place]):
            place += 1
        if place >= len(units):
            return None
        first = units[place]
        if (shown := _presented(units[place:])) is not None:
            return self._text.text[shown.start : shown.end]
        if first.text in _THINGS:
            return self.before(sentence)
        if first.text in ("the", "this") and place + 1 < len(units):
            if units[place + 1].kind is not Kind.NAME:
                return self._noun(sentence, units, place + 1)
            first = units[place + 1]
        at_name = units.index(first)
        owns = at_name + 1 < len(units) and units[at_name + 1].text == "'s"
        if (
            first.kind is not Kind.NAME
            or owns
            or _is_listed(units, at_name)
            or self._makes(units, at_name + 1)
            or _is_served(units, at_name + 1)
        ):
            return None
        end = self._noun_end(units, at_name)
        return self._text.text[first.start : end]

    def _noun_end(self, units: Sequence[Unit], at: int) -> int:
        """Where a name ends, with a common noun that is a part of it: "Ash station opened"."""
        follows = units[at + 1 : at + 3]
        if follows and follows[0].text.isdigit() and follows[0].start == units[at].end + 1:
            return follows[0].end  # "Line 3"
        if len(follows) < 2 or not self._phrases.is_kind(follows[0]) or follows[0].text.endswith("s"):
            return units[at].end
        verb = (
            follows[1].text in AUXILIARIES or follows[1].text.endswith("ed") or follows[1].kind is Kind.MARK
        )
        return follows[0].end if verb else units[at].end

    def _made(self, units: Sequence[Unit]) -> Unit | None:
        """What somebody made whom a pronoun stands for: "In 1934 she also built the Elm Ballroom"."""
        at = next((n for n, unit in enumerate(units) if unit.text in ("he", "she")), len(units)) + 1
        while at < len(units) and (is_adverb(units[at]) or units[at].text in ("has", "had")):
            at += 1
        past = at + 2 < len(units) and units[at].text.endswith(("ed", "built"))
        if not past or not self._phrases.is_converse(units[at]):
            return None
        thing = units[at + 1 + (units[at + 1].text == "the")]
        return thing if thing.kind is Kind.NAME else None

    def _has_made(self, units: Sequence[Unit]) -> bool:
        """Whether a sentence says what its first name made, in the past."""
        return self._makes(units, 1) and units[1].text.endswith(("ed", "built"))

    def _makes(self, units: Sequence[Unit], at: int) -> bool:
        """Whether a verb makes or owns a thing that may be meant next: "Ada Stone founded the firm"."""
        while at < len(units) and (is_adverb(units[at]) or units[at].text in ("has", "had", ".")):
            at += 1
        if at + 1 >= len(units) or not self._phrases.is_converse(units[at]):
            return False
        follows = units[at + 1]
        return follows.kind is Kind.NAME or follows.text in _OBJECTS

    def _noun(self, sentence: Span, units: Sequence[Unit], place: int) -> str | None:
        words: list[str] = []
        for unit in units[place : place + _LONGEST_NOUN]:
            if unit.kind is not Kind.WORD or unit.text in AUXILIARIES | PREPOSITIONS or is_adverb(unit):
                break
            words.append(unit.text)
        found = (self.described(sentence, " ".join(words[:n])) for n in range(len(words), 0, -1))
        return next((one for one in found if one is not None), None)


def _after_colon(units: Sequence[Unit]) -> Sequence[Unit]:
    """The last part of a title, where that is a name: "Walk, stop 4: Elm Hall"."""
    last = max((n for n, unit in enumerate(units) if unit.text == ":"), default=-1)
    rest = [unit for unit in units[last + 1 :] if unit.text != "the"]
    return rest if [unit.kind for unit in rest] == [Kind.NAME] else units


def _is_served(units: Sequence[Unit], at: int) -> bool:
    """Whether a town is reached by a thing that may be meant next: "Norton is served by Ash Airport"."""
    while at < len(units) and (is_adverb(units[at]) or units[at].text in AUXILIARIES):
        at += 1
    by = [unit for unit in units[at : at + 4] if unit.text != "the"]
    led = [unit.text for unit in by[:2]] in (["served", "by"], ["reached", "by"])
    return led and len(by) > 2 and by[2].text.split()[-1] in _STOPS


def _has(name: str, noun: str) -> bool:
    return noun.casefold() in name.casefold().split()


def _presented(units: Sequence[Unit]) -> Unit | None:
    """The name that an inverted sentence is about: "Nearby is the Elm Arena", "Next door stands Elm Hall"."""
    for at, unit in enumerate(units[:_LONGEST_PLACE]):
        if unit.kind is Kind.MARK or (at == 0 and unit.text not in _PRESENTING | PREPOSITIONS):
            return None
        if at and unit.text in _STANDING:
            rest = [one for one in units[at + 1 : at + 3] if one.text != "the"]
            return rest[0] if rest and rest[0].kind is Kind.NAME else None
    return None


def complemented(units: Sequence[Unit], anchor: int, subjects: Collection[int]) -> str | None:
    """The noun that opens a clause where the subject only says where: "the gate on Elm Street"."""
    for at in subjects:
        here = at - 1
        while here > 0 and units[here].text in ("the", "a", "an"):
            here -= 1
        if at >= anchor or here < 1 or units[here].text not in PREPOSITIONS:
            continue
        noun = here - 1
        if units[noun].text == ",":
            noun -= 1
            here -= 1
        while noun > 0 and units[noun].kind is Kind.WORD and units[noun].text not in ("the", "its", "their"):
            if units[noun].text in AUXILIARIES | PREPOSITIONS:
                break
            noun -= 1
        opens = noun == 0 or units[noun - 1].text in (".", ";", "and", ",")
        after = _past_aside(units, at + 1)
        verb = units[after].text in AUXILIARIES if after < len(units) else False
        verb = verb or after == anchor
        if noun < here - 1 and opens and verb and units[noun].text in ("the", "its", "their"):
            plain = units[anchor].text not in PREPOSITIONS
            return units[here - 1].text if plain else None
    return None


def _past_aside(units: Sequence[Unit], at: int) -> int:
    """The place behind what is said between commas: "at Elm Place, with its clock tower, was"."""
    if at >= len(units) or units[at].text != ",":
        return at
    closed = (n for n in range(at + 1, len(units)) if units[n].text == ",")
    first = next(closed, None)
    if first is None or any(unit.text in AUXILIARIES for unit in units[at:first]):
        return at + 1 if at + 1 < len(units) and units[at + 1].text in AUXILIARIES else at
    return first + 1


def _is_listed(units: Sequence[Unit], at: int) -> bool:
    """Whether the subject is several names, of which "it" is none: "Ada Stone and Jo Reed"."""
    follows = units[at + 1 : at + 3]
    return len(follows) > 1 and follows[0].text in ("and", "&") and follows[1].kind is Kind.NAME


def _is_complement(units: Sequence[Unit], at: int) -> bool:
    here = at - 1
    while here >= 0 and units[here].text in ("the", "a", "an"):
        here -= 1
    return here >= 0 and units[here].text in PREPOSITIONS
