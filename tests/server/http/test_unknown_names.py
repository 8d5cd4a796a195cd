"""A member or a parameter that is not known is refused with the nearest known one, and nothing is done."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from server.http.description.operations import OPERATIONS

pytestmark = pytest.mark.asyncio(loop_scope="module")

STATEMENT = {
    "subject": "https://example.org/a",
    "predicate": "http://www.w3.org/2000/01/rdf-schema#label",
    "object": {"type": "literal", "value": "a"},
}


@pytest.mark.parametrize(
    ("path", "body", "place", "said"),
    [
        ("/extractions", {"text": "A park.", "comit": False}, "comit", "did you mean 'commit'?"),
        (
            "/candidates",
            {"statements": [{**STATEMENT, "confidense": 1}]},
            "statements.0.confidense",
            "did you mean 'confidence'?",
        ),
        (
            "/candidates",
            {"statements": [{**STATEMENT, "object": {"type": "literal", "value": "a", "language": "en"}}]},
            "statements.0.object.language",
            "Known here: datatype, type, value, xml:lang",
        ),
        (
            "/review/decisions",
            {"decision": "reject", "filter": {"shapes": "https://example.org/s"}},
            "filter.shapes",
            "did you mean 'shape'?",
        ),
        ("/ask", {"question": "Which parks?", "Context": ""}, "Context", "did you mean 'context'?"),
        ("/relations", {"a": "POINT(0 0)", "b": "POINT(0 0)", "c": ""}, "c", "Known here: a, a_name"),
        ("/backup", {"folder": "/x", "zip": True}, "zip", "Known here: folder"),
        ("/check", {"shape": {}}, "shape", "did you mean 'shapes'?"),
    ],
)
async def test_an_unknown_member_is_refused(
    shared_client: httpx.AsyncClient, path: str, body: dict[str, Any], place: str, said: str
) -> None:
    before = (await shared_client.get("/healthz")).json()["revision"]
    response = await shared_client.post(path, json=body)

    assert response.status_code == 422, response.text
    problem = response.json()
    assert [one["place"] for one in problem["errors"]] == [place]
    assert said in problem["detail"]
    assert problem["detail"].endswith(("?", "."))
    assert "?." not in problem["detail"]
    assert (await shared_client.get("/healthz")).json()["revision"] == before


@pytest.mark.parametrize(
    ("method", "path", "name", "said"),
    [
        ("GET", "/review?staus=open", "staus", "did you mean 'status'?"),
        ("GET", "/documents?page=2", "page", "Known here: limit, offset, source, text"),
        ("GET", "/shapes?generate=true", "generate", "did you mean 'generated'?"),
        ("PUT", "/shapes/new.ttl?dryrun=true", "dryrun", "did you mean 'dry-run'?"),
        ("POST", "/candidates?sauce=x", "sauce", "did you mean 'source'?"),
        ("GET", "/changes?from=3", "from", "Known here: since"),
        ("POST", "/jobs?pause=true", "pause", "did you mean 'paused'?"),
    ],
)
async def test_an_unknown_parameter_is_refused(
    shared_client: httpx.AsyncClient, method: str, path: str, name: str, said: str
) -> None:
    response = await shared_client.request(method, path, content=b"")

    assert response.status_code == 422, response.text
    problem = response.json()
    assert [one["place"] for one in problem["errors"]] == [name]
    assert said in problem["detail"]
    assert problem["detail"].endswith(("?", "."))
    assert "?." not in problem["detail"]


async def test_a_file_put_with_a_misspelled_dry_run_is_not_in_force(shared_client: httpx.AsyncClient) -> None:
    await shared_client.put("/shapes/new.ttl?dry_run=true", content=b"")

    assert (await shared_client.get("/shapes/new.ttl")).status_code == 404


SPARQL = ("/sparql", "/query", "/update")
OGC = ("/", "/conformance", "/collections")


@pytest.mark.parametrize(("method", "path"), OPERATIONS)
async def test_no_operation_passes_over_a_parameter(
    shared_client: httpx.AsyncClient, method: str, path: str
) -> None:
    """SPARQL clients send parameters of other servers, and OGC API - Features wants 400."""
    address = re.sub(r"\{\w+\}", "x", path)
    sent = {"zzz": "1"}
    content, headers = b"", {"accept": "application/json, */*;q=0.5"}
    if path in SPARQL:
        content, kind = (b"SELECT * {}", "query") if path != "/update" else (b"INSERT DATA {}", "update")
        headers |= {"content-type": f"application/sparql-{kind}"}
    elif path == "/store":
        sent |= {"graph": "urn:x"}
    if path.startswith("/store"):
        headers |= {"content-type": "text/turtle"}
        there = {"graph": "urn:x"} if path == "/store" else {}
        await shared_client.put(address, params=there, content=b"<urn:a> a <urn:B> .", headers=headers)
        headers |= {"accept": "text/turtle"}
    response = await shared_client.request(method, address, params=sent, content=content, headers=headers)

    if path in SPARQL or path.startswith("/store"):
        assert response.status_code in (200, 201, 204), response.text
        assert "'zzz'" in response.headers["warning"]
    else:
        standard = path in OGC or path.startswith("/collections/")
        assert response.status_code == (400 if standard else 422), response.text
        assert [one["place"] for one in response.json()["errors"]] == ["zzz"]


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_query_names_the_parameters_that_it_did_not_use(
    shared_client: httpx.AsyncClient, method: str
) -> None:
    sent = {"query": "ASK {}", "infer": "true", "queryLn": "SPARQL", "timeout": "5"}
    given = {"params": sent} if method == "GET" else {"data": sent}
    response = await shared_client.request(method, "/sparql", **given)  # type: ignore[arg-type]

    assert response.status_code == 200
    assert (
        "'infer' (did you mean 'inference'?), 'queryLn' (did you mean 'query'?)"
        in (response.headers["warning"])
    )


@pytest.mark.parametrize("name", ["format", "output", "results"])
async def test_the_format_has_the_names_that_other_servers_give_it(
    shared_client: httpx.AsyncClient, name: str
) -> None:
    response = await shared_client.get("/sparql", params={"query": "SELECT * {}", name: "csv"})

    assert response.headers["content-type"].startswith("text/csv")
    assert "warning" not in response.headers


async def test_a_description_names_parameters_too(shared_client: httpx.AsyncClient) -> None:
    response = await shared_client.get("/sparql", params={"qurey": "ASK {}"})

    assert "'qurey' (did you mean 'query'?)" in response.headers["warning"]


@pytest.mark.parametrize("method", ["GET", "PUT", "POST", "DELETE"])
async def test_a_misspelled_graph_is_refused_by_the_store(
    shared_client: httpx.AsyncClient, method: str
) -> None:
    response = await shared_client.request(
        method, "/store?grahp=urn:x", headers={"content-type": "text/turtle"}
    )

    assert response.status_code == 400
    assert "did you mean 'graph'?" in response.json()["detail"]


GEOJSON = {
    "Point", "MultiPoint", "LineString", "MultiLineString", "Polygon", "MultiPolygon", "GeometryCollection",
}  # fmt: skip
"""GeoJSON may have members of others (RFC 7946, 6.1); a step of a plan has what the server wrote."""


async def test_all_members_of_all_bodies_are_known(shared_client: httpx.AsyncClient) -> None:
    """No object of a JSON body takes members that its schema does not name."""
    description = (await shared_client.get("/openapi.json")).json()
    schemas = description["components"]["schemas"]
    open_ones = set()
    for path, methods in description["paths"].items():
        for method, operation in methods.items():
            form = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            for place, schema in objects_of(form.get("schema", {}), schemas):
                if {"PlanStep", *GEOJSON} & set(place.split("/")):
                    continue
                if "properties" in schema and schema.get("additionalProperties") is not False:
                    open_ones.add((method, path, place))
    assert not open_ones


def objects_of(
    schema: Any, schemas: dict[str, Any], place: str = "", seen: frozenset[str] = frozenset()
) -> Iterator[tuple[str, dict[str, Any]]]:
    """A schema and all that its parts may be, with where they stand."""
    if isinstance(schema, list):
        for one in schema:
            yield from objects_of(one, schemas, place, seen)
    elif isinstance(schema, dict):
        name = str(schema.get("$ref", "")).rpartition("/")[2]
        if name and name not in seen:
            yield from objects_of(schemas[name], schemas, f"{place}/{name}", seen | {name})
        yield place, schema
        for key, part in schema.items():
            yield from objects_of(part, schemas, f"{place}/{key}", seen)
