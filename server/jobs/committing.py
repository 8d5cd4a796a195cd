"""A document of a job into the graph: found there after a crash, or judged and committed, once."""

from __future__ import annotations

from collections.abc import Callable

from pyoxigraph import Quad

from server.intake.intake import Intake
from server.jobs.extracting import Answers
from server.jobs.job import Committed, Work, document_iri, run_iri
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import PROV, PROVENANCE, RDF, UKG
from sparql.provenance.evidence import EvidenceReader


class Committer:
    """Commits through the one intake; the run's name, made of job and position, says what is done already."""

    def __init__(self, graph: TripleStore, intake: Callable[[], Intake], answers: Answers) -> None:
        self._graph = graph
        self._intake = intake
        self._answers = answers
        self._evidence = EvidenceReader(graph)

    def found(self, work: Work) -> Committed | None:
        """What the graph says of a commit that happened, and whose end a crash kept from being noted."""
        run = run_iri(work.run)
        if not self._graph.contains(Quad(run, RDF.type, PROV.Activity, PROVENANCE)):
            return None
        return Committed(len(self._evidence.of_run(run)))

    def is_duplicate(self, work: Work) -> bool:
        """Whether the graph has this text from elsewhere, and it is not to be extracted again."""
        document = Quad(document_iri(work.document), RDF.type, UKG.Document, PROVENANCE)
        return not work.again and self._graph.contains(document)

    async def commit(self, work: Work) -> Committed:
        """Commit what the model said of a document. Raises `ExtractionError` and `SparqlError`."""
        model = await self._answers.model_for(work)
        outcome = await self._intake().extract(
            work.text, source=work.source, method=work.method, model=model, identifier=work.run
        )
        verdict = outcome.verdict
        return Committed(
            len(verdict.accepted), len(verdict.rejected), len(verdict.warnings), verdict.revision
        )
