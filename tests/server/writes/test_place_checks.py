"""What clients write of where things are is held against geometry only where a policy asks for it."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from server.app import create_app
from server.runtime.wiring import build
from server.settings import Settings
from shapes.errors import ShapeMalformed
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from tests.server.conftest import RecordedModel

EX = "http://example.org/"
PREFIXES = """@prefix ex: <http://example.org/> . @prefix geo: <http://www.opengis.net/ont/geosparql#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ukg: <https://w3id.org/urbankg/system#> .
"""
ONTOLOGY = """ex:town a owl:Ontology .
ex:liesIn a owl:ObjectProperty ; rdfs:label "lies in" ; rdfs:comment "Inside." ;
    rdfs:subPropertyOf geo:sfWithin .
ex:beside a owl:ObjectProperty ; rdfs:label "beside" ; rdfs:comment "Next to." ; rdfs:seeAlso geo:sfTouches .
"""
PLACES = {"square": "POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", "inner": "POINT(0.5 0.5)", "far": "POINT(3 3)"}


class Town:
    """A server over this ontology, with a policy in its shapes or its settings."""

    def __init__(self, folder: Path, policy: str = "", ontology: str = "", **settings: object) -> None:
        for name, text in (("ontology", ONTOLOGY + ontology), ("shapes", policy)):
            (folder / name).mkdir()
            (folder / name / "town.ttl").write_text(PREFIXES + text)
        places: dict[str, object] = {name: folder / name for name in ("data", "ontology", "shapes")}
        quiet = {"readers": 1, "watch_files_s": 0, "reasoner": "none"}
        self._building = build(Settings(**(places | quiet | settings)), model=RecordedModel())  # type: ignore[arg-type]

    async def __aenter__(self) -> Town:
        self.services = await self._building.__aenter__()
        transport = httpx.ASGITransport(create_app(self.services), raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000", timeout=120)
        for name, wkt in PLACES.items():
            shape = f"ex:{name} geo:hasGeometry ex:{name}-g . ex:{name}-g geo:asWKT '{wkt}'^^geo:wktLiteral"
            assert (await self.update(shape)).is_success
        return self

    async def __aexit__(self, *what: object) -> None:
        await self.client.aclose()
        await self._building.__aexit__(None, None, None)

    async def update(self, data: str) -> httpx.Response:
        text = (
            f"PREFIX ex: <{EX}> PREFIX geo: <http://www.opengis.net/ont/geosparql#> INSERT DATA {{ {data} }}"
        )
        headers = {"content-type": "application/sparql-update"}
        return await self.client.post("/update", content=text, headers=headers)

    async def store(self, data: str) -> httpx.Response:
        headers = {"content-type": "text/turtle"}
        return await self.client.post("/store?default", content=PREFIXES + data, headers=headers)


async def test_by_default_clients_are_taken_at_their_word(tmp_path: Path):
    async with Town(tmp_path) as town:
        assert (await town.update("ex:far ex:liesIn ex:square")).is_success
        assert not town.services.place_checks._check_of("update").properties


async def test_a_policy_of_the_shapes_is_for_one_property_and_the_ways_it_names(tmp_path: Path):
    policy = 'ex:liesIn ukg:onGeometryConflict [ ukg:source "update" ; sh:severity sh:Violation ] .'
    async with Town(tmp_path, policy) as town:
        refused = await town.update("ex:far ex:liesIn ex:square . ex:far ex:beside ex:square")
        assert refused.status_code == 422
        (reported,) = refused.json()["rejected"]
        assert "The statement puts" in reported["violations"][0]["message"]
        assert "DC" in reported["violations"][0]["message"]
        assert (await town.update("ex:inner ex:liesIn ex:square . ex:far ex:beside ex:square")).is_success
        assert (await town.store("ex:far ex:liesIn ex:square .")).is_success


async def test_a_warning_lets_in_and_queues(tmp_path: Path):
    policy = 'ex:liesIn ukg:onGeometryConflict [ ukg:source "graph store" ; sh:severity sh:Warning ] .'
    async with Town(tmp_path, ontology=policy) as town:
        assert (await town.store("ex:far ex:liesIn ex:square .")).is_success
        (item,) = (await town.client.get("/review")).json()["items"]
        assert item["violations"][0]["component"].endswith("ContradictsGeometry")


async def test_the_setting_is_for_all_properties_of_place_and_reads_geometries_of_the_change(tmp_path: Path):
    async with Town(tmp_path, geometry_conflict_writes="refuse") as town:
        new = "ex:new geo:hasGeometry ex:new-g . ex:new-g geo:asWKT 'POINT({})'^^geo:wktLiteral . "
        outside, inside = new.format("5 5"), new.format("0.2 0.2")
        assert (await town.update(outside + "ex:new geo:sfWithin ex:square")).status_code == 422
        assert (await town.update(inside + "ex:new geo:sfWithin ex:square")).is_success
        assert (await town.update("ex:unknown ex:liesIn ex:square")).is_success


def test_a_policy_of_the_shapes_that_means_nothing_is_refused_with_its_form(tmp_path: Path):
    (tmp_path / "shapes.ttl").write_text(PREFIXES + "ex:liesIn ukg:onGeometryConflict 'sometimes' .")
    with pytest.raises(ShapeMalformed, match="ukg:source"):
        ShapesGate(load_shapes(tmp_path))
