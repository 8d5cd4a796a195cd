"""A batch on its way to the gate, with all that its provenance will say. It can be kept and sent on later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Quad

from server.errors import HeldUnreadable
from server.intake.batch import Batch
from server.intake.packing import pack, unpack
from sparql.model.change import BackgroundValidation, Reach
from sparql.provenance.records import Document, Support

if TYPE_CHECKING:
    from server.intake.intake import Outcome


@dataclass(frozen=True)
class Ending:
    """How a batch that was held is judged at last, and what of its record comes and goes in that commit.

    All are called under the writer's lock; `check` raises where the batch is not to be judged any more.
    """

    check: Callable[[], None]
    reach: Reach
    validated: Callable[[], BackgroundValidation | None]
    come: Callable[[Outcome], Iterable[Quad]]
    gone: Callable[[], Iterable[Quad]]


@dataclass(frozen=True)
class Submission:
    """Statements of one text or one client; `names` are a text's words for what the graph knows."""

    identifier: str
    batch: Batch
    started: datetime
    facts: Mapping[NamedNode, str] = field(default_factory=dict)
    document: Document | None = None
    source: str | None = None
    names: Mapping[NamedNode, Mapping[str, Support]] = field(default_factory=dict)

    def fresh(self) -> Submission:
        """The same with a batch of its own, since a batch changes on its way."""
        batch = self.batch
        return replace(
            self,
            batch=Batch(
                statements=dict(batch.statements),
                supports=dict(batch.supports),
                refused=dict(batch.refused),
                minted=batch.minted,
                uses=dict(batch.uses),
            ),
        )

    def packed(self) -> str:
        """As JSON."""
        batch = self.batch
        return pack(
            {
                "identifier": self.identifier,
                "started": self.started,
                "facts": self.facts,
                "document": self.document,
                "source": self.source,
                "names": self.names,
                "statements": batch.statements,
                "supports": batch.supports,
                "refused": batch.refused,
                "minted": batch.minted,
                "uses": batch.uses,
            }
        )

    @classmethod
    def unpacked(cls, text: str) -> Submission:
        """From its JSON. Raises `HeldUnreadable`."""
        found = unpack(text)
        parts = ("statements", "supports", "refused", "minted", "uses")
        try:
            batch = Batch(**{name: found.pop(name) for name in parts})
            return cls(batch=batch, **found)
        except (AttributeError, KeyError, TypeError) as error:
            raise HeldUnreadable(f"it lacks or has too much of {error}") from error
