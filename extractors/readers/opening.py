"""Which reader suits a model."""

from __future__ import annotations

from extractors.models.chat import ChatModel
from extractors.readers.reading import Reader
from extractors.readers.single_turn import SingleTurn
from extractors.settings import ExtractionSettings

__all__ = ["open_reader"]


def open_reader(model: ChatModel, settings: ExtractionSettings) -> Reader:
    """Give the reader for a model; raises `PromptError` when a prompt file cannot be used."""
    return SingleTurn(model, settings)
