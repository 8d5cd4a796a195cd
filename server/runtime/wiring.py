"""Opens the folder of a graph and makes everything that a running server holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from curation.deciding.decisions import Decisions
from curation.documents import Documents
from curation.merging.merging import Merging
from curation.proposals import Proposals
from curation.review.review_queue import ReviewQueue
from ontology import Schema
from server.background import Background
from server.gaps.service import graph_documents
from server.gaps.storage import GapQueue, Passages
from server.http.access.admission import Admission
from server.http.access.clients import Clients
from server.http.access.guard import Guard
from server.http.access.keys import KeyStore, NoKeys
from server.http.request_logging import Draining
from server.intake.language_model import language_model
from server.jobs.store import JobStore
from server.jobs.worker import worker_of
from server.monitoring.logs import AnswerLog
from server.monitoring.metrics import Metrics, Reading, folder_bytes
from server.monitoring.slow_queries import SlowQueries
from server.monitoring.verdict_history import VerdictHistory
from server.rules.checking import Folders
from server.rules.edits import DryRuns, Kind
from server.rules.rule_folders import EDIT_RECORD, UNUSABLE, RuleHistory, complete_edit, read_ontology
from server.rules.rule_registry import RuleRegistry
from server.runtime.asking import AskingThread
from server.runtime.startup import ServerStartup, effects, obstacle, put_in_force, reason_after
from server.services import Services
from server.settings import Settings
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from server.stores import capturer_of, check_databases, open_store, readers_of
from server.writes.reviewing_writer import PlaceChecks, ReviewingWriter
from server.writes.updating import Updates
from shapes.errors import UNEXPECTED
from shapes.time_limit import TimeLimit
from sparql.model.change import Verdict
from sparql.model.options import Options
from sparql.model.triple_store import TripleStore
from sparql.rewriting.rewriter import Rewriter
from sparql.storage.change_log import ChangeLog
from sparql.storage.durability import Durability
from sparql.storage.embedded_store import EmbeddedStore
from sparql.workers.pool import WorkerPool
from sparql.workers.query import QueryService
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from extractors.models.chat import ChatModel
    from shapes.gate.gate import ShapesGate


def build(
    settings: Settings,
    *,
    model: ChatModel | None = None,
    schema: Schema | None = None,
    gate: ShapesGate | None = None,
    serves: bool = True,
) -> Services:
    """Open the folder and wire everything. Raises the errors of what cannot be opened or read.

    With `serves` for clients, else for one command. Files of ontology or shapes that cannot be used are
    replaced by the last good ones.

    The ontology in the graph is made the one in the files; the model is opened when first used. A model,
    schema or gate handed in is used instead of what the settings name.
    """
    if settings.prompts is not None:
        from extractors.prompting.prompt import check_prompts
        from extractors.readers.dialogs import load_examples

        check_prompts(settings.prompts)
        load_examples(settings.prompts)
    judging_limit = TimeLimit(settings.judging_timeout_s)
    store = open_store(settings)
    try:
        # What another process may be writing is completed only by the process that holds the folder.
        complete_edit(settings.data / EDIT_RECORD)
        rule_registry = _rule_registry(settings, schema, judging_limit)
    except BaseException:
        store.close()
        raise
    check_databases(settings.data)
    changes = store.journal = ChangeLog(
        settings.data / "changes",
        store.revision(),
        total_bytes=settings.change_log_mb * 2**20,
        sync=settings.durability is Durability.COMMIT,
    )
    writer = Writer(store, invalid_geometry=settings.invalid_geometry)
    writer.replace_ontology(rule_registry.schema.triples)
    # The startup releases it when changes are judged.
    writer.hold()
    readers = readers_of(store, settings)
    rewriter = Rewriter(store, lambda: services.labels, inferring=settings.infers)
    metrics = _metrics(store, writer, readers, lambda: services)
    background = Background()
    verdict_history = VerdictHistory(
        settings.data, lambda write: background.start("write the counts of verdicts", write)
    )
    if isinstance(store, EmbeddedStore):
        store.before_commit = rewriter.geometries.note
    if isinstance(readers, WorkerPool):
        readers.prepare = lambda text: rewriter.preparation(text, Options())
    review = ReviewQueue(store, lambda: services.read_review_queue())
    documents = Documents(store, writer, review)
    asked_model = language_model(settings, metrics, model)
    gaps, jobs = GapQueue(settings.data), JobStore(settings.data)
    passages = Passages(settings.data, graph_documents(documents), settings.encyclopedia)
    closing = AsyncExitStack()
    closing.push_async_callback(asked_model.close)
    for opened in (gaps, passages, jobs):
        closing.callback(opened.close)
    keys = KeyStore(settings.data)
    guard = Guard(settings, keys if serves else NoKeys())
    place_checks = PlaceChecks(settings, store, lambda: rule_registry.current)

    def writer_for(source: str) -> ReviewingWriter:
        return ReviewingWriter(
            writer,
            lambda: services.review,
            lambda: rule_registry.current.versions,
            source,
            place_checks.check,
        )

    services = Services(
        settings=settings,
        rule_registry=rule_registry,
        store=store,
        writer=writer,
        writer_for=writer_for,
        readers=readers,
        rewriter=rewriter,
        updates=Updates(
            writer_for("update"),
            capturer_of(store, readers),
            lambda: store.graph,
            together=isinstance(store, EmbeddedStore),
            shares_sync=settings.durability is Durability.GROUP,
        ),
        metrics=metrics,
        verdict_history=verdict_history,
        slow_queries=SlowQueries(),
        draining=Draining(),
        answers=AnswerLog(),
        changes=changes,
        keys=keys,
        guard=guard,
        clients=Clients(settings.trusted_proxies, guard.key_name),
        admission=Admission(settings, guard),
        background=background,
        place_checks=place_checks,
        judging_limit=judging_limit,
        serves=serves,
        asking=AskingThread(),
        review=review,
        proposals=Proposals(store, writer),
        decisions=Decisions(
            store,
            writer,
            review,
            schema=lambda: rule_registry.current.schema,
            shapes_version=lambda: rule_registry.current.gate.version,
        ),
        documents=documents,
        merging=Merging(
            store,
            writer,
            review,
            obstacle=lambda entity, other: obstacle(services, entity, other),
            written=lambda iri: services.schema.written(iri),
        ),
        model=asked_model,
        gaps=gaps,
        passages=passages,
        jobs=jobs,
        job_worker=worker_of(
            settings,
            jobs,
            store,
            asked_model,
            lambda: services.intake,
            schema=lambda: rule_registry.current.schema,
            settled=lambda state: metrics.job_documents.labels(state).inc(),
        ),
        closing=closing,
    )
    services.startup = ServerStartup(services, gate)
    rule_registry.put_in_force = partial(put_in_force, services)
    rule_registry.after_switch = partial(reason_after, services)
    rule_registry.effects = partial(effects, services)

    def judged(verdicts: Sequence[Verdict], seconds: float) -> None:
        metrics.judged(verdicts, seconds)
        verdict_history.note(verdicts)

    writer.on_verdicts = judged
    return services


def _rule_registry(settings: Settings, schema: Schema | None, limit: TimeLimit) -> RuleRegistry:
    """The ontology of the folder, or a given one; where the folder's cannot be used, the last good one."""
    folders = Folders(settings.ontology or SHIPPED_ONTOLOGY, settings.shapes or SHIPPED_SHAPES)
    folders = replace(folders, generate=settings.generate_shapes, follows_rules=settings.follows_rules)
    editable = {Kind.ONTOLOGY: settings.ontology is not None, Kind.SHAPES: settings.shapes is not None}
    history = RuleHistory(settings.data)
    dry_runs = DryRuns(limit, settings.query_memory_bytes)
    if schema is not None:
        return RuleRegistry(folders, schema, history, dry_runs, editable=editable)
    problem = None
    try:
        schema = read_ontology(folders.ontology)
    except UNUSABLE as error:
        schema, problem = _last_good_ontology(history), error
        if schema is None:
            raise
    rule_registry = RuleRegistry(folders, schema, history, dry_runs, editable=editable)
    if problem is not None:
        rule_registry.report_problem(problem)
    return rule_registry


