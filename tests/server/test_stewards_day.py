"""A day of a data steward, as in `docs/stewards.md`: three hundred refusals, worked off by cause."""

import csv
import io
from typing import Any

import httpx
import pytest
from pyoxigraph import RdfFormat, parse

from sparql.model.vocabulary import SH
from tests.server.conftest import select
from tests.support.workshop import PREFIX, RULES, SHORT, submit, update

CITY = "http://example.org/city#"


async def decide(client: httpx.AsyncClient, **members: Any) -> httpx.Response:
    return await client.post("/review/decisions", json={"by": "Ada", **members})


async def total(client: httpx.AsyncClient, **wanted: str) -> int:
    found: int = (await client.get("/review", params=wanted)).json()["total"]
    return found


@pytest.fixture
async def queue(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    """150 parks without a name, 100 statements with a property that nobody knows, 50 long names."""
    turtle = {"content-type": "text/turtle"}
    assert (await shop_client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=turtle)).is_success
    await update(shop_client, "INSERT DATA { :a a :Park ; :name 'High' . :b a :Park ; :name 'Hill' }")
    await submit(shop_client, *((f"nameless{n}", "a", "Park") for n in range(150)))
    await submit(shop_client, *((f"road{n}", "beside", "a") for n in range(100)))
    await submit(shop_client, *((f"place{n}", "name", "'Riverside'") for n in range(50)))
    return shop_client


@pytest.mark.slow
async def test_three_hundred_refusals_are_worked_off_by_cause(queue: httpx.AsyncClient) -> None:
    assert await total(queue) == 300

    # What is there: three causes.
    groups = (await queue.get("/review/groups")).json()["groups"]
    assert [group["items"] for group in groups] == [150, 100, 50]
    nameless, unknown, long = (group["group"] for group in groups)
    facets = (await queue.get("/review/facets")).json()["facets"]
    assert {one["value"]: one["items"] for one in facets["severity"]} == {"Violation": 300}

    # The largest cause is for a colleague, with a file to take along.
    assigned = {"assignee": "Grace", "filter": {"group": nameless}, "expect": 150}
    assert (await queue.post("/review/assignments", json=assigned)).json()["items"] == 150
    assert await total(queue, assignee="Grace") == 150
    table = (await queue.get("/review/export", params={"group": nameless})).text
    assert len(list(csv.DictReader(io.StringIO(table)))) == 150
    report = (await queue.get("/review/export", params={"group": nameless, "format": "shacl"})).content
    results = {quad.object for quad in parse(report, format=RdfFormat.TURTLE) if quad.predicate == SH.result}
    assert len(results) == 150

    # Slips decide nothing: a misspelt member, a misspelt value, no number, a wrong one.
    reject = {"decision": "reject", "reason": "not our word"}
    assert (await decide(queue, **reject, filter={"gruop": unknown})).status_code == 422
    assert (await decide(queue, **reject, filter={"component": "UnknwnTerm"}, expect=100)).status_code == 422
    assert (await decide(queue, **reject, filter={"group": unknown})).status_code == 422
    wrong = await decide(queue, **reject, filter={"group": unknown}, expect=12)
    assert (wrong.status_code, wrong.json()["found"]) == (409, 100)
    assert await total(queue) == 300

    # The unknown property is one that the ontology has: all are corrected alike, tried first.
    better = {
        "decision": "accept",
        "filter": {"group": unknown},
        "correction": {"property": CITY + "near"},
        "expect": 100,
    }
    tried = (await decide(queue, **better, dry_run=True)).json()
    assert (len(tried["added"]), tried["refused"]) == (100, [])
    assert await total(queue) == 300
    assert len((await decide(queue, **better)).json()["items"]) == 100
    assert len(await select(queue, PREFIX + "SELECT ?s { ?s :near :a }")) == 100

    # Too quick: the long names are rejected, which is undone by the decision's identifier.
    done = (await decide(queue, **reject, filter={"group": long}, expect=50)).json()
    assert await total(queue) == 150
    identifier = (await queue.get("/review/decisions")).json()["decisions"][0]["id"]
    assert done["decision"].endswith(identifier)
    why = {"by": "Ada", "reason": "too quick"}
    undone = await queue.post(f"/review/decisions/{identifier}/undo", json=why)
    assert len(undone.json()["items"]) == 50
    value = {"value": {"type": "literal", "value": "River"}}
    await decide(queue, decision="accept", filter={"group": long}, correction=value, expect=50)
    assert len(await select(queue, PREFIX + "SELECT ?s { ?s :name 'River' }")) == 50

    # The colleague asks, and rejects.
    mine = (await queue.get("/review", params={"assignee": "Grace", "limit": 1})).json()["items"][0]["id"]
    comment = {"text": "The register has no name either.", "by": "Grace"}
    assert (await queue.post(f"/review/{mine}/comments", json=comment)).is_success
    rest = {"decision": "reject", "filter": {"assignee": "Grace"}, "reason": "no name known", "by": "Grace"}
    assert (await queue.post("/review/decisions", json={**rest, "expect": 150})).is_success
    assert await total(queue) == 0
    assert await total(queue, status="any") == 300
