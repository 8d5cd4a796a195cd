"""The decisions on review items as they are recorded, with what an undo needs to know.

A decision names its items. Where it took statements out of the graph, it also names the items that hold
them, each with the run whose evidence was withdrawn; where a statement was corrected, the statements accepted
in its place. Quotes are not copied: they are deleted with the item when its document is removed.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.review.review_item import PREFIX, State
from shapes.errors import DecisionUnknown
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import PROV, PROVENANCE, RDF, RDFS, RECORD, UKG

_PREFIX = RECORD.term("decision/").value


@dataclass(frozen=True)
class PastDecision:
    """A decision that was made; `outcome` is the state that its items then had, `at` an xsd:dateTime.

    `withdrawn` are items with the run whose evidence of them left the graph, `revived` items whose statements
    came into the graph because of it, `corrected` the statements accepted in place of an item's own.
    """

    iri: NamedNode
    outcome: State
    by: str
    at: str
    reason: str | None
    items: tuple[NamedNode, ...]
    withdrawn: tuple[tuple[NamedNode, NamedNode], ...] = ()
    revived: tuple[NamedNode, ...] = ()
    corrected: Mapping[NamedNode, tuple[Triple, ...]] | None = None

    @property
    def identifier(self) -> str:
        """Its name for clients."""
        return self.iri.value.removeprefix(_PREFIX)


class DecisionHistory:
    """Reads the decisions on review items in the provenance graph."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store

    def find(self) -> list[NamedNode]:
        """All decisions on review items, newest first."""
        decisions = {
            quad.subject
            for quad in self._store.match_quads(None, RDF.type, UKG.Decision, PROVENANCE)
            if isinstance(quad.subject, NamedNode) and self._items(quad.subject)
        }
        dated = sorted(
            ((self._text(one, PROV.endedAtTime) or "", one.value) for one in decisions), reverse=True
        )
        return [NamedNode(name) for _, name in dated]

    def get(self, iri: NamedNode) -> PastDecision:
        """One decision. Raises `DecisionUnknown`."""
        items = self._items(iri)
        if not items:
            raise DecisionUnknown(iri.value.removeprefix(_PREFIX))
        agent = next(iter(self._nodes(iri, PROV.wasAssociatedWith)), None)
        withdrawn = []
        for part in self._nodes(iri, UKG.withdrew):
            pairs = zip(self._nodes(part, UKG.item), self._nodes(part, UKG.occurrence), strict=False)
            withdrawn += list(pairs)
        corrected = {}
        for part in self._nodes(iri, UKG.corrected):
            stated = tuple(t for t in self._objects(part, UKG.statement) if isinstance(t, Triple))
            corrected.update(dict.fromkeys(self._nodes(part, UKG.item), stated))
        return PastDecision(
            iri,
            State.of(next(iter(self._objects(iri, UKG.outcome)), None)),
            (self._text(agent, RDFS.label) if agent else None) or "",
            self._text(iri, PROV.endedAtTime) or "",
            self._text(iri, RDFS.comment),
            items,
            tuple(withdrawn),
            tuple(self._nodes(iri, UKG.revived)),
            corrected,
        )

    def _items(self, decision: NamedNode) -> tuple[NamedNode, ...]:
        """The review items that a decision is about; none where it is about a proposal."""
        return tuple(one for one in self._nodes(decision, PROV.used) if one.value.startswith(PREFIX))

    def _objects(self, subject: NamedNode, predicate: NamedNode) -> Iterator[Term]:
        return (quad.object for quad in self._store.match_quads(subject, predicate, None, PROVENANCE))

    def _nodes(self, subject: NamedNode, predicate: NamedNode) -> list[NamedNode]:
        found = (term for term in self._objects(subject, predicate) if isinstance(term, NamedNode))
        return sorted(found, key=lambda node: node.value)

    def _text(self, subject: NamedNode, predicate: NamedNode) -> str | None:
        return next((t.value for t in self._objects(subject, predicate) if isinstance(t, Literal)), None)


def named_decision(identifier: str) -> NamedNode:
    """The decision with an identifier or IRI. Raises `DecisionUnknown`."""
    try:
        return NamedNode(identifier if identifier.startswith(_PREFIX) else _PREFIX + identifier)
    except ValueError as error:
        raise DecisionUnknown(identifier) from error


def effect_quads(
    decision: NamedNode,
    withdrawn: Iterable[tuple[NamedNode, NamedNode]],
    revived: Iterable[NamedNode],
    corrected: Mapping[NamedNode, Iterable[Triple]],
) -> Iterator[Quad]:
    """What a decision did beside settling its items, as `PastDecision` has it."""
    for number, (item, run) in enumerate(withdrawn):
        part = NamedNode(f"{decision.value}/withdrawn/{number}")
        yield Quad(decision, UKG.withdrew, part, PROVENANCE)
        yield Quad(part, UKG.item, item, PROVENANCE)
        yield Quad(part, UKG.occurrence, run, PROVENANCE)
    for item in revived:
        yield Quad(decision, UKG.revived, item, PROVENANCE)
    for number, (item, triples) in enumerate(corrected.items()):
        part = NamedNode(f"{decision.value}/corrected/{number}")
        yield Quad(decision, UKG.corrected, part, PROVENANCE)
        yield Quad(part, UKG.item, item, PROVENANCE)
        for triple in triples:
            yield Quad(part, UKG.statement, triple, PROVENANCE)
