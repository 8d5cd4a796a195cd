"""Bodies that unpack to too much, that hold a term too long, or that begin with a byte order mark."""

import gzip
from pathlib import Path

import httpx
import pytest

from tests.server.conftest import select
from tests.support.workshop import CITY, RULES, update

TURTLE = {"content-type": "text/turtle"}
BOM = "\ufeff".encode()
BOMB = gzip.compress(b" " * 100_000_000)


@pytest.fixture
def client(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shop_client


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("PUT", "/store?graph=urn:x:g", "text/turtle"),
        ("POST", "/store?default", "application/n-triples"),
        ("PUT", "/store/g", "application/rdf+xml"),
        ("PUT", "/store/g", "application/ld+json"),
        ("PUT", "/shapes/rules.ttl", "text/turtle"),
        ("PUT", "/ontologies/city.ttl", "text/turtle"),
        ("POST", "/rules", "application/json"),
        ("POST", "/candidates", "application/json"),
        ("POST", "/sparql", "application/sparql-update"),
    ],
)
async def test_a_packed_body_that_unpacks_to_more_than_it_may_is_refused_as_too_large(
    client: httpx.AsyncClient, method: str, path: str, kind: str
) -> None:
    headers = {"content-type": kind, "content-encoding": "gzip"}
    answer = await client.request(method, path, content=BOMB, headers=headers, timeout=60)
    assert answer.status_code == 413, answer.text
    assert answer.json()["limit_bytes"] > 0


@pytest.mark.parametrize("coding", ["br", "zstd", "deflate", "compress", "gzip, gzip"])
async def test_a_coding_that_is_not_read_is_named(client: httpx.AsyncClient, coding: str) -> None:
    headers = {**TURTLE, "content-encoding": coding}
    answer = await client.put("/store?graph=urn:x:g", content=b"x", headers=headers)
    assert answer.status_code == 415
    assert answer.headers["accept-encoding"] == "gzip, identity"


@pytest.mark.parametrize(
    ("method", "path", "kind"),
    [
        ("PUT", "/store?graph=urn:x:g", "text/turtle"),
        ("POST", "/store?default", "application/n-triples"),
    ],
)
async def test_a_term_longer_than_the_parser_takes_is_a_mistake_of_the_body(
    client: httpx.AsyncClient, method: str, path: str, kind: str
) -> None:
    body = b'<urn:x:a> <urn:x:p> "' + b"x" * 20_000_000 + b'" .'
    answer = await client.request(method, path, content=body, headers={"content-type": kind}, timeout=60)
    assert answer.status_code == 400, answer.text
    assert "16 MB" in answer.json()["detail"]


BODIES = {
    "text/turtle": "<urn:x:a> <urn:x:p> 'text' .",
    "application/n-triples": '<urn:x:a> <urn:x:p> "text" .',
    "application/trig": "<urn:x:a> <urn:x:p> 'text' .",
    "application/n-quads": '<urn:x:a> <urn:x:p> "text" .',
    "application/ld+json": '{"@id": "urn:x:a", "urn:x:p": "text"}',
    "application/rdf+xml": '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
    'xmlns:x="urn:x:">'
    '<rdf:Description rdf:about="urn:x:a"><x:p>text</x:p></rdf:Description></rdf:RDF>',
}


@pytest.mark.parametrize(("kind", "body"), BODIES.items())
async def test_a_byte_order_mark_in_front_of_rdf_is_passed_over(
    client: httpx.AsyncClient, kind: str, body: str
) -> None:
    for path in ("/store?graph=urn:x:g", "/store?default"):
        answer = await client.post(path, content=BOM + body.encode(), headers={"content-type": kind})
        assert answer.status_code in (201, 204), answer.text
    assert await select(client, "SELECT ?o { <urn:x:a> <urn:x:p> ?o }") == [{"o": "text"}]


async def test_a_byte_order_mark_in_front_of_rules_is_passed_over(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    for path, text in (("/shapes/rules.ttl", RULES + "# new"), ("/ontologies/city.ttl", CITY + "# new")):
        answer = await client.put(path, content=BOM + text.encode(), headers=TURTLE)
        assert answer.status_code == 200, answer.text
    assert (await update(client, "INSERT DATA { :a a :Park }")).status_code == 422
