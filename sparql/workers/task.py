"""A function that runs once in its own process, which ends at a deadline, a memory limit, or on request.

For work that nothing else can stop. Arguments and results are pickled, so the function must be defined in a
module, and a generator: what it yields is returned piece by piece. The process ends with the thread that
started it.
"""

from __future__ import annotations

import io
import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection, Pipe
from time import monotonic
from types import MappingProxyType
from typing import Any, TypeVar

from sparql.model.errors import ReaderLost, SparqlError
from sparql.workers.forking import ForkedProcess, Forking
from sparql.workers.limits import MEMORY_EXIT_STATUS, forbid_network
from sparql.workers.sending import QueryMonitor

Result = TypeVar("Result")
_START_TIMEOUT_S = 60.0
_LOOK_S = 0.5
"""How often to check whether the results are still wanted."""
_FORKING = Forking()
"""Forks the processes of all tasks: the imports of a new one take longer than a small task itself."""


class TaskTimeout(Exception):
    """The function did not finish by its deadline. Internal to the caller."""


class TaskMemoryExceeded(Exception):
    """The function exceeded its memory limit. Internal to the caller."""


class TaskFailed(ReaderLost):
    """The process of the function ended before it was finished."""


class Task:
    """One run. `cancel` may be called from any thread, also before the run."""

    def __init__(self, memory_limit_bytes: int) -> None:
        self._memory_limit_bytes = memory_limit_bytes
        self._lock = threading.Lock()
        self._reason: Exception | None = None
        self._process: ForkedProcess | None = None

    def run(
        self,
        function: Callable[..., Iterable[Result]],
        *arguments: object,
        timeout_s: float,
        wanted: Callable[[], bool] = lambda: True,
    ) -> Iterator[Result]:
        """What the function yields for these arguments; it ends early if that is no longer `wanted`.

        The time counts from when the process is ready.

        Raises `TaskTimeout`, `TaskMemoryExceeded`, the reason of `cancel`, what the function raises of
        `SparqlError`, `ReaderLost` when the process cannot start, and `TaskFailed` when it fails. Exhaust or
        close it: then the process has ended.
        """
        deadline = monotonic() + _START_TIMEOUT_S
        ours, theirs = Pipe()
        control_read, control = os.pipe()
        try:
            try:
                self._launch(function.__module__, theirs.fileno(), control_read)
            finally:
                theirs.close()
                os.close(control_read)
            ours.send_bytes(_pickled((function, arguments)))
            while wanted():
                left = deadline - monotonic()
                if left <= 0:
                    raise TaskTimeout
                if not ours.poll(min(left, _LOOK_S)):
                    continue
                kind, result = pickle.loads(ours.recv_bytes())
                if kind == "end":
                    return
                if kind == "ready":
                    deadline = monotonic() + timeout_s
                    continue
                if kind == "error":
                    raise result
                yield result
        except (EOFError, OSError) as error:
            raise self._cause() from error
        finally:
            if self._process is not None:
                self._process.kill()
                self._process.wait()
            ours.close()
            os.close(control)

    @property
    def pid(self) -> int | None:
        """The process id, if the process runs."""
        process = self._process
        return process.pid if process is not None and process.poll() is None else None

    def cancel(self, reason: Exception) -> None:
        """End it; waiting for the results raises this error."""
        with self._lock:
            self._reason = self._reason or reason
            if self._process is not None:
                self._process.kill()

    def raise_if_cancelled(self) -> None:
        """Raise the reason of `cancel`, if it was called."""
        if self._reason is not None:
            raise self._reason

    def _launch(self, imports: str, *passed: int) -> None:
        self.raise_if_cancelled()
        limit = str(self._memory_limit_bytes)
        process = _FORKING.start(__name__, passed, [limit], [imports])
        with self._lock:
            self._process = process
            if self._reason is not None:
                process.kill()

    def _cause(self) -> Exception:
        """The reason for the end of the process."""
        if self._reason is not None:
            return self._reason
        assert self._process is not None
        status = self._process.wait()
        if status == MEMORY_EXIT_STATUS:
            return TaskMemoryExceeded()
        return TaskFailed(f"The process ended with status {status} before it was finished; see the log.")


def main(arguments: list[str]) -> int:
    """In the process of a task: run one function; `arguments` are DATA_FD CONTROL_FD MEMORY_LIMIT_BYTES.

    Any error that is not ours ends the process, with its traceback.
    """
    data, control, memory_limit_bytes = (int(argument) for argument in arguments)
    forbid_network()
    monitor = QueryMonitor(control, memory_limit_bytes)
    monitor.start()
    with Connection(data) as connection:
        monitor.begin()
        function, given = pickle.loads(connection.recv_bytes())
        connection.send_bytes(_pickled(("ready", None)))
        try:
            for result in function(*given):
                connection.send_bytes(_pickled(("result", result)))
        except SparqlError as error:
            connection.send_bytes(_pickled(("error", error)))
        else:
            connection.send_bytes(_pickled(("end", None)))
    return 0


def _pickled(given: object) -> bytes:
    """Like `pickle.dumps`, also for immutable mappings."""
    written = io.BytesIO()
    _Pickler(written, pickle.HIGHEST_PROTOCOL).dump(given)
    return written.getvalue()


class _Pickler(pickle.Pickler):
    def reducer_override(self, obj: Any) -> Any:
        return (_unchangeable, (dict(obj),)) if isinstance(obj, MappingProxyType) else NotImplemented


def _unchangeable(members: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(members)
