"""Reads the files of ontology and shapes at a start, and what can be used of them where some cannot be.

A server that ended would help nobody: at a first start it serves without those files, says so, and takes
corrected ones over HTTP. Once rules were in force, the last good ones are used instead (`rule_history`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ontology import Schema
from ontology.errors import OntologyError
from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from server.rules.checking import Folders
from server.rules.edit_guard import check_shallow
from server.rules.ruleset import open_shapes
from shapes.errors import UNEXPECTED, ShapesError
from shapes.file_types import SUFFIXES as SHAPES_SUFFIXES
from sparql.model.errors import PayloadProblem

if TYPE_CHECKING:
    from shapes.gate.gate import ShapesGate
    from shapes.loading import ShapesFiles

UNUSABLE = (OntologyError, ShapesError, PayloadProblem, OSError, *UNEXPECTED)
"""What reading files of ontology or shapes raises."""


def read_ontology(folder: Path) -> Schema:
    """The ontology of a folder. Raises `UNUSABLE`, before a file could end the process that reads it."""
    check_shallow(_contents(folder, ONTOLOGY_SUFFIXES), {})
    return Schema.load(folder)


def read_shapes(folders: Folders, schema: Schema, kept: Path | None = None) -> tuple[ShapesGate, ShapesFiles]:
    """The gate of a shapes folder and the files it was read from, as `open_shapes`. Raises `UNUSABLE`."""
    check_shallow({}, {**_contents(folders.shapes, SHAPES_SUFFIXES), **(folders.shapes_edits or {})})
    return open_shapes(folders, schema, kept)


def usable_ontology(folder: Path) -> tuple[Schema, list[str]]:
    """The ontology of the files that can be used together, and the names of the others."""
    names = _names(folder, ONTOLOGY_SUFFIXES)
    left_out: dict[str, bytes | None] = {}
    for name in names:
        try:
            content = (folder / name).read_bytes()
            check_shallow({name: content}, {})
            _, problems = Schema.load_readable(folder, {**dict.fromkeys(names), name: content})
            if any(problem.file == folder / name for problem in problems):
                left_out[name] = None
        except UNUSABLE:
            left_out[name] = None
    try:
        return Schema.load_readable(folder, left_out)[0], list(left_out)
    except UNUSABLE:
        # They contradict one another.
        return Schema.empty(), names


def usable_shapes(folders: Folders, schema: Schema) -> tuple[ShapesGate, ShapesFiles, list[str]]:
    """The shapes of the files that can be used together, and the names of the others."""
    names = _names(folders.shapes, SHAPES_SUFFIXES)
    left_out: dict[str, bytes | None] = {}
    for name in names:
        try:
            alone = {**dict.fromkeys(names), name: (folders.shapes / name).read_bytes()}
            read_shapes(replace(folders, shapes_edits=alone, generate="off"), schema)
        except UNUSABLE:
            left_out[name] = None
    try:
        return *open_shapes(replace(folders, shapes_edits=left_out), schema), list(left_out)
    except UNUSABLE:
        nothing = replace(folders, shapes_edits=dict.fromkeys(names), generate="off")
        return *open_shapes(nothing, schema), names


def _contents(folder: Path, suffixes: Sequence[str]) -> dict[str, bytes | None]:
    return {name: (folder / name).read_bytes() for name in _names(folder, suffixes)}


def _names(folder: Path, suffixes: Sequence[str]) -> list[str]:
    if not folder.is_dir():
        return []
    return sorted(path.name for path in folder.iterdir() if path.suffix in suffixes and path.is_file())
