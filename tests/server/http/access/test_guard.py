"""Who may do what: open on loopback until a key exists, then by scope; never a web page of another origin."""

import re
from collections.abc import AsyncIterator, Iterator
from importlib import import_module
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from server import routes
from server.app import create_app
from server.errors import OpenWritesRefused
from server.http.access.admission import Admission
from server.http.access.guard import Guard, ScopeDependency, open_to_whom, refuse_open_writes
from server.http.access.keys import KeyStore, Scope
from server.http.readiness import Readiness
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from tests.server.conftest import RecordedModel, changed, forget_keys
from tests.support.running_server import RunningServer

pytestmark = pytest.mark.asyncio(loop_scope="module")

INSERT = "INSERT DATA { <http://e/a> <http://e/p> 1 }"
UPDATE = {"content-type": "application/sparql-update"}
QUERY = {"content-type": "application/sparql-query"}
FOREIGN = {"origin": "https://evil.example"}
TURTLE = {"content-type": "text/turtle"}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Services]:
    """A server of this file's tests, with no ontology and no shapes."""
    empty = tmp_path_factory.mktemp("empty")
    settings = Settings(data=empty / "data", readers=1, ontology=empty, shapes=empty)
    async with build(settings, model=RecordedModel()) as services:
        yield services


@pytest.fixture
def services(shared: Services) -> Services:
    """The same, without keys."""
    forget_keys(shared)
    return shared


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def update(client: httpx.AsyncClient, path: str = "/update", **headers: str) -> httpx.Response:
    return await client.post(path, content=INSERT, headers={**UPDATE, **headers})


async def test_writes_are_open_on_loopback_until_a_key_exists(client: httpx.AsyncClient, services: Services):
    assert (await update(client)).status_code == 200
    _, token = services.keys.create("writer", [Scope.WRITE])
    refused = await update(client)
    assert refused.status_code == 401
    assert refused.headers["www-authenticate"] == 'Bearer realm="urbankg"'
    assert refused.headers["content-type"] == "application/problem+json"
    assert (await update(client, **bearer(token))).status_code == 200
    assert (await update(client, **{"x-api-key": token})).status_code == 200


@pytest.mark.parametrize("path", ["/sparql", "/update"])
@pytest.mark.parametrize("form", [True, False])
async def test_an_update_needs_write_wherever_and_however_it_is_sent(
    client: httpx.AsyncClient, services: Services, path: str, form: bool
):
    _, reader = services.keys.create("reader", [Scope.READ, Scope.EXTRACT, Scope.REVIEW])

    revision = services.store.revision()

    async def send(**headers: str) -> httpx.Response:
        if form:
            return await client.post(path, data={"update": INSERT}, headers=headers)
        return await update(client, path, **headers)

    assert (await send()).status_code == 401
    refused = await send(**bearer(reader))
    assert refused.status_code == 403
    assert 'scope="write"' in refused.headers["www-authenticate"]
    assert services.store.revision() == revision


async def test_each_write_has_its_scope(client: httpx.AsyncClient, services: Services):
    _, writer = services.keys.create("writer", [Scope.WRITE])
    _, extractor = services.keys.create("extractor", [Scope.EXTRACT])
    _, admin = services.keys.create("admin", [Scope.ADMIN])
    body = {"statements": []}
    assert (await client.post("/candidates", json=body, headers=bearer(writer))).status_code == 403
    assert (await client.post("/candidates", json=body, headers=bearer(extractor))).status_code == 200
    assert (await client.post("/candidates", json=body, headers=bearer(admin))).status_code == 200
    assert (await client.post("/candidates", json=body)).status_code == 401
    assert (await update(client, **bearer(extractor))).status_code == 403
    turtle = {**TURTLE, **bearer(extractor)}
    assert (await client.put("/store?graph=http://e/g", content="", headers=turtle)).status_code == 403


async def test_reads_stay_open_when_keys_exist(client: httpx.AsyncClient, services: Services):
    services.keys.create("writer", [Scope.WRITE])
    assert (await client.get("/sparql?query=ASK{}")).status_code == 200
    assert (await client.post("/sparql", data={"query": "ASK{}"})).status_code == 200
    assert (await client.get("/review")).status_code == 200


