"""The commit in progress, saved before it is sent, to be settled after a crash or a lost connection."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import NamedNode, Quad, RdfFormat, parse, serialize

_FILE = "remote-commit.json"


@dataclass(frozen=True)
class PendingCommit:
    """A commit from marker `before` to `after`.

    `additions` and `removals` are those in the remote store (not listed when `complete` is False), the
    `local_` ones belong to the local store.
    """

    before: NamedNode
    after: NamedNode
    origin: str
    additions: Collection[Quad]
    removals: Collection[Quad]
    local_additions: Collection[Quad]
    local_removals: Collection[Quad]
    complete: bool = True


class PendingFile:
    """The file for it; at most one commit is in progress."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def write(self, commit: PendingCommit) -> None:
        """Save it. Raises OSError."""
        members = {
            "before": commit.before.value,
            "after": commit.after.value,
            "origin": commit.origin,
            "complete": commit.complete,
            "additions": _written(commit.additions),
            "removals": _written(commit.removals),
            "local_additions": _written(commit.local_additions),
            "local_removals": _written(commit.local_removals),
        }
        partial = self._path.with_suffix(".partial")
        with partial.open("w", encoding="utf-8") as file:
            json.dump(members, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._path)

    def read(self) -> PendingCommit | None:
        """The commit in progress, if there is one."""
        try:
            members = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return PendingCommit(
            NamedNode(members["before"]),
            NamedNode(members["after"]),
            members["origin"],
            _read(members["additions"]),
            _read(members["removals"]),
            _read(members["local_additions"]),
            _read(members["local_removals"]),
            members["complete"],
        )

    def forget(self) -> None:
        """It is settled."""
        self._path.unlink(missing_ok=True)


def _written(quads: Collection[Quad]) -> str:
    return (serialize(quads, format=RdfFormat.N_QUADS) or b"").decode()


def _read(text: str) -> list[Quad]:
    return list(parse(text, format=RdfFormat.N_QUADS))
