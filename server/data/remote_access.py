"""Fetches from other hosts for SERVICE and LOAD, without giving access to this network.

The engine's own HTTP client cannot be controlled, so it is never used: query workers have no network at all.
Requests are made here. A host must be listed in `remote_hosts`; its name is resolved once, all of its
addresses must be public, and the connection uses the checked address, so that later DNS answers have no
effect. Each redirect is checked in the same way. Time and size are limited, and nothing of the client's
(keys, cookies) is forwarded.
"""

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlsplit

from sparql.model.errors import FetchFailed, FetchRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
_DEFAULT_PORTS = {"http": 80, "https": 443}
_KEEP_METHOD = frozenset({307, 308})
_REDIRECTS = frozenset({301, 302, 303}) | _KEEP_METHOD
_MOST_REDIRECTS = 5
_NAT64 = ipaddress.ip_network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether an address is public, including an IPv4 address wrapped in IPv6."""
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id is not None or address.sixtofour is not None or address.teredo is not None:
            return False
        if address.ipv4_mapped is not None:
            return is_public(address.ipv4_mapped)
        if address in _NAT64:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address.is_global and not address.is_multicast and not address.is_reserved


async def resolve_name(host: str, port: int) -> Sequence[str]:
    """All addresses of a name. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


@dataclass(frozen=True)
class Fetched:
    """A document: its content, its media type and its final address."""

    content: bytes
    media_type: str
    url: str


@dataclass(frozen=True)
class _Place:
    """The target of an address; `authority` is the Host header."""

    scheme: str
    host: str
    port: int
    authority: str


@dataclass(frozen=True)
class RemoteAccess:
    """A client that reaches only `hosts` (`name`, or `name:port` for other ports than 80 and 443)."""

    hosts: frozenset[str]
    timeout_s: float = 20.0
    max_bytes: int = 20_000_000
    resolve: Resolve = resolve_name
    allowed: Callable[[Address], bool] = is_public

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()

    async def fetch(
        self, url: str, accept: str, *, form: Mapping[str, str] | None = None, timeout_s: float | None = None
    ) -> Fetched:
        """GET a document, or POST a form. Raises `FetchRefused` and `FetchFailed`."""
        # Imported with the first fetch: few servers allow any, and all should start quickly.
        import httpx

        limit_s = min(self.timeout_s, timeout_s or self.timeout_s)
        try:
            async with asyncio.timeout(limit_s):
                return await self._follow(url, accept, form)
        except TimeoutError as error:
            raise FetchFailed(url, f"there was no complete answer in {limit_s:g} s") from error
        except httpx.InvalidURL as error:
            raise FetchRefused(url, f"it is not a usable address ({error})") from error
        except httpx.HTTPError as error:
            raise FetchFailed(url, str(error) or type(error).__name__) from error

    async def _follow(self, url: str, accept: str, form: Mapping[str, str] | None) -> Fetched:
        import httpx

        secure = False
        for _ in range(_MOST_REDIRECTS + 1):
            place = self._check_url(url)
            if secure and place.scheme != "https":
                raise FetchRefused(url, "it was redirected from https to http")
            secure = place.scheme == "https"
            address = await self._check_address(url, place)
            found = await self._ask(url, place, address, accept, form)
            if isinstance(found, Fetched):
                return found
            status, location = found
            if form is not None and status not in _KEEP_METHOD:
                raise FetchFailed(url, f"it answers a POST with a redirect ({status})")
            url = str(httpx.URL(url).join(location))
        raise FetchFailed(url, f"it is redirected more than {_MOST_REDIRECTS} times")

    def _check_url(self, url: str) -> _Place:
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower().rstrip("."), parts.port
        except ValueError as error:
            raise FetchRefused(url, f"it is not a usable address ({error})") from error
        if parts.scheme not in _DEFAULT_PORTS or not host:
            raise FetchRefused(url, "only http and https addresses are fetched")
        if parts.username is not None or parts.password is not None:
            raise FetchRefused(url, "it holds a user name or password")
        usual = _DEFAULT_PORTS[parts.scheme]
        named = f"[{host}]" if ":" in host else host
        allowed = f"{named}:{port or usual}" in self.hosts or (port in (None, usual) and named in self.hosts)
        if not allowed:
            raise FetchRefused(url, f"'{named}' is not among remote_hosts; the operator can add it")
        return _Place(
            parts.scheme, host, port or usual, named if port in (None, usual) else f"{named}:{port}"
        )

    async def _check_address(self, url: str, place: _Place) -> Address:
        host = place.host
        try:
            found = [ipaddress.ip_address(one) for one in await self.resolve(host, place.port)]
        except (OSError, ValueError, UnicodeError) as error:
            raise FetchFailed(url, f"the name '{host}' cannot be resolved") from error
        if not found:
            raise FetchFailed(url, f"the name '{host}' has no address")
        # One private address is enough to refuse: the next lookup may return only that one.
        if not all(self.allowed(one) for one in found):
            raise FetchRefused(url, "its name resolves to an address that is not public")
        return found[0]

    async def _ask(
        self, url: str, place: _Place, address: Address, accept: str, form: Mapping[str, str] | None
    ) -> Fetched | tuple[int, str]:
        """The document, or the status and target of a redirect. Each request has its own client."""
        import httpx

        # Built from the checked parts, so that two parsers cannot read the address differently.
        target = httpx.URL(
            scheme=place.scheme, host=str(address), port=place.port, raw_path=httpx.URL(url).raw_path
        )
        # No compression: a small answer could unpack to more than the limit at once.
        headers = {"Host": place.authority, "Accept": accept, "Accept-Encoding": "identity"}
        async with (
            httpx.AsyncClient(verify=self._tls, trust_env=False, timeout=self.timeout_s) as client,
            client.stream(
                "GET" if form is None else "POST",
                target,
                headers=headers,
                data=None if form is None else dict(form),
                extensions={"sni_hostname": place.host},
            ) as response,
        ):
            if response.status_code in _REDIRECTS and "location" in response.headers:
                return response.status_code, response.headers["location"]
            if response.status_code != 200:
                raise FetchFailed(url, f"it answers {response.status_code}")
            if response.headers.get("content-encoding", "identity") != "identity":
                raise FetchFailed(url, "its answer is compressed, which was not asked for")
            content = bytearray()
            async for chunk in response.aiter_raw():
                content += chunk
                if len(content) > self.max_bytes:
                    raise FetchFailed(url, f"its answer is larger than {self.max_bytes} bytes")
        kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
        return Fetched(bytes(content), kind, url)


def hosts_of(setting: str) -> frozenset[str]:
    """The hosts of a comma-separated list, in lower case."""
    return frozenset(one.strip().lower() for one in setting.split(",") if one.strip())
