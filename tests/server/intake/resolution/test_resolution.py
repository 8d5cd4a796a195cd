"""Names of one thing in several texts: linked, queued or new; merged and split; through the whole server."""

import httpx
import pytest

from server.services import Services
from tests.server.conftest import RecordedModel, select, triples

URBAN = "https://w3id.org/urbankg/urban#"
ID = "https://w3id.org/urbankg/id/"
GEO = "http://www.opengis.net/ont/geosparql#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SYSTEM = "https://w3id.org/urbankg/system#"
DUPLICATE = SYSTEM + "PossibleDuplicate"

CITY = f"""
@prefix urban: <{URBAN}> . @prefix rdfs: <{RDFS}> . @prefix geo: <{GEO}> . @prefix id: <{ID}> .
@prefix sf: <http://www.opengis.net/ont/sf#> .
id:clocks a urban:Museum ; rdfs:label "Clock Museum"@en ; geo:hasDefaultGeometry id:g1 .
id:g1 a sf:Point ; geo:asWKT "POINT (-73.95 40.80)"^^geo:wktLiteral .
id:harlem a urban:Neighborhood ; rdfs:label "Harlem"@en ; geo:hasDefaultGeometry id:g2 .
id:g2 a sf:Polygon ;
  geo:asWKT "POLYGON ((-73.96 40.79, -73.94 40.79, -73.95 40.81, -73.96 40.79))"^^geo:wktLiteral .
id:island a urban:Borough ; rdfs:label "Staten Island"@en ; geo:hasDefaultGeometry id:g3 .
id:g3 a sf:Polygon ;
  geo:asWKT "POLYGON ((-74.2 40.5, -74.1 40.5, -74.1 40.6, -74.2 40.6, -74.2 40.5))"^^geo:wktLiteral .
"""


async def load(client: httpx.AsyncClient, turtle: str) -> None:
    response = await client.post("/store?default", content=turtle, headers={"content-type": "text/turtle"})
    assert response.status_code in (201, 204), response.text


async def say(client: httpx.AsyncClient, model: RecordedModel, text: str, *rows: tuple[str, str, str]):
    model.replies = [triples(*rows)]
    return (await client.post("/extractions", json={"text": text})).json()


async def names(client: httpx.AsyncClient, iri: str) -> set[str]:
    rows = await select(
        client,
        f"SELECT ?l WHERE {{ <{iri}> <{RDFS}label>|<http://www.w3.org/2004/02/skos/core#altLabel> ?l }}",
    )
    return {row["l"] for row in rows}


async def test_two_names_of_one_place_in_two_texts_are_one_node_when_a_person_says_so(
    client: httpx.AsyncClient, model: RecordedModel
):
    first = await say(
        client,
        model,
        "St. Mark's Hall is a museum. St. Mark's Hall opened in 1931 and has been busy ever since.",
        ("St. Mark's Hall", "is a", "museum"),
        ("St. Mark's Hall", "opened", "1931"),
    )
    second = await say(
        client,
        model,
        "The Hall of Saint Mark is a museum. The Hall of Saint Mark closed in 1999, to great regret.",
        ("Hall of Saint Mark", "is a", "museum"),
        ("Hall of Saint Mark", "closed", "1999"),
    )
    (one,), (other,) = first["entities"], second["entities"]
    assert one["new"]
    assert other["new"]
    assert second["accepted"] == []
    assert {v["component"] for r in second["rejected"] for v in r["violations"]} == {SYSTEM + "AmbiguousName"}
    assert await names(client, one["iri"]) == {"St. Mark's Hall"}
    item = (await client.get("/review")).json()["items"][0]
    answer = {"entities": {other["iri"]: one["iri"]}}
    decided = await client.post(f"/review/{item['id']}/accept", json=answer)
    assert decided.status_code == 200, decided.text
    assert await names(client, one["iri"]) == {"St. Mark's Hall", "Hall of Saint Mark"}
    rows = await select(
        client, f"SELECT ?s WHERE {{ ?s a <{URBAN}Museum> ; <{URBAN}opened> ?o ; <{URBAN}closed> ?c }}"
    )
    assert rows == [{"s": one["iri"]}]
    again = await say(
        client,
        model,
        "The Hall of Saint Mark, they say, is a museum that nobody who has seen it will forget.",
        ("Hall of Saint Mark", "is a", "museum"),
    )
    assert again["entities"][0]["iri"] == one["iri"]


