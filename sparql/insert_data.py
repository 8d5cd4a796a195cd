"""The most frequent update by its short way: one ``INSERT DATA`` into the default graph.

The engine itself carries it out on an empty store in memory, which then holds exactly what it inserts. All
other updates, and this one where the engine finds a mistake in it, are read operation by operation.
"""

from __future__ import annotations

import re

import pyoxigraph

from sparql.update_account import QuadDelta

# With one pair of braces there is no other operation beside it, no GRAPH and no pattern.
_FORM = re.compile(
    r"\s*(?:PREFIX\s+[^\s:<>{}#]*:\s*<[^<>{}\s]*>\s*)*INSERT\s+DATA\s*\{[^{}]*\}\s*;?\s*\Z", re.IGNORECASE
)


def inserted(text: str, base: str | None = None) -> QuadDelta | None:
    """What the update inserts, blank nodes new each time; None when it is no such update, or not valid."""
    if _FORM.match(text) is None:
        return None
    store = pyoxigraph.Store()
    try:
        store.update(text, base_iri=base)
    except (SyntaxError, ValueError):
        return None
    return QuadDelta(additions=frozenset(store))
