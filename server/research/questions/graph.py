"""A graph of files in memory, with relations of its geometries, to ask questions of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    QueryTriples,
    RdfFormat,
    Store,
    Triple,
)

from geo.functions import FUNCTIONS
from ontology import Schema
from server.errors import ServerError
from sparql.ask.grammar.items import Context
from sparql.ask.grammar.quantities import Quantities
from sparql.ask.linking.linker import LinkedQuestion, QuestionLinker
from sparql.ask.linking.summary import DataSummary
from sparql.ask.places import NearDistances
from sparql.ask.plan.typing import Typing
from sparql.ask.service import Asker
from sparql.model.source import Term, TripleIndex
from sparql.names.labels import LabelIndex, alias_properties
from sparql.spatial.relations import SpatialRelations

__all__ = ["QuestionGraph"]

_FORMATS = {
    ".ttl": RdfFormat.TURTLE,
    ".nt": RdfFormat.N_TRIPLES,
    ".rdf": RdfFormat.RDF_XML,
    ".owl": RdfFormat.RDF_XML,
}


class QuestionGraph:
    """Statements of files and an ontology, in memory; RCC8 relations are added where there are none."""

    def __init__(self, files: Sequence[Path], ontology: Path | None) -> None:
        self.schema = Schema.load(ontology) if ontology is not None else Schema.empty()
        self.store = Store()
        for path in files:
            self._load(path)
        if not any(self.store.quads_for_pattern(None, _CONNECTED, None, DefaultGraph())):
            self._relate()
        for triple in self.schema.triples:
            self.store.add(Quad(triple.subject, triple.predicate, triple.object))
        self.labels = LabelIndex(alias_properties(self.schema))
        self.labels.rebuild(self.store.quads_for_pattern(None, None, None, DefaultGraph()))
        self._summary = DataSummary(self.schema)
        self.asker = Asker(schema=self.schema, labels=self.labels, summary=self._summary, run_query=self.run)
        self._linker = QuestionLinker(self.schema, self.labels, self._summary)

    async def run(self, query: str) -> dict[str, Any]:
        """Run a query and return its SPARQL JSON results."""
        results = self.store.query(query, custom_functions=dict(FUNCTIONS))
        assert not isinstance(results, QueryTriples)
        found: dict[str, Any] = json.loads(results.serialize(format=QueryResultsFormat.JSON) or b"")
        return found

    def commit(self, additions: Sequence[Quad]) -> None:
        """Add statements, which the summary of the data follows."""
        self.store.extend(additions)
        self._summary.apply(additions, ())

    async def link(self, question: str) -> tuple[LinkedQuestion, Context]:
        """Link a question, with what planning knows of the data."""
        await self._summary.refresh(self.run)
        linked = await self._linker.link(question, self.run)
        typing = Typing(self.schema, self._summary, self._classes_of)
        quantities = Quantities(typing, self._linker.terms)
        return linked, Context(typing, quantities, NearDistances(self.schema).of)

    def _classes_of(self, iri: NamedNode) -> frozenset[NamedNode]:
        return frozenset(c for entry in self.labels.entries_of(iri) for c in entry.classes)

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples that match a pattern."""
        for quad in self.match_quads(subject, predicate, object_, DefaultGraph()):
            yield quad.triple

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that match a pattern."""
        if isinstance(subject, Literal):
            return iter(())
        return self.store.quads_for_pattern(subject, predicate, object_, graph)

    def _load(self, path: Path) -> None:
        format_ = _FORMATS.get(path.suffix)
        if format_ is None:
            raise ServerError(f"{path}: use a file that ends in {', '.join(_FORMATS)}.")
        try:
            self.store.load(path=str(path), format=format_)
        except (OSError, SyntaxError) as error:
            raise ServerError(f"{path} cannot be loaded: {error}.") from error

    def _relate(self) -> None:
        found = SpatialRelations().catch_up(self, TripleIndex([]))
        self.store.extend(Quad(t.subject, t.predicate, t.object) for t in found.additions)


_CONNECTED = NamedNode("http://www.opengis.net/ont/geosparql#rcc8ec")
