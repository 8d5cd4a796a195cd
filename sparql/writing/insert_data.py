"""The most frequent update by its short way: one ``INSERT DATA`` into the default graph.

Where it is written in plain words only (IRIs, prefixed names, integers, strings), it is Turtle between its
braces, and is read as that, which costs a fifth. Else the engine itself carries it out on an empty store in
memory, which then holds exactly what it inserts. All other updates, and this one where the engine finds a
mistake in it, are read operation by operation.
"""

from __future__ import annotations

import re

import pyoxigraph
from pyoxigraph import Quad, RdfFormat

from sparql.writing.update_account import QuadDelta

_PREFIXES = r"(?P<prefixes>\s*(?:PREFIX\s+[^\s:<>{}#]*:\s*<[^<>{}\s]*>\s*)*)"
# With one pair of braces there is no other operation beside it, no GRAPH and no pattern.
_FORM = re.compile(rf"{_PREFIXES}INSERT\s+DATA\s*\{{(?P<data>[^{{}}]*)\}}\s*;?\s*\Z", re.IGNORECASE)

_IRI = r"""<[^<>"{}|^`\\\x00-\x20]*+>"""
_NAME = r"(?:[A-Za-z][A-Za-z0-9_-]*+)?:[A-Za-z0-9_][A-Za-z0-9_-]*+"
_CHARACTERS = r"(?:[^%s\\\r\n]|\\[tbnrf\"'\\])*+"
_STRING = rf"""(?:"{_CHARACTERS % '"'}"|'{_CHARACTERS % "'"}')"""
_LANGUAGE = r"(?:@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)?+(?!\^)"
_INTEGER = r"(?:0|-?[1-9][0-9]{0,17})(?!\.?[0-9eE])"
# What SPARQL (19.8) and Turtle (6.5) read alike. Blank nodes, comments and other escapes are left out, and
# literals of which a store keeps the value: it writes 1.50 as 1.5.
_WORDS = re.compile(
    rf"(?>\s++|{_IRI}|{_STRING}{_LANGUAGE}|{_NAME}|{_INTEGER}|[.;,]|(?:a|true|false)(?![\w:-]))*+\Z", re.ASCII
)


def inserted(text: str, base: str | None = None) -> QuadDelta | None:
    """What the update inserts, blank nodes new each time; None when it is no such update, or not valid."""
    found = _FORM.match(text)
    if found is None:
        return None
    quads = _as_turtle(found["prefixes"], found["data"], base)
    if quads is not None:
        return QuadDelta(additions=quads)
    store = pyoxigraph.Store()
    try:
        store.update(text, base_iri=base)
    except (SyntaxError, ValueError):
        return None
    return QuadDelta(additions=frozenset(store))


def _as_turtle(prefixes: str, data: str, base: str | None) -> frozenset[Quad] | None:
    """What the data says, if it is the same in Turtle; None where only the engine can tell."""
    if "\\" in prefixes or _WORDS.match(data) is None:
        return None
    # SPARQL may leave out the last full stop (rule 52), Turtle may not.
    end = "" if data.rstrip().endswith(".") else " ."
    try:
        return frozenset(pyoxigraph.parse(f"{prefixes}{data}{end}", format=RdfFormat.TURTLE, base_iri=base))
    except (SyntaxError, ValueError):
        return None
