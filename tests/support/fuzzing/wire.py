"""Bytes to a server and answers from it, with nothing in between that would correct them."""

from __future__ import annotations

import http.client
import socket
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Self, cast
from urllib.parse import urlsplit

from tests.support.fuzzing.ledger import HANG_S, Answer


@dataclass(frozen=True)
class Exchange:
    """What is sent on one connection: pieces with the seconds to wait before each.

    ``method`` decides whether the answer has a body; ``answers`` is how many are read; ``half_close`` ends
    our side when all is sent.
    """

    name: str
    pieces: tuple[tuple[float, bytes], ...]
    method: str = "GET"
    answers: int = 1
    half_close: bool = False


def request(
    method: str,
    target: str | bytes,
    headers: Mapping[str, str | bytes] | None = None,
    body: bytes = b"",
    *,
    length: bool = True,
) -> bytes:
    """A request as bytes, exactly as given; Host and Content-Length are added where they are missing."""
    found: dict[str, str | bytes] = {"Host": "127.0.0.1", "Connection": "close"}
    if length and (body or method in ("POST", "PUT")):
        found["Content-Length"] = str(len(body))
    found.update(headers or {})
    raw = target if isinstance(target, bytes) else target.encode("utf-8", "surrogatepass")
    lines = [method.encode() + b" " + raw + b" HTTP/1.1"]
    for name, value in found.items():
        lines.append(name.encode() + b": " + (value if isinstance(value, bytes) else value.encode("latin-1")))
    return b"\r\n".join(lines) + b"\r\n\r\n" + body


def exchange(url: str, sent: Exchange, hang_s: float = HANG_S) -> list[Answer]:
    """Send it and read the answers; the last one reports the end where there are fewer than expected."""
    started = time.monotonic()
    found: list[Answer] = []
    host = urlsplit(url)
    try:
        with socket.create_connection((host.hostname or "", host.port or 80), timeout=hang_s) as connection:
            # What is refused before all of it was taken may have its answer here already.
            with suppress(ConnectionError):
                _send(connection, sent)
            with _Shared(connection) as source:
                for _ in range(sent.answers):
                    found.append(_read(source, sent.method, started))
    except TimeoutError:
        found.append(Answer(None, time.monotonic() - started, hung=True))
    except (OSError, http.client.HTTPException, ValueError):
        found.append(Answer(None, time.monotonic() - started))
    return found


def _send(connection: socket.socket, sent: Exchange) -> None:
    for pause, piece in sent.pieces:
        if pause:
            time.sleep(pause)
        connection.sendall(piece)
    if sent.half_close:
        connection.shutdown(socket.SHUT_WR)


class _Shared:
    """Stands in for the socket of several responses, so that none takes what belongs to the next."""

    def __init__(self, connection: socket.socket) -> None:
        self._file = connection.makefile("rb")

    def makefile(self, mode: str) -> _Shared:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)

    def flush(self) -> None:
        return None

    def close(self) -> None:
        """Only the end of the block closes it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def _read(source: _Shared, method: str, started: float) -> Answer:
    response = http.client.HTTPResponse(cast("socket.socket", source), method=method)
    response.begin()
    body = b""
    try:
        body = response.read()
    except http.client.IncompleteRead as error:
        body = error.partial
    return Answer(response.status, time.monotonic() - started, body=body)


def once(name: str, data: bytes, method: str = "GET") -> Exchange:
    """Everything at once, one answer."""
    return Exchange(name, ((0.0, data),), method)


def dribbled(name: str, data: Iterable[bytes], pause: float, method: str = "GET") -> Exchange:
    """Piece by piece, with a pause before each."""
    return Exchange(name, tuple((pause, piece) for piece in data), method)
