"""What is let in although very much depends on it is judged beside requests; what fails goes to review."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx

from server.app import create_app
from server.services import Services, build
from server.settings import Settings
from shapes.gate import ShapesGate
from shapes.loading import load_shapes
from tests.server.conftest import RecordedModel
from tests.shapes.test_hubs import SHAPES

EX = "http://example.org/"
NOT_JUDGED = "https://w3id.org/urbankg/system#NotJudged"


def opened(folder: Path) -> Services:
    """A server that judges up to ten focus nodes with a change."""
    (folder / "shapes").mkdir(exist_ok=True)
    (folder / "ontology").mkdir(exist_ok=True)
    (folder / "shapes" / "hubs.ttl").write_text(SHAPES)
    settings = Settings(
        data=folder / "data",
        ontology=folder / "ontology",
        shapes=folder / "shapes",
        readers=1,
        watch_files_s=0,
    )
    gate = ShapesGate(load_shapes(folder / "shapes"), fan_in=10)
    return build(settings, model=RecordedModel(), gate=gate)


def client_of(services: Services) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=120)


async def update(client: httpx.AsyncClient, text: str) -> list[dict]:
    headers = {"content-type": "application/sparql-update"}
    answer = await client.post("/update", content=f"PREFIX ex: <{EX}> {text}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["warnings"]


async def waiting(client: httpx.AsyncClient) -> list[dict]:
    return (await client.get("/review", params={"limit": 100})).json()["items"]


def places(count: int) -> str:
    return "INSERT DATA { ex:city a ex:City . " + " ".join(
        f"ex:place{number} ex:in ex:city ." for number in range(count)
    ) + " }"  # fmt: skip


async def test_what_fails_when_a_hub_goes_is_put_to_review_and_the_warning_is_settled(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, places(15))
        (warning,) = await update(client, "DELETE DATA { ex:city a ex:City }")
        assert warning["violations"][0]["component"] == NOT_JUDGED
        await asyncio.to_thread(services.background.finish, 120)
        items = await waiting(client)
        assert {one["statement"]["subject"] for one in items} == {f"{EX}place{n}" for n in range(15)}
        assert {one["violations"][0]["path"] for one in items} == {EX + "in"}


async def test_where_nothing_fails_only_the_warning_goes(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        codes = " ".join(f"ex:place{number} ex:code 'c{number}' ." for number in range(15))
        await update(client, f"INSERT DATA {{ {codes} }}")
        (warning,) = await update(client, "INSERT DATA { ex:list ex:barred 'nobody' }")
        assert "anywhere" in warning["violations"][0]["message"]
        await asyncio.to_thread(services.background.finish, 120)
        assert await waiting(client) == []
        await update(client, "INSERT DATA { ex:list ex:barred 'c3' }")
        await asyncio.to_thread(services.background.finish, 120)
        assert [one["violations"][0]["focus"]["value"] for one in await waiting(client)] == [EX + "place3"]


async def test_what_a_server_did_not_get_to_is_judged_after_its_next_start(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        services.background.close()
        await update(client, places(15))
        await update(client, "DELETE DATA { ex:city a ex:City }")
        (note,) = await waiting(client)
        assert note["violations"][0]["component"] == NOT_JUDGED
    async with opened(tmp_path) as services, client_of(services) as client:
        await asyncio.to_thread(services.background.finish, 120)
        assert len(await waiting(client)) == 15
