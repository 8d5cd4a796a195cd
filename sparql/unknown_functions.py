"""Calls of functions that nobody here knows are errors of their expression (SPARQL 1.1 Query, 17.6).

The engine refuses a whole query for one of them. It names the function when it does, so the query is run
again with a function of that name that gives nothing, which is how the engine sees an error.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeVar

from pyoxigraph import NamedNode

Found = TypeVar("Found")
Functions = dict[NamedNode, Callable[..., Any]]

_TOLD: Final = re.compile(r"The custom function <([^<>]*)> is not supported")
_MOST: Final = 64
"""So many unknown functions in one text are no oversight, and each makes the engine read the text again."""


def tolerating(
    run: Callable[[Functions | None], Found], functions: Functions | None
) -> tuple[Found, tuple[NamedNode, ...]]:
    """What `run` gives with these functions, and which others it called: those raise errors of expressions.

    `run` must fail before it does anything. Raises what it raises for other reasons.
    """
    unknown: Functions = {}
    while True:
        try:
            return run({**(functions or {}), **unknown} if unknown else functions), tuple(unknown)
        except RuntimeError as error:
            told = _TOLD.search(str(error))
            if told is None or len(unknown) == _MOST or NamedNode(told[1]) in unknown:
                raise
            unknown[NamedNode(told[1])] = _gives_nothing


def _gives_nothing(*arguments: object) -> None:
    """Unbound, whatever it is called with."""
