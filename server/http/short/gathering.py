"""Writes that belong together leave together.

The server's protocol writes the head of an answer and then its body: two calls of the kernel and two packets,
of which the first already wakes the client. Here what is written in one turn of the loop is sent at once.
"""

from __future__ import annotations

import asyncio
from typing import Any

_MOST_BYTES = 32 * 1024


class GatheringTransport:
    """A transport that holds what is written until the end of this turn of the loop, or until it is much."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._parts: list[bytes] = []
        self._size = 0

    def write(self, data: bytes) -> None:
        """As of a transport."""
        if not self._parts:
            self._loop.call_soon(self.flush)
        self._parts.append(data)
        self._size += len(data)
        if self._size > _MOST_BYTES:
            self.flush()

    def send(self, data: bytes) -> None:
        """Write what is whole: at once, or after what is held."""
        if self._parts:
            self.write(data)
        else:
            self._transport.write(data)

    def flush(self) -> None:
        """Send what is held."""
        if self._parts:
            data = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts, self._size = [], 0
            self._transport.write(data)

    def close(self) -> None:
        """Send what is held, then close."""
        self.flush()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)
