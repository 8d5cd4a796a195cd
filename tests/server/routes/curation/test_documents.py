"""Documents over HTTP: what a text supports, and taking it back."""

import httpx

from server.services import Services
from tests.server.conftest import COLUMBIA, RecordedModel, select, triples

URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TEXT = "Bowne Hall is a museum. Bowne Hall opened in 1990 and closed in 1985."
REPLY = triples(
    ("Bowne Hall", "is a", "museum"), ("Bowne Hall", "opened", "1990"), ("Bowne Hall", "closed", "1985")
)


async def post(client: httpx.AsyncClient, model: RecordedModel, text: str, reply: str) -> dict:
    model.replies = [reply]
    return (await client.post("/extractions", json={"text": text, "source": "a leaflet"})).json()


async def only_document(client: httpx.AsyncClient) -> str:
    (document,) = (await client.get("/documents")).json()["documents"]
    return document["id"]


async def test_a_document_shows_its_statements_with_words_origin_versions_and_state(
    client: httpx.AsyncClient, model: RecordedModel, services: Services
):
    await post(client, model, TEXT, REPLY)
    document = await only_document(client)
    shown = (await client.get(f"/documents/{document}")).json()
    assert shown["text"] == TEXT
    assert (shown["source"], shown["times"], shown["total"]) == ("a leaflet", 1, 4)
    states = {one["state"] for one in shown["statements"]}
    assert states == {"accepted", "open"}
    for one in shown["statements"]:
        evidence = one["evidence"]
        assert TEXT[evidence["start"] : evidence["end"]] == evidence["quote"]
        assert (one["model"], one["shapes_version"]) == ("recorded", services.gate.version)
        assert one["ontology_version"] == services.schema.version
        assert one["ontologies"] == [iri.value for iri in services.schema.version_iris]
        assert one["prompt_version"]
    page = (await client.get(f"/documents/{document}", params={"state": "open", "limit": 1})).json()
    assert page["total"] == len(page["statements"]) == 1
    assert page["statements"][0]["violations"]


async def test_documents_are_listed_filtered_and_paged(client: httpx.AsyncClient, model: RecordedModel):
    await post(client, model, TEXT, REPLY)
    await post(client, model, COLUMBIA, triples(("Columbia University", "is a", "university")))
    page = (await client.get("/documents", params={"limit": 1})).json()
    assert page["total"] == 2
    assert page["documents"][0]["characters"] == len(COLUMBIA)
    found = (await client.get("/documents", params={"text": "bowne"})).json()["documents"]
    assert [(one["statements"], one["open"]) for one in found] == [(3, 1)]
    assert (await client.get("/documents", params={"source": "nobody"})).json()["total"] == 0


async def test_a_removed_document_takes_along_what_only_it_supported(
    client: httpx.AsyncClient, model: RecordedModel
):
    everything = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"
    before = await select(client, everything)
    await post(client, model, TEXT, REPLY)
    document = await only_document(client)
    answer = await client.delete(f"/documents/{document}", params={"reason": "asked to", "by": "Ada"})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["removed"]) == 3
    assert await select(client, everything) == before
    assert (await client.get("/review")).json()["total"] == 0
    gone = await client.get(f"/documents/{document}")
    assert gone.status_code == 410
    assert (gone.json()["by"], gone.json()["reason"]) == ("Ada", "asked to")
    assert (await client.delete(f"/documents/{document}")).status_code == 410
    assert (await client.get("/documents/nothing")).status_code == 404
    rows = await select(
        client,
        """PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX ukg: <https://w3id.org/urbankg/system#>
        SELECT (COUNT(?t) AS ?n) FROM <https://w3id.org/urbankg/graph/provenance>
        WHERE { ?d prov:wasInvalidatedBy ?r . ?r a ukg:Removal ; ukg:removed ?t }""",
    )
    assert rows == [{"n": "3"}]


async def test_a_second_text_about_the_same_thing_keeps_it_when_the_first_goes(
    client: httpx.AsyncClient, model: RecordedModel
):
    await post(client, model, TEXT, REPLY)
    first = await only_document(client)
    second = "Bowne Hall is a museum in the city, and one of the oldest of its kind."
    await post(client, model, second, triples(("Bowne Hall", "is a", "museum")))
    await client.delete(f"/documents/{first}")
    assert await select(client, f"SELECT ?l WHERE {{ ?s <{LABEL}> ?l ; a <{URBAN}Museum> }}") == [
        {"l": "Bowne Hall"}
    ]


async def test_relations_go_with_the_text_that_gave_the_geometry(client: httpx.AsyncClient):
    from tests.server.intake.test_candidates import PLACE, TURTLE

    square = "POLYGON((-74 40.7,-73.9 40.7,-73.9 40.9,-74 40.9,-74 40.7))"
    region = TURTLE.replace("test-hall", "area").replace("POINT(-73.96 40.81)", square)
    region = region.replace("sf:Point", "sf:Polygon").replace("Museum", "Park")
    for name, body in (("hall", TURTLE), ("area", region)):
        headers = {"content-type": "text/turtle"}
        await client.post("/candidates", content=body, params={"source": name}, headers=headers)
    asks = f"SELECT ?p WHERE {{ <{PLACE}> ?p ?other . FILTER(CONTAINS(STR(?p), 'rcc8')) }}"
    assert len(await select(client, asks)) == 1
    (found,) = (await client.get("/documents", params={"source": "area"})).json()["documents"]
    answer = (await client.delete(f"/documents/{found['id']}")).json()
    assert answer["relations_removed"] == 2
    assert await select(client, asks) == []


async def test_candidates_may_bring_the_text_they_come_from(client: httpx.AsyncClient):
    from tests.server.intake.test_candidates import statement

    kind = {"type": "uri", "value": URBAN + "Museum"}
    found = statement(
        "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
        kind,
        evidence={"start": 0, "end": 4, "quote": "Hall"},
    )
    wrong = {"statements": [found], "text": "A hall."}
    assert (await client.post("/candidates", json=wrong)).status_code == 422
    response = await client.post("/candidates", json={"statements": [found], "text": "Hall of fame."})
    assert response.status_code == 200
    assert (await client.get("/documents", params={"text": "fame"})).json()["total"] == 1


async def test_nothing_of_a_removed_text_waits_for_review_when_it_brings_others_down(
    client: httpx.AsyncClient, model: RecordedModel
):
    first = "Bowne Hall is a museum. Bowne Hall opened in 1990."
    opened = ("Bowne Hall", "opened", "1990")
    await post(client, model, first, triples(("Bowne Hall", "is a", "museum"), opened))
    removed = await only_document(client)
    await post(client, model, "Bowne Hall opened in 1990.", triples(opened))
    answer = await client.delete(f"/documents/{removed}")
    assert answer.status_code == 200, answer.text
    assert answer.json()["fallen"], "without its kind the year of the other text does not conform"
    items = (await client.get("/review")).json()["items"]
    assert items
    assert all(removed not in (item["document"] or "") for item in items)
    # A text that comes again can be removed again.
    await post(client, model, first, triples(("Bowne Hall", "is a", "museum"), opened))
    for document in (await client.get("/documents")).json()["documents"]:
        assert (await client.delete(f"/documents/{document['id']}")).status_code == 200
    assert (await client.get("/review")).json()["total"] == 0
