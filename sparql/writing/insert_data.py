"""A fast path for the most frequent update: one ``INSERT DATA`` into the default graph.

If it uses only simple syntax (IRIs, prefixed names, integers, strings), the text between its braces is also
Turtle and is parsed as such, which takes a fifth of the time. Otherwise the engine carries it out on an empty
store in memory, which then holds exactly the inserted triples. All other updates, and any in which the engine
finds an error, are processed operation by operation.
"""

from __future__ import annotations

import re

import pyoxigraph
from pyoxigraph import Quad, RdfFormat

from sparql.writing.update_account import QuadDelta

_PREFIXES = r"(?P<prefixes>\s*(?:PREFIX\s+[^\s:<>{}#]*:\s*<[^<>{}\s]*>\s*)*)"
# One pair of braces means no other operation, no GRAPH and no pattern.
_FORM = re.compile(rf"{_PREFIXES}INSERT\s+DATA\s*\{{(?P<data>[^{{}}]*)\}}\s*;?\s*\Z", re.IGNORECASE)

_IRI = r"""<[^<>"{}|^`\\\x00-\x20]*+>"""
_NAME = r"(?:[A-Za-z][A-Za-z0-9_-]*+)?:[A-Za-z0-9_][A-Za-z0-9_-]*+"
_CHARACTERS = r"(?:[^%s\\\r\n]++|\\[tbnrf\"'\\])*+"
_STRING = rf"""(?:"{_CHARACTERS % '"'}"|'{_CHARACTERS % "'"}')"""
_LANGUAGE = r"(?:@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)?+(?!\^)"
_INTEGER = r"(?:0|-?[1-9][0-9]{0,17})(?!\.?[0-9eE])"
# The syntax that SPARQL (19.8) and Turtle (6.5) share. It excludes blank nodes, comments and other escapes,
# and literals that a store normalizes: it writes 1.50 as 1.5.
_WORDS = re.compile(
    rf"(?>\s++|{_IRI}|{_STRING}{_LANGUAGE}|{_NAME}|{_INTEGER}|[.;,]|(?:a|true|false)(?![\w:-]))*+\Z", re.ASCII
)


def inserted(text: str, base: str | None = None) -> QuadDelta | None:
    """The inserted triples, with new blank nodes each time; None when it is no such update, or invalid."""
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
    """The triples, if the data is valid Turtle; None where only the engine can decide."""
    if "\\" in prefixes or _WORDS.match(data) is None:
        return None
    # SPARQL may omit the last full stop (rule 52), Turtle may not.
    end = "" if data.rstrip().endswith(".") else " ."
    try:
        return frozenset(pyoxigraph.parse(f"{prefixes}{data}{end}", format=RdfFormat.TURTLE, base_iri=base))
    except (SyntaxError, ValueError):
        return None
