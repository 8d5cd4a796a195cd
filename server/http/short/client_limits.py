"""The HTTP protocol with limits that uvicorn does not have: size of the head, time for head, body and answer.

A client that opens a connection and sends a byte now and then holds it, and memory, for as long as it
likes. Here the head must be there after `client_timeout_s`, each further piece of a body as well, and address
and headers together may not be larger than `max_header_bytes`. A client that takes nothing of its answer for
as long is let go of.
"""

import asyncio
import re
from asyncio.events import TimerHandle
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from uvicorn._types import ASGI3Application
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

from server.http.access.cors import CrossOrigin
from server.http.short.gathering import GatheringTransport
from server.http.short.handover import offer_outlet
from server.http.short.head_refusals import refusal
from server.http.short.repeats import Head, Headers, KnownHeads, KnownTails
from server.runtime.settings import Settings
from server.writes.updating import OUTCOME

Lane = Callable[[bytes, Headers], list[bytes] | None]
"""Answers a GET of a target at once (head, without the server's own headers, and body), or not (None)."""


class Taker(Protocol):
    """Answers a POST with a small body, or leaves it to the application."""

    def head_of(self, target: bytes, headers: Headers) -> Head | None:
        """What a head says, if the body may be worth waiting for."""
        ...

    def take(self, head: Head, body: bytes, answer: Callable[[Any], None]) -> bool:
        """Whether it is taken; `answer` is then called with head and body, or with what came of it."""
        ...


def limited_protocol(
    settings: Settings, lane: Lane | None = None, taker: Taker | None = None
) -> type[HttpToolsProtocol]:
    """The class to hand to uvicorn as `http`; what `lane` or `taker` answers the application never sees."""

    class ConfiguredProtocol(LimitedProtocol):
        head_limit = settings.max_header_bytes
        patience_s = settings.client_timeout_s
        pages = CrossOrigin(settings.page_origins)

        posts = taker
        known = KnownHeads()
        known_gets = KnownTails()

        def quick_answer(self, target: bytes, headers: Headers) -> list[bytes] | None:
            return None if lane is None else lane(target, headers)

    return ConfiguredProtocol


