"""Who a request comes from: its key, else the address of the client, also behind a proxy that is trusted.

Readers are shared among clients, and the rate of requests is limited by client. What a proxy says of its
client (`Forwarded`, RFC 7239, or `X-Forwarded-For`) counts only where the setting `trusted_proxies` names the
proxy: anybody can send such a header.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

from starlette.requests import Request

from server.errors import StateUnreadable

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Scope


Network = IPv4Network | IPv6Network


def networks_of(text: str) -> tuple[Network, ...]:
    """Networks from addresses (`192.0.2.1`) and networks (`10.0.0.0/8`) with commas between.

    Raises ValueError for anything else, and for a network with an address inside of it (`10.1.0.0/8`).
    """
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())


RawHeaders = Iterable[tuple[bytes, bytes]]
"""Names in lower case, and values, as ASGI has them."""

_KEY_HEADERS = frozenset({b"authorization", b"x-api-key"})
_HOME_PREFIX = 64
"""A client with one IPv6 address has this network of them (RFC 6177)."""
# A forwarded-element is made of such pairs (RFC 7239, 4); a quoted value may hold commas and semicolons.
_PIECE = re.compile(r'\s*([;,])\s*|\s*([!#$%&\'*+.^_`|~0-9A-Za-z-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s,;"]*))\s*')
_ESCAPED = re.compile(r"\\(.)")
_BRACKETED = re.compile(r"\[([^\]]*)\](?::.*)?")


class Clients:
    """Names the client of a request; the name is the same for all requests of one client.

    `key_name` gives the name of the valid key of a request, or None.
    """

    def __init__(self, trusted_proxies: str, key_name: Callable[[Request], str | None]) -> None:
        self._trusted = networks_of(trusted_proxies)
        self._key_name = key_name

    def name_of(self, scope: Scope) -> str:
        """`key NAME` for a key that is valid, else the address. A key that is none makes no client."""
        key = self.key_of(scope)
        if key is not None:
            return f"key {key}"
        peer = scope.get("client")
        return address_of(peer[0] if peer else "", scope["headers"], self._trusted)

    def key_of(self, scope: Scope) -> str | None:
        """The name of the valid key of a request; None without one."""
        if not any(name in _KEY_HEADERS for name, _ in scope["headers"]):
            return None
        try:
            return self._key_name(Request(scope))
        except StateUnreadable:
            # The guard finds the same, and reports it.
            return None


def address_of(peer: str, headers: RawHeaders, trusted: Sequence[Network]) -> str:
    """The address of the client as the connection and trusted proxies state it; an IPv6 one as its network.

    It is the right-most one that is no trusted proxy's: what is left of it was written by others. Where
    the two headers name different clients, the proxy passes on one that it does not write, so neither counts.
    """
    if not trusted or not _is_trusted(peer, trusted):
        return _network_of(peer)
    addresses = set()
    lines = list(headers)
    for name, read in ((b"forwarded", _forwarded_for), (b"x-forwarded-for", _listed)):
        # Several lines are one list (RFC 9110, 5.3).
        line = b",".join(value for given, value in lines if given == name)
        if line:
            addresses.add(_right_most_untrusted(peer, read(line.decode("latin-1")), trusted))
    return _network_of(addresses.pop() if len(addresses) == 1 else peer)


def _right_most_untrusted(peer: str, nodes: Sequence[str | None], trusted: Sequence[Network]) -> str:
    """The last node that is no trusted proxy; the last that could be read where one cannot."""
    last = peer
    for node in reversed(nodes):
        if not node:
            return last
        if not _is_trusted(node, trusted):
            return node
        last = node
    return last


def _forwarded_for(line: str) -> list[str | None]:
    """The `for` of each element, in order, None where there is none; [None] for what is malformed."""
    found: list[str | None] = []
    current: str | None = None
    end = 0
    while end < len(line):
        piece = _PIECE.match(line, end)
        if piece is None or piece.end() == end:
            return [None]
        end = piece.end()
        separator, name, quoted, plain = piece.groups()
        if separator == ",":
            found.append(current)
            current = None
        elif name is not None and name.lower() == "for":
            current = _node(plain if quoted is None else _ESCAPED.sub(r"\1", quoted))
    return [*found, current]


def _listed(line: str) -> list[str | None]:
    return [_node(part) for part in line.split(",")]


def _node(text: str) -> str | None:
    """An address without its port, or an identifier such as `_hidden` (RFC 7239, 6); else None."""
    text = text.strip()
    if (bracketed := _BRACKETED.fullmatch(text)) is not None:
        text = bracketed[1]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    if text.startswith("_"):
        return text
    return None if _parsed(text) is None else text


def _parsed(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    return (isinstance(address, IPv6Address) and address.ipv4_mapped) or address


def _is_trusted(text: str, trusted: Sequence[Network]) -> bool:
    address = _parsed(text)
    return address is not None and any(address in network for network in trusted)


def _network_of(text: str) -> str:
    address = _parsed(text)
    if isinstance(address, IPv6Address) and not address.is_loopback:
        return str(IPv6Network((address, _HOME_PREFIX), strict=False))
    return text if address is None else str(address)
