"""The checkpoints of a store: frozen copies of its files by hard links, which worker processes open."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from sparql.model.errors import StoreUnreadable, StoreUnwritable


@dataclass(frozen=True)
class Checkpoint:
    """A frozen copy of the store in a folder of hard links, openable read-only."""

    path: Path
    revision: int


class CheckpointFolder:
    """Makes checkpoints and deletes those that nobody uses; called under the store's lock.

    `copy` writes a copy of the store into a new folder; it may raise StoreUnwritable. What an earlier run
    left in the folder is deleted.
    """

    def __init__(self, folder: Path, copy: Callable[[Path], None]) -> None:
        self._folder = folder
        self._copy = copy
        self._newest: Checkpoint | None = None
        self._users: dict[Path, int] = {}
        self._made = 0
        _empty(folder)

    def acquire(self, revision: int) -> Checkpoint:
        """The checkpoint of this revision, which is the store's; made if there is none."""
        newest = self._newest
        if newest is None or newest.revision != revision:
            older, newest = newest, Checkpoint(self._new_copy(f"{revision}-"), revision)
            self._newest = newest
            if older is not None:
                self._delete_if_unused(older.path)
        self._users[newest.path] = self._users.get(newest.path, 0) + 1
        return newest

    def release(self, checkpoint: Checkpoint) -> None:
        """End one use of a checkpoint."""
        self._users[checkpoint.path] -= 1
        self._delete_if_unused(checkpoint.path)

    def _new_copy(self, name: str) -> Path:
        """A copy in a folder of its own. Raises StoreUnwritable, and then leaves nothing."""
        self._made += 1
        path = self._folder / f"{name}{self._made}"
        try:
            self._copy(path)
        except StoreUnwritable:
            shutil.rmtree(path, ignore_errors=True)
            shutil.rmtree(f"{path}.tmp", ignore_errors=True)
            raise
        return path

    def _delete_if_unused(self, path: Path) -> None:
        newest = self._newest is not None and self._newest.path == path
        if not newest and self._users.get(path, 0) <= 0:
            self._users.pop(path, None)
            shutil.rmtree(path, ignore_errors=True)


def _empty(folder: Path) -> None:
    """Replace a folder and what an earlier run left there by an empty one."""
    try:
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder, ignore_errors=True)
        else:
            folder.unlink(missing_ok=True)
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise StoreUnreadable(folder.parent, str(error)) from error
