"""Rounds of a comparison: each starts all servers anew, as one process may be much faster than the next."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial

import httpx

from benchmarks.serving.load import Measured, Request, measure
from benchmarks.serving.servers import Server, rests
from tests.support.processes import load_average
from tests.support.waiting import wait_until

Open = Callable[[], AbstractContextManager[Server]]
"""Opens a server for one round."""


@dataclass(frozen=True)
class Task:
    """A request from so many clients for so many seconds.

    `in_bytes`: what counts is MB before compression, not answers.
    """

    request: Request
    clients: int
    seconds: int
    in_bytes: bool = False


@dataclass(frozen=True)
class Compared:
    """What each server did at one task, ours first: a list of rounds each."""

    task: Task
    rounds: tuple[list[Measured], ...]

    def rate(self, place: int) -> float:
        """Answers (or MB) per second of a server: the median of its rounds."""
        return statistics.median(map(self._rate, self.rounds[place]))

    def cpu_us(self, place: int) -> float:
        """The CPU time of a server for one answer: the median of its rounds."""
        return statistics.median(one.cpu_us for one in self.rounds[place])

    def ratios(self, place: int) -> list[float]:
        """Our rate by that of another server, round by round, smallest first."""
        pairs = zip(self.rounds[0], self.rounds[place], strict=True)
        # A round may be too short for a single answer.
        return sorted(
            self._rate(ours) / rate if (rate := self._rate(theirs)) else math.inf for ours, theirs in pairs
        )

    def failures(self) -> list[int]:
        """Requests that failed, of each server."""
        return [sum(one.failures for one in rounds) for rounds in self.rounds]

    def _rate(self, one: Measured) -> float:
        return one.mb_per_second if self.task.in_bytes else one.per_second


def in_words(ratios: Sequence[float]) -> str:
    """The median of some ratios, and between which they lie."""
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})"


@contextmanager
def fresh(start: Callable[[], Server]) -> Iterator[Server]:
    """A server that is started for this alone."""
    server = start()
    try:
        yield server
    finally:
        server.stop()


def compare(opens: Sequence[Open], tasks: Sequence[Task], rounds: int, *, warm_with: str) -> list[Compared]:
    """All tasks in so many rounds, in which servers take turns to begin; all have answered `warm_with`."""
    found: list[tuple[list[Measured], ...]] = [tuple([] for _ in opens) for _ in tasks]
    expansions: dict[tuple[int, Task], float] = {}
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}, load average {load_average()}", file=sys.stderr, flush=True)
        order = list(range(len(opens)))[:: -1 if number % 2 else 1]
        with ExitStack() as stack:
            servers = {place: stack.enter_context(opens[place]()) for place in order}
            for place in order:
                parameters = {"query": warm_with, **servers[place].parameters}
                httpx.get(servers[place].query_url, params=parameters, timeout=300).raise_for_status()
            for task, done in zip(tasks, found, strict=True):
                for place in order:
                    measured = _measured(servers[place], task)
                    if task.in_bytes and task.request.gzip:
                        if (place, task) not in expansions:
                            expansions[place, task] = _expansion(servers[place], task.request)
                        expansion = expansions[place, task]
                        measured = replace(measured, mb_per_second=measured.mb_per_second * expansion)
                    done[place].append(measured)
    return [Compared(task, done) for task, done in zip(tasks, found, strict=True)]


def _expansion(server: Server, request: Request) -> float:
    """The size of an answer by its size as it is sent to a client that takes gzip."""
    parameters = {"query": request.text, **server.parameters}
    headers = {"Accept": request.accept, "Accept-Encoding": "gzip"}
    with httpx.stream("GET", server.query_url, params=parameters, headers=headers, timeout=600) as answer:
        size = sum(map(len, answer.iter_bytes()))
        return size / answer.num_bytes_downloaded


def _measured(server: Server, task: Task) -> Measured:
    """What it does once all its processes have met the request, for which it has a second."""
    update = task.request.update
    measure_for = partial(
        measure,
        server.update_url if update else server.query_url,
        task.request,
        clients=task.clients,
        pid=server.process.pid,
        parameters={} if update else server.parameters,
    )
    measure_for(seconds=1)
    # Answers of which the client has gone still take their time.
    wait_until(lambda: rests(server.process.pid))
    return measure_for(seconds=task.seconds)
