"""Makes what people, texts and jobs need of a server; `Services` calls each function at the first use.

Neither a query nor a plain update needs any of it, so a start does not import it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from curation.deciding.decisions import Decisions
    from curation.documents import Documents
    from curation.merging.merging import Merging
    from curation.proposals import Proposals
    from curation.review.review_queue import ReviewQueue
    from extractors.models.chat import ChatModel
    from extractors.models.metering import MeteredModel
    from server.gaps.passages import Passages
    from server.gaps.queue import GapQueue
    from server.intake.held.held_judge import HeldJudge
    from server.jobs.store import JobStore
    from server.jobs.worker import JobWorker
    from server.runtime.context import Services


def review(services: Services) -> ReviewQueue:
    """The review queue."""
    from curation.review.review_queue import ReviewQueue

    return ReviewQueue(services.store, services.read_review_queue)


def proposals(services: Services) -> Proposals:
    """The words that the ontology does not have."""
    from curation.proposals import Proposals

    return Proposals(services.store, services.writer)


def decisions(services: Services) -> Decisions:
    """What people decide on review items."""
    from curation.deciding.decisions import Decisions

    return Decisions(
        services.store,
        services.writer,
        services.review,
        schema=lambda: services.rule_registry.current.schema,
        shapes_version=lambda: services.rule_registry.current.gate.version,
    )


def documents(services: Services) -> Documents:
    """The texts that statements come from."""
    from curation.documents import Documents

    return Documents(services.store, services.writer, services.review)


def merging(services: Services) -> Merging:
    """Merges two entities, and splits them again."""
    from curation.merging.merging import Merging
    from server.runtime.startup import obstacle

    return Merging(
        services.store,
        services.writer,
        services.review,
        obstacle=lambda one, other: obstacle(services, one, other),
        written=lambda iri: services.schema.written(iri),
    )


def held_judge(services: Services) -> HeldJudge:
    """Judges held batches."""
    from server.intake.held.held_judge import HeldJudge

    return HeldJudge(
        services.store, services.writer, lambda: services.intake, lambda: services.rule_registry.current
    )


def model(services: Services, given: ChatModel | None) -> MeteredModel:
    """The language model of the settings, or the given one."""
    from server.intake.language_model import language_model

    opened = language_model(services.settings, services.metrics, given)
    services.closing.push_async_callback(opened.close)
    return opened


def gaps(services: Services) -> GapQueue:
    """What questions missed. Raises `StateUnreadable`."""
    from server.gaps.queue import GapQueue

    queue = GapQueue(services.settings.data)
    services.closing.callback(queue.close)
    return queue


def passages(services: Services) -> Passages:
    """Texts in which gaps are looked up. Raises `StateUnreadable`."""
    from server.gaps.passages import Passages
    from server.gaps.service import graph_documents

    found = Passages(services.settings.data, graph_documents(services), services.settings.encyclopedia)
    services.closing.callback(found.close)
    return found


def jobs(services: Services) -> JobStore:
    """The jobs of the folder. Raises `StateUnreadable`."""
    from server.jobs.store import JobStore

    store = JobStore(services.settings.data)
    services.closing.callback(store.close)
    return store


def job_worker(services: Services) -> JobWorker:
    """Works on the jobs. Raises `StateUnreadable`."""
    from server.jobs.worker import worker_of

    return worker_of(
        services.settings,
        services.jobs,
        services.store,
        services.model,
        lambda: services.intake,
        schema=lambda: services.rule_registry.current.schema,
        settled=lambda state: services.metrics.job_documents.labels(state).inc(),
    )
