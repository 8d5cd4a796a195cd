"""From text to candidate statements: language models, prompts, the linker and the extraction pipeline.

The names are loaded on first use: a server starts, and its readers do, before all of this is needed.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from extractors.candidates import Candidate, Entity, Evidence, Extraction, Problem, WindowTrace
    from extractors.cleaning import TextError, TextTooLong, UnsupportedLanguage
    from extractors.errors import (
        ExtractionError,
        ModelError,
        ModelReplyError,
        ModelRequestRefused,
        ModelTimeout,
        ModelUnavailable,
    )
    from extractors.linking import LabelEntry, Labels, Link, Linker, LinkReason
    from extractors.pipeline import Pipeline
    from extractors.prompting import PromptError
    from extractors.settings import ExtractionSettings, ProfileSettings

__all__ = [
    "Candidate",
    "Entity",
    "Evidence",
    "Extraction",
    "ExtractionError",
    "ExtractionSettings",
    "LabelEntry",
    "Labels",
    "Link",
    "LinkReason",
    "Linker",
    "ModelError",
    "ModelReplyError",
    "ModelRequestRefused",
    "ModelTimeout",
    "ModelUnavailable",
    "Pipeline",
    "Problem",
    "ProfileSettings",
    "PromptError",
    "TextError",
    "TextTooLong",
    "UnsupportedLanguage",
    "WindowTrace",
]

_NAMES = {
    "extractors.candidates": (
        "Candidate",
        "Entity",
        "Evidence",
        "Extraction",
        "Problem",
        "WindowTrace",
    ),
    "extractors.cleaning": ("TextError", "TextTooLong", "UnsupportedLanguage"),
    "extractors.errors": (
        "ExtractionError",
        "ModelError",
        "ModelReplyError",
        "ModelRequestRefused",
        "ModelTimeout",
        "ModelUnavailable",
    ),
    "extractors.linking": ("LabelEntry", "Labels", "Link", "Linker", "LinkReason"),
    "extractors.pipeline": ("Pipeline",),
    "extractors.prompting": ("PromptError",),
    "extractors.settings": ("ExtractionSettings", "ProfileSettings"),
}
_HOMES = {name: home for home, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
