"""Processes that need not import their modules: they are forked from a `Starter`, which has imported them.

`Forking` is the server's end. The starter is a process of its own, ``python -m sparql.workers.forking
CONTROL_FD IDLE_S``: it reads no store, starts no thread, and ends when it has been without a request for so
long. A request, one at a time, is an object in JSON with the file descriptors of the new process. The first
is its report: the process id is written there, and at the end the exit status. The process is killed when
something is written on the other end of the report, or when that is closed.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import select
import selectors
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

from sparql.model.errors import ReaderLost
from sparql.workers.limits import die_with_parent

_LARGEST_REQUEST = 64 * 1024
_MOST_DESCRIPTORS = 8
_NUMBER_BYTES = 4
_KILL = b"k"
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
            os.write(self._report, _KILL)

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
                [sys.executable, "-P", "-m", "sparql.workers.forking", *arguments],
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
    received = os.read(report, _NUMBER_BYTES)
    return int.from_bytes(received, "big", signed=True) if received else None


@dataclass(frozen=True)
class _Request:
    """The module whose `main` runs, what it imports besides, and its first arguments: file descriptors."""

    module: str
    imports: Sequence[str]
    descriptors: Sequence[int]
    arguments: Sequence[str]

    def run(self, starter: int) -> int:
        """Be the new process; the starter's process id is `starter`."""
        die_with_parent()
        if os.getppid() != starter:
            return 1  # It ended before the kernel could know.
        given = [*map(str, self.descriptors), *self.arguments]
        status: int = import_module(self.module).main(given)
        return status


class Starter:
    """The processes that were forked and have not ended."""

    def __init__(self, control: socket.socket, idle_s: float) -> None:
        self._control = control
        self._idle_s = idle_s
        self._reports: dict[int, socket.socket] = {}
        self._ended, wake = socket.socketpair()
        self._own = (control, self._ended, wake)
        for end in (self._ended, wake):
            end.setblocking(False)
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Ctrl-C is for the server, which then closes its end.
        signal.signal(signal.SIGINT, signal.SIG_IGN)

    def next_request(self) -> _Request | None:
        """In a forked process: what it is for. In this process: None, at the end."""
        with selectors.PollSelector() as waiting:
            waiting.register(self._control, selectors.EVENT_READ)
            waiting.register(self._ended, selectors.EVENT_READ)
            while (ready := waiting.select(self._idle_s)) or self._reports:
                for key, _ in ready:
                    if key.fileobj is self._control:
                        content, descriptors, _, _ = socket.recv_fds(
                            self._control, _LARGEST_REQUEST, _MOST_DESCRIPTORS
                        )
                        if not content:
                            return None
                        request = self._start(waiting, content, descriptors)
                        if request is not None:
                            return request
                    elif key.fileobj is self._ended:
                        self._report_ends(waiting)
                    elif key.data in self._reports:
                        waiting.unregister(key.fileobj)
                        os.kill(key.data, signal.SIGKILL)
        return None

    def _start(
        self, waiting: selectors.BaseSelector, content: bytes, descriptors: Sequence[int]
    ) -> _Request | None:
        request = _Request(**json.loads(content), descriptors=descriptors[1:])
        for module in (request.module, *request.imports):
            import_module(module)
        # Its children share that memory as long as no search for garbage writes into it.
        gc.freeze()
        report = socket.socket(fileno=descriptors[0])
        pid = os.fork()
        if pid == 0:
            self._close_inherited()
            report.close()
            return request
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        self._reports[pid] = report
        waiting.register(report, selectors.EVENT_READ, pid)
        _write(report, pid)
        return None

    def _close_inherited(self) -> None:
        """In a forked process: close what is the starter's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for end in (*self._own, *self._reports.values()):
            end.close()

    def _report_ends(self, waiting: selectors.BaseSelector) -> None:
        with suppress(BlockingIOError):
            self._ended.recv(4096)
        for pid in list(self._reports):
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                report = self._reports.pop(pid)
                with suppress(KeyError):  # It was killed on request.
                    waiting.unregister(report)
                with report:
                    _write(report, os.waitstatus_to_exitcode(status))


def _write(report: socket.socket, number: int) -> None:
    with suppress(OSError):  # The other end may be gone.
        report.sendall(number.to_bytes(_NUMBER_BYTES, "big", signed=True))


def main(arguments: Sequence[str]) -> int:
    """Serve requests; in each process that is forked: run what was requested."""
    control, idle_s = socket.socket(fileno=int(arguments[0])), float(arguments[1])
    starter = os.getpid()
    request = Starter(control, idle_s).next_request()
    return 0 if request is None else request.run(starter)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
