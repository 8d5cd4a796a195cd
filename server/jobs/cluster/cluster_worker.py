"""What a worker of a cluster needs to ask a model about texts, and the function that runs there.

A worker needs this program, and the embedded model or access to the model's server. It gets the ontology
with its tasks and returns the answers in the form in which they are stored. Nothing else leaves it.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from extractors import errors
from extractors.errors import ExtractionError, ModelReplyError
from extractors.pipeline import Pipeline
from extractors.prompting.methods import requested_method
from extractors.settings import ExtractionSettings
from extractors.text import cleaning
from extractors.text.cleaning import TextError
from ontology import Schema
from ontology.loading import read_file
from server.intake.language_model import deferred_model
from server.jobs.cluster.exchange import Exchange, KeptModel
from server.runtime.settings import Settings
from sparql.names.labels import LabelIndex, alias_properties


@dataclass(frozen=True)
class WorkerSetup:
    """The ontology as files, the model, and how to extract; `key` is the same for all that is equal."""

    key: str
    ontology: tuple[tuple[str, bytes], ...]
    extraction: ExtractionSettings
    model: Settings = field(repr=False)
    """Only the settings that open the model are set, its key included."""


@dataclass(frozen=True)
class Answered:
    """The new exchanges over a text; `failure` is the name and message of the error that ended them.

    Not every error can be pickled.
    """

    exchanges: tuple[Exchange, ...]
    failure: tuple[str, str] | None = None


def answers_for(
    setup: WorkerSetup, text: str, kept: Sequence[Exchange], method: str | None = None
) -> Answered:
    """Ask the model about a text, in a process of a cluster; ``kept`` answers are not asked for again."""
    with _opening:
        extraction = _extractions.get(setup.key)
        if extraction is None:
            # Another ontology or model: the old one finishes what it has begun.
            _extractions.clear()
            extraction = _extractions[setup.key] = _Extraction(setup)
    return extraction.answers(text, kept, method)


def raise_failure(answered: Answered) -> None:
    """Raise the error of the worker, if there was one."""
    if answered.failure is None:
        return
    name, message = answered.failure
    kind = getattr(errors, name, None) or getattr(cleaning, name, None) or ExtractionError
    raise kind(message, "") if kind is ModelReplyError else kind(message)


class _Extraction:
    """A model with its pipeline in this process, on its own event loop."""

    def __init__(self, setup: WorkerSetup) -> None:
        schema = Schema([read_file(Path(name), content) for name, content in setup.ontology])
        self._model = deferred_model(setup.model)
        # Names are not linked here.
        labels = LabelIndex(alias_properties(schema))
        self._pipeline = Pipeline(schema=schema, labels=labels, model=self._model, settings=setup.extraction)
        self._loop = asyncio.new_event_loop()
        self._slots = asyncio.Semaphore(setup.extraction.concurrency)
        threading.Thread(target=self._loop.run_forever, name="extraction", daemon=True).start()

    def answers(self, text: str, kept: Sequence[Exchange], method: str | None) -> Answered:
        """The model's answers. Blocks."""
        return asyncio.run_coroutine_threadsafe(self._ask(text, kept, method), self._loop).result()

    async def _ask(self, text: str, kept: Sequence[Exchange], method: str | None) -> Answered:
        found: list[Exchange] = []

        async def keep(exchange: Exchange) -> None:
            found.append(exchange)

        model = KeptModel(self._model, kept, keep=keep, slots=self._slots)
        try:
            await self._pipeline.over(model).ask(text, requested_method(method))
        except (ExtractionError, TextError) as error:
            return Answered(tuple(found), (type(error).__name__, str(error)))
        return Answered(tuple(found))


_opening = threading.Lock()
_extractions: dict[str, _Extraction] = {}
"""At most one, kept between the tasks of this process."""
