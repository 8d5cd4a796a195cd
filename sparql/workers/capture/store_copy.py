"""A writable copy of the store for one process, which follows the store commit by commit."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pyoxigraph
from pyoxigraph import NamedNode, Quad, RdfFormat, parse

from sparql.model.vocabulary import STATE, UKG
from sparql.storage.exact_update import write_exactly
from sparql.storage.write_buffer import WriteBuffer, literal_characters

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
        for one in os.scandir(folder):
            with suppress(FileNotFoundError):
                status = one.stat()
                if not own or status.st_nlink == 1:
                    total += status.st_size
    return total


def _link(checkpoint: Path, path: Path) -> None:
    """Tables are never rewritten, so they are linked; the rest is small and copied."""
    os.makedirs(path)
    for one in checkpoint.iterdir():
        if one.suffix == _NEVER_REWRITTEN:
            os.link(one, path / one.name)
        elif one.name not in _NOT_COPIED:
            shutil.copyfile(one, path / one.name)


def _is_stamp(quad: Quad) -> bool:
    """Whether a quad only records a revision of the store."""
    return quad.predicate == UKG.revision and quad.graph_name == STATE
