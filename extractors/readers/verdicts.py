"""Reads a verifier's verdict: only the faithful one ends the refinement (UrbanKGent, section 4.3.3)."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["is_faithful"]

_VERDICT: Final = "this is a faithful trajectory"
_SENTENCES = re.compile(r"[.!?\n]+")


def is_faithful(words: str) -> bool:
    """Whether a verifier's reply ends with the faithful verdict, said as such.

    "Yes", praise, and the verdict in the middle of a reply, in a condition or in its denial, are none.
    """
    sentences = [part.strip(" \t\"'*_`“”()") for part in _SENTENCES.split(words)]
    last = next((part for part in reversed(sentences) if part), "")
    return last.casefold() == _VERDICT
