"""Which web pages of other origins may read: none, or those of `cors_origins`, and of a few paths only."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx
import pytest

from server.app import create_app
from server.http.access.client_limits import limited_protocol
from server.services import Services
from tests.server.conftest import changed
from tests.support.listening import listening

PAGE = "https://app.example"
OTHER = "https://evil.example"
QUERY = "/sparql?query=ASK%7B%7D"
READ = [QUERY, "/query?query=ASK%7B%7D", "/sparql", "/query", "/.well-known/void"]
FAILING = [("/sparql?query=SELEC", 400), ("/query?query=ASK%7B%7D&timeout=-1", 400)]
CLOSED = [
    "/dump",
    "/documents",
    "/review",
    "/store?default",
    "/rules",
    "/openapi.json",
    "/nowhere",
    "/readyz",
]
ALLOW = "access-control-allow-origin"


@asynccontextmanager
async def opened(services: Services, origins: str) -> AsyncIterator[httpx.AsyncClient]:
    settings = services.settings.model_copy(update={"cors_origins": origins})
    app = create_app(changed(services, settings=settings))
    transport = httpx.ASGITransport(app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client


async def preflight(
    client: httpx.AsyncClient, path: str, origin: str, method: str = "POST"
) -> httpx.Response:
    headers = {"origin": origin, "access-control-request-method": method}
    return await client.options(path, headers={**headers, "access-control-request-headers": "content-type"})


@pytest.fixture
def services(shared_services: Services) -> Services:
    return shared_services


async def test_no_page_reads_anything_unless_it_is_set(services: Services) -> None:
    async with opened(services, "") as client:
        for path in (*READ, *CLOSED, *(path for path, _ in FAILING)):
            for origin in (PAGE, "null", "http://localhost:3000"):
                assert ALLOW not in (await client.get(path, headers={"origin": origin})).headers, path
                assert ALLOW not in (await preflight(client, path, origin)).headers, path


@pytest.mark.parametrize(("origins", "message"), [("*", "*"), (f"http://localhost:3000, {PAGE}", PAGE)])
async def test_what_is_set_opens_the_endpoint_and_its_descriptions(
    services: Services, origins: str, message: str
) -> None:
    async with opened(services, origins) as client:
        for path in READ:
            found = await client.get(path, headers={"origin": PAGE})
            assert found.status_code == 200
            assert found.headers[ALLOW] == message
            assert "ETag" in found.headers["access-control-expose-headers"]
            assert "Origin" in found.headers["vary"]
        for path, status in FAILING:
            found = await client.get(path, headers={"origin": PAGE})
            assert (found.status_code, found.headers[ALLOW]) == (status, message)
        posted = await client.post("/sparql", data={"query": "ASK {}"}, headers={"origin": PAGE})
        assert posted.headers[ALLOW] == message
        asked = await preflight(client, "/sparql", PAGE)
        assert asked.status_code == 204
        assert asked.headers[ALLOW] == message
        assert "Content-Type" in asked.headers["access-control-allow-headers"]


@pytest.mark.parametrize("origins", ["*", PAGE])
async def test_nothing_else_is_opened(services: Services, origins: str) -> None:
    async with opened(services, origins) as client:
        for path in CLOSED:
            assert ALLOW not in (await client.get(path, headers={"origin": PAGE})).headers, path
            assert ALLOW not in (await preflight(client, path, PAGE, "GET")).headers, path
        for path in ("/sparql", "/update"):
            sent = await client.post(path, data={"update": "CLEAR ALL"}, headers={"origin": PAGE})
            assert sent.status_code == 403, path
        assert ALLOW not in (await client.get("/update", headers={"origin": PAGE})).headers


async def test_a_page_that_is_not_named_does_not_read(services: Services) -> None:
    async with opened(services, PAGE) as client:
        for origin in (OTHER, "null", PAGE + ".evil.example", "http://app.example", PAGE + ":8443"):
            found = await client.get(QUERY, headers={"origin": origin})
            assert ALLOW not in found.headers
            assert "Origin" in found.headers["vary"]


async def test_what_the_connection_refuses_itself_is_read_by_the_same_pages(services: Services) -> None:
    settings = services.settings.model_copy(update={"cors_origins": PAGE})
    protocol = limited_protocol(settings)
    protocol.head_limit = 8192
    app = create_app(changed(services, settings=settings))
    async with listening(app, http=protocol, lifespan="off") as port:
        for path, origin, allowed in (
            ("/sparql", PAGE, True),
            ("/sparql", OTHER, False),
            ("/dump", PAGE, False),
        ):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            head = f"GET {path} HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\nx: {'a' * 8200}\r\n\r\n"
            writer.write(head.encode())
            async with asyncio.timeout(60):
                answer = await reader.read()
            writer.close()
            assert answer.startswith(b"HTTP/1.1 431 ")
            assert (ALLOW.encode() in answer) is allowed
