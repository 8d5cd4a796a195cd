"""What a server needs to judge, derive, extract and answer, and what takes long to open.

Queries need none of it. So it is opened on a thread beside them: first what judges changes, which wait for
the writer until then, and after that the indexes and all that extracts and answers with them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, NamedNode

from ontology import Schema
from server.rules.rule_registry import RuleRegistry
from server.rules.ruleset import Ruleset, in_force
from server.runtime.lazy_services import Desks
from server.runtime.settings import Settings
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DEFAULT, RDF
from sparql.spatial.pending_relations import PendingRelations
from sparql.storage.gil_yield import short_turns
from sparql.workers.protocol import QueryReaders
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from extractors.checks.calibration import Calibration
    from extractors.grounding.geocoder import Geocoder
    from server.intake.geocoding import GeocodingAssessor
    from server.intake.intake import Intake
    from sparql.ask.service import Asker
    from sparql.names.labels import LabelIndex
    from sparql.spatial.geometry_reading import GeometryReading
    from sparql.spatial.relations import SpatialRelations


_TURN_S = 0.2
_NEVER = 2.0
"""A similarity that no two names have."""


@dataclass
class Engines:
    """The gate, the indexes beside the graph, and what extracts and answers with them."""

    relations: SpatialRelations
    labels: LabelIndex
    intake: Intake
    asker: Asker

    def use(self, schema: Schema, parts: EngineParts) -> None:
        """Read names and answer questions by another ontology; called while nobody writes."""
        from sparql.names.labels import alias_properties

        self.asker = _asker(schema, self.labels, parts)
        if self.labels.use_aliases(alias_properties(schema)):
            named = [parts.store.match_quads(None, one, None, DEFAULT) for one in self.labels.predicates]
            self.labels.rebuild(chain.from_iterable(named))

    def obstacle(self, one: NamedNode, other: NamedNode, parts: EngineParts) -> str | None:
        """Why two entities cannot be one, in words; None when nothing speaks against it."""
        from sparql.names.resolution import Resolver

        store = parts.store

        def classes(iri: NamedNode) -> list[NamedNode]:
            return [t.object for t in store.match(iri, RDF.type, None) if isinstance(t.object, NamedNode)]

        def places(iri: NamedNode | BlankNode) -> tuple[BaseGeometry, ...]:
            return self.relations.geometry_of(iri) if isinstance(iri, NamedNode) else ()

        near_m = parts.settings.resolution_distance_m
        resolver = Resolver(store, places, near_m=near_m)
        return resolver.obstacle(one, other, classes, parts.rule_registry.schema)


@dataclass(frozen=True)
class EngineParts:
    """What the engines are made of, and what is there from the start."""

    settings: Settings
    rule_registry: RuleRegistry
    store: TripleStore
    writer: Writer
    desks: Desks
    readers: QueryReaders
    load_rules: Callable[[], Ruleset]
    read_geometries: Callable[[], GeometryReading] | None = None
    """Reads all geometries of the store, where somebody else needs them too."""


class Opening:
    """Opens the engines once, on a thread of its own; the writer lets nothing through before `judging`."""

    def __init__(self, parts: EngineParts) -> None:
        self.parts = parts
        self._started = False
        self.judging: Future[None] = Future()
        """Done when changes are judged; fails with what keeps them from ever being judged."""
        self.engines: Future[Engines] = Future()
        parts.writer.hold()

    def start(self, *, gives_way: bool = False) -> None:
        """Begin, if that has not happened. If it fails, `engines` says why, and the writer stays closed.

        With `gives_way`, what nobody waits for is opened a moment after changes are judged.
        """
        if self._started:
            return
        self._started = True
        thread = ThreadPoolExecutor(1, "opening")
        thread.submit(self._open, gives_way).add_done_callback(self._tell)
        thread.shutdown(wait=False)

    def judge(self) -> None:
        """Let changes through and open nothing else, for a command that only writes.

        Raises what it fails with. Indexes of names and geometries would take longer than a bulk load, and the
        next start builds them anyway.
        """
        self._started = True
        try:
            _judge(self.parts)
        except BaseException as error:
            self._fail(error)
            raise
        self.judging.set_result(None)

    def _open(self, gives_way: bool) -> Engines:
        rules, relations = _judge(self.parts)
        if gives_way:
            # The interpreter runs one thread at a time: those who wait to write go first.
            time.sleep(_TURN_S)
        self.judging.set_result(None)
        with short_turns():
            return _open(self.parts, rules, relations)

    def _tell(self, opening: Future[Engines]) -> None:
        error = opening.exception()
        if error is not None:
            self._fail(error)
        else:
            self.engines.set_result(opening.result())

    def _fail(self, error: BaseException) -> None:
        self.parts.writer.abandon()
        if not self.judging.done():
            self.judging.set_exception(error)
        self.engines.set_exception(error)


def _judge(parts: EngineParts) -> tuple[Ruleset, PendingRelations]:
    """Let changes through, judged by the rules of the folder."""
    settings, store = parts.settings, parts.store
    rules = parts.load_rules()

    def build() -> SpatialRelations:
        from sparql.spatial.relations import SpatialRelations

        built = SpatialRelations(settings.tolerances)
        built.rebuild(store, parts.read_geometries() if parts.read_geometries else None)
        return built

    relations = PendingRelations(build, settings.tolerances)
    if in_force(store) != rules.versions:
        from server.curation.proposing import settling

        # Nobody else writes before the release.
        added, removed = settling(parts.desks.proposals, rules)
        record = rules.record(store.revision() + 1, datetime.now(UTC).isoformat())
        store.commit([*record, *added], removed)
    inferences = None
    if settings.infers:
        from sparql.inference.materialised import Inferences

        inferences = Inferences(store, settings.inference_max)
    parts.writer.release(gate=rules.gate, deriver=relations, inferences=inferences)
    return rules, relations


def _open(parts: EngineParts, rules: Ruleset, pending: PendingRelations) -> Engines:
    # Imported here: with what they import in turn, these rooms take longer than everything before.
    from curation.proposal import TermKind
    from extractors.grounding.linking import Linker
    from extractors.pipeline import Pipeline
    from extractors.prompting.methods import method_named
    from extractors.settings import ExtractionSettings
    from server.intake.batch import GeometryAssessor
    from server.intake.intake import Intake
    from server.intake.language_model import prices_of
    from server.intake.resolving import ResolutionAssessor
    from sparql.names.labels import LabelIndex, alias_properties
    from sparql.names.resolution import representative

    settings, store, rule_registry = parts.settings, parts.store, parts.rule_registry
    # What is wrong with the database of jobs is told at the start.
    parts.desks.jobs  # noqa: B018
    rules.gate.warm()
    relations = pending.wait()
    labels = LabelIndex(alias_properties(rules.schema))
    languages = tuple(code.strip() for code in settings.language.split(",") if code.strip())
    pipeline = Pipeline(
        schema=lambda: rule_registry.current.schema,
        labels=labels,
        model=parts.desks.model,
        settings=ExtractionSettings(
            base=settings.base_iri,
            languages=languages,
            maximum_characters=settings.max_text_chars,
            prompts=settings.prompts,
            method=method_named(settings.extraction_method),
            samples=settings.extraction_samples,
            minimum_confidence=settings.extraction_confidence,
            implied_kinds=settings.implied_kinds,
        ),
        exists=lambda iri: _exists(store, iri),
        # What is spelled otherwise is resolved where places are known too: by the ResolutionAssessor.
        linker=lambda names, schema: Linker(
            names, schema, near_threshold=_NEVER, same=lambda iri: representative(store, iri)
        ),
        calibration=_calibration(settings),
        synonyms=lambda kind, words: parts.desks.proposals.meaning(TermKind(kind), words),
    )
    engines = Engines(
        relations=relations,
        labels=labels,
        intake=Intake(
            parts.writer,
            parts.desks.review,
            parts.desks.proposals,
            rules=lambda: rule_registry.current,
            pipeline=pipeline,
            prices=prices_of(settings),
            trace_characters=settings.trace_message_chars,
            finished=parts.desks.model.finish_task,
            assessors=(
                ResolutionAssessor(settings, relations, labels, store),
                *([_geocoding(settings, relations, labels, store)] if settings.geocode else []),
                GeometryAssessor(
                    settings,
                    relations,
                    labels,
                    parts.desks.review,
                    lambda: rule_registry.current.gate.conflicts,
                ),
            ),
        ),
        asker=_asker(rules.schema, labels, parts),
    )
    parts.writer.follow((labels,))
    return engines


def _geocoding(
    settings: Settings, relations: SpatialRelations, labels: LabelIndex, store: TripleStore
) -> GeocodingAssessor:
    """What gives new places their geometry. Raises `GazetteerError` for a file that cannot be used."""
    from extractors.grounding.gazetteer import Gazetteer
    from server.intake.geocoding import GeocodingAssessor
    from sparql.names.geocoding import LoadedFeatures

    tags = [code.strip() for code in settings.language.split(",") if code.strip()]
    files = [Path(name.strip()) for name in settings.gazetteers.split(",") if name.strip()]
    geocoders: list[Geocoder] = [LoadedFeatures(store, labels, languages=tags or ["en"])]
    geocoders += [Gazetteer.read(file) for file in files]
    return GeocodingAssessor(settings, relations, geocoders)


def _calibration(settings: Settings) -> Calibration | None:
    """What makes probabilities of the model's scores. Raises `CalibrationError` for a file that is none."""
    from extractors.checks.calibration import load_calibration, read_calibration
    from extractors.models.local.weights import ADAPTER_PATH

    if settings.calibration is not None:
        return read_calibration(settings.calibration)
    return None if settings.model_url else load_calibration(ADAPTER_PATH.parent)


def _asker(schema: Schema, labels: LabelIndex, parts: EngineParts) -> Asker:
    from extractors.grounding.linking import Linker
    from sparql.ask.service import Asker
    from sparql.names.resolution import representative

    return Asker(
        schema=schema,
        labels=labels,
        linker=Linker(labels, schema, same=lambda iri: representative(parts.store, iri)),
        model=parts.desks.model,
        run_query=parts.readers.solutions,
        prompts=parts.settings.prompts,
    )


def _exists(store: TripleStore, iri: NamedNode) -> bool:
    return any(True for _ in store.match(iri, None, None))
