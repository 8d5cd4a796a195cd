"""The engine's database: opening it, and the revision that every commit writes into it.

The revision is a quad of the state graph, committed with the data, so a restart knows exactly what was
acknowledged.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pyoxigraph
from pyoxigraph import Literal, Quad

from sparql.model.store_errors import StoreLocked, StoreUnreadable
from sparql.model.vocabulary import STATE, UKG, XSD
from sparql.storage.database_files import check_files
from sparql.storage.disk_space import is_full, unwritable

_REVISION = UKG.revision


def open_database(path: Path) -> tuple[pyoxigraph.Store, int]:
    """The database and its revision. Raises `StoreLocked`, `StoreUnreadable` and `DiskFull`."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        check_files(path)
        graph = pyoxigraph.Store(str(path))
        return graph, stored_revision(graph)
    except (OSError, RuntimeError) as error:
        # The engine raises RuntimeError where a file does not hold what was written to it.
        if "lock" in str(error).lower():
            raise StoreLocked(path.parent) from error
        if is_full(error):
            raise unwritable(path.parent, error) from error
        raise StoreUnreadable(path.parent, str(error)) from error


def open_again(path: Path) -> pyoxigraph.Store:
    """A database whose last handle of this process was dropped just now.

    The handle, and the lock of its files with it, can outlive the last name for it: a traceback of a failed
    write forms a cycle with its frames, which hold the store. Raises OSError as the engine does.
    """
    try:
        return pyoxigraph.Store(str(path))
    except OSError as error:
        if "lock" not in str(error).lower():
            raise
    gc.collect()
    return pyoxigraph.Store(str(path))


def stored_revision(graph: pyoxigraph.Store) -> int:
    """The revision of the last commit that a database holds; 0 for a new one."""
    stamps = graph.quads_for_pattern(UKG.store, _REVISION, None, STATE)
    return max((int(quad.object.value) for quad in stamps if isinstance(quad.object, Literal)), default=0)


def revision_quad(revision: int) -> Quad:
    """The quad that records a revision."""
    return Quad(UKG.store, _REVISION, Literal(str(revision), datatype=XSD.integer), STATE)
