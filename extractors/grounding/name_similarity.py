"""Whether two names may be names of one thing: the words they share, and those that distinguish them."""

from __future__ import annotations

from typing import Final

from extractors.grounding.linking import nearly_equal, normalize
from geo.remembered import remembered

__all__ = ["QUALIFIERS", "are_distinct", "marks", "same_words"]

QUALIFIERS: Final = frozenset(
    "north south east west upper lower new old greater little central downtown midtown uptown".split()  # noqa: SIM905
)
"""Words that make another place of a name: "East Harlem" is not "Harlem"."""

_SMALL: Final = frozenset("a an and at by de del des for in la le of on the".split())  # noqa: SIM905
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
