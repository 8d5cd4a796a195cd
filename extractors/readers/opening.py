"""Which reader suits a model and a method; reading several times and keeping what most readings agree on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from extractors.models.chat import BlankForm, ChatModel, FilledForm, Message, PromptProfile, Reply, fill_with
from extractors.prompting.methods import FAST, Method
from extractors.prompting.reply import plain
from extractors.readers.form import FormReader
from extractors.readers.reading import Reader, Reading, merged
from extractors.readers.staged_reader import StagedReader
from extractors.settings import ExtractionSettings
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema


class Agreement:
    """Asks a reader, whose model answers by chance, `samples` times about each window."""

    def __init__(self, reader: Reader, samples: int) -> None:
        self._reader = reader
        self._samples = samples

    @property
    def prompt_version(self) -> str:
        """The reader's version and the number of samples."""
        return f"{self._reader.prompt_version} x{self._samples}"

    @property
    def chunk_size(self) -> ChunkSize:
        """The reader's."""
        return self._reader.chunk_size

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Read so often; a triple stays when more than half of the usable readings have it."""
        readings = [await self._reader.read(window_text, schema) for _ in range(self._samples)]
        turns = tuple(turn for reading in readings for turn in reading.turns)
        usable = [merged(reading.triples) for reading in readings if reading.failure is None]
        if not usable:
            return Reading((), turns, readings[-1].failure)
        votes = Counter(plain(triple) for triples in usable for triple in triples)
        kept = [
            replace(triple, confidence=votes[plain(triple)] / len(usable))
            for triple in merged(triple for triples in usable for triple in triples)
            if 2 * votes[plain(triple)] > len(usable)
        ]
        return Reading(tuple(kept), turns)


class SampledModel:
    """Calls another model at `temperature` instead of 0.

    Closing it leaves the other model open.
    """

    def __init__(self, model: ChatModel, temperature: float) -> None:
        self.name = model.name
        self.prompt_profile: PromptProfile = model.prompt_profile
        self._model = model
        self._temperature = temperature

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float = 0.0,
    ) -> Reply:
        """Answer the dialog as the other model does."""
        return await self._model.complete(
            messages, schema=schema, max_tokens=max_tokens, temperature=temperature or self._temperature
        )

    async def fill(self, form: BlankForm) -> FilledForm:
        """Fill in a form as the other model does, which takes the likeliest answers always."""
        return await fill_with(self._model, form)

    async def close(self) -> None:
        """Nothing to let go of."""


_SAMPLING_TEMPERATURE: Final = 0.7


def open_reader(model: ChatModel, settings: ExtractionSettings, method: Method = FAST) -> Reader:
    """Give the reader for a model and a method; raises `PromptError` when a prompt file cannot be used.

    `FAST` is the model's own best way, with or without the question what kind of thing each name is; the
    embedded model, which takes the likeliest answer in that way, reads once however many samples are asked.
    """
    once = replace(method, samples=1)
    own_way = once.own_way
    if method.samples > 1 and not (own_way and model.prompt_profile == "compact"):
        sampled = SampledModel(model, _SAMPLING_TEMPERATURE)
        return Agreement(open_reader(sampled, settings, once), method.samples)
    # Any model is tried with changed parts of a form; one without forms refuses.
    if own_way and (model.prompt_profile == "compact" or method.form != FAST.form):
        return FormReader(model, replace(settings.form, kinds=method.kinds, parts=method.form))
    return StagedReader(model, once, settings)
