"""A child process that answers one line of JSON with one line of JSON, and is replaced when it dies."""

from __future__ import annotations

import collections
import json
import os
import queue
import select
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import IO, Any

from extractors.errors import ModelTimeout, ModelUnavailable

__all__ = ["Child"]

_END = None
_LAST_WORDS_SECONDS = 5.0


class Child:
    """Runs the command on the first request and again after a crash. One request at a time; blocking.

    The command is asked for each time, and may take a while to say.
    """

    def __init__(self, command: Callable[[], Sequence[str]], *, start_seconds: float) -> None:
        self._command = command
        self._start_seconds = start_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._lines: queue.Queue[str | None] = queue.Queue()
        self._errors: collections.deque[str] = collections.deque(maxlen=20)
        self._draining: threading.Thread | None = None
        self._finalizer: weakref.finalize[Any, Child] | None = None

    def start(self) -> None:
        """Start the process where it does not run; raises `ModelUnavailable` when it does not come up."""
        with self._lock:
            self._start()

    def ask(self, request: Mapping[str, Any], seconds: float) -> Any:
        """Send a request and wait for its answer.

        Raises `ModelTimeout` after `seconds` (the process is killed, for it cannot be interrupted) and
        `ModelUnavailable` when the process dies.
        """
        with self._lock:
            self._start()
            return self._exchange(json.dumps(request), seconds)

    def stop(self) -> None:
        """End the process."""
        with self._lock:
            self._kill()

    def _start(self) -> None:
        if self._process is not None and self._process.poll() is None:
            return
        # One that died between two requests leaves its pipes.
        self._kill()
        self._lines = queue.Queue()
        self._errors.clear()
        process = subprocess.Popen(
            list(self._command()), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8", errors="replace",
        )  # fmt: skip
        assert process.stdin is not None
        # A process that reads nothing is no reason to wait for it without end.
        os.set_blocking(process.stdin.fileno(), False)
        self._process = process
        self._finalizer = weakref.finalize(self, _end, process)
        threading.Thread(target=_read, args=(process.stdout, self._lines), daemon=True).start()
        self._draining = threading.Thread(target=_drain, args=(process.stderr, self._errors), daemon=True)
        self._draining.start()
        self._receive(self._start_seconds, time.monotonic() + self._start_seconds)

    def _exchange(self, line: str, seconds: float) -> Any:
        assert self._process is not None
        assert self._process.stdin is not None
        deadline = time.monotonic() + seconds
        try:
            sent = _write(self._process.stdin.fileno(), line.encode() + b"\n", deadline)
        except OSError:
            raise self._died() from None
        if not sent:
            raise self._too_late(seconds)
        return self._receive(seconds, deadline)

    def _receive(self, seconds: float, deadline: float) -> Any:
        try:
            line = self._lines.get(timeout=max(deadline - time.monotonic(), 0))
        except queue.Empty:
            raise self._too_late(seconds) from None
        if line is _END:
            raise self._died()
        return json.loads(line)

    def _too_late(self, seconds: float) -> ModelTimeout:
        self._kill()
        return ModelTimeout(
            f"the embedded model did not answer within {seconds:g} s: allow more time, "
            "send shorter text, or give it more processor"
        )

    def _died(self) -> ModelUnavailable:
        if self._draining is not None:
            self._draining.join(_LAST_WORDS_SECONDS)  # what it said last may still be in the pipe
        said = " ".join(self._errors).strip()[-300:]
        status = self._process.wait() if self._process is not None else None
        self._kill()
        return ModelUnavailable(
            f"the embedded model's process ended with status {status}; it starts again with the next "
            f"request. If this goes on, run `make setup` again. It said: {said or 'nothing'}"
        )

    def _kill(self) -> None:
        if self._finalizer is not None:
            self._finalizer()
        self._finalizer = self._process = None


def _end(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                continue


def _write(pipe: int, data: bytes, deadline: float) -> bool:
    """Whether all of it went into the pipe by the deadline. Raises OSError when nobody can read it."""
    left = memoryview(data)
    poll = select.poll()
    poll.register(pipe, select.POLLOUT)
    while left:
        try:
            left = left[os.write(pipe, left) :]
        except BlockingIOError:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                return False
            poll.poll(seconds * 1000)
    return True


def _read(pipe: IO[str], lines: queue.Queue[str | None]) -> None:
    try:
        for line in pipe:
            lines.put(line)
    except ValueError:
        pass  # closed under us while ending
    lines.put(_END)


def _drain(pipe: IO[str], lines: collections.deque[str]) -> None:
    try:
        lines.extend(line.strip() for line in pipe)
    except ValueError:
        return