async def test_a_name_that_is_only_like_another_is_new_and_queued(
    client: httpx.AsyncClient, model: RecordedModel
):
    await load(client, CITY)
    answer = await say(
        client,
        model,
        "The Old Clock Museum Annex is a museum, and the Grand Clock Museum is a museum as well.",
        ("Grand Clock Museum", "is a", "museum"),
    )
    (entity,) = answer["entities"]
    assert entity["new"]
    (item,) = (await client.get("/review")).json()["items"]
    (violation,) = item["violations"]
    assert (violation["component"], violation["value"]["value"]) == (DUPLICATE, ID + "clocks")
    assert violation["message"].startswith("It may be Clock Museum: the names are ")
    assert "<" not in violation["message"]
    assert item["accepted"]
    shown = (await client.get(f"/review/{item['id']}")).json()
    assert shown["similar"]["subject"][0]["iri"] == ID + "clocks"
    body = {"keep": ID + "clocks", "merge": entity["iri"], "by": "Ada", "reason": "the same house"}
    merged = (await client.post("/entities/merge", json=body)).json()
    assert merged["statements"] == 2
    assert await names(client, ID + "clocks") == {"Clock Museum", "Grand Clock Museum"}
    assert (await client.get("/review")).json()["total"] == 0
    listed = (await client.get("/entities/merges")).json()["merges"]
    assert [(one["id"], one["by"], one["split"]) for one in listed] == [(merged["merge"], "Ada", None)]
    split = await client.post(f"/entities/merges/{merged['merge']}/split", json={"by": "Bob"})
    assert split.status_code == 200, split.text
    assert await names(client, entity["iri"]) == {"Grand Clock Museum"}
    assert await names(client, ID + "clocks") == {"Clock Museum"}
    assert (await client.get("/review")).json()["total"] == 1
    assert (await client.post(f"/entities/merges/{merged['merge']}/split")).status_code == 409
    assert (await client.post("/entities/merges/nothing/split", json={})).status_code == 404


async def test_the_same_words_far_away_are_another_place(client: httpx.AsyncClient, model: RecordedModel):
    await load(client, CITY)
    here = await say(
        client,
        model,
        "The Museum of Clocks is a museum located in Harlem, near the corner of two busy streets.",
        ("Museum of Clocks", "is a", "museum"),
        ("Museum of Clocks", "located in", "Harlem"),
    )
    assert [e["label"] for e in here["entities"] if e["new"]] == ["Museum of Clocks"]
    assert {v["value"]["value"] for r in here["rejected"] for v in r["violations"]} == {ID + "clocks"}
    there = await say(
        client,
        model,
        "The Clocks Museum is a museum located in Staten Island, near the corner of two busy streets.",
        ("Clocks Museum", "is a", "museum"),
        ("Clocks Museum", "located in", "Staten Island"),
    )
    assert [e["label"] for e in there["entities"] if e["new"]] == ["Clocks Museum"]
    assert there["rejected"] == there["warnings"] == []


async def test_a_misspelled_name_waits_with_the_known_one_as_a_choice(
    client: httpx.AsyncClient, model: RecordedModel
):
    await load(client, CITY)
    answer = await say(
        client,
        model,
        "The Clock Museum is located in Harlen, as every child of the whole neighborhood knows.",
        ("Clock Museum", "located in", "Harlen"),
    )
    assert answer["accepted"] == []
    (item,) = (await client.get("/review", params={"predicate": URBAN + "locatedIn"})).json()["items"]
    (choice,) = (await client.get(f"/review/{item['id']}")).json()["choices"]
    assert [one["iri"] for one in choice["candidates"]] == [ID + "harlem"]
    body = {"entities": {choice["entity"]: ID + "harlem"}}
    added = (await client.post(f"/review/{item['id']}/accept", json=body)).json()["added"]
    assert (ID + "clocks", ID + "harlem") in [(one["subject"], one["object"]["value"]) for one in added]


