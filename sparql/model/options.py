"""The request parameters that control rewriting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum

from sparql.model.errors import MalformedRequest


class Inference(StrEnum):
    """Which entailment regime answers."""

    NONE = "none"
    RDFS = "rdfs"
    OWL = "owl"


@dataclass(frozen=True)
class Options:
    """Parameters of one request.

    `derived`: whether derived statements are visible. `inference`: RDFS, or also OWL's rules, at query time.
    `rewrite`: the query rewriting extension of GeoSPARQL. `optimize`: use the indexes. `explain`: describe
    the plan instead of answering.
    """

    derived: bool = True
    inference: Inference = Inference.NONE
    rewrite: bool = False
    optimize: bool = True
    explain: bool = False

    @property
    def changes_answers(self) -> bool:
        """Whether an option changes the answer."""
        return not self.derived or self.inference is not Inference.NONE or self.rewrite

    @property
    def tag(self) -> str:
        """Distinguishes answers by these options; empty for the defaults."""
        if not self.changes_answers:
            return ""
        return f"{self.derived:d}{self.inference}{self.rewrite:d}"


OPTIONS = tuple(field.name for field in fields(Options))
"""Their names, which are those of the parameters."""


def read_options(parameter: Callable[[str], str | None]) -> Options:
    """The options of a request; `parameter` gives its parameters. Raises MalformedRequest."""
    return Options(
        derived=_truth("derived", parameter("derived"), default=True),
        inference=_inference(parameter("inference")),
        rewrite=_truth("rewrite", parameter("rewrite"), default=False),
        optimize=_truth("optimize", parameter("optimize"), default=True),
        explain=_truth("explain", parameter("explain"), default=False),
    )


def _truth(name: str, value: str | None, *, default: bool) -> bool:
    if value is None:
        return default
    if value.lower() not in ("true", "false", "1", "0"):
        raise MalformedRequest(f"{name} '{value}' is not a truth value; send {name}=true or {name}=false.")
    return value.lower() in ("true", "1")


def _inference(value: str | None) -> Inference:
    try:
        return Inference.NONE if value is None else Inference(value.lower())
    except ValueError:
        known = " or ".join(f"inference={regime}" for regime in Inference)
        raise MalformedRequest(f"inference '{value}' is not known; send {known}.") from None
