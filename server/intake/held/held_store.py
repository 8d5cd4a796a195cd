"""The records of batches that wait to be judged in the background, since too many nodes depend on them.

A record is RDF in a system graph. It is committed before a client learns that its batch is held, and its
final state is in the same commit as the batch. So no batch is lost or committed twice, even in a crash.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad

from server.errors import UnknownResource
from server.intake.batch import Submission
from server.intake.held.packing import pack, unpack
from sparql.model.errors import TooMuchDepends
from sparql.model.source import Term
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DCTERMS, HELD, PROV, RDF, RECORD, UKG, XSD

_PREFIX = RECORD.term("held/").value


class HeldState(StrEnum):
    """The state of a held batch. Refused: nothing of it was accepted; all of it is in the review queue."""

    WAITING = "waiting"
    COMMITTED = "committed"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"

    @property
    def node(self) -> NamedNode:
        """The term for it in the graph."""
        return UKG.term(self.value.capitalize())


@dataclass(frozen=True)
class HeldBatch:
    """One batch; `outcome` is the answer that its client would have got, once that is known."""

    identifier: str
    state: HeldState
    created: str
    reason: str
    statements: int
    source: str | None = None
    ended: str | None = None
    outcome: dict[str, Any] | None = None

    def json(self) -> dict[str, Any]:
        """As `GET /held/{id}` shows it."""
        return {
            "id": self.identifier,
            "status": self.state.value,
            "created": self.created,
            "ended": self.ended,
            "source": self.source,
            "statements": self.statements,
            "reason": self.reason,
            "outcome": self.outcome,
        }


def held_quads(submission: Submission, found: TooMuchDepends) -> Iterator[Quad]:
    """The record of a batch that is held for this reason."""
    iri = NamedNode(_PREFIX + submission.identifier)
    count = len(submission.batch.statements)
    shapes = ", ".join(sorted(found.shapes))
    reason = f"More than {found.limit} nodes depend on {found.triple} by the shapes {shapes}."
    yield _quad(iri, RDF.type, UKG.HeldBatch)
    yield _quad(iri, UKG.status, HeldState.WAITING.node)
    yield _quad(iri, DCTERMS.created, _now())
    yield _quad(iri, DCTERMS.description, Literal(reason))
    yield _quad(iri, UKG.statements, Literal(str(count), datatype=XSD.integer))
    if submission.source is not None:
        yield _quad(iri, DCTERMS.source, Literal(submission.source))
    yield _quad(iri, UKG.submission, Literal(pack(submission)))


class HeldBatches:
    """Reads the records."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store

    def find(self, state: HeldState | None = None) -> list[str]:
        """The batches in a state, or all, in the order in which they came."""
        pattern = None if state is None else state.node
        found = self._store.match_quads(None, UKG.status, pattern, HELD)
        names = [quad.subject for quad in found if isinstance(quad.subject, NamedNode)]
        dated = sorted((_text(self._values(one), DCTERMS.created) or "", one.value) for one in names)
        return [name.removeprefix(_PREFIX) for _, name in dated]

    def get(self, identifier: str) -> HeldBatch:
        """One batch. Raises `UnknownResource`."""
        values = self._of(identifier)
        outcome = _text(values, UKG.outcome)
        return HeldBatch(
            identifier=identifier,
            state=next(state for state in HeldState if state.node == values[UKG.status]),
            created=_text(values, DCTERMS.created) or "",
            reason=_text(values, DCTERMS.description) or "",
            statements=int(_text(values, UKG.statements) or 0),
            source=_text(values, DCTERMS.source),
            ended=_text(values, PROV.endedAtTime),
            outcome=None if outcome is None else json.loads(outcome),
        )

    def submission(self, identifier: str) -> Submission:
        """The content of a batch. Raises `UnknownResource` when it was settled, and `HeldUnreadable`."""
        packed = _text(self._of(identifier), UKG.submission)
        if packed is None:
            raise UnknownResource(
                f"The batch {identifier} was settled; GET /held/{identifier} shows its outcome."
            )
        return unpack(packed)

    def ended(self, identifier: str, state: HeldState, outcome: dict[str, Any] | None) -> list[Quad]:
        """What the final state of a batch adds to its record."""
        iri = NamedNode(_PREFIX + identifier)
        quads = [_quad(iri, UKG.status, state.node), _quad(iri, PROV.endedAtTime, _now())]
        if outcome is not None:
            quads.append(_quad(iri, UKG.outcome, Literal(json.dumps(outcome, ensure_ascii=False))))
        return quads

    def outdated(self, identifier: str) -> list[Quad]:
        """What the final state of a batch removes from its record: its status and content."""
        iri = NamedNode(_PREFIX + identifier)
        return [
            *self._store.match_quads(iri, UKG.status, None, HELD),
            *self._store.match_quads(iri, UKG.submission, None, HELD),
        ]

    def _of(self, identifier: str) -> dict[NamedNode, Term]:
        try:
            values = self._values(NamedNode(_PREFIX + identifier))
        except ValueError:
            values = {}
        if UKG.status not in values:
            raise UnknownResource(f"There is no held batch {identifier}. List them with GET /held.")
        return values

    def _values(self, iri: NamedNode) -> dict[NamedNode, Term]:
        return {quad.predicate: quad.object for quad in self._store.match_quads(iri, None, None, HELD)}


def _quad(subject: NamedNode, predicate: NamedNode, value: NamedNode | Literal) -> Quad:
    return Quad(subject, predicate, value, HELD)


def _text(values: dict[NamedNode, Term], predicate: NamedNode) -> str | None:
    found = values.get(predicate)
    return found.value if isinstance(found, Literal) else None


def _now() -> Literal:
    return Literal(datetime.now(UTC).isoformat(), datatype=XSD.dateTime)
