"""The process that others are forked from, so that each need not import its modules anew.

Started as ``python -m sparql.workers.processes.starter CONTROL_FD IDLE_S``. It reads no store, starts no
thread, and ends when it has been without a request for so long. A request, one at a time, is an object in
JSON with the file descriptors of the new process. The first is its report: the process id is written there,
and at the end the exit status. The process is killed when something is written on the other end of the
report, or when that is closed. See `forking` for the other end.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module

from sparql.workers.processes.limits import die_with_parent

LARGEST_REQUEST = 64 * 1024
MOST_DESCRIPTORS = 8
NUMBER_BYTES = 4
KILL = b"k"


@dataclass(frozen=True)
class Request:
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

    def next_request(self) -> Request | None:
        """In a forked process: what it is for. In this process: None, at the end."""
        with selectors.PollSelector() as waiting:
            waiting.register(self._control, selectors.EVENT_READ)
            waiting.register(self._ended, selectors.EVENT_READ)
            while (ready := waiting.select(self._idle_s)) or self._reports:
                for key, _ in ready:
                    if key.fileobj is self._control:
                        content, descriptors, _, _ = socket.recv_fds(
                            self._control, LARGEST_REQUEST, MOST_DESCRIPTORS
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
    ) -> Request | None:
        request = Request(**json.loads(content), descriptors=descriptors[1:])
        for module in (request.module, *request.imports):
            import_module(module)
        # Its children share that memory as long as no search for garbage writes into it.
        gc.freeze()
        report = socket.socket(fileno=descriptors[0])
        pid = os.fork()
        if pid == 0:
            self._leave()
            report.close()
            return request
        for descriptor in descriptors[1:]:
            os.close(descriptor)
        self._reports[pid] = report
        waiting.register(report, selectors.EVENT_READ, pid)
        _write(report, pid)
        return None

    def _leave(self) -> None:
        """In a forked process: close what is the starter's."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (*self._own, *self._reports.values()):
            one.close()

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
        report.sendall(number.to_bytes(NUMBER_BYTES, "big", signed=True))


def main(arguments: Sequence[str]) -> int:
    """Serve requests; in each process that is forked: run what was requested."""
    control, idle_s = socket.socket(fileno=int(arguments[0])), float(arguments[1])
    starter = os.getpid()
    request = Starter(control, idle_s).next_request()
    return 0 if request is None else request.run(starter)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
