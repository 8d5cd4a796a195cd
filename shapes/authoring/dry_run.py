"""Measures what an edit of the rules would change, in a process of its own, on a checkpoint of the store.

A shape's query may join everything with everything: only killing its process surely stops it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from shapes.authoring.impact import impact_in_steps
from shapes.authoring.impact_results import Bounds, ComparedRules, Impact, QueuedStatement
from sparql.model.source import GraphReading, Term
from sparql.provenance.term_rewrites import Rewriting


def dry_run(
    path: str,
    before: ComparedRules,
    after: ComparedRules,
    queue: Sequence[QueuedStatement],
    bounds: Bounds,
    rewriting: Rewriting,
) -> Iterator[Impact]:
    """The impact, in the steps of `impact_in_steps`, on the checkpoint at `path`."""
    yield from impact_in_steps(_Checkpoint(path), before, after, queue, bounds, rewriting)


class _Checkpoint(GraphReading):
    def __init__(self, path: str) -> None:
        self._graph = pyoxigraph.Store.read_only(path)

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that fit the pattern, of one graph or (None) of all."""
        if isinstance(subject, Literal | Triple):
            return iter(())
        return iter(self._graph.quads_for_pattern(subject, predicate, object_, graph))
