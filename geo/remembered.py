"""Remembers what functions of a text return, with a bound on the characters that are kept.

Thousands of short texts take a few megabytes, thousands of long ones (outlines of cities, names that are no
names) would take gigabytes. So texts are remembered by their length: many short ones, few long ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from pyoxigraph import Literal

__all__ = ["remembered"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


def remembered(*tiers: tuple[int, int]) -> Callable[[_Function], _Function]:
    """Keep what a function returned for its last arguments, the first of which is a text or a literal.

    A tier is the length of its longest text, in characters, and how many of at most that length are kept; the
    shorter tiers come first. What is longer than all of them is not kept.
    """

    def decorate(function: _Function) -> _Function:
        caches = [(longest, lru_cache(maxsize=entries)(function)) for longest, entries in tiers]

        @wraps(function)
        def call(text: str | Literal, *rest: Any, **named: Any) -> Any:
            size = len(text if isinstance(text, str) else text.value)
            for longest, cached in caches:
                if size <= longest:
                    return cached(text, *rest, **named)
            return function(text, *rest, **named)

        return cast("_Function", call)

    return decorate
