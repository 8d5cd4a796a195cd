"""Wires the rooms together: one object that holds everything a running server needs."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from pyoxigraph import NamedNode

import ontology as ontology_room
import shapes as shapes_room
from extractors import ExtractionSettings, Linker, Pipeline
from extractors.models import ChatModel, open_model
from ontology import Schema
from server.admission import Admission
from server.deferred_model import DeferredModel
from server.guard import Guard
from server.intake import Intake
from server.keys import KeyStore
from server.metrics import Metrics, Reading, folder_bytes
from server.settings import Settings
from server.updating import Updates
from server.watching import Draining
from shapes.decisions import Decisions
from shapes.gate import ShapesGate
from shapes.loading import load_shapes
from shapes.review import ReviewQueue
from sparql.ask import Asker
from sparql.changes import ChangeLog
from sparql.durability import Durability
from sparql.labels import LabelIndex, alias_properties
from sparql.readers import ReaderPool, ReaderSettings
from sparql.relations import SpatialRelations
from sparql.store import EmbeddedStore
from sparql.writer import Writer

SHIPPED_ONTOLOGY = Path(ontology_room.__file__).parent
SHIPPED_SHAPES = Path(shapes_room.__file__).parent


@dataclass
class Services:
    """Everything a running server holds. Use `async with`: it starts and stops the readers."""

    settings: Settings
    schema: Schema
    gate: ShapesGate
    store: EmbeddedStore
    writer: Writer
    relations: SpatialRelations
    labels: LabelIndex
    review: ReviewQueue
    decisions: Decisions
    model: ChatModel
    pipeline: Pipeline
    intake: Intake
    readers: ReaderPool
    updates: Updates
    asker: Asker
    metrics: Metrics
    draining: Draining
    changes: ChangeLog
    keys: KeyStore
    guard: Guard
    admission: Admission

    async def __aenter__(self) -> Self:
        await self.readers.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        # An update under way may still need a reader, so the writer ends first.
        await asyncio.to_thread(self.writer.close)
        self.updates.close()
        await self.readers.close()
        await self.model.close()
        self.store.close()
        self.keys.close()


def build(
    settings: Settings,
    *,
    model: ChatModel | None = None,
    schema: Schema | None = None,
    gate: ShapesGate | None = None,
) -> Services:
    """Open the folder and wire everything. Raises the rooms' errors for what cannot be opened or read.

    The ontology in the graph is made the one in the files; the model is opened when first used. A model,
    schema or gate handed in is used instead of what the settings name.
    """
    schema = schema or Schema.load(settings.ontology or SHIPPED_ONTOLOGY)
    gate = gate or ShapesGate(load_shapes(settings.shapes or SHIPPED_SHAPES))
    store = EmbeddedStore(settings.data, durability=settings.durability)
    relations = SpatialRelations(settings.tolerance_m)
    labels = LabelIndex(alias_properties(schema))
    changes = store.journal = ChangeLog(
        settings.data / "changes",
        store.revision(),
        total_bytes=settings.change_log_mb * 2**20,
        sync=settings.durability is Durability.COMMIT,
    )
    writer = Writer(
        store,
        gate=gate,
        deriver=relations,
        observers=(labels,),
        invalid_geometry=settings.invalid_geometry,
    )
    writer.start()
    writer.replace_ontology(schema.triples)
    chat = model or _deferred(settings)
    pipeline = Pipeline(
        schema=schema,
        labels=labels,
        model=chat,
        settings=_extraction_settings(settings),
        exists=lambda iri: _exists(store, iri),
    )
    review = ReviewQueue(store)
    readers = ReaderPool(
        store,
        ReaderSettings(
            readers=settings.readers,
            timeout_s=settings.query_timeout_s,
            memory_limit_bytes=settings.query_memory_mb * 2**20,
            express=True,
        ),
    )
    keys = KeyStore(settings.data)
    guard = Guard(settings, keys)
    return Services(
        settings=settings,
        schema=schema,
        gate=gate,
        store=store,
        writer=writer,
        relations=relations,
        labels=labels,
        review=review,
        decisions=Decisions(
            store, writer, review, schema=lambda: schema, shapes_version=lambda: gate.version
        ),
        model=chat,
        pipeline=pipeline,
        intake=Intake(
            writer,
            review,
            schema=schema,
            shapes_version=gate.version,
            pipeline=pipeline,
        ),
        readers=readers,
        updates=Updates(writer, readers, lambda: store.graph),
        asker=Asker(
            schema=schema,
            labels=labels,
            linker=Linker(labels, schema),
            model=chat,
            run_query=readers.solutions,
        ),
        metrics=_metrics(store, writer, readers),
        draining=Draining(),
        changes=changes,
        keys=keys,
        guard=guard,
        admission=Admission(settings, guard),
    )


def _metrics(store: EmbeddedStore, writer: Writer, readers: ReaderPool) -> Metrics:
    metrics = Metrics()
    writer.on_verdict = metrics.judged
    done = readers.statistics
    graph = (store.folder or Path()) / "graph"
    metrics.watch(
        Reading("urbankg_revision", "The revision of the graph.", store.revision),
        Reading("urbankg_store_bytes", "Size of the graph on the disk.", lambda: folder_bytes(graph)),
        Reading("urbankg_query_queue", "Queries that wait for a reader.", lambda: readers.waiting),
        Reading("urbankg_readers", "Reader processes.", lambda: len(readers.pids)),
        Reading("urbankg_queries", "Queries given to readers.", lambda: done.queries, counter=True),
        Reading("urbankg_reader_kills", "Readers that were killed.", lambda: done.kills, counter=True),
        Reading("urbankg_queries_refused", "Queries turned away.", lambda: done.turned_away, counter=True),
        Reading("urbankg_syncs", "Syncs of group durability.", lambda: store.group.syncs, counter=True),
    )
    return metrics


def _deferred(settings: Settings) -> ChatModel:
    def opened() -> ChatModel:
        return open_model(
            settings.model_url,
            model=settings.model_name,
            api_key=settings.model_api_key,
            timeout_seconds=settings.model_timeout_s,
        )

    if settings.model_url:
        return DeferredModel(opened, name=settings.model_name or settings.model_url, prompt_profile="full")
    return DeferredModel(opened, name="embedded", prompt_profile="compact")


def _extraction_settings(settings: Settings) -> ExtractionSettings:
    languages = tuple(code.strip() for code in settings.language.split(",") if code.strip())
    return ExtractionSettings(
        base=settings.base_iri, languages=languages, maximum_characters=settings.max_text_chars
    )


def _exists(store: EmbeddedStore, iri: NamedNode) -> bool:
    return any(True for _ in store.match(iri, None, None))
