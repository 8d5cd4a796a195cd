"""Opens what a server needs to judge, derive, extract and answer, since that takes long.

Queries need none of it. So it is opened on a thread beside them: first what judges changes, which wait for
the writer until then, and after that the indexes and all that extracts and answers with them.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import BlankNode, NamedNode

from server.extent import within_extent
from server.rules.checking import Reasoner
from server.rules.ruleset import Ruleset, in_force
from sparql.model.vocabulary import DEFAULT, HELD, RDF, UKG
from sparql.spatial.pending_relations import PendingRelations
from sparql.storage.embedded_store import EmbeddedStore
from sparql.storage.gil_yield import short_switch_interval

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry

    from extractors.checks.calibration import Calibration
    from extractors.grounding.geocoder import Geocoder
    from ontology import Schema
    from server.intake.resolution.geocoding import GeocodingAssessor
    from server.rules.rule_effects import RuleEffects
    from server.rules.ruleset import Ruleset
    from server.runtime.asking import ThreadedAsker
    from server.services import Services, StartedServices
    from server.settings import Settings
    from shapes.gate.gate import ShapesGate
    from sparql.ask.linking.summary import DataSummary
    from sparql.model.triple_store import TripleStore
    from sparql.names.labels import LabelIndex
    from sparql.spatial.relations import SpatialRelations
    from sparql.writing.derivation import Substitution


_WRITERS_FIRST_S = 0.2
_PLANS_OF_MODEL = 3
"""How many plans of a question a large model writes at most; the answer that most of them find is given."""
_NEVER = 2.0
"""A similarity that no two names have."""


class ServerStartup:
    """Opens the services once, on its own thread; the writer commits nothing before `judging`.

    A `gate` is used instead of the shapes of the folder.
    """

    def __init__(self, services: Services, gate: ShapesGate | None = None) -> None:
        self._services = services
        self._gate = gate
        self.begun = False
        """Whether anything is opened or was."""
        self.judging: Future[None] = Future()
        """Done when changes are judged; fails with what keeps them from ever being judged."""
        self.started: Future[StartedServices] = Future()
        self._opening: Future[StartedServices] | None = None

    def start(self, *, yields: bool = False) -> None:
        """Begin, unless that has happened. If it fails, `started` says why, and the writer stays closed.

        With `yields`, the rest is opened a moment after changes are judged: waiting writes go first.
        """
        if self.begun:
            return
        self.begun = True
        thread = ThreadPoolExecutor(1, "opening")
        self._opening = thread.submit(self._open, yields)
        self._opening.add_done_callback(self._finish)
        thread.shutdown(wait=False)

    def wait_until_idle(self, timeout_s: float) -> None:
        """Return when nothing is being opened any more, or after the timeout."""
        if self._opening is not None:
            wait([self.started], timeout_s)

    def judge(self) -> None:
        """Open what judges changes and nothing else, for a command that only writes.

        Raises what it fails with. Indexes of names and geometries would take longer than a bulk load, and the
        next start builds them anyway.
        """
        self.begun = True
        try:
            _judge(self._services, self._gate)
        except BaseException as error:
            self._fail(error)
            raise
        self.judging.set_result(None)

    def _open(self, yields: bool) -> StartedServices:
        rules, relations = _judge(self._services, self._gate)
        if yields:
            # The interpreter runs one thread at a time.
            time.sleep(_WRITERS_FIRST_S)
        self.judging.set_result(None)
        services = self._services
        with short_switch_interval():
            started = _open(services, rules, relations)
        if isinstance(services.store, EmbeddedStore):
            # Queries to another store are not rewritten: it has functions and indexes of its own.
            services.rewriter.warm()
        if services.serves:
            _report_held(services.store)
            services.read_review_queue()
        return started

    def _finish(self, opening: Future[StartedServices]) -> None:
        error = opening.exception()
        if error is not None:
            self._fail(error)
            return
        self.started.set_result(opening.result())

    def _fail(self, error: BaseException) -> None:
        self._services.writer.abandon()
        if not self.judging.done():
            self.judging.set_exception(error)
        self.started.set_exception(error)


def _report_held(store: TripleStore) -> None:
    """Log how many batches an earlier version of the server held and never judged."""
    waiting = sum(1 for _ in store.match_quads(None, UKG.status, UKG.Waiting, HELD))
    if waiting:
        logging.getLogger("urbankg.intake").warning(
            "%d batches that an earlier version held were never judged; %s has them, to be sent again",
            waiting,
            HELD,
        )


def configure(gate: ShapesGate, services: Services) -> None:
    """Make a gate judge as the settings say, each change within the time limit."""
    settings = services.settings
    gate.use(
        "compiled",
        inferring=settings.infers,
        limit=services.judging_limit,
    )
    gate.languages = tuple(filter(None, map(str.strip, settings.message_languages.split(","))))


def obstacle(services: Services, entity: NamedNode, other: NamedNode) -> str | None:
    """Why two entities cannot be one, in words; None when nothing speaks against it."""
    from sparql.names.resolution import NEAR_M, Resolver

    store, relations = services.store, services.relations

    def classes(iri: NamedNode) -> list[NamedNode]:
        return [t.object for t in store.match(iri, RDF.type, None) if isinstance(t.object, NamedNode)]

    def places(iri: NamedNode | BlankNode) -> tuple[BaseGeometry, ...]:
        return relations.geometry_of(iri) if isinstance(iri, NamedNode) else ()

    resolver = Resolver(store, places, near_m=NEAR_M)
    return resolver.obstacle(entity, other, classes, services.schema)


def asker(services: Services, schema: Schema, labels: LabelIndex, summary: DataSummary) -> ThreadedAsker:
    """What answers questions by an ontology."""
    from server.runtime.asking import ThreadedAsker, at_home, query_of_caller
    from sparql.ask.model import AskedModel
    from sparql.ask.service import Asker
    from sparql.names.resolution import representative

    settings = services.settings
    asked = AskedModel(services.model, _PLANS_OF_MODEL, settings.ask_queries, at_home)
    answering = Asker(
        schema=schema,
        labels=labels,
        summary=summary,
        same=lambda iri: representative(services.store, iri),
        model=asked,
        run_query=query_of_caller(services.readers),
        prompts=settings.prompts,
    )
    return ThreadedAsker(answering, services.asking)


def _judge(services: Services, gate: ShapesGate | None) -> tuple[Ruleset, PendingRelations]:
    """Judge changes by the rules of the folder from now on."""
    settings, store = services.settings, services.store
    rules = services.rule_registry.open(gate)
    configure(rules.gate, services)

    def build() -> SpatialRelations:
        from sparql.spatial.relations import SpatialRelations

        built = SpatialRelations(settings.tolerances, settings.judging_timeout_s)
        # The index of geometries follows the commits to this store only.
        reads = isinstance(store, EmbeddedStore)
        built.rebuild(store, services.rewriter.geometries.read() if reads else None)
        return built

    relations = PendingRelations(build, settings.tolerances)
    if in_force(store) != rules.versions:
        from server.curation.proposing import settling

        # No other write happens before the release.
        added, removed = settling(services.proposals, rules)
        record = rules.record(store.revision() + 1, datetime.now(UTC).isoformat())
        store.commit([*record, *added], removed)
    inferences = None
    if settings.infers:
        from sparql.inference.materialized import Inferences

        inferences = Inferences(store, settings.inference_max, rules.derivations(settings))
    judge = within_extent(rules.gate, settings.extent, rules.schema)
    services.writer.release(gate=judge, deriver=relations, inferences=inferences)
    return rules, relations


def _open(services: Services, rules: Ruleset, pending: PendingRelations) -> StartedServices:
    # Imported here: these packages and what they import take longer than everything before.
    from curation.proposals import TermKind
    from extractors.grounding.linking import Linker
    from extractors.pipeline import Pipeline
    from extractors.prompting.methods import method_named
    from extractors.settings import ExtractionSettings
    from server.intake.batch import GeometryAssessor
    from server.intake.intake import Intake
    from server.intake.language_model import prices_of
    from server.intake.resolution.agreeing import AgreementAssessor
    from server.intake.resolution.namesakes import KnownRegions, NamesakeAssessor
    from server.intake.resolution.resolving import ResolutionAssessor
    from server.services import StartedServices
    from sparql.ask.linking.summary import DataSummary
    from sparql.ask.places import StatedPlaces
    from sparql.names.labels import LabelIndex, alias_properties
    from sparql.names.resolution import representative
    from sparql.provenance.records import EvidenceReader

    settings, store, rule_registry = services.settings, services.store, services.rule_registry
    rules.gate.warm()
    relations = pending.wait()
    labels = LabelIndex(alias_properties(rules.schema))
    summary = DataSummary(rules.schema)
    languages = tuple(code.strip() for code in settings.language.split(",") if code.strip())
    pipeline = Pipeline(
        schema=lambda: rule_registry.current.schema,
        labels=labels,
        model=services.model,
        settings=ExtractionSettings(
            base=settings.base_iri,
            languages=languages,
            maximum_characters=settings.max_text_chars,
            prompts=settings.prompts,
            method=method_named(settings.extraction_method),
            minimum_confidence=settings.extraction_confidence,
            time_limit_s=settings.extraction_timeout,
        ),
        exists=lambda iri: _exists(store, iri),
        # What is spelled otherwise is resolved where places are known too: by the ResolutionAssessor.
        linker=lambda names, schema: Linker(
            names,
            schema,
            near_threshold=_NEVER,
            same=lambda iri: representative(store, iri),
            regions=lambda iri: KnownRegions(store, StatedPlaces.of(schema)).with_wider(iri) - {iri},
        ),
        calibration=_calibration(settings),
        synonyms=lambda kind, words: services.proposals.meaning(TermKind(kind), words),
    )
    started = StartedServices(
        relations=relations,
        labels=labels,
        intake=Intake(
            services.writer,
            services.review,
            services.proposals,
            evidence=EvidenceReader(store),
            rules=lambda: rule_registry.current,
            pipeline=pipeline,
            prices=prices_of(settings),
            trace_characters=settings.trace_message_chars,
            finished=services.model.finish_task,
            assessors=(
                ResolutionAssessor(settings, relations, labels, store),
                _geocoding(settings, relations, labels, store),
                NamesakeAssessor(relations, labels, store),
                AgreementAssessor(store),
                GeometryAssessor(
                    settings, relations, labels, services.review, lambda: rule_registry.current.gate.conflicts
                ),
            ),
        ),
        asker=asker(services, rules.schema, labels, summary),
    )
    services.writer.follow((labels, summary))
    return started


def _geocoding(
    settings: Settings, relations: SpatialRelations, labels: LabelIndex, store: TripleStore
) -> GeocodingAssessor:
    """What gives new places their geometry. Raises `GazetteerError` for a file that cannot be used."""
    from extractors.grounding.geocoder import Gazetteer
    from server.intake.resolution.geocoding import GeocodingAssessor
    from sparql.names.resolution import LoadedFeatures

    tags = [code.strip() for code in settings.language.split(",") if code.strip()]
    files = [Path(name.strip()) for name in settings.gazetteers.split(",") if name.strip()]
    geocoders: list[Geocoder] = [LoadedFeatures(store, labels, languages=tags or ["en"])]
    geocoders += [Gazetteer.read(file) for file in files]
    return GeocodingAssessor(relations, geocoders)


def _calibration(settings: Settings) -> Calibration | None:
    """What makes probabilities of the model's scores. Raises `CalibrationError` for an unusable file."""
    from extractors.checks.calibration import load_calibration, read_calibration
    from extractors.models.local.weights import adapter_file
    from extractors.models.opening import embedded_adapter

    if settings.calibration is not None:
        return read_calibration(settings.calibration)
    adapter = None if settings.model_url else embedded_adapter(settings.model_name, settings.model_adapter)
    return None if adapter is None else load_calibration(adapter_file(adapter).parent)


