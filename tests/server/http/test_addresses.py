"""Every address: a slash at its end, HEAD, OPTIONS, and methods that it does not take."""

import re

import httpx
import pytest

from server.http.description.operations import OPERATIONS

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATHS = sorted({path for _, path in OPERATIONS})
READ = [path for method, path in OPERATIONS if method == "get"]
STREAMS = ("/changes", "/jobs/{job}/events")
IRIS = ("/store/{path}", "/collections/{collection}/items/{feature}")
"""An IRI at their end may itself end in a slash."""


def example_of(path: str) -> str:
    return re.sub(r"\{\w+\}", "x", path)


@pytest.mark.parametrize("path", [path for path in READ if path not in ("/", "/store", *IRIS)])
async def test_a_slash_at_the_end_leads_to_the_address_without(
    shared_client: httpx.AsyncClient, path: str
) -> None:
    answer = await shared_client.get(f"{example_of(path)}/?limit=1")
    assert answer.status_code == 307
    assert answer.next_request is not None
    assert str(answer.next_request.url).endswith(f"{example_of(path)}?limit=1")


@pytest.mark.parametrize("path", PATHS)
async def test_options_and_a_405_list_the_methods(shared_client: httpx.AsyncClient, path: str) -> None:
    taken = {method.upper() for method, one in OPERATIONS if one == path} | {"OPTIONS"}
    taken |= {"HEAD"} if "GET" in taken else set()
    listed = await shared_client.options(example_of(path))
    refused = await shared_client.request("PATCH", example_of(path))
    for answer, status in ((listed, 204), (refused, 405)):
        assert answer.status_code == status
        assert taken <= set(answer.headers["allow"].split(", "))
    assert refused.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", [path for path in READ if path not in STREAMS])
async def test_head_has_the_headers_of_get_and_no_body(shared_client: httpx.AsyncClient, path: str) -> None:
    whole = await shared_client.get(example_of(path))
    head = await shared_client.head(example_of(path))
    assert head.status_code == whole.status_code
    assert head.content == b""
    for name in ("content-type", "vary", "etag", "link", "location"):
        expected, found = (set(one.headers.get(name, "").split(", ")) for one in (whole, head))
        assert found == expected, name


POLLED = [
    "/review",
    "/review/facets",
    "/review/groups",
    "/proposals",
    "/gaps",
    "/documents",
    "/jobs",
    "/extractions",
    "/entities/merges",
    "/rules",
    "/models",
    "/collections",
    "/shapes",
    "/ontology",
    "/ontologies/urban.ttl",
]


@pytest.mark.parametrize("path", POLLED)
@pytest.mark.parametrize("coding", ["gzip", "identity"])
async def test_who_polls_gets_304_until_something_changes(
    shared_client: httpx.AsyncClient, path: str, coding: str
) -> None:
    sent = {"accept-encoding": coding}
    first = await shared_client.get(path, headers=sent)
    tag = first.headers["etag"]
    assert first.status_code == 200
    for method in ("GET", "HEAD"):
        again = await shared_client.request(method, path, headers={**sent, "if-none-match": tag})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
        assert again.headers.get("link") == first.headers.get("link")
    other = await shared_client.get(path, headers={**sent, "if-none-match": '"other"'})
    assert (other.status_code, other.text) == (200, first.text)


async def test_a_changed_list_has_another_tag(shared_client: httpx.AsyncClient) -> None:
    before = await shared_client.get("/documents")
    posted = {"statements": [], "text": "A text of its own.", "source": "https://example.org/tags"}
    await shared_client.post("/candidates", json=posted)
    after = await shared_client.get("/documents", headers={"if-none-match": before.headers["etag"]})
    changed = after.status_code == 200
    assert changed == (after.headers["etag"] != before.headers["etag"])


async def test_what_must_not_be_stored_has_no_tag(shared_client: httpx.AsyncClient) -> None:
    answer = await shared_client.get("/metrics", headers={"if-none-match": "*"})
    assert answer.status_code == 200
    assert "etag" not in answer.headers
