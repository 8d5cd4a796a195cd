"""Repairs a remote store's answers: deviations from the standard, and wrapped datatypes.

The JSON results of Virtuoso use invalid labels for blank nodes and write true as 1; datatypes that were
wrapped in requests (`sparql.remote.terms`) are unwrapped. Everything else is unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from sparql.remote.store_capabilities import StoreCapabilities
from sparql.remote.terms import KEPT_APART, NODE_LABEL

RepairLine = Callable[[bytes], bytes]
_BOOLEAN = rb"http://www.w3.org/2001/XMLSchema#boolean"
_NODE_IN_JSON = re.compile(rb'("type"\s*:\s*"bnode"\s*,\s*"value"\s*:\s*")nodeID://')
_DATATYPE_IN_JSON = re.compile(rb'("datatype"\s*:\s*")' + re.escape(KEPT_APART.encode()))
_BOOLEAN_IN_JSON = re.compile(rb'("datatype"\s*:\s*"' + _BOOLEAN + rb'"\s*,\s*"value"\s*:\s*)"([01])"')
_BOOLEAN_IN_TRIPLES = re.compile(rb'([ \t])"([01])"(\^\^<' + _BOOLEAN + rb">)")
_WORDS = {b"1": b'"true"', b"0": b'"false"'}


def result_repair(capabilities: StoreCapabilities) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """The function that repairs SPARQL JSON results in pieces."""

    def repair(line: bytes) -> bytes:
        if capabilities.virtuoso:
            line = _NODE_IN_JSON.sub(rb"\1" + NODE_LABEL.encode(), line)
        if capabilities.kept_apart:
            line = _DATATYPE_IN_JSON.sub(rb"\1", line)
        if capabilities.booleans_as_digits:
            line = _BOOLEAN_IN_JSON.sub(lambda found: found[1] + _WORDS[found[2]], line)
        return line

    return _by_line(repair) if _differs(capabilities) else iter


def triple_repair(capabilities: StoreCapabilities) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """The function that repairs N-Triples in pieces."""

    def repair(line: bytes) -> bytes:
        # Inside a literal the quote would be escaped.
        line = line.replace(b'"^^<' + KEPT_APART.encode(), b'"^^<')
        return _BOOLEAN_IN_TRIPLES.sub(lambda found: found[1] + _WORDS[found[2]] + found[3], line)

    return _by_line(repair) if _differs(capabilities) else iter


def _differs(capabilities: StoreCapabilities) -> bool:
    return bool(capabilities.virtuoso or capabilities.kept_apart or capabilities.booleans_as_digits)


def _by_line(repair: RepairLine) -> Callable[[Iterable[bytes]], Iterator[bytes]]:
    """Repair whole lines only: no match spans two of them in the stores that need repair."""

    def repaired(pieces: Iterable[bytes]) -> Iterator[bytes]:
        left: list[bytes] = []
        for piece in pieces:
            head, newline, tail = piece.rpartition(b"\n")
            if newline:
                yield repair(b"".join((*left, head, newline)))
                left = [tail]
            else:
                left.append(piece)
        if rest := b"".join(left):
            yield repair(rest)

    return repaired
