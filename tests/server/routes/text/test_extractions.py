"""Text in through HTTP: what is accepted, what waits for a person, and what changes nothing."""

import json

import httpx
import pytest

from extractors.errors import ModelReplyError, ModelTimeout, ModelUnavailable
from extractors.text.cleaning import TextError
from server.services import Services
from tests.server.conftest import COLUMBIA, RecordedModel, select, triples

URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"

COLUMBIA_REPLY = triples(
    ("Columbia University", "is a", "private Ivy League research university"),
    ("Columbia University", "established", "1754"),
    ("Columbia University", "former name", "King's College"),
)


async def test_a_text_becomes_statements_with_exact_evidence(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [COLUMBIA_REPLY]
    answer = (await client.post("/extractions", json={"text": COLUMBIA, "source": "test"})).json()
    by_predicate = {s["predicate"]: s for s in answer["accepted"]}
    assert by_predicate[URBAN + "established"]["object"] == {
        "type": "literal",
        "value": "1754",
        "datatype": "http://www.w3.org/2001/XMLSchema#gYear",
    }
    assert by_predicate[URBAN + "formerName"]["object"]["value"] == "King's College"
    assert by_predicate["http://www.w3.org/1999/02/22-rdf-syntax-ns#type"]["object"]["value"] == (
        URBAN + "University"
    )
    assert by_predicate[LABEL]["object"]["value"] == "Columbia University"
    for statement in answer["accepted"]:
        evidence = statement["evidence"]
        assert COLUMBIA[evidence["start"] : evidence["end"]] == evidence["quote"]
    assert [entity["label"] for entity in answer["entities"] if entity["new"]] == ["Columbia University"]
    assert answer["trace"]["windows"][0]["reply"] == COLUMBIA_REPLY
    rows = await select(
        client,
        f"SELECT ?year WHERE {{ ?u <{LABEL}> 'Columbia University'@en ; <{URBAN}established> ?year }}",
    )
    assert rows == [{"year": "1754"}]


async def test_half_a_surrogate_pair_in_a_text_is_refused_and_changes_nothing(
    shared_client: httpx.AsyncClient, shared_services: Services
):
    before = shared_services.store.revision()
    for path, member in (("/extractions", "text"), ("/extractions", "source"), ("/candidates", "text")):
        body = {"text": "A.", "statements": [], member: "Half \ud800 of a pair."}
        response = await shared_client.post(
            path, content=json.dumps(body), headers={"content-type": "application/json"}
        )
        assert response.status_code == 400, response.text
        assert "surrogate" in response.json()["detail"]
    with pytest.raises(TextError, match="surrogate"):
        await shared_services.intake.extract("Half \ud800 of a pair.")
    assert shared_services.store.revision() == before


@pytest.mark.parametrize("escaped", [False, True])
async def test_half_a_surrogate_pair_in_a_reply_hurts_neither_the_trace_nor_the_provenance(
    client: httpx.AsyncClient, model: RecordedModel, escaped: bool
):
    half = "\\ud800" if escaped else "\ud800"
    model.replies = [COLUMBIA_REPLY.replace("King's College", f"King's {half}College")]
    answer = (await client.post("/extractions", json={"text": COLUMBIA})).json()
    assert URBAN + "established" in {statement["predicate"] for statement in answer["accepted"]}
    trace = (await client.get(f"/extractions/{answer['id']}/trace")).json()["trace"]
    assert trace["windows"][0]["reply"] == model.replies[0].replace("\ud800", "\ufffd")


async def test_a_model_that_answers_nothing_adds_nothing(
    shared_client: httpx.AsyncClient, shared_model: RecordedModel
):
    shared_model.replies = [triples()]
    before = await select(shared_client, "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }")
    answer = (await shared_client.post("/extractions", json={"text": COLUMBIA})).json()
    assert answer["accepted"] == answer["rejected"] == []
    assert await select(shared_client, "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }") == before


async def test_what_the_shapes_refuse_waits_in_review_with_span_reason_and_reply(
    client: httpx.AsyncClient, model: RecordedModel
):
    text = "Bowne Hall is a museum. Bowne Hall opened in 1990 and closed in 1985."
    model.replies = [
        triples(
            ("Bowne Hall", "is a", "museum"),
            ("Bowne Hall", "opened", "1990"),
            ("Bowne Hall", "closed", "1985"),
        )
    ]
    answer = (await client.post("/extractions", json={"text": text})).json()
    assert len(answer["rejected"]) == 1
    violation = answer["rejected"][0]["violations"][0]
    assert set(violation) >= {"message", "shape", "component", "path", "value", "severity"}
    assert violation["severity"] == "Violation"
    queue = (await client.get("/review")).json()
    assert queue["total"] == 1
    item = queue["items"][0]
    assert item["status"] == "open"
    assert "opened" in item["reply"] or "closed" in item["reply"]
    evidence = item["statement"]["evidence"]
    assert text[evidence["start"] : evidence["end"]] == evidence["quote"]
    assert item["violations"][0]["message"] == violation["message"]


async def test_the_same_refusal_is_not_queued_twice(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [triples(("Bowne Hall", "established", "long ago"))]
    text = "Bowne Hall was established long ago."
    answers = [(await client.post("/extractions", json={"text": text})).json() for _ in range(2)]
    assert answers[0]["rejected"] == answers[1]["rejected"]
    assert (await client.get("/review")).json()["total"] == len(answers[0]["rejected"])


async def test_a_name_that_is_not_in_the_text_is_refused(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [triples(("Yale University", "is a", "university"))]
    answer = (await client.post("/extractions", json={"text": COLUMBIA})).json()
    assert answer["accepted"] == []
    reasons = {v["component"] for r in answer["rejected"] for v in r["violations"]}
    assert "https://w3id.org/urbankg/system#NotInText" in reasons


async def test_an_unknown_relation_is_refused_as_a_proposal(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [
        triples(
            ("Columbia University", "is a", "university"), ("Columbia University", "rivals", "New York City")
        )
    ]
    answer = (await client.post("/extractions", json={"text": COLUMBIA})).json()
    reasons = {v["component"] for r in answer["rejected"] for v in r["violations"]}
    assert "https://w3id.org/urbankg/system#UnknownTerm" in reasons


async def test_without_commit_the_verdict_is_returned_and_nothing_is_written(
    shared_client: httpx.AsyncClient, shared_services: Services, shared_model: RecordedModel
):
    shared_model.replies = [COLUMBIA_REPLY]
    before = shared_services.store.revision()
    answer = (await shared_client.post("/extractions", json={"text": COLUMBIA, "commit": False})).json()
    assert answer["accepted"]
    assert answer["revision"] is None
    assert shared_services.store.revision() == before


@pytest.mark.parametrize(
    ("body", "status", "word"),
    [
        ({"text": ""}, 422, "empty"),
        ({"text": "   \n"}, 422, "empty"),
        (
            {"text": "Die Universität wurde 1754 gegründet und ist die älteste Hochschule der ganzen Stadt."},
            422,
            "de",
        ),
        ({"text": "x " * 1_000_000}, 413, "larger"),
        ({"text": "palace " * 40_000}, 413, "characters"),
        ({"txt": "x"}, 422, "text"),
        ({"text": 5}, 422, "text"),
        ([], 422, "body"),
    ],
)
async def test_a_text_that_cannot_be_used_is_refused_and_changes_nothing(
    shared_client: httpx.AsyncClient, shared_services: Services, body: object, status: int, word: str
):
    before = shared_services.store.revision()
    response = await shared_client.post("/extractions", json=body)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert word in response.json()["detail"]
    assert shared_services.store.revision() == before


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"text": "caf\xe9"}', "application/json", 400),
        (b'{"text": ', "application/json", 400),
        (b"text", "text/plain", 415),
    ],
)
async def test_a_body_that_cannot_be_read_is_refused(
    shared_client: httpx.AsyncClient, content: bytes, kind: str, status: int
):
    response = await shared_client.post("/extractions", content=content, headers={"content-type": kind})
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (ModelUnavailable("The model server is down. Start it."), 503),
        (ModelTimeout("No answer in 120 s."), 504),
        (ModelReplyError("The reply is cut off.", '{"triples":[{"sub'), 502),
        ('{"triples":[{"subject":"Columbia University","rel', 502),
        ("I cannot help with that.", 502),
    ],
)
async def test_a_model_that_fails_is_reported_and_nothing_is_written(
    shared_client: httpx.AsyncClient,
    shared_services: Services,
    shared_model: RecordedModel,
    reply: str | Exception,
    status: int,
):
    shared_model.replies = [reply]
    before = shared_services.store.revision()
    response = await shared_client.post("/extractions", json={"text": COLUMBIA})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    assert shared_services.store.revision() == before


