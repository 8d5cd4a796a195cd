"""Commits each document of a job to the graph once, also after a crash."""

from __future__ import annotations

from collections.abc import Callable

from pyoxigraph import Quad

from server.intake.intake import Intake
from server.jobs.extracting import Answers
from server.jobs.job import Committed, Work, document_iri, run_iri
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import PROV, PROVENANCE, RDF, REVIEW, UKG
from sparql.provenance.evidence import EvidenceReader


class Committer:
    """Commits through the intake; the run's name, made of job and position, shows what is committed."""

    def __init__(self, graph: TripleStore, intake: Callable[[], Intake], answers: Answers) -> None:
        self._graph = graph
        self._intake = intake
        self._answers = answers
        self._evidence = EvidenceReader(graph)

    def found(self, work: Work) -> Committed | None:
        """The result of a commit that a crash kept from being recorded in the job."""
        run = run_iri(work.run)
        if not self._graph.contains(Quad(run, RDF.type, PROV.Activity, PROVENANCE)):
            return None
        waiting = sum(1 for _ in self._graph.match_quads(None, UKG.occurrence, run, REVIEW))
        accepted = len(self._evidence.of_run(run))
        return Committed(accepted, None if accepted else waiting)

    def is_duplicate(self, work: Work) -> bool:
        """Whether the graph already has this text, and the job does not extract such texts again."""
        document = Quad(document_iri(work.document), RDF.type, UKG.Document, PROVENANCE)
        return not work.again and self._graph.contains(document)

    async def commit(self, work: Work) -> Committed:
        """Commit what the model extracted from a document. Raises `ExtractionError` and `SparqlError`."""
        model = await self._answers.model_for(work)
        outcome = await self._intake().extract(
            work.text, source=work.source, method=work.method, model=model, identifier=work.run
        )
        verdict = outcome.verdict
        return Committed(
            len(verdict.accepted),
            len(verdict.rejected),
            len(verdict.warnings),
            verdict.revision,
            outcome.incomplete,
        )
