"""The log behind the change feed: one line of JSON per revision, in files beside the store.

An entry is written before its commit and counts only when the commit is done, so a process killed at any
moment leaves a log that holds every revision of the store: at the next start, entries beyond the store's own
revision and an incomplete last line are cut off. If a revision is missing after all (power loss, a restored
folder), the log starts again, so it never has gaps.
"""

from __future__ import annotations

import errno
import os
import threading
import weakref
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from json import JSONEncoder
from pathlib import Path
from typing import Protocol

from pyoxigraph import NamedNode, Quad

from sparql.model.errors import ChangesForgotten, MalformedRequest
from sparql.model.vocabulary import GRAPH
from sparql.storage.database import unwritable

_PREFIX = b'{"revision":'
_BLOCK = 2**20
_PARTS = 8
"""Into how many files the log is split; the oldest is deleted when all together exceed the limit."""
_SYSTEM = GRAPH.iri
_json = JSONEncoder().encode


@dataclass(frozen=True)
class Commit:
    """The changes of one commit: only quads that are really added and removed.

    ``complete`` is False where the quads are not all listed (a bulk load). ``origin`` is ``asserted``,
    ``extracted``, ``ontology`` or ``system``. ``system`` counts quads of system graphs that are not listed.
    """

    revision: int
    origin: str
    additions: Collection[Quad]
    removals: Collection[Quad]
    graphs_created: Collection[NamedNode] = ()
    graphs_dropped: Collection[NamedNode] = ()
    complete: bool = True
    system: int = 0


@dataclass
class _Segment:
    """One file of the log; ``first`` is the revision of its first line, ``size`` in bytes."""

    first: int
    path: Path
    size: int


