"""The stored inferences: the plan for a change, and inferring everything again.

`graph/inferred` holds what follows from other statements and is supported by nothing else; it excludes what
is also stated. `graph/memberships` holds which things follow to be in classes without a name: rules read it,
the default graph lacks it. A mark in the state graph says whether both are complete. Whatever changes the
graph without updating the inferences removes the mark in the same commit, and the next start infers again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple

from sparql.model.change import Delta
from sparql.model.errors import UnusableRule
from sparql.model.source import Term, TripleSource
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import (
    ASSERTED,
    DEFAULT,
    DERIVED,
    EXTRACTED,
    INFERRED,
    MEMBERSHIPS,
    ONTOLOGY,
    RDF,
    STATE,
    UKG,
)

if TYPE_CHECKING:
    # The chase is imported only where needed: a start without inferences avoids it.
    from sparql.inference.chase import DerivationRules

PORTION = 20_000
"""The number of triples followed between two writes to the store."""
_COMPLETE = "complete, rules 3"
COMPLETE = Quad(UKG.store, UKG.inferences, Literal(_COMPLETE), STATE)
"""The mark without other rules than those of OWL; with others their version follows."""
STALE = Quad(UKG.store, UKG.inferences, Literal("stale"), STATE)
_STATED = (ASSERTED, EXTRACTED, DERIVED, ONTOLOGY)
_log = logging.getLogger("urbankg.inference")


class Inferences:
    """The inferences of one store. At most `most` conclusions are drawn for one change.

    `more` are rules besides those of OWL; `problem` says why they are not followed, where they are not.
    """

    def __init__(self, store: TripleStore, most: int, more: DerivationRules | None = None) -> None:
        self._store = store
        self._most = most
        self._more = more
        self.problem = ""

    def use(self, more: DerivationRules | None) -> bool:
        """Follow these rules from now on; whether they are others, so that all is to be inferred again."""
        known, self._more = self._more, more
        self.problem = ""
        return (known and known.version) != (more and more.version)

    @property
    def mark(self) -> Quad:
        """What marks in the graph that all that follows is inferred."""
        if self._more is None:
            return COMPLETE
        return Quad(UKG.store, UKG.inferences, Literal(f"{_COMPLETE}, shapes {self._more.version}"), STATE)

    @property
    def only_grow(self) -> bool:
        """Whether more statements never lead to fewer conclusions."""
        return self._more is None or self._more.all_grow

    def plan(self, asserted: Collection[Triple], retracted: Collection[Triple]) -> Delta:
        """The inferred triples to add and remove when the first are stated and the others no longer are.

        Memberships in classes without a name are among them. While the inferences are stale, the only effect
        of a change is that stated triples are no longer inferred: everything will be inferred again. Raises
        `InferenceTooLarge`.
        """
        if not self.complete:
            return Delta(removals=frozenset(t for t in asserted if self.is_inferred(t)))
        from sparql.inference.chase import Chase

        chase = Chase(self._source(), self._holds, self.is_inferred, self._most, self._more)
        return chase.delta(asserted, retracted)

    def is_inferred(self, triple: Triple) -> bool:
        """Whether a triple is only inferred."""
        return self._store.contains(_quad(triple, kept_in(triple)))

    def _holds(self, triple: Triple) -> bool:
        return self._store.contains(_quad(triple, DEFAULT)) or (
            kept_in(triple) == MEMBERSHIPS and self.is_inferred(triple)
        )

    def _source(self) -> TripleSource:
        return _WithMemberships(self._store)

    @property
    def complete(self) -> bool:
        """Whether the graph holds exactly what follows."""
        return self._store.contains(self.mark)

    def infer_all(self, on_progress: Callable[[int, int], None] = lambda looked_at, inferred: None) -> int:
        """Add everything that follows and is missing, in portions; returns the number added.

        `on_progress` receives the numbers of triples followed and inferred so far.
        """
        from sparql.inference.chase import Chase

        # Conclusions added meanwhile are followed at once, so reading the current graph is enough.
        quads = self._store.match_quads(None, None, None, DEFAULT)
        looked_at = inferred = 0

        def write(found: set[Triple]) -> None:
            nonlocal inferred
            self._store.bulk_add(quad for triple in found for quad in inferred_quads(triple))
            inferred += len(found)
            on_progress(looked_at, inferred)

        while portion := list(islice(quads, PORTION)):
            chase = Chase(self._source(), self._holds, self.is_inferred)
            chase.complete((quad.triple for quad in portion), write)
            looked_at += len(portion)
            on_progress(looked_at, inferred)
        if self._more is not None:
            try:
                Chase(self._source(), self._holds, self.is_inferred, more=self._more).complete_rules(write)
            except UnusableRule as error:
                # The graph stays usable by what follows from axioms.
                self._more, self.problem = None, str(error)
                _log.error("The rules of the shapes are not followed. %s", self.problem)
        return inferred


class _WithMemberships:
    """A store's default graph together with what follows to be in classes without a name."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self._memberships = store.named(MEMBERSHIPS)

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        found = self._store.match(subject, predicate, object_)
        if predicate not in (None, RDF.type) or not isinstance(object_, BlankNode | None):
            return found
        return chain(found, self._memberships.match(subject, predicate, object_))


