"""Candidates come in here, from our own extraction or a client's, and leave judged and committed."""

import asyncio
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.proposal import TermKind, Use
from curation.proposals import Proposals
from curation.review import ReviewQueue
from curation.review_item import ReviewItem, Whence
from extractors.candidates import Candidate, Entity, Extraction, Problem
from extractors.grounding.linking import LabelEntry, normalize
from extractors.models.accounting import Prices, account
from extractors.models.chat import ChatModel
from extractors.pipeline import Pipeline
from extractors.prompting.methods import Method, requested_method
from server.curation.proposing import use_of
from server.http.reporting.statements import judged_in_full, rejection_json, statement_json
from server.intake.batch import Assessor, Batch
from server.intake.held_store import held_quads
from server.intake.submission import Ending, Submission
from server.intake.traces import packed, trace_json
from server.rules.ruleset import Rulebook
from shapes.gate.known_terms import unknown_terms
from sparql.model.change import Change, Origin, Reach, Statement, Verdict, Violation
from sparql.model.errors import TooMuchDepends
from sparql.model.vocabulary import RDFS, SH, UKG
from sparql.provenance.records import Document, Run, RunRecord, Support
from sparql.writing.writer import Writer


@dataclass(frozen=True)
class Outcome:
    """What became of one text or one submission."""

    identifier: str
    verdict: Verdict
    supports: Mapping[Triple, Support]
    extraction: Extraction | None = None
    usage: Mapping[str, Any] | None = None

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
            "derived": len(verdict.derived.additions),
            "revision": verdict.revision,
            **judged_in_full(verdict),
            **({} if verdict.held is None else {"held": held_json(self.identifier, verdict.held)}),
            "entities": [] if self.extraction is None else [_entity(e) for e in self.extraction.entities],
            "usage": self.usage,
            "trace": None if self.extraction is None else trace_json(self.extraction),
        }


