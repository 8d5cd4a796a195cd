"""A dry run gives what the commit gives."""

from __future__ import annotations

import itertools
import json
import random
from typing import Any

import httpx
import pytest

from server.services import Services
from tests.server.conftest import COLUMBIA, RecordedModel, select, triples

URBAN = "https://w3id.org/urbankg/urban#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
XSD = "http://www.w3.org/2001/XMLSchema#"
GEO = "http://www.opengis.net/ont/geosparql#"
ID = "https://w3id.org/urbankg/id/"
PLACES = [f"{ID}{name}" for name in ("red-hall", "red-halls", "salt-park", "north-side")]
NAMES = ("Red Hall", "Red Halls", "Salt Park", "North Side", "Red Hall")
CLASSES = ("Museum", "Park", "Bridge", "Neighborhood", "Person", "Nothing")
RELATIONS = ("locatedIn", "replacedBy", "partOf", "unheardOf")
OPENED = (("1931", "gYear"), ("1931-05", "gYearMonth"), ("1931-05-01", "date"), ("1932", "gYear"))
SHAPES = ("POINT(-73.96 40.81)", "POLYGON((-74 40.7,-73.9 40.7,-73.9 40.9,-74 40.9,-74 40.7))", "POINT(1")

Answer = dict[str, Any]


def _uri(value: str) -> Answer:
    return {"type": "uri", "value": value}


def _literal(value: str, datatype: str) -> Answer:
    return {"type": "literal", "value": value, "datatype": datatype}


def _statement(draw: random.Random) -> Answer:
    """Any statement about one of four places, right or wrong."""
    place = draw.choice(PLACES)
    predicate, value = draw.choice(
        [
            (RDF + "type", _uri(URBAN + draw.choice(CLASSES))),
            (RDFS + "label", {"type": "literal", "value": draw.choice(NAMES), "xml:lang": "en"}),
            (URBAN + draw.choice(RELATIONS), _uri(draw.choice(PLACES))),
            (URBAN + "opened", (lambda one: _literal(one[0], XSD + one[1]))(draw.choice(OPENED))),
            (URBAN + "height", _literal(draw.choice(("241", "241.4", "300")), XSD + "decimal")),
            (GEO + "hasDefaultGeometry", _uri(place + "/geometry")),
            (GEO + "asWKT", _literal(draw.choice(SHAPES), GEO + "wktLiteral")),
        ]
    )
    subject = place + "/geometry" if predicate == GEO + "asWKT" else place
    confidence = draw.choice((0.5, 0.75, 0.9))
    return {"subject": subject, "predicate": predicate, "object": value, "confidence": confidence}


def verdict(answer: Answer) -> Answer:
    """The members that a dry run and its commit share, without order."""
    reported = {name: answer[name] for name in ("accepted", "rejected", "warnings")}
    plain = {name: sorted(json.dumps(one, sort_keys=True) for one in reported[name]) for name in reported}
    return {**plain, "derived": answer["derived"]}


