"""The modes and ablations compared on one model, as settings of the dialog (UrbanKGent, section 5.1.2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from extractors.completion import CompletionSettings, refusal_of
from extractors.errors import EvaluationError
from extractors.models.chat import PromptProfile

__all__ = ["ABLATIONS", "MODES", "refusal_of_mode", "settings_of_mode"]

_PLAIN: Final = CompletionSettings(knowledge=False, thinking=False, tools=False, rounds=0)
_WHOLE: Final = CompletionSettings()

#: From the bare question to the whole pipeline. "without pipeline" has the definitions and reasons, but has
#: neither tools nor a verifier.
MODES: Final[Mapping[str, CompletionSettings]] = {
    "zero-shot": _PLAIN,
    "1-shot": replace(_PLAIN, shots=1),
    "3-shot": replace(_PLAIN, shots=3),
    "without pipeline": CompletionSettings(tools=False, rounds=0),
    "pipeline": _WHOLE,
}

#: The pipeline without one of its parts. Views are a matter of text; completion has none to leave out.
ABLATIONS: Final[Mapping[str, CompletionSettings]] = {
    "no knowledge": replace(_WHOLE, knowledge=False),
    "no tools": replace(_WHOLE, tools=False),
    "no refinement": replace(_WHOLE, rounds=0),
}


def settings_of_mode(name: str) -> CompletionSettings:
    """The settings of a mode or ablation. Raises EvaluationError for a name that there is not."""
    known = {**MODES, **ABLATIONS}
    if name not in known:
        raise EvaluationError(f"There is no mode '{name}'. Take one of {', '.join(known)}.")
    return known[name]


def refusal_of_mode(name: str, profile: PromptProfile) -> str | None:
    """Why models of this kind are known not to follow a mode; None where they may."""
    return refusal_of(settings_of_mode(name), profile)
