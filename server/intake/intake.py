"""Judges and commits candidates of our own extraction or a client's."""

import asyncio
import time
import uuid
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Final

from pyoxigraph import Literal, NamedNode, Quad, Triple

from curation.proposals import Proposals, TermKind, Use
from curation.review.review_item import ReviewItem, RunOrigin
from curation.review.review_queue import ReviewQueue
from extractors.candidates import Candidate, Entity, Extraction, Problem
from extractors.grounding.linking import LabelEntry, normalize
from extractors.models.accounting import Prices, account
from extractors.models.chat import ChatModel
from extractors.pipeline import Pipeline, Progress
from extractors.prompting.methods import Method, requested_method
from ontology import Schema
from server.errors import DryRunUnknown
from server.intake.batch import Assessor, Batch, Submission, use_of
from server.intake.outcome import Outcome, packed, trace_json
from server.rules.ruleset import Ruleset
from shapes.gate.known_terms import deprecated_terms, unknown_terms
from sparql.model.change import Change, Origin, Statement, Verdict, Violation
from sparql.model.errors import JudgingTimeout
from sparql.model.vocabulary import RDFS, SH, UKG
from sparql.provenance.records import (
    Document,
    EvidenceReader,
    Run,
    RunRecord,
    Support,
    replaced_quads,
    replacement_quads,
)
from sparql.writing.writer import Writer

_KEPT_DRY_RUNS: Final = 32


class Intake:
    """Runs candidates through the writer, with their provenance; `evidence` reads what is known of it.

    `rules` gives the rules in force. It is called under the writer's lock, so the versions in a statement's
    provenance are those that judged it. `assessors` examine each batch before the gate. `prices` convert
    tokens to costs; `finished` gets the seconds of each extraction. The run keeps `trace_characters` of each
    message to the model and of each reply; 0: no trace.
    """

    def __init__(
        self,
        writer: Writer,
        review: ReviewQueue,
        proposals: Proposals,
        *,
        evidence: EvidenceReader,
        rules: Callable[[], Ruleset],
        pipeline: Pipeline,
        assessors: Sequence[Assessor] = (),
        prices: Prices | None = None,
        trace_characters: int = 20_000,
        finished: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        self._assessors = tuple(assessors)
        self._writer = writer
        self._review = review
        self._evidence = evidence
        self._proposals = proposals
        self._rules = rules
        self._pipeline = pipeline
        self._prices = prices or Prices()
        self._trace_characters = trace_characters
        self._finished = finished
        self._dry_runs: OrderedDict[str, tuple[Submission, Outcome]] = OrderedDict()

    @property
    def pipeline(self) -> Pipeline:
        """Makes candidates from texts."""
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
        progress: Progress | None = None,
    ) -> Outcome:
        """Extract from a text and commit what conforms; with `commit` false only report what would happen.

        `method` names how it is read, if not as the settings say. `about` are additional facts of the run,
        such as the rating of a review. `model` is used instead of the pipeline's own; `identifier` names the
        run, else it gets a new one. `progress` is called with each step. Raises `ExtractionError`, and
        `JudgingTimeout`, after which `commit_dry_run` tries again without the model; then nothing was
        written.
        """
        started, begin = datetime.now(UTC), time.monotonic()
        pipeline = self._pipeline if model is None else self._pipeline.over(model)
        with account() as spent:
            extraction = await pipeline.extract(text, requested_method(method), progress)
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
        fresh = submission.fresh()
        try:
            outcome = await asyncio.to_thread(self._judge, submission, commit=commit)
        except JudgingTimeout as error:
            self._keep(fresh, Outcome(name, Verdict(), {}, extraction, spent.json(self._prices)))
            raise error.with_kept(name) from error
        seconds = time.monotonic() - begin
        self._finished(seconds)
        spent.finish_task(seconds)
        outcome = replace(outcome, extraction=_linked(extraction, batch), usage=spent.json(self._prices))
        if not commit:
            self._keep(fresh, replace(outcome, extraction=extraction))
        return outcome

    def _keep(self, submission: Submission, shown: Outcome) -> None:
        self._dry_runs[submission.identifier] = (submission, shown)
        while len(self._dry_runs) > _KEPT_DRY_RUNS:
            self._dry_runs.popitem(last=False)

    async def commit_dry_run(self, identifier: str) -> Outcome:
        """Judge the candidates of a dry run again and commit what conforms; the model is not asked.

        The last dry runs are kept until the server ends. Raises `DryRunUnknown`.
        """
        if (kept := self._dry_runs.get(identifier)) is None:
            raise DryRunUnknown(identifier)
        submission, shown = kept[0].fresh(), kept[1]
        outcome = await asyncio.to_thread(self._judge, submission, commit=True)
        self._dry_runs.pop(identifier, None)
        assert shown.extraction is not None
        return replace(outcome, extraction=_linked(shown.extraction, submission.batch), usage=shown.usage)

    async def submit(
        self,
        statements: Sequence[tuple[Statement, Support]],
        *,
        source: str | None = None,
        text: str | None = None,
        commit: bool = True,
    ) -> Outcome:
        """Judge statements of a client's own extractor and commit what conforms.

        `text` is what they were extracted from; with it, or with a `source`, they belong to a document. With
        `commit` false it is only reported what would happen.
        """
        return await asyncio.to_thread(self.take, statements, source=source, text=text, commit=commit)

    def take(
        self,
        statements: Sequence[tuple[Statement, Support]],
        *,
        source: str | None = None,
        text: str | None = None,
        commit: bool = True,
        facts: Mapping[NamedNode, str] | None = None,
    ) -> Outcome:
        """The same as `submit`, but blocks; `facts` are additional ones of the run."""
        started = datetime.now(UTC)
        batch = Batch()
        for statement, support in statements:
            batch.statements.setdefault(statement.triple, statement)
            batch.supports.setdefault(statement.triple, support)
        document = None if text is None and source is None else Document(text, source)
        submission = Submission(uuid.uuid4().hex, batch, started, facts or {}, document, source)
        return self._judge(submission, commit=commit)

    def _judge(self, submission: Submission, *, commit: bool) -> Outcome:
        """Judge a batch, which assessors change, and commit what conforms."""
        batch = submission.batch

        def build() -> Change:
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
            _judge_terms(batch, rules.schema)
            self._support_names(submission)
            for assessor in self._assessors:
                assessor.assess(batch, rules.schema)
            known = self._review.with_items(batch.statements)
            refused = self._decided(batch, known, RunOrigin.of(run))

            def more(verdict: Verdict) -> Iterator[Quad]:
                yield from self._proposals.record(verdict, run, batch.uses.values(), batch.supports)
                yield from replacement_quads(self._evidence, run.iri, verdict.replaced)

            def retract(verdict: Verdict) -> Iterator[Quad]:
                yield from record.retract(verdict)
                yield from replaced_quads(self._evidence, verdict.replaced)

            record = RunRecord(
                run,
                batch.supports,
                partial(self._review.record, among=known),
                partial(self._review.outdated, among=known),
                more,
            )
            return Change(
                additions=tuple(s for s in batch.statements.values() if s.triple not in refused),
                refused=batch.rejections(refused),
                doubts=batch.rejections(batch.doubts),
                replaces=frozenset(pair for pair in batch.replaces if pair[0] not in refused),
                origin=Origin.EXTRACTED,
                partial=True,
                dry_run=not commit,
                record=record,
                retract=retract,
            )

        for assessor in self._assessors:
            assessor.prepare(batch, self._rules().schema)
        return Outcome(submission.identifier, self._writer.commit_built(build), batch.supports)

    def _support_names(self, submission: Submission) -> None:
        """A text that uses an entity's name supports that name too, if the graph has it only from texts."""
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
        self, batch: Batch, known: Collection[Triple], origin: RunOrigin
    ) -> dict[Triple, tuple[Violation, ...]]:
        """What is refused before the gate, given people's decisions about the same statements.

        `known` are those that have review items. What a person accepted from this text is not refused again
        for problems that extraction found; what a person rejected stays out, whatever its source. Called
        under the writer's lock.
        """
        refused = {
            triple: reasons
            for triple, reasons in batch.refused.items()
            if not self._review.accepted_by_person(triple, origin)
        }
        for triple in batch.statements:
            rejected = self._review.rejected_item(triple) if triple in known else None
            if rejected is not None and triple not in refused and not self._review.is_stated(triple):
                refused[triple] = (rejected_before(triple, self._review.get(rejected)),)
        return refused


