"""The last commits of a store, serialized for copies that follow it."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Sequence
from typing import Protocol

from sparql.storage.change_log import Commit

MOST_QUADS = 5000
"""Beyond this, a new checkpoint, which consists of hard links, is cheaper than following."""


class CommitSource(Protocol):
    """A store that reports its commits."""

    def follow(self, follower: CommitLog) -> None:
        """Report every commit from now on, in order, before `revision` returns its number."""


class LoggedCommit:
    """One commit: from the revision `since` to `revision`."""

    def __init__(self, commit: Commit, since: int) -> None:
        self.since = since
        self.revision = commit.revision
        self.quads = len(commit.additions) + len(commit.removals)
        self._commit: Commit | None = commit
        self._written = b""

    def written(self) -> bytes:
        """As a JSON object; created when it is first needed."""
        if self._commit is not None:
            self._written, self._commit = written(self._commit, self.since), None
        return self._written


class CommitLog:
    """The last commits of `source`, up to `most_quads` quads; used from any thread."""

    def __init__(self, source: CommitSource, most_quads: int = MOST_QUADS) -> None:
        self._most_quads = most_quads
        self._lock = threading.Lock()
        self._commits: deque[LoggedCommit] = deque()
        self._quads = 0
        self._newest: int | None = None
        self._lost = False
        source.follow(self)

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
            return [one for one in self._commits if one.revision > revision]

    def quads_after(self, revision: int) -> int:
        """The number of quads in the known commits after a revision."""
        with self._lock:
            return sum(one.quads for one in self._commits if one.revision > revision)

    def _clear(self) -> None:
        self._commits.clear()
        self._quads = 0


def written(commit: Commit, since: int) -> bytes:
    """The changes of a commit, as a JSON object that `store_copy.StoreCopy.follow` reads."""
    members = {
        "since": since,
        "revision": commit.revision,
        "graphs_dropped": [graph.value for graph in commit.graphs_dropped],
        "graphs_created": [graph.value for graph in commit.graphs_created],
        "removals": "".join(f"{quad} .\n" for quad in commit.removals),
        "additions": "".join(f"{quad} .\n" for quad in commit.additions),
    }
    return json.dumps(members).encode()
