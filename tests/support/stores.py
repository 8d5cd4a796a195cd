"""A store of our own for tests of the readers: it lends checkpoints, counts them, and deletes them."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyoxigraph
from pyoxigraph import Quad

from sparql.storage.checkpoint_folder import Checkpoint


class StoreCheckpoints:
    """A store on disk whose every write is a revision, and its checkpoints beside it."""

    def __init__(self, folder: Path) -> None:
        self.store = pyoxigraph.Store(str(folder / "live"))
        self._folder = folder
        self._lock = threading.Lock()
        self._revision = 0
        self._made: Checkpoint | None = None
        self.acquired = 0
        self.lent: dict[Path, int] = {}

    def write(self, *quads: Quad) -> int:
        with self._lock:
            self.store.extend(quads)
            self._revision += 1
            return self._revision

    def update(self, text: str) -> int:
        with self._lock:
            self.store.update(text)
            self._revision += 1
            return self._revision

    def revision(self) -> int:
        return self._revision

    def match_quads(self, subject: Any, predicate: Any, object_: Any, graph: Any = None) -> Iterator[Quad]:
        return iter(self.store.quads_for_pattern(subject, predicate, object_, graph))

    def acquire(self) -> Checkpoint:
        with self._lock:
            self.acquired += 1
            path = self._folder / f"checkpoint-{self.acquired}"
            self.store.backup(str(path))
            self.lent[path] = 1
            return Checkpoint(path, self._revision)

    def follow(self, follower: object) -> None:
        """Report no commits: a follower sees by the revision that its clone is too old."""

    def release(self, checkpoint: Checkpoint) -> None:
        del self.lent[checkpoint.path]
        shutil.rmtree(checkpoint.path)
