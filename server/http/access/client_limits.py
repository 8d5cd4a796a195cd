"""Limits per connection that uvicorn does not have: size of the head, time for head, body and answer.

Without them a client that sends a byte now and then holds a connection, and memory, for as long as it likes.
The whole head must arrive within `client_timeout_s`, and so must each further piece of a body. Address and
headers together may not exceed `max_header_bytes`. A client that does not read its answer for
`client_timeout_s` is disconnected.

uvicorn has no hooks for this, so its protocol class is extended. This is the only module that depends on
the inside of uvicorn, whose version is pinned for that reason. Beside the callbacks of asyncio and httptools
it overrides `send_400_response` and `on_response_complete`, and reads `transport`, `loop`, `parser`, `url`,
`headers`, `cycle.response_started` and `flow.read_paused`.
"""

import asyncio
from asyncio.events import TimerHandle
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from server.http.access.cors import CrossOrigin
from server.http.access.head_checks import HeadRefused, check_head, refusal, too_large
from server.http.access.joined_writes import JoinedWrites
from server.settings import Settings


def limited_protocol(settings: Settings) -> type[HttpToolsProtocol]:
    """The class to pass to uvicorn as `http`."""

    class ConfiguredProtocol(LimitedProtocol):
        head_limit = settings.max_header_bytes
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
