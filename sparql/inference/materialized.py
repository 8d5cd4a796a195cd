"""Inferences of a store: the plan for a change, and all of them anew.

`graph/inferred` holds what follows from other statements and nothing else supports; what is stated too is
not in it. A mark in the state graph tells whether it is complete. Whatever changes the graph without
following it up takes the mark away in the same commit, and the next start infers anew.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import islice

from pyoxigraph import Literal, Quad, Triple

# The chase is imported by those who infer: a start without inferences goes without it.
from sparql.model.change import Delta
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, INFERRED, ONTOLOGY, STATE, UKG

PORTION = 20_000
"""So many triples are followed between two writes to the store."""
COMPLETE = Quad(UKG.store, UKG.inferences, Literal("complete, rules 1"), STATE)
STALE = Quad(UKG.store, UKG.inferences, Literal("stale"), STATE)
_STATED = (ASSERTED, EXTRACTED, DERIVED, ONTOLOGY)
_log = logging.getLogger("urbankg.inference")


class Inferences:
    """Infers over one store. `most` conclusions at most are drawn for one change."""

    def __init__(self, store: TripleStore, most: int) -> None:
        self._store = store
        self._most = most

    def plan(self, came: Collection[Triple], went: Collection[Triple]) -> Delta:
        """The inferred triples that come and go when these are stated and those no longer are.

        Raises `InferenceTooLarge`. While the inferences are stale nothing follows from a change but that
        what is stated is not inferred: they will be inferred anew.
        """
        if not self.complete:
            return Delta(removals=frozenset(t for t in came if self.is_inferred(t)))
        from sparql.inference.chase import Chase

        return Chase(self._store, self._holds, self.is_inferred, self._most).delta(came, went)

    def is_inferred(self, triple: Triple) -> bool:
        """Whether a triple of the graph only follows from others."""
        return self._store.contains(_quad(triple, INFERRED))

    def _holds(self, triple: Triple) -> bool:
        return self._store.contains(_quad(triple, DEFAULT))

    @property
    def complete(self) -> bool:
        """Whether the graph holds exactly what follows."""
        return self._store.contains(COMPLETE)

    def infer_all(self, told: Callable[[int, int], None] = lambda looked_at, inferred: None) -> int:
        """Add all that follows and is not there, in portions; how much that was.

        `told` is given how many triples were followed so far, and how many inferred.
        """
        from sparql.inference.chase import Chase

        # What is added meanwhile is followed where it is found, so the graph as it is now is enough.
        quads = self._store.match_quads(None, None, None, DEFAULT)
        looked_at = inferred = 0
        while portion := list(islice(quads, PORTION)):
            found = Chase(self._store, self._holds, self.is_inferred).missing(quad.triple for quad in portion)
            self._store.bulk_add(_quad(triple, graph) for triple in found for graph in (INFERRED, DEFAULT))
            looked_at += len(portion)
            inferred += len(found)
            told(looked_at, inferred)
        return inferred


def mark(store: TripleStore) -> Quad | None:
    """What the state says of inferences; None where there are none."""
    return next(iter(store.match_quads(UKG.store, UKG.inferences, None, STATE)), None)


def forget(store: TripleStore) -> None:
    """Trust the inferences that are there no longer: the next start infers anew."""
    if mark(store) == COMPLETE:
        store.commit([STALE], [COMPLETE])


def remove_all(store: TripleStore) -> None:
    """Take all inferences out of the graph, in portions; what is stated as well stays."""
    for portion in _portions(quad.triple for quad in store.match_quads(None, None, None, INFERRED)):
        gone = [_quad(triple, INFERRED) for triple in portion]
        gone += [_quad(triple, DEFAULT) for triple in portion if not _is_stated(store, triple)]
        store.commit((), gone, origin="inferred")


def disown_stated(store: TripleStore) -> None:
    """Let go of inferences that have come to be stated, past the writer's plans."""
    inferred = (quad.triple for quad in store.match_quads(None, None, None, INFERRED))
    for portion in _portions(triple for triple in inferred if _is_stated(store, triple)):
        store.commit((), [_quad(triple, INFERRED) for triple in portion], origin="inferred")


def log_progress(looked_at: int, inferred: int) -> None:
    """Tell the log how far it is."""
    _log.info("Inferring: %d statements followed, %d inferred", looked_at, inferred)


def _is_stated(store: TripleStore, triple: Triple) -> bool:
    return any(store.contains(_quad(triple, graph)) for graph in _STATED)


def _portions(triples: Iterable[Triple]) -> Iterator[list[Triple]]:
    rest = iter(triples)
    while portion := list(islice(rest, PORTION)):
        yield portion


def _quad(triple: Triple, graph: object) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, graph)  # type: ignore[arg-type]
