"""Who may write while no key exists: programs on this machine, never a web page of another origin.

A page in the user's browser can reach a server on loopback. It cannot hide where it comes from: a
foreign `Origin`, or a foreign `Host` (a name that was pointed at 127.0.0.1), gives it away.
"""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import Request

from server.errors import ForeignOrigin, OpenWritesRefused
from server.settings import Settings


def refuse_open_writes(settings: Settings) -> None:
    """Raises `OpenWritesRefused` when the server would listen to other machines with writes open."""
    if not is_loopback(settings.host):
        raise OpenWritesRefused(settings.host)


class WriteGuard:
    """A dependency for every route that changes something. Raises `ForeignOrigin`."""

    def __init__(self, settings: Settings) -> None:
        public = urlsplit(settings.base_url).hostname
        self._names = {"localhost", settings.host.lower(), *([public.lower()] if public else [])}

    async def __call__(self, request: Request) -> None:
        host = _hostname("//" + request.headers.get("host", "localhost"))
        if not self._is_ours(host):
            raise ForeignOrigin(f"the host name '{host}'")
        origin = request.headers.get("origin")
        if origin is not None and not self._is_ours(_hostname(origin)):
            raise ForeignOrigin(f"the origin '{origin}'")

    def _is_ours(self, name: str) -> bool:
        return name in self._names or is_loopback(name)


def is_loopback(name: str) -> bool:
    """Whether a host name is the machine itself."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _hostname(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
