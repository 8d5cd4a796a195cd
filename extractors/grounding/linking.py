"""The one linker: from a name in words to the entity of the graph that it names.

Extraction, asking and entity resolution share it, over one label index that is handed in as the
`Labels` Protocol. It prefers no answer to a wrong one: a name that fits two entities equally well is
reported as ambiguous, a near match counts only when it is the only one of the right class, and nothing
is ever linked across classes that the ontology declares disjoint.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from pyoxigraph import NamedNode

from extractors.text.cleaning import LETTER
from geo.remembered import remembered
from ontology.schema import Schema

_WORD = re.compile(rf"\w{LETTER}*(?:['’ʼ]\w{LETTER}*)*|&")
_POSSESSIVE = re.compile(r"['’ʼ][sS]$")
_APOSTROPHES = re.compile(r"['’ʼ]")
_UNDECOMPOSED = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "ı": "i"}
)


@dataclass(frozen=True, slots=True)
class LabelEntry:
    """One label of one entity; `main`: a main label, not an alias."""

    iri: NamedNode
    label: str
    main: bool
    classes: frozenset[NamedNode]


class Labels(Protocol):
    """What the linker and the planner need to know about the names in the graph."""

    def exact(self, words: str) -> Sequence[LabelEntry]:
        """Return the entries whose label or alias equals the words after `normalize`."""

    def similar(self, words: str, limit: int) -> Sequence[tuple[LabelEntry, float]]:
        """Return at most `limit` entries by trigram similarity (0 to 1), best first."""

    def mentions(
        self, text: str, *, any_case: bool = False
    ) -> Sequence[tuple[int, int, Sequence[LabelEntry]]]:
        """Return the longest labels found inside the text, as code-point spans that do not overlap.

        Capitalized labels are found where the text capitalizes them, or anywhere with `any_case`.
        """


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: its normal form and its span in code points, end exclusive."""

    text: str
    start: int
    end: int


def words_of(text: str) -> Iterator[Word]:
    """Yield the words of a text in normal form: case, diacritics and apostrophes removed."""
    for match in _WORD.finditer(text):
        yield Word(_fold(match.group()), match.start(), match.end())


def without_possessive(text: str, word: Word) -> Word | None:
    """Return the word without its "'s", or None when it has none."""
    raw = text[word.start : word.end]
    match = _POSSESSIVE.search(raw)
    return Word(_fold(raw[: match.start()]), word.start, word.start + match.start()) if match else None


@remembered((100, 8000))
def normalize(words: str) -> str:
    """Return the form under which names are compared: words in normal form, no leading "the"."""
    parts = [_fold(match.group()) for match in _WORD.finditer(words)]
    if len(parts) > 1 and parts[0] == "the":
        parts = parts[1:]
    return " ".join(parts)


def _fold(word: str) -> str:
    if word.isascii():
        return "and" if word == "&" else word.replace("'", "").lower()
    folded = _APOSTROPHES.sub("", word).casefold().translate(_UNDECOMPOSED)
    return "".join(c for c in unicodedata.normalize("NFKD", folded) if not "\u0300" <= c <= "\u036f")


class LinkReason(StrEnum):
    """Why a link is what it is."""

    LABEL = "label"
    ALIAS = "alias"
    NEAR = "near"
    AMBIGUOUS = "ambiguous"
    WRONG_CLASS = "wrong class"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Link:
    """What a name was linked to; `iri` is None when it is ambiguous, of a wrong class or unknown.

    `alternatives` are the entries that were considered and not taken, best first.
    """

    name: str
    iri: NamedNode | None
    score: float
    reason: LinkReason
    entry: LabelEntry | None = None
    alternatives: tuple[LabelEntry, ...] = ()

    @property
    def message(self) -> str:
        """Say in one sentence how the name was understood, and what to do when it was not."""
        others = ", ".join(dict.fromkeys(f"{entry.label} <{entry.iri.value}>" for entry in self.alternatives))
        match self.reason:
            case LinkReason.AMBIGUOUS:
                return f'"{self.name}" could be any of: {others}. Use a longer name.'
            case LinkReason.WRONG_CLASS:
                return f'"{self.name}" is known only as something of another class: {others}.'
            case LinkReason.UNKNOWN:
                hint = f" Close names are: {others}." if others else ""
                return f'Nothing in the graph is called "{self.name}".{hint}'
            case _:
                label = self.entry.label if self.entry else self.name
                return f'"{self.name}" is linked to {label} by its {self.reason}, score {self.score:.2f}.'


class Fit(StrEnum):
    """How an entity's classes relate to the expected ones."""

    INSTANCE = "instance"
    POSSIBLE = "possible"
    DISJOINT = "disjoint"


_RANK = {Fit.INSTANCE: 2, Fit.POSSIBLE: 1, Fit.DISJOINT: 0}


