"""Reads the files of ontology and shapes at a start, with the reason where they cannot be used.

A server whose rules cannot be used runs by the last good ones (`rule_history`). Where there never were any it
ends: without the shapes that were meant to judge, it would accept everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ontology import Schema
from ontology.errors import OntologyError
from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from server.rules.checking import Folders
from server.rules.edit_errors import RulesUnusable
from server.rules.edit_guard import check_shallow
from server.rules.ruleset import open_shapes
from shapes.configuration import SUFFIXES as SHAPES_SUFFIXES
from shapes.errors import UNEXPECTED, ShapesError, in_words
from sparql.model.errors import PayloadProblem

if TYPE_CHECKING:
    from shapes.gate.gate import ShapesGate
    from shapes.loading import ShapesFiles

UNUSABLE = (OntologyError, ShapesError, RulesUnusable)
"""What reading files of ontology or shapes raises."""


def read_ontology(folder: Path) -> Schema:
    """The ontology of a folder. Raises `UNUSABLE`, before a file could end the process that reads it."""
    with _reading(folder):
        check_shallow(_contents(folder, ONTOLOGY_SUFFIXES), {})
        return Schema.load(folder)


def read_shapes(folders: Folders, schema: Schema, kept: Path | None = None) -> tuple[ShapesGate, ShapesFiles]:
    """The gate of a shapes folder and the files it was read from, as `open_shapes`. Raises `UNUSABLE`."""
    with _reading(folders.shapes):
        check_shallow({}, _contents(folders.shapes, SHAPES_SUFFIXES))
        return open_shapes(folders, schema, kept)


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    """Raise `RulesUnusable` for what a library raises."""
    try:
        yield
    except (PayloadProblem, OSError, *UNEXPECTED) as error:
        raise RulesUnusable(folder, in_words(error)) from error


def _contents(folder: Path, suffixes: Sequence[str]) -> dict[str, bytes | None]:
    if not folder.is_dir():
        return {}
    paths = sorted(path for path in folder.iterdir() if path.suffix in suffixes and path.is_file())
    return {path.name: path.read_bytes() for path in paths}
