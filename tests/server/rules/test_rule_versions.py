"""Earlier versions of the rules' files can be read again, and shapes show their examples."""

from pathlib import Path

import httpx
import pytest

from tests.support.workshop import RULES, SHORT

TURTLE = {"content-type": "text/turtle"}


@pytest.fixture
def client(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shop_client


async def test_a_file_of_an_earlier_version_is_read_as_it_was(client: httpx.AsyncClient) -> None:
    answer = await client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    assert answer.json()["switched"] is True
    history = (await client.get("/rules")).json()["history"]
    versions = [one["version"] for one in history if one["kind"] == "shapes"]
    assert len(versions) == 2
    texts = {(await client.get(f"/rules/shapes/{one}/rules.ttl")).text for one in versions}
    assert texts == {RULES, RULES + SHORT}
    first = (await client.get(f"/rules/shapes/{answer.json()['before']['shapes']}/rules.ttl")).text
    assert first == RULES


@pytest.mark.parametrize("path", ["nothing/rules.ttl", "..%2f..%2fontology/city.ttl", "{now}/city.ttl"])
async def test_what_no_version_holds_is_not_found(client: httpx.AsyncClient, path: str) -> None:
    now = (await client.get("/rules")).json()["rules"]["shapes"]
    answer = await client.get("/rules/shapes/" + path.format(now=now))
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_shape_shows_the_examples_beside_its_file(client: httpx.AsyncClient, tmp_path: Path) -> None:
    folder = tmp_path / "shapes" / "examples" / "Named"
    folder.mkdir(parents=True)
    (folder / "pass.ttl").write_text("<a> <b> <c> .")
    (folder / "fail-twice.ttl").write_text("<a> <b> <d> .")
    (folder / "notes.txt").write_text("no example")
    reported = (
        await client.get("/rules/examples", params={"shape": "http://example.org/rules#Named"})
    ).json()
    assert reported["examples"] == [
        {"name": "fail-twice.ttl", "passes": False, "turtle": "<a> <b> <d> ."},
        {"name": "pass.ttl", "passes": True, "turtle": "<a> <b> <c> ."},
    ]
    for shape in ("http://example.org/rules#Other", "http://example.org/..", "no IRI", "x#../../rules"):
        answer = await client.get("/rules/examples", params={"shape": shape})
        assert answer.json()["examples"] == [], shape