class Linker:
    """Links names to entities by label, alias, expected class and, if unambiguous, near match.

    `near_threshold` is the least trigram similarity of a near match; above 1 there are none. `same` gives one
    entity for all that owl:sameAs says are one: namesakes that are the same are not ambiguous. `regions`
    gives those in which an entity lies, nearer and wider ones.
    """

    def __init__(
        self,
        labels: Labels,
        schema: Schema,
        *,
        near_threshold: float = 0.7,
        alternatives: int = 5,
        same: Callable[[NamedNode], NamedNode] = lambda iri: iri,
        regions: Callable[[NamedNode], Collection[NamedNode]] = lambda iri: (),
    ) -> None:
        self.same = same
        self.regions = regions
        self.labels = labels
        self.schema = schema
        self.near_threshold = near_threshold
        self.alternatives = alternatives

    def over(self, labels: Labels) -> Linker:
        """Return a linker with the same settings over other labels."""
        return Linker(
            labels,
            self.schema,
            near_threshold=self.near_threshold,
            alternatives=self.alternatives,
            same=self.same,
            regions=self.regions,
        )

    def link(
        self,
        name: str,
        *,
        expected: frozenset[NamedNode] = frozenset(),
        context: Collection[NamedNode] = (),
    ) -> Link:
        """Link a name to the entity that it names.

        `expected` are the classes that a domain or range allows (alternatives; empty allows any);
        `context` are entities already found in the same text: they win over namesakes, and so does what lies
        in one of them.
        """
        found = self.labels.exact(name)
        if found:
            return self.choose(name, found, expected=expected, context=context)
        return self._near(name, expected)

    def choose(
        self,
        name: str,
        entries: Sequence[LabelEntry],
        *,
        expected: frozenset[NamedNode] = frozenset(),
        context: Collection[NamedNode] = (),
    ) -> Link:
        """Choose among entries that all bear exactly this name."""
        fits = {entry.iri: self.fit(entry.classes, expected) for entry in entries}
        allowed = [entry for entry in entries if fits[entry.iri] is not Fit.DISJOINT]
        if not allowed:
            return Link(name, None, 0.0, LinkReason.WRONG_CLASS, None, self._listed(entries))
        best = max(_RANK[fits[entry.iri]] for entry in allowed)
        left = [entry for entry in allowed if _RANK[fits[entry.iri]] == best]
        left = [entry for entry in left if entry.iri in context] or left
        left = [entry for entry in left if entry.main] or left
        if self._are_several(left) and context:
            left = [entry for entry in left if not set(context).isdisjoint(self.regions(entry.iri))] or left
        if self._are_several(left):
            return Link(name, None, 0.0, LinkReason.AMBIGUOUS, None, self._listed(left))
        taken = max(left, key=lambda entry: (entry.main, self.same(entry.iri) == entry.iri))
        reason = LinkReason.LABEL if taken.main else LinkReason.ALIAS
        others = [entry for entry in entries if entry.iri != taken.iri]
        return Link(name, taken.iri, 1.0, reason, taken, self._listed(others))

    def _are_several(self, entries: Iterable[LabelEntry]) -> bool:
        return len({self.same(entry.iri) for entry in entries}) > 1

    def fit(self, classes: Iterable[NamedNode], expected: frozenset[NamedNode]) -> Fit:
        """How an entity of these classes fits the expected ones (any one of them is enough)."""
        have = tuple(classes)
        if not expected:
            return Fit.INSTANCE
        if any(self.schema.superclasses(c) & expected for c in have):
            return Fit.INSTANCE
        if all(any(self.schema.are_disjoint(c, e) for c in have) for e in expected):
            return Fit.DISJOINT
        return Fit.POSSIBLE

    def _near(self, name: str, expected: frozenset[NamedNode]) -> Link:
        similar = self.labels.similar(name, self.alternatives * 4)
        strong = [
            (entry, score)
            for entry, score in similar
            if score >= self.near_threshold
            and _differs_by_spelling(name, entry.label)
            and self.fit(entry.classes, expected) is Fit.INSTANCE
        ]
        if len({self.same(entry.iri) for entry, _ in strong}) == 1:
            entry, score = strong[0]
            others = [other for other, _ in similar if other.iri != entry.iri]
            return Link(name, entry.iri, score, LinkReason.NEAR, entry, self._listed(others))
        reason = LinkReason.AMBIGUOUS if strong else LinkReason.UNKNOWN
        listed = strong or similar
        return Link(name, None, 0.0, reason, None, self._listed([entry for entry, _ in listed]))

    def _listed(self, entries: Iterable[LabelEntry]) -> tuple[LabelEntry, ...]:
        first: dict[NamedNode, LabelEntry] = {}
        for entry in entries:
            first.setdefault(entry.iri, entry)
        return tuple(first.values())[: self.alternatives]


def _differs_by_spelling(name: str, label: str) -> bool:
    """Return whether a name is a misspelling ("Manhatan"), not another name ("East" and "West 41st Street").

    Both must have as many words; numbers must be equal, and each word must be spelled nearly alike.
    """
    ours, theirs = normalize(name).split(), normalize(label).split()
    if len(ours) != len(theirs):
        return "".join(ours) == "".join(theirs)
    return all(nearly_equal(a, b) for a, b in zip(ours, theirs, strict=True))


