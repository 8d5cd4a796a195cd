"""What can go wrong with the store: its folder, its disk, or the SPARQL store at another host.

::

    StoreError                   the folder of the store
    ├── StoreLocked              another process holds it
    ├── StoreUnreadable          its files cannot be opened
    ├── FormatUnknown            the folder is of another version of the program
    ├── StoreDamaged             its files open, but do not hold what was written to them
    ├── StoreUnwritable          the disk refused a write
    │   └── DiskFull             because it is full
    ├── StoreClosing             the server is shutting down and accepts no more writes
    ├── BackupError              a backup cannot be made or restored
    └── RemoteError              the SPARQL store at another host that holds the graph
        ├── RemoteUnreachable    it accepts no connection; nothing was sent
        ├── RemoteRefused        it answered with an error
        ├── RemoteIncomplete     it cut an answer short
        ├── RemoteUndecided      an update may or may not have been applied
        ├── RemoteConflict       another writer replaced its marker
        └── RemoteUnsupported    it cannot hold or do what was requested

As in `sparql.model.errors`, each message says what the operator can do, and the names are public.
"""

from __future__ import annotations

from pathlib import Path

from sparql.model.errors import SparqlError


class StoreError(SparqlError):
    """The folder of the store cannot be used."""


class StoreLocked(StoreError):
    """Another process holds the store's folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(f"Another process holds the store in {folder}; stop it, or name another folder.")
        self.folder = folder


class StoreUnreadable(StoreError):
    """The store's files cannot be opened; ``reason`` is the engine's message."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The store in {folder} cannot be opened: {_one_line(reason)}. Check its permissions and the "
            "disk; if the files are damaged, make a new folder from a backup with `urbankg restore`."
        )
        self.folder = folder
        self.reason = reason


class FormatUnknown(StoreError):
    """A data folder of a format that this version does not read."""

    def __init__(self, folder: Path, found: str, known: int) -> None:
        super().__init__(
            f"The data in {folder} have format {found[:20] or 'none'}; this version reads format {known}. "
            "Use the version that wrote them; or with that one `urbankg dump FILE.nq --data "
            f"{folder}`, and with this one `urbankg load FILE.nq` into a new folder."
        )


class StoreDamaged(StoreError):
    """A file of the open store does not hold what was written to it; ``reason`` is the engine's message."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            f"A file of the graph is damaged: {_one_line(reason)}. Check the disk, stop the server, and make "
            "a new folder from a backup with `urbankg restore`."
        )
        self.reason = reason


def damage_in(error: BaseException) -> StoreDamaged | None:
    """The engine's report of a damaged file as one of our errors; None for any other error.

    The engine raises a RuntimeError wherever it reads, also in the middle of an answer.
    """
    return StoreDamaged(str(error)) if type(error) is RuntimeError and reports_damage(str(error)) else None


def reports_damage(message: str) -> bool:
    """Whether the engine's message reports a damaged file."""
    return "Corruption:" in message


def _one_line(reason: str) -> str:
    return " ".join(reason.split()).rstrip(".")


class StoreUnwritable(StoreError):
    """The disk refused a write; ``reason`` is the operating system's message."""

    def __init__(self, folder: Path, reason: str) -> None:
        super().__init__(
            f"The disk under {folder} does not accept writes: {reason}. "
            "Check its space and health, then restart the server; the last changes may be lost."
        )
        self.folder = folder
        self.reason = reason


class DiskFull(StoreUnwritable):
    """The disk is full: nothing was written."""

    def __init__(self, folder: Path, reason: str) -> None:
        SparqlError.__init__(
            self,
            f"The disk under {folder} is full, so nothing of this was written ({reason}). Reads continue. "
            "Free some space, then send it again: no restart is needed.",
        )
        self.folder = folder
        self.reason = reason


class StoreClosing(StoreError):
    """The server is shutting down: it finishes accepted writes and accepts no new ones."""

    def __init__(self) -> None:
        super().__init__("The server is shutting down and accepts no more writes; send this again later.")


class BackupError(StoreError):
    """A backup cannot be made or restored."""


class RemoteError(StoreError):
    """The SPARQL store at another host that holds the graph failed; ``url`` is its address."""

    def __init__(self, url: str, message: str) -> None:
        super().__init__(message)
        self.url = url


class RemoteUnreachable(RemoteError):
    """The remote store accepts no connection, or lost it before an answer; nothing was changed."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            url, f"The store at {url} cannot be reached: {reason}. Nothing was changed; try again later."
        )


class RemoteRefused(RemoteError):
    """The remote store answered with an error; ``status`` is its HTTP status, ``reply`` its message."""

    def __init__(self, url: str, status: int, reply: str) -> None:
        super().__init__(url, f"The store at {url} refused this with status {status}: {reply}")
        self.status = status
        self.reply = reply


class RemoteIncomplete(RemoteError):
    """The remote store cut an answer short, or sent something that is no SPARQL answer."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(url, f"The answer of the store at {url} cannot be used: {reason}.")
        self.row_limit: int | None = None


class RemoteUndecided(RemoteError):
    """The connection was lost after an update was sent: whether it was applied is unknown."""

    def __init__(self, url: str, reason: str) -> None:
        super().__init__(
            url,
            f"The connection to the store at {url} was lost after the update was sent ({reason}): it may or "
            "may not have been applied. The server asks the store before the next write; look at the graph "
            "before you send this again.",
        )


class RemoteConflict(RemoteError):
    """The marker in the remote store is not the one that this server wrote."""

    def __init__(self, url: str) -> None:
        super().__init__(
            url,
            f"Another server writes to the store at {url}: the marker that this one wrote is gone. "
            "Nothing was changed. Let only one server write to a store, then restart this one.",
        )


class RemoteUnsupported(RemoteError):
    """The remote store does not support this request."""

    def __init__(self, url: str, what: str) -> None:
        super().__init__(url, f"The store at {url} does not support {what}.")