@pytest.mark.parametrize(
    ("headers", "status"), [({"origin": "https://evil.example"}, 403), ({"host": "evil.example"}, 421)]
)
async def test_a_web_page_of_another_origin_cannot_write(
    shared_client: httpx.AsyncClient, headers: dict[str, str], status: int
):
    response = await shared_client.post("/extractions", json={"text": COLUMBIA}, headers=headers)
    assert response.status_code == status


async def test_provenance_names_document_run_model_versions_and_words(
    client: httpx.AsyncClient, services: Services, model: RecordedModel
):
    model.replies = [COLUMBIA_REPLY]
    answer = (await client.post("/extractions", json={"text": COLUMBIA, "source": "leaflet"})).json()
    rows = await select(
        client,
        f"""PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX ukg: <https://w3id.org/urbankg/system#>
        SELECT ?quote ?model ?ontology ?shapes ?text WHERE {{
          GRAPH <https://w3id.org/urbankg/graph/provenance> {{
            ?r <http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies> <<( ?s <{URBAN}established> ?o )>> ;
               ukg:quote ?quote ; prov:wasGeneratedBy ?run .
            ?run ukg:model ?model ; ukg:ontologyVersion ?ontology ; ukg:shapesVersion ?shapes ; prov:used ?d .
            ?d ukg:text ?text }} }}""",
    )
    assert len(rows) == 1
    assert rows[0]["model"] == "recorded"
    assert rows[0]["text"] == COLUMBIA
    assert rows[0]["ontology"] == services.schema.version
    assert "1754" in rows[0]["quote"]
    assert json.dumps(answer)
