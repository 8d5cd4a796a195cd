"""Starts processes that need not import their modules: they are forked from a `starter`, which has them."""

from __future__ import annotations

import atexit
import json
import os
import select
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress

from sparql.model.errors import ReaderLost
from sparql.workers.processes.starter import KILL, NUMBER_BYTES

# One thread: a process that has several should not be forked, and nothing here multiplies matrices.
_ENVIRONMENT = {"OPENBLAS_NUM_THREADS": "1"}
_KILLED = -9
_IDLE_S = 600.0
"""How long a starter waits for the next process: afterwards its memory is worth more than a fast start."""


class ForkedProcess:
    """A process that a starter forked, with the methods of `subprocess.Popen`; for use from any thread."""

    def __init__(self, pid: int, report: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._report = report
        self._reported = select.poll()  # unlike `select`, for a server with more than 1,024 connections, too
        self._reported.register(report, select.POLLIN)
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """The exit status, or None while it runs."""
        with self._lock:
            if self.returncode is None and self._reported.poll(0):
                # A starter that has ended took its processes with it.
                found = _number(self._report)
                self.returncode = _KILLED if found is None else found
            return self.returncode

    def wait(self) -> int:
        """Wait for the exit status."""
        while (status := self.poll()) is None:
            self._reported.poll()
        return status

    def kill(self) -> None:
        """kill -9, if it runs."""
        with suppress(OSError):  # It has ended.
            os.write(self._report, KILL)

    def __del__(self) -> None:
        os.close(self._report)


class Forking:
    """Processes that one starter forks, which begins with the first of them."""

    def __init__(self, *, idle_s: float = _IDLE_S, environment: Mapping[str, str] = _ENVIRONMENT) -> None:
        self._environment = environment
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._starter: tuple[subprocess.Popen[bytes], socket.socket] | None = None
        atexit.register(self.end)

    def start(
        self, module: str, descriptors: Sequence[int], arguments: Sequence[str], imports: Sequence[str] = ()
    ) -> ForkedProcess:
        """Run `main` of the module in a new process; its arguments are the descriptors and `arguments`.

        The starter imports the module and `imports`. Raises ReaderLost when the process cannot start.
        """
        request = json.dumps({"module": module, "arguments": arguments, "imports": imports}).encode()
        try:
            with self._lock:
                try:
                    return self._forked(request, descriptors)
                except OSError:  # There is none yet, or it has ended.
                    self._begin()
                    return self._forked(request, descriptors)
        except OSError as error:
            raise ReaderLost(f"A process cannot be started: {error}; try again later.") from error

    def end(self) -> None:
        """End the starter and its processes."""
        if self._starter is not None:
            process, control = self._starter
            self._starter = None
            control.close()
            process.wait()

    def _begin(self) -> None:
        self.end()
        ours, theirs = socket.socketpair()
        arguments = [str(theirs.fileno()), str(self._idle_s)]
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "sparql.workers.processes.starter", *arguments],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
                env={**self._environment, **os.environ},
            )
        self._starter = (process, ours)

    def _forked(self, request: bytes, descriptors: Sequence[int]) -> ForkedProcess:
        if self._starter is None:
            raise ConnectionError
        ours, theirs = socket.socketpair()
        report = ours.detach()
        try:
            with theirs:
                socket.send_fds(self._starter[1], [request], [theirs.fileno(), *descriptors])
            pid = _number(report)
            if pid is None:
                raise ConnectionError("the process that forks others has ended; see the log")
        except OSError:
            os.close(report)
            raise
        return ForkedProcess(pid, report)


def _number(report: int) -> int | None:
    """What the starter reports next; None when it has ended."""
    received = os.read(report, NUMBER_BYTES)
    return int.from_bytes(received, "big", signed=True) if received else None
