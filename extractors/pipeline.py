"""The pipeline from a text to candidate statements: chunks, a reading of each, statements."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final

from pyoxigraph import NamedNode

from extractors.candidates import Candidate, Entity, Extraction, Incomplete, OutOfTime, TimeLimit, TurnTrace
from extractors.checks.calibration import Calibration
from extractors.grounding.entities import IriMinter
from extractors.grounding.interpretation import StatedTriple, Synonyms, no_synonym
from extractors.grounding.linking import Labels, Linker
from extractors.grounding.mentions import GroundedText
from extractors.models.chat import ChatModel
from extractors.prompting.methods import FAST, OPEN, Method
from extractors.readers.opening import open_reader
from extractors.readers.reading import Reader, Reading, Turn
from extractors.settings import ExtractionSettings
from extractors.statements import StatementBuilder
from extractors.text.chunking import Chunk, Span, chunks
from extractors.text.cleaning import check_text, readable
from ontology.schema import Schema

Progress = Callable[[Mapping[str, Any]], None]
"""Is called with each step of an extraction as it is done."""

_READING: Final = 0.8
"""The share of the time in which the model reads; the rest is for making statements of what it said."""
_TRY: Final = 0.6
_SMALLER: Final = 4

_Shown = tuple[Chunk, str]
"""A chunk of the text, and the words that a reader is shown of it."""


def _unwatched(_: Mapping[str, Any]) -> None:
    return None


def _none_exists(_: NamedNode) -> bool:
    return False


class Pipeline:
    """Extracts candidate statements from texts; stateless between texts, so texts may run side by side.

    `schema` is a schema or gives the one in force, since the ontology can be switched while the server
    runs: each text is worked on with one schema throughout. `exists` returns whether an IRI is already in
    use, and is called from a worker thread, as `labels` are. `reader` opens the reader of a method;
    `calibration` makes probabilities of the model's raw scores. `synonyms` returns the term that people
    assigned to a word, and is called from a worker thread.
    """

    def __init__(
        self,
        *,
        schema: Schema | Callable[[], Schema],
        labels: Labels,
        model: ChatModel,
        settings: ExtractionSettings | None = None,
        exists: Callable[[NamedNode], bool] = _none_exists,
        linker: Callable[[Labels, Schema], Linker] = Linker,
        reader: Callable[[ChatModel, ExtractionSettings, Method], Reader] = open_reader,
        clock: Callable[[], float] = time.monotonic,
        calibration: Calibration | None = None,
        synonyms: Synonyms = no_synonym,
    ) -> None:
        self.model = model
        self.settings = settings or ExtractionSettings()
        self._schema = schema
        self._labels = labels
        self._exists = exists
        self._linker = linker
        self._open_reader = reader
        self._readers: dict[Method, Reader] = {}
        self._clock = clock
        self._calibration = calibration
        self._synonyms = synonyms

    def over(self, model: ChatModel) -> Pipeline:
        """Return the same pipeline with another model."""
        other = copy(self)
        other.model = model
        other._readers = {}
        return other

    @property
    def schema(self) -> Schema:
        """The schema that the next text is extracted with."""
        return self._schema if isinstance(self._schema, Schema) else self._schema()

    async def extract(
        self, text: str, method: Method | None = None, progress: Progress | None = None
    ) -> Extraction:
        """Extract the statements of a text; they are candidates, with their problems attached.

        `method` is that of the settings unless given; with an empty ontology, a capable model extracts
        in the open mode instead of the fast one. Raises `OpenModeUnsupported` for a model that cannot.

        Raises `TextError` when the text cannot be worked on, `ModelUnavailable` or `ModelTimeout` as soon as
        the model fails so, and another `ModelError` when not one chunk could be read.
        """
        started = self._clock()
        schema = self.schema
        chosen = method or self._default(schema)
        limit = TimeLimit(self.settings.time_limit_s)
        try:
            reader, placed, stopped = await self._read(text, chosen, schema, progress or _unwatched, limit)
            said = [StatedTriple(triple, span) for span, reading in placed for triple in reading.triples]
            stated = await asyncio.to_thread(self._state_in_time, text, schema, said, chosen, limit)
        finally:
            limit.cancel()  # Where the caller left, the thread ends too.
        candidates, entities, unstated = stated
        at = min((one for one in (stopped, unstated) if one is not None), default=None)
        if progress is not None:
            progress({"action": "link", "candidates": len(candidates), "entities": len(entities)})
        traces = tuple(_trace(span, turn) for span, reading in placed for turn in reading.turns)
        replies = [trace.reply for trace in traces if trace.reply is not None]
        return Extraction(
            candidates,
            entities,
            traces,
            model=replies[-1].model if replies else self.model.name,
            adapter=replies[-1].adapter if replies else None,
            prompt_version=reader.prompt_version,
            method=chosen.name,
            seconds=self._clock() - started,
            incomplete=None if at is None else Incomplete(_too_long(limit), at),
        )

    async def ask(self, text: str, method: Method | None = None) -> None:
        """Ask the model everything about a text, where it keeps its answers for `extract`; raises as that."""
        schema, limit = self.schema, TimeLimit(self.settings.time_limit_s)
        await self._read(text, method or self._default(schema), schema, _unwatched, limit)

    async def _read(
        self, text: str, method: Method, schema: Schema, progress: Progress, limit: TimeLimit
    ) -> tuple[Reader, list[tuple[Span, Reading]], int | None]:
        """What the model says of each chunk of a text, and where the first one begins that had no time."""
        method.check(self.model.prompt_profile)
        reader = await asyncio.to_thread(self._reader, method)
        shown = await asyncio.to_thread(self._chunks, text, reader)
        found = await self._read_all(reader, shown, schema, progress, limit)
        readings = list(found.values())
        failures = [reading.failure for reading in readings if reading.failure is not None]
        if failures and len(failures) == len(readings):
            raise failures[-1]
        placed = [(Span(shown[n][0].start, shown[n][0].end), reading) for n, reading in found.items()]
        unread = (chunk.start for number, (chunk, _) in enumerate(shown) if number not in found)
        return reader, placed, next(unread, None)

    def _default(self, schema: Schema) -> Method:
        """The method of the settings, or the open one where there is nothing to ask for."""
        method = self.settings.method
        is_empty = not schema.classes and not schema.properties
        can = self.model.prompt_profile == "full"
        return OPEN if is_empty and can and method == FAST else method

    def _reader(self, method: Method) -> Reader:
        """The reader for a method; its prompts are read once."""
        if method not in self._readers:
            often = replace(method, samples=max(method.samples, self.settings.samples))
            self._readers[method] = self._open_reader(self.model, self.settings, often)
        return self._readers[method]

    def _chunks(self, text: str, reader: Reader) -> list[_Shown]:
        settings = self.settings
        check_text(text, maximum_characters=settings.maximum_characters, languages=settings.languages)
        shown = readable(text)
        return [(chunk, _shown(shown, chunk)) for chunk in chunks(shown, reader.chunk_size)]

    async def _read_all(
        self,
        reader: Reader,
        shown: Sequence[_Shown],
        schema: Schema,
        progress: Progress,
        limit: TimeLimit,
    ) -> dict[int, Reading]:
        """Read in order, several at a time; the first time the model is down or slow ends it for all.

        What has no time is not among the readings, and the model's work on it ends.
        """
        left = limit.left
        readings: dict[int, Reading] = {}
        waiting = iter(enumerate(shown))

        async def work() -> None:
            for number, (chunk, words) in waiting:
                reading = readings[number] = await reader.read(words, schema)
                place = {"start": chunk.start, "end": chunk.end, "triples": len(reading.triples)}
                progress({"action": "read", "done": len(readings), "of": len(shown), **place})

        try:
            async with (
                asyncio.timeout(None if left is None else _READING * left),
                asyncio.TaskGroup() as group,
            ):
                for _ in range(min(self.settings.concurrency, len(shown))):
                    group.create_task(work())
        except TimeoutError:
            pass
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return {number: readings[number] for number in sorted(readings)}

    def _state_in_time(
        self, text: str, schema: Schema, said: Sequence[StatedTriple], method: Method, limit: TimeLimit
    ) -> tuple[tuple[Candidate, ...], tuple[Entity, ...], int | None]:
        """The statements of what was read; of ever smaller parts of it, where the time does not suffice.

        The last member is where the part ends. Half of the time that is left goes to each try.
        """
        count = len(said)
        while True:
            part = said[:count]
            check = limit.part(_TRY)
            try:
                candidates, entities = self._state(text, schema, part, method, check)
            except OutOfTime:
                if not count:
                    return (), (), 0
                count //= _SMALLER
            else:
                return candidates, entities, said[count].window.start if count < len(said) else None

    def _state(
        self,
        text: str,
        schema: Schema,
        said: Sequence[StatedTriple],
        method: Method,
        check: Callable[[], None],
    ) -> tuple[tuple[Candidate, ...], tuple[Entity, ...]]:
        settings = self.settings
        builder = StatementBuilder(
            GroundedText(text, check),
            schema,
            self._linker(self._labels, schema),
            IriMinter(settings.base, self._exists),
            language=settings.languages[0] if settings.languages else "",
            minimum_confidence=settings.minimum_confidence,
            calibration=self._calibration,
            held=method.held,
            synonyms=self._synonyms,
            implied_kinds=settings.implied_kinds,
            weighed=self.model.prompt_profile == "full",
            by_labels=method.own_way,
        )
        return builder.build(said)


def _too_long(limit: TimeLimit) -> str:
    return (
        f"The text took more than the {limit.seconds:g} s that an extraction may take (extraction_timeout). "
        "What was read until then is here: send the rest as a text of its own, or allow more time."
    )


def _shown(text: str, chunk: Chunk) -> str:
    lead = f"{text[chunk.lead.start : chunk.lead.end]} " if chunk.lead else ""
    return lead + text[chunk.start : chunk.end]


def _trace(span: Span, turn: Turn) -> TurnTrace:
    return TurnTrace(turn.stage, turn.prompt, turn.messages, turn.reply, turn.error, span.start, span.end)
