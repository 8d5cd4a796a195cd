"""Who may do what: one dependency per scope, named by every route.

As long as no key exists, writes are open to programs on this machine, and to nobody else. A page in the
user's browser can reach a server on loopback, but its `Origin` is not that of the server's own pages; a proxy
on this machine passes on requests of others, but says so in their headers. Once a key exists, every write
needs one with the right scope; reads stay open unless `open_reads` is off.
"""

from collections.abc import Awaitable, Callable, Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.requests import Request

from server.errors import ForeignOrigin, KeyInAddress, KeyNeeded, OpenWritesRefused, ScopeMissing
from server.http.access.hosts import PATHS, HostNames, host_and_port, is_loopback
from server.http.access.keys import KEY_PATTERN, Authenticator, Scope
from server.settings import Settings

_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_PROXIES_SAY = frozenset({b"forwarded", b"via", b"x-real-ip"})
_PORTS = {"http": 80, "https": 443}
_Origin = tuple[str, str, int | None]


def refuse_open_writes(settings: Settings, *, has_keys: bool = False) -> None:
    """Raises `OpenWritesRefused` when the server would listen to other machines with writes open."""
    if not is_loopback(settings.host) and not has_keys:
        raise OpenWritesRefused(settings.host)


def open_to_whom(settings: Settings, *, has_keys: bool) -> list[str]:
    """Who may read and write over HTTP with these settings, in sentences for the operator."""
    open_writes = not has_keys and is_loopback(settings.host)
    reach = "programs on this machine" if is_loopback(settings.host) else "everybody who reaches this address"
    keyed = "those with a key of the scope"
    if settings.open_reads:
        reads = (
            f"{reach}, and every client that comes through a proxy here"
            if is_loopback(settings.host)
            else reach
        )
    else:
        reads = f"{reach}, but for proxies" if open_writes else f"{keyed} 'read'"
    pages = "any origin" if "*" in settings.page_origins else ", ".join(settings.page_origins)
    notes = [
        f"Reads are open to {reads}.",
        f"Writes are open to {reach}, but for proxies and web pages of other origins; "
        "make a key before you put a proxy in front (`urbankg key create`)."
        if open_writes
        else f"Writes are open to {keyed} 'write'.",
        f"The SPARQL endpoint may be read by web pages of {pages}."
        if pages
        else "Web pages of other origins may read nothing.",
    ]
    if "*" in settings.allowed_host_names:
        notes.append(
            "Any host name is answered: a web page that has its own name point here reads everything."
        )
    return notes