def nearly_equal(a: str, b: str) -> bool:
    """Separate a misspelled word from another word."""
    if a == b:
        return True
    shorter = min(len(a), len(b))
    if shorter < 4 or a[0] != b[0] or any(c.isdigit() for c in a + b):
        return False
    return _edits(a, b) <= (1 if shorter < 8 else 2)


def _edits(a: str, b: str) -> int:
    """Count the letters to insert, drop, replace or swap with a neighbor from one word to the other."""
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, above, row = row, before, [i]
        for j, y in enumerate(b, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                cost = min(cost, above[j - 2] + 1)
            row.append(cost)
    return row[-1]


QUALIFIERS: Final = frozenset(
    "north south east west upper lower new old greater little central downtown midtown uptown".split()
)
"""Words that make another place of a name: "East Harlem" is not "Harlem"."""

_SMALL: Final = frozenset("a an and at by de del des for in la le of on the".split())
_ABBREVIATED: Final = {
    "st": ("saint", "street"),
    "ste": ("sainte",),
    "sta": ("santa",),
    "mt": ("mount",),
    "mtn": ("mountain",),
    "ft": ("fort",),
    "pt": ("point",),
    "is": ("island",),
    "av": ("avenue",),
    "ave": ("avenue",),
    "blvd": ("boulevard",),
    "rd": ("road",),
    "ln": ("lane",),
    "dr": ("drive", "doctor"),
    "pl": ("place",),
    "sq": ("square",),
    "ct": ("court",),
    "hwy": ("highway",),
    "pkwy": ("parkway",),
    "expy": ("expressway",),
    "tpke": ("turnpike",),
    "bldg": ("building",),
    "ctr": ("center", "centre"),
    "hts": ("heights",),
    "jct": ("junction",),
    "univ": ("university",),
    "inst": ("institute",),
    "natl": ("national",),
    "intl": ("international",),
    "dept": ("department",),
    "assn": ("association",),
    "bros": ("brothers",),
    "co": ("company", "county"),
    "corp": ("corporation",),
    "jr": ("junior",),
    "sr": ("senior",),
    "dist": ("district",),
    "metro": ("metropolitan",),
}
"""The abbreviations that gazetteers and postal addresses use. The beginning of another word is not one of
them: Bath is not Bathgate, and MASP is not Maspeth."""

_REMEMBERED: Final = (100, 4000)
"""Up to this length, of so many names the words are kept: a new one is compared with the same ones again."""


def same_words(a: str, b: str, *, misspelled: bool = False) -> bool:
    """Whether two names have the same words, up to order, plural, abbreviation and ways to spell a word.

    "Museum of Clocks" and "Clock Museum", "St. Mark's Church" and "Saint Mark's Church", "Theatre" and
    "Theater". With `misspelled` a word may also be another one with a slip in it, as "Harlen" is of "Harlem";
    but so is Kensington of Kennington, and Brookline of Brooklyn.
    """
    ours, theirs = _words(a), [*_words(b)]
    if not ours or len(ours) != len(theirs):
        return False
    for word in ours:
        match = next((other for other in theirs if _alike(word, other, misspelled)), None)
        if match is None:
            return False
        theirs.remove(match)
    return True


def are_distinct(a: str, b: str) -> bool:
    """Return whether only one of two names has a number or a word such as "East"."""
    return marks(a) != marks(b)


@remembered(_REMEMBERED)
def marks(name: str) -> frozenset[str]:
    """The words of a name that make it the name of another thing where they are missing."""
    return frozenset(w for w in _words(name) if w in QUALIFIERS or any(c.isdigit() for c in w))


@remembered(_REMEMBERED)
def _words(name: str) -> tuple[str, ...]:
    return tuple(word for word in normalize(name).split() if word not in _SMALL)


def _alike(a: str, b: str, misspelled: bool) -> bool:
    if a == b or _spelled_otherwise(a, b) or (misspelled and nearly_equal(a, b)):
        return True
    short, long = sorted((a, b), key=len)
    if any(c.isdigit() for c in a + b):
        return False
    return (len(short) >= 3 and long == short + "s") or long in _ABBREVIATED.get(short, ())


def _spelled_otherwise(a: str, b: str) -> bool:
    """Whether two words differ in a doubled letter, two letters changed about, or "or" for "our" alone."""
    short, long = sorted((a, b), key=len)
    if len(short) < 4 or any(c.isdigit() for c in a + b):
        return False
    place = next((n for n, (x, y) in enumerate(zip(short, long, strict=False)) if x != y), len(short))
    if len(short) == len(long):
        swapped = long[:place] + long[place : place + 2][::-1] + long[place + 2 :]
        return short == swapped
    doubled = place > 0 and long[place] == long[place - 1]
    british = long[place - 1 : place + 2] == "our"
    return (doubled or british) and short == long[:place] + long[place + 1 :]