async def test_a_wrong_key_is_reported_even_where_none_is_needed(client: httpx.AsyncClient):
    refused = await client.get("/sparql?query=ASK{}", headers=bearer("ukg_nonsense"))
    assert refused.status_code == 401
    assert 'error="invalid_token"' in refused.headers["www-authenticate"]


async def test_a_key_in_the_address_is_refused(client: httpx.AsyncClient, services: Services):
    _, token = services.keys.create("writer", [Scope.WRITE])
    for query in (f"key={token}", token, f"{token}=1"):
        refused = await client.get(f"/review?{query}")
        assert refused.status_code == 400
        assert token not in refused.text


async def test_a_revoked_key_stops_at_once_and_opens_nothing(client: httpx.AsyncClient, services: Services):
    _, token = services.keys.create("writer", [Scope.WRITE])
    services.keys.revoke("writer")
    assert (await update(client, **bearer(token))).status_code == 401
    assert (await update(client)).status_code == 401


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "null",
        "",
        # Another program on this machine: another port is another origin, and so is another scheme or name.
        "http://127.0.0.1:3000",
        "http://127.0.0.1",
        "https://127.0.0.1:8000",
        "http://localhost:8000",
        "http://127.0.0.1:8000@evil.example",
        "http://127.0.0.1:8000.evil.example",
    ],
)
async def test_no_web_page_of_another_origin_writes(client: httpx.AsyncClient, origin: str):
    headers = {"origin": origin}
    for path in ("/update", "/sparql"):
        assert (await update(client, path, **headers)).status_code == 403
        assert (await client.post(path, data={"update": INSERT}, headers=headers)).status_code == 403
    put = await client.put("/store?graph=http://e/g", content="", headers={**TURTLE, **headers})
    assert put.status_code == 403
    assert (await client.post("/extractions", json={"text": "x"}, headers=headers)).status_code == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:3000"])
async def test_no_web_page_of_another_origin_has_anything_computed(client: httpx.AsyncClient, origin: str):
    """A browser sends it unasked where it has no media type: the model would work for a page."""
    for path in ("/ask", "/ask/run", "/relations", "/check", "/mcp"):
        answer = await client.post(path, content="{}", headers={"origin": origin})
        assert (answer.status_code, answer.json()["title"]) == (403, "Foreign origin"), path
    assert (
        await client.post("/sparql", data={"query": "ASK {}"}, headers={"origin": origin})
    ).status_code == 200


async def test_a_page_of_the_server_asks_also_behind_a_proxy_with_another_host(client: httpx.AsyncClient):
    for headers in (
        {"origin": "http://127.0.0.1:8000"},
        {"origin": "https://kg.example", "sec-fetch-site": "same-origin", "x-forwarded-for": "192.0.2.1"},
    ):
        answer = await client.post("/ask", json={"question": "Which parks are there?"}, headers=headers)
        assert answer.status_code == 200, answer.text


async def test_a_page_of_the_server_writes_without_a_key(client: httpx.AsyncClient):
    assert (await update(client, origin="http://127.0.0.1:8000")).status_code == 200
    forwarded_port = {"host": "localhost:9000", "origin": "http://localhost:9000"}
    assert (await update(client, **forwarded_port)).status_code == 200


