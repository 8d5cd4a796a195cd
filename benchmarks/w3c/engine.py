"""Our own services in this process, with no ontology and no shapes, as the suites need them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat

from benchmarks.w3c.elsewhere import Elsewhere
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from sparql.model.change import Verdict
from sparql.model.vocabulary import ASSERTED, DEFAULT
from sparql.protocol.federation import localize
from sparql.protocol.formats import BY_NAME
from sparql.protocol.requests import ProtocolRequest
from sparql.syntax.request_facts import Kind, facts_of
from sparql.workers.query import QueryRequest
from sparql.writing.update_account import is_system_graph

_TIMEOUT_S = 60.0
_FORMATS = {".ttl": RdfFormat.TURTLE, ".nt": RdfFormat.N_TRIPLES, ".rdf": RdfFormat.RDF_XML}
_DATASETS = {".trig": RdfFormat.TRIG, ".nq": RdfFormat.N_QUADS}


@dataclass(frozen=True)
class Document:
    """A file to load: into the default graph, or into ``graph``; ``iri`` is its base."""

    path: Path
    iri: str
    graph: NamedNode | None = None


@dataclass
class Engine:
    """Loads a dataset, and queries and updates it as the server would."""

    services: Services
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    _loaded: Collection[Document] | None = field(default=None)

    def load(self, documents: Collection[Document]) -> None:
        """Make the clients' part of the store hold these documents.

        Past the gate, since the suites' data holds literals that no schema would take.
        """
        if self._loaded == documents:
            return
        self.clear()
        store = self.services.store.graph
        quads = [quad for document in documents for quad in read_document(document)]
        graphs = {document.graph for document in documents if document.graph is not None}
        known = {graph for graph in store.named_graphs() if isinstance(graph, NamedNode)}
        self.services.store.commit(quads, graphs_created=graphs - known)
        self._loaded = documents

    def clear(self) -> None:
        """Remove all but the system graphs."""
        store = self.services.store.graph
        graphs = [g for g in store.named_graphs() if isinstance(g, NamedNode) and not is_system_graph(g)]
        # The origin graphs' copies are deleted with what they are copies of.
        emptied = (DEFAULT, ASSERTED, *(g for g in store.named_graphs() if not is_system_graph(g)))
        gone = [quad for graph in emptied for quad in store.quads_for_pattern(None, None, None, graph)]
        self.services.store.commit((), gone, graphs_dropped=graphs)
        self._loaded = None

    def quads(self) -> list[Quad]:
        """What a client sees: the default graph and the clients' graphs."""
        everything = self.services.store.graph.quads_for_pattern(None, None, None, None)
        return [quad for quad in everything if not is_system_graph(quad.graph_name)]

    async def query(self, text: str, base: str, result_format: str) -> bytes:
        """A reader's answer, graphs as N-Triples. Raises the errors of `sparql`."""
        text = (await localize(text, self.elsewhere, base)).text
        form = facts_of(text).form
        name = "ntriples" if form is not None and form.gives_graph else result_format
        request = QueryRequest(text, BY_NAME[name], timeout_s=_TIMEOUT_S, base=base)
        async with self.services.readers.query(request) as result:
            return b"".join([chunk async for chunk in result])

    async def update(self, text: str, base: str) -> Verdict:
        """Capture and commit, with nothing allowed that reaches out. Raises the errors of `sparql`."""
        self._loaded = None
        return await self.services.updates.run(ProtocolRequest(Kind.UPDATE, text), _TIMEOUT_S, base)


@asynccontextmanager
async def started(folder: Path) -> AsyncIterator[Engine]:
    """An engine whose data lie in a new folder."""
    nothing = folder / "nothing"
    nothing.mkdir()
    settings = Settings.model_validate(
        {"data": folder / "data", "ontology": nothing, "shapes": nothing, "readers": 1}
    )
    async with build(settings) as services:
        yield Engine(services)


def read_document(document: Document) -> list[Quad]:
    """The quads of a file, its blank nodes its own."""
    store = pyoxigraph.Store()
    suffix = document.path.suffix
    if suffix in _DATASETS:
        store.load(path=str(document.path), format=_DATASETS[suffix], base_iri=document.iri)
        return list(store)
    graph = document.graph or DefaultGraph()
    store.load(path=str(document.path), format=_FORMATS[suffix], base_iri=document.iri, to_graph=graph)
    return list(store)
