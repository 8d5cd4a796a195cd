"""Changes on which very much depends: judged in full within the time limit, else refused with what to do."""

from __future__ import annotations

from pathlib import Path

import httpx

from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from tests.server.conftest import RecordedModel
from tests.shapes.gate.test_much_depends import SHAPES

EX = "http://example.org/"
PROPERTIES = "\n".join(
    f"ex:{name} a owl:DatatypeProperty ; rdfs:label '{name}'@en ; rdfs:comment 'A property.'@en ."
    for name in ("code", "barred")
)
ONTOLOGY = f"""@prefix ex: <{EX}> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
ex: a owl:Ontology .
{PROPERTIES}
ex:in a owl:ObjectProperty ; rdfs:label 'in'@en .
ex:City a owl:Class ; rdfs:label 'city'@en .
"""


def opened(folder: Path, **settings: object) -> Services:
    ontology, shapes = folder / "ontology", folder / "shapes"
    for path, name, text in ((ontology, "codes.ttl", ONTOLOGY), (shapes, "shapes.ttl", SHAPES)):
        path.mkdir(exist_ok=True)
        (path / name).write_text(text)
    values = {"readers": 1, "watch_files_s": 0, **settings}
    found = Settings(data=folder / "data", ontology=ontology, shapes=shapes, **values)
    return build(found, model=RecordedModel())


def client_of(services: Services) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=120)


async def update(client: httpx.AsyncClient, text: str) -> httpx.Response:
    headers = {"content-type": "application/sparql-update"}
    return await client.post("/update", content=f"PREFIX ex: <{EX}> {text}", headers=headers)


def codes(count: int) -> str:
    return "INSERT DATA { " + " ".join(f"ex:place{n} ex:code 'c{n}' ." for n in range(count)) + " }"


def candidates(*barred: str, text: str | None = None) -> dict[str, object]:
    """Statements, each of which concerns every code there is."""
    statements = [
        {"subject": EX + "list", "predicate": EX + "barred", "object": {"type": "literal", "value": one}}
        for one in barred
    ]
    return {"statements": statements, "source": "a client", "text": text}


async def test_what_depends_on_a_statement_is_judged_with_it_on_every_route(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(300))
        answer = await client.post("/candidates", json=candidates("nobody", "c3"))
        assert answer.status_code == 200
        assert [one["object"]["value"] for one in answer.json()["accepted"]] == ["nobody"]
        assert len(answer.json()["rejected"]) == 1
        assert (await update(client, "INSERT DATA { ex:list ex:barred 'c4' }")).status_code == 422
        assert (await update(client, "INSERT DATA { ex:list ex:barred 'somebody' }")).status_code == 200


async def test_what_takes_longer_than_the_limit_is_refused_with_a_way_out_and_changes_nothing(tmp_path: Path):
    async with opened(tmp_path) as services, client_of(services) as client:
        await update(client, codes(15))
        revision = services.store.revision()
        services.judging_limit.seconds = 0.0
        for answer in (
            await update(client, "INSERT DATA { ex:list ex:barred 'nobody' }"),
            await client.post("/candidates", json=candidates("nobody")),
            await client.post("/candidates", params={"commit": "false"}, json=candidates("nobody")),
        ):
            assert answer.status_code == 503
            assert answer.headers["retry-after"] == "1"
            assert "urbankg load --bulk" in answer.json()["detail"]
            assert "shapes_timeout_s" in answer.json()["detail"]
        assert services.store.revision() == revision
