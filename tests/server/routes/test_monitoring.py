"""`/verdicts` and `/queries/slow`: what was judged and what was slow, and who may see which text."""

from __future__ import annotations

from pathlib import Path

import httpx

from server.http.access.keys import Scope
from server.runtime.wiring import build
from server.services import Services
from tests.server.conftest import RecordedModel, client_of, settings_of
from tests.server.intake.test_candidates import TURTLE, post_turtle

LONG = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c }"


async def test_verdicts_are_counted_by_period_and_shape(client: httpx.AsyncClient) -> None:
    before = (await client.get("/verdicts")).json()
    assert before["step"] == "day"
    assert len(before["periods"]) == 30
    assert (await post_turtle(client, TURTLE)).status_code == 200
    await post_turtle(client, '<http://example.org/a> <http://example.org/unheardOf> "x" .')
    after = (await client.get("/verdicts", params={"step": "hour", "periods": 2})).json()
    assert sum(one["accepted"] for one in after["periods"]) >= 5
    assert sum(one["refused"] for one in after["periods"]) == 1
    [other] = after["shapes"]
    assert other["shape"] is None
    assert other["refused"] == sum(other["refused_by_period"]) == 1
    judged = sum(one["accepted"] + one["refused"] for one in after["periods"])
    assert other["refused_rate"] == 1 / judged
    assert other["warned_rate"] == 0


async def test_a_shape_is_named_and_a_dry_run_is_not_counted(client: httpx.AsyncClient) -> None:
    closed = """<http://example.org/m> a <https://w3id.org/urbankg/urban#Museum> ;
        <http://www.w3.org/2000/01/rdf-schema#label> "M"@en ;
        <https://w3id.org/urbankg/urban#opened> "1931"^^<http://www.w3.org/2001/XMLSchema#gYear> ;
        <https://w3id.org/urbankg/urban#closed> "1925"^^<http://www.w3.org/2001/XMLSchema#gYear> ."""
    turtle = {"content-type": "text/turtle"}
    dry = await client.post("/candidates", params={"commit": "false"}, content=closed, headers=turtle)
    assert dry.json()["rejected"]
    assert (await client.get("/verdicts")).json()["shapes"] == []
    await post_turtle(client, closed)
    shapes = (await client.get("/verdicts")).json()["shapes"]
    assert any((one["shape"] or "").endswith("OpenedBeforeClosed") and one["refused"] for one in shapes)


async def test_hours_go_back_no_further_than_they_are_kept(client: httpx.AsyncClient) -> None:
    assert (
        len((await client.get("/verdicts", params={"step": "hour", "periods": 400})).json()["periods"]) == 192
    )
    assert (await client.get("/verdicts", params={"periods": 0})).status_code == 422
    assert (await client.get("/verdicts", params={"step": "week"})).status_code == 422


async def test_the_counts_are_there_after_a_restart(tmp_path: Path) -> None:
    settings = settings_of(data=tmp_path / "data", readers=1)
    async with build(settings, model=RecordedModel()) as services, client_of(services) as client:
        await post_turtle(client, TURTLE)
    async with build(settings, model=RecordedModel()) as services, client_of(services) as client:
        found = (await client.get("/verdicts")).json()
        assert found["periods"][-1]["accepted"] + found["periods"][-2]["accepted"] >= 5


async def run_slowly(services: Services, client: httpx.AsyncClient, query: str, **headers: str) -> None:
    """Run a query with everything counting as slow."""
    services.slow_queries.threshold_s = 1e-9
    sent = {"content-type": "application/sparql-query", **headers}
    assert (await client.post("/sparql", content=query, headers=sent)).status_code == 200


async def test_a_slow_query_is_listed_with_its_times(client: httpx.AsyncClient, services: Services) -> None:
    assert (await client.get("/queries/slow")).json() == {"threshold": 1.0, "queries": []}
    for _ in range(2):
        await run_slowly(services, client, LONG)
    [found] = (await client.get("/queries/slow")).json()["queries"]
    assert (found["query"], found["complete"], found["times"], found["status"]) == (LONG, True, 2, 200)
    assert 0 < found["mean"] <= found["longest"] < 60


async def test_a_query_at_its_limit_is_listed_and_a_quick_one_not(
    client: httpx.AsyncClient, services: Services
) -> None:
    services.slow_queries.threshold_s = 0.05
    endless = "SELECT (COUNT(*) AS ?n) WHERE { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
    answer = await client.post("/sparql", data={"query": endless, "timeout": "0.1"})
    assert answer.status_code == 504
    [found] = (await client.get("/queries/slow")).json()["queries"]
    assert (found["query"], found["status"]) == (endless, 504)


async def test_the_text_of_a_query_is_for_its_sender_and_the_admin(
    client: httpx.AsyncClient, services: Services
) -> None:
    def key(name: str, *scopes: Scope) -> dict[str, str]:
        return {"authorization": f"Bearer {services.keys.create(name, list(scopes))[1]}"}

    ada, bob = key("ada", Scope.READ), key("bob", Scope.READ, Scope.WRITE, Scope.REVIEW, Scope.EXTRACT)
    admin = key("root", Scope.ADMIN)
    await run_slowly(services, client, LONG, **ada)
    await run_slowly(services, client, "ASK { ?a ?b ?c . ?c ?d ?a }")
    seen = {}
    for name, headers in {"ada": ada, "bob": bob, "admin": admin, "none": {}}.items():
        queries = (await client.get("/queries/slow", headers=headers)).json()["queries"]
        assert len(queries) == 2
        seen[name] = {one["query"] for one in queries if one["query"] is not None}
    assert seen["ada"] == {LONG}
    assert seen["bob"] == seen["none"] == set()
    assert seen["admin"] == {LONG, "ASK { ?a ?b ?c . ?c ?d ?a }"}


async def test_no_update_is_listed(client: httpx.AsyncClient, services: Services) -> None:
    services.slow_queries.threshold_s = 1e-9
    update = {"content-type": "application/sparql-update"}
    await client.post("/update", content="INSERT DATA { <urn:a> <urn:b> 1 }", headers=update)
    assert (await client.get("/queries/slow")).json()["queries"] == []