@pytest.mark.parametrize(("known", "named"), [("Kensington", "Kennington"), ("Brooklyn", "Brookline")])
async def test_a_name_that_could_be_a_slip_of_another_is_a_thing_of_its_own_and_queued(
    client: httpx.AsyncClient, model: RecordedModel, known: str, named: str
):
    for name, year in ((known, "1830"), (named, "1839")):
        answer = await say(
            client,
            model,
            f"{name} is a neighborhood. {name} was established in {year}, as a village on the river.",
            (name, "is a", "neighborhood"),
            (name, "established", year),
        )
        assert [(one["label"], one["new"]) for one in answer["entities"]] == [(name, True)]
    assert [w["violations"][0]["component"] for w in answer["warnings"]] == [DUPLICATE]
    rows = await select(
        client, f"SELECT ?l ?y WHERE {{ ?s <{RDFS}label> ?l ; <{URBAN}established> ?y }} ORDER BY ?y"
    )
    assert [(row["l"], row["y"]) for row in rows] == [(known, "1830"), (named, "1839")]


async def test_disjoint_classes_and_owl_different_from_are_never_merged(client: httpx.AsyncClient):
    await load(client, CITY)
    more = f"""@prefix urban: <{URBAN}> . @prefix rdfs: <{RDFS}> . @prefix id: <{ID}> . @prefix owl: <{OWL}> .
    id:ada a urban:Person ; rdfs:label "Ada Clock"@en .
    id:annex a urban:Museum ; rdfs:label "Annex"@en ; owl:differentFrom id:clocks .
    """
    await load(client, more)
    for other, word in (("ada", "both"), ("annex", "differentFrom"), ("island", "m apart")):
        response = await client.post("/entities/merge", json={"keep": ID + "clocks", "merge": ID + other})
        assert response.status_code == 409, other
        assert word in response.json()["detail"]
        if other == "ada":
            assert "nothing can be both urban:" in response.json()["detail"]
    response = await client.post("/entities/merge", json={"keep": ID + "clocks", "merge": ID + "nobody"})
    assert response.status_code == 404
    response = await client.post("/entities/merge", json={"keep": "no iri", "merge": ID + "nobody"})
    assert response.status_code == 422


async def test_namesakes_that_are_the_same_are_not_ambiguous(client: httpx.AsyncClient, model: RecordedModel):
    text = "Bell Tower, a well known museum of the city, opened in the year 1950 to the public."
    twins = f"""@prefix urban: <{URBAN}> . @prefix rdfs: <{RDFS}> . @prefix id: <{ID}> .
    @prefix owl: <{OWL}> .
    id:bell a urban:Museum ; rdfs:label "Bell Tower"@en .
    id:bell2 a urban:Museum ; rdfs:label "Bell Tower"@en .
    """
    await load(client, twins)
    refused = await say(client, model, text, ("Bell Tower", "opened", "1950"))
    assert refused["accepted"] == []
    await load(client, twins + " id:bell2 owl:sameAs id:bell .")
    answer = await say(client, model, text, ("Bell Tower", "opened", "1950"))
    assert {one["subject"] for one in answer["accepted"]} == {ID + "bell"}


async def test_a_client_s_own_entity_is_queued_and_never_renamed(client: httpx.AsyncClient):
    await load(client, CITY)
    mine = f"""@prefix urban: <{URBAN}> . @prefix rdfs: <{RDFS}> .
    <https://example.org/mine> a urban:Museum ; rdfs:label "Museum of Clocks"@en ."""
    headers = {"content-type": "text/turtle"}
    answer = (await client.post("/candidates", content=mine, headers=headers)).json()
    assert {one["subject"] for one in answer["accepted"]} == {"https://example.org/mine"}
    assert [w["violations"][0]["component"] for w in answer["warnings"]] == [DUPLICATE]
    assert (await client.get("/review")).json()["total"] == 1
    are_distinct = mine.replace("example.org/mine", "example.org/other").replace(
        "a urban:Museum ;",
        f"a urban:Museum ; <{OWL}differentFrom> <{ID}clocks> , <https://example.org/mine> ;",
    )
    answer = (await client.post("/candidates", content=are_distinct, headers=headers)).json()
    assert answer["warnings"] == []