async def everything(client: httpx.AsyncClient) -> int:
    (found,) = await select(client, "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
    return int(found["n"])


@pytest.mark.parametrize("seed", range(4))
async def test_a_random_batch_gets_the_same_verdict_dry_and_committed(client: httpx.AsyncClient, seed: int):
    draw = random.Random(seed)
    taken = refused = 0
    for size in draw.choices(range(1, 12), k=10):
        body = {"statements": [_statement(draw) for _ in range(size)], "source": f"batch {size}"}
        before, waiting = await everything(client), (await client.get("/review")).json()["total"]
        dry = (await client.post("/candidates", json={**body, "commit": False})).json()
        assert dry["revision"] is None
        assert (await everything(client), (await client.get("/review")).json()["total"]) == (before, waiting)
        done = (await client.post("/candidates", json=body)).json()
        assert verdict(dry) == verdict(done)
        taken, refused = taken + len(done["accepted"]), refused + len(done["rejected"])
    assert min(taken, refused) > 0


async def test_texts_that_depend_on_each_other_get_the_same_verdict_dry_and_committed(
    client: httpx.AsyncClient, model: RecordedModel
):
    said = itertools.product(("Columbia University", "King's College"), ("locatedIn", "opened"))
    values = {"locatedIn": ("located in", "New York City"), "opened": ("opened", "1754")}
    for subject, name in said:
        relation, value = values[name]
        model.replies = [triples((subject, relation, value), (subject, "located in", "Manhattan"))]
        body = {"text": COLUMBIA, "source": f"{subject} {name}"}
        dry = (await client.post("/extractions", json={**body, "commit": False})).json()
        done = (await client.post("/extractions", json=body)).json()
        assert done["accepted"] or done["rejected"]
        assert verdict(dry) == verdict(done)
        assert dry["entities"] == done["entities"]


async def test_turtle_is_tried_with_a_parameter(client: httpx.AsyncClient):
    body = f'<{PLACES[0]}> a <{URBAN}Museum> ; <{RDFS}label> "Red Hall"@en .'
    headers = {"content-type": "text/turtle"}
    before = await everything(client)
    dry = await client.post("/candidates?commit=false", content=body, headers=headers)
    assert (dry.status_code, dry.json()["revision"], await everything(client)) == (200, None, before)
    done = await client.post("/candidates", content=body, headers=headers)
    assert verdict(dry.json()) == verdict(done.json())
    wrong = await client.post("/candidates?commit=perhaps", content=body, headers=headers)
    assert wrong.status_code == 422
    assert "commit" in wrong.text


async def test_what_was_read_of_a_text_is_kept_when_it_cannot_be_judged_in_time(
    client: httpx.AsyncClient, model: RecordedModel, services: Services
) -> None:
    model.replies = [triples(("Elm Hall", "is a", "museum"))]
    limit, services.judging_limit.seconds = services.judging_limit.seconds, 0.0
    refused = await client.post("/extractions", json={"text": "The Elm Hall is a museum."})
    services.judging_limit.seconds = limit
    assert refused.status_code == 503
    kept = refused.json()["dry_run"]
    assert kept in refused.json()["detail"]
    asked = len(model.asked)
    answer = await client.post("/extractions", json={"dry_run": kept})
    assert (answer.status_code, len(model.asked)) == (200, asked)
    assert answer.json()["accepted"]


async def test_the_commit_of_a_dry_run_stores_what_was_shown_and_asks_no_model(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    model.replies = [triples(("Elm Hall", "is a", "museum"), ("Elm Hall", "opened", "1931"))]
    text = "The Elm Hall is a museum. The Elm Hall opened in 1931, as the old people of the town say."
    sent = {"text": text, "commit": False, "source": "box 3"}
    shown = (await client.post("/extractions", json=sent)).json()
    asked = len(model.asked)
    model.replies = [triples(("Elm Hall", "opened", "1999"))]
    answer = await client.post("/extractions", json={"dry_run": shown["id"]})
    assert answer.status_code == 200, answer.text
    done = answer.json()
    assert len(model.asked) == asked
    assert done["revision"] is not None
    for part in ("accepted", "rejected", "warnings", "entities"):
        assert done[part] == shown[part]
    (document,) = (await client.get("/documents")).json()["documents"]
    assert document["source"] == "box 3"
    again = await client.post("/extractions", json={"dry_run": shown["id"]})
    assert again.status_code == 404
    assert "Send the text again" in again.json()["detail"]


@pytest.mark.parametrize(
    "body", [{}, {"text": "a", "dry_run": "b"}, {"dry_run": "b", "commit": False}, {"dry_run": "b" * 101}]
)
async def test_either_a_text_or_a_dry_run_is_sent(client: httpx.AsyncClient, body: Answer) -> None:
    assert (await client.post("/extractions", json=body)).status_code == 422


async def test_a_dry_run_is_judged_again_when_it_is_committed(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    model.replies = [triples(("Elm Hall", "is a", "museum"), ("Elm Hall", "opened", "1931"))]
    text = "The Elm Hall is a museum. The Elm Hall opened in 1931, as the old people of the town say."
    shown = (await client.post("/extractions", json={"text": text, "commit": False})).json()
    (entity,) = shown["entities"]
    facts = f'a <{URBAN}Museum> ; <{RDFS}label> "Elm Hall"@en ; <{URBAN}closed> "1920"^^<{XSD}gYear>'
    closed = f"INSERT DATA {{ <{entity['iri']}> {facts} }}"
    assert (await client.post("/update", data={"update": closed})).status_code in (200, 204)
    done = (await client.post("/extractions", json={"dry_run": shown["id"]})).json()
    assert [one["statement"]["predicate"] for one in done["rejected"]] == [URBAN + "opened"]
