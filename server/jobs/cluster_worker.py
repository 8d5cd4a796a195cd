"""What a worker of a cluster needs to ask a model about texts, and the function that runs there.

A worker needs this program, and the embedded model or a way to the model's server. The ontology comes with
the first document, the answers go back as they would have been kept here, and nothing else leaves the worker.
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
from server.jobs.exchange import Exchange, KeptModel
from server.runtime.settings import Settings
from sparql.names.labels import LabelIndex, alias_properties


@dataclass(frozen=True)
class Bench:
    """The ontology as files, the model, and how to extract; `key` is the same for all that is equal."""

    key: str
    ontology: tuple[tuple[str, bytes], ...]
    extraction: ExtractionSettings
    model: Settings = field(repr=False)
    """Nothing of it is set but what opens the model, its key included."""


@dataclass(frozen=True)
class Answered:
    """The new exchanges over a text; `failure` names the error that ended them, with its words.

    Errors travel as words: not every one of them can be pickled.
    """

    exchanges: tuple[Exchange, ...]
    failure: tuple[str, str] | None = None


def answers_for(bench: Bench, text: str, kept: Sequence[Exchange], method: str | None = None) -> Answered:
    """Ask the model about a text, in a process of a cluster; what was ``kept`` is not asked again."""
    with _opening:
        station = _stations.get(bench.key)
        if station is None:
            # Another ontology or model: what is under way with the old one is finished by it.
            _stations.clear()
            station = _stations[bench.key] = _Station(bench)
    return station.answers(text, kept, method)


def raised(told: Answered) -> None:
    """Raise what went wrong on the worker."""
    if told.failure is None:
        return
    name, message = told.failure
    kind = getattr(errors, name, None) or getattr(cleaning, name, None) or ExtractionError
    raise kind(message, "") if kind is ModelReplyError else kind(message)


class _Station:
    """A model with its pipeline in this process, on an event loop of its own that lives as long."""

    def __init__(self, bench: Bench) -> None:
        schema = Schema([read_file(Path(name), content) for name, content in bench.ontology])
        self._model = deferred_model(bench.model)
        # No names are linked here.
        labels = LabelIndex(alias_properties(schema))
        self._pipeline = Pipeline(schema=schema, labels=labels, model=self._model, settings=bench.extraction)
        self._loop = asyncio.new_event_loop()
        self._slots = asyncio.Semaphore(bench.extraction.concurrency)
        threading.Thread(target=self._loop.run_forever, name="extraction", daemon=True).start()

    def answers(self, text: str, kept: Sequence[Exchange], method: str | None) -> Answered:
        """What the model says; blocks."""
        return asyncio.run_coroutine_threadsafe(self._ask(text, kept, method), self._loop).result()

    async def _ask(self, text: str, kept: Sequence[Exchange], method: str | None) -> Answered:
        found: list[Exchange] = []

        async def keep(exchange: Exchange) -> None:
            found.append(exchange)

        model = KeptModel(self._model, kept, keep=keep, slots=self._slots)
        try:
            await self._pipeline.over(model).extract(text, requested_method(method))
        except (ExtractionError, TextError) as error:
            return Answered(tuple(found), (type(error).__name__, str(error)))
        return Answered(tuple(found))


_opening = threading.Lock()
_stations: dict[str, _Station] = {}
"""The one of this process: a worker has nothing else that outlives a task."""
