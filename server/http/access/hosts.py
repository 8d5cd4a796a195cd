"""The names that this server answers to: a request for any other name is misdirected (RFC 9110, 7.4).

A web page can have the name of its own site resolve to 127.0.0.1 (DNS rebinding). The browser then takes this
server for that site, and would let the page read everything. The name in `Host` shows it. Its port is not
compared: whatever forwards a port (`ssh -L`, a container) keeps the name that the client used, and a page
cannot choose the name of the machine itself.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.types import ASGIApp, Receive, Scope, Send

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
