"""The server's end of the process that captures updates; see ``capture_worker``.

The process keeps a clone of the store in step with it, so that an update costs one exchange over a socket and
no new checkpoint. The clone is made with the first update that needs it, and dropped once so much has been
committed that a new one, which shares its files with the store, is cheaper.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from pyoxigraph import NamedNode, RdfFormat, parse

from sparql.model.errors import QueryMemoryExceeded, QueryTimeout, ReaderLost
from sparql.storage.change_log import Commit
from sparql.workers.capture.commit_log import MOST_QUADS, LoggedCommit
from sparql.workers.capture.store_copy import LEAST_GROWTH, disk_bytes
from sparql.workers.processes.frames import HEADER_SIZE, FrameKind, pack, pack_json, unpack_header
from sparql.workers.processes.limits import MEMORY_EXIT_STATUS
from sparql.workers.result import error_of
from sparql.writing.update_account import QuadDelta

_START_TIMEOUT_S = 60.0
_PIECE = 64 * 1024
_LEAVING_S = 10.0
_LOOK_EVERY = 20
STALE = "stale"
"""The error type that reports a wrong clone or revision."""


class CloneStale(Exception):
    """The clone is out of step."""


class Clone(Protocol):
    """A copy of the store in its own folder, and the revision it holds."""

    @property
    def path(self) -> Path: ...

    @property
    def revision(self) -> int: ...


class CloneSource(Protocol):
    """The store: it makes clones, and reports every change to followers."""

    def revision(self) -> int: ...

    def clone(self) -> Clone: ...

    def follow(self, follower: UpdateCapturer) -> None:
        """Report every change from now on, in order, before the next may start."""


class Capturer(Protocol):
    """Computes the changes of an update that evaluates patterns."""

    def capture(
        self,
        text: str,
        using: Sequence[NamedNode] = (),
        using_named: Sequence[NamedNode] = (),
        timeout_s: float = 30.0,
        base: str | None = None,
    ) -> QuadDelta: ...

    def close(self) -> None: ...


class UpdateCapturer:
    """Captures updates in a separate process, which can be stopped at a deadline or a memory limit.

    ``capture`` is called by one thread at a time, and nobody writes meanwhile. A call may start the process,
    which ends with the calling thread: call it from long-lived threads.
    """

    def __init__(self, source: CloneSource, *, memory_limit_bytes: int = 2 * 2**30) -> None:
        self._source = source
        self._memory_limit_bytes = memory_limit_bytes
        self._lock = threading.Lock()
        self._process: _Process | None = None
        self._clone: Clone | None = None
        self._revision = 0
        self._pending: list[LoggedCommit] = []
        self._followed_quads = 0
        self._captured = 0
        self._most_growth = LEAST_GROWTH
        self.kills = 0
        source.follow(self)

    def capture(
        self,
        text: str,
        using: Sequence[NamedNode] = (),
        using_named: Sequence[NamedNode] = (),
        timeout_s: float = 30.0,
        base: str | None = None,
    ) -> QuadDelta:
        """What an update would change in the store as it is now.

        Raises RequestError, ReadError and WriteError.
        """
        request = {
            "text": text,
            "using": [graph.value for graph in using],
            "using_named": [graph.value for graph in using_named],
            "base": base,
        }
        deadline = time.monotonic() + timeout_s
        try:
            head, body = self._ask(request, deadline)
        except TimeoutError:
            self._end(kill=True)
            self.kills += 1
            raise QueryTimeout(timeout_s) from None
        except (EOFError, OSError) as error:
            status = self._end(kill=False)
            if status == MEMORY_EXIT_STATUS:
                raise QueryMemoryExceeded(self._memory_limit_bytes) from error
            raise ReaderLost(
                f"The process that evaluates updates ended with status {status}; try again."
            ) from error
        split = head["removals_bytes"]
        return QuadDelta(
            additions=frozenset(parse(body[split:], format=RdfFormat.N_QUADS)),
            removals=frozenset(parse(body[:split], format=RdfFormat.N_QUADS)),
            graphs_created=frozenset(NamedNode(iri) for iri in head["graphs_created"]),
            graphs_dropped=frozenset(NamedNode(iri) for iri in head["graphs_dropped"]),
        )

    def committed(self, commit: Commit, since: int) -> None:
        """The store was changed: the clone must apply this before the next update."""
        with self._lock:
            if self._clone is None:
                return
            self._pending.append(LoggedCommit(commit, since))
            self._followed_quads += self._pending[-1].quads
            if self._followed_quads <= MOST_QUADS:
                return
        self._give_up_clone()

    def lost_track(self) -> None:
        """The store was changed in a way that the clone cannot follow."""
        self._give_up_clone()

    def close(self) -> None:
        """End the process and delete the clone."""
        self._end(kill=True)

    @property
    def pid(self) -> int | None:
        """The process id, if the process runs."""
        return None if self._process is None else self._process.pid

    def _ask(self, request: dict[str, Any], deadline: float) -> tuple[dict[str, Any], bytes]:
        """Send a request on an up-to-date clone; a stale clone is replaced once."""
        process = self._running()
        try:
            return process.ask(self._brought_up_to_date(request), deadline)
        except CloneStale:
            self._give_up_clone()
            return process.ask(self._brought_up_to_date(request), deadline)

    def _running(self) -> _Process:
        if self._process is not None and not self._process.alive:
            self._end(kill=True)
        if self._process is None:
            self._process = _Process(self._memory_limit_bytes)
        return self._process

    def _brought_up_to_date(self, request: dict[str, Any]) -> bytes:
        """The frames that bring the clone to the store's revision, or name a new clone, followed by the
        request.
        """
        with self._lock:
            pending, self._pending = self._pending, []
            clone = self._clone
        revision = pending[-1].revision if pending else self._revision
        self._captured += 1
        followed = clone is not None and revision == self._source.revision() and not self._has_grown(clone)
        if not followed:
            self._give_up_clone()
            self._clone = clone = self._source.clone()
            self._most_growth = max(LEAST_GROWTH, disk_bytes(clone.path, own=False) // 4)
            revision, pending = clone.revision, []
        assert clone is not None
        self._revision = revision
        named = {"path": str(clone.path), "revision": revision, "fresh": not followed}
        asked = pack_json(FrameKind.CAPTURE, {**named, **request})
        fed = (pack(FrameKind.FEED, commit.written()) for commit in pending)
        return b"".join([*fed, asked])

    def _has_grown(self, clone: Clone) -> bool:
        """Whether the clone itself takes much disk space, checked from time to time.

        Updates of several operations write to it and revert that, whatever their result.
        """
        return self._captured % _LOOK_EVERY == 0 and disk_bytes(clone.path, own=True) > self._most_growth

    def _end(self, *, kill: bool) -> int:
        """End the process and its clone; without `kill` it is already ending. Returns its exit status."""
        status = 0 if self._process is None else self._process.end(kill=kill)
        self._process = None
        self._give_up_clone()
        return status

    def _give_up_clone(self) -> None:
        with self._lock:
            clone, self._clone = self._clone, None
            self._pending, self._followed_quads = [], 0
        if clone is not None and (self._process is None or not self._process.let_go()):
            shutil.rmtree(clone.path, ignore_errors=True)


class _Process:
    """The running process, connected by a blocking socket."""

    def __init__(self, memory_limit_bytes: int) -> None:
        self._socket, theirs = socket.socketpair()
        control_read, self._control = os.pipe()
        arguments = [str(theirs.fileno()), str(control_read), str(memory_limit_bytes)]
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sparql.workers.capture.capture_worker", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), control_read),
            )
        except OSError as error:
            self._socket.close()
            os.close(self._control)
            raise ReaderLost(f"The process that evaluates updates cannot be started: {error}.") from error
        finally:
            theirs.close()
            os.close(control_read)
        self._received = bytearray()
        try:
            self._next_frame(time.monotonic() + _START_TIMEOUT_S)
        except (EOFError, OSError) as error:
            self.end(kill=True)
            raise ReaderLost("The process that evaluates updates did not start; see the log.") from error

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def let_go(self) -> bool:
        """Have it close and delete the clone, without waiting; False when that is no longer possible."""
        self._socket.settimeout(0)
        try:
            self._socket.sendall(pack_json(FrameKind.CLOSE, {}))
        except OSError:
            # It has ended, or is so far behind that starting a new one is faster.
            self._process.kill()
            self._process.wait()
            return False
        return True

    def ask(self, frames: bytes, deadline: float) -> tuple[dict[str, Any], bytes]:
        """Head and body of the answer. Raises the reported error, TimeoutError, and EOFError when it ends."""
        self._socket.settimeout(max(deadline - time.monotonic(), 0.001))
        self._socket.sendall(frames)
        head: dict[str, Any] = {}
        body = bytearray()
        while True:
            kind, payload = self._next_frame(deadline)
            if kind is FrameKind.HEAD:
                head = json.loads(payload)
            elif kind is FrameKind.DATA:
                body += payload
            elif kind is FrameKind.END:
                return head, bytes(body)
            elif kind is FrameKind.REFUSED:
                raise error_of(kind, pickle.loads(payload))
            else:
                answer = json.loads(payload)
                if answer["type"] == STALE:
                    raise CloneStale
                raise error_of(kind, answer)

    def end(self, *, kill: bool) -> int:
        """The exit status of a process to kill, or (without `kill`) of one that is ending by itself."""
        try:
            status = self._process.wait(0 if kill else _LEAVING_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            status = self._process.wait()
        self._socket.close()
        os.close(self._control)
        return status

    def _next_frame(self, deadline: float) -> tuple[FrameKind, bytes]:
        kind, length = unpack_header(self._take(HEADER_SIZE, deadline))
        return kind, self._take(length, deadline)

    def _take(self, length: int, deadline: float) -> bytes:
        received = self._received
        while len(received) < length:
            left = deadline - time.monotonic()
            if left <= 0:
                raise TimeoutError
            self._socket.settimeout(left)
            piece = self._socket.recv(_PIECE)
            if not piece:
                raise EOFError
            received += piece
        data = bytes(received[:length])
        del received[:length]
        return data
