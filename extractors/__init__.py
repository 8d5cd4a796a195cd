"""From text to candidate statements: language models, prompts, the linker and the extraction pipeline."""

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
from extractors.pipeline import ExtractionSettings, Pipeline, ProfileSettings
from extractors.prompting import PromptError

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
