"""Which reader suits a model and a method."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from extractors.methods import FAST, Method
from extractors.models.chat import ChatModel
from extractors.readers.agreement import Agreement
from extractors.readers.reading import Reader
from extractors.readers.sampling import SampledModel
from extractors.readers.single_turn import SingleTurn
from extractors.readers.staged import StagedReader
from extractors.settings import ExtractionSettings

__all__ = ["open_reader"]

_SAMPLING_TEMPERATURE: Final = 0.7


def open_reader(model: ChatModel, settings: ExtractionSettings, method: Method = FAST) -> Reader:
    """Give the reader for a model and a method; raises `PromptError` when a prompt file cannot be used.

    `FAST` is the model's own best way, with or without the question what kind of thing each name is.
    """
    if method.samples > 1:
        sampled = SampledModel(model, _SAMPLING_TEMPERATURE)
        return Agreement(open_reader(sampled, settings, replace(method, samples=1)), method.samples)
    if replace(method, kinds=FAST.kinds) == FAST:
        return SingleTurn(model, settings)
    return StagedReader(model, method, settings)
