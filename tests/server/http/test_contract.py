"""What clients may rely on: links of pages, the version of the API, and its description."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from pydantic.json_schema import models_json_schema

from server.http.description.operations import OPERATIONS, Operation
from server.http.description.parts import Example, examples
from server.http.pages import page_links
from server.http.version import API_VERSION
from tests.support.described_answers import check_answer


@pytest.mark.parametrize(
    ("offset", "expected"),
    [
        (0, {"first": 0, "next": 10, "last": 20}),
        (10, {"first": 0, "prev": 0, "next": 20, "last": 20}),
        (20, {"first": 0, "prev": 10, "last": 20}),
    ],
)
def test_a_page_links_to_those_around_it(offset: int, expected: dict[str, int]) -> None:
    links = page_links({"total": 25, "offset": offset, "limit": 10}, [("status", "any"), ("offset", "7")])
    assert links == {name: f"?status=any&offset={start}&limit=10" for name, start in expected.items()}


def test_an_empty_list_has_one_page() -> None:
    links = page_links({"total": 0, "offset": 0, "limit": 10}, [])
    assert links == {"first": "?offset=0&limit=10", "last": "?offset=0&limit=10"}


@pytest.mark.parametrize(
    "path", ["/review", "/proposals", "/documents", "/jobs", "/entities/merges", "/extractions"]
)
async def test_every_list_links_to_its_pages(client: httpx.AsyncClient, path: str) -> None:
    answer = await client.get(path, params={"limit": 5})
    assert answer.links["first"]["url"] == "?offset=0&limit=5"
    assert answer.links["last"]["rel"] == "last"


@pytest.mark.parametrize("path", ["/sparql", "/query"])
@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_an_explanation_is_described_whatever_format_is_asked_for(
    client: httpx.AsyncClient, path: str, method: str
) -> None:
    asked = {"query": "SELECT ?s { ?s ?p ?o }", "explain": "true", "format": "csv"}
    sent = {"params": asked} if method == "GET" else {"data": asked}
    answer = await client.request(method, path, **sent)  # type: ignore[arg-type]
    assert answer.status_code == 200, answer.text
    kind = answer.headers["content-type"]
    content = (await described(client))["paths"][path][method.lower()]["responses"]["200"]["content"]
    assert kind in content
    schema = content[kind]["schema"]
    references = [one["$ref"] for one in schema.get("anyOf", [schema])]
    assert "#/components/schemas/Explanation" in references


async def test_the_version_of_the_api_is_in_every_answer(client: httpx.AsyncClient) -> None:
    health = await client.get("/healthz")
    assert health.json()["api"] == API_VERSION
    assert health.json()["version"]
    for answer in (health, await client.get("/sparql"), await client.get("/nowhere")):
        assert answer.headers.get_list("x-api-version") == [API_VERSION]


@pytest.fixture
def client(shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    return shared_client


async def described(client: httpx.AsyncClient) -> dict[str, Any]:
    description: dict[str, Any] = (await client.get("/openapi.json")).json()
    return description


def operations_of(description: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {
        (method, path): operation
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }


async def test_every_operation_is_in_the_table_with_a_name_of_its_own(client: httpx.AsyncClient) -> None:
    found = operations_of(await described(client))
    assert set(found) == set(OPERATIONS)
    names = [operation["operationId"] for operation in found.values()]
    assert len(names) == len(set(names))
    assert all(re.fullmatch("[a-z][a-z_]{1,24}", name) for name in names)


async def test_every_json_answer_has_a_model(client: httpx.AsyncClient) -> None:
    description = await described(client)
    for (method, path), operation in operations_of(description).items():
        for status, answer in operation["responses"].items():
            for kind, form in answer.get("content", {}).items():
                if kind in ("application/json", "application/geo+json", "application/problem+json"):
                    place = (method, path, status)
                    for schema in form["schema"].get("anyOf", [form["schema"]]):
                        reference = schema["$ref"].rpartition("/")[2]
                        assert description["components"]["schemas"][reference]["properties"], place


async def test_every_success_has_a_schema_and_none_is_open(client: httpx.AsyncClient) -> None:
    """What no schema says would be `Any` in a client made of the description."""
    description = await described(client)
    missing = [
        (method, path, status, kind)
        for (method, path), operation in operations_of(description).items()
        for status, answer in operation["responses"].items()
        if status.startswith("2")
        for kind, form in answer.get("content", {}).items()
        if not form.get("schema")
    ]
    assert missing == []
    models = {model for one in OPERATIONS.values() for model in one.answers.values()}
    _, answers = models_json_schema([(model, "validation") for model in models])
    schemas = {name: description["components"]["schemas"][name] for name in answers["$defs"]}
    assert [place for name, schema in schemas.items() for place in open_places(schema, name)] == []


async def test_no_body_takes_a_value_of_any_form(client: httpx.AsyncClient) -> None:
    description = await described(client)
    bodies = {
        operation["operationId"]: body[kind]["schema"]
        for operation in operations_of(description).values()
        if (body := operation.get("requestBody", {}).get("content", {}))
        for kind in body
    }
    assert "run_plan" in bodies
    schemas = {**description["components"]["schemas"], **bodies}
    found = [place for name, schema in schemas.items() for place in open_places(schema, name)]
    assert found == []


def open_places(schema: Any, place: str) -> Iterator[str]:
    """Where a schema takes anything: it says nothing, or names neither members nor what others are."""
    if isinstance(schema, list):
        for number, one in enumerate(schema):
            yield from open_places(one, f"{place}/{number}")
        return
    if not isinstance(schema, dict) or "enum" in schema or "const" in schema:
        return
    says = set(schema) - {"title", "description", "default", "examples", "required", "deprecated"}
    members = {"properties", "additionalProperties"} & says
    if (
        (not says and "required" not in schema)  # such as the choices of a form
        or (schema.get("type") == "object" and not members)
        or schema.get("additionalProperties") is True
    ):
        yield place
    for key in ("items", "additionalProperties", "anyOf", "oneOf", "allOf", "prefixItems"):
        yield from open_places(schema.get(key), f"{place}/{key}")
    for name, one in schema.get("properties", {}).items():
        yield from open_places(one, f"{place}/{name}")


async def test_tags_and_kinds_of_problems_are_described(client: httpx.AsyncClient) -> None:
    description = await described(client)
    used = {tag for one in operations_of(description).values() for tag in one["tags"]}
    assert used == {tag["name"] for tag in description["tags"] if tag["description"]}
    kinds = description["components"]["schemas"]["Problem"]["x-problem-types"]
    assert {"syntax-problem", "key-needed", "reply-lost"} <= {one["type"].rpartition("/")[2] for one in kinds}
    assert all(one["title"] and one["status"] >= 400 for one in kinds)


RECORDED = examples()


def test_every_operation_has_an_example_and_no_other_has() -> None:
    """`clients/record_examples.py` records them."""
    assert set(RECORDED) == {one.identifier for one in OPERATIONS.values()}


@pytest.mark.parametrize(("key", "operation"), OPERATIONS.items(), ids=lambda one: str(one)[:60])
def test_an_example_fits_its_model(key: tuple[str, str], operation: Operation) -> None:
    example = RECORDED[operation.identifier]
    for kind, content in example.answer.items():
        if kind.endswith("json") and kind not in ("application/x-ndjson", "application/ld+json"):
            check_answer(*key, int(example.status), kind, content)
        else:
            assert isinstance(content, str)
            assert content.strip()


async def test_examples_are_described_and_those_of_requests_fit(client: httpx.AsyncClient) -> None:
    description = await described(client)
    missing = []
    for operation in operations_of(description).values():
        example: Example = RECORDED[operation["operationId"]]
        answer = operation["responses"][example.status].get("content", {})
        body = operation.get("requestBody", {}).get("content", {})
        missing += [
            (operation["operationId"], kind)
            for forms, found in ((answer, example.answer), (body, example.request))
            for kind in found
            if forms.get(kind, {}).get("example") != found[kind]
        ]
        if operation.get("requestBody") and not example.request:
            missing.append((operation["operationId"], "request"))
        for kind, content in example.request.items():
            if kind == "application/json":
                schema = {**body[kind]["schema"], "components": description["components"]}
                Draft202012Validator(schema).validate(content)
    assert missing == []


def test_an_answer_with_a_member_too_much_is_noticed() -> None:
    check_answer("GET", "/access", 200, "application/json", {"key": None, "scopes": []})
    with pytest.raises(AssertionError, match="more"):
        check_answer("GET", "/access", 200, "application/json", {"key": None, "scopes": [], "more": 1})
    with pytest.raises(AssertionError, match="not described"):
        check_answer("GET", "/nowhere", 200, "application/json", {})


OWN_LIMIT = {
    # A body as a whole: the records of a job, by `max_job_bytes`.
    "",
    # Texts and geometries, by the settings and the size of a body; values of the graph may be geometries.
    "ExtractionRequest.text",
    "CandidatesRequest.text",
    "SourceJson.text",
    "SourceJson.geometry",
    "RelationsRequest.a",
    "RelationsRequest.b",
    "TermJson.value",
    # SPARQL by `max_query_chars`, rule files and plans by the size of a body.
    "RunRequest.sparql",
    "PlanStep.iris",
    "PlanStep.op",
    "PlanStep.sentence",
    "JsonObject",
    "RulesMessage.ontology",
    "RulesMessage.shapes",
    "EditMessage.ontology",
    "EditMessage.shapes",
}


async def test_every_text_of_every_message_has_a_greatest_length(client: httpx.AsyncClient) -> None:
    """What a client sends may be stored or searched for: a test that a new member cannot escape."""
    document = await described(client)
    schemas = document["components"]["schemas"]
    endless: set[str] = set()
    bodies = [
        operation["requestBody"]["content"]["application/json"]["schema"]
        for operations in document["paths"].values()
        for operation in operations.values()
        if "application/json" in operation.get("requestBody", {}).get("content", {})
    ]
    named = {body.get("$ref", "").rpartition("/")[2] for body in bodies}
    assert {"AskRequest", "ExtractionRequest", "GapDecision"} <= named
    for body in bodies:
        endless |= set(_endless(body, body.get("title", ""), schemas, frozenset()))
    assert endless == OWN_LIMIT


def _endless(
    schema: dict[str, Any], place: str, schemas: dict[str, Any], above: frozenset[str]
) -> Iterator[str]:
    """The members of a message that are texts of any length."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in above:
            yield from _endless(schemas[name], name, schemas, above | {name})
        return
    if schema.get("type") == "string" and not {"maxLength", "enum", "const"} & schema.keys():
        yield place
    model = place.partition(".")[0] if "properties" not in schema else schema.get("title", place)
    for name, one in schema.get("properties", {}).items():
        yield from _endless(one, f"{model}.{name}", schemas, above)
    below = [*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())]
    below += [
        schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)
    ]
    for one in below:
        yield from _endless(one, place, schemas, above)


