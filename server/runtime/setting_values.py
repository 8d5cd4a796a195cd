"""What values of settings may look like, beside what their types say."""

import json
import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field
from pyoxigraph import NamedNode

from server.http.access.trusted_networks import networks_of
from shapes.generation import Generation, generation_of

# A name or an IPv4 address, or an IPv6 address with or without its brackets.
_HOST_NAME = re.compile(r"[^\s/@:*\[\]]+|\[?[0-9A-Fa-f.]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*\]?")
# Letters, digits and dots only where the content security policy names the host.
_TILES = re.compile(
    r"https?://[A-Za-z0-9.-]+(?::\d+)?/(?=\S*\{z\})(?=\S*\{x\})(?=\S*\{y\})[^\s\"'<>]*", re.ASCII
)
_ORIGIN = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/@\s*]+")


def listed(value: str) -> list[str]:
    """The parts between commas."""
    return [part for one in value.split(",") if (part := one.strip())]


def _from_json(value: object) -> object:
    """A value of the environment, read as JSON; any other value as it is."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except json.JSONDecodeError as error:
        raise ValueError(f'not JSON ({error}); write {{"http://example.org/District": 0.5}}') from error


def _networks(value: str) -> str:
    networks_of(value)
    return value


def _an_iri(value: str) -> str:
    NamedNode(value)
    return value


def _host_names(value: str) -> str:
    for name in listed(value):
        if name != "*" and not _HOST_NAME.fullmatch(name):
            raise ValueError(f"'{name}' is not a host name; write it without http:// and without a port")
    return value


def _tile_address(value: str) -> str:
    if value and not _TILES.fullmatch(value):
        raise ValueError(
            f"'{value}' is no address of tiles; write https://tiles.example/{{z}}/{{x}}/{{y}}.png"
        )
    return value


def _origins(value: str) -> str:
    for origin in listed(value):
        if origin != "*" and not _ORIGIN.fullmatch(origin):
            raise ValueError(f"'{origin}' is not an origin; write https://app.example, without a path, or *")
    return value


_Iri = Annotated[str, AfterValidator(_an_iri)]
_Meters = Annotated[float, Field(ge=0, lt=100_000)]

MetersByClass = Annotated[dict[_Iri, _Meters], BeforeValidator(_from_json)]
Networks = Annotated[str, AfterValidator(_networks)]
HostNames = Annotated[str, AfterValidator(_host_names)]
Origins = Annotated[str, AfterValidator(_origins)]
TileAddress = Annotated[str, AfterValidator(_tile_address)]
GeneratedShapes = Annotated[Generation, BeforeValidator(generation_of)]
