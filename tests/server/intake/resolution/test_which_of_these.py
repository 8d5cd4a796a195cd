"""A known entity is written to on its exact name, kind and region; for anything else a person is asked."""

import httpx
import pytest

from tests.server.conftest import RecordedModel, select
from tests.server.intake.resolution.test_resolution import GEO, ID, RDFS, SYSTEM, URBAN, load, names, say

CITY = f"""
@prefix urban: <{URBAN}> . @prefix rdfs: <{RDFS}> . @prefix geo: <{GEO}> . @prefix id: <{ID}> .
id:ny a urban:City ; rdfs:label "New York City"@en .
id:maspeth a urban:Neighborhood ; rdfs:label "Maspeth"@en ; urban:locatedIn id:ny .
id:tunnel a urban:Tunnel ; rdfs:label "Lincoln Tunnel"@en ; urban:locatedIn id:ny .
id:bathgate a urban:Neighborhood ; rdfs:label "Bathgate"@en ; urban:locatedIn id:ny .
id:fordham a urban:Neighborhood ; rdfs:label "Fordham"@en ; urban:locatedIn id:ny .
id:parkchester a urban:Neighborhood ; rdfs:label "Parkchester"@en ; urban:locatedIn id:ny .
id:bayside a urban:Neighborhood ; rdfs:label "Bayside"@en ; urban:locatedIn id:ny .
id:clocks a urban:Museum ; rdfs:label "Museum of Clocks"@en ; urban:locatedIn id:ny .
"""


async def about(client: httpx.AsyncClient, iri: str) -> set[tuple[str, str]]:
    return {(r["p"], r["o"]) for r in await select(client, f"SELECT ?p ?o WHERE {{ <{ID}{iri}> ?p ?o }}")}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("MASP", "maspeth"),
        ("Bath", "bathgate"),
        ("Ford", "fordham"),
        ("Park", "parkchester"),
        ("Bay", "bayside"),
    ],
)
async def test_the_beginning_of_a_name_is_another_name(
    client: httpx.AsyncClient, model: RecordedModel, name: str, known: str
):
    await load(client, CITY)
    before = await about(client, known)
    answer = await say(
        client,
        model,
        f"{name} is a neighborhood of Weston. {name} was established in 1947 and has grown ever since.",
        (name, "is a", "neighborhood"),
        (name, "established", "1947"),
    )
    assert [(one["label"], one["new"]) for one in answer["entities"]] == [(name, True)]
    assert await about(client, known) == before


@pytest.mark.parametrize(
    ("text", "rows", "status"),
    [
        pytest.param(
            "Lincoln Tunnel is a puzzle about rush hours. Lincoln Tunnel was demolished in 1998, sadly.",
            [("Lincoln Tunnel", "is a", "puzzle"), ("Lincoln Tunnel", "demolished", "1998")],
            422,  # As a new one it still has no kind.
            id="of a kind without a class",
        ),
        pytest.param(
            "Lincoln Tunnel is a museum on the hill. Lincoln Tunnel was demolished in 1998, to great regret.",
            [("Lincoln Tunnel", "is a", "museum"), ("Lincoln Tunnel", "demolished", "1998")],
            200,
            id="of another class",
        ),
        pytest.param(
            "Liberty Bay is a city. The Elm Zoo is located in Liberty Bay. The Lincoln Tunnel was demolished "
            "in 1998.",
            [
                ("Liberty Bay", "is a", "city"),
                ("Elm Zoo", "located in", "Liberty Bay"),
                ("Lincoln Tunnel", "demolished", "1998"),
            ],
            200,
            id="in a text about another city",
        ),
    ],
)
async def test_a_namesake_of_another_kind_or_region_is_not_written_onto_the_known_one(
    client: httpx.AsyncClient,
    model: RecordedModel,
    text: str,
    rows: list[tuple[str, str, str]],
    status: int,
):
    await load(client, CITY)
    before = await about(client, "tunnel")
    answer = await say(client, model, text, *rows)
    assert await about(client, "tunnel") == before
    waiting = {one["statement"]["predicate"]: one["violations"] for one in answer["rejected"]}
    assert SYSTEM + "Namesake" in {one["component"] for one in waiting[URBAN + "demolished"]}
    (item,) = (await client.get("/review", params={"predicate": URBAN + "demolished"})).json()["items"]
    (choice,) = (await client.get(f"/review/{item['id']}")).json()["choices"]
    assert [one["iri"] for one in choice["candidates"]] == [ID + "tunnel"]
    decided = await client.post(f"/review/{item['id']}/accept", json={"entities": {choice["entity"]: None}})
    assert decided.status_code == status, decided.text
    assert await about(client, "tunnel") == before
    if status != 200:
        return
    (row,) = await select(
        client, f'SELECT ?s WHERE {{ ?s <{RDFS}label> "Lincoln Tunnel"@en ; <{URBAN}demolished> ?d }}'
    )
    assert row["s"] != ID + "tunnel"


