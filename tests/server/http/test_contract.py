"""What clients may rely on: links of pages, the version of the API, and its description."""

import httpx
import pytest

from server.http.pages import page_links
from server.http.version import API_VERSION


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, {"first": 0, "next": 10, "last": 20}),
        (10, {"first": 0, "prev": 0, "next": 20, "last": 20}),
        (20, {"first": 0, "prev": 10, "last": 20}),
    ],
)
def test_a_page_links_to_those_around_it(offset: int, expected: dict[str, int]) -> None:
    links = page_links({"total": 25, "offset": offset, "limit": 10}, [("status", "any"), ("offset", "7")])
    assert links == {name: f"?status=any&offset={start}&limit=10" for name, start in expected.items()}


def test_an_empty_list_has_one_page() -> None:
    links = page_links({"total": 0, "offset": 0, "limit": 10}, [])
    assert links == {"first": "?offset=0&limit=10", "last": "?offset=0&limit=10"}


@pytest.mark.parametrize(
    "path", ["/review", "/proposals", "/documents", "/jobs", "/held", "/entities/merges", "/extractions"]
)
async def test_every_list_links_to_its_pages(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path, params={"limit": 5})
    assert answer.links["first"]["url"] == "?offset=0&limit=5"
    assert answer.links["last"]["rel"] == "last"


async def test_the_version_of_the_api_is_in_every_answer(client: httpx.AsyncClient) -> None:
    health = await client.get("/healthz")
    assert health.json()["api"] == API_VERSION
    assert health.json()["version"]
    for answer in (health, await client.get("/sparql"), await client.get("/nowhere")):
        assert answer.headers.get_list("x-api-version") == [API_VERSION]
