"""The gate of a shapes folder, with errors that name the file and line of a shape that cannot be run."""

from pathlib import Path

from pyoxigraph import NamedNode

from ontology.places import Places
from shapes.errors import ShapeMalformed
from shapes.gate import ShapesGate
from shapes.loading import ShapesFiles
from sparql.relations import SpatialRelations

__all__ = ["gate_of"]


def gate_of(files: ShapesFiles) -> ShapesGate:
    """The gate that these files make. Raises `ShapeMalformed` with its place."""
    try:
        return ShapesGate(files, derives_from=SpatialRelations.derives_from)
    except ShapeMalformed as error:
        path, line = _place(files, error.shape)
        raise ShapeMalformed(error.shape, error.reason, path=path, line=line) from error


def _place(files: ShapesFiles, shape: str) -> tuple[Path | None, int | None]:
    try:
        return Places(files.sources).of(NamedNode(shape).value)
    except ValueError:
        return None, None