async def test_every_event_of_a_job_is_described(client: httpx.AsyncClient) -> None:
    job = (
        await client.post("/jobs?paused=true", content="The quay.", headers={"content-type": "text/plain"})
    ).json()
    await client.post(f"/jobs/{job['id']}/cancel")
    stream = (await client.get(f"/jobs/{job['id']}/events", params={"since": 0})).text
    description = await described(client)
    answers = description["paths"]["/jobs/{job}/events"]["get"]["responses"]
    schema = {
        **answers["200"]["content"]["text/event-stream"]["schema"],
        "components": description["components"],
    }
    sent = [dict(line.split(": ", 1) for line in block.split("\n")) for block in stream.strip().split("\n\n")]
    events = [one for one in sent if "event" in one]
    assert events
    for one in events:
        Draft202012Validator(schema).validate(one)
        (kind,) = (form for form in schema["anyOf"] if form["properties"]["event"]["const"] == one["event"])
        form = {**kind["properties"]["data"]["contentSchema"], "components": description["components"]}
        Draft202012Validator(form).validate(json.loads(one["data"]))


async def test_what_a_text_may_be_is_described(client: httpx.AsyncClient) -> None:
    paths = (await described(client))["paths"]

    def form(path: str, method: str, name: str) -> dict[str, Any]:
        return next(one["schema"] for one in paths[path][method]["parameters"] if one["name"] == name)

    for path, name in (
        ("/dump", "graph"),
        ("/entities", "iri"),
        ("/ontology", "iri"),
        ("/rules/examples", "shape"),
    ):
        assert form(path, "get", name)["format"] == "iri", path
    assert form("/sparql", "get", "query")["format"] == "sparql-query"
    for value in form("/dump", "get", "format")["enum"]:
        answer = await client.get("/dump", params={} if value is None else {"format": value})
        assert answer.status_code == 200, value
    for path in ("/features", "/collections/{collection}/items"):
        box = form(path, "get", "bbox")
        assert all(re.fullmatch(box["pattern"], example) for example in box["examples"])
        assert not re.fullmatch(box["pattern"], "west")
