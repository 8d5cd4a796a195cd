"""Letters with the marks that belong to them, for patterns: Thai and Indian vowels are marks, not letters.

`\\w` of Python's patterns ends at such a mark, which would cut a name in two and make two names one.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Iterable
from typing import Final

__all__ = ["LETTER", "MARKS", "is_foreign"]


def _ranges(codes: Iterable[int]) -> str:
    """A list of code points, in their order, as the inside of a character class."""
    found: list[list[int]] = []
    for code in codes:
        if found and found[-1][1] == code - 1:
            found[-1][1] = code
        else:
            found.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" if last > first else chr(first) for first, last in found)


_LAST: Final = min(sys.maxunicode, 0x1FFFF)
MARKS: Final = _ranges(code for code in range(0x300, _LAST) if unicodedata.category(chr(code))[0] == "M")
"""Combining marks of all scripts, for the inside of a character class."""
LETTER: Final = rf"[\w{MARKS}]"
"""A letter, a digit, an underscore, or a mark on one of these."""
_LATIN = re.compile("[A-Za-z\u00c0-\u024f]")
_ANY = re.compile(r"[^\W\d_]")


def is_foreign(name: str) -> bool:
    """Whether a name has letters, and none of them is Latin."""
    return _ANY.search(name) is not None and _LATIN.search(name) is None
