"""Requests to other names than the server's are answered by nobody: not by the framework, nor past it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import quote

import pytest
import pytest_asyncio

from server.app import create_app
from server.errors import SettingsError
from server.http.access.admission import Admission
from server.http.access.client_limits import limited_protocol
from server.http.access.guard import Guard
from server.http.access.hosts import HostNames
from server.services import Services
from server.settings import Settings
from server.settings_loading import load_settings
from server.short import ShortWay
from tests.server.conftest import changed
from tests.support.listening import listening

LOOKUP = "/sparql?query=" + quote("SELECT ?o { <http://e/s> <http://e/p> ?o }")
SCAN = "/query?query=" + quote("SELECT (COUNT(*) AS ?n) { ?s ?p ?o }")
INSERT = b"INSERT DATA { <http://e/s> <http://e/p> 1 }"
PATTERN = b"INSERT { <http://e/s> <http://e/p> 2 } WHERE { ?s ?p 1 }"
UPDATE = {"content-type": "application/sparql-update"}
REQUESTS = {
    "lookup lane": ("GET", LOOKUP, {}, b""),
    "direct query": ("GET", SCAN, {}, b""),
    "update lane": ("POST", "/update", UPDATE, INSERT),
    "direct update": ("POST", "/update", UPDATE, PATTERN),
    "candidates": ("POST", "/candidates", {"content-type": "application/json"}, b'{"statements": []}'),
    "readiness": ("GET", "/readyz", {}, b""),
    "framework": ("GET", "/review", {}, b""),
    "documents": ("GET", "/documents", {}, b""),
    "a page": ("GET", SCAN, {"origin": "http://evil.example:8000"}, b""),
    "nothing": ("GET", "/nowhere", {}, b""),
}
OURS = ["127.0.0.1", "127.0.0.1:8000", "localhost", "LOCALHOST:8000", "[::1]", "[::1]:8000", "127.0.0.2:1"]
FOREIGN = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil@127.0.0.1",
    "127.0.0.1 evil.example",
    "0.0.0.0:8000",
    "192.0.2.1",
    "[2001:db8::1]",
    "[::1",
    "",
]


@asynccontextmanager
async def served(services: Services, **changes: str) -> AsyncIterator[int]:
    settings = services.settings.model_copy(update=changes)
    guard = Guard(settings, services.keys)
    services = changed(services, settings=settings, guard=guard, admission=Admission(settings, guard))
    app = ShortWay(create_app(services), services)
    async with listening(app, http=limited_protocol(settings), lifespan="off") as port:
        yield port


@pytest.fixture
def services(shared_services: Services) -> Services:
    return shared_services


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def port(shared_services: Services) -> AsyncIterator[int]:
    async with served(shared_services) as port:
        yield port


def written(method: str, target: str, headers: dict[str, str], body: bytes, *, version: str = "1.1") -> bytes:
    length = {"content-length": str(len(body))} if body else {}
    lines = "".join(f"{name}: {value}\r\n" for name, value in {**headers, **length}.items())
    return f"{method} {target} HTTP/{version}\r\n{lines}\r\n".encode() + body


async def answers(port: int, *requests: bytes) -> list[int]:
    """The statuses of the answers to requests on one connection, one after the other."""
    found = []
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for request in requests:
            writer.write(request)
            async with asyncio.timeout(60):
                head = await reader.readuntil(b"\r\n\r\n")
                found.append(int(head.split()[1]))
                lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")]
                if lengths:
                    await reader.readexactly(int(lengths[0].partition(b":")[2]))
                else:
                    await reader.readuntil(b"0\r\n\r\n")
    finally:
        writer.close()
    return found


async def status(port: int, what: str, host: str, **headers: str) -> int:
    method, target, own, body = REQUESTS[what]
    return (await answers(port, written(method, target, {"host": host, **own, **headers}, body)))[0]


@pytest.mark.parametrize("what", REQUESTS)
async def test_a_foreign_name_is_answered_by_nobody(port: int, services: Services, what: str) -> None:
    before = services.store.revision()
    for host in FOREIGN:
        assert await status(port, what, host) == 421, host
    assert services.store.revision() == before
    for host in OURS:
        assert await status(port, what, host) == (404 if what == "nothing" else 200), host


@pytest.mark.parametrize("what", ["lookup lane", "update lane"])
async def test_a_head_that_came_before_opens_nothing_to_another_name(port: int, what: str) -> None:
    method, target, own, body = REQUESTS[what]
    good, bad = (
        written(method, target, {"host": host, **own}, body) for host in ("localhost", "evil.example")
    )
    assert await answers(port, good, good, bad, good, bad) == [200, 200, 421, 200, 421]


@pytest.mark.parametrize("what", REQUESTS)
async def test_the_host_in_the_target_counts_and_not_the_header(port: int, what: str) -> None:
    method, target, own, body = REQUESTS[what]
    expected = 404 if what == "nothing" else 200
    for authority, host, status in (
        ("http://evil.example", "127.0.0.1", 421),
        ("http://evil.example:80", "localhost", 421),
        ("http://localhost:8000", "evil.example", expected),
        ("HTTP://127.0.0.1", "evil.example", expected),
        ("http://user@127.0.0.1", "127.0.0.1", 400),
        ("https://127.0.0.1", "127.0.0.1", 421),
    ):
        request = written(method, authority + target, {"host": host, **own}, body)
        assert (await answers(port, request))[0] == status, (authority, host)


async def test_a_page_is_judged_by_the_host_in_the_target(port: int) -> None:
    """Its origin is compared with the name that the request really went to."""
    origin = {"origin": "http://evil.example", "host": "evil.example", **UPDATE}
    assert await answers(port, written("POST", "http://127.0.0.1/update", origin, INSERT)) == [403]


async def test_an_old_client_without_a_host_is_local(port: int) -> None:
    assert await answers(port, written("GET", "/readyz", {}, b"", version="1.0")) == [200]


async def test_names_are_added_by_settings(services: Services) -> None:
    changes = {"public_url": "https://kg.example/graph", "allowed_hosts": "kg.internal, [2001:db8::1]"}
    async with served(services, **changes) as port:
        for host in ("kg.example", "KG.example:443", "kg.internal:8000", "[2001:db8::1]:8000", "localhost"):
            assert await status(port, "framework", host) == 200, host
        for host in ("evil.example", "kg.internal.evil.example", "[2001:db8::2]"):
            assert await status(port, "framework", host) == 421, host
    async with served(services, allowed_hosts="*") as port:
        assert await status(port, "framework", "anything.example") == 200


def accepted(listens: str, host: str) -> bool:
    return HostNames(Settings(host=listens)).accepts(host.encode())


def test_a_server_for_other_machines_has_any_address_as_its_name_but_no_other_name() -> None:
    for listens in ("0.0.0.0", "::", "192.0.2.7"):
        for host in ("192.0.2.7:8000", "10.0.0.1", "[2001:db8::1]:8000", "localhost", listens):
            assert accepted(listens, "[::]" if host == "::" else host), (listens, host)
        assert not accepted(listens, "evil.example")
    assert accepted("kg.example", "kg.example:8000")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("allowed_hosts", "http://kg.example"),
        ("allowed_hosts", "kg.example:8000"),
        ("allowed_hosts", "*.example"),
        ("cors_origins", "app.example"),
        ("cors_origins", "https://app.example/"),
        ("cors_origins", "null"),
        ("cors_origins", "https://*.example"),
    ],
)
def test_what_is_no_host_or_origin_is_refused_as_a_setting(name: str, value: str) -> None:
    with pytest.raises(SettingsError, match=name):
        load_settings({name: value}, environment={})
