"""The names that this server answers to: a request for any other name is misdirected (RFC 9110, 7.4).

A web page can have the name of its own site resolve to 127.0.0.1 (DNS rebinding). The browser then takes this
server for that site, and would let the page read everything. The name in `Host` shows it. Its port is not
compared: whatever forwards a port (`ssh -L`, a container) keeps the name that the client used, and a page
cannot choose the name of the machine itself.

Which web pages of other origins may read answers is the CORS protocol of the Fetch standard: none, unless
`cors_origins` names them or is `*`; and then the SPARQL endpoint, the service description and VoID only. A
browser sends the requests of a page all the same: what a page may change is decided by
`server.http.access.guard`, and reading is what it cannot do without these headers.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from server.errors import Misdirected
from server.http.reporting.problems import ProblemMap
from server.settings import Settings

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\s\[\]:/?#@\\]+)(?::(\d{0,5}))?")
ANY = "*"


class HostNames:
    """The names of the address served, of `public_url` and of `allowed_hosts`, and the machine's own.

    A server that listens beyond this machine has addresses that it does not know of. It accepts any IP
    address as its name: what is reached by an address was not looked up, so nobody can have pointed it here.
    """

    def __init__(self, settings: Settings) -> None:
        public = urlsplit(settings.public_url or "").hostname
        named = {settings.host.strip("[]").lower(), *settings.allowed_host_names}
        self._names = frozenset(named | ({public.lower()} if public else set()))
        self._any = ANY in named
        self._any_address = not is_loopback(settings.host)
        self.knows = lru_cache(maxsize=256)(self._knows)

    def accepts(self, host: bytes) -> bool:
        """Whether what is sent to the value of this `Host` header is answered."""
        return self._any or self.knows(host)

    def _knows(self, host: bytes) -> bool:
        """Whether it names this server for sure, also where all names are accepted."""
        name, _ = host_and_port(host.decode("latin-1"))
        if name in self._names or is_loopback(name):
            return True
        return self._any_address and _is_address(name)


class OwnHosts:
    """ASGI middleware: answers 421 to what was sent to another name. A request without one is local."""

    def __init__(self, app: ASGIApp, names: HostNames, problems: ProblemMap) -> None:
        self._app = app
        self._names = names
        self._problems = problems

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "http":
            for name, value in scope["headers"]:
                if name == b"host" and not self._names.accepts(value):
                    refused = Misdirected(value.decode("latin-1"))
                    await self._problems.response(refused, scope["path"])(scope, receive, send)
                    return
        await self._app(scope, receive, send)


def host_and_port(host: str) -> tuple[str, int | None]:
    """The name (lower case, without brackets) and the port of a `Host` header; an empty name for no host."""
    found = _HOST.fullmatch(host)
    if found is None:
        return "", None
    return found[1].strip("[]").lower(), int(found[2]) if found[2] else None


def is_loopback(name: str) -> bool:
    """Whether a host name is the machine itself."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


PATHS = frozenset({"/sparql", "/query", "/.well-known/void"})
_EXPOSED = b"Content-Length, ETag, Link, Retry-After, Warning, WWW-Authenticate, X-API-Version, X-Request-Id"
_PREFLIGHT = (
    (b"access-control-allow-methods", b"GET, HEAD, POST"),
    (
        b"access-control-allow-headers",
        b"Accept, Authorization, Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Request-Id",
    ),
    (b"access-control-max-age", b"600"),
    (b"content-length", b"0"),
)

RawHeaders = list[tuple[bytes, bytes]]


class CrossOrigin:
    """The origins whose pages may read."""

    def __init__(self, origins: Iterable[str]) -> None:
        self._origins = frozenset(origins)

    def headers(self, path: str, origin: str | None) -> RawHeaders:
        """The headers that let a page of this origin read what is answered at this path; none for others."""
        if origin is None or path not in PATHS:
            return []
        if ANY in self._origins:
            allowed = b"*"
        elif origin in self._origins:
            allowed = origin.encode("latin-1")
        else:
            return []
        return [(b"access-control-allow-origin", allowed)]


class CrossOriginHeaders:
    """ASGI middleware: adds the headers to whatever is answered, errors too, and answers preflights."""

    def __init__(self, app: ASGIApp, pages: CrossOrigin) -> None:
        self._app = app
        self._pages = pages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, unless it asks what a page may send."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = Headers(scope=scope)
        allowed = self._pages.headers(scope["path"], sent.get("origin"))
        if allowed and scope["method"] == "OPTIONS" and "access-control-request-method" in sent:
            headers = [*allowed, *_PREFLIGHT, (b"vary", b"Origin")]
            await send({"type": "http.response.start", "status": 204, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return

        async def add(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                headers.add_vary_header("Origin")
                if allowed:
                    message["headers"] += [*allowed, (b"access-control-expose-headers", _EXPOSED)]
            await send(message)

        await self._app(scope, receive, add)