def _exists(store: TripleStore, iri: NamedNode) -> bool:
    return any(True for _ in store.match(iri, None, None))


def put_in_force(services: Services, rules: Ruleset, substitute: Callable[[], Substitution]) -> None:
    """Put rules in force between two writes; requests under way keep those they began with.

    `substitute` gives what changes in statements in the same commit.
    """
    moment = datetime.now(UTC).isoformat()
    writer = services.writer
    configure(rules.gate, services)

    derivations = rules.derivations(services.settings)

    def switch() -> None:
        writer.use_rules(derivations)
        writer.gate = within_extent(rules.gate, services.settings.extent, rules.schema)
        services.rule_registry.current = rules
        _use_ontology(services, rules.schema)

    writer.replace_ontology(
        rules.schema.triples,
        record=lambda revision: rules.record(revision, moment),
        then=switch,
        substitute=substitute,
    )
    if writer.inferring == "stale":
        # Too much follows from the edit for it to wait, or other rules are followed.
        services.background.start("infer anew", writer.infer_anew)


def reason_after(services: Services, before: Ruleset, after: Ruleset) -> None:
    """After an edit of the ontology, run the reasoner in the background."""
    reasoner, background = Reasoner(services.settings.reasoner), services.background
    if reasoner is not Reasoner.NONE and before.schema.version != after.schema.version:
        background.start(
            f"reason over ontology {after.schema.version}",
            lambda: services.rule_registry.reason(after, reasoner, lambda: background.closing),
        )


def effects(services: Services) -> RuleEffects:
    """What measures and carries out what other rules change in the graph."""
    from server.curation.proposing import ProposalService
    from server.rules.rule_effects import RuleEffects

    return RuleEffects(
        services.store,
        services.writer,
        services.review,
        services.decisions,
        services.rule_registry.dry_runs,
        settle=lambda rules: ProposalService(services).settle(rules),
    )


def _use_ontology(services: Services, schema: Schema) -> None:
    """Read names and answer questions by another ontology; called under the writer's lock."""
    from sparql.names.labels import alias_properties

    started, labels = services.started, services.labels
    summary = started.asker.summary
    summary.use(schema)
    started.asker = asker(services, schema, labels, summary)
    if labels.use_aliases(alias_properties(schema)):
        named = [
            services.store.match_quads(None, predicate, None, DEFAULT) for predicate in labels.predicates
        ]
        labels.rebuild(chain.from_iterable(named))
