"""The page's files, what a client may do, names completed, and places to draw."""

import httpx
import pytest
import pytest_asyncio
from pydantic import ValidationError

from server.http.access.keys import Scope
from server.routes.page import origin_of, web_files, with_tiles
from server.services import Services
from server.settings import Settings
from tests.server.conftest import forget_keys

ID = "https://w3id.org/urbankg/id/"
CITY = """
    @prefix geo: <http://www.opengis.net/ont/geosparql#> . @prefix id: <https://w3id.org/urbankg/id/> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix urban: <https://w3id.org/urbankg/urban#> .
    id:mill a urban:Museum ; rdfs:label "Old Mill"@en ; geo:hasDefaultGeometry id:mill-g .
    id:mill-g a geo:Geometry ; geo:asWKT "POINT (-73.97 40.75)"^^geo:wktLiteral .
    id:millpond a urban:Park ; rdfs:label "Millpond Park"@en ; geo:hasDefaultGeometry id:millpond-g .
    id:millpond-g a geo:Geometry ; geo:asWKT
        "POLYGON ((-73.98 40.75, -73.97 40.75, -73.97 40.7501, -73.97 40.76, -73.98 40.75))"^^geo:wktLiteral .
    id:green-mill a urban:Theater ; rdfs:label "Green Mill"@en .
"""


