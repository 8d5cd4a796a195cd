"""Who may do what: one dependency per scope, named by every route.

As long as no key exists, writes are open to programs on this machine, never to a web page of another
origin: a page in the user's browser can reach a server on loopback, but a foreign `Origin`, or a foreign
`Host` (a name that was pointed at 127.0.0.1), gives it away. Once a key exists, every write needs one with
the right scope; reads stay open unless `open_reads` is off.
"""

import ipaddress
from collections.abc import Awaitable, Callable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import Request

from server.errors import ForeignOrigin, KeyInAddress, KeyNeeded, OpenWritesRefused, ScopeMissing
from server.keys import KEY_PATTERN, Authenticator, Scope
from server.settings import Settings


def refuse_open_writes(settings: Settings, *, has_keys: bool = False) -> None:
    """Raises `OpenWritesRefused` when the server would listen to other machines with writes open."""
    if not is_loopback(settings.host) and not has_keys:
        raise OpenWritesRefused(settings.host)


class Guard:
    """Checks who sends a request against what it is about to do.

    A key comes as `Authorization: Bearer` (RFC 6750, 2.1) or as `X-API-Key`, never in the address, which
    ends up in logs and histories.
    """

    def __init__(self, settings: Settings, keys: Authenticator) -> None:
        public = urlsplit(settings.base_url).hostname
        self._names = {"localhost", settings.host.lower(), *([public.lower()] if public else [])}
        self._open_reads = settings.open_reads
        self._local = is_loopback(settings.host)
        self._keys = keys

    def requires(self, scope: Scope) -> "ScopeDependency":
        """A dependency for routes that need this scope: `Depends(guard.requires(Scope.WRITE))`."""
        return ScopeDependency(self.check, scope)

    @property
    def reads_are_open(self) -> bool:
        """Whether a request without a key may read."""
        return self._open_reads or (self._local and not self._keys.any_key())

    def writes_are_open(self, host: str) -> bool:
        """Whether a request of a program, with this `Host` and without a key, may write."""
        return self._local and not self._keys.any_key() and self._is_ours(_hostname("//" + host))

    def key_name(self, request: Request) -> str | None:
        """The name of the key that came with a request that was checked; None when it came without."""
        token = _token(request)
        key = None if token is None else self._keys.authenticate(token)
        return None if key is None else key.name

    async def check(self, request: Request, scope: Scope) -> None:
        """Raises `KeyNeeded` (401), `ScopeMissing` (403), `ForeignOrigin` (403) and `KeyInAddress` (400)."""
        if b"ukg_" in request.scope["query_string"] and KEY_PATTERN.search(request.url.query):
            raise KeyInAddress()
        token = _token(request)
        if token is not None:
            self._check_token(token, scope)
        elif scope is Scope.READ and self._open_reads:
            return
        elif self._local and not self._keys.any_key():
            # Open: reads without `open_reads` too, since whoever may write here may also read.
            if scope is not Scope.READ:
                self._check_origin(request)
        else:
            raise KeyNeeded("This needs a key", scope)

    def _check_token(self, token: str, scope: Scope) -> None:
        key = self._keys.authenticate(token)
        if key is None:
            raise KeyNeeded("The key is not known here, or expired, or revoked", scope, sent=True)
        if not key.allows(scope):
            raise ScopeMissing(key.name, scope)

    def _check_origin(self, request: Request) -> None:
        host = _hostname("//" + request.headers.get("host", "localhost"))
        if not self._is_ours(host):
            raise ForeignOrigin(f"the host name '{host}'")
        origin = request.headers.get("origin")
        if origin is not None and not self._is_ours(_hostname(origin)):
            raise ForeignOrigin(f"the origin '{origin}'")

    def _is_ours(self, name: str) -> bool:
        return name in self._names or is_loopback(name)


class ScopeDependency:
    """The check for one scope, in the form that routes depend on."""

    def __init__(self, check: Callable[[Request, Scope], Awaitable[None]], scope: Scope) -> None:
        self._check = check
        self.scope = scope

    async def __call__(self, request: Request) -> None:
        await self._check(request, self.scope)


def is_loopback(name: str) -> bool:
    """Whether a host name is the machine itself."""
    if name.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(name.strip("[]")).is_loopback
    except ValueError:
        return False


def _token(request: Request) -> str | None:
    """What is sent as a key; Basic and other schemes are somebody else's (a proxy's) and no key."""
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
    return request.headers.get("x-api-key")


@lru_cache(maxsize=64)
def _hostname(url: str) -> str:
    try:
        return (urlsplit(url).hostname or "").lower()
    except ValueError:
        return ""
