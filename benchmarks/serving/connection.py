"""One kept connection to an HTTP server, by a parser that takes little of what is measured."""

from __future__ import annotations

import socket
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Self

import httptools

_PIECE = 1 << 16


@dataclass(frozen=True)
class Reply:
    """Status and whole body of an answer."""

    status: int
    body: bytes


class Connection:
    """Sends GETs one after the other; opened when first used, and anew when the server has closed it."""

    def __init__(self, authority: str, timeout_s: float) -> None:
        self._authority = authority
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the server."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def get(self, target: str, headers: Mapping[str, str]) -> Reply:
        """The answer to a GET. Raises TimeoutError and ConnectionError; the connection is closed then."""
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        request = f"GET {target} HTTP/1.1\r\nHost: {self._authority}\r\n{lines}\r\n".encode("ascii")
        kept = self._socket is not None
        try:
            return self._exchange(request)
        except ConnectionError:
            self.close()
            if not kept:
                raise
            # It was closed while nothing was asked.
            return self._exchange(request)
        except OSError:
            self.close()
            raise

    def _exchange(self, request: bytes) -> Reply:
        if self._socket is None:
            host, _, port = self._authority.rpartition(":")
            self._socket = socket.create_connection((host.strip("[]"), int(port)), self._timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(request)
        seen = _ParserEvents()
        parser = seen.parser
        while not seen.whole:
            data = self._socket.recv(_PIECE)
            if not data:
                raise ConnectionResetError("The server closed the connection before its answer was whole.")
            parser.feed_data(data)
        if not seen.goes_on:
            self.close()
        return Reply(parser.get_status_code(), b"".join(seen.parts))


class _ParserEvents:
    """What a parser reports of an answer."""

    def __init__(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        self.parts: list[bytes] = []
        self.whole = False
        self.goes_on = False

    def on_body(self, data: bytes) -> None:
        self.parts.append(data)

    def on_message_complete(self) -> None:
        self.whole = True
        # It knows only now.
        self.goes_on = self.parser.should_keep_alive()
