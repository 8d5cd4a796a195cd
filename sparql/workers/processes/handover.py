"""Large answers are sent from the worker process directly to the client's connection.

Through the server's process every byte of them would be read, copied, framed and written again, besides all
its other work. So a worker with more than a few pieces to send offers to take over the connection (OFFER).
The server writes out what it holds and passes the connection's descriptor; it writes nothing more until the
worker reports the end. The worker frames its data as chunks of HTTP/1.1 (RFC 9112, 7.1); the last chunk,
which marks the answer as complete, is written by the server.
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
"""The error type that reports that the client of a taken-over connection has left."""
_NUMBER_BYTES = 8
_POLL_MS = 50
_MOST_PARTS = 128
"""The number of pieces for one system call; well below the kernel's limit."""


class ClientGone(Exception):
    """The client has closed its connection, or reads nothing from it."""


class Outlet(Protocol):
    """The server's end of a client's connection, in the middle of a chunked answer."""

    @property
    def patience_s(self) -> float:
        """How long a client may read nothing of its answer."""
        ...

    async def emptied(self) -> int:
        """The connection's descriptor, once everything written so far is sent. Raises ClientGone."""
        ...

    def abandon(self) -> None:
        """Close the connection at once: its answer cannot be finished."""
        ...


class Takeover:
    """The worker's end: the connection of the client whose query has this number, once it is handed over.

    ``stopped`` says whether the answer is no longer wanted; ``write`` then raises ClientGone.
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
        """Whether the takeover was offered to the server: all further data must use the connection."""

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
        """Close the connection, also one that is still being passed."""
        if self.offered and self._client is None:
            try:
                self._client = self._receive()
            except ClientGone:
                # If the query was stopped, the connection was handed over before, if at all.
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
        """The connection, if it has arrived; one that belongs to an earlier query is closed."""
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
        """Return when it is ready, or after a moment. Raises ClientGone when the query was stopped."""
        poll = select.poll()
        poll.register(what, event)
        poll.poll(_POLL_MS)
        if self._stopped():
            raise ClientGone


def hand_over(channel: socket.socket, number: int, descriptor: int) -> None:
    """Pass a connection to the worker at the other end, for the query with that number."""
    socket.send_fds(channel, [number.to_bytes(_NUMBER_BYTES, "big")], [descriptor])
