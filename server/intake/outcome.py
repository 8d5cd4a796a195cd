"""The result of a text or of a client's statements, as the routes answer it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pyoxigraph import Triple

from extractors.candidates import Entity, Extraction
from server.http.reporting.statements import judged_in_full, rejection_json, statement_json
from server.intake.traces import trace_json
from sparql.model.change import Verdict
from sparql.model.errors import TooMuchDepends
from sparql.provenance.records import Support


@dataclass(frozen=True)
class Outcome:
    """The result of one text or one submission."""

    identifier: str
    verdict: Verdict
    supports: Mapping[Triple, Support]
    extraction: Extraction | None = None
    usage: Mapping[str, Any] | None = None

    @property
    def held_at(self) -> str | None:
        """Where the batch waits, if it was held; a dry run only says that it would be."""
        verdict = self.verdict
        return None if verdict.held is None or verdict.revision is None else f"/held/{self.identifier}"

    @property
    def incomplete(self) -> dict[str, Any] | None:
        """Why not all of the text was read, and from which code point on; None where it was."""
        found = None if self.extraction is None else self.extraction.incomplete
        return None if found is None else asdict(found)

    def json(self) -> dict[str, Any]:
        """The answer of `POST /extractions` and `POST /candidates`."""
        verdict = self.verdict
        return {
            "id": self.identifier,
            "accepted": [statement_json(s.triple, self.supports.get(s.triple)) for s in verdict.accepted],
            "rejected": [
                rejection_json(rejection, self.supports.get(rejection.statement.triple))
                for rejection in verdict.rejected
            ],
            "warnings": [
                rejection_json(rejection, self.supports.get(rejection.statement.triple))
                for rejection in verdict.warnings
            ],
            "replaced": [statement_json(old) for _, old in sorted(verdict.replaced, key=str)],
            "derived": len(verdict.derived.additions),
            "revision": verdict.revision,
            **judged_in_full(verdict),
            **({} if verdict.held is None else {"held": held_json(self.held_at, verdict.held)}),
            "entities": [] if self.extraction is None else [_entity(e) for e in self.extraction.entities],
            "usage": self.usage,
            "incomplete": self.incomplete,
            "trace": None if self.extraction is None else trace_json(self.extraction),
        }


def held_json(at: str | None, found: TooMuchDepends) -> dict[str, Any]:
    """The answer for a batch that is held, or would be (`at` None)."""
    state, ending = (
        ("Nothing of it is in the graph yet", "is judged")
        if at
        else ("This is a dry run", "would be held and judged")
    )
    return {
        "at": at,
        "reason": f"{state}: more than {found.limit} nodes depend on {found.triple}, so it {ending} in the "
        "background.",
        "shapes": sorted(found.shapes),
    }


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "iri": entity.iri.value,
        "label": entity.label,
        "classes": [class_.value for class_ in entity.classes],
        "new": entity.new,
        "mentions": [{"start": m.start, "end": m.end, "quote": m.quote} for m in entity.mentions],
    }
