"""Source records into the graph: geometry through the gate, text through extraction, losses reported."""

import json
from pathlib import Path

import httpx
import pytest

from extractors.errors import ModelReplyError, ModelUnavailable
from server.cli.api import opened_api
from server.cli.extract import extract_files, source_files
from server.settings import Settings
from tests.server.conftest import RecordedModel, select, triples
from tests.support.prepared_processes import urbankg
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

RDFS = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>"
GEO = "http://www.opengis.net/ont/geosparql#"
TEXT = "Bowne Hall is a museum in Flushing that opened in 1985 and has been loved by all since."
REPLY = triples(("Bowne Hall", "is a", "museum"), ("Bowne Hall", "opened", "1985"))
HALL = {
    "name": "Bowne Hall",
    "type": "museum",
    "text": TEXT,
    "geometry": "POINT (-73.82 40.76)",
    "rating": 4.5,
    "url": "https://example.org/reviews/1",
}
PARK = {"name": "Kissena", "type": "park", "geometry": {"type": "Polygon", "coordinates": [
    [[-73.9, 40.7], [-73.8, 40.7], [-73.8, 40.8], [-73.9, 40.8], [-73.9, 40.7]]]}}  # fmt: skip


async def test_a_record_brings_its_place_its_relations_and_the_statements_of_its_text(
    client: httpx.AsyncClient, model: RecordedModel
):
    model.replies = [REPLY]
    answer = (await client.post("/sources", json={"records": [PARK, HALL]})).json()
    park, hall = answer["records"]
    assert park["kind"] == "area"
    assert park["extraction"] is None
    assert answer["cleaning"]["dropped"] == {"null": 1}
    assert hall["kind"] == "review"
    assert hall["feature"]["derived"] == 2
    subjects = {one["subject"] for one in hall["extraction"]["accepted"]}
    assert subjects == {hall["feature"]["iri"]}, "the text is about the place that came with it"
    rows = await select(
        client,
        f"{RDFS} SELECT ?n WHERE {{ <{hall['feature']['iri']}> <{GEO}rcc8ntpp> ?p . ?p rdfs:label ?n }}",
    )
    assert rows == [{"n": "Kissena"}]
    kept = await select(
        client,
        "PREFIX ukg: <https://w3id.org/urbankg/system#> SELECT ?rating ?about "
        "FROM <https://w3id.org/urbankg/graph/provenance> "
        "WHERE { ?run ukg:rating ?rating ; ukg:about ?about }",
    )
    assert kept == [{"rating": "4.5", "about": hall["feature"]["iri"]}]


async def test_the_same_record_again_changes_nothing(client: httpx.AsyncClient):
    first = (await client.post("/sources", json={"records": [PARK]})).json()["records"][0]["feature"]
    again = (await client.post("/sources", json={"records": [PARK]})).json()["records"][0]["feature"]
    assert first["accepted"] > 0
    assert again == {**first, "known": True, "accepted": 0, "derived": 0}


async def test_a_place_that_only_texts_knew_gets_its_geometry(
    client: httpx.AsyncClient, model: RecordedModel
):
    model.replies = [REPLY]
    posted = (await client.post("/extractions", json={"text": TEXT})).json()
    (known,) = {one["subject"] for one in posted["accepted"]}
    answer = (await client.post("/sources", json={"records": [{**HALL, "text": ""}]})).json()
    feature = answer["records"][0]["feature"]
    assert (feature["iri"], feature["known"]) == (known, True)
    rows = await select(client, f"SELECT ?w WHERE {{ <{known}> <{GEO}hasDefaultGeometry>/<{GEO}asWKT> ?w }}")
    assert rows == [{"w": "POINT (-73.82 40.76)"}]


async def test_two_stretches_of_one_street_are_two_features(client: httpx.AsyncClient):
    street = {"name": "C Street", "type": "street"}
    records = [{**street, "geometry": f"LINESTRING (-73.9 {y}, -73.8 {y})"} for y in (40.7, 40.7001)]
    answer = (await client.post("/sources", json={"records": records})).json()
    assert len({one["feature"]["iri"] for one in answer["records"]}) == 2


async def test_a_record_that_cannot_be_read_is_reported_with_its_place_and_nothing_is_written(
    client: httpx.AsyncClient,
):
    response = await client.post("/sources", json={"records": [PARK, {**PARK, "geometry": "POINT (400 1)"}]})
    assert response.status_code == 422
    assert response.json()["errors"][0]["place"] == "records.1"
    assert await select(client, f"{RDFS} SELECT ?s WHERE {{ ?s rdfs:label 'Kissena'@en }}") == []


async def test_a_dry_run_writes_nothing(client: httpx.AsyncClient):
    answer = (await client.post("/sources", json={"records": [PARK], "commit": False})).json()
    assert answer["records"][0]["feature"]["accepted"] > 0
    assert await select(client, f"{RDFS} SELECT ?s WHERE {{ ?s rdfs:label 'Kissena'@en }}") == []


async def test_a_reply_that_cannot_be_used_is_reported_and_the_place_stays(
    client: httpx.AsyncClient, model: RecordedModel
):
    model.replies = [ModelReplyError("The reply is not JSON: ask another model.", "?")]
    (record,) = (await client.post("/sources", json={"records": [HALL]})).json()["records"]
    assert "not JSON" in record["failure"]
    assert record["feature"]["accepted"] > 0


async def test_a_model_that_is_down_is_reported_as_such(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [ModelUnavailable("down")]
    assert (await client.post("/sources", json={"records": [HALL]})).status_code == 503


@pytest.fixture
def halls(tmp_path: Path) -> Path:
    path = tmp_path / "halls.jsonl"
    lines = [json.dumps(HALL), "{broken", json.dumps({**HALL, "name": "Far Hall", "text": "Nice."})]
    path.write_text("\n".join(lines))
    return path


def check_output(output: str, reported: str) -> None:
    records = [json.loads(line) for line in output.splitlines()]
    assert {one["record"] for one in records} == {"halls.jsonl, line 1", "halls.jsonl, line 3"}
    assert "halls.jsonl, line 2: not JSON" in reported
    assert "text dropped, too few words: 1" in reported
    assert "2 places, 1 texts" in reported


def test_files_are_extracted_with_a_report(tmp_path: Path, halls: Path, capfd: pytest.CaptureFixture[str]):
    with running(StandIn(answer=REPLY)) as model:
        settings = Settings(data=tmp_path, model_url=model.url, readers=1)
        with opened_api(settings) as api:
            assert extract_files(api, [halls], mapping=None, limit=None, commit=True) == 1
    written = capfd.readouterr()
    check_output(written.out, written.err)


def test_only_names_of_files_of_records_are_taken_for_such_files(tmp_path: Path):
    (tmp_path / "my halls.jsonl").write_text("")
    there = str(tmp_path / "my halls.jsonl")
    assert source_files(["a.csv", "b.geojson.gz", there]) == [
        Path("a.csv"),
        Path("b.geojson.gz"),
        Path(there),
    ]
    for text in (
        ["The park has a file called a.json"],
        ["a.txt"],
        ["a.csv", "Bryant Park opened in 1847."],
        ["-"],
    ):
        assert source_files(text) == []


@pytest.mark.slow
def test_files_are_extracted_through_the_server_that_holds_the_folder(tmp_path: Path, halls: Path):
    with running(StandIn(answer=REPLY)) as model, RunningServer(tmp_path / "b", model_url=model.url):
        done = urbankg("extract", str(halls), "--data", str(tmp_path / "b"))
    assert done.returncode == 1, done.stderr
    check_output(done.stdout, done.stderr)
