"""Which reader suits a model and a method."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from extractors.models.chat import ChatModel
from extractors.prompting.methods import FAST, Method
from extractors.readers.agreement import Agreement
from extractors.readers.form import FormReader
from extractors.readers.reading import Reader
from extractors.readers.sampling import SampledModel
from extractors.readers.staged.staged_reader import StagedReader
from extractors.settings import ExtractionSettings

__all__ = ["open_reader"]

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
