"""A packed body is read like a plain one, or refused with what to send instead."""

import gzip

import httpx
import pytest

from server.errors import BodyTooLarge, MalformedBody
from server.http.bodies.content_coding import Unpacked
from server.services import Services
from tests.server.conftest import RecordedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

CASES = [
    ("/update", "application/sparql-update", b"INSERT DATA { <urn:packed> <urn:p> 1 }", 200),
    ("/sparql", "application/sparql-query", b"ASK {}", 200),
    ("/sparql", "application/x-www-form-urlencoded", b"query=ASK+%7B%7D", 200),
    ("/candidates", "application/json", b'{"statements": [], "source": "urn:s"}', 200),
    ("/candidates", "text/turtle", b"<urn:a> a <urn:B> .", 200),
    ("/check", "application/json", b"{}", 200),
    ("/extractions", "application/json", b'{"text": "A park.", "commit": false}', 200),
    ("/ask", "application/json", b'{"question": "Which parks are there?"}', 200),
    ("/store?graph=urn:packed", "text/turtle", b"<urn:a> <urn:b> <urn:c> .", 201),
    ("/jobs", "application/x-ndjson", b'{"text": "A park."}\n', 202),
]
ACCEPT = {"accept": "application/json, text/event-stream;q=0.1, */*;q=0.1"}


@pytest.mark.parametrize(("path", "kind", "body", "status"), CASES)
async def test_a_body_packed_by_gzip_is_read(
    shared_client: httpx.AsyncClient,
    shared_model: RecordedModel,
    path: str,
    kind: str,
    body: bytes,
    status: int,
) -> None:
    headers = {"content-type": kind, "content-encoding": "gzip", **ACCEPT}
    answer = await shared_client.post(path, content=gzip.compress(body), headers=headers)
    assert answer.status_code == status, answer.text


@pytest.mark.parametrize(("path", "kind", "body", "status"), CASES)
async def test_another_coding_is_refused_with_what_is_read(
    shared_client: httpx.AsyncClient, path: str, kind: str, body: bytes, status: int
) -> None:
    headers = {"content-type": kind, "content-encoding": "br", **ACCEPT}
    answer = await shared_client.post(path, content=body, headers=headers)
    assert answer.status_code == 415, answer.text
    assert answer.headers["accept-encoding"] == "gzip, identity"
    assert answer.headers["content-type"] == "application/problem+json"
    assert "packed by gzip" in answer.json()["detail"]


@pytest.mark.parametrize(
    "body", [b"INSERT DATA {}", gzip.compress(b"INSERT DATA {}")[:-9]], ids=["plain", "cut"]
)
async def test_a_body_that_is_not_whole_gzip_is_refused(
    shared_client: httpx.AsyncClient, body: bytes
) -> None:
    headers = {"content-type": "application/sparql-update", "content-encoding": "gzip"}
    answer = await shared_client.post("/update", content=body, headers=headers)
    assert answer.status_code == 400
    assert "not whole gzip" in answer.json()["detail"]


async def test_what_a_body_unpacks_to_is_limited(
    shared_services: Services, shared_client: httpx.AsyncClient
) -> None:
    limit = shared_services.settings.max_body_bytes
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    answer = await shared_client.post("/ask", content=gzip.compress(b" " * (limit + 1)), headers=headers)
    assert answer.status_code == 413
    assert answer.json()["limit_bytes"] == limit


async def test_parts_packed_one_after_another_are_one_body() -> None:
    unpacked = Unpacked(10)
    packed = gzip.compress(b"abc") + gzip.compress(b"def")
    found = b"".join(unpacked.add(packed[at : at + 1]) for at in range(len(packed)))
    unpacked.end()
    assert found == b"abcdef"
    with pytest.raises(BodyTooLarge):
        unpacked.add(gzip.compress(b"ghijk"))


async def test_an_empty_body_is_whole() -> None:
    Unpacked(10).end()
    cut = Unpacked(10)
    cut.add(gzip.compress(b"abc")[:5])
    with pytest.raises(MalformedBody):
        cut.end()
