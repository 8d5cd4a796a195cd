"""Who a request comes from, and that readers are shared by it on every way to them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from server.app import create_app
from server.errors import StateUnreadable
from server.http.access.clients import Clients, address_of, networks_of
from server.http.access.keys import Scope
from server.services import Services
from server.settings import Settings
from sparql.workers.fair_queue import CLIENT, OURSELVES
from sparql.workers.workers import Workers
from tests.server.conftest import RecordedModel
from tests.server.routes.text.test_ask import CITY
from tests.support.running_server import RunningServer
from tests.support.waiting import wait_until

PROXY = "10.0.0.1"
TRUSTED = "10.0.0.0/8, 2001:db8:ffff::/48"


def address(peer: str, *headers: tuple[str, str], trusted: str = TRUSTED) -> str:
    raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
    return address_of(peer, raw, networks_of(trusted))


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("Forwarded", "for=192.0.2.43")], "192.0.2.43"),
        ([("Forwarded", 'For="192.0.2.43:4711";proto=https;by=10.0.0.1')], "192.0.2.43"),
        ([("Forwarded", "proto=https ; host=a.example ; for=192.0.2.43")], "192.0.2.43"),
        # What a client wrote itself stands on the left; our own proxies on the right.
        ([("Forwarded", "for=198.51.100.9, for=192.0.2.43, for=10.1.1.1")], "192.0.2.43"),
        ([("Forwarded", "for=198.51.100.9"), ("Forwarded", "for=192.0.2.43")], "192.0.2.43"),
        ([("Forwarded", 'for="a,b;for=198.51.100.9", for=192.0.2.43')], "192.0.2.43"),
        ([("Forwarded", r'for="192.0.2.4\3"')], "192.0.2.43"),
        ([("Forwarded", 'for="[2001:db8:cafe::17]:4711"')], "2001:db8:cafe::/64"),
        ([("Forwarded", "for=_hidden, for=10.1.1.1")], "_hidden"),
        ([("X-Forwarded-For", "198.51.100.9, 192.0.2.43, 10.1.1.1")], "192.0.2.43"),
        ([("X-Forwarded-For", "192.0.2.43:5555")], "192.0.2.43"),
        ([("X-Forwarded-For", "2001:db8:cafe::17")], "2001:db8:cafe::/64"),
        ([("X-Forwarded-For", "::ffff:192.0.2.43")], "192.0.2.43"),
        ([("X-Forwarded-For", "198.51.100.9"), ("X-Forwarded-For", "192.0.2.43")], "192.0.2.43"),
        ([("X-Forwarded-For", "192.0.2.43"), ("Forwarded", "for=192.0.2.43")], "192.0.2.43"),
        # Only one of the two is the proxy's, and nobody knows which.
        ([("X-Forwarded-For", "192.0.2.43"), ("Forwarded", "for=198.51.100.9")], PROXY),
        # All of them proxies of ours: the first of them sent it.
        ([("X-Forwarded-For", "10.2.2.2, 10.3.3.3")], "10.2.2.2"),
        # What cannot be read, and all on its left, counts for nothing.
        ([("Forwarded", "for=unknown")], PROXY),
        ([("Forwarded", "for=198.51.100.9, by=10.0.0.1")], PROXY),
        ([("Forwarded", 'for="198.51.100.9, for=192.0.2.43')], PROXY),
        ([("X-Forwarded-For", "198.51.100.9, nonsense, 10.1.1.1")], "10.1.1.1"),
        ([("X-Forwarded-For", "")], PROXY),
        ([], PROXY),
    ],
)
def test_a_trusted_proxy_names_the_client(headers: Sequence[tuple[str, str]], expected: str):
    assert address(PROXY, *headers) == expected


def test_nobody_else_is_believed():
    for header in (("Forwarded", "for=192.0.2.43"), ("X-Forwarded-For", "192.0.2.43")):
        assert address("203.0.113.5", header) == "203.0.113.5"
        assert address(PROXY, header, trusted="") == PROXY
        assert address("127.0.0.1", header, trusted="") == "127.0.0.1"
        assert address("2001:db8:ffff::1", header) == "192.0.2.43"
        assert address("::ffff:10.0.0.1", header) == "192.0.2.43"
        assert address("", header) == ""


def test_an_ipv6_client_is_its_network():
    assert address("2001:db8:1:2:3::4") == address("2001:db8:1:2::ff") == "2001:db8:1:2::/64"
    assert address("fe80::1%eth0") == "fe80::/64"
    assert address("::1") == "::1"
    assert address("::ffff:203.0.113.5") == "203.0.113.5"


@given(st.text(alphabet='for=by;,:"\\[]_. 192x', max_size=60))
def test_any_header_is_read(line: str):
    address(PROXY, ("Forwarded", line), ("X-Forwarded-For", line))


@pytest.mark.parametrize("value", ["proxy.example", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.1 10.0.0.2"])
def test_a_setting_that_names_no_networks_is_refused(value: str):
    with pytest.raises(ValidationError):
        Settings(trusted_proxies=value)


def test_a_key_that_cannot_be_checked_makes_no_client():
    def unreadable(request: object) -> str:
        raise StateUnreadable(Path("state.sqlite"), "gone")

    scope = {"type": "http", "headers": [(b"x-api-key", b"k")], "client": ("192.0.2.1", 1)}
    assert Clients("", unreadable).name_of(scope) == "192.0.2.1"
    assert Clients("", lambda request: None).name_of(scope) == "192.0.2.1"
    assert Clients("", lambda request: "loader").name_of(scope) == "key loader"


@pytest.fixture
def takers(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The clients for which a reader was asked for."""
    found: list[str] = []
    take = Workers.take

    async def noted(workers: Workers, deadline: float):
        found.append(CLIENT.get())
        return await take(workers, deadline)

    monkeypatch.setattr(Workers, "take", noted)
    return found