@pytest_asyncio.fixture(loop_scope="module")
async def client(shared_services: Services, shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    """One server for all tests here; each starts with this city and without keys."""
    forget_keys(shared_services)
    answer = await shared_client.put("/store?default", content=CITY, headers={"Content-Type": "text/turtle"})
    assert answer.is_success, answer.text
    return shared_client


async def test_a_browser_gets_the_page_and_a_program_the_description(client: httpx.AsyncClient):
    for accept in ("text/html,application/xhtml+xml,*/*;q=0.8", "*/*"):
        page = await client.get("/", headers={"Accept": accept})
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert "<ukg-app>" in page.text
    described = await client.get("/", headers={"Accept": "application/json"})
    assert (described.status_code, described.headers["vary"]) == (200, "Accept, Accept-Encoding, Origin")
    assert {"service-desc", "conformance", "data"} <= {link["rel"] for link in described.json()["links"]}
    assert (await client.get("/", headers={"Accept": "image/png"})).status_code == 406


async def test_files_are_compressed_tagged_and_bound_to_this_server(client: httpx.AsyncClient):
    plain = await client.get("/ui/app.js", headers={"Accept-Encoding": "identity"})
    packed = await client.get("/ui/app.js", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.text == plain.text
    assert packed.headers["etag"] != plain.headers["etag"]
    for one in (plain, packed):
        assert "script-src 'self'" in one.headers["content-security-policy"]
        again = await client.get("/ui/app.js", headers={"If-None-Match": one.headers["etag"]})
        assert (again.status_code, again.content) == (304, b"")
    assert (await client.get("/ui/../settings.py")).status_code == 404
    assert (await client.get("/ui/__init__.py")).status_code == 404


async def test_an_iri_leads_browsers_to_the_page_and_others_to_triples(client: httpx.AsyncClient):
    html = await client.get("/urbankg/id/mill", headers={"Accept": "text/html,*/*;q=0.8"})
    assert html.status_code == 303
    assert html.headers["location"] == "/#/explore?iri=https%3A%2F%2Fw3id.org%2Furbankg%2Fid%2Fmill"
    turtle = await client.get("/urbankg/id/mill", headers={"Accept": "text/turtle"})
    assert "Old Mill" in turtle.text
    unknown = await client.get("/urbankg/id/nothing", headers={"Accept": "text/html"})
    assert unknown.status_code == 404


async def test_any_iri_of_the_graph_is_described_and_others_are_not_found(client: httpx.AsyncClient):
    class_ = {"iri": "https://w3id.org/urbankg/urban#Museum"}
    turtle = await client.get("/entities", params=class_, headers={"Accept": "text/turtle"})
    assert "museum" in turtle.text
    linked = await client.get("/entities", params=class_, headers={"Accept": "application/ld+json"})
    assert linked.headers["content-type"].startswith("application/ld+json")
    page = await client.get("/entities", params=class_, headers={"Accept": "text/html"})
    assert (page.status_code, page.headers["location"]) == (
        303,
        "/#/explore?iri=https%3A%2F%2Fw3id.org%2Furbankg%2Furban%23Museum",
    )
    for unknown in ("https://example.org/x", "javascript:alert(1)", "not an iri"):
        assert (await client.get("/entities", params={"iri": unknown})).status_code == 404


async def test_words_are_completed_from_their_start_first(client: httpx.AsyncClient):
    found = (await client.get("/suggest", params={"text": "mill"})).json()["suggestions"]
    assert [one["label"] for one in found][:3] == ["Millpond Park", "Old Mill", "Green Mill"]
    assert found[1] == {
        "iri": ID + "mill",
        "label": "Old Mill",
        "kind": "entity",
        "classes": ["https://w3id.org/urbankg/urban#Museum"],
    }
    one = (await client.get("/suggest", params={"text": "mill", "limit": 1})).json()["suggestions"]
    assert len(one) == 1


async def test_classes_and_properties_are_completed_too(client: httpx.AsyncClient):
    async def kinds(**wanted: str) -> list[tuple[str, str]]:
        found = (await client.get("/suggest", params=wanted)).json()["suggestions"]
        return [(one["kind"], one["label"]) for one in found]

    assert ("class", "museum") in await kinds(text="museu", kind="class")
    assert ("property", "located in") in await kinds(text="located", kind="property")
    assert {kind for kind, _ in await kinds(text="mus", kind="class")} == {"class"}
    assert await kinds(text="!!") == []


@pytest.mark.parametrize(
    "path",
    [
        "/suggest",
        "/suggest?text=a&sort=up",
        "/features?box=1",
        "/features?iri=no",
        "/features?of=all",
        "/features?bbox=1,2,3",
        "/features?bbox=3,0,1,1",
        "/features?bbox=nan,0,1,1",
        f"/features?distance_from={ID}green-mill",
        "/entities",
    ],
)
async def test_what_cannot_be_understood_is_refused(client: httpx.AsyncClient, path: str):
    assert (await client.get(path)).status_code == 422


async def test_features_are_drawn_the_largest_first_and_simplified(client: httpx.AsyncClient):
    answer = await client.get("/features")
    assert answer.headers["content-type"] == "application/geo+json"
    drawn = answer.json()
    assert [one["id"] for one in drawn["features"]] == [ID + "millpond", ID + "mill"]
    assert drawn["features"][1]["properties"]["label"] == "Old Mill"
    assert len(drawn["features"][0]["geometry"]["coordinates"][0]) == 5
    simple = (await client.get("/features?of=areas&tolerance=0.001")).json()
    assert [len(one["geometry"]["coordinates"][0]) for one in simple["features"]] == [4]
    named = (await client.get("/features", params={"iri": ID + "mill"})).json()
    assert named["features"][0]["geometry"] == {"type": "Point", "coordinates": [-73.97, 40.75]}
    unknown = (await client.get("/features", params={"iri": ID + "nowhere"})).json()
    assert (unknown["numberMatched"], unknown["features"]) == (0, [])
    same = await client.get("/features", headers={"If-None-Match": answer.headers["etag"]})
    assert same.status_code == 304


async def test_features_say_how_far_they_are_and_in_which_areas(client: httpx.AsyncClient):
    named = {"iri": ID + "mill", "distance_from": ID + "millpond", "within": "true"}
    found = (await client.get("/features", params=named)).json()["features"][0]["properties"]
    assert (found["distance_m"], found["within"]) == (0.0, [])
    borough = f"""<{ID}mill> <http://www.opengis.net/ont/geosparql#hasDefaultGeometry> <{ID}g> .
        <{ID}g> a <http://www.opengis.net/ont/geosparql#Geometry> ; <http://www.opengis.net/ont/geosparql#asWKT>
        "POINT (-73.972 40.7505)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> ."""
    gone = (
        f"DELETE DATA {{ <{ID}mill> <http://www.opengis.net/ont/geosparql#hasDefaultGeometry> <{ID}mill-g> }}"
    )
    for path, body, kind in (
        ("/update", gone, "application/sparql-update"),
        ("/store?default", borough, "text/turtle"),
    ):
        answer = await client.post(path, content=body, headers={"Content-Type": kind})
        assert answer.is_success, answer.text
    found = (await client.get("/features", params=named)).json()["features"][0]["properties"]
    assert found["within"] == [{"iri": ID + "millpond", "label": "Millpond Park"}]
    inside = (await client.get("/features", params={"bbox": "-73.9721,40.7504,-73.9719,40.7506"})).json()
    assert {one["id"] for one in inside["features"]} == {ID + "mill", ID + "millpond"}
    outside = (await client.get("/features", params={"bbox": "10,40,11,41"})).json()
    assert outside["features"] == []


async def test_a_drawing_follows_the_graph(client: httpx.AsyncClient):
    before = (await client.get("/features")).json()["numberMatched"]
    gone = f"DELETE WHERE {{ <{ID}mill> ?p ?o }}"
    answer = await client.post("/update", content=gone, headers={"Content-Type": "application/sparql-update"})
    assert answer.is_success, answer.text
    assert (await client.get("/features")).json()["numberMatched"] == before - 1


async def test_a_client_learns_what_it_may_do(client: httpx.AsyncClient, shared_services: Services):
    everything = sorted(scope.value for scope in Scope)
    assert (await client.get("/access")).json() == {"key": None, "scopes": everything}
    proxied = await client.get("/access", headers={"X-Forwarded-For": "192.0.2.1"})
    assert proxied.json()["scopes"] == ["read"]
    _, reviewer = shared_services.keys.create("Ada", [Scope.REVIEW])
    _, admin = shared_services.keys.create("Grace", [Scope.ADMIN])
    assert (await client.get("/access")).json() == {"key": None, "scopes": ["read"]}
    reported = await client.get("/access", headers={"Authorization": f"Bearer {reviewer}"})
    assert reported.json() == {"key": "Ada", "scopes": ["read", "review"]}
    reported = await client.get("/access", headers={"Authorization": f"Bearer {admin}"})
    assert reported.json() == {"key": "Grace", "scopes": everything}
    assert (await client.get("/access", headers={"Authorization": "Bearer ukg_no"})).status_code == 401


def test_tiles_are_named_in_the_page_and_allowed_by_its_policy_only_where_an_operator_chose_them() -> None:
    index = web_files()["index.html"]
    assert with_tiles(index, "", "") is index
    reported = with_tiles(index, "https://tiles.example:8443/{z}/{x}/{y}.png", 'A & "B" <b>').body.decode()
    assert 'content="https://tiles.example:8443/{z}/{x}/{y}.png"' in reported
    assert "A &amp; &quot;B&quot; &lt;b&gt;" in reported
    assert origin_of("https://tiles.example:8443/{z}/{x}/{y}.png") == "https://tiles.example:8443"


@pytest.mark.parametrize(
    "address",
    ["tiles", "https://tiles.example/", "https://a;script-src *.example/{z}/{x}/{y}", "javascript:{z}{x}{y}"],
)
def test_what_is_no_address_of_tiles_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match="not an address of tiles"):
        Settings(tile_address=address)
