"""Remembers what functions of a text return, with a bound on the characters that are kept.

Thousands of short texts take a few megabytes, thousands of long ones (outlines of cities, names that are no
names) would take gigabytes. So texts are remembered by their length: many short ones, few long ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar, TypeVarTuple

from pyoxigraph import Literal

__all__ = ["remembered"]

_Text = TypeVar("_Text", str, Literal)
_Rest = TypeVarTuple("_Rest")
_Found = TypeVar("_Found")


def remembered(
    *tiers: tuple[int, int],
) -> Callable[[Callable[[_Text, *_Rest], _Found]], Callable[[_Text, *_Rest], _Found]]:
    """Keep what a function returned for its last arguments, the first of which is a text or a literal.

    A tier is the length of its longest text, in characters, and how many of at most that length are kept; the
    shorter tiers come first. What is longer than all of them is not kept.
    """

    def decorate(function: Callable[[_Text, *_Rest], _Found]) -> Callable[[_Text, *_Rest], _Found]:
        caches = [(longest, lru_cache(maxsize=entries)(function)) for longest, entries in tiers]

        def call(text: _Text, /, *rest: *_Rest) -> _Found:
            size = len(text if isinstance(text, str) else text.value)
            for longest, cached in caches:
                if size <= longest:
                    return cached(text, *rest)
            return function(text, *rest)

        return wraps(function)(call)

    return decorate
