"""When a commit is on the disk, and not only in the operating system's cache.

A process that is killed loses nothing of what it wrote; a machine that loses power loses what was not yet
synced. RocksDB does not sync its write-ahead log, which every commit is written to first; here it is synced
as the setting requires.
"""

import os
import threading
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path

from sparql.model.errors import StoreUnwritable


class Durability(StrEnum):
    """What an acknowledged commit survives: `none` a killed process; the others also a loss of power.

    With `commit` each commit is synced by itself, before the next may start. With `group` commits continue
    meanwhile, and all that wait share one sync; a commit is acknowledged after it.
    """

    NONE = "none"
    COMMIT = "commit"
    GROUP = "group"


class LogFiles:
    """The write-ahead logs in the folder of a RocksDB database."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._newest = ""

    def sync(self) -> None:
        """Sync everything that was logged before this call. Raises `StoreUnwritable`.

        A commit may be in a log that has been closed since, so all logs from the newest one of the last call
        on are synced; names are numbers of equal width, in the order of the logs.
        """
        try:
            names = sorted(name for name in os.listdir(self._folder) if name.endswith(".log"))
            for name in names:
                if name >= self._newest:
                    self._sync_one(name)
            if names and names[-1] != self._newest:
                _sync(self._folder, os.fsync)
                self._newest = names[-1]
        except OSError as error:
            raise StoreUnwritable(self._folder.parent, error.strerror or str(error)) from error

    def _sync_one(self, name: str) -> None:
        try:
            _sync(self._folder / name, os.fdatasync)
        except FileNotFoundError:
            # Deleted meanwhile: RocksDB does that only when its content is in synced tables.
            return


class GroupSync:
    """Lets threads that wait for the disk share one sync.

    `sync` syncs everything logged so far; `reached` is the revision of the last commit logged.
    """

    def __init__(self, sync: Callable[[], None], reached: Callable[[], int]) -> None:
        self._sync = sync
        self._reached = reached
        self._turn = threading.Condition()
        self._syncing = False
        self._settled = 0
        self._failure: StoreUnwritable | None = None
        self.syncs = 0

    def wait(self, revision: int) -> None:
        """Return when that revision is on the disk; the first waiter syncs for all that arrived meanwhile.

        Raises `StoreUnwritable`, and from then on always: a failed sync cannot be repeated, since the
        operating system drops what it could not write.
        """
        with self._turn:
            while self._settled < revision:
                if self._failure is not None:
                    raise self._failure
                if self._syncing:
                    self._turn.wait()
                else:
                    self._lead()

    def _lead(self) -> None:
        """Sync with the condition released; it is held when called and on return."""
        self._syncing = True
        reached = self._reached()
        self._turn.release()
        failure: StoreUnwritable | None = None
        try:
            self._sync()
        except StoreUnwritable as error:
            failure = error
        finally:
            self._turn.acquire()
            self._syncing = False
            self._turn.notify_all()
        self.syncs += 1
        if failure is None:
            self._settled = max(self._settled, reached)
        else:
            self._failure = failure


def _sync(path: Path, how: Callable[[int], None]) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        how(handle)
    finally:
        os.close(handle)
