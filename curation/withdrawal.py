"""What is deleted when evidence is withdrawn, and how that affects the statements of other texts.

A statement is deleted with its last origin. Then others may lose their basis: "Bowne Hall opened in 1990"
conforms only as long as some text says what Bowne Hall is. Those are judged again without the withdrawn
evidence; what no longer conforms waits in review. Conversely, statements that were refused only because of a
withdrawn statement are tried again.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Triple

from curation.review.review_item import ReviewItem, RunOrigin, State
from curation.review.review_queue import ReviewQueue
from sparql.model.change import Change, Delta, Origin, Rejection, Selection, Statement
from sparql.model.source import Overlay, Term
from sparql.model.support import quad_of
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import (
    ASSERTED,
    DEFAULT,
    DERIVED,
    EXTRACTED,
    INFERRED,
    ONTOLOGY,
    RDF,
    REVIEW,
    SH,
    UKG,
)
from sparql.provenance.evidence import Evidence, EvidenceReader, Piece
from sparql.provenance.records import evidence_quads
from sparql.writing.writer import Writer


@dataclass(frozen=True)
class Withdrawal:
    """What is deleted with a set of evidence, computed for the current graph.

    `evidence` is to be withdrawn. `triples` are no longer supported by any text; of those, `removed` are
    deleted from the graph, having no other origin.
    `fallen` are statements of other texts that no longer conform, with the evidence they had. `revived`
    are review items whose statement conforms now.
    """

    evidence: frozenset[Piece] = frozenset()
    triples: frozenset[Triple] = frozenset()
    removed: frozenset[Triple] = frozenset()
    fallen: tuple[tuple[Rejection, tuple[Evidence, ...]], ...] = ()
    revived: tuple[ReviewItem, ...] = ()

    @property
    def change(self) -> Change:
        """The change of the graph, without records; it has been judged."""
        return Change(
            additions=tuple(item.statement for item in self.revived),
            withdrawals=self.triples | {rejection.statement.triple for rejection, _ in self.fallen},
            origin=Origin.EXTRACTED,
            partial=True,
            judged=True,
        )


class Withdrawals:
    """Plans withdrawals. Call with the writer's lock held, inside `Writer.commit_built`."""

    def __init__(self, store: TripleStore, writer: Writer, review: ReviewQueue) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._evidence = EvidenceReader(store)

    def plan(
        self,
        evidence: Collection[Piece],
        *,
        ignoring: Collection[NamedNode] = (),
        deleted: Collection[Triple] = (),
    ) -> Withdrawal:
        """What is deleted with this evidence; `ignoring` are review items that are deleted as well.

        `deleted` are statements that are deleted whatever supports them.
        """
        gone = frozenset(evidence)
        triples = {piece.triple for piece in gone}
        unsupported = frozenset(t for t in triples if self._evidence.about(t) <= gone)
        removed = frozenset(triple for triple in unsupported if self._rests_on_texts(triple)).union(deleted)
        fallen = self._fallen(removed, gone)
        out = removed | {rejection.statement.triple for rejection, _ in fallen}
        revived = self._revived(out, frozenset(ignoring))
        return Withdrawal(gone, unsupported, removed, tuple(fallen), tuple(revived))

    def record(self, planned: Withdrawal) -> Iterator[Quad]:
        """The system quads to add: review items of fallen statements, evidence of revived ones."""
        for rejection, supports in planned.fallen:
            for one in supports:
                yield from self._review.note(rejection, self.origin(one.run), one.support, names={})
        for item in planned.revived:
            yield Quad(item.iri, UKG.status, State.SUPERSEDED.node, REVIEW)
            for run in self._review.occurrences(item.iri):
                yield from evidence_quads(run, item.triple, item.support)

    def retract(self, planned: Withdrawal) -> Iterator[Quad]:
        """The system quads to delete: the evidence, and that of fallen statements."""
        of_fallen = {one.piece for _, supports in planned.fallen for one in supports}
        yield from self._evidence.leaving(planned.evidence | of_fallen)
        for rejection, supports in planned.fallen:
            for one in supports:
                yield from self._review.forget_reasons(rejection, self.origin(one.run))
        for item in planned.revived:
            yield Quad(item.iri, UKG.status, State.OPEN.node, REVIEW)

    def origin(self, run: NamedNode) -> RunOrigin:
        """The origin of the statements of a run."""
        return RunOrigin(run, self._evidence.document_of(run), self._evidence.source_of(run))

    def _fallen(
        self, removed: Collection[Triple], gone: frozenset[Piece]
    ) -> list[tuple[Rejection, tuple[Evidence, ...]]]:
        """The statements of other texts that no longer conform, and then those that depend on them.

        Only nodes that come to violate a shape are followed, not everything linked to deleted statements.
        Evidence that is deleted anyway does not count: nothing of a removed text waits for review.
        """
        out = set(removed)
        fallen: list[tuple[Rejection, tuple[Evidence, ...]]] = []
        while out:
            nearby = {
                triple
                for node in self._newly_wrong(out)
                for triple in self._extracted_about(node)
                if triple not in out and self._rests_on_texts(triple)
            }
            if not nearby:
                break
            statements = tuple(self._statement(triple) for triple in sorted(nearby, key=str))
            rejected = self._judge(statements, out | nearby, frozenset()).rejected
            if rejected:
                # Statements that do not conform in the current graph do not fall because of this withdrawal.
                known = self._judge(statements, nearby, frozenset()).rejected
                wrong = {rejection.statement.triple for rejection in known}
                rejected = tuple(one for one in rejected if one.statement.triple not in wrong)
            if not rejected:
                break
            out |= {rejection.statement.triple for rejection in rejected}
            for rejection in rejected:
                found = (self._evidence.read(one) for one in self._evidence.about(rejection.statement.triple))
                left = tuple(one for one in found if one is not None and one.piece not in gone)
                fallen.append((rejection, left))
        return fallen

    def _newly_wrong(self, out: Collection[Triple]) -> set[NamedNode | BlankNode]:
        """The nodes that violate a shape without these triples, and the offending values."""
        gate = self._writer.gate
        if gate is None:
            return set()
        gone = frozenset(out)
        rejected = gate.select(self._store, (), gone, self._writer.derive, partial=False).rejected
        violations = (violation for rejection in rejected for violation in rejection.violations)
        nodes = {node for violation in violations for node in (violation.focus, violation.value)}
        return {node for node in nodes if isinstance(node, NamedNode | BlankNode)}

    def _revived(self, removed: Collection[Triple], ignoring: frozenset[NamedNode]) -> list[ReviewItem]:
        """Items refused by a shape that conform after the deletion; earlier texts first."""
        if self._writer.gate is None:
            return []
        around = {
            item for node in _nodes(removed) for item in self._review.with_violations_about(node)
        } - ignoring
        items = [self._review.get(iri) for iri in around if self._review.state(iri) is State.OPEN]
        items = [item for item in items if not item.accepted and _is_of_shapes(item)]
        items.sort(key=lambda item: (item.created, item.iri.value))
        batches: dict[NamedNode | str | None, list[ReviewItem]] = {}
        for item in items:
            batches.setdefault(item.document or item.source, []).append(item)
        out, come = frozenset(removed), frozenset[Triple]()
        revived: list[ReviewItem] = []
        for batch in batches.values():
            statements = {item.triple: item.statement for item in batch}
            fresh = tuple(s for t, s in statements.items() if t not in come and t not in out)
            accepted = self._judge(fresh, out, come).accepted
            taken = {statement.triple for statement in accepted}
            come |= taken
            revived += [item for item in batch if item.triple in come]
        return revived

    def _judge(
        self, statements: tuple[Statement, ...], out: Collection[Triple], come: frozenset[Triple]
    ) -> Selection:
        """The statements that conform in the graph with some triples deleted and others added."""
        gate = self._writer.gate
        assert gate is not None

        derived = self._writer.derive(come, frozenset(out))

        def derive(added: Collection[Triple], removed: Collection[Triple]) -> Delta:
            held = {triple for triple in added if triple in out}
            new = (set(added) - held) | come
            whole = self._writer.derive(frozenset(new), (frozenset(out) - held) | frozenset(removed))
            return Delta(
                whole.additions - derived.additions | derived.removals - whole.removals,
                whole.removals - derived.removals | derived.additions - whole.additions,
            )

        # Consequences of deleted triples are deleted too: they must not count as older violations.
        before = Overlay(self._store, come | derived.additions, frozenset(out) | derived.removals)
        return gate.select(before, statements, frozenset(), derive, partial=True)

    def _statement(self, triple: Triple) -> Statement:
        """The statement with the highest confidence of its evidence."""
        found = (self._evidence.read(piece) for piece in self._evidence.about(triple))
        sure = [one.support.confidence for one in found if one and one.support.confidence is not None]
        return Statement(triple, max(sure, default=None))

    def _extracted_about(self, node: NamedNode | BlankNode) -> Iterable[Triple]:
        for quad in self._store.match_quads(node, None, None, EXTRACTED):
            yield quad.triple
        for quad in self._store.match_quads(None, None, node, EXTRACTED):
            if quad.predicate != RDF.type:
                yield quad.triple

    def is_asserted(self, triple: Triple) -> bool:
        """Whether a client or a file stated a triple of the graph, so that it can be deleted as such."""
        if not self._is_in(triple, DEFAULT) or self._is_in(triple, DERIVED, ONTOLOGY, INFERRED):
            return False
        return self._is_in(triple, ASSERTED) or not self._is_in(triple, EXTRACTED)

    def _rests_on_texts(self, triple: Triple) -> bool:
        """Whether only texts support a triple."""
        return self._is_in(triple, EXTRACTED) and not self._is_in(triple, ASSERTED, DERIVED, ONTOLOGY)

    def _is_in(self, triple: Triple, *graphs: DefaultGraph | NamedNode) -> bool:
        return any(self._store.contains(quad_of(triple, graph)) for graph in graphs)


def _nodes(triples: Iterable[Triple]) -> set[NamedNode | BlankNode]:
    """The subjects and objects of triples, except classes."""
    found: set[Term] = set()
    for triple in triples:
        found.add(triple.subject)
        if triple.predicate != RDF.type:
            found.add(triple.object)
    return {node for node in found if isinstance(node, NamedNode | BlankNode)}


def _is_of_shapes(item: ReviewItem) -> bool:
    """Whether only shapes refused it; faults found by extraction itself do not depend on the graph."""
    return bool(item.violations) and all(v.component in SH for v in item.violations)
