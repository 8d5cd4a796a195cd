"""What operators do to a server in use: load, dump, back up, optimize."""

import gc
from pathlib import Path

import httpx
import pyoxigraph
import pytest

from server.data import storage
from server.services import Services
from sparql.model.vocabulary import ONTOLOGY
from sparql.storage.backup import restore
from tests.server.conftest import select

EX = "http://example.org/"
COUNT = f"SELECT (COUNT(*) AS ?n) WHERE {{ ?s <{EX}p> ?o }}"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.nq"
    path.write_text(f"<{EX}a> <{EX}p> <{EX}b> .\n<{EX}c> <{EX}p> <{EX}d> <{EX}graph> .\n")
    return path


async def test_files_of_the_servers_machine_are_loaded_and_dumped(client: httpx.AsyncClient, file: Path):
    answer = await client.post("/loads", json={"files": [str(file)]})
    assert answer.status_code == 200, answer.text
    assert answer.json()["loads"][0]["refused"] == 0
    assert await select(client, COUNT) == [{"n": "1"}]
    dump = await client.get("/dump")
    assert dump.headers["content-type"] == "application/n-quads"
    quads = list(pyoxigraph.parse(dump.content, format=pyoxigraph.RdfFormat.N_QUADS))
    assert {quad.graph_name for quad in quads} == {
        pyoxigraph.DefaultGraph(),
        pyoxigraph.NamedNode(EX + "graph"),
    }
    turtle = await client.get("/dump", params={"graph": ONTOLOGY.value}, headers={"accept": "text/turtle"})
    assert turtle.headers["content-type"].startswith("text/turtle")
    assert "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n" in turtle.text
    assert "\n\ta owl:Class ;" in turtle.text or " a owl:Class" in turtle.text
    assert (await client.get("/dump", params={"graph": EX + "none"})).status_code == 404
    assert (await client.get("/dump", params={"format": "docx"})).status_code == 400


async def test_a_load_of_the_sample_says_how_many_relations_came_with_it(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
):
    geo = "http://www.opengis.net/ont/geosparql#"
    area = "POLYGON ((-74.1 40.6, -73.9 40.6, -73.9 40.8, -74.1 40.8, -74.1 40.6))"
    rdfs = "http://www.w3.org/2000/01/rdf-schema#"
    turtle = f"@prefix geo: <{geo}> . @prefix rdfs: <{rdfs}> ." + "".join(
        f"""
        <{EX}{name}> a geo:Feature ; rdfs:label '{name}' ; geo:hasDefaultGeometry <{EX}{name}/geometry> .
        <{EX}{name}/geometry> a geo:Geometry ; geo:asWKT "{wkt}"^^geo:wktLiteral .
        """
        for name, wkt in (("a", "POINT (-74 40.7)"), ("b", area))
    )
    quads = list(pyoxigraph.parse(turtle, format=pyoxigraph.RdfFormat.TURTLE))
    monkeypatch.setattr(storage, "sample_city", lambda base: (quad.triple for quad in quads))
    answer = await client.post("/loads", json={"sample": True})
    assert answer.status_code == 200, answer.text
    reported = answer.json()["loads"][0]
    assert (reported["accepted"], reported["derived"]) == (10, 2)
    relation = f"SELECT ?b {{ <{EX}a> <{geo}rcc8ntpp> ?b }}"
    assert await select(client, relation) == [{"b": f"{EX}b"}]
    again = await client.post("/loads", json={"sample": True})
    assert again.json()["loads"][0]["derived"] == 0


async def test_a_refused_file_is_no_success_and_the_others_are_in(client: httpx.AsyncClient, tmp_path: Path):
    prefix = "@prefix geo: <http://www.opengis.net/ont/geosparql#> .\n"
    bad, good = tmp_path / "bad.ttl", tmp_path / "good.ttl"
    bad.write_text(f"{prefix}<{EX}a> geo:hasDefaultGeometry <{EX}g1>, <{EX}g2> ; <{EX}p> 1 .\n")
    good.write_text(f"<{EX}b> <{EX}p> 1 .\n")
    answer = await client.post("/loads", json={"files": [str(bad), str(good)]})
    assert answer.status_code == 422, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    reported = answer.json()
    assert "bad.ttl" in reported["detail"]
    assert "good.ttl" not in reported["detail"]
    assert [(one["accepted"], one["refused"] > 0) for one in reported["loads"]] == [(0, True), (1, False)]
    assert await select(client, COUNT) == [{"n": "1"}]
    partial = await client.post("/loads", json={"files": [str(bad)], "partial": True})
    assert partial.status_code == 200, partial.text


