"""A small store with everything that documents, decisions and merges pass through, and no model."""

import asyncio
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Triple

from curation.documents import Documents, Removal
from curation.proposals import Proposals
from curation.review.review_item import Reviewer
from curation.review.review_queue import ReviewQueue
from curation.review.review_search import ReviewFilter
from extractors.pipeline import Pipeline
from ontology import Schema
from server.intake.intake import Intake
from server.rules.ruleset import Ruleset
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.inference.materialized import Inferences
from sparql.model.change import Change, Statement
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, GEO, INFERRED, RDF
from sparql.names.labels import LabelIndex
from sparql.provenance.records import Document, EvidenceReader, Support
from sparql.spatial.relations import SpatialRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.writing.writer import Writer
from tests.server.conftest import RecordedModel

EX = "http://example.org/"
ADA = Reviewer("Ada")
SHAPES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . @prefix ex: <http://example.org/> .
ex:Kind a sh:PropertyShape ; sh:targetSubjectsOf ex:opened , ex:capacity , ex:near ; sh:path rdf:type ;
    sh:minCount 1 ; sh:message "of no kind" .
ex:One a sh:PropertyShape ; sh:targetSubjectsOf ex:capacity ; sh:path ex:capacity ; sh:maxCount 1 ;
    sh:message "several" .
"""


def ex(name: str) -> NamedNode:
    return NamedNode(EX + name)


def kind(subject: str) -> Triple:
    return Triple(ex(subject), RDF.type, ex("Hall"))


def said(subject: str, predicate: str, value: str) -> Triple:
    return Triple(ex(subject), ex(predicate), Literal(value))


def placed(subject: str, wkt: str) -> list[Triple]:
    node = ex(subject + "/geometry")
    return [
        Triple(ex(subject), GEO.hasDefaultGeometry, node),
        Triple(node, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral)),
    ]


class City:
    """A store with everything that documents pass through, and no model."""

    def __init__(self, folder: Path, *, inferring: bool = False, shapes: str = SHAPES) -> None:
        (folder / "shapes.ttl").write_text(shapes)
        gate = ShapesGate(load_shapes(folder))
        self.store = EmbeddedStore(None)
        gate.use("compiled", inferring=inferring)
        inferences = Inferences(self.store, 10_000) if inferring else None
        self.writer = Writer(self.store, gate=gate, deriver=SpatialRelations(), inferences=inferences)
        self.writer.start()
        self.review = ReviewQueue(self.store)
        self.documents = Documents(self.store, self.writer, self.review)
        schema = Schema.empty()
        self.intake = Intake(
            self.writer,
            self.review,
            Proposals(self.store, self.writer),
            evidence=EvidenceReader(self.store),
            rules=lambda: Ruleset(schema, gate, folder),
            pipeline=Pipeline(schema=schema, labels=LabelIndex(), model=RecordedModel()),
        )

    def post(self, text: str, triples: list[Triple]) -> None:
        supported = [(Statement(triple), Support()) for triple in triples]
        asyncio.run(self.intake.submit(supported, text=text))

    def state(self, triples: list[Triple]) -> None:
        self.writer.commit(Change(additions=tuple(Statement(triple) for triple in triples)))

    def remove(self, text: str) -> Removal:
        return self.documents.remove(Document(text).iri, ADA)

    def graphs(self) -> dict[str, set[str]]:
        graphs = (DEFAULT, EXTRACTED, DERIVED, INFERRED, ASSERTED)
        return {str(g): {str(q.triple) for q in self.store.match_quads(None, None, None, g)} for g in graphs}

    def waiting(self) -> set[str]:
        return {str(self.review.get(item).triple) for item in self.review.find(ReviewFilter())}
