"""A peer in a process of its own for each answer, which ends when it has taken too long."""

from __future__ import annotations

import math
import multiprocessing
import resource
import signal
import time
from multiprocessing.connection import Connection

import numpy
import shapely

from benchmarks.peers import answer
from benchmarks.peers.answer import Counts, EmbeddedPeer, Unfinished


class Limited:
    """Asks a peer of this process in a fork of it, so that it can be ended at a number of CPU seconds."""

    def __init__(self, peer: EmbeddedPeer, limit_s: int) -> None:
        self._peer = peer
        self._limit_s = limit_s
        self.title = peer.title

    def relate_all(self, shapes: numpy.ndarray) -> tuple[Counts, float]:
        """As the peer itself. Raises Unfinished."""
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=self._answer, args=(shapely.to_wkb(shapes), sender))
        child.start()
        sender.close()
        try:
            found: tuple[Counts, float] | None = receiver.recv()
        except EOFError:
            found = None
        child.join()
        if found is None and child.exitcode == -signal.SIGXCPU:
            raise Unfinished(self._limit_s)
        if found is None:
            raise RuntimeError(f"{self.title} ended with {child.exitcode} and gave no answer")
        return found

    def _answer(self, binaries: numpy.ndarray, sender: Connection) -> None:
        # What is read and made before the clock starts does not count.
        answer.on_start.append(self._limit)
        sender.send(self._peer.relate_all(shapely.from_wkb(binaries)))

    def _limit(self) -> None:
        most = math.ceil(time.process_time() + self._limit_s)
        resource.setrlimit(resource.RLIMIT_CPU, (most, most + 60))