async def test_merging_needs_the_scope_to_review(client: httpx.AsyncClient, services: Services):
    from server.http.access.keys import Scope

    _, token = services.keys.create("writer", [Scope.WRITE])
    body = {"keep": ID + "a", "merge": ID + "b"}
    headers = {"authorization": f"Bearer {token}"}
    assert (await client.post("/entities/merge", json=body)).status_code == 401
    assert (await client.post("/entities/merge", json=body, headers=headers)).status_code == 403


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Museum of Clocks", "Clock Museum", True),
        ("St. Mark's Church", "Saint Mark's Church", True),
        ("MASP", "Maspeth", False),
        ("Bath", "Bathgate", False),
        ("Ft. Elm", "Fort Elm", True),
        ("East Harlem", "West Harlem", False),
        ("41st Street", "42nd Street", False),
        ("Bowne Hall", "Bowne House", False),
        ("Metropolitan Museum", "Metropolitan Museum of Art", False),
        ("Majestic Theatre", "Majestic Theater", True),
        ("Harbour Bridge", "Harbor Bridge", True),
        ("Travellers' Hotel", "Travelers' Hotel", True),
        ("Manhatan", "Manhattan", True),
        ("Manhattan", "Manhattna", True),
        ("Porter Street", "Potter Street", False),
        ("Hamburg", "Homburg", False),
        ("Johnston Square", "Johnson Square", False),
        ("Wesworth", "Wesmouth", False),
        ("Harlen", "Harlem", False),
    ],
)
def test_names_have_the_same_words_or_not(one: str, other: str, same: bool):
    from extractors.grounding.linking import same_words

    assert same_words(one, other) is same


def test_a_slip_in_a_word_may_be_another_word():
    from extractors.grounding.linking import same_words

    assert same_words("Harlen", "Harlem", misspelled=True)
    assert same_words("Kensington", "Kennington", misspelled=True)
    assert not same_words("Bowne Hall", "Bowne House", misspelled=True)


def test_numbers_and_directions_separate_names():
    from extractors.grounding.linking import are_distinct

    assert are_distinct("East Harlem", "Harlem")
    assert are_distinct("41st Street", "42nd Street")
    assert not are_distinct("Metropolitan Museum", "Metropolitan Museum of Art")


STATIONS = f"""
@prefix urban: <{URBAN}> . @prefix rdfs: <{RDFS}> . @prefix geo: <{GEO}> . @prefix id: <{ID}> .
@prefix sf: <http://www.opengis.net/ont/sf#> .
id:denver a urban:City ; rdfs:label "Denver"@en ; geo:hasDefaultGeometry id:gd .
id:gd a sf:Polygon ; geo:asWKT "POLYGON ((-105 39, -104 39, -104 40, -105 40, -105 39))"^^geo:wktLiteral .
id:loop a urban:Neighborhood ; rdfs:label "The Loop"@en ; urban:locatedIn id:chicago .
id:chicago a urban:City ; rdfs:label "Chicago"@en .
id:union-denver a urban:Station ; rdfs:label "Union Station"@en ; geo:hasDefaultGeometry id:gu .
id:gu a sf:Point ; geo:asWKT "POINT (-104.5 39.5)"^^geo:wktLiteral .
id:union-chicago a urban:Station ; rdfs:label "Union Station"@en ; urban:locatedIn id:loop .
"""


@pytest.mark.parametrize(
    ("text", "station"),
    [
        pytest.param("In Denver, Union Station opened in 1894.", "union-denver", id="by its geometry"),
        pytest.param(
            "Union Station opened in 1894. It is the pride of Chicago.", "union-chicago", id="stated"
        ),
        pytest.param("Union Station opened in 1894, as Denver and Chicago wished.", None, id="both regions"),
        pytest.param("Union Station opened in 1894.", None, id="no region"),
    ],
)
async def test_the_region_that_a_text_names_decides_between_known_namesakes(
    client: httpx.AsyncClient, model: RecordedModel, text: str, station: str | None
):
    await load(client, STATIONS)
    answer = await say(client, model, text, ("Union Station", "opened", "1894"))
    accepted = [one["subject"] for one in answer["accepted"]]
    assert accepted == ([ID + station] if station else [])
    if station is None:
        asked = [{v["component"] for v in one["violations"]} for one in answer["rejected"]]
        assert asked == [{SYSTEM + "AmbiguousName"}] * 2  # The name is one of the two statements.
