"""The effects of new rules on graph and review queue: measured before a switch, carried out after it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from server.errors import InvalidBody
from server.http.reporting.statements import statement_json, term_json, violation_json
from server.rules.edits import DryRun, DryRuns
from server.rules.ruleset import Ruleset
from shapes.errors import ReviewItemUnknown
from sparql.model.change import Rejection, Statement, Violation
from sparql.model.errors import JudgingTimeout
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import RDF, REVIEW, UKG
from sparql.provenance.records import Support
from sparql.provenance.term_rewrites import RewriteRecords, Rewriting
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from curation.deciding.decisions import Decisions
    from curation.review.review_item import Reviewer, ReviewItem, RunOrigin
    from curation.review.review_queue import ReviewQueue
    from shapes.authoring.impact_results import Impact, QueuedStatement
    from sparql.writing.derivation import Substitution

EXAMPLES = 5
MOST_FLAGGED = 1_000
"""The most statements queued for review after one switch; the rest is only counted."""
_log = logging.getLogger("urbankg.rules")


def measure(store: TripleStore, review: ReviewQueue, before: Ruleset, after: Ruleset) -> Impact:
    """What would fail, pass and follow under new rules. Nothing is changed."""
    from shapes.authoring.impact import measure_impact

    return measure_impact(store, before.compared, after.compared, _open_items(review))


class RuleEffects:
    """Measures the impact of rules and carries it out. Its methods block."""

    def __init__(
        self,
        store: TripleStore,
        writer: Writer,
        review: ReviewQueue,
        decisions: Decisions,
        dry_runs: DryRuns,
        *,
        settle: Callable[[Ruleset], None] = lambda rules: None,
    ) -> None:
        self._store = store
        self._writer = writer
        self._review = review
        self._decisions = decisions
        self._dry_runs = dry_runs
        self._settle = settle

    def rewriting(self, before: Ruleset, after: Ruleset, asked: Rewriting) -> Rewriting:
        """What is asked for, with what the edit takes back. Raises `InvalidBody`."""
        from shapes.authoring.term_changes import given_pairs

        if before.schema.version == after.schema.version:
            if asked.given:
                raise InvalidBody([("rewrites", "the ontology stays as it is, so no term of it is replaced")])
            return asked
        try:
            list(given_pairs(asked.given, before.schema, after.schema))
        except ValueError as error:
            raise InvalidBody([("rewrites", str(error))]) from error
        return replace(asked, undone=RewriteRecords(self._store).returning(after.schema.version))

    def substitute(
        self, before: Ruleset, after: Ruleset, impact: Impact, rewriting: Rewriting
    ) -> Substitution:
        """The quads of the statements that an edit rewrites; call it under the writer's lock."""
        from curation.merging.term_rewriting import TermRewriting
        from shapes.authoring.term_changes import UNDO

        pairs = tuple(one.pair for one in impact.rewrites if rewriting.wanted and one.source != UNDO)
        versions = before.schema.version, after.schema.version
        return TermRewriting(self._store).substitution(pairs, rewriting.undone, *versions)

    def measure(self, before: Ruleset, after: Ruleset, run: DryRun, rewriting: Rewriting) -> Impact:
        """What would fail, pass and follow under new rules. Nothing is changed.

        Raises `DryRunExceeded`, and the errors of a canceled run.
        """
        queue = _open_items(self._review)
        after.gate.languages = before.gate.languages
        return self._dry_runs.measure(run, self._store, before, after, queue, rewriting)

    def carry_out(self, rules: Ruleset, impact: Impact) -> None:
        """Queue what now fails for review, accept what now passes, and settle what is fixed.

        Proposals whose words are now in the ontology are settled last.
        """
        from curation.review.review_item import Reviewer

        flagged = list(self._flagged(rules, impact))
        settled = [item for item in _open_items(self._review) if item.accepted and _is_fixed(item, impact)]
        additions = [*flagged, *(Quad(item.iri, UKG.status, UKG.Superseded, REVIEW) for item in settled)]
        removals = [Quad(item.iri, UKG.status, item.state.node, REVIEW) for item in settled]
        if additions or removals:
            self._writer.write_system(additions, removals)
        if impact.passing:
            name = f"rules {rules.schema.version}/{rules.gate.version}"
            reason = "It conforms by the ontology and shapes now in force."
            try:
                done = self._accept_those_left(impact.passing, Reviewer(name), reason)
            except JudgingTimeout as error:
                _log.error("What would pass under the new rules stays in review: %s", error)
            else:
                _log.info("New rules accepted %d of %d waiting statements", done, impact.waiting)
        self._settle(rules)

    def _accept_those_left(self, passing: Iterable[QueuedStatement], by: Reviewer, reason: str) -> int:
        """Accept items, but for those whose document is withdrawn meanwhile; how many were accepted."""
        items = [item.iri for item in passing]
        while items := [item.iri for item in self._review.items(items)]:
            with suppress(ReviewItemUnknown):
                return len(self._decisions.accept(items, by, reason=reason).done)
        return 0

    def _flagged(self, rules: Ruleset, impact: Impact) -> Iterator[Quad]:
        """Items for statements that are in the graph and no longer conform."""
        from curation.review.review_item import BY_RULES, RunOrigin

        run = NamedNode(f"{BY_RULES}{rules.schema.version}-{rules.gate.version}")
        origin = RunOrigin(run, None, "new ontology or shapes")
        yield from self.flagged(impact.failing, origin)

    def flagged(self, violations: Iterable[Violation], origin: RunOrigin) -> Iterator[Quad]:
        """Items for the statements of the graph that violations concern, with this origin."""
        from curation.review.review_item import item_iri

        charges: dict[Triple, list[Violation]] = {}
        for violation in violations:
            for triple in self._concerned(violation):
                charges.setdefault(triple, []).append(violation)
        if not charges:
            return
        waiting = {item.triple: item for item in _open_items(self._review) if item.is_of_rules}
        for triple, found in list(charges.items())[:MOST_FLAGGED]:
            if triple in waiting and waiting[triple].iri != item_iri(triple, origin):
                # Its item was made when the statement had another term, and was rewritten with it.
                yield from _more_reasons(waiting[triple], found, origin)
                continue
            rejection = Rejection(Statement(triple), tuple(found))
            yield from self._review.note(rejection, origin, Support(), names={})

    def _concerned(self, violation: Violation) -> Iterable[Triple]:
        """The statement with the value, else those on the path, else the types, else any one."""
        focus = violation.focus
        if not isinstance(focus, NamedNode | BlankNode):
            return
        path = _predicate(violation.path)
        if path is not None and violation.value is not None:
            yield Triple(focus, path, violation.value)
            return
        found = list(self._store.match(focus, path, None)) if path is not None else []
        found = found or list(self._store.match(focus, RDF.type, None))
        yield from found or sorted(self._store.match(focus, None, None), key=str)[:1]


