"""Queries that return a whole graph: CONSTRUCT of one pattern of three variables.

The engine remembers every triple that a CONSTRUCT has returned, to avoid duplicates: 450 MB for a million. A
graph has no duplicates, so it is written out directly, which takes no memory and less time.
"""

from __future__ import annotations

import re

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode

_VARIABLE = r"[?$][A-Za-z_][A-Za-z0-9_]*"
_FIRST = rf"\{{\s*(?P<s>{_VARIABLE})\s+(?P<p>{_VARIABLE})\s+(?P<o>{_VARIABLE})\s*\.?\s*\}}"
_AGAIN = r"\{\s*(?P=s)\s+(?P=p)\s+(?P=o)\s*\.?\s*\}"
_GRAPH = r"""(?i:GRAPH)\s*<(?P<graph>[A-Za-z][A-Za-z0-9+.-]*:[^<>"{}|^`\\\x00-\x20]*)>"""
_PREFIXES = r"(?P<prefixes>(?:\s*(?i:PREFIX)\s+[^\s:<>{}#]*:\s*<[^<>{}\s\\]*>)*)\s*"
_WHOLE = re.compile(
    rf"{_PREFIXES}(?i:CONSTRUCT)\s*{_FIRST}\s*(?i:WHERE)?\s*(?:{_AGAIN}|\{{\s*{_GRAPH}\s*{_AGAIN}\s*\}})\s*\Z",
    re.ASCII,
)
_SHORT = re.compile(rf"{_PREFIXES}(?i:CONSTRUCT)\s+(?i:WHERE)\s*{_FIRST}\s*\Z", re.ASCII)
_LONGEST = 2048


def whole_graph(text: str) -> DefaultGraph | NamedNode | None:
    """The graph that a query requests as a whole; None for all other queries, and where it may not be valid.

    It is written as `CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }`, the same with `GRAPH <iri>`, or `CONSTRUCT
    WHERE { ?s ?p ?o }`, and means the default graph of the store.
    """
    if len(text) > _LONGEST:
        return None
    found = _WHOLE.match(text) or _SHORT.match(text)
    if found is None or len({name[1:] for name in found.group("s", "p", "o")}) < 3:
        return None
    graph = found.groupdict().get("graph")
    try:
        if found["prefixes"]:
            # The engine validates them.
            pyoxigraph.Store().query(f"{found['prefixes']} ASK {{}}")
        if graph is None:
            return DefaultGraph()
        # The engine resolves upward steps (RFC 3986, 5.2.4) in a name.
        return None if "/." in graph else NamedNode(graph)
    except (SyntaxError, ValueError):
        return None