def _judge_terms(batch: Batch, schema: Schema) -> None:
    """Refuse terms that the ontology does not have, and warn of deprecated ones."""
    for triple in batch.statements:
        unknown = unknown_terms(schema, triple)
        if unknown:
            batch.refused.setdefault(triple, unknown)
            if triple not in batch.uses:
                batch.uses[triple] = use_of(triple, batch.statements, schema)
        for warning in deprecated_terms(schema, triple):
            batch.refuse(triple, warning)


def rejected_before(triple: Triple, item: ReviewItem) -> Violation:
    """The refusal of a statement that a person rejected."""
    last = item.decisions[-1] if item.decisions else None
    decision = f" by {last.by} on {last.at[:10]}: {last.reason}" if last else ""
    return Violation(
        focus=triple.subject,
        message=f"It was rejected{decision}. Reopen review item {item.identifier} to accept it.",
        component=UKG.RejectedBefore,
        path=triple.predicate.value,
        value=triple.object,
    )


def _names(extraction: Extraction) -> dict[NamedNode, dict[str, Support]]:
    """The words that a text uses for entities of the graph."""
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
            focus=problem.focus or candidate.subject,
            message=problem.message,
            component=problem.rule,
            path=(problem.path or candidate.predicate).value,
            value=problem.value,
            severity=severity,
        )
        for problem in problems
    )


def _linked(extraction: Extraction, batch: Batch) -> Extraction:
    """An extraction with the entities that its names were linked to when it was judged."""
    entities = tuple(_resolved(entity, batch.linked) for entity in extraction.entities)
    return replace(extraction, entities=entities) if batch.linked else extraction


def _resolved(entity: Entity, linked: Mapping[NamedNode, LabelEntry]) -> Entity:
    """An entity, replaced by the known one that it was linked to."""
    known = linked.get(entity.iri)
    if known is None:
        return entity
    classes = tuple(sorted(known.classes, key=lambda node: node.value))
    return replace(entity, iri=known.iri, label=known.label, classes=classes, new=False)
