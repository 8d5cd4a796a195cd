"""Merges as recorded in the provenance graph, with what each deleted and added."""

from collections.abc import Iterable
from dataclasses import dataclass

import pyoxigraph
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple

from shapes.errors import MergeUnknown
from sparql.model.change import Rejection
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import PROV, PROVENANCE, RDF, RDFS, RECORD, UKG
from sparql.provenance.evidence import EvidenceReader, first

PREFIX = RECORD.term("merge/").value


@dataclass(frozen=True)
class Merge:
    """A recorded merge; `split` is when it was undone, as xsd:dateTime."""

    iri: NamedNode
    kept: NamedNode
    merged: NamedNode
    at: str
    by: str
    reason: str | None
    split: str | None

    @property
    def identifier(self) -> str:
        """Its name for clients."""
        return self.iri.value.removeprefix(PREFIX)


@dataclass(frozen=True)
class Merged:
    """The outcome of a merge or a split; `merge` is None when the gate refused it.

    `dropped` are statements of the other entity that contradict the kept one's, left out on request.
    """

    merge: NamedNode | None
    statements: int
    dropped: tuple[Triple, ...]
    rejected: tuple[Rejection, ...]
    revision: int | None


class MergeRecords:
    """Reads merges from a store."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self._evidence = EvidenceReader(store)

    def all(self) -> list[Merge]:
        """Every merge, newest first."""
        quads = self._store.match_quads(None, RDF.type, UKG.Merge, PROVENANCE)
        found = [self.get(quad.subject) for quad in quads if isinstance(quad.subject, NamedNode)]
        return sorted(found, key=lambda merge: (merge.at, merge.iri.value), reverse=True)

    def get(self, iri: NamedNode) -> Merge:
        """One merge. Raises `MergeUnknown`."""
        values = self._evidence.values(iri)
        kept, merged = first(values, UKG.kept), first(values, UKG.merged)
        if not isinstance(kept, NamedNode) or not isinstance(merged, NamedNode):
            raise MergeUnknown(iri.value.removeprefix(PREFIX))
        agent = first(values, PROV.wasAssociatedWith)
        return Merge(
            iri,
            kept,
            merged,
            at=self._evidence.text(iri, PROV.endedAtTime) or "",
            by=(self._evidence.text(agent, RDFS.label) if isinstance(agent, NamedNode) else None) or "",
            reason=self._evidence.text(iri, RDFS.comment),
            split=self._evidence.text(iri, UKG.splitAt),
        )

    def quads(self, merge: NamedNode, predicate: NamedNode) -> list[Quad]:
        """What a merge deleted, added or left."""
        text = self._evidence.text(merge, predicate) or ""
        return list(pyoxigraph.parse(text.encode(), format=RdfFormat.N_QUADS))


def named_merge(identifier: str) -> NamedNode:
    """The merge with an identifier or IRI. Raises `MergeUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(PREFIX) else PREFIX + identifier)
    except ValueError as error:
        raise MergeUnknown(identifier) from error


def written(quads: Iterable[Quad]) -> str:
    """Quads as N-Quads, in stable order."""
    written = pyoxigraph.serialize(sorted(quads, key=str), format=RdfFormat.N_QUADS)
    assert written is not None
    return written.decode()


def in_graph(graph: NamedNode | DefaultGraph | Term, triple: Triple) -> Quad:
    """The triple in a graph that was read from a quad."""
    return Quad(triple.subject, triple.predicate, triple.object, graph)  # type: ignore[arg-type]


def said(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal | Triple) -> Quad:
    """A quad of the provenance graph."""
    return Quad(subject, predicate, value, PROVENANCE)
