"""Limits per connection that uvicorn does not have, and heads that no application can refuse.

Without them a client that sends a byte now and then holds a connection, and memory, for as long as it likes.
The whole head must arrive within `client_timeout_s`, and so must each further piece of a body. Address and
headers together may not exceed `LimitedProtocol.head_limit`. A client that does not read its answer for
`client_timeout_s` is disconnected.

uvicorn has no hooks for this, so its protocol class is extended. This is the only module that depends on
the inside of uvicorn, whose version is pinned for that reason. Beside the callbacks of asyncio and httptools
it overrides `send_400_response` and `on_response_complete`, and reads `transport`, `loop`, `parser`, `url`,
`headers`, `cycle.response_started` and `flow.read_paused`.
"""

from __future__ import annotations

import asyncio
import re
from asyncio.events import TimerHandle
from collections.abc import Iterable
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from server.http.access.hosts import CrossOrigin
from server.http.reporting.problems import MEDIA_TYPE
from server.settings import Settings

RawHeaders = list[tuple[bytes, bytes]]
"""Names in lower case, and values."""

_MESSAGES: Final = {
    400: (
        "Bad Request",
        "This cannot be read as HTTP; check the request's head, its lengths and its chunks.",
    ),
    408: ("Request Timeout", "The request did not arrive in time; send it again without pauses."),
    414: ("URI Too Long", "The address is too long; send the query by POST, as the body."),
    421: (
        "Misdirected Request",
        "This server speaks http only; send the path alone, or an address that begins with http.",
    ),
    431: ("Request Header Fields Too Large", "The headers are too large; send fewer or shorter ones."),
    501: (
        "Not Implemented",
        "The only transfer coding that is understood is chunked; send the body without others.",
    ),
}
# The host in a target may be empty: then the Host header would be, too.
_ABSOLUTE = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)")


class HeadRefused(Exception):
    """The head of a request is refused with this status."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


def check_head(target: bytes, headers: RawHeaders, *, version: str, limit: int) -> None:
    """Check a head; the host of an absolute target replaces the Host header. Raises `HeadRefused`."""
    size = len(target) + sum(len(name) + len(value) + 4 for name, value in headers)
    if size > limit:
        raise HeadRefused(too_large(target, limit))
    if not target.startswith(b"/"):
        _take_authority(target, headers)
    hosts = sum(name == b"host" for name, _ in headers)
    if hosts != 1 and version == "1.1":
        # RFC 9112, 3.2. A proxy may have read the other one of two.
        raise HeadRefused(400)
    codings = [value.lower() for name, value in headers if name == b"transfer-encoding"]
    if codings not in ([], [b"chunked"]):
        # RFC 9112, 6.1: recipients would disagree on where the body ends.
        raise HeadRefused(501)


def too_large(target: bytes, limit: int) -> int:
    """The status for a head beyond the limit: 414 where most of it is the target."""
    return 414 if len(target) > limit // 2 else 431


def refusal(status: int, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """A problem with this status as a whole HTTP message, with these headers beside its own."""
    title, detail = _MESSAGES[status]
    body = f'{{"type": "about:blank", "title": "{title}", "status": {status}, "detail": "{detail}"}}'
    more = b"".join(b"%b: %b\r\n" % header for header in headers)
    head = f"HTTP/1.1 {status} {title}\r\ncontent-type: {MEDIA_TYPE}\r\nconnection: close\r\n"
    return head.encode() + more + f"content-length: {len(body)}\r\n\r\n{body}".encode()


def _take_authority(target: bytes, headers: RawHeaders) -> None:
    """The host in a target takes precedence over the header (RFC 9112, 3.2.2)."""
    found = _ABSOLUTE.match(target)
    if found is None:
        return
    if b"@" in found[2]:
        # RFC 9110, 4.2.4: it makes one host look like another.
        raise HeadRefused(400)
    if found[1].lower() != b"http":
        raise HeadRefused(421)
    headers[:] = [one for one in headers if one[0] != b"host"] + [(b"host", found[2])]


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


def limited_protocol(settings: Settings) -> type[HttpToolsProtocol]:
    """The class to pass to uvicorn as `http`."""

    class ConfiguredProtocol(LimitedProtocol):
        timeout_s = settings.client_timeout_s
        pages = CrossOrigin(settings.page_origins)

    return ConfiguredProtocol


class LimitedProtocol(HttpToolsProtocol):
    """One connection. It refuses what `head_checks` describes, after the answers to earlier requests."""

    head_limit = 131_072
    timeout_s = 30.0
    pages = CrossOrigin(())

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_bytes = 0
        self._in_head = True
        # Requests whose head is complete and whose answer is not.
        self._unanswered = 0
        # The status of a refusal, and how many answers are to be finished before it is sent.
        self._refused: int | None = None
        self._answers_before = 0
        self._timer: TimerHandle | None = None
        self._stall: TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(JoinedWrites(transport, self.loop))
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._end_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._end_stall()
        self._stall = self.loop.call_later(self.timeout_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._end_stall()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() or self._refused is not None:
            return
        if self._in_head:
            # Counted before the parser, which keeps what it cannot pass on yet.
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self.head_limit:
            self._refuse(too_large(self.url or b"", self.head_limit))
        elif not self._in_head or (self._timer is None and not self._unanswered):
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """Called when the parser fails, also because of `HeadRefused`."""
        self._refuse(400)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        if self._timer is None:
            self._wait()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self.head_limit:
            self._refuse(414)
            raise HeadRefused(414)

    def on_headers_complete(self) -> None:
        try:
            version = self.parser.get_http_version()
            check_head(self.url, self.headers, version=version, limit=self.head_limit)
        except HeadRefused as refused:
            self._refuse(refused.status)
            # Ends the parsing.
            raise
        super().on_headers_complete()
        self._unanswered += 1
        self._in_head = False
        self._head_bytes = 0
        self._wait()

    def on_message_complete(self) -> None:
        self._stop_waiting()
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._unanswered -= 1
        if self._refused is not None:
            self._answers_before -= 1
            self._send_refusal()

    def _wait(self) -> None:
        self._stop_waiting()
        if self._refused is None:
            self._timer = self.loop.call_later(self.timeout_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def _give_up(self) -> None:
        self._timer = None
        if self.flow.read_paused or (self._in_head and self._unanswered):
            # The application does not read, or still answers: not the client's fault.
            self._wait()
        elif self._in_head and self._head_bytes == 0:
            # Browsers open connections in advance and send nothing.
            self.transport.close()
        else:
            self._refuse(408)

    def _refuse(self, status: int) -> None:
        """Answer with this status, after the answers to all earlier requests, and close."""
        if self._refused is not None:
            return
        self._stop_waiting()
        self._refused = status
        # A request that is refused in its body is never answered itself.
        self._answers_before = self._unanswered - (not self._in_head)
        self._send_refusal()

    def _send_refusal(self) -> None:
        if self._answers_before > 0 or self._refused is None or self.transport.is_closing():
            return
        if self._in_head or not (self._unanswered == 0 or self.cycle.response_started):
            path = self.url.partition(b"?")[0].decode("latin-1") if self.url else ""
            origin = next(
                (value.decode("latin-1") for name, value in self.headers or () if name == b"origin"), None
            )
            self.transport.write(refusal(self._refused, self.pages.headers(path, origin)))
        self.transport.close()