def _open_items(review: ReviewQueue) -> list[ReviewItem]:
    from curation.review.review_search import ReviewFilter

    return list(review.items(review.find(ReviewFilter())))


def _is_fixed(item: ReviewItem, impact: Impact) -> bool:
    """Whether all that an item waits for is fixed; another value of its property may not be."""

    fixed = {_key(one) for shape in impact.shapes for one in shape.fixed}
    return bool(item.violations) and all(_key(one) in fixed for one in item.violations)


def _more_reasons(item: ReviewItem, found: list[Violation], origin: RunOrigin) -> Iterator[Quad]:
    """What a known item waits for besides, and that it was found once more."""
    from curation.review.review_item import violation_quads

    known = {_key(one) for one in item.violations}
    yield Quad(item.iri, UKG.occurrence, origin.run, REVIEW)
    more = tuple(one for one in found if _key(one) not in known)
    yield from violation_quads(item.iri, more, first=len(item.violations))


def _key(one: Violation) -> tuple[object, ...]:
    return one.focus, one.component, one.shape, one.path, one.value


def _predicate(path: str | None) -> NamedNode | None:
    if path is None or path.count("://") > 1 or path.startswith(("^", "(")):
        return None
    try:
        return NamedNode(path)
    except ValueError:
        return None


def impact_json(impact: Impact) -> dict[str, Any]:
    """An impact as JSON: counts, and some examples."""
    return {
        "failing": sum(len(shape.failing) for shape in impact.shapes),
        "mended": sum(len(shape.fixed) for shape in impact.shapes),
        "passing": len(impact.passing),
        "waiting": impact.waiting,
        "exact": not impact.notes and all(shape.is_exact for shape in impact.shapes),
        "notes": list(impact.notes),
        "shapes": [
            {
                "shape": shape.name,
                "change": shape.change,
                "targets": shape.targets,
                "tested": shape.tested,
                "suspects": shape.suspects,
                "judged": shape.judged,
                "failing": len(shape.failing),
                "mended": len(shape.fixed),
                "failing_examples": [violation_json(one) for one in shape.failing[:EXAMPLES]],
                "mended_examples": [violation_json(one) for one in shape.fixed[:EXAMPLES]],
            }
            for shape in impact.shapes
        ],
        "passing_examples": [statement_json(item.triple, item.support) for item in impact.passing[:EXAMPLES]],
        "inferences": [
            {
                "conclusion": one.conclusion,
                "added": one.added,
                "statements": one.statements,
                "examples": [term_json(term) for term in one.examples],
            }
            for one in impact.inferences
        ],
        "terms": [
            {
                "term": one.term.value,
                "change": one.change,
                "statements": one.statements,
                "examples": [term_json(term) for term in one.examples],
                "successor": one.successor.value if one.successor is not None else None,
            }
            for one in impact.terms
        ],
        "rewrites": [
            {
                "old": one.pair.old.value,
                "new": one.pair.new.value,
                "source": one.source,
                "statements": one.statements,
            }
            for one in impact.rewrites
        ],
    }


