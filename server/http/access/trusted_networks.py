"""Addresses and networks as the settings name them."""

from ipaddress import IPv4Network, IPv6Network, ip_network

Network = IPv4Network | IPv6Network


def networks_of(text: str) -> tuple[Network, ...]:
    """Networks from addresses (`192.0.2.1`) and networks (`10.0.0.0/8`) with commas between.

    Raises ValueError for anything else, and for a network with an address inside of it (`10.1.0.0/8`).
    """
    return tuple(ip_network(part.strip()) for part in text.split(",") if part.strip())
