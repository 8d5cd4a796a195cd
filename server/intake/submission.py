"""A batch for the gate with everything for its provenance. It can be stored and judged later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Quad

from server.intake.batch import Batch
from sparql.model.change import BackgroundValidation, Reach
from sparql.provenance.records import Document, Support

if TYPE_CHECKING:
    from server.intake.outcome import Outcome


@dataclass(frozen=True)
class HeldEnding:
    """How a held batch is judged, and what that commit changes in its record.

    All are called under the writer's lock; `check` raises where the batch must not be judged anymore.
    """

    check: Callable[[], None]
    reach: Reach
    validated: Callable[[], BackgroundValidation | None]
    additions: Callable[[Outcome], Iterable[Quad]]
    removals: Callable[[], Iterable[Quad]]


@dataclass(frozen=True)
class Submission:
    """Statements of one text or one client; `names` are a text's words for entities of the graph."""

    identifier: str
    batch: Batch
    started: datetime
    facts: Mapping[NamedNode, str] = field(default_factory=dict)
    document: Document | None = None
    source: str | None = None
    names: Mapping[NamedNode, Mapping[str, Support]] = field(default_factory=dict)

    def fresh(self) -> Submission:
        """A copy with its own batch, since assessors change a batch."""
        batch = self.batch
        return replace(
            self,
            batch=Batch(
                statements=dict(batch.statements),
                supports=dict(batch.supports),
                refused=dict(batch.refused),
                doubts=dict(batch.doubts),
                minted=batch.minted,
                uses=dict(batch.uses),
            ),
        )