class LimitedProtocol(HttpToolsProtocol):
    """One connection. Answers by itself, and closes, where no application could (`head_refusals`)."""

    head_limit = 131_072
    patience_s = 30.0
    pages = CrossOrigin(())
    posts: Taker | None = None
    known = KnownHeads()
    known_gets = KnownTails()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._head_bytes = 0
        self._in_head = True
        self._answered = False
        # A request whose body is looked at before the application gets it, if it ever does.
        self._offers: Head | None = None
        self._offered: tuple[RequestResponseCycle, ASGI3Application, Head] | None = None
        # The head of the request that was taken last, if its like may be taken without the parser.
        self._repeatable: Head | None = None
        # The headers of the GET that was answered last, if its like may be answered without the parser.
        self._answerable: Headers | None = None
        # Such a request is under way; what comes meanwhile waits.
        self._repeats = False
        self._early: list[bytes] = []
        self._closes = False
        # What came of such a request, for the application to tell.
        self._outcome: Any = None
        # What is to be answered to the bytes that came last, after the requests before them.
        self._refused: int | None = None
        self._timer: TimerHandle | None = None
        self._stall: TimerHandle | None = None

    def quick_answer(self, target: bytes, headers: Headers) -> list[bytes] | None:
        """The answer to a GET whose head has come, where it can be told at once."""
        return None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._gathering = GatheringTransport(transport, self.loop)
        super().connection_made(self._gathering)  # type: ignore[arg-type]
        self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        self._end_stall()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._end_stall()
        self._stall = self.loop.call_later(self.patience_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._end_stall()
        super().resume_writing()

    def _end_stall(self) -> None:
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None

    def send_400_response(self, msg: str) -> None:
        """As a problem, and never into the middle of the answer to an earlier request."""
        self._refuse(400)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing() or self._refused is not None:
            return
        if self._repeats:
            self._early.append(data)
            self.flow.pause_reading()
            return
        idle = self._in_head and not self._head_bytes and not self._is_answering()
        if idle and (self._answer_like(data) or self._take_repeated(data)):
            return
        self._read(data)
        if self._answerable is not None:
            if idle:
                self.known_gets.learn(data, self._answerable)
            self._answerable = None
        if self._repeatable is not None:
            if idle:
                self.known.learn(data, self._repeatable)
            self._repeatable = None

    def shutdown(self) -> None:
        """Let the client go, after the answer to the request under way."""
        if self._repeats:
            self._closes = True
        else:
            super().shutdown()

    def _answer_like(self, data: bytes) -> bool:
        """Whether the data are one GET with a head like one that came before, and it was answered at once."""
        found = None if self.flow.write_paused or len(data) > self.head_limit else self.known_gets.find(data)
        answer = None if found is None else self.quick_answer(*found)
        if answer is None:
            return False
        self._gathering.send(b"%b%b\r\n%b" % (answer[0], self._own_headers(), answer[1]))
        self.on_response_complete()
        self._wait()
        return True

    def _take_repeated(self, data: bytes) -> bool:
        """Whether the data are one request with a head that came before, and somebody has taken it."""
        found = None if self.posts is None or self.flow.write_paused else self.known.find(data)
        if found is None or self.posts is None:
            return False
        self._repeats = self.posts.take(*found, partial(self._answer_repeated, data))
        if self._repeats:
            self._stop_waiting()
            self._unset_keepalive_if_required()
        return self._repeats

    def _answer_repeated(self, data: bytes, told: Any) -> None:
        self._repeats = False
        if self.transport.is_closing():
            return
        if isinstance(told, list):
            self._gathering.send(b"%b%b\r\n%b" % (told[0], self._own_headers(), told[1]))
            self.on_response_complete()
        else:
            self._outcome = told
            self._read(data)
        if self._closes:
            super().shutdown()
        early, self._early = self._early, []
        for piece in early:
            self.data_received(piece)

    def _own_headers(self) -> bytes:
        """The server's headers, which it replaces every second."""
        return b"".join(b"%b: %b\r\n" % header for header in self.server_state.default_headers)

    def _read(self, data: bytes) -> None:
        if self._in_head:
            # Counted before the parser: it keeps what it cannot yet hand on.
            self._head_bytes += len(data)
        super().data_received(data)
        if self._in_head and self._head_bytes > self.head_limit:
            told = len(self.url) if self.url else 0
            self._refuse(414 if told > self.head_limit // 2 else 431)
        elif not self._in_head or (self._timer is None and not self._is_answering()):
            self._wait()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._in_head = True
        if self._timer is None:
            self._wait()

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > self.head_limit:
            self._refuse(414)

    def on_headers_complete(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.head_limit:
            self._refuse(414 if len(self.url) > self.head_limit // 2 else 431)
        if not self.url.startswith(b"/"):
            self._take_authority()
        hosts = sum(name == b"host" for name, _ in self.headers)
        if hosts != 1 and self.parser.get_http_version() == "1.1":
            # RFC 9112, 3.2: none, or two of which a proxy may have taken the other one.
            self._refuse(400)
        codings = [value.lower() for name, value in self.headers if name == b"transfer-encoding"]
        if codings not in ([], [b"chunked"]):
            # RFC 9112, 6.1: where the body ends is then a matter of opinion.
            self._refuse(501)
        if self.transport.is_closing() or self._refused is not None:
            return
        self._answered = self._answer_quickly()
        if not self._answered:
            self._offers = self._may_offer()
            # Raises for a target that is none: then the request is refused as one that is still in its head.
            super().on_headers_complete()
            self._offers = None
            self._wait()
        self._in_head = False
        self._head_bytes = 0

    def _take_authority(self) -> None:
        """In a target with a host, that host is what counts, and not the header (RFC 9112, 3.2.2)."""
        found = _ABSOLUTE.match(self.url)
        if found is None:
            return
        if b"@" in found[2]:
            # RFC 9110, 4.2.4: it makes one host look like another.
            self._refuse(400)
        elif found[1].lower() != b"http":
            self._refuse(421)
        else:
            self.headers[:] = [one for one in self.headers if one[0] != b"host"] + [(b"host", found[2])]

    def on_body(self, body: bytes) -> None:
        if not (self._answered or self._refused is not None or self.transport.is_closing()):
            super().on_body(body)

    def on_message_complete(self) -> None:
        self._stop_waiting()
        if self._answered:
            self._answered = False
            self.on_response_complete()
        elif self._refused is None and not self.transport.is_closing():
            super().on_message_complete()
            if self._offered is not None:
                (cycle, app, head), self._offered = self._offered, None
                if not self._offer(cycle, app, head):
                    super()._start_asgi_task(cycle, app)
        self._in_head = True
        self._head_bytes = 0

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        offer_outlet(cycle, self.patience_s)
        if self._offers is not None:
            self._offered = cycle, app, self._offers
        else:
            if self._outcome is not None:
                cycle.scope["state"][OUTCOME], self._outcome = self._outcome, None
            super()._start_asgi_task(cycle, app)

    def _may_offer(self) -> Head | None:
        if self.posts is None or self._outcome is not None or self.parser.get_method() != b"POST":
            return None
        if self._is_answering() or self.flow.write_paused or self.parser.get_http_version() != "1.1":
            return None
        return self.posts.head_of(self.url, self.headers)

    def _offer(self, cycle: RequestResponseCycle, app: ASGI3Application, offered: Head) -> bool:
        """Whether somebody has taken the request, and will answer without the application."""
        assert self.posts is not None
        start = super()._start_asgi_task

        def answer(told: Any) -> None:
            if cycle.disconnected or self.transport.is_closing():
                return
            if not isinstance(told, list):
                cycle.scope["state"][OUTCOME] = told
                start(cycle, app)
                return
            head, body = told
            own = b"".join(b"%b: %b\r\n" % header for header in cycle.default_headers)
            last = b"" if cycle.keep_alive else b"connection: close\r\n"
            cycle.response_started = cycle.response_complete = True
            self.transport.write(b"%b%b%b\r\n%b" % (head, own, last, body))
            if not cycle.keep_alive:
                self.transport.close()
            self.on_response_complete()

        taken = self.posts.take(offered, bytes(cycle.body), answer)
        if taken and cycle.keep_alive:
            self._repeatable = offered
        return taken

    def _answer_quickly(self) -> bool:
        if self.parser.get_method() != b"GET" or self.parser.get_http_version() != "1.1":
            return False
        if self._is_answering() or self.flow.write_paused or not self.parser.should_keep_alive():
            return False
        answer = self.quick_answer(self.url, self.headers)
        if answer is None:
            return False
        self.transport.write(b"%b%b\r\n%b" % (answer[0], self._own_headers(), answer[1]))
        self._answerable = self.headers
        return True

    def _wait(self) -> None:
        self._stop_waiting()
        if self._refused is not None:
            return
        self._timer = self.loop.call_later(self.patience_s, self._lose_patience)

    def _stop_waiting(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _lose_patience(self) -> None:
        self._timer = None
        if self.flow.read_paused or (self._in_head and self._is_answering()):
            # The application does not read, or still answers; the client is not to blame.
            self._wait()
        elif self._in_head and self._head_bytes == 0:
            # Connected and said nothing, as browsers do to be quick later.
            self.transport.close()
        else:
            self._refuse(408)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def on_response_complete(self) -> None:
        was_last = not self.pipeline
        super().on_response_complete()
        if was_last and self._refused is not None and not self.transport.is_closing():
            self._tell_refusal(self._refused)

    def _refuse(self, status: int) -> None:
        """Answer, after the answers to all earlier requests, and close."""
        if self.transport.is_closing() or self._refused is not None:
            return
        self._stop_waiting()
        if not self._in_head and self.pipeline and self.pipeline[0][0] is self.cycle:
            # The body of a request that waits for its turn: it never gets it.
            self.pipeline.popleft()
            self._refused = status
        elif self._in_head and self._is_answering():
            self._refused = status
        elif not self._in_head and self.cycle.response_started:
            self.transport.close()
        else:
            self._tell_refusal(status)

    def _tell_refusal(self, status: int) -> None:
        path = self.url.partition(b"?")[0].decode("latin-1") if self.url else ""
        origin = next(
            (value.decode("latin-1") for name, value in self.headers or () if name == b"origin"), None
        )
        self.transport.write(refusal(status, self.pages.headers(path, origin)))
        self.transport.close()


# The host in a target may be empty: then the Host header would be, too.
_ABSOLUTE = re.compile(rb"([A-Za-z][A-Za-z0-9+.\-]*)://([^/?#]*)")