def _last_good_ontology(history: RuleHistory) -> Schema | None:
    try:
        return history.last_good_ontology()
    except (*UNUSABLE, OSError, *UNEXPECTED):
        # It was good for an earlier version of the program.
        return None


def _metrics(
    store: TripleStore, writer: Writer, readers: QueryService, services: Callable[[], Services]
) -> Metrics:
    metrics = Metrics()
    writer.on_verdicts = metrics.judged
    done, local = readers.statistics, store.local
    graph = (store.folder or Path()) / "graph"

    def names() -> int:
        return len(services().labels) if services().is_open else 0

    def geometries() -> int:
        return len(services().relations.index) if services().is_open else 0

    metrics.watch(
        Reading("urbankg_revision", "The revision of the graph.", store.revision),
        Reading("urbankg_store_bytes", "Size of the graph on the disk.", lambda: folder_bytes(graph)),
        Reading("urbankg_names", "Entities in the index of names.", names),
        Reading("urbankg_geometries", "Geometries in the spatial index.", geometries),
        Reading(
            "urbankg_change_log_bytes",
            "Size of the log of changes on the disk.",
            lambda: folder_bytes(services().settings.data / "changes"),
        ),
        Reading("urbankg_query_queue", "Queries that wait for a reader.", lambda: readers.waiting),
        Reading("urbankg_readers", "Reader processes.", lambda: len(readers.pids)),
        Reading("urbankg_queries", "Queries given to readers.", lambda: done.queries, counter=True),
        Reading("urbankg_reader_kills", "Readers that were killed.", lambda: done.kills, counter=True),
        Reading("urbankg_queries_refused", "Queries turned away.", lambda: done.turned_away, counter=True),
        Reading("urbankg_jobs_running", "Jobs that run.", lambda: services().jobs.running()),
        Reading(
            "urbankg_job_documents_waiting",
            "Documents of running jobs that wait to be extracted.",
            lambda: services().jobs.count(),
        ),
        Reading("urbankg_syncs", "Syncs of group durability.", lambda: local.syncs, counter=True),
    )
    return metrics