def impact_text(impact: dict[str, Any], *, markdown: bool = False) -> str:
    """The same as text."""
    mark, head = ("- ", "## ") if markdown else ("  ", "")
    exact = "" if impact["exact"] else " (at least: large shapes were judged in part)"
    lines = [
        f"{head}{impact['failing']} statements in the graph would newly fail, {impact['mended']} would no "
        f"longer{exact}; {impact['passing']} of {impact['waiting']} waiting ones would pass."
    ]
    lines += impact["notes"]
    for shape in impact["shapes"]:
        counts = f"{shape['failing']} newly failing, {shape['mended']} no longer"
        lines.append(f"{head}{shape['shape']} ({shape['change']}): {counts}; {shape['targets']} targets")
        if shape["tested"] < shape["targets"]:
            lines.append(f"{mark}tested {shape['tested']} of {shape['targets']} targets")
        if shape["judged"] < shape["suspects"]:
            lines.append(f"{mark}judged {shape['judged']} of {shape['suspects']} that may fail")
        for sign, name in (("fails", "failing_examples"), ("passes", "mended_examples")):
            lines += [
                f"{mark}{sign}: {one['focus']['value']} {one['path'] or ''} {one['message']}"
                for one in shape[name]
            ]
    for one in impact["passing_examples"]:
        lines.append(f"{mark}would pass: {one['subject']} {one['predicate']} {one['object']['value']}")
    for one in impact["inferences"]:
        sign = "follows" if one["added"] else "no longer follows"
        lines.append(f"{mark}{sign}: {one['conclusion']}, for {one['statements']} statements")
    for one in impact["terms"]:
        lines.append(f"{mark}{one['change']}: {one['term']}, used by {one['statements']} statements")
    for one in impact["rewrites"]:
        lines.append(
            f"{mark}can be rewritten: {one['statements']} statements from {one['old']} to {one['new']} "
            f"({one['source']})"
        )
    return "\n".join(lines)
