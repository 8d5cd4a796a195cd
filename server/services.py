"""Wires the rooms together: one object that holds everything a running server needs."""

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
from server.deferred_model import DeferredModel
from server.intake import Intake
from server.settings import Settings
from shapes.gate import ShapesGate
from shapes.loading import load_shapes
from shapes.review import ReviewQueue
from sparql.ask import Asker
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
    model: ChatModel
    pipeline: Pipeline
    intake: Intake
    readers: ReaderPool
    asker: Asker

    async def __aenter__(self) -> Self:
        await self.readers.start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.readers.close()
        await self.model.close()
        self.store.close()


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
    store = EmbeddedStore(settings.data, sync=settings.sync)
    relations = SpatialRelations(settings.tolerance_m)
    labels = LabelIndex(alias_properties(schema))
    writer = Writer(store, gate=gate, deriver=relations, observers=(labels,))
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
        ),
    )
    return Services(
        settings=settings,
        schema=schema,
        gate=gate,
        store=store,
        writer=writer,
        relations=relations,
        labels=labels,
        review=review,
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
        asker=Asker(
            schema=schema,
            labels=labels,
            linker=Linker(labels, schema),
            model=chat,
            run_query=readers.solutions,
        ),
    )


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
