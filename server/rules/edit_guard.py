"""Limits the nesting depth in edits of ontology and shapes, as in every other RDF body.

Edits are sent by administrators, but others may have written the files.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, cast

from pyoxigraph import RdfFormat

from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from ontology.loading import syntax_of
from server.rules.edit import Edit
from shapes.file_types import FORMATS
from sparql.model.errors import PayloadProblem
from sparql.syntax.nesting_guard import ShallowFile


def check_shallow(edit: Edit) -> None:
    """Raises `PayloadProblem` for deep nesting, and for XML that is malformed or expands without bound.

    The check finds other faults.
    """
    for name, content in edit.ontology.items():
        if content is not None and Path(name).suffix in ONTOLOGY_SUFFIXES:
            _pass_over(name, content, syntax_of(Path(name), content))
    for name, content in edit.shapes.items():
        if content is not None and Path(name).suffix in FORMATS:
            _pass_over(name, content, FORMATS[Path(name).suffix])


def _pass_over(name: str, content: bytes, form: RdfFormat) -> None:
    file = ShallowFile(cast("IO[bytes]", io.BytesIO(content)), form)
    try:
        # An empty piece marks the end.
        while file.read():
            pass
    except PayloadProblem as error:
        raise PayloadProblem(f"{name}: {error.message}", error.line, error.column) from error
