"""What the dataset holds, counted once for each revision: for the service description and VoID."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode

from sparql.model.errors import ReadError
from sparql.model.vocabulary import RDF, SH
from sparql.protocol.description import DatasetFacts, Vocabulary
from sparql.workers.query import QueryService

if TYPE_CHECKING:
    from server.services import Services

ReadVocabulary = Callable[[], Awaitable[Vocabulary]]

_log = logging.getLogger("urbankg.queries")
_COUNT_TRIPLES = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
_COUNT_PROPERTIES = "SELECT ?iri (COUNT(*) AS ?n) WHERE { ?s ?iri ?o } GROUP BY ?iri ORDER BY DESC(?n) ?iri"
_COUNT_CLASSES = _COUNT_PROPERTIES.replace("?s ?iri ?o", "?s a ?iri FILTER(ISIRI(?iri))")
_LIST_GRAPHS = "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } } LIMIT 1000"


class DatasetReading:
    """Reads the facts, and keeps those of the last revision. Without `vocabulary` there are only numbers."""

    def __init__(self, readers: QueryService, vocabulary: ReadVocabulary | None) -> None:
        self._readers = readers
        self._vocabulary = vocabulary
        self._lock = asyncio.Lock()
        self._kept: tuple[int, DatasetFacts] | None = None

    async def facts(self) -> DatasetFacts:
        """The facts; without classes and properties where counting them takes longer than a query may."""
        async with self._lock:
            revision = self._readers.revision()
            kept = self._kept
            if kept is None or kept[0] != revision or not self._readers.knows_every_change:
                kept = self._kept = revision, await self._read()
            return kept[1]

    async def _read(self) -> DatasetFacts:
        properties: Mapping[NamedNode, int] = {}
        classes: Mapping[NamedNode, int] = {}
        vocabulary = Vocabulary()
        try:
            properties = await self._counted(_COUNT_PROPERTIES)
            classes = await self._counted(_COUNT_CLASSES)
            if self._vocabulary is not None:
                vocabulary = await self._vocabulary()
        except ReadError as error:
            _log.warning("The description of the dataset has no classes and properties: %s", error)
        listed = await self._readers.solutions(_LIST_GRAPHS)
        return DatasetFacts(
            sum(properties.values()) or await self._triples(),
            tuple(NamedNode(row["g"]["value"]) for row in _rows(listed) if row["g"]["type"] == "uri"),
            empty_graphs=self._readers.knows_every_change,
            classes=classes,
            properties=properties,
            vocabulary=vocabulary,
        )

    async def _counted(self, query: str) -> dict[NamedNode, int]:
        rows = _rows(await self._readers.solutions(query))
        return {NamedNode(row["iri"]["value"]): int(row["n"]["value"]) for row in rows if "iri" in row}

    async def _triples(self) -> int:
        return int(_rows(await self._readers.solutions(_COUNT_TRIPLES))[0]["n"]["value"])


def vocabulary_of(services: Services) -> ReadVocabulary:
    """Reads the vocabulary of a server: that of its ontology, and the summary that questions use."""

    async def read() -> Vocabulary:
        await services.opened()
        await services.asker.prepare()
        schema = services.schema
        queries = {t.subject for t in schema.triples if t.predicate == RDF.type and t.object in _EXECUTABLE}
        examples = [triple for triple in schema.triples if triple.subject in queries]
        examples.sort(key=str)
        uses = {iri: frozenset(use.edges) for iri, use in services.asker.summary.uses.items() if use.edges}
        prefixes = {prefix: space for prefix, space in schema.prefixes.items() if prefix}
        return Vocabulary(prefixes, examples, uses, tuple(schema.ontologies))

    return read


_EXECUTABLE = frozenset(
    SH.term(name)
    for name in (
        "SPARQLExecutable",
        "SPARQLSelectExecutable",
        "SPARQLAskExecutable",
        "SPARQLConstructExecutable",
    )
)


def _rows(results: Mapping[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = results["results"]["bindings"]
    return rows