def caller(services: Services, peer: str, **headers: str) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(services), client=(peer, 4711))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", headers=headers)


async def test_every_way_to_the_readers_names_the_client(
    services: Services, model: RecordedModel, takers: list[str]
):
    query = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"
    async with caller(services, "192.0.2.7") as client:
        turtle = {"content-type": "text/turtle"}
        assert (await client.post("/candidates", content=CITY, headers=turtle)).status_code == 200
        takers.clear()

        async def reported(method: str, path: str, **how: object) -> list[str]:
            takers.clear()
            response = await client.request(method, path, **how)  # type: ignore[arg-type]
            assert response.status_code == 200, response.text
            return takers.copy()

        direct = await reported("GET", "/sparql", params={"query": query})
        framework = await reported(
            "GET", "/query", params={"query": query}, headers={"origin": "http://a.example"}
        )
        looked_up = await reported("GET", "/sparql", params={"query": "SELECT * { <http://e/a> ?p ?o }"})
        explained = await reported("GET", "/sparql", params={"query": query, "explain": "true"})
        described = await reported("GET", "/.well-known/void")
        graph = await reported("GET", "/store", params={"default": ""})
        entity = await reported("GET", "/urbankg/id/a")
        asked = await reported("POST", "/ask", json={"question": "Who designed the Clock Museum?"})
        for found in (direct, framework, looked_up, described, graph, entity, asked):
            assert set(found) == {"192.0.2.7"}
        assert set(explained) <= {"192.0.2.7"}
        assert await reported("GET", "/readyz") == [OURSELVES]


async def test_a_valid_key_is_the_client_wherever_it_comes_from(services: Services, takers: list[str]):
    _, token = services.keys.create("reports", [Scope.READ])
    query = {"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"}
    for peer, key in (("192.0.2.7", token), ("192.0.2.8", token), ("192.0.2.7", "")):
        async with caller(services, peer, **({"x-api-key": key} if key else {})) as client:
            assert (await client.get("/sparql", params=query)).status_code == 200
    assert takers == ["key reports", "key reports", "192.0.2.7"]
    async with caller(services, "192.0.2.9", authorization="Bearer ukg_wrong") as client:
        assert (await client.get("/sparql", params=query)).status_code == 401
    assert takers == ["key reports", "key reports", "192.0.2.7"]


def at_once(url: str, address: str, query: str, count: int) -> tuple[Counter[int], list[threading.Thread]]:
    """Send a query so many times from an address of this machine; how the answers came, as they come."""
    reported: Counter[int] = Counter()
    lock = threading.Lock()

    def ask() -> None:
        server = urlsplit(url)
        connection = HTTPConnection(server.hostname, server.port, timeout=120, source_address=(address, 0))
        headers = {"content-type": "application/sparql-query"}
        try:
            connection.request("POST", "/sparql?timeout=60", query, headers)
            status = connection.getresponse().status
        except (HTTPException, OSError):
            # The server ended while it was under way.
            status = 0
        connection.close()
        with lock:
            reported[status] += 1

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return reported, threads


def test_one_address_with_endless_queries_turns_away_nobody_else(tmp_path: Path):
    pairs = " . ".join(f"?a{n} ?b{n} ?c{n}" for n in range(6))
    with RunningServer(tmp_path / "data") as server:
        greedy, sent = at_once(server.url, "127.0.0.2", f"SELECT (COUNT(*) AS ?n) {{ {pairs} }}", 80)
        # All of them were turned away or wait, but for those that run.
        wait_until(lambda: sum(greedy.values()) + queued(server.url) >= 75)
        others, asking = at_once(server.url, "127.0.0.3", "SELECT (COUNT(*) AS ?n) { ?s a ?c }", 20)
        for thread in asking:
            thread.join()
        assert others == {200: 20}
        server.kill()
        for thread in sent:
            thread.join()


def queued(url: str) -> float:
    metrics = httpx.get(url + "/metrics", timeout=60).text
    return float(metrics.partition("\nurbankg_query_queue ")[2].partition("\n")[0])
