"""The review queue as people see it: items with the entities that they may mean, and decisions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pyoxigraph import BlankNode, NamedNode, Triple
from pyoxigraph import Literal as RdfLiteral

from curation.deciding.decision_in_progress import DecisionHistory, Outcome, PastDecision, named_decision
from curation.deciding.decisions import Decisions
from curation.review.review_item import Reviewer, ReviewItem, State
from curation.review.review_queue import ReviewNotes, named_item
from curation.review.review_search import Cause, ReviewFilter
from server.curation.filter_values import FilterValues
from server.curation.identity_questions import Answers, IdentityQuestions, SuggestedCorrections
from server.curation.item_reading import ItemReading, csv_of, report_of
from server.curation.review_filter import identifier
from server.errors import InvalidBody, SelectionChanged
from server.http.pages import page
from server.http.reporting.statements import review_json, statement_json, violation_json
from server.reader_language import for_reader
from server.services import Services
from shapes.errors import ReviewItemDecided
from sparql.model.change import Statement
from sparql.model.source import Term
from sparql.model.vocabulary import DCTERMS, RDF, SH, UKG
from sparql.provenance.records import EvidenceReader

MOST_AT_ONCE = 1000
"""The most items of one bulk decision."""
_MOST_UNCOUNTED = 20
"""A bulk decision on more items has to give their number."""
_MOST_VALUES = 100
_SIMILAR = 5
_LABELED = ("class", "predicate", "document")
"""The facets whose values are IRIs that have names."""


@dataclass(frozen=True)
class Correction:
    """What is replaced in statements: the property, the class that is stated, the value, or its datatype."""

    predicate: NamedNode | None = None
    class_: NamedNode | None = None
    value: NamedNode | BlankNode | RdfLiteral | None = None
    datatype: NamedNode | None = None

    @property
    def needs(self) -> str:
        """What it fits, for a message about what it does not fit."""
        if self.class_ is not None:
            return "a class replaces that of a statement with rdf:type; it"
        return "a datatype replaces that of a literal; it"

    def applied(self, triple: Triple) -> Triple | None:
        """The corrected statement; None where there is nothing to correct."""
        value = triple.object if self.value is None else self.value
        if self.class_ is not None:
            if triple.predicate != RDF.type:
                return None
            value = self.class_
        if self.datatype is not None:
            if not isinstance(value, RdfLiteral):
                return None
            value = RdfLiteral(value.value, datatype=self.datatype)
        return Triple(triple.subject, self.predicate or triple.predicate, value)


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
            "added": [statement_json(triple) for triple in outcome.added],
            "withdrawn": [statement_json(triple) for triple in outcome.withdrawn],
            "fallen": [statement_json(triple) for triple in outcome.fallen],
            "revived": [statement_json(triple) for triple in outcome.revived],
            "revision": outcome.revision,
        }


class ReviewService:
    """Reads and decides for the routes and the command line; blocks, so call it from a thread."""

    def __init__(self, services: Services, decisions: Decisions | None = None) -> None:
        self._review = services.review
        self._decisions = decisions or services.decisions
        self._services = services
        self._reading = ItemReading(services)
        self._questions = IdentityQuestions(services)
        self._values = FilterValues(services, services.review)

    def as_dry_run(self) -> "ReviewService":
        """The same service, whose decisions are dry runs."""
        return ReviewService(self._services, self._decisions.as_dry_run())

    def page(self, wanted: ReviewFilter, offset: int, limit: int) -> dict[str, Any]:
        """One page of items, newest first, with the total. Raises `UnknownValues`, as all with a filter."""
        found = self._find(wanted)

        def entry(iri: NamedNode) -> dict[str, Any] | None:
            return next((self._reading.json(item) for item in self._review.items([iri])), None)

        return page("items", found, offset, limit, entry) | {"notes": self._values.notes(wanted)}

    def facets(self, wanted: ReviewFilter) -> dict[str, Any]:
        """The values that items of a filter have, with their numbers; the most frequent first."""
        found = self._find(wanted)
        counted = self._review.search.facets(found)

        def label(value: Term | str) -> str:
            if isinstance(value, str):
                return value
            text = value.value if isinstance(value, NamedNode | RdfLiteral) else str(value)
            return text.removeprefix(SH.iri) if value in (SH.Violation, SH.Warning, SH.Info) else text

        def order(pair: tuple[str, int]) -> tuple[int, str]:
            return (-pair[1], pair[0])

        values = {
            name: sorted(((label(v), n) for v, n in c.items()), key=order) for name, c in counted.items()
        }
        values["status"] = [
            (State.of(UKG.term(v.removeprefix(UKG.iri))).value, n) for v, n in values["status"]
        ]

        def entry(name: str, value: str, number: int) -> dict[str, Any]:
            counted = {"value": value, "items": number}
            return counted | {"label": self._label(name, NamedNode(value))} if name in _LABELED else counted

        return {
            "total": len(found),
            "facets": {
                name: [entry(name, value, number) for value, number in pairs[:_MOST_VALUES]]
                for name, pairs in values.items()
            },
        }

    def _label(self, facet: str, value: NamedNode) -> str | None:
        """What people call a value of a facet; a document has the client's name of its source, or none."""
        if facet == "document":
            return EvidenceReader(self._services.store).text(value, DCTERMS.source)
        return self._reading.name(value)

    def groups(self, wanted: ReviewFilter, offset: int, limit: int) -> dict[str, Any]:
        """The causes by which the items of a filter wait, most items first."""
        found = self._review.search.causes(self._find(wanted))

        def entry(pair: tuple[str, Cause]) -> dict[str, Any]:
            name, cause = pair
            return {
                "group": name,
                "items": len(cause.items),
                "shape": cause.shape.value if cause.shape else None,
                "component": cause.component.value if cause.component else None,
                "path": cause.path,
                "severity": cause.severity.value.removeprefix(SH.iri) if cause.severity else None,
                "example": self._example(cause),
            }

        return page("groups", tuple(found.items()), offset, limit, entry)

    def _example(self, cause: Cause) -> str:
        example = self._review.example(cause)
        return cause.message if example is None else for_reader(example).message

    def selected(
        self, items: Sequence[str] | None, wanted: ReviewFilter | None, expect: int | None
    ) -> tuple[list[NamedNode], int]:
        """The items of a bulk decision, at most `MOST_AT_ONCE`, and how many more there are.

        Raises `InvalidBody` where the number is missing, and `SelectionChanged` where it is another one.
        """
        if wanted is not None:
            found = self._find(wanted)
        else:
            found = list(dict.fromkeys(named_item(item) for item in items or ()))
        if expect is None and len(found) > _MOST_UNCOUNTED:
            message = (
                f"{len(found)} items are selected; above {_MOST_UNCOUNTED}, send their number to confirm it"
            )
            raise InvalidBody([("expect", message)])
        if expect is not None and expect != len(found):
            raise SelectionChanged(expect, len(found))
        return found[:MOST_AT_ONCE], max(0, len(found) - MOST_AT_ONCE)

    def show(self, iri: NamedNode) -> dict[str, Any]:
        """One item, with the entities that its names may mean. Raises `ReviewItemUnknown`."""
        return self._json(self._review.get(iri))

    def suggestions(self, iri: NamedNode) -> dict[str, Any]:
        """Corrections of an item that the gate would accept. Raises `ReviewItemUnknown`."""
        found = SuggestedCorrections(self._services, self._reading).find(self._review.get(iri))
        return {"suggestions": found}

    def decide(
        self,
        decision: str,
        items: Sequence[NamedNode],
        by: Reviewer,
        reason: str | None = None,
        statements: Sequence[Statement] | None = None,
    ) -> DecisionReport:
        """Accept, reject or reopen. Raises what `curation.deciding.decisions.Decisions` raises."""
        if decision == "accept":
            outcome = self._decisions.accept(items, by, reason=reason, statements=statements)
        elif decision == "reject":
            outcome = self._decisions.reject(items, by, reason=reason or "")
        else:
            outcome = self._decisions.reopen(items, by, reason=reason)
        return self._report(outcome)

    def choose(
        self, iri: NamedNode, answers: Answers, by: Reviewer, reason: str | None = None
    ) -> DecisionReport:
        """Accept what waits for the answer which entity is meant, as far as the gate accepts it.

        Raises `ReviewItemUnknown`, `ReviewItemDecided` and `InvalidBody`.
        """
        item = self._review.get(iri)
        if item.state is not State.OPEN:
            raise ReviewItemDecided(item.identifier, item.state.value, "accept")
        proposed = self._questions.answered(item, answers)
        return self._report(self._decisions.accept_as(proposed, by, reason=reason))

    def history(self, offset: int, limit: int) -> dict[str, Any]:
        """One page of the decisions that were made, newest first."""
        decisions = DecisionHistory(self._services.store)

        def entry(iri: NamedNode) -> dict[str, Any]:
            made = decisions.get(iri)
            return {
                "id": made.identifier,
                "iri": iri.value,
                "outcome": made.outcome.value,
                "by": made.by,
                "at": made.at,
                "reason": made.reason,
                "items": len(made.items),
                "undoable": self._is_last(made),
            }

        return page("decisions", decisions.find(), offset, limit, entry)

    def _is_last(self, made: PastDecision) -> bool:
        """Whether a decision is the last one on any of its items, so that it can be undone."""
        return any(
            item.decisions
            and item.decisions[-1].iri == made.iri
            and item.state is made.outcome
            # The undo of a decision that reopened items decides them as before.
            and (made.outcome is not State.OPEN or len(item.decisions) > 1)
            for item in self._review.items(made.items)
        )

    def undo(self, decision: str, by: Reviewer, reason: str | None = None) -> dict[str, Any]:
        """Undo a decision. Raises `DecisionUnknown` and `DecisionSettled`."""
        outcomes = self._decisions.undo(named_decision(decision), by, reason=reason)
        reports = [self._report(outcome).json() for outcome in outcomes]
        lists = ("items", "refused", "unchanged", "fallen", "revived")
        return reports[-1] | {name: [one for part in reports for one in part[name]] for name in lists}

    def assign(self, items: Sequence[NamedNode], assignee: str | None) -> None:
        """Assign items to a person, or to nobody. Raises `ReviewItemUnknown`."""
        self._notes().assign(items, assignee)

    def comment(self, iri: NamedNode, text: str, by: Reviewer) -> dict[str, Any]:
        """Add a comment to an item, and return the item. Raises `ReviewItemUnknown`."""
        self._notes().comment(iri, text, by)
        return review_json(self._review.get(iri))

    def _find(self, wanted: ReviewFilter) -> list[NamedNode]:
        """The items of a filter. Raises `UnknownValues`."""
        self._values.check(wanted)
        return self._review.find(wanted)

    def _notes(self) -> ReviewNotes:
        return ReviewNotes(self._services.store, self._services.writer, self._review)

    def export(self, wanted: ReviewFilter, form: Literal["csv", "shacl"]) -> str | bytes:
        """The items of a filter as a file, newest first: a table, or a validation report in Turtle."""
        items = self._review.items(self._find(wanted))
        return csv_of(items) if form == "csv" else report_of(items)

    def correct(
        self, items: Sequence[NamedNode], correction: Correction, by: Reviewer, reason: str | None = None
    ) -> DecisionReport:
        """Accept items with the same correction of their statements, as far as the gate accepts them.

        Raises `InvalidBody` where the correction does not fit a statement; nothing is decided then.
        """
        proposed = {}
        unfit = []
        for iri in items:
            item = self._review.get(iri)
            triple = correction.applied(item.triple)
            if triple is None:
                unfit.append(item.identifier)
            else:
                proposed[iri] = (item.stating(triple),)
        if unfit:
            misfit = f"does not fit {len(unfit)} of {len(items)} statements, such as that of item {unfit[0]}"
            raise InvalidBody([("correction", f"{correction.needs} {misfit}")])
        return self._report(self._decisions.accept_as(proposed, by, reason=reason))

    def _report(self, outcome: Outcome) -> DecisionReport:
        return DecisionReport(outcome, tuple(self._review.items(outcome.done)), outcome.refused)

    def _json(self, item: ReviewItem) -> dict[str, Any]:
        similar = {
            end: found
            for end, node, name in (
                ("subject", item.triple.subject, item.subject_name),
                ("object", item.triple.object, item.object_name),
            )
            if (found := self._similar(node, name))
        }
        return {**self._reading.json(item), "similar": similar, "choices": self._questions.json(item)}

    def _similar(self, node: Any, name: str | None) -> list[dict[str, Any]]:
        """Existing entities whose names are like that of one end of a statement, best first."""
        if isinstance(node, RdfLiteral | Triple):
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
