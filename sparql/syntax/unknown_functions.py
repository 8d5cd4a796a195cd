"""Calls of functions that are not defined are errors of their expression (SPARQL 1.1 Query, 17.6).

The engine refuses a whole query for one of them. It names the function when it does, so the query is run
again with a function of that name that gives nothing, which is how the engine sees an error.

An aggregate that nobody knows is more than an error: without it there is no group, and the answer would have
a row for each solution instead of one. What the namespace of GeoSPARQL names like an aggregate is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, Final, TypeVar

from pyoxigraph import NamedNode, Store

from geo.vocabulary import GEOF
from sparql.model.errors import UnknownFunction

Found = TypeVar("Found")
Functions = dict[NamedNode, Callable[..., Any]]

_COMPLAINT: Final = re.compile(r"The custom function <([^<>]*)> is not supported")
_MOST: Final = 64
"""So many unknown functions in one text are no oversight, and each makes the engine read the text again."""


def tolerating(
    run: Callable[[Functions | None], Found], functions: Functions | None
) -> tuple[Found, tuple[NamedNode, ...]]:
    """What `run` gives with these functions, and which others it called: those raise errors of expressions.

    `run` must fail before it does anything. Raises UnknownFunction for an aggregate, and what `run` raises
    for other reasons.
    """
    unknown: Functions = {}
    while True:
        try:
            return run({**(functions or {}), **unknown} if unknown else functions), tuple(unknown)
        except RuntimeError as error:
            found = _COMPLAINT.search(str(error))
            if found is None or len(unknown) == _MOST or NamedNode(found[1]) in unknown:
                raise
            if is_named_like_aggregate(found[1]):
                raise unknown_function(found[1]) from error
            unknown[NamedNode(found[1])] = _gives_nothing


def _gives_nothing(*arguments: object) -> None:
    """Unbound, whatever it is called with."""


def is_named_like_aggregate(iri: str) -> bool:
    """Whether the name can only be meant as that of an aggregate of GeoSPARQL."""
    return iri.startswith(GEOF) and iri.removeprefix(GEOF).lower().startswith("agg")


def unknown_function(iri: str) -> UnknownFunction:
    """The error for a function that is not here, with those of similar names."""
    # Imported here: the server starts without geometry.
    from geo.functions import AGGREGATES, FUNCTIONS

    # Of an aggregate, only another can be meant.
    offered = AGGREGATES if is_named_like_aggregate(iri) else (*FUNCTIONS, *AGGREGATES)
    names = {one.value.lower(): one.value for one in offered}
    return UnknownFunction(iri, [names[one] for one in get_close_matches(iri.lower(), names, 2, 0.9)])


def unknown_function_message(iri: str) -> str:
    """The message for a client whose query calls it."""
    return f"The function <{iri}> is not known here: its calls are errors."


@lru_cache(maxsize=512)
def is_known(iri: NamedNode) -> bool:
    """Whether we have a function or an aggregate of this name, or the engine has (a cast, say)."""
    from geo.functions import AGGREGATES, FUNCTIONS

    if iri in FUNCTIONS or iri in AGGREGATES:
        return True
    try:
        Store().query(f"SELECT ({iri}(1) AS ?x) {{}}")
    except RuntimeError:
        return False
    return True
