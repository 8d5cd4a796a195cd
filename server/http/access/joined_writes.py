"""A transport that sends what is written in one turn of the event loop at once.

uvicorn writes the head of an answer and its body apart, and uvloop sends each write by a system call of its
own. Sent together, a short answer takes one call and, mostly, one packet.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any, Final

__all__ = ["JoinedWrites"]

_LARGE: Final = 16 * 1024


class JoinedWrites(asyncio.Transport):
    """The same connection as another transport; what is written is held until the loop's next turn."""

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._transport = transport
        self._loop = loop
        self._held: list[bytes | bytearray | memoryview] = []

    def write(self, data: bytes | bytearray | memoryview[Any]) -> None:
        """Hold the data, unless it is large; a caller must not change it before the next turn."""
        if len(data) >= _LARGE:
            self._send()
            self._transport.write(data)
            return
        if not self._held:
            self._loop.call_soon(self._send)
        self._held.append(data)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview[Any]]) -> None:
        """Hold all of them."""
        for data in list_of_data:
            self.write(data)

    def close(self) -> None:
        """Send what is held, and close."""
        self._send()
        self._transport.close()

    def abort(self) -> None:
        """Close without sending what is held."""
        self._held = []
        self._transport.abort()

    def _send(self) -> None:
        held, self._held = self._held, []
        if held and not self._transport.is_closing():
            self._transport.write(held[0] if len(held) == 1 else b"".join(held))

    def is_closing(self) -> bool:
        """That of the connection, as all that follow."""
        return self._transport.is_closing()

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._transport.get_extra_info(name, default)

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._transport.set_protocol(protocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._transport.get_protocol()

    def is_reading(self) -> bool:
        return self._transport.is_reading()

    def pause_reading(self) -> None:
        self._transport.pause_reading()

    def resume_reading(self) -> None:
        self._transport.resume_reading()

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._transport.set_write_buffer_limits(high, low)

    def get_write_buffer_size(self) -> int:
        """Bytes that wait, with those that are held."""
        return sum(map(len, self._held)) + self._transport.get_write_buffer_size()
