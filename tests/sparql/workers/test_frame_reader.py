"""Frames of every kind are taken as they arrive: frames that were taken do not pause the worker."""

from __future__ import annotations

import asyncio
import pickle

import pytest

from sparql.model.errors import SyntaxProblem
from sparql.syntax.problems import syntax_problem
from sparql.workers.frames import FrameKind, pack, pack_json
from sparql.workers.process import FrameReader

HEAD = pack_json(FrameKind.HEAD, {"format": "json"})
END = pack(FrameKind.END)
PIECE = 64 * 1024
ANSWERS = {
    "small": (HEAD, pack(FrameKind.DATA, b"{}"), END),
    "empty": (HEAD, END),
    "failed": (pack_json(FrameKind.ERROR, {"type": "failed", "message": "no " * 20}),),
    "refused": (pack(FrameKind.REFUSED, pickle.dumps(syntax_problem("query", "error at 1:2: no", "SEL"))),),
    "large": (HEAD, *[pack(FrameKind.DATA, b"x" * PIECE)] * 20, END),
}


class Connection(asyncio.Transport):
    """A socket that gives what is there, unless reading is paused."""

    def __init__(self, frames: FrameReader) -> None:
        super().__init__()
        self._frames = frames
        self._unread: list[bytes] = []
        self.paused = False
        self.pauses = 0
        frames.connection_made(self)

    def send(self, *pieces: bytes) -> None:
        self._unread += pieces
        self._give()

    def pause_reading(self) -> None:
        assert not self.paused
        self.paused = True
        self.pauses += 1

    def resume_reading(self) -> None:
        assert self.paused
        self.paused = False
        asyncio.get_running_loop().call_soon(self._give)

    def _give(self) -> None:
        while self._unread and not self.paused:
            self._frames.data_received(self._unread.pop(0))


async def taken(frames: FrameReader) -> list[FrameKind]:
    """The kinds of the frames of an answer, up to its end."""
    kinds = []
    while not kinds or kinds[-1] not in (FrameKind.END, FrameKind.ERROR, FrameKind.REFUSED):
        kinds.append((await frames.next())[0])
    return kinds


@pytest.mark.parametrize("kind", ANSWERS)
async def test_any_number_of_answers_of_a_kind_comes_through(kind: str) -> None:
    frames = FrameReader()
    connection = Connection(frames)
    answer = ANSWERS[kind]
    # Twice as much as may wait at a time, were nothing ever taken off.
    for _ in range(1 + 512 * 1024 // sum(map(len, answer))):
        connection.send(*answer)
        async with asyncio.timeout(10):
            assert len(await taken(frames)) == len(answer)
        assert not connection.paused
    if kind != "large":
        assert connection.pauses == 0


async def test_what_was_refused_reads_as_it_was_sent() -> None:
    frames = FrameReader()
    Connection(frames).send(*ANSWERS["refused"])
    kind, error = await frames.next()
    assert kind is FrameKind.REFUSED
    assert isinstance(error, SyntaxProblem)


async def test_a_sender_is_held_back_until_enough_is_taken() -> None:
    frames = FrameReader()
    connection = Connection(frames)
    connection.send(*ANSWERS["large"])
    assert connection.paused
    while connection.paused:
        await frames.next()
    await asyncio.sleep(0)
    assert connection.paused
