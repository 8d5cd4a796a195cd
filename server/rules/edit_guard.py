"""Edits of ontology and shapes are guarded like every other body of RDF: nothing in them nests deep.

They come from administrators, who may pass on files that somebody else wrote.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import IO, cast

from pyoxigraph import RdfFormat

from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from ontology.loading import syntax_of
from server.rules.rule_registry import Edit
from shapes.file_types import FORMATS
from sparql.model.errors import PayloadProblem
from sparql.syntax.nesting_guard import ShallowFile


def check_shallow(edit: Edit) -> None:
    """Raises `PayloadProblem` for what nests too deep, and for XML that is broken or grows without end.

    Other faults are for the check.
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
        # The empty piece after the whole one is its end.
        while file.read():
            pass
    except PayloadProblem as error:
        raise PayloadProblem(f"{name}: {error.message}", error.line, error.column) from error
