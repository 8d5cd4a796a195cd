"""Copies of the store that follow it commit by commit, and the log of commits that they follow."""

from __future__ import annotations

import json
import os
import shutil
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyoxigraph
from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from sparql.model.vocabulary import STATE, UKG
from sparql.storage.change_log import Commit
from sparql.storage.database import WriteBuffer, literal_characters, write_exactly

MOST_QUADS = 5000
"""Beyond this, a new checkpoint, which consists of hard links, is cheaper than following."""
_CHARACTERS = 200
"""The characters of literals that count as one more quad: a commit of few long texts is not small."""
_NOT_COPIED = frozenset({"LOCK", "LOG"})
_NEVER_REWRITTEN = ".sst"
_BUFFERED_BYTES = 4 * 2**20
"""When the copy's engine buffers more than this, the buffer is written to its files."""
LEAST_GROWTH = 4 * 2**20
"""The disk space that copies of a small store may take; for a large one it is a share of the store."""


class CopyBehind(Exception):
    """A commit that does not directly follow the copy's revision."""


class StoreCopy:
    """The copy in a folder, which holds `revision`. Raises OSError when it cannot be opened."""

    def __init__(self, path: str, revision: int) -> None:
        self.path = path
        self.revision = revision
        self.store: pyoxigraph.Store | None = pyoxigraph.Store(path)
        self.buffer = WriteBuffer(self._write_out, _BUFFERED_BYTES)

    def follow(self, commit: Mapping[str, Any]) -> None:
        """Apply one commit, in one step; commits that the copy already holds are skipped.

        Raises OSError when the disk refuses it, and CopyBehind when an earlier commit is missing. The copy
        then stays as it was.
        """
        if commit["revision"] <= self.revision:
            return
        if commit["since"] != self.revision:
            raise CopyBehind
        assert self.store is not None
        removals: list[Quad] = []
        stamps: list[Quad] = []
        for quad in parse(commit["removals"], format=RdfFormat.N_QUADS):
            (stamps if _is_stamp(quad) else removals).append(quad)
        additions = list(parse(commit["additions"], format=RdfFormat.N_QUADS))
        write_exactly(
            self.store,
            additions,
            removals,
            [NamedNode(iri) for iri in commit["graphs_created"]],
            [NamedNode(iri) for iri in commit["graphs_dropped"]],
        )
        self.revision = commit["revision"]
        self.buffer.wrote(len(additions) + len(removals) + len(stamps), literal_characters(additions))
        # The newest stamp counts, as in the store itself, so an older one may stay.
        with suppress(OSError):
            for quad in stamps:
                self.store.remove(quad)

    def _write_out(self) -> None:
        if self.store is not None:
            self.store.flush()

    def delete(self) -> None:
        """Close it and delete its folder."""
        self.store = None
        shutil.rmtree(self.path, ignore_errors=True)


def copy_of(checkpoint: str, revision: int, path: str, commits: Sequence[Mapping[str, Any]]) -> StoreCopy:
    """A new copy of an immutable checkpoint, brought to the last of these commits.

    Raises OSError and CopyBehind; nothing is left of it then.
    """
    try:
        _link(Path(checkpoint), Path(path))
        copy = StoreCopy(path, revision)
        for commit in commits:
            copy.follow(commit)
    except (OSError, CopyBehind):
        shutil.rmtree(path, ignore_errors=True)
        raise
    return copy


def copies_folder(checkpoint: str, pid: int) -> str:
    """Where a process keeps its copies of a checkpoint; it, or the server afterwards, deletes the folder."""
    return f"{checkpoint}-of-{pid}"


def disk_bytes(folder: str | Path, *, own: bool) -> int:
    """The size of a folder's files; with `own` only of those not shared with other folders."""
    total = 0
    with suppress(FileNotFoundError):
        for entry in os.scandir(folder):
            with suppress(FileNotFoundError):
                status = entry.stat()
                if not own or status.st_nlink == 1:
                    total += status.st_size
    return total


def _link(checkpoint: Path, path: Path) -> None:
    """Tables are never rewritten, so they are linked; the rest is small and copied."""
    os.makedirs(path)
    for file in checkpoint.iterdir():
        if file.suffix == _NEVER_REWRITTEN:
            os.link(file, path / file.name)
        elif file.name not in _NOT_COPIED:
            shutil.copyfile(file, path / file.name)


def _is_stamp(quad: Quad) -> bool:
    """Whether a quad only records a revision of the store."""
    return quad.predicate == UKG.revision and quad.graph_name == STATE


class LoggedCommit:
    """One commit: from the revision `since` to `revision`."""

    def __init__(self, commit: Commit, since: int) -> None:
        self.since = since
        self.revision = commit.revision
        characters = literal_characters(commit.additions) + literal_characters(commit.removals)
        self.quads = len(commit.additions) + len(commit.removals) + characters // _CHARACTERS
        """How many quads it counts as."""
        self._commit: Commit | None = commit
        self._written = b""

    def written(self) -> bytes:
        """As a JSON object; created when it is first needed."""
        if self._commit is not None:
            self._written, self._commit = _written(self._commit, self.since), None
        return self._written


class CommitLog:
    """The last commits of a store that it follows, up to `most_quads` quads; used from any thread."""

    def __init__(self, most_quads: int = MOST_QUADS) -> None:
        self._most_quads = most_quads
        self._lock = threading.Lock()
        self._commits: deque[LoggedCommit] = deque()
        self._quads = 0
        self._newest: int | None = None
        self._lost = False

    def committed(self, commit: Commit, since: int) -> None:
        """The store was changed: it was at the revision `since` before."""
        with self._lock:
            if self._lost or self._newest != since:
                self._clear()
            self._newest = commit.revision
            if self._lost:
                # The previous revision may have been copied before or after the unreported changes.
                self._lost = False
                return
            self._commits.append(LoggedCommit(commit, since))
            self._quads += self._commits[-1].quads
            while self._quads > self._most_quads:
                self._quads -= self._commits.popleft().quads

    def lost_track(self) -> None:
        """The store was changed in a way that no copy can follow."""
        with self._lock:
            self._clear()
            self._newest, self._lost = None, True

    def after(self, revision: int, needed: int) -> Sequence[LoggedCommit] | None:
        """The commits from a revision to at least the `needed` one; None if unknown."""
        if needed <= revision:
            return ()
        with self._lock:
            if self._newest is None or self._newest < needed or not self._commits:
                return None
            if self._commits[0].since > revision:
                return None
            return [commit for commit in self._commits if commit.revision > revision]

    def quads_after(self, revision: int) -> int:
        """The number of quads in the known commits after a revision."""
        with self._lock:
            return sum(commit.quads for commit in self._commits if commit.revision > revision)

    def _clear(self) -> None:
        self._commits.clear()
        self._quads = 0


def _written(commit: Commit, since: int) -> bytes:
    """The changes of a commit, as a JSON object that `StoreCopy.follow` reads."""
    members = {
        "since": since,
        "revision": commit.revision,
        "graphs_dropped": [graph.value for graph in commit.graphs_dropped],
        "graphs_created": [graph.value for graph in commit.graphs_created],
        "removals": "".join(f"{quad} .\n" for quad in commit.removals),
        "additions": "".join(f"{quad} .\n" for quad in commit.additions),
    }
    return json.dumps(members).encode()