class Intake:
    """Runs candidates through the writer, with their provenance.

    `rules` gives the rules in force. They are asked for while nobody else writes, so the versions that a
    statement's provenance names are those that judged it. `assessors` look at each batch before the gate.
    `prices` make money of tokens; `finished` is told the seconds of each extraction. Of each message to the
    model and each reply so many `trace_characters` are kept with the run; 0: no trace.
    """

    def __init__(
        self,
        writer: Writer,
        review: ReviewQueue,
        proposals: Proposals,
        *,
        rules: Callable[[], Rulebook],
        pipeline: Pipeline,
        assessors: Sequence[Assessor] = (),
        prices: Prices | None = None,
        trace_characters: int = 20_000,
        finished: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._assessors = tuple(assessors)
        self._writer = writer
        self._review = review
        self._proposals = proposals
        self._rules = rules
        self._pipeline = pipeline
        self._prices = prices or Prices()
        self._trace_characters = trace_characters
        self._finished = finished

    @property
    def pipeline(self) -> Pipeline:
        """What makes candidates of texts."""
        return self._pipeline

    async def extract(
        self,
        text: str,
        *,
        source: str | None = None,
        commit: bool = True,
        method: str | Method | None = None,
        about: Mapping[NamedNode, str] | None = None,
        model: ChatModel | None = None,
        identifier: str | None = None,
        hold: bool = False,
    ) -> Outcome:
        """Extract from a text and commit what conforms; with `commit` false only say what would happen.

        `method` names how it is read, if not as the settings say. `about` are facts that the run keeps
        beside its own, such as the rating of a review. `model` is asked instead of the pipeline's own;
        `identifier` names the run, else it is a new one. With `hold`, what too much depends on is kept
        to be judged beside other writes; else all of it is judged at once. Raises `ExtractionError`; then
        nothing was written.
        """
        started, begin = datetime.now(UTC), time.monotonic()
        pipeline = self._pipeline if model is None else self._pipeline.over(model)
        with account() as spent:
            extraction = await pipeline.extract(text, requested_method(method))
        batch = Batch(minted=frozenset(entity.iri for entity in extraction.entities if entity.new))
        for candidate in extraction.candidates:
            _add_candidate(batch, candidate)
        facts = {
            **(about or {}),
            UKG.model: extraction.model,
            UKG.promptVersion: extraction.prompt_version,
        }
        if self._trace_characters > 0:
            trace = {**trace_json(extraction), "usage": spent.json(self._prices)}
            facts[UKG.trace] = packed(trace, self._trace_characters)
        if extraction.adapter is not None:
            facts[UKG.adapter] = extraction.adapter
        name = identifier or uuid.uuid4().hex
        names = _names(extraction)
        submission = Submission(name, batch, started, facts, Document(text, source), source, names)
        outcome = await self._commit(submission, commit=commit, hold=hold and commit)
        if batch.linked:
            entities = tuple(_resolved(entity, batch.linked) for entity in extraction.entities)
            extraction = replace(extraction, entities=entities)
        outcome = replace(outcome, extraction=extraction)
        seconds = time.monotonic() - begin
        self._finished(seconds)
        spent.finish_task(seconds)
        return replace(outcome, usage=spent.json(self._prices))

    async def submit(
        self,
        statements: Sequence[tuple[Statement, Support]],
        *,
        source: str | None = None,
        text: str | None = None,
        hold: bool = False,
    ) -> Outcome:
        """Judge statements of a client's own extractor and commit what conforms.

        `text` is what they were extracted from; with it, or with a `source`, they belong to a document. With
        `hold`, what too much depends on is kept to be judged beside other writes.
        """
        return await asyncio.to_thread(self.take, statements, source=source, text=text, hold=hold)

    def take(
        self,
        statements: Sequence[tuple[Statement, Support]],
        *,
        source: str | None = None,
        text: str | None = None,
        hold: bool = False,
    ) -> Outcome:
        """The same as `submit`. Blocks."""
        started = datetime.now(UTC)
        batch = Batch()
        for statement, support in statements:
            batch.statements.setdefault(statement.triple, statement)
            batch.supports.setdefault(statement.triple, support)
        document = None if text is None and source is None else Document(text, source)
        submission = Submission(uuid.uuid4().hex, batch, started, {}, document, source)
        # A batch changes on its way: what is kept is what came.
        kept = submission.fresh() if hold else None
        return self._judge(submission, commit=True, hold=kept)

    def settle(self, submission: Submission, ending: Ending) -> Outcome:
        """Judge what was held and commit what conforms. Blocks. Raises what `ending` checks."""
        return self._judge(submission, commit=True, hold=None, ending=ending)

    async def _commit(self, submission: Submission, *, commit: bool, hold: bool) -> Outcome:
        # A batch changes on its way: what is kept is what came.
        kept = submission.fresh() if hold else None
        return await asyncio.to_thread(self._judge, submission, commit=commit, hold=kept)

    def _judge(
        self,
        submission: Submission,
        *,
        commit: bool,
        hold: Submission | None,
        ending: Ending | None = None,
    ) -> Outcome:
        """Judge a batch and commit what conforms, or put `hold` into the graph's records in its place."""
        batch = submission.batch

        def build() -> Change:
            if ending is not None:
                ending.check()
            rules = self._rules()
            run = Run(
                identifier=submission.identifier,
                started=submission.started,
                ended=datetime.now(UTC),
                document=submission.document,
                source=submission.source,
                facts={**submission.facts, **rules.versions},
                ontologies=rules.schema.version_iris,
            )
            for triple in batch.statements:
                unknown = unknown_terms(rules.schema, triple)
                if unknown:
                    batch.refused.setdefault(triple, unknown)
                    if triple not in batch.uses:
                        batch.uses[triple] = use_of(triple, batch.statements, rules.schema)
            self._support_names(submission)
            for assessor in self._assessors:
                assessor.assess(batch, rules.schema)
            known = self._review.with_items(batch.statements)
            refused = self._decided(batch, known, Whence.of(run))

            def more(verdict: Verdict) -> Iterator[Quad]:
                yield from self._proposals.record(verdict, run, batch.uses.values(), batch.supports)
                if ending is not None:
                    yield from ending.come(self._outcome(submission, verdict))

            def retract(verdict: Verdict) -> Iterator[Quad]:
                yield from record.retract(verdict)
                if ending is not None:
                    yield from ending.gone()

            record = RunRecord(
                run,
                batch.supports,
                partial(self._review.record, among=known),
                partial(self._review.outdated, among=known),
                more,
            )
            bounded = hold is not None
            return Change(
                additions=tuple(s for s in batch.statements.values() if s.triple not in refused),
                refused=batch.rejections(refused),
                doubts=batch.rejections(batch.doubts),
                origin=Origin.EXTRACTED,
                partial=True,
                dry_run=not commit,
                record=record,
                retract=retract,
                reach=ending.reach if ending else Reach.BOUNDED if bounded else Reach.FULL,
                survey=ending.survey() if ending else None,
                hold=None if hold is None else partial(held_quads, hold),
            )

        for assessor in self._assessors:
            assessor.prepare(batch, self._rules().schema)
        return self._outcome(submission, self._writer.commit_built(build))

    def _outcome(self, submission: Submission, verdict: Verdict) -> Outcome:
        return Outcome(submission.identifier, verdict, submission.batch.supports)

    def _support_names(self, submission: Submission) -> None:
        """A text that uses a name which the graph has from texts only supports that name as well."""
        batch = submission.batch
        for iri, used in submission.names.items():
            for triple in self._review.extracted(iri, RDFS.label):
                support = (
                    used.get(normalize(triple.object.value)) if isinstance(triple.object, Literal) else None
                )
                if support is not None and triple not in batch.statements:
                    batch.statements[triple] = Statement(triple)
                    batch.supports[triple] = support

    def _decided(
        self, batch: Batch, known: Collection[Triple], whence: Whence
    ) -> dict[Triple, tuple[Violation, ...]]:
        """What is refused before the gate, after what people decided about the same statements.

        `known` are those that the review queue has items of. What a person accepted from this text is not
        held up again by what extraction found wrong with it; what a person rejected stays out, wherever it
        comes from. Asked under the writer's lock.
        """
        refused = {
            triple: reasons
            for triple, reasons in batch.refused.items()
            if not self._review.accepted_by_person(triple, whence)
        }
        for triple in batch.statements:
            rejected = self._review.rejected_item(triple) if triple in known else None
            if rejected is not None and triple not in refused and not self._review.is_stated(triple):
                refused[triple] = (rejected_before(triple, self._review.get(rejected)),)
        return refused


def rejected_before(triple: Triple, item: ReviewItem) -> Violation:
    """The refusal of a statement that a person rejected."""
    last = item.decisions[-1] if item.decisions else None
    told = f" by {last.by} on {last.at[:10]}: {last.reason}" if last else ""
    return Violation(
        focus=triple.subject,
        message=f"It was rejected{told}. Reopen review item {item.identifier} to let it in.",
        component=UKG.RejectedBefore,
        path=triple.predicate.value,
        value=triple.object,
    )


def held_json(identifier: str, found: TooMuchDepends) -> dict[str, Any]:
    """What a client is told of a batch that is held."""
    return {
        "at": f"/held/{identifier}",
        "reason": "Nothing of it is in the graph yet: "
        f"more than {found.limit} nodes depend on {found.triple}, so it is judged beside other requests.",
        "shapes": sorted(found.shapes),
    }


def _names(extraction: Extraction) -> dict[NamedNode, dict[str, Support]]:
    """The words by which a text calls entities that the graph knows."""
    return {
        entity.iri: {normalize(m.quote): Support(m.start, m.end, m.quote) for m in entity.mentions}
        for entity in extraction.entities
        if not entity.new
    }


def _add_candidate(batch: Batch, candidate: Candidate) -> None:
    triple = Triple(candidate.subject, candidate.predicate, candidate.object)
    evidence = candidate.evidence
    batch.statements[triple] = Statement(triple, candidate.confidence)
    batch.supports[triple] = Support(
        start=evidence.start if evidence else None,
        end=evidence.end if evidence else None,
        quote=evidence.quote if evidence else None,
        confidence=candidate.confidence,
        reply=candidate.reply,
        inferred=candidate.inferred,
    )
    if candidate.proposal is not None:
        found = candidate.proposal
        batch.uses[triple] = Use(
            TermKind(found.kind),
            found.words,
            triple,
            found.subject_classes,
            found.object_classes,
            found.datatype,
            found.subject_name,
            found.object_name,
        )
    if candidate.problems:
        batch.refused[triple] = _violations(candidate, candidate.problems, SH.Violation)
    elif candidate.warnings:
        batch.doubts[triple] = _violations(candidate, candidate.warnings, SH.Warning)


def _violations(
    candidate: Candidate, problems: Sequence[Problem], severity: NamedNode
) -> tuple[Violation, ...]:
    return tuple(
        Violation(
            focus=candidate.subject,
            message=problem.message,
            component=problem.rule,
            path=(problem.path or candidate.predicate).value,
            value=problem.value,
            severity=severity,
        )
        for problem in problems
    )


def _resolved(entity: Entity, linked: Mapping[NamedNode, LabelEntry]) -> Entity:
    """An entity as what it turned out to be."""
    known = linked.get(entity.iri)
    if known is None:
        return entity
    classes = tuple(sorted(known.classes, key=lambda node: node.value))
    return replace(entity, iri=known.iri, label=known.label, classes=classes, new=False)


def _entity(entity: Entity) -> dict[str, Any]:
    return {
        "iri": entity.iri.value,
        "label": entity.label,
        "classes": [class_.value for class_ in entity.classes],
        "new": entity.new,
        "mentions": [{"start": m.start, "end": m.end, "quote": m.quote} for m in entity.mentions],
    }
