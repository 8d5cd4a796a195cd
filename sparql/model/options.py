"""The request parameters that control rewriting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

from sparql.model.errors import MalformedRequest


@dataclass(frozen=True)
class Options:
    """Parameters of one request.

    `derived`: whether derived statements are visible. `rewrite`: the query rewriting extension of GeoSPARQL.
    `optimize`: use the indexes. `explain`: describe the plan instead of answering.
    """

    derived: bool = True
    rewrite: bool = False
    optimize: bool = True
    explain: bool = False

    @property
    def changes_answers(self) -> bool:
        """Whether an option changes the answer."""
        return not self.derived or self.rewrite

    @property
    def tag(self) -> str:
        """Distinguishes answers by these options; empty for the defaults."""
        if not self.changes_answers:
            return ""
        return f"{self.derived:d}{self.rewrite:d}"


OPTIONS = (*(field.name for field in fields(Options)), "inference")
"""The names of the parameters; `inference` is only read to be refused."""


def read_options(parameter: Callable[[str], str | None]) -> Options:
    """The options of a request; `parameter` gives its parameters. Raises MalformedRequest."""
    if (parameter("inference") or "none").lower() != "none":
        raise MalformedRequest(
            "inference is not a parameter of queries: leave it out. With the setting inference "
            "'materialised' or 'rules' every query sees what follows by axioms."
        )
    return Options(
        derived=_truth("derived", parameter("derived"), default=True),
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
