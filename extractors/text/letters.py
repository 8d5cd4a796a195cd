"""Letters with the marks that belong to them, for patterns: Thai and Indian vowels are marks, not letters.

`\\w` of Python's patterns ends at such a mark, which would cut a name in two and make two names one.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from typing import Final

__all__ = ["LETTER", "MARKS"]


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