async def test_a_file_that_cannot_be_read_names_those_that_were_loaded_before_it(
    client: httpx.AsyncClient, tmp_path: Path
):
    good, cut = tmp_path / "good.ttl", tmp_path / "cut.ttl"
    good.write_text(f"<{EX}b> <{EX}p> 1 .\n")
    cut.write_text(f"<{EX}b> <{EX}p> 2 .\n<{EX}b> <{EX}p>")
    answer = await client.post("/loads", json={"files": [str(good), str(cut)]})
    assert answer.status_code == 422, answer.text
    detail = answer.json()["detail"]
    assert "cut.ttl, line 2" in detail
    assert "nothing of it was loaded" in detail
    assert f"Loaded before it: {good}." in detail
    assert await select(client, COUNT) == [{"n": "1"}]


async def test_a_bulk_load_passes_the_gate_and_reports_what_it_let_in(
    client: httpx.AsyncClient, tmp_path: Path
):
    path = tmp_path / "bulk.ttl"
    path.write_text(
        "@prefix geo: <http://www.opengis.net/ont/geosparql#> .\n"
        f"<{EX}a> geo:hasDefaultGeometry <{EX}g1>, <{EX}g2> ; <{EX}p> 1 .\n"
    )
    answer = await client.post("/loads", json={"files": [str(path)], "bulk": True})
    assert answer.status_code == 200, answer.text
    (reported,) = answer.json()["loads"]
    assert (reported["accepted"], reported["refused"]) == (3, 0)
    assert reported["violations"] > 0
    assert reported["examples"]
    assert await select(client, COUNT) == [{"n": "1"}]


async def test_the_report_of_a_bulk_load_leaves_out_of_each_search_for_garbage_what_was_left_out_before(
    client: httpx.AsyncClient, file: Path
):
    thresholds, frozen = gc.get_threshold(), gc.get_freeze_count()
    assert frozen > 10_000
    answer = await client.post("/loads", json={"files": [str(file)], "bulk": True})
    assert answer.status_code == 200, answer.text
    assert gc.get_freeze_count() > frozen / 2
    assert gc.get_threshold() == thresholds


@pytest.mark.parametrize("small", [0, 2**40])
async def test_a_bulk_load_by_which_the_store_grows_much_ends_with_compacted_files(
    client: httpx.AsyncClient, services: Services, file: Path, monkeypatch: pytest.MonkeyPatch, small: int
):
    compacted: list[bool] = []
    monkeypatch.setattr(storage, "_SMALL_BYTES", small)
    monkeypatch.setattr(storage, "_GROWN", 0)
    monkeypatch.setattr(services.store, "optimize", lambda: compacted.append(True))
    answer = await client.post("/loads", json={"files": [str(file)], "bulk": True})
    assert answer.status_code == 200, answer.text
    assert len(compacted) == (small == 0)


@pytest.mark.parametrize(
    ("path", "message", "status"),
    [
        ("/loads", {"files": ["relative.ttl"]}, 422),
        ("/loads", {"files": ["/no/such/file.ttl"]}, 422),
        ("/loads", {}, 422),
        ("/loads", {"files": []}, 422),
        ("/loads", {"file": ["/no/such/file.ttl"], "sample": True}, 422),
        ("/backup", {"folder": "relative"}, 422),
        ("/backup", {}, 422),
    ],
)
async def test_what_cannot_be_done_is_reported_in_words(
    shared_client: httpx.AsyncClient, path: str, message: dict[str, object], status: int
):
    answer = await shared_client.post(path, json=message)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"


async def test_a_backup_of_a_server_in_use_can_be_restored(
    client: httpx.AsyncClient, file: Path, tmp_path: Path
):
    await client.post("/loads", json={"files": [str(file)]})
    answer = await client.post("/backup", json={"folder": str(tmp_path / "kept")})
    assert answer.status_code == 200, answer.text
    assert restore(tmp_path / "kept", tmp_path / "again").revision == answer.json()["revision"]
    again = await client.post("/backup", json={"folder": str(tmp_path / "kept")})
    assert again.status_code == 409
    assert (await client.post("/optimize")).status_code == 200


async def test_a_page_of_a_foreign_origin_cannot_do_it(shared_client: httpx.AsyncClient, tmp_path: Path):
    headers = {"origin": "https://evil.example"}
    answer = await shared_client.post("/backup", json={"folder": str(tmp_path / "kept")}, headers=headers)
    assert answer.status_code == 403
    assert not (tmp_path / "kept").exists()