async def test_a_kind_and_a_region_that_agree_are_written(client: httpx.AsyncClient, model: RecordedModel):
    await load(client, CITY)
    answer = await say(
        client,
        model,
        "The Lincoln Tunnel is a tunnel in New York City. The Lincoln Tunnel opened in 1937 to traffic.",
        ("Lincoln Tunnel", "is a", "tunnel"),
        ("Lincoln Tunnel", "located in", "New York City"),
        ("Lincoln Tunnel", "opened", "1937"),
    )
    assert answer["rejected"] == []
    assert (URBAN + "opened", "1937") in await about(client, "tunnel")


async def test_other_words_for_a_known_name_wait_and_a_person_chooses(
    client: httpx.AsyncClient, model: RecordedModel
):
    await load(client, CITY)
    before = await about(client, "clocks")
    rows = [("Clock Museum", "is a", "museum"), ("Clock Museum", "closed", "1999")]
    text = "The Clock Museum is a museum. The Clock Museum closed in 1999, and nobody knows quite why."
    answer = await say(client, model, text, *rows)
    assert answer["accepted"] == []
    assert await about(client, "clocks") == before
    items = (await client.get("/review")).json()["items"]
    assert len(items) == 3
    closed = next(one for one in items if one["statement"]["predicate"] == URBAN + "closed")
    (choice,) = (await client.get(f"/review/{closed['id']}")).json()["choices"]
    assert (choice["name"], [one["label"] for one in choice["candidates"]]) == (
        "Clock Museum",
        ["Museum of Clocks"],
    )
    path = f"/review/{closed['id']}/accept"
    bad = await client.post(path, json={"entities": {}})
    assert bad.status_code == 422
    assert "entities" in bad.json()["detail"]
    assert (await client.post(path, json={"entities": {"no iri": None}})).status_code == 422
    unknown = {"entities": {choice["entity"]: ID + "nobody"}}
    assert (await client.post(path, json=unknown)).status_code == 422
    body = {"entities": {choice["entity"]: ID + "clocks"}, "by": "Ada"}
    tried = await client.post(path, json={**body, "dry_run": True})
    assert tried.status_code == 200
    assert await about(client, "clocks") == before
    decided = (await client.post(path, json=body)).json()
    assert len(decided["items"]) == 3
    assert await names(client, ID + "clocks") == {"Museum of Clocks", "Clock Museum"}
    assert (URBAN + "closed", "1999") in await about(client, "clocks")
    assert (await client.get("/review")).json()["total"] == 0
    undone = await client.post(f"/review/decisions/{decided['decision'].rpartition('/')[2]}/undo", json={})
    assert undone.status_code == 200
    assert await about(client, "clocks") == before


@pytest.mark.parametrize("predicate", [f"{RDFS}label", "http://www.w3.org/2004/02/skos/core#altLabel"])
async def test_a_new_label_of_a_known_entity_waits_whoever_sends_it(
    client: httpx.AsyncClient, predicate: str
):
    await load(client, CITY)
    sent = {
        "subject": ID + "maspeth",
        "predicate": predicate,
        "object": {"type": "literal", "value": "MASP", "xml:lang": "en"},
    }
    answer = (await client.post("/candidates", json={"statements": [sent]})).json()
    assert answer["accepted"] == []
    assert [one["component"] for one in answer["rejected"][0]["violations"]] == [SYSTEM + "NameOfKnown"]
    assert await names(client, ID + "maspeth") == {"Maspeth"}


async def test_a_client_s_statements_of_a_namesake_wait_as_those_of_a_text(client: httpx.AsyncClient):
    await load(client, CITY)
    text = "Lincoln Tunnel is a computer game. Lincoln Tunnel was demolished in 1998."

    def said(predicate: str, value: dict[str, str], quote: str) -> dict[str, object]:
        start = text.index(quote)
        evidence = {"start": start, "end": start + len(quote), "quote": quote}
        return {"subject": ID + "tunnel", "predicate": predicate, "object": value, "evidence": evidence}

    year = {"type": "literal", "value": "1998", "datatype": "http://www.w3.org/2001/XMLSchema#gYear"}
    kind = {"type": "literal", "value": "computer game"}
    statements = [
        said("http://www.w3.org/1999/02/22-rdf-syntax-ns#type", kind, "Lincoln Tunnel is a computer game"),
        said(URBAN + "demolished", year, "Lincoln Tunnel was demolished in 1998"),
    ]
    answer = (await client.post("/candidates", json={"statements": statements, "text": text})).json()
    assert answer["accepted"] == []
    assert {SYSTEM + "Namesake"} <= {
        violation["component"] for one in answer["rejected"] for violation in one["violations"]
    }
