"""What every reader of feature files gives: records, one after the other, and who they are for errors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from server.rdf_files import LoadError

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


@dataclass(frozen=True)
class Record:
    """One feature of a file: its number there (from 1) or identifier, its columns or tags, its geometry.

    The geometry is in CRS84; None where the feature has none.
    """

    number: str
    values: Mapping[str, Any]
    geometry: BaseGeometry | None


class RecordFile(Protocol):
    """A file of features, or one layer of it."""

    @property
    def path(self) -> Path: ...

    @property
    def layer(self) -> str:
        """The name of the layer; the file's own name where there are none."""
        ...

    @property
    def columns(self) -> tuple[str, ...] | None:
        """The names of its columns; None where every feature has tags of its own."""
        ...

    @property
    def count(self) -> int | None:
        """How many features there are, if the file tells."""
        ...

    def records(self) -> Iterator[Record]:
        """The features in the order of the file. Raises LoadError with file and feature."""
        ...


def needed(module: str, package: str, path: Path) -> Any:
    """A library that only some files need. Raises LoadError when it is not installed."""
    if find_spec(module.partition(".")[0]) is None:
        raise LoadError(
            f"{path}: reading this needs the package {package}, which is not installed. "
            "Install this program with its extra: pip install 'urbankg[files]'."
        )
    return import_module(module)


def refused(path: Path, number: str, reason: object) -> LoadError:
    """The error of one feature."""
    return LoadError(f"{path}, feature {number}: {reason}")
