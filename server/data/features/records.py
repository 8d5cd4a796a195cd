"""The interface of readers of feature files: records, with identifiers for error messages."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import shapely
from shapely.geometry.base import BaseGeometry

from geo.errors import GeoError
from server.data.rdf_files import LoadError


class FeatureRefused(LoadError):
    """A feature that cannot be loaded; other features of the file may be."""


@dataclass(frozen=True)
class Record:
    """One feature of a file: its number (from 1) or identifier, its columns or tags, its geometry.

    The geometry is in CRS84; None where the feature has none, or an unusable one: `fault` says why.
    """

    number: str
    values: Mapping[str, Any]
    geometry: BaseGeometry | None
    fault: str | None = None


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
        """The names of its columns; None where features have individual tags."""
        ...

    @property
    def count(self) -> int | None:
        """The number of features, if the file gives it."""
        ...

    def records(self) -> Iterator[Record]:
        """The features in the order of the file. Raises LoadError where the file is truncated."""
        ...


def record_of(
    number: int,
    values: Mapping[str, Any],
    binary: bytes | None,
    to_crs84: Callable[[BaseGeometry], BaseGeometry],
) -> Record:
    """The record of a feature whose geometry is well-known binary."""
    if binary is None:
        return Record(str(number), values, None)
    try:
        return Record(str(number), values, to_crs84(shapely.from_wkb(binary)))
    except (shapely.GEOSException, NotImplementedError, GeoError) as error:
        return Record(str(number), values, None, str(error))


def needed(module: str, package: str, path: Path, *, load: bool = True) -> Any:
    """A library that only some files need; None when only its presence is checked. Raises LoadError."""
    if find_spec(module.partition(".")[0]) is None:
        raise LoadError(
            f"{path}: reading this needs the package {package}, which is not installed. "
            "Install this program with its extra files: `pip install 'WHEEL[files]'`, in a clone "
            "`pip install '.[files]'`."
        )
    return import_module(module) if load else None


def unreadable(path: Path, reason: object) -> LoadError:
    """The error for a file that is missing, truncated or of another kind."""
    problem = str(reason).rstrip(".") if path.exists() else "there is no such file"
    return LoadError(f"{path} cannot be read: {problem}. Give an existing, whole file.")


def refused(path: Path, number: str, reason: object) -> FeatureRefused:
    """The error for one feature."""
    return FeatureRefused(f"{path}, feature {number}: {reason}")
