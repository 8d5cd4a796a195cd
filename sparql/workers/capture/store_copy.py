"""A copy of the store that a process of ours may write to, and which follows the store commit by commit."""

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
"""Beyond this, what the copy's engine holds in memory of what was written is written to its files."""
LEAST_GROWTH = 4 * 2**20
"""What copies may take of the disk by themselves beside a small store; beside a large one it is a share."""


class CopyBehind(Exception):
    """A commit that does not follow on what the copy holds."""


class StoreCopy:
    """The copy in a folder, which holds `revision`. Raises OSError when it cannot be opened."""

    def __init__(self, path: str, revision: int) -> None:
        self.path = path
        self.revision = revision
        self.store: pyoxigraph.Store | None = pyoxigraph.Store(path)
        self.buffer = WriteBuffer(self._write_out, _BUFFERED_BYTES)

    def follow(self, commit: Mapping[str, Any]) -> None:
        """Write one commit, in one step; those that the copy holds already are passed over.

        Raises OSError when the disk does not take it, and CopyBehind when one before it is missing. The copy
        then holds what it held.
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
    """A new copy, made from a checkpoint that nobody writes to, brought to the last of these commits.

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
    """Where a process keeps its copies of a checkpoint; it, or who outlives it, deletes the folder."""
    return f"{checkpoint}-of-{pid}"


def disk_bytes(folder: str | Path, *, own: bool) -> int:
    """The bytes of a folder's files; with `own` only of those that no other folder has."""
    total = 0
    with suppress(FileNotFoundError):
        for one in os.scandir(folder):
            with suppress(FileNotFoundError):
                status = one.stat()
                if not own or status.st_nlink == 1:
                    total += status.st_size
    return total


def _link(checkpoint: Path, path: Path) -> None:
    """Tables are never rewritten, so hard links do; the rest is small."""
    os.makedirs(path)
    for one in checkpoint.iterdir():
        if one.suffix == _NEVER_REWRITTEN:
            os.link(one, path / one.name)
        elif one.name not in _NOT_COPIED:
            shutil.copyfile(one, path / one.name)


def _is_stamp(quad: Quad) -> bool:
    """Whether a quad only says which revision the store was at."""
    return quad.predicate == UKG.revision and quad.graph_name == STATE