def guarded_by(services: Services, guard: Guard) -> httpx.AsyncClient:
    guarded = changed(services, guard=guard, admission=Admission(services.settings, guard))
    transport = httpx.ASGITransport(create_app(guarded), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000")


async def test_a_name_that_is_only_not_refused_makes_no_page_the_server_s_own(services: Services):
    """With `allowed_hosts = *` the name of a page that was pointed at this machine is answered."""
    settings = services.settings.model_copy(update={"allowed_hosts": "*"})
    async with guarded_by(services, Guard(settings, services.keys)) as client:
        rebound = {"host": "rebound.example:8000"}
        assert (await client.get("/sparql?query=ASK{}", headers=rebound)).status_code == 200
        assert (await update(client, **rebound)).status_code == 403
        assert (await update(client, **rebound, origin="http://rebound.example:8000")).status_code == 403


PROXIED = [
    {"forwarded": "for=192.0.2.1"},
    {"x-forwarded-for": "192.0.2.1"},
    {"x-forwarded-host": "kg.example"},
    {"x-forwarded-proto": "https"},
    {"X-Forwarded": "for=192.0.2.1"},
    {"via": "1.1 proxy"},
    {"x-real-ip": "192.0.2.1"},
]


@pytest.mark.parametrize("headers", PROXIED)
async def test_what_came_through_a_proxy_is_not_local(
    client: httpx.AsyncClient, services: Services, headers: dict[str, str]
):
    for path in ("/update", "/sparql"):
        refused = await update(client, path, **headers)
        assert refused.status_code == 401
        assert "proxy" in refused.json()["detail"]
    assert (await client.post("/candidates", json={"statements": []}, headers=headers)).status_code == 401
    assert (await client.put("/store?default", content="", headers={**TURTLE, **headers})).status_code == 401
    assert (await client.get("/sparql?query=ASK{}", headers=headers)).status_code == 200
    _, token = services.keys.create("writer", [Scope.WRITE])
    assert (await update(client, **headers, **bearer(token))).status_code == 200


async def test_where_reads_are_closed_they_are_closed_to_proxies_without_a_key(services: Services):
    closed = Guard(services.settings.model_copy(update={"open_reads": False}), services.keys)
    async with guarded_by(services, closed) as client:
        for path in ("/sparql?query=ASK{}", "/review"):
            assert (await client.get(path)).status_code == 200
            assert (await client.get(path, headers={"via": "1.1 proxy"})).status_code == 401


@pytest.mark.parametrize("path", ["/sparql", "/update"])
async def test_a_key_that_may_only_write_sends_updates_as_it_likes(services: Services, path: str):
    closed = Guard(services.settings.model_copy(update={"open_reads": False}), services.keys)
    _, writer = services.keys.create("writer", [Scope.WRITE])
    _, reader = services.keys.create("reader", [Scope.READ])
    async with guarded_by(services, closed) as client:
        form = await client.post(path, data={"update": INSERT}, headers=bearer(writer))
        assert form.status_code == 200, form.text
        assert (await update(client, path, **bearer(writer))).status_code == 200
        assert (await client.post(path, data={"update": INSERT}, headers=bearer(reader))).status_code == 403
        query = await client.post("/sparql", data={"query": "ASK {}"}, headers=bearer(writer))
        assert query.status_code == 403
        assert 'scope="read"' in query.headers["www-authenticate"]
        assert (await client.get("/sparql?query=ASK{}", headers=bearer(writer))).status_code == 403
        assert (await client.get("/sparql", headers=bearer(writer))).status_code == 403


async def test_a_web_page_may_write_with_a_key(client: httpx.AsyncClient, services: Services):
    _, token = services.keys.create("page", [Scope.WRITE])
    assert (await update(client, **bearer(token), **FOREIGN)).status_code == 200


async def test_reads_can_be_closed_too(services: Services):
    closed = Guard(services.settings.model_copy(update={"open_reads": False}), services.keys)
    _, reader = services.keys.create("reader", [Scope.READ])
    async with guarded_by(services, closed) as client:
        for path in (
            "/sparql?query=ASK{}",
            "/sparql",
            "/.well-known/void",
            "/review",
            "/ontology",
            "/metrics",
        ):
            assert (await client.get(path)).status_code == 401, path
            assert (await client.get(path, headers=bearer(reader))).status_code == 200, path
        assert (await client.get("/healthz")).status_code == 200


def guarded(dependant: Dependant) -> bool:
    return any(isinstance(one.call, ScopeDependency) for one in dependant.dependencies)


async def test_every_route_names_its_scope(services: Services):
    """The SPARQL endpoint asks for it itself, since it knows only from the body; two routes report life.

    The page, and that of the API, hold nothing of the graph; `/access` returns to the sender its own scopes.
    """
    own = {"/sparql", "/query", "/update", "/.well-known/void", "/healthz", "/readyz"}
    own |= {"/", "/ui/{name}", "/docs", "/docs/{name}", "/access"}
    open_, found = set(), 0
    for route in all_routes(services):
        found += 1
        if not guarded(route.dependant):
            open_.add(route.path)
    assert found > 10
    assert open_ - own == set()


@pytest.mark.parametrize("scope", Scope)
async def test_a_key_never_allows_less_than_no_key(services: Services, scope: Scope):
    _, token = services.keys.create("one scope", [scope])
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        paths = (await client.get("/openapi.json")).json()["paths"]
        tried = 0
        for path, operations in paths.items():
            for method in operations:
                address = re.sub(r"{[^}]*}", "nothing", path)
                without = await client.request(method, address)
                if without.status_code not in (401, 403):
                    tried += 1
                    keyed = await client.request(method, address, headers=bearer(token))
                    assert keyed.status_code == without.status_code, (method, path, keyed.text)
    assert tried > 40


@pytest.mark.parametrize("path", ["/ask", "/relations", "/sparql"])
async def test_a_key_that_may_only_write_asks_what_everybody_may(
    client: httpx.AsyncClient, services: Services, path: str
):
    _, token = services.keys.create("writer", [Scope.WRITE])
    sent = {"content": "ASK { }", "headers": {**QUERY, **bearer(token)}}
    if path != "/sparql":
        body = {"question": "Which?"} if path == "/ask" else {"a": "POINT(0 0)", "b": "POINT(0 1)"}
        sent = {"json": body, "headers": bearer(token)}
    assert (await client.post(path, **sent)).status_code in (200, 422)


def all_routes(services: Services) -> Iterator[APIRoute]:
    folder = Path(routes.__file__).parent
    for path in sorted(folder.rglob("[a-z]*.py")):
        module = ".".join((routes.__name__, *path.relative_to(folder).with_suffix("").parts))
        more = (Readiness(services),) if path.stem == "health" else ()
        for route in import_module(module).router(services, *more).routes:
            assert isinstance(route, APIRoute)
            yield route


async def test_listening_elsewhere_needs_a_key():
    elsewhere = Settings(host="0.0.0.0")
    with pytest.raises(OpenWritesRefused, match="urbankg key create"):
        refuse_open_writes(elsewhere)
    refuse_open_writes(elsewhere, has_keys=True)
    refuse_open_writes(Settings(host="127.0.0.1"))


@pytest.mark.parametrize(
    ("settings", "keyed", "reads", "writes", "pages"),
    [
        ({}, False, "through a proxy", "programs on this machine, but for proxies", "nothing"),
        ({}, True, "through a proxy", "with a key of the scope 'write'", "nothing"),
        ({"open_reads": False}, False, "but for proxies", "but for proxies", "nothing"),
        ({"open_reads": False}, True, "with a key of the scope 'read'", "with a key", "nothing"),
        ({"host": "0.0.0.0", "cors_origins": "*"}, True, "everybody", "with a key", "any origin"),
        ({"cors_origins": "https://a.example"}, True, "through a proxy", "with a key", "https://a.example"),
    ],
)
async def test_the_start_says_what_is_open_to_whom(
    settings: dict[str, str], keyed: bool, reads: str, writes: str, pages: str
):
    reported = open_to_whom(Settings(**settings), has_keys=keyed)
    for sentence, expected in zip(reported, (reads, writes, pages), strict=True):
        assert expected in sentence
    assert "Any host name" in open_to_whom(Settings(allowed_hosts="*"), has_keys=True)[-1]


async def test_open_writes_never_reach_past_loopback(tmp_path: Path):
    keys = KeyStore(tmp_path)
    guard = Guard(Settings(host="0.0.0.0"), keys)
    assert isinstance(guard.requires(Scope.WRITE), ScopeDependency)
    assert not guard._local
    keys.close()


async def test_a_key_made_while_the_server_runs_counts_at_once(tmp_path: Path):
    with RunningServer(tmp_path / "data") as server:
        assert (
            httpx.post(server.url + "/update", content=INSERT, headers=UPDATE, timeout=120).status_code == 200
        )
        keys = KeyStore(tmp_path / "data")
        _, token = keys.create("late", [Scope.WRITE])
        assert (
            httpx.post(server.url + "/update", content=INSERT, headers=UPDATE, timeout=120).status_code == 401
        )
        headers = {**UPDATE, **bearer(token)}
        assert (
            httpx.post(server.url + "/update", content=INSERT, headers=headers, timeout=120).status_code
            == 200
        )
        keys.close()
        assert token not in server.log.read_text()
