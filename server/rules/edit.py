"""An edit of files of ontology and shapes, the rules that it makes, and its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from server.rules.dry_runs import Files
from server.rules.edit_errors import FileNameUnusable
from server.rules.ruleset import Ruleset

if TYPE_CHECKING:
    from ontology.checks.reporting import CheckReport
    from shapes.authoring.impact_results import Impact


class Kind(StrEnum):
    """Which of the two folders a file is in."""

    ONTOLOGY = "ontology"
    SHAPES = "shapes"


# File systems allow 255, and a file is first written under a longer temporary name.
_LONGEST_NAME_BYTES = 200


@dataclass(frozen=True)
class Edit:
    """Files by name with their new content; None deletes a file."""

    ontology: dict[str, bytes | None]
    shapes: dict[str, bytes | None]

    def __post_init__(self) -> None:
        """Raises `FileNameUnusable`."""
        for name in (*self.ontology, *self.shapes):
            check_file_name(name)

    @classmethod
    def of(cls, kind: Kind, name: str, content: bytes | None) -> Edit:
        """An edit of one file."""
        one = {name: content}
        return cls(one, {}) if kind is Kind.ONTOLOGY else cls({}, one)

    @property
    def files(self) -> Files:
        """The files that it changes."""
        return frozenset((kind.value, name) for kind, name, _ in self.each())

    def each(self) -> Iterator[tuple[Kind, str, bytes | None]]:
        """Kind, name and new content of each file."""
        for kind, files in ((Kind.ONTOLOGY, self.ontology), (Kind.SHAPES, self.shapes)):
            for name, content in files.items():
                yield kind, name, content


@dataclass(frozen=True)
class Candidate:
    """Rules that could be put in force, with the report of their check."""

    rules: Ruleset
    report: CheckReport


@dataclass(frozen=True)
class SwitchOutcome:
    """The outcome of an edit; `changed` is False where the rules are the same as before."""

    before: Ruleset
    rules: Ruleset
    report: CheckReport
    changed: bool
    impact: Impact | None = None
    """The changes in the graph; None where nothing was changed."""
    rewritten: int = 0
    """How many statements use other terms since."""


def check_file_name(name: str) -> None:
    """Raises `FileNameUnusable` for names that no file system accepts."""
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST_NAME_BYTES:
        raise FileNameUnusable(name, f"it is longer than {_LONGEST_NAME_BYTES} bytes")
    # U+FFFD replaces bytes of the URL that are not UTF-8.
    if not name.isprintable() or "\ufffd" in name:
        raise FileNameUnusable(name, "it holds a character that cannot be shown")
