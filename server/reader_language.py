"""The languages that the reader of an answer prefers, by `Accept-Language` (RFC 9110, 12.5.4).

The messages of shapes are chosen where answers are written, in many places and on threads; so the request's
languages are a variable of its context. An answer in which they mattered varies by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from sparql.model.change import Rejection, Violation

_FIELD = b"accept-language"


class Reader:
    """Who reads the answer to a request; `asked` says whether a message was chosen for them."""

    def __init__(self, scope: Scope) -> None:
        self._headers: Sequence[tuple[bytes, bytes]] = scope["headers"]
        self.asked = False

    @property
    def languages(self) -> tuple[str, ...]:
        """The preferred first; none where any will do."""
        self.asked = True
        fields = (value.decode("latin-1") for name, value in self._headers if name == _FIELD)
        return parse_accept_language(",".join(fields))

    def mark(self, headers: MutableHeaders) -> None:
        """Say that the answer varies by language, where it does."""
        if self.asked:
            headers.add_vary_header("Accept-Language")


_READER: ContextVar[Reader | None] = ContextVar("reader", default=None)


@contextmanager
def reading(scope: Scope) -> Iterator[Reader]:
    """Write answers for the reader of a request in this block."""
    reader = Reader(scope)
    token = _READER.set(reader)
    try:
        yield reader
    finally:
        _READER.reset(token)


def for_reader(violation: Violation) -> Violation:
    """The violation with its message in a language that the reader prefers, else in that of the setting."""
    reader = _READER.get()
    return violation if reader is None else violation.in_language(reader.languages)


def rejection_for_reader(rejection: Rejection) -> Rejection:
    """The rejection with the messages of all its violations so."""
    return replace(rejection, violations=tuple(map(for_reader, rejection.violations)))


def parse_accept_language(header: str) -> tuple[str, ...]:
    """The languages of the header, the preferred first; `*` and what has no weight are left out."""
    found: list[tuple[float, str]] = []
    for entry in header.split(","):
        language, *parameters = (part.strip() for part in entry.split(";"))
        weight = _weight(parameters)
        if language and language != "*" and weight > 0:
            found.append((weight, language))
    return tuple(language for _, language in sorted(found, key=lambda one: -one[0]))


class ReaderLanguages:
    """ASGI middleware: what it passes on is answered for its reader."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on, and mark the answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with reading(scope) as reader:

            async def marking(message: Message) -> None:
                if message["type"] == "http.response.start":
                    reader.mark(MutableHeaders(raw=message["headers"]))
                await send(message)

            await self._app(scope, receive, marking)


def _weight(parameters: Sequence[str]) -> float:
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip().lower() == "q":
            try:
                return min(1.0, max(0.0, float(value)))
            except ValueError:
                return 0.0
    return 1.0
