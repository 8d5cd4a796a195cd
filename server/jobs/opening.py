"""Makes the job worker, with the server's own model or with the workers of a Dask cluster."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from extractors.models.chat import ChatModel
from ontology import Schema
from server.jobs.cluster.dask_cluster import dask_client
from server.jobs.progress import Progress
from server.jobs.store import JobStore
from server.jobs.worker import JobWorker
from server.runtime.settings import Settings
from sparql.model.triple_store import TripleStore

if TYPE_CHECKING:
    from server.intake.intake import Intake
    from server.jobs.cluster.cluster_worker import WorkerSetup
    from server.jobs.committing import Committer
    from server.jobs.extracting import Cluster, Extractor


def worker_of(
    settings: Settings,
    store: JobStore,
    graph: TripleStore,
    model: ChatModel,
    intake: Callable[[], Intake],
    *,
    schema: Callable[[], Schema],
    settled: Callable[[str], None] = lambda state: None,
    cluster: Cluster | None = None,
) -> JobWorker:
    """The worker for the jobs of a folder; ``cluster`` is used instead of the one that the settings name."""
    if cluster is None and settings.job_cluster is not None:
        cluster = dask_cluster(settings.job_cluster)

    def opened() -> tuple[Extractor, Committer]:
        from server.jobs.committing import Committer
        from server.jobs.extracting import Answers, ClusterExtractor, LocalExtractor

        progress = Progress(store)
        answers = Answers(model, progress, settings.job_concurrency)
        committer = Committer(graph, intake, answers)
        if cluster is not None:
            shared = model if settings.model_url is not None else None
            setups = _setups(settings, schema, intake)
            return ClusterExtractor(cluster, setups, progress, shared), committer
        return LocalExtractor(answers, lambda: intake().pipeline), committer

    return JobWorker(store, opened, attempts=settings.job_attempts, settled=settled)


def dask_cluster(address: str) -> Cluster:
    """The workers of a Dask cluster, by its scheduler's address."""

    @contextmanager
    def opened() -> Iterator[tuple[Executor, int]]:
        with dask_client(address) as (client, threads):
            yield client.get_executor(pure=False), threads

    return opened


def _setups(
    settings: Settings, schema: Callable[[], Schema], intake: Callable[[], Intake]
) -> Callable[[], WorkerSetup]:
    """Gives the setup for the ontology in force, made again after each edit."""
    from server.jobs.cluster.cluster_worker import WorkerSetup

    made: dict[str, WorkerSetup] = {}

    def setup() -> WorkerSetup:
        current = schema()
        if current.version not in made:
            made.clear()
            files = tuple((file.path.name, file.content) for file in current.files)
            names = [name for name in Settings.model_fields if name.startswith("model_")]
            model = Settings(**{name: getattr(settings, name) for name in names})
            extraction = intake().pipeline.settings
            key = f"{current.version} {model.model_dump_json()} {extraction}"
            made[current.version] = WorkerSetup(
                key=hashlib.sha256(key.encode()).hexdigest(),
                ontology=files,
                extraction=extraction,
                model=model,
            )
        return made[current.version]

    return setup