class _End:
    """The file that entries are appended to, kept open between entries."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor = os.open(path, os.O_RDWR)
        self._torn = False
        weakref.finalize(self, os.close, self._descriptor)

    def append(self, line: bytes, place: int, *, sync: bool) -> None:
        """Write a line after the valid part of the file; the remains of a failed write are cut off first."""
        if os.fstat(self._descriptor).st_nlink == 0:
            raise FileNotFoundError(errno.ENOENT, f"{self.path} was deleted", str(self.path))
        if self._torn:
            self.cut(place)
        self._torn = True
        written = 0
        while written < len(line):
            written += os.pwrite(self._descriptor, line[written:], place + written)
        if sync:
            os.fdatasync(self._descriptor)
        self._torn = False

    def cut(self, size: int) -> None:
        """Cut off everything beyond a size."""
        os.ftruncate(self._descriptor, size)


class ChangeLog:
    """The log in ``folder``, aligned with a store at ``revision``.

    An entry lists its quads up to ``entry_bytes`` of N-Quads and only counts them beyond; the files together
    keep about ``total_bytes``. With ``sync`` an entry is on the disk before its commit is. One thread writes,
    any number read.
    """

    def __init__(
        self,
        folder: Path,
        revision: int,
        *,
        entry_bytes: int = 2**20,
        total_bytes: int = 2**28,
        sync: bool = False,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._folder = folder
        self._revision = revision
        self._entry_bytes = entry_bytes
        self._total_bytes = total_bytes
        self._sync = sync
        self._now = now
        self._lock = threading.Lock()
        self._listeners: set[Callable[[], None]] = set()
        folder.mkdir(parents=True, exist_ok=True)
        self._segments = _recover(folder, revision)
        self._end: _End | None = None

    @property
    def newest(self) -> int:
        """The last revision; it is in the log unless the log is empty."""
        return self._revision

    @property
    def oldest(self) -> int:
        """The first revision in the log; one past the newest while it is empty."""
        with self._lock:
            return self._segments[0].first if self._segments else self._revision + 1

    @contextmanager
    def writing(self, *commits: Commit) -> Iterator[None]:
        """Write the entries of commits that the block carries out together; if it raises, they are removed
        again.

        Raises StoreUnwritable, before the block, when the disk refuses the entries.
        """
        time = self._now().isoformat(timespec="milliseconds").replace("+00:00", "Z")
        lines = b"".join(_line(commit, time, self._entry_bytes) for commit in commits)
        try:
            segment = self._segment_for(commits[0].revision)
            end = self._end_of(segment)
            end.append(lines, segment.size, sync=self._sync)
        except OSError as error:
            raise unwritable(self._folder, error) from error
        try:
            yield
        except BaseException:
            end.cut(segment.size)
            raise
        with self._lock:
            segment.size += len(lines)
            self._revision = commits[-1].revision
            self._forget_oldest()
        self._call_listeners()

    def reader(self, after: int) -> ChangeReader:
        """Reads the entries after a revision. Raises ChangesForgotten and MalformedRequest."""
        if after > self._revision:
            raise MalformedRequest(f"There is no revision {after} yet; the newest is {self._revision}.")
        if after < self.oldest - 1:
            raise ChangesForgotten(after, self.oldest - 1)
        return ChangeReader(self, after)

    def listen(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call ``listener`` after every commit, in the committing thread; call the result to unsubscribe."""
        with self._lock:
            self._listeners.add(listener)

        def stop() -> None:
            with self._lock:
                self._listeners.discard(listener)

        return stop

    def segment_with(self, revision: int) -> tuple[Path, Path | None] | None:
        """The file that contains a revision, or would, and the next file."""
        with self._lock:
            paths: list[tuple[_Segment, _Segment | None]] = [*pairwise(self._segments)]
            if self._segments:
                paths.append((self._segments[-1], None))
            for segment, following in paths:
                if following is None or revision < following.first:
                    if revision < segment.first:
                        break
                    return segment.path, following.path if following else None
            return None

    def _segment_for(self, revision: int) -> _Segment:
        with self._lock:
            full = self._segments and self._segments[-1].size >= self._total_bytes // _PARTS
            if full or not self._segments:
                segment = _Segment(revision, self._folder / f"{revision:020}.jsonl", 0)
                segment.path.touch()
                self._segments.append(segment)
            return self._segments[-1]

    def _end_of(self, segment: _Segment) -> _End:
        if self._end is None or self._end.path != segment.path:
            self._end = _End(segment.path)
        return self._end

    def _forget_oldest(self) -> None:
        while len(self._segments) > 1 and sum(segment.size for segment in self._segments) > self._total_bytes:
            self._segments.pop(0).path.unlink(missing_ok=True)

    def _call_listeners(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for listener in listeners:
            listener()


class ChangeReader:
    """Iterates over the log; used by one thread at a time."""

    def __init__(self, log: ChangeLog, after: int) -> None:
        self._log = log
        self.revision = after
        self._path: Path | None = None
        self._offset = 0

    def next_lines(self, limit_bytes: int = 2**18) -> list[bytes]:
        """The next entries, at least one if there is one, and no more once they exceed ``limit_bytes``.

        Blocks on the disk only. Raises ChangesForgotten when the log has dropped the entries this reader
        needs.
        """
        newest = self._log.newest
        lines: list[bytes] = []
        while self.revision < newest and sum(map(len, lines)) < limit_bytes:
            found = self._log.segment_with(self.revision + 1)
            if found is None:
                raise ChangesForgotten(self.revision, self._log.oldest - 1)
            if found[0] != self._path:
                self._path, self._offset = found[0], 0
            more = self._lines_of(self._path, newest, limit_bytes)
            if not more:
                # The file was changed by something else.
                raise ChangesForgotten(self.revision, newest)
            lines += more
        return lines

    def _lines_of(self, path: Path, newest: int, limit_bytes: int) -> list[bytes]:
        lines = []
        size = 0
        try:
            with path.open("rb") as file:
                file.seek(self._offset)
                while size < limit_bytes and self.revision < newest and (line := file.readline()):
                    self._offset += len(line)
                    if _revision_of(line) > self.revision:
                        self.revision = _revision_of(line)
                        lines.append(line)
                        size += len(line)
        except FileNotFoundError as error:
            raise ChangesForgotten(self.revision, self._log.oldest - 1) from error
        return lines


def _line(commit: Commit, time: str, limit: int) -> bytes:
    """The line of an entry. System graphs are only counted: they are readable by their IRI alone."""
    added = [quad for quad in commit.additions if not is_system(quad)]
    removed = [quad for quad in commit.removals if not is_system(quad)]
    system = commit.system + len(commit.additions) + len(commit.removals) - len(added) - len(removed)
    additions = _n_quads(added, limit)
    removals = None if additions is None else _n_quads(removed, limit - len(additions))
    complete = commit.complete and additions is not None and removals is not None
    created, dropped = (
        _json(sorted(graph.value for graph in graphs)) if graphs else "[]"
        for graphs in (commit.graphs_created, commit.graphs_dropped)
    )
    # Written by hand for speed, since every update writes one.
    return (
        f'{{"revision":{commit.revision},"time":"{time}","origin":{_json(commit.origin)},'
        f'"added":{len(added)},"removed":{len(removed)},"system":{system},'
        f'"graphs_created":{created},"graphs_dropped":{dropped},"complete":{"true" if complete else "false"},'
        f'"additions":{_json(additions) if complete else "null"},'
        f'"removals":{_json(removals) if complete else "null"}}}\n'
    ).encode()


def _n_quads(quads: Iterable[Quad], limit: int) -> str | None:
    """The quads as N-Quads, or None when they exceed ``limit`` characters."""
    lines = []
    left = limit
    for quad in quads:
        line = f"{quad} .\n"
        left -= len(line)
        if left < 0:
            return None
        lines.append(line)
    return "".join(lines)


def is_system(quad: Quad) -> bool:
    """Whether a quad is of a system graph."""
    graph = quad.graph_name
    return isinstance(graph, NamedNode) and graph.value.startswith(_SYSTEM)


def _recover(folder: Path, revision: int) -> list[_Segment]:
    """The files of the log, cut back to the store's revision; none when a revision is missing."""
    segments = []
    last = None
    paths = sorted(folder.glob("*.jsonl"))
    for path in paths:
        # Only the newest file was being written to; in the others checking a few lines is enough.
        whole = _whole(path, revision) if path != paths[-1] else None
        segment, last_here = whole or _cut(path, revision)
        if last_here is None or (last is not None and segment.first != last + 1):
            path.unlink()
            continue
        segments.append(segment)
        last = last_here
    if last != revision:
        for segment in segments:
            segment.path.unlink()
        return []
    return segments


def _whole(path: Path, revision: int) -> tuple[_Segment, int] | None:
    """A file whose first and last revisions match its number of lines, and its last revision."""
    with path.open("rb") as file:
        first = _revision_of(file.readline())
        lines = 1
        while block := file.read(_BLOCK):
            lines += block.count(b"\n")
            end = block
        size = file.tell()
        if lines == 1:
            return None
        file.seek(max(0, size - len(end) - _BLOCK))
        last = _revision_of(file.read().splitlines(keepends=True)[-1])
    if first > last or last > revision or last - first + 1 != lines:
        return None
    return _Segment(first, path, size), last


def _cut(path: Path, revision: int) -> tuple[_Segment, int | None]:
    """Cut a file at the first line that is incomplete, unordered or beyond the store; its last revision."""
    size, first, last = 0, 0, None
    with path.open("r+b") as file:
        for line in file:
            found = _revision_of(line)
            if found > revision or (last is not None and found != last + 1):
                break
            size += len(line)
            first, last = first or found, found
        file.truncate(size)
    return _Segment(first, path, size), last


def _revision_of(line: bytes) -> int:
    """The revision of an entry; higher than all others for an incomplete line."""
    number = line[len(_PREFIX) :].partition(b",")[0]
    if not line.endswith(b"}\n") or not line.startswith(_PREFIX) or not number.isdigit():
        return 2**63
    return int(number)


class Observer(Protocol):
    """Something kept in step with the default graph, for example the label index.

    `rebuild` is called at the start with quads of the default graph, `apply` after each commit, under the
    writer's lock.
    """

    @property
    def predicates(self) -> Collection[NamedNode]:
        """The predicates it reads: it is rebuilt from the quads with these alone."""

    def expect_rebuild(self) -> None:
        """A rebuild follows; what is applied before its end is applied again on top of it."""

    def rebuild(self, quads: Iterable[Quad]) -> None: ...

    def apply(self, additions: Iterable[Quad], removals: Iterable[Quad]) -> None: ...


class Follower(Protocol):
    """Receives every commit, in order, before the next may start and before `revision` returns it."""

    def committed(self, commit: Commit, since: int, /) -> None:
        """The store went from revision `since` to that of the commit by exactly these quads."""

    def lost_track(self) -> None:
        """The store was changed without a report of the individual quads."""
