"""What is written in one turn of the event loop is sent at once, and nothing of it is lost."""

from __future__ import annotations

import asyncio

import pytest

from server.http.access.client_limits import JoinedWrites


class Connection(asyncio.Transport):
    """Keeps what it is given to send."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[bytes] = []
        self.ended = ""

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.ended = "closed"

    def abort(self) -> None:
        self.ended = "aborted"

    def is_closing(self) -> bool:
        return bool(self.ended)

    def get_write_buffer_size(self) -> int:
        return 10


@pytest.mark.asyncio
async def test_head_and_body_are_sent_together_and_the_next_answer_by_itself() -> None:
    connection, joined = _opened()
    joined.write(b"head ")
    joined.writelines([b"bo", b"dy"])
    assert connection.sent == []
    assert joined.get_write_buffer_size() == 19
    await asyncio.sleep(0)
    joined.write(b"next")
    await asyncio.sleep(0)
    assert connection.sent == [b"head body", b"next"]


@pytest.mark.asyncio
async def test_a_large_piece_goes_out_at_once_behind_what_is_held() -> None:
    connection, joined = _opened()
    joined.write(b"head ")
    joined.write(b"x" * 100_000)
    assert [len(one) for one in connection.sent] == [5, 100_000]
    await asyncio.sleep(0)
    assert len(connection.sent) == 2


@pytest.mark.asyncio
async def test_what_is_held_is_sent_before_the_connection_is_closed() -> None:
    connection, joined = _opened()
    joined.write(b"refused")
    joined.close()
    assert (connection.sent, connection.ended, joined.is_closing()) == ([b"refused"], "closed", True)


@pytest.mark.asyncio
async def test_an_aborted_connection_and_one_that_is_gone_get_nothing_more() -> None:
    connection, joined = _opened()
    joined.write(b"late")
    joined.abort()
    joined.write(b"later")
    await asyncio.sleep(0)
    assert (connection.sent, connection.ended) == ([], "aborted")


def _opened() -> tuple[Connection, JoinedWrites]:
    connection = Connection()
    return connection, JoinedWrites(connection, asyncio.get_running_loop())
