"""Caches results of functions of a text, with a bound on the total length of the cached texts.

Thousands of short texts take a few megabytes, thousands of long ones (such as outlines of cities) would take
gigabytes. So many short texts are cached, and few long ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar, cast

from pyoxigraph import Literal

_Function = TypeVar("_Function", bound=Callable[..., Any])


def remembered(*tiers: tuple[int, int]) -> Callable[[_Function], _Function]:
    """Cache a function's results for its latest arguments, the first of which is a text or a literal.

    A tier is a maximum length in characters and the number of texts up to that length to cache; shorter tiers
    come first. Texts longer than all tiers are not cached.
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
