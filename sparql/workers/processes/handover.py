"""Large answers go from the worker process straight to the client's connection.

Through the server's process every byte of them would be read, copied, framed and written once more, beside
all else that this process has to do. So a worker that has more than a few pieces to send offers to take the
connection over (OFFER). The server writes out what it holds and hands over the connection's descriptor; it
writes nothing more until the worker tells of the end. The worker frames what it sends as chunks of HTTP/1.1
(RFC 9112, 7.1); the last chunk, which says that the answer is whole, is the server's.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

CLIENT_GONE = "gone"
"""What a worker calls it when the client of a connection that it took over has left."""
_NUMBER_BYTES = 8
_POLL_MS = 50
_MOST_PARTS = 128
"""Pieces that one call of the kernel takes; it is well below its limit."""


class ClientGone(Exception):
    """The client has closed its connection, or takes nothing from it."""


class Outlet(Protocol):
    """The server's end of a client's connection, in the middle of an answer in chunks."""

    @property
    def patience_s(self) -> float:
        """How long a client may take nothing of its answer."""
        ...

    async def emptied(self) -> int:
        """The descriptor of the connection, when all that was written so far is gone. Raises ClientGone."""
        ...

    def abandon(self) -> None:
        """Close the connection at once: its answer cannot be finished."""
        ...


class Takeover:
    """The worker's end: the connection of the client whose query has this number, once it is handed over.

    ``stopped`` says whether nobody waits for the answer any more; ``write`` then raises ClientGone.
    """

    def __init__(
        self, channel: socket.socket, number: int, patience_s: float, stopped: Callable[[], bool]
    ) -> None:
        self._channel = channel
        self._number = number
        self._patience_s = patience_s
        self._stopped = stopped
        self._client: socket.socket | None = None
        self.offered = False
        """Whether the server was offered to hand the connection over: what follows must go this way."""

    def write(self, parts: list[bytes], size: int) -> None:
        """Send parts of together `size` bytes as one chunk. Raises ClientGone."""
        if size == 0:
            return
        client = self._client = self._client or self._receive()
        if len(parts) > _MOST_PARTS:
            parts = [b"".join(parts)]
        message = [b"%x\r\n" % size, *parts, b"\r\n"]
        left = sum(map(len, message))
        given = time.monotonic()
        while left:
            try:
                sent = client.sendmsg(message, (), socket.MSG_DONTWAIT | socket.MSG_NOSIGNAL)
            except BlockingIOError:
                self._wait_for(client, select.POLLOUT)
                if time.monotonic() - given > self._patience_s:
                    raise ClientGone from None
                continue
            except OSError as error:
                raise ClientGone from error
            left -= sent
            if left:
                message = [memoryview(b"".join(message))[sent:]]  # type: ignore[list-item]
            given = time.monotonic()

    def close(self) -> None:
        """Let go of the connection, also of one that is on its way here."""
        if self.offered and self._client is None:
            try:
                self._client = self._receive()
            except ClientGone:
                # Whoever stopped the query had handed the connection over before, if ever.
                with suppress(ClientGone):
                    self._client = self._arrived()
        if self._client is not None:
            self._client.close()
        self.offered = False

    def _receive(self) -> socket.socket:
        while (client := self._arrived()) is None:
            self._wait_for(self._channel, select.POLLIN)
        return client

    def _arrived(self) -> socket.socket | None:
        """The connection, if it is here; one that an earlier query did not wait for is closed."""
        while True:
            try:
                number, descriptors, *_ = socket.recv_fds(
                    self._channel, _NUMBER_BYTES, 1, socket.MSG_DONTWAIT
                )
            except BlockingIOError:
                return None
            if not descriptors:
                raise ClientGone
            if int.from_bytes(number, "big") == self._number:
                return socket.socket(fileno=descriptors[0])
            os.close(descriptors[0])

    def _wait_for(self, what: socket.socket, event: int) -> None:
        """Return when it is ready, or after a moment. Raises ClientGone when nobody wants the answer."""
        poll = select.poll()
        poll.register(what, event)
        poll.poll(_POLL_MS)
        if self._stopped():
            raise ClientGone


def hand_over(channel: socket.socket, number: int, descriptor: int) -> None:
    """Give a connection to the worker at the other end, for the query of that number."""
    socket.send_fds(channel, [number.to_bytes(_NUMBER_BYTES, "big")], [descriptor])