def kept_in(triple: Triple) -> NamedNode:
    """The system graph that holds a triple which is only inferred."""
    unnamed = triple.predicate == RDF.type and isinstance(triple.object, BlankNode)
    return MEMBERSHIPS if unnamed else INFERRED


def inferred_quads(triple: Triple) -> list[Quad]:
    """The quads of a triple which is only inferred."""
    graph = kept_in(triple)
    quad = _quad(triple, graph)
    return [quad] if graph == MEMBERSHIPS else [quad, _quad(triple, DEFAULT)]


def mark(store: TripleStore) -> Quad | None:
    """The mark that describes the inferences; None where there are none."""
    return next(iter(store.match_quads(UKG.store, UKG.inferences, None, STATE)), None)


def forget(store: TripleStore) -> None:
    """Mark the inferences as stale: the next start infers again."""
    found = mark(store)
    if found not in (None, STALE):
        store.commit([STALE], [found])


def remove_all(store: TripleStore) -> None:
    """Remove all inferences from the graph, in portions; what is also stated stays."""
    for portion in _portions(quad.triple for quad in store.match_quads(None, None, None, INFERRED)):
        removals = [_quad(triple, INFERRED) for triple in portion]
        removals += [_quad(triple, DEFAULT) for triple in portion if not _is_stated(store, triple)]
        store.commit((), removals, origin="inferred")
    for memberships in _portions(store.named(MEMBERSHIPS).match(None, None, None)):
        store.commit((), [_quad(triple, MEMBERSHIPS) for triple in memberships], origin="inferred")


def disown_stated(store: TripleStore) -> None:
    """Remove inferences that have become stated without the writer's plans."""
    inferred = (quad.triple for quad in store.match_quads(None, None, None, INFERRED))
    for portion in _portions(triple for triple in inferred if _is_stated(store, triple)):
        store.commit((), [_quad(triple, INFERRED) for triple in portion], origin="inferred")
    memberships = store.named(MEMBERSHIPS).match(None, None, None)
    for portion in _portions(one for one in memberships if store.contains(_quad(one, DEFAULT))):
        store.commit((), [_quad(triple, MEMBERSHIPS) for triple in portion], origin="inferred")


def log_progress(looked_at: int, inferred: int) -> None:
    """Log the progress."""
    _log.info("Inferring: %d statements followed, %d inferred", looked_at, inferred)


def _is_stated(store: TripleStore, triple: Triple) -> bool:
    return any(store.contains(_quad(triple, graph)) for graph in _STATED)


def _portions(triples: Iterable[Triple]) -> Iterator[list[Triple]]:
    rest = iter(triples)
    while portion := list(islice(rest, PORTION)):
        yield portion


def _quad(triple: Triple, graph: object) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, graph)  # type: ignore[arg-type]
