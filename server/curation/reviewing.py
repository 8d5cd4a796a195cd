"""The review queue as people see it: items with the entities that they may mean, and decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import Literal, NamedNode, Triple

from curation.decisions import Outcome, Reviewer
from curation.review import ReviewFilter
from curation.review_item import ReviewItem, State
from server.errors import InvalidBody
from server.http.pages import page
from server.http.reporting.statements import review_json, statement_json, violation_json
from server.runtime.context import Services
from sparql.model.change import Statement
from sparql.provenance.records import RECORD

_SIMILAR = 5
_DOCUMENT = RECORD.term("document/").value


@dataclass(frozen=True)
class DecisionReport:
    """A decision with its items as they are now."""

    outcome: Outcome
    items: tuple[ReviewItem, ...]
    refused: Mapping[NamedNode, Any]

    def json(self) -> dict[str, Any]:
        """The answer of the routes that decide."""
        outcome = self.outcome
        return {
            "decision": outcome.decision.value if outcome.decision else None,
            "items": [review_json(item) for item in self.items],
            "refused": [
                {"id": identifier(iri), "violations": [violation_json(v) for v in violations]}
                for iri, violations in self.refused.items()
            ],
            "unchanged": [
                {"id": identifier(iri), "status": state.value} for iri, state in outcome.unchanged.items()
            ],
            "fallen": [statement_json(triple) for triple in outcome.fallen],
            "revived": [statement_json(triple) for triple in outcome.revived],
            "revision": outcome.revision,
        }


class ReviewService:
    """Reads and decides for the routes and the command line; blocks, so call it from a thread."""

    def __init__(self, services: Services) -> None:
        self._review = services.review
        self._decisions = services.decisions
        self._services = services

    def find(self, wanted: ReviewFilter) -> list[NamedNode]:
        """The items that a filter selects, newest first."""
        return self._review.find(wanted)

    def page(self, wanted: ReviewFilter, offset: int, limit: int) -> dict[str, Any]:
        """One page of items, newest first, with the total."""
        found = self._review.find(wanted)

        def tell(iri: NamedNode) -> dict[str, Any] | None:
            return next((review_json(item) for item in self._review.items([iri])), None)

        return page("items", found, offset, limit, tell)

    def show(self, iri: NamedNode) -> dict[str, Any]:
        """One item, with the entities that its names may mean. Raises `ReviewItemUnknown`."""
        return self._json(self._review.get(iri))

    def decide(
        self,
        decision: str,
        items: Sequence[NamedNode],
        by: Reviewer,
        reason: str | None = None,
        statements: Sequence[Statement] | None = None,
    ) -> DecisionReport:
        """Accept, reject or reopen. Raises what `curation.decisions.Decisions` raises."""
        if decision == "accept":
            outcome = self._decisions.accept(items, by, reason=reason, statements=statements)
        elif decision == "reject":
            outcome = self._decisions.reject(items, by, reason=reason or "")
        else:
            outcome = self._decisions.reopen(items, by, reason=reason)
        return DecisionReport(outcome, tuple(self._review.get(iri) for iri in outcome.done), outcome.refused)

    def _json(self, item: ReviewItem) -> dict[str, Any]:
        similar = {
            end: found
            for end, node, name in (
                ("subject", item.triple.subject, item.subject_name),
                ("object", item.triple.object, item.object_name),
            )
            if (found := self._similar(node, name))
        }
        return {**review_json(item), "similar": similar}

    def _similar(self, node: Any, name: str | None) -> list[dict[str, Any]]:
        """Existing entities whose names are like that of one end of a statement, best first."""
        if isinstance(node, Literal | Triple):
            return []
        if isinstance(node, NamedNode):
            entries = self._services.labels.entries_of(node)
            name = name or (entries[0].label if entries else None)
        if name is None:
            return []
        found: dict[NamedNode, dict[str, Any]] = {}
        for entry, score in self._services.labels.similar(name, _SIMILAR * 3):
            if entry.iri != node and entry.iri not in found:
                found[entry.iri] = {
                    "iri": entry.iri.value,
                    "label": entry.label,
                    "classes": sorted(class_.value for class_ in entry.classes),
                    "score": round(score, 3),
                }
        return list(found.values())[:_SIMILAR]


def filter_of(
    status: str,
    document: str | None = None,
    shape: str | None = None,
    predicate: str | None = None,
    entity: str | None = None,
    text: str | None = None,
) -> ReviewFilter:
    """A filter from what a client sent. Raises `InvalidBody` for what is neither a state nor an IRI."""
    if status not in (*State, "any"):
        raise InvalidBody([("status", f"'{status}' is none of {', '.join((*State, 'any'))}")])
    return ReviewFilter(
        state=None if status == "any" else State(status),
        document=None if document is None else document_iri(document),
        shape=None if shape is None else _iri("shape", shape),
        predicate=None if predicate is None else _iri("predicate", predicate),
        entity=None if entity is None else _iri("entity", entity),
        text=text,
    )


def document_iri(identifier: str) -> NamedNode:
    """A document by its identifier or its whole IRI."""
    return _iri("document", identifier if "://" in identifier else _DOCUMENT + identifier)


def identifier(item: NamedNode) -> str:
    """The last part of a record's IRI."""
    return item.value.rpartition("/")[2]


def _iri(name: str, text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise InvalidBody([(name, f"'{text}' is not an absolute IRI")]) from error
