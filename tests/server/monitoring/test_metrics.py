"""What monitors read: metrics that follow what happens, and readiness that means it."""

from pathlib import Path

import httpx
from prometheus_client.parser import text_string_to_metric_families

from server.monitoring.metrics import folder_bytes
from server.services import Services
from tests.server.intake.test_candidates import TURTLE, post_turtle


async def values(client: httpx.AsyncClient) -> dict[str, float]:
    """Each sample by its name and labels."""
    response = await client.get("/metrics")
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/plain; version=0.0.4")
    found = {}
    for family in text_string_to_metric_families(response.text):
        for sample in family.samples:
            labels = "".join(f" {name}={value}" for name, value in sorted(sample.labels.items()))
            found[sample.name + labels] = sample.value
    return found


async def test_a_write_moves_revision_verdicts_and_commit_times(client: httpx.AsyncClient):
    before = await values(client)
    assert (await post_turtle(client, TURTLE)).status_code == 200
    after = await values(client)
    assert after["urbankg_revision"] > before["urbankg_revision"]
    accepted = "urbankg_gate_statements_total verdict=accepted"
    assert after[accepted] - before[accepted] == 5
    assert after["urbankg_commit_seconds_count"] == before["urbankg_commit_seconds_count"] + 1
    assert after["urbankg_store_bytes"] > 0
    assert after["urbankg_change_log_bytes"] > before["urbankg_change_log_bytes"]
    assert after["urbankg_names"] == before["urbankg_names"] + 1


async def test_geometries_of_the_spatial_index_are_counted(client: httpx.AsyncClient):
    before = await values(client)
    place = """<http://e/p> a <https://w3id.org/urbankg/urban#Park> ;
      <http://www.w3.org/2000/01/rdf-schema#label> "Reed Park"@en ;
      <http://www.opengis.net/ont/geosparql#hasDefaultGeometry> <http://e/p/g> .
      <http://e/p/g> a <http://www.opengis.net/ont/geosparql#Geometry> ;
      <http://www.opengis.net/ont/geosparql#asWKT>
        "POINT (-73.95 40.75)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> ."""
    assert (await post_turtle(client, place)).json()["rejected"] == []
    assert (await values(client))["urbankg_geometries"] == before["urbankg_geometries"] + 1


async def test_a_refused_statement_is_counted(client: httpx.AsyncClient):
    await post_turtle(client, '<http://example.org/a> <http://example.org/unheardOf> "x" .')
    found = await values(client)
    assert found["urbankg_gate_statements_total verdict=refused"] == 1
    assert found["urbankg_gate_changes_total verdict=refused"] == 1


async def test_requests_are_counted_by_route_and_never_by_address(client: httpx.AsyncClient):
    await client.get("/sparql", params={"query": "ASK {}"})
    await client.get("/no/such/address")
    found = await values(client)
    assert found["urbankg_request_seconds_count method=GET route=/sparql status=200"] == 1
    assert found["urbankg_request_seconds_count method=GET route=none status=404"] == 1
    assert not any("no/such" in name for name in found)
    assert found["urbankg_queries_total"] >= 1
    assert found["urbankg_query_queue"] == 0
    # One more than a client may hold.
    assert found["urbankg_readers"] == 2


async def test_a_server_is_ready_while_readers_answer_and_the_store_takes_writes(
    client: httpx.AsyncClient, services: Services
):
    revision = services.store.revision()
    response = await client.get("/readyz")
    assert (response.status_code, response.json()["status"]) == (200, "ready")
    assert services.store.revision() == revision
    await services.readers.close()
    response = await client.get("/readyz")
    assert response.status_code == 503
    assert response.json()["checks"]["store"] == "ok"
    assert response.json()["checks"]["readers"] != "ok"
    assert (await client.get("/healthz")).status_code == 200


async def test_a_server_that_leaves_refuses_new_requests(client: httpx.AsyncClient, services: Services):
    services.draining.begin()
    response = await client.get("/healthz")
    assert response.status_code == 503
    assert response.headers["retry-after"]
    assert response.headers["connection"] == "close"
    assert response.json()["title"] == "Shutting down"


def test_the_size_of_a_folder_is_that_of_its_files(tmp_path: Path):
    (tmp_path / "a").write_bytes(b"12345")
    assert folder_bytes(tmp_path) == 5
    assert folder_bytes(tmp_path / "none") == 0
