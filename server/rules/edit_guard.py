"""Limits the nesting depth in files of ontology and shapes, as in every other RDF body."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import IO, cast

from pyoxigraph import RdfFormat

from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from ontology.loading import syntax_of
from shapes.configuration import FORMATS
from sparql.model.errors import PayloadProblem
from sparql.syntax.nesting import ShallowFile


def check_shallow(ontology: Mapping[str, bytes | None], shapes: Mapping[str, bytes | None]) -> None:
    """Check files by name; the check of their content finds other faults.

    Raises `PayloadProblem` for deep nesting, and for XML that is malformed or expands without bound.
    """
    for name, content in ontology.items():
        if content is not None and Path(name).suffix in ONTOLOGY_SUFFIXES:
            _pass_over(name, content, syntax_of(Path(name), content))
    for name, content in shapes.items():
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
