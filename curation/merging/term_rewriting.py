"""Rewrites statements to other terms in the commit that replaces the ontology, and takes that back exactly.

A statement keeps its origins, its evidence and its review items. Where the graph states it with the new term
too, the two become one; the record then holds the quads themselves, as for a merge of entities.
"""

import uuid
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, Triple

from curation.merging.merging import in_graph, said, written
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import (
    ASSERTED,
    DEFAULT,
    DERIVED,
    EXTRACTED,
    INFERRED,
    ONTOLOGY,
    PROVENANCE,
    RDF,
    REVIEW,
    SH,
    UKG,
    XSD,
)
from sparql.provenance.term_rewrites import (
    PastRewrite,
    RewriteRecords,
    TermPair,
    header_quads,
    record_of,
)
from sparql.writing.derivation import Substitution

_STATED = (DEFAULT, ASSERTED, EXTRACTED)
_MENTIONS = (RDF.reifies, UKG.statement)
"""By what the provenance graph mentions a statement."""
_ORIGINS = (ASSERTED, EXTRACTED, DERIVED, ONTOLOGY)


class TermRewriting:
    """One rewrite in progress; call it under the writer's lock."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self._records = RewriteRecords(store)
        self._removals: dict[Quad, None] = {}
        self._additions: dict[Quad, None] = {}
        self._moved: set[Triple] = set()
        self._made: set[Triple] = set()
        self._items: dict[NamedNode, Triple] = {}

    def substitution(
        self, pairs: tuple[TermPair, ...], undone: tuple[PastRewrite, ...], before: str, after: str
    ) -> Substitution:
        """The quads that change; `before` and `after` are the versions of the ontology."""
        now = datetime.now(UTC).isoformat()
        self._undo(undone, now)
        if pairs:
            past = record_of(uuid.uuid4().hex, before, after, now, pairs)
            self._add(header_quads(past))
            for node, pair in past.pairs.items():
                self._rewrite(node, pair)
        for quad in [quad for quad in self._removals if quad in self._additions]:
            # What is taken and put stays.
            del self._removals[quad], self._additions[quad]
        return Substitution(tuple(self._additions), tuple(self._removals), len(self._moved))

    def _rewrite(self, node: NamedNode, pair: TermPair) -> None:
        took: list[Quad] = []
        put: list[Quad] = []
        for triple in self._own(pair):
            new = pair.applied(triple)
            self._moved.add(triple)
            if new in self._made or self._is_stated(new):
                taken, given = self._unite(triple, new)
                took += taken
                put += given
            else:
                self._move(triple, new)
                self._add([said(node, UKG.rewrote, triple)])
            self._made.add(new)
        if took:
            self._add([said(node, UKG.took, Literal(written(took)))])
            self._add([said(node, UKG.put, Literal(written(put)))])
        for item, triple in self._items_with(pair):
            self._change_item(item, triple, pair)
            self._add([said(node, UKG.item, item)])

    def _own(self, pair: TermPair) -> list[Triple]:
        """The statements with the old term, but for those of the ontology and those that only follow."""
        found = [triple for triple in self._store.match(*pair.pattern) if triple not in self._moved]
        return [t for t in found if not any(self._holds(t, g) for g in (ONTOLOGY, INFERRED, DERIVED))]

    def _move(self, old: Triple, new: Triple) -> None:
        for graph in _STATED:
            if self._holds(old, graph):
                self._swap(in_graph(graph, old), in_graph(graph, new))
        for quad in self._mentions(old):
            self._swap(quad, Quad(quad.subject, quad.predicate, new, PROVENANCE))

    def _unite(self, old: Triple, new: Triple) -> tuple[list[Quad], list[Quad]]:
        """Let a statement that the graph has with the new term take over; what was taken and what was put."""
        taken = [in_graph(graph, old) for graph in _STATED if self._holds(old, graph)]
        origins = self._origins(new) | self._origins(old)
        put = [in_graph(g, new) for g in (ASSERTED, EXTRACTED) if g in origins and origins != {ASSERTED}]
        for quad in self._mentions(old):
            taken.append(quad)
            put.append(Quad(quad.subject, quad.predicate, new, PROVENANCE))
        put = [quad for quad in put if not self._store.contains(quad) and quad not in self._additions]
        self._removals |= dict.fromkeys(taken)
        self._add(put)
        return taken, put

    def _origins(self, triple: Triple) -> set[NamedNode]:
        """The origins of a statement as the commit leaves them so far; without a recorded one, asserted."""
        recorded = {g for g in _ORIGINS if self._holds(triple, g) or in_graph(g, triple) in self._additions}
        return recorded or {ASSERTED}

    # Review items.

    def _items_with(self, pair: TermPair) -> list[tuple[NamedNode, Triple]]:
        link = UKG.object if pair.is_class else UKG.predicate
        found = []
        for quad in self._store.match_quads(None, link, pair.old, REVIEW):
            if isinstance(quad.subject, NamedNode):
                triple = self._statement(quad.subject)
                if triple is not None and _has(triple, pair):
                    found.append((quad.subject, triple))
        return found

    def _statement(self, item: NamedNode) -> Triple | None:
        """The statement of an item, as the commit leaves it so far."""
        if item in self._items:
            return self._items[item]
        for quad in self._store.match_quads(item, RDF.reifies, None, REVIEW):
            if isinstance(quad.object, Triple):
                return quad.object
        return None

    def _change_item(self, item: NamedNode, triple: Triple, pair: TermPair) -> None:
        self._items[item] = pair.applied(triple)
        link = UKG.object if pair.is_class else UKG.predicate
        self._replace_value(item, RDF.reifies, triple, pair.applied(triple))
        self._replace_value(item, link, pair.old, pair.new)
        for quad in self._store.match_quads(item, UKG.violation, None, REVIEW):
            result = quad.object
            if isinstance(result, NamedNode):
                # An exception to a rule is found by what the result names.
                if pair.is_class:
                    self._replace_value(result, SH.value, pair.old, pair.new)
                else:
                    paths = Literal(pair.old.value), Literal(pair.new.value)
                    self._replace_value(result, SH.resultPath, *paths)

    def _replace_value(self, subject: NamedNode, predicate: NamedNode, old: Term, new: Term) -> None:
        before = Quad(subject, predicate, old, REVIEW)
        if before in self._additions or self._store.contains(before):
            self._swap(before, Quad(subject, predicate, new, REVIEW))

    # The way back.

    def _undo(self, undone: tuple[PastRewrite, ...], now: str) -> None:
        for past in undone:
            for node, pair in past.pairs.items():
                self._separate(node, pair)
                for item in self._records.items(node):
                    stated = self._statement(item)
                    if stated is not None and _has(stated, pair.inverse):
                        self._change_item(item, stated, pair.inverse)
            self._removals |= dict.fromkeys(self._records.contents(past))
            self._add([said(past.iri, UKG.undoneAt, Literal(now, datatype=XSD.dateTime))])
        for here, triple in self._records.moves(undone).items():
            if self._holds(here, DEFAULT):
                self._moved.add(here)
                self._move(here, triple)
                self._change_later_items(here, triple)

    def _change_later_items(self, here: Triple, triple: Triple) -> None:
        """Let items that were made since the rewrite be about the statement as it is again."""
        is_class = here.predicate == triple.predicate
        terms = (here.object, triple.object) if is_class else (here.predicate, triple.predicate)
        if not all(isinstance(term, NamedNode) for term in terms):
            return
        pair = TermPair(*terms, is_class)  # type: ignore[arg-type]
        for quad in self._store.match_quads(None, RDF.reifies, here, REVIEW):
            if isinstance(quad.subject, NamedNode) and quad.subject not in self._items:
                self._change_item(quad.subject, here, pair)

    def _separate(self, node: NamedNode, pair: TermPair) -> None:
        """Part the statements that a pair united, where they are in the graph still."""
        took, put = self._records.merged(node, UKG.took), self._records.merged(node, UKG.put)
        for quad in put:
            if self._store.contains(quad):
                self._removals[quad] = None
        for quad in took:
            about = quad.object if quad.graph_name == PROVENANCE else quad.triple
            if not isinstance(about, Triple) or not self._holds(pair.applied(about), DEFAULT):
                continue
            if quad.graph_name != PROVENANCE:
                self._add([quad])
                self._moved.add(about)
            elif any(True for _ in self._store.match_quads(quad.subject, None, None, PROVENANCE)):
                self._add([quad])

    # Quads.

    def _swap(self, old: Quad, new: Quad) -> None:
        if old in self._additions:
            del self._additions[old]
        elif old not in self._removals:
            self._removals[old] = None
        else:
            return
        self._additions[new] = None

    def _add(self, quads: Iterable[Quad]) -> None:
        self._additions |= dict.fromkeys(quads)

    def _mentions(self, triple: Triple) -> Iterator[Quad]:
        for predicate in _MENTIONS:
            yield from self._store.match_quads(None, predicate, triple, PROVENANCE)

    def _is_stated(self, triple: Triple) -> bool:
        return self._holds(triple, DEFAULT) and not self._holds(triple, INFERRED)

    def _holds(self, triple: Triple, graph: NamedNode | DefaultGraph) -> bool:
        return self._store.contains(in_graph(graph, triple))


def _has(triple: Triple, pair: TermPair) -> bool:
    """Whether a statement uses the old term of a pair."""
    if pair.is_class:
        return triple.predicate == RDF.type and triple.object == pair.old
    return triple.predicate == pair.old
