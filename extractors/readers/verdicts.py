"""Reads a verifier's verdict: only the faithful one ends the refinement (UrbanKGent, section 4.3.3)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_faithful"]

_VERDICT: Final = "this is a faithful trajectory"
_SENTENCES = re.compile(r"[.!?\n]+")


def is_faithful(words: str) -> bool:
    """Whether a verifier's reply ends with the faithful verdict, said as such.

    "Yes", praise, and the verdict in the middle of a reply, in a condition or in its denial, do not count;
    nor does the verdict after WRONG as the first word.
    """
    sentences = [part.strip(" \t\"'*_`“”()") for part in _SENTENCES.split(words)]
    said = [part.casefold() for part in sentences if part]
    return bool(said) and said[-1] == _VERDICT and said[0].split()[0] != "wrong"
