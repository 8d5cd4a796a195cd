"""Backups: the graph at one revision, and the files beside it, in a folder that can be restored.

The graph is a checkpoint of the database (hard links where the folder is on the same disk, so it is quick and
takes no space at first); SQLite files are copied by SQLite's online backup, other files as they are. An
interrupted backup has a temporary name and cannot be restored.
"""

import json
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol, TypeVar

import pyoxigraph

from sparql.model.errors import BackupError
from sparql.model.triple_store import LocalStore
from sparql.storage.database import check_files, stored_revision

Result = TypeVar("Result")

MANIFEST = "backup.json"
_LAYOUT = 1
_GRAPH = "graph"
# Files of a running server, or derived from the graph.
_LEFT_OUT = frozenset({"graph", "checkpoints", "server.json", "edit.json", MANIFEST})
_SQLITE_HEADER = b"SQLite format 3\0"
_SQLITE_COMPANIONS = ("-wal", "-shm", "-journal")


class ExclusiveWriter(Protocol):
    """The writer of a store, which can keep all writes waiting."""

    def exclusively(self, work: Callable[[], Result], /) -> Result: ...


@dataclass(frozen=True)
class Backup:
    """The content of a backup: the graph's revision, the time, and the files beside the graph."""

    folder: Path
    revision: int
    taken_at: str
    files: tuple[str, ...]

    def json(self) -> dict[str, object]:
        """As written to the manifest and the server's answer."""
        return {**asdict(self), "folder": str(self.folder), "files": list(self.files), "layout": _LAYOUT}


def back_up(store: LocalStore, writer: ExclusiveWriter, folder: Path, now: datetime | None = None) -> Backup:
    """Write a backup to a new folder while the store is in use; writes wait, reads continue.

    Raises `BackupError` when the folder exists, is inside the data folder or cannot be written.
    """
    if store.folder is None:
        raise BackupError("A graph in memory has no backup; dump it instead.")
    folder = folder.absolute()
    data = store.folder.absolute()
    try:
        taken = folder.exists() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise BackupError(f"{folder} cannot be read: {error.strerror}; name another folder.") from error
    if taken:
        raise BackupError(f"{folder} already exists; name a new folder for the backup.")
    if folder.resolve().is_relative_to(data.resolve()):
        raise BackupError(f"{folder} is inside the data folder it would copy; name one outside {data}.")
    taken_at = (now or datetime.now(UTC)).isoformat(timespec="seconds")
    partial = partial_of(folder)
    try:
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        revision, files = writer.exclusively(lambda: _copy_out(store, data, partial))
        backup = Backup(folder, revision, taken_at, files)
        _sync_tree(partial)
        # Last: it says that everything else is there.
        (partial / MANIFEST).write_text(json.dumps(backup.json(), indent=2), encoding="utf-8")
        _sync(partial / MANIFEST, partial)
        if folder.exists():
            folder.rmdir()
        partial.rename(folder)
        _sync(folder.parent)
    except (OSError, RuntimeError, sqlite3.Error) as error:
        shutil.rmtree(partial, ignore_errors=True)
        raise BackupError(
            f"No backup could be written to {folder}: {error}. Nothing was left there."
        ) from error
    return backup


def restore(backup: Path, data: Path) -> Backup:
    """Make a data folder from a backup, and check that it opens. The backup itself is not changed.

    Raises `BackupError` when the backup is incomplete, or the data folder is not empty.
    """
    manifest = _read_manifest(backup)
    if data.exists() and (not data.is_dir() or any(data.iterdir())):
        raise BackupError(f"{data} is not empty; restore into an empty or new folder.")
    if data.resolve().is_relative_to(backup.resolve()):
        raise BackupError(f"{data} is inside the backup; restore into another folder.")
    partial = partial_of(data.absolute())
    try:
        shutil.rmtree(partial, ignore_errors=True)
        # Copies, not links: the restored database continues writing to some of these files.
        shutil.copytree(backup, partial, ignore=shutil.ignore_patterns(MANIFEST))
        _check_graph(partial, backup, manifest.revision)
        _sync_tree(partial)
        if data.exists():
            data.rmdir()
        partial.rename(data)
    except OSError as error:
        raise BackupError(f"{backup} cannot be restored to {data}: {error}.") from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return manifest


def partial_of(path: Path) -> Path:
    """The name that a file or folder has while it is written."""
    return path.with_name(path.name + ".partial")


def _copy_out(store: LocalStore, data: Path, target: Path) -> tuple[int, tuple[str, ...]]:
    revision = store.revision()
    store.graph.backup(str(target / _GRAPH))
    copied = []
    for path in sorted(data.rglob("*")):
        relative = path.relative_to(data)
        if relative.parts[0] in _LEFT_OUT or not path.is_file() or path.is_symlink():
            continue
        if path.name.endswith(_SQLITE_COMPANIONS):
            continue
        (target / relative).parent.mkdir(parents=True, exist_ok=True)
        if _is_sqlite(path):
            _copy_sqlite(path, target / relative)
        else:
            shutil.copy2(path, target / relative)
        copied.append(str(relative))
    return revision, tuple(copied)


def _is_sqlite(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(_SQLITE_HEADER)) == _SQLITE_HEADER


def _copy_sqlite(source: Path, target: Path) -> None:
    with (
        closing(sqlite3.connect(source.absolute().as_uri() + "?mode=ro", uri=True, timeout=30)) as original,
        closing(sqlite3.connect(target)) as copy,
    ):
        original.backup(copy)
    shutil.copymode(source, target)


def _read_manifest(backup: Path) -> Backup:
    try:
        found = json.loads((backup / MANIFEST).read_text(encoding="utf-8"))
        manifest = Backup(backup, int(found["revision"]), str(found["taken_at"]), tuple(found["files"]))
        layout = int(found["layout"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BackupError(
            f"{backup} is not a complete backup: its {MANIFEST} is missing or broken. Name the folder that "
            "`urbankg backup` wrote."
        ) from error
    if layout > _LAYOUT:
        raise BackupError(f"{backup} was written by a newer version; restore it with that one.")
    return manifest


def _check_graph(folder: Path, backup: Path, revision: int) -> None:
    """Check that the copy opens and holds the revision of the manifest."""
    try:
        check_files(folder / _GRAPH)
        found = stored_revision(pyoxigraph.Store.read_only(str(folder / _GRAPH)))
    except (OSError, RuntimeError) as error:
        raise BackupError(f"The graph in {backup} does not open: {error}. Take another backup.") from error
    if found != revision:
        raise BackupError(f"The graph in {backup} is at revision {found}, not {revision}: it was changed.")


def _sync_tree(folder: Path) -> None:
    """Sync a folder with all its content to the disk."""
    _sync(folder, *folder.rglob("*"), folder.parent)


def _sync(*paths: Path) -> None:
    for path in paths:
        handle = os.open(path, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
