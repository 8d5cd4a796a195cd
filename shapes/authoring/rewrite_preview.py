"""The statements that an edit of the ontology rewrites, before it is put in force."""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import Triple

from ontology import Schema
from shapes.authoring.term_changes import (
    UNDO,
    OfferedRewrite,
    offered_rewrites,
    statements_with,
    term_uses,
)
from sparql.model.source import GraphReading, Overlay, TripleSource
from sparql.provenance.term_rewrites import RewriteRecords, Rewriting

__all__ = ["RewritePreview"]


class RewritePreview:
    """What would be rewritten in a graph: `taken` are its statements, `put` those in their place.

    `uses` are the terms that the edit removes or deprecates and that statements use, after what it undoes.
    `offered` are all rewrites, whether wanted or not.
    """

    def __init__(self, source: TripleSource, before: Schema, after: Schema, rewriting: Rewriting) -> None:
        taken: dict[Triple, Triple] = {}
        parted: set[Triple] = set()
        undone = []
        if rewriting.undone and isinstance(source, GraphReading):
            records = RewriteRecords(source)
            taken = records.moves(rewriting.undone)
            for past in rewriting.undone:
                for node, pair in past.pairs.items():
                    united = records.united(node)
                    parted.update(united)
                    number = len(united) + sum(1 for _ in records.statements(node))
                    undone.append(OfferedRewrite(pair.inverse, UNDO, number))
        rest = Overlay(source, (*taken.values(), *parted), taken)
        self.uses = tuple(term_uses(rest, before, after))
        forward = tuple(offered_rewrites(rest, self.uses, rewriting.given, before, after))
        if rewriting.wanted:
            taken.update(_applied(rest, forward, before))
        self.offered = (*undone, *forward)
        self.put, self.taken = frozenset((*taken.values(), *parted)), frozenset(taken)


def _applied(
    source: TripleSource, offered: tuple[OfferedRewrite, ...], before: Schema
) -> Iterator[tuple[Triple, Triple]]:
    for one in offered:
        for triple in statements_with(source, one.pair, before):
            yield triple, one.pair.applied(triple)