def is_proxied(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether headers (names in lower case) say that a proxy passed the request on for somebody else."""
    return any(name in _PROXIES_SAY or name.startswith(b"x-forwarded") for name, _ in headers)


def refuse_key_in_address(request: Request) -> None:
    """Raises `KeyInAddress`."""
    if b"ukg_" in request.scope["query_string"] and KEY_PATTERN.search(request.url.query):
        raise KeyInAddress()


class Guard:
    """Checks who sends a request against what it is about to do.

    A key comes as `Authorization: Bearer` (RFC 6750, 2.1) or as `X-API-Key`, never in the address, which
    ends up in logs and histories.
    """

    def __init__(self, settings: Settings, keys: Authenticator) -> None:
        self.hosts = HostNames(settings)
        self._public_origin = _origin_of(settings.public_url) if settings.public_url else None
        self._open_reads = settings.open_reads
        self._local = is_loopback(settings.host)
        self._keys = keys

    def requires(self, scope: Scope) -> "ScopeDependency":
        """A dependency for routes that need this scope: `Depends(guard.requires(Scope.WRITE))`."""
        return ScopeDependency(self.check, scope)

    def reads_are_open(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a request with these headers, and without a key, may read."""
        return self._open_reads or self.writes_are_open(headers)

    def writes_are_open(self, headers: Iterable[tuple[bytes, bytes]]) -> bool:
        """Whether a program's request with these headers, and without a key, may write."""
        return self._local and not self._keys.any_key() and not is_proxied(headers)

    def key_name(self, request: Request) -> str | None:
        """The name of the key that came with a request that was checked; None when it came without."""
        token = _token(request)
        key = None if token is None else self._keys.authenticate(token)
        return None if key is None else key.name

    def access(self, request: Request) -> tuple[str | None, frozenset[Scope]]:
        """The name of the key that came with a request, and all that it may do. Raises `KeyNeeded` (401)."""
        token = _token(request)
        if token is not None:
            key = self._keys.authenticate(token)
            if key is None:
                raise KeyNeeded("The key is not known here, or expired, or revoked", Scope.READ, sent=True)
            return key.name, frozenset(scope for scope in Scope if key.allows(scope)) | self._open()
        return None, frozenset(Scope) if self.writes_are_open(request.scope["headers"]) else self._open()

    def _open(self) -> frozenset[Scope]:
        return frozenset({Scope.READ}) if self._open_reads else frozenset()

    async def check(self, request: Request, *scopes: Scope) -> None:
        """Pass a request that may do what one of these scopes allows.

        Raises `KeyNeeded` (401), `ScopeMissing` (403), `ForeignOrigin` (403) and `KeyInAddress` (400).
        """
        refuse_key_in_address(request)
        token = _token(request)
        if token is not None:
            self._check_token(token, scopes)
        elif Scope.READ in scopes and (self._open_reads or self.writes_are_open(request.scope["headers"])):
            # Without `open_reads` too: a client that may write here may also read.
            self._check_reader(request)
        elif self.writes_are_open(request.scope["headers"]):
            self._check_origin(request)
        elif is_proxied(request.scope["headers"]) and self._local and not self._keys.any_key():
            raise KeyNeeded("This came through a proxy, so it needs a key", scopes[0])
        else:
            raise KeyNeeded("This needs a key", scopes[0])

    def _check_token(self, token: str, scopes: tuple[Scope, ...]) -> None:
        key = self._keys.authenticate(token)
        if key is None:
            raise KeyNeeded("The key is not known here, or expired, or revoked", scopes[0], sent=True)
        if not any(key.allows(scope) or scope in self._open() for scope in scopes):
            raise ScopeMissing(key.name, scopes[0])

    def _check_reader(self, request: Request) -> None:
        """A page of another origin, which may not read the answer, may not have it computed either.

        A browser sends a page's POST without asking where it has no media type. The endpoint's own addresses
        are left to CORS.
        """
        if request.method in _SAFE or request.url.path in PATHS or "origin" not in request.headers:
            return
        # Sent by the browser itself (Fetch Metadata), also where a proxy has put another host in.
        if request.headers.get("sec-fetch-site") != "same-origin":
            self._check_origin(request)

    def _check_origin(self, request: Request) -> None:
        """A page of this server has the origin that it sends its requests to, or that of `public_url`."""
        hosts = request.headers.getlist("host")
        for host in hosts:
            if not self.hosts.knows(host.encode("latin-1")):
                raise ForeignOrigin(host)
        own = {_origin_of(f"http://{host}") for host in hosts}
        for origin in request.headers.getlist("origin"):
            found = _origin_of(origin)
            if found is None or found not in own | {self._public_origin}:
                raise ForeignOrigin(origin)


class ScopeDependency:
    """The check for one scope, in the form that routes depend on."""

    def __init__(self, check: Callable[..., Awaitable[None]], scope: Scope) -> None:
        self._check = check
        self.scope = scope

    async def __call__(self, request: Request) -> None:
        await self._check(request, self.scope)


def _token(request: Request) -> str | None:
    """What is sent as a key; Basic and other schemes are somebody else's (a proxy's) and no key."""
    given = request.headers.get("authorization")
    if given is not None:
        scheme, _, token = given.partition(" ")
        if scheme.lower() == "bearer":
            return token.strip()
    return request.headers.get("x-api-key")


@lru_cache(maxsize=64)
def _origin_of(url: str) -> _Origin | None:
    """Scheme, host and port of an address; None for what has none, as the origin `null`."""
    try:
        found = urlsplit(url)
    except ValueError:
        return None
    name, port = host_and_port(found.netloc)
    return (found.scheme, name, port or _PORTS.get(found.scheme)) if name else None
