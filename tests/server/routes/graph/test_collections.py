"""OGC API - Features over a small city."""

from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import quote

import httpx
import pytest
import pytest_asyncio

pytestmark = pytest.mark.asyncio(loop_scope="module")

ID = "https://w3id.org/urbankg/id/"
CITY = """
    @prefix geo: <http://www.opengis.net/ont/geosparql#> . @prefix id: <https://w3id.org/urbankg/id/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix urban: <https://w3id.org/urbankg/urban#> .
    @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . @prefix ex: <http://example.org/> .
    id:mill a urban:Museum ; rdfs:label "Old Mill"@en ; urban:opened "1871"^^xsd:gYear ;
        ex:height 12.5 ; ex:tag "a", "b" ; geo:hasDefaultGeometry id:mill-g .
    id:mill-g a geo:Geometry ; geo:asWKT "POINT (-73.97 40.75)"^^geo:wktLiteral .
    id:pond a urban:Park ; rdfs:label "Pond Park"@en ; geo:hasDefaultGeometry id:pond-g .
    id:pond-g a geo:Geometry ; geo:asWKT
        "POLYGON ((179 40, 180 40, 180 41, 179 41, 179 40))"^^geo:wktLiteral .
    id:other a urban:Museum, ex:Museum ; rdfs:label "Other"@en ; geo:hasDefaultGeometry id:other-g .
    id:other-g a geo:Geometry ; geo:asWKT "POINT (-73.5 40.5)"^^geo:wktLiteral .
    id:unplaced a urban:Theater ; rdfs:label "Nowhere Theater"@en .
"""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def city(shared_client: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    sent = await shared_client.post("/store?default", content=CITY, headers={"Content-Type": "text/turtle"})
    assert sent.is_success, sent.text
    yield shared_client


async def items(city: httpx.AsyncClient, collection: str, **parameters: Any) -> dict[str, Any]:
    answer = await city.get(f"/collections/{collection}/items", params=parameters)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/geo+json"
    assert answer.headers["content-crs"] == "<http://www.opengis.net/def/crs/OGC/1.3/CRS84>"
    found: dict[str, Any] = answer.json()
    return found


def names(page: dict[str, Any]) -> list[str]:
    return [feature["id"].removeprefix(ID) for feature in page["features"]]


async def test_the_landing_page_leads_to_the_features(city: httpx.AsyncClient) -> None:
    landing = (await city.get("/", headers={"Accept": "application/json"})).json()
    by_relation = {link["rel"]: link["href"] for link in landing["links"]}
    assert (await city.get(by_relation["service-desc"])).json()["openapi"]
    assert any(
        one.endswith("conf/core") for one in (await city.get(by_relation["conformance"])).json()["conformsTo"]
    )
    collections = (await city.get(by_relation["data"])).json()["collections"]
    assert [one["id"] for one in collections if "items" not in {link["rel"] for link in one["links"]}] == []


async def test_classes_of_features_and_those_above_are_collections(
    city: httpx.AsyncClient,
) -> None:
    found = {one["id"]: one for one in (await city.get("/collections")).json()["collections"]}
    assert {"urban_Museum", "Place", "Park"} <= set(found)
    assert not {"Theater", "Thing"} & set(found)
    assert len([name for name in found if "Museum" in name]) == 2, (
        "two classes of one local name have two names"
    )
    assert found["urban_Museum"]["extent"]["spatial"]["bbox"] == [[-73.97, 40.5, -73.5, 40.75]]
    assert names(await items(city, "Place")) == ["mill", "other", "pond"]


async def test_values_are_properties_of_the_features(city: httpx.AsyncClient) -> None:
    mill = (await items(city, "urban_Museum"))["features"][0]
    assert mill["geometry"] == {"type": "Point", "coordinates": [-73.97, 40.75]}
    properties = mill["properties"]
    assert (properties["label"], properties["opened"]) == ("Old Mill", "1871")
    assert properties["http://example.org/height"] == 12.5
    assert properties["http://example.org/tag"] == ["a", "b"]
    assert properties["classes"] == ["https://w3id.org/urbankg/urban#Museum"]
    alone = await city.get("/collections/urban_Museum/items/" + quote(ID + "mill", safe=""))
    assert alone.json()["properties"] == properties
    assert {link["rel"] for link in alone.json()["links"]} == {"self", "collection"}


async def test_pages_follow_their_links_to_the_end(city: httpx.AsyncClient) -> None:
    page, seen = await items(city, "Place", limit=2), []
    while True:
        assert (page["numberMatched"], page["numberReturned"]) == (3, len(page["features"]))
        seen += names(page)
        following = [link["href"] for link in page["links"] if link["rel"] == "next"]
        if not following:
            break
        page = (await city.get(following[0])).json()
    assert seen == ["mill", "other", "pond"]
    assert (await items(city, "Place", limit=99999999))["numberReturned"] == 3


@pytest.mark.parametrize(
    ("box", "expected"),
    [
        ("-74,40.7,-73.9,40.8", ["mill"]),
        ("-74,40.7,0,-73.9,40.8,100", ["mill"]),
        ("-73.97,40.75,-73.97,40.75", ["mill"]),
        ("179.5,40,-73.6,41", ["mill", "pond"]),
        ("0,0,1,1", []),
    ],
)
async def test_a_box_keeps_what_meets_it(city: httpx.AsyncClient, box: str, expected: list[str]) -> None:
    page = await items(city, "Place", bbox=box)
    assert (names(page), page["numberMatched"]) == (expected, len(expected))


@pytest.mark.parametrize(
    ("moments", "expected"),
    [
        ("1871", ["mill"]),
        ("1871-05-01T00:00:00Z", ["mill"]),
        ("1800/1900", ["mill"]),
        ("../1870", []),
        ("1872/..", []),
        ("1871-12-31/", ["mill"]),
    ],
)
async def test_a_time_keeps_what_has_a_date_in_it(
    city: httpx.AsyncClient, moments: str, expected: list[str]
) -> None:
    assert names(await items(city, "Place", datetime=moments)) == expected


@pytest.mark.parametrize(
    ("parameters", "place"),
    [
        ({"bbox": "1,2,3"}, "bbox"),
        ({"bbox": "a,b,c,d"}, "bbox"),
        ({"bbox": "1,5,2,4"}, "bbox"),
        ({"bbox": "1,nan,2,4"}, "bbox"),
        ({"limit": "0"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"offset": "-1"}, "offset"),
        ({"datetime": "yesterday"}, "datetime"),
        ({"datetime": "2000/1999"}, "datetime"),
        ({"limits": "3"}, "limits"),
        ({"f": "html"}, "f"),
    ],
)
async def test_a_parameter_that_cannot_be_used_is_400(
    city: httpx.AsyncClient, parameters: dict[str, str], place: str
) -> None:
    answer = await city.get("/collections/Place/items", params=parameters)
    assert (answer.status_code, answer.json()["errors"][0]["place"]) == (400, place)


async def test_what_is_not_there_is_404_and_the_nearest_is_named(city: httpx.AsyncClient) -> None:
    assert "did you mean 'Park'" in (await city.get("/collections/Parc")).json()["detail"]
    assert (await city.get("/collections/Park/items/" + quote(ID + "mill", safe=""))).status_code == 404
    assert (await city.get("/collections/Park/items/" + quote(ID + "none", safe=""))).status_code == 404
