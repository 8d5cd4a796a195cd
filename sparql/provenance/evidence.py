"""Reads the provenance graph: which text supports which statement, and by which run."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pyoxigraph import Literal, NamedNode, Quad, Triple

from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, PROV, PROVENANCE, RDF, UKG
from sparql.provenance.records import Support

_SUPPORT = (
    *(UKG.start, UKG.end, UKG.quote, UKG.confidence, UKG.reply),
    *(UKG.statedRelation, UKG.distanceInMetres),
)
_SOURCE = DCTERMS.source
_ENDS = ("subject", "object")


class Piece(NamedTuple):
    """The statements of a reifier. Statements of a run with the same evidence share a reifier."""

    reifier: NamedNode
    triple: Triple


@dataclass(frozen=True)
class Evidence:
    """One statement of one run, with the quoted words.

    `decision` is the review decision that accepted the statement, if it was not the gate alone.
    """

    piece: Piece
    run: NamedNode
    support: Support
    decision: NamedNode | None = None

    @property
    def triple(self) -> Triple:
        """The statement."""
        return self.piece.triple


class EvidenceReader:
    """Lookups in the provenance graph of a store."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store

    def about(self, triple: Triple) -> set[Piece]:
        """The evidence of a statement: one piece for each run that made it."""
        return {Piece(reifier, triple) for reifier in self._subjects(RDF.reifies, triple)}

    def of_run(self, run: NamedNode) -> set[Piece]:
        """The evidence of all statements of a run that the gate or a person accepted."""
        return self._pieces(self._subjects(PROV.wasGeneratedBy, run))

    def of_item(self, item: NamedNode) -> set[Piece]:
        """The evidence of what a person accepted by deciding on this review item."""
        return self._pieces(self._subjects(UKG.reviewItem, item))

    def run_of(self, reifier: NamedNode) -> NamedNode | None:
        """The run that a reifier belongs to."""
        return next(
            (t for t in self._objects(reifier, PROV.wasGeneratedBy) if isinstance(t, NamedNode)), None
        )

    def runs_over(self, document: NamedNode) -> set[NamedNode]:
        """The runs that read a document."""
        return {run for run in self._subjects(PROV.used, document) if not self._is_decision(run)}

    def document_of(self, run: NamedNode) -> NamedNode | None:
        """The document of a run."""
        for term in self._objects(run, PROV.used):
            if isinstance(term, NamedNode):
                return term
        return None

    def source_of(self, run: NamedNode) -> str | None:
        """The client's name for the source of a run's statements."""
        return self.text(run, _SOURCE)

    def read(self, piece: Piece) -> Evidence | None:
        """One piece of evidence; None when it has no run."""
        values = self.values(piece.reifier)
        run = first(values, PROV.wasGeneratedBy)
        if not isinstance(run, NamedNode):
            return None
        decision = first(values, UKG.decision)
        return Evidence(
            piece,
            run,
            support_of(values),
            decision if isinstance(decision, NamedNode) else None,
        )

    def values(self, subject: NamedNode) -> dict[NamedNode, list[Term]]:
        """All properties of one subject in the provenance graph."""
        values: dict[NamedNode, list[Term]] = {}
        for quad in self.quads(subject):
            values.setdefault(quad.predicate, []).append(quad.object)
        return values

    def quads(self, subject: NamedNode) -> Iterator[Quad]:
        """The same as quads, to remove them."""
        return self._store.match_quads(subject, None, None, PROVENANCE)

    def leaving(self, pieces: Iterable[Piece]) -> Iterator[Quad]:
        """The quads to remove with these pieces; a reifier without further statements is removed entirely."""
        going: dict[NamedNode, set[Triple]] = {}
        for piece in pieces:
            going.setdefault(piece.reifier, set()).add(piece.triple)
        for reifier, triples in going.items():
            quads = list(self.quads(reifier))
            stays = any(quad.predicate == RDF.reifies and quad.object not in triples for quad in quads)
            for quad in quads:
                if not stays or (quad.predicate == RDF.reifies and quad.object in triples):
                    yield quad

    def text(self, subject: NamedNode, predicate: NamedNode) -> str | None:
        """The first literal value of a property."""
        return next((t.value for t in self._objects(subject, predicate) if isinstance(t, Literal)), None)

    def _is_decision(self, activity: NamedNode) -> bool:
        return self._store.contains(Quad(activity, RDF.type, UKG.Decision, PROVENANCE))

    def _pieces(self, reifiers: Iterable[NamedNode]) -> set[Piece]:
        return {
            Piece(reifier, term)
            for reifier in reifiers
            for term in self._objects(reifier, RDF.reifies)
            if isinstance(term, Triple)
        }

    def _subjects(self, predicate: NamedNode, value: Term) -> set[NamedNode]:
        quads = self._store.match_quads(None, predicate, value, PROVENANCE)
        return {quad.subject for quad in quads if isinstance(quad.subject, NamedNode)}

    def _objects(self, subject: NamedNode, predicate: NamedNode) -> Iterator[Term]:
        for quad in self._store.match_quads(subject, predicate, None, PROVENANCE):
            yield quad.object


def replacement_quads(
    evidence: EvidenceReader, run: NamedNode, replaced: Iterable[tuple[Triple, Triple]]
) -> Iterator[Quad]:
    """The quads to add where a run replaced triples: their evidence supports the new ones."""
    for new, old in replaced:
        yield Quad(run, UKG.replaced, old, PROVENANCE)
        for piece in evidence.about(old):
            yield Quad(piece.reifier, RDF.reifies, new, PROVENANCE)


def replaced_quads(evidence: EvidenceReader, replaced: Iterable[tuple[Triple, Triple]]) -> Iterator[Quad]:
    """The quads to remove: the evidence no longer supports the old triples."""
    for _, old in replaced:
        for piece in evidence.about(old):
            yield Quad(piece.reifier, RDF.reifies, old, PROVENANCE)


def support_of(values: dict[NamedNode, list[Term]]) -> Support:
    """A support read from the properties of a reifier or a review item."""

    def text(predicate: NamedNode) -> str | None:
        found = first(values, predicate)
        return found.value if isinstance(found, Literal) else None

    start, end, quote, confidence, reply, stated, distance = (text(predicate) for predicate in _SUPPORT)
    computed = first(values, UKG.computedRelation)
    return Support(
        start=None if start is None else int(start),
        end=None if end is None else int(end),
        quote=quote,
        confidence=None if confidence is None else float(confidence),
        reply=reply,
        stated=stated,
        computed=computed if isinstance(computed, NamedNode) else None,
        distance_m=None if distance is None else float(distance),
        geocoded=text(UKG.geocodedFrom),
        inferred=tuple(end for end in _ENDS if Literal(end) in values.get(UKG.inferred, ())),
    )


def first(values: dict[NamedNode, list[Term]], predicate: NamedNode) -> Term | None:
    """The first value of a property, or None."""
    found = values.get(predicate)
    return found[0] if found else None
