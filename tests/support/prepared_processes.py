"""Processes of `urbankg` that need not import its modules: forked from one that has them.

A server imports for 1.3 s of processor time, and tests start some hundred processes. All else is as in a
process that imports them itself, which `tests/server/runtime/test_whole_process.py` starts.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import IO

LARGEST_REQUEST = 128 * 1024
_ROOT = Path(__file__).parent.parent.parent


@dataclass(frozen=True)
class Request:
    """The arguments, the environment and the folder of a new process, and its three streams."""

    arguments: Sequence[str]
    environment: Mapping[str, str]
    folder: str
    streams: Sequence[int]

    @classmethod
    def read(cls, content: bytes, streams: Sequence[int]) -> Request:
        """The request that `content` is, with the streams that came beside it."""
        return cls(**{**json.loads(content), "streams": streams})

    def enter(self) -> None:
        """Make this process the one that is asked for."""
        for number, stream in enumerate(self.streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdout.reconfigure(line_buffering=os.isatty(1))  # type: ignore[union-attr]
        os.environ.clear()
        os.environ.update(self.environment)
        os.chdir(self.folder)
        sys.argv = ["urbankg", *self.arguments]


class PreparedProcess:
    """`urbankg` with these arguments, with the methods of `subprocess.Popen` that tests use."""

    def __init__(
        self,
        arguments: Sequence[str],
        *,
        stdout: IO[str] | int,
        stderr: IO[str] | int,
        env: Mapping[str, str],
    ) -> None:
        content = asdict(Request(arguments, dict(env), os.getcwd(), ()))
        self._socket, theirs = socket.socketpair()
        self._received = b""
        self.returncode: int | None = None
        with theirs, open(os.devnull) as nothing:
            streams = [one if isinstance(one, int) else one.fileno() for one in (nothing, stdout, stderr)]
            socket.send_fds(_starter(), [json.dumps(content).encode()], [theirs.fileno(), *streams])
        self.pid = int(self._line(None))

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        with suppress(subprocess.TimeoutExpired):
            return self.wait(0)
        return None

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the exit code. Raises `subprocess.TimeoutExpired`."""
        if self.returncode is None:
            self.returncode = int(self._line(timeout))
            self._socket.close()
        return self.returncode

    def send_signal(self, number: signal.Signals) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def _line(self, timeout: float | None) -> bytes:
        """The next line of the starter."""
        while b"\n" not in self._received:
            # `select.select` takes no descriptor above 1,023, and a process of many tests has them.
            waiting = select.poll()
            waiting.register(self._socket, select.POLLIN)
            if not waiting.poll(None if timeout is None else timeout * 1000):
                raise subprocess.TimeoutExpired("urbankg", timeout or 0)
            piece = self._socket.recv(64)
            if not piece:
                raise AssertionError("The process that starts others has ended.")
            self._received += piece
        line, _, self._received = self._received.partition(b"\n")
        return line

    def __del__(self) -> None:
        self._socket.close()


def urbankg(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, with these settings in the environment and no others."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("URBANKG_")}
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = PreparedProcess(arguments, stdout=out, stderr=err, env={**clean, **environment})
        code = process.wait(900)
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read(), err.read())


@cache
def _starter() -> socket.socket:
    """The socket of the starter, which ends with this process."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.prepared_starter", str(theirs.fileno())],
            pass_fds=[theirs.fileno()],
            cwd=_ROOT,
        )

    def end() -> None:
        ours.close()
        process.wait()

    atexit.register(end)
    return ours
