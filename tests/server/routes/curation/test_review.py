"""What waits for a person, what a person decides, and what the graph then says."""

import csv
import io

import httpx
import pytest
import rdflib

from server.services import Services
from tests.server.conftest import RecordedModel, select, triples

URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
TEXT = "Bowne Hall is a museum. Bowne Hall opened in 1990 and closed in 1985."
REPLY = triples(
    ("Bowne Hall", "is a", "museum"), ("Bowne Hall", "opened", "1990"), ("Bowne Hall", "closed", "1985")
)
YEAR = "http://www.w3.org/2001/XMLSchema#gYear"


async def refused(client: httpx.AsyncClient, model: RecordedModel, text: str = TEXT) -> dict:
    """Post a text of which one statement is refused, and return its item."""
    model.replies = [REPLY]
    await client.post("/extractions", json={"text": text, "source": "a leaflet"})
    items = (await client.get("/review")).json()["items"]
    assert len(items) == 1
    return items[0]


def corrected(item: dict, year: str) -> dict:
    statement = item["statement"]
    return {
        "subject": statement["subject"],
        "predicate": statement["predicate"],
        "object": {"type": "literal", "value": year, "datatype": YEAR},
    }


async def years(client: httpx.AsyncClient, item: dict) -> list[str]:
    subject, predicate = item["statement"]["subject"], item["statement"]["predicate"]
    return [row["o"] for row in await select(client, f"SELECT ?o WHERE {{ <{subject}> <{predicate}> ?o }}")]


async def test_an_item_shows_span_reason_reply_and_what_it_may_mean(
    client: httpx.AsyncClient, model: RecordedModel
):
    await client.post(
        "/candidates",
        json={
            "statements": [
                {
                    "subject": "https://example.org/bowne-house",
                    "predicate": TYPE,
                    "object": {"type": "uri", "value": URBAN + "Museum"},
                },
                {
                    "subject": "https://example.org/bowne-house",
                    "predicate": LABEL,
                    "object": {"type": "literal", "value": "Bowne House", "xml:lang": "en"},
                },
            ]
        },
    )
    item = await refused(client, model)
    shown = (await client.get(f"/review/{item['id']}")).json()
    evidence = shown["statement"]["evidence"]
    assert TEXT[evidence["start"] : evidence["end"]] == evidence["quote"]
    assert shown["violations"][0]["message"]
    assert shown["reply"]
    assert [one["label"] for one in shown["similar"]["subject"]] == ["Bowne House"]
    assert shown["seen"] == 1


async def test_an_item_has_its_sentence_and_names_for_its_iris(
    client: httpx.AsyncClient, model: RecordedModel
):
    item = await refused(client, model)
    assert "".join(item["sentence"].values()) == "Bowne Hall opened in 1990 and closed in 1985."
    assert item["sentence"]["quote"] == item["statement"]["evidence"]["quote"]
    assert item["labels"][item["statement"]["predicate"]] == "closed"
    assert item["violations"][0]["shape"] in item["labels"]


async def test_corrections_are_suggested_only_if_the_gate_accepts_them(
    client: httpx.AsyncClient, model: RecordedModel
):
    item = await refused(client, model)
    found = (await client.get(f"/review/{item['id']}/suggestions")).json()["suggestions"]
    assert [
        (one["changes"], one["statement"]["object"]["value"]) for one in found if one["changes"] == "value"
    ] == [("value", "1990")]
    for one in found:
        sent = {name: one["statement"][name] for name in ("subject", "predicate", "object")}
        tried = await client.post(
            f"/review/{item['id']}/accept", json={"statements": [sent], "dry_run": True}
        )
        assert tried.json()["refused"] == []
    assert (await client.get("/review/nothing/suggestions")).status_code == 404


async def test_a_dry_run_reports_what_a_decision_would_do_and_changes_nothing(
    client: httpx.AsyncClient, model: RecordedModel
):
    item = await refused(client, model)
    before = (await client.get("/healthz")).json()["revision"]
    tried = (await client.post(f"/review/{item['id']}/accept", json={"dry_run": True})).json()
    assert tried["refused"][0]["violations"][0]["message"] == item["violations"][0]["message"]
    fits = {"statements": [corrected(item, "1995")], "dry_run": True}
    tried = (await client.post(f"/review/{item['id']}/accept", json=fits)).json()
    assert [one["object"]["value"] for one in tried["added"]] == ["1995"]
    assert (tried["decision"], tried["refused"]) == (None, [])
    rejected = {"reason": "no", "dry_run": True}
    assert (await client.post(f"/review/{item['id']}/reject", json=rejected)).json()["decision"] is None
    many = {"decision": "accept", "filter": {}, "expect": 1, "dry_run": True}
    assert len((await client.post("/review/decisions", json=many)).json()["refused"]) == 1
    assert await years(client, item) == []
    assert (await client.get(f"/review/{item['id']}")).json()["status"] == "open"
    assert (await client.get("/healthz")).json()["revision"] == before


async def test_an_unknown_item_is_not_found(shared_client: httpx.AsyncClient):
    assert (await shared_client.get("/review/nothing")).status_code == 404
    assert (await shared_client.post("/review/nothing/accept", json={})).status_code == 404


async def test_accepting_asks_the_gate_again(client: httpx.AsyncClient, model: RecordedModel):
    item = await refused(client, model)
    response = await client.post(f"/review/{item['id']}/accept", json={})
    assert response.status_code == 422
    assert response.json()["refused"][0]["violations"][0]["message"]
    assert (await client.get(f"/review/{item['id']}")).json()["status"] == "open"


async def test_a_corrected_statement_is_accepted_with_its_evidence_and_who_decided(
    client: httpx.AsyncClient, model: RecordedModel, services: Services
):
    item = await refused(client, model)
    kept = await years(client, item)
    body = {"statements": [corrected(item, "1995")], "reason": "a slip of the pen", "by": "Ada"}
    answer = (await client.post(f"/review/{item['id']}/accept", json=body)).json()
    assert answer["items"][0]["status"] == "accepted"
    assert sorted(await years(client, item)) == sorted([*kept, "1995"])
    decided = answer["items"][0]["decisions"]
    assert [(one["by"], one["outcome"], one["reason"]) for one in decided] == [
        ("Ada", "accepted", "a slip of the pen")
    ]
    rows = await select(
        client,
        f"""PREFIX prov: <http://www.w3.org/ns/prov#> PREFIX ukg: <https://w3id.org/urbankg/system#>
        PREFIX rdfs: <{LABEL[:-5]}>
        SELECT ?who ?quote ?shapes WHERE {{ GRAPH <https://w3id.org/urbankg/graph/provenance> {{
          ?e rdf:reifies <<( <{item["statement"]["subject"]}> <{item["statement"]["predicate"]}>
                             "1995"^^<{YEAR}> )>> ;
             ukg:quote ?quote ; ukg:decision ?d ; prov:wasAttributedTo/rdfs:label ?who .
          ?d ukg:shapesVersion ?shapes ; prov:endedAtTime ?at }} }}""".replace(
            "rdf:reifies", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#reifies>"
        ),
    )
    assert rows == [
        {"who": "Ada", "quote": item["statement"]["evidence"]["quote"], "shapes": services.gate.version}
    ]


async def test_a_corrected_statement_in_a_foreign_vocabulary_is_refused(
    client: httpx.AsyncClient, model: RecordedModel
):
    item = await refused(client, model)
    foreign = {**corrected(item, "1995"), "predicate": "http://example.org/shut"}
    response = await client.post(f"/review/{item['id']}/accept", json={"statements": [foreign]})
    assert response.status_code == 422
    assert "ontology" in response.json()["refused"][0]["violations"][0]["message"]


async def test_a_rejection_says_why_and_is_not_asked_again(client: httpx.AsyncClient, model: RecordedModel):
    item = await refused(client, model)
    path = f"/review/{item['id']}/reject"
    assert (await client.post(path, json={})).status_code == 422
    assert (await client.post(path, json={"reason": "misprint"})).status_code == 200
    assert (await client.post(path, json={"reason": "misprint"})).status_code == 409
    for text in (TEXT, TEXT + " It is small."):
        answer = (await client.post("/extractions", json={"text": text})).json()
        assert len(answer["rejected"]) == 1
    assert (await client.get("/review")).json()["total"] == 0
    shown = (await client.get(f"/review/{item['id']}")).json()
    assert (shown["status"], shown["seen"]) == ("rejected", 3)


async def test_what_a_person_rejected_stays_out_when_the_gate_would_let_it_in(
    client: httpx.AsyncClient, model: RecordedModel
):
    long_name = "The Society for the Advancement of " + "Very " * 20 + "Long Names"
    text = f"{long_name} is a museum."
    model.replies = [triples((long_name, "is a", "museum"))]
    answer = (await client.post("/extractions", json={"text": text})).json()
    assert [w["statement"]["predicate"] for w in answer["warnings"]] == [LABEL]
    item = (await client.get("/review")).json()["items"][0]
    assert item["accepted"]
    reported = await client.post(f"/review/{item['id']}/reject", json={"reason": "no name"})
    assert reported.json()["items"][0]["accepted"] is False
    subject = item["statement"]["subject"]
    assert await select(client, f"SELECT ?p WHERE {{ <{subject}> ?p ?o }}") == []
    assert [one["predicate"] for one in reported.json()["fallen"]] == [TYPE]
    again = (await client.post("/extractions", json={"text": text + " Really."})).json()
    reasons = {v["component"] for r in again["rejected"] for v in r["violations"]}
    assert "https://w3id.org/urbankg/system#RejectedBefore" in reasons
    await client.post(f"/review/{item['id']}/reopen", json={"reason": "it is one"})
    assert (await client.get(f"/review/{item['id']}")).json()["status"] == "open"


async def test_reopening_takes_out_what_accepting_let_in(client: httpx.AsyncClient, model: RecordedModel):
    item = await refused(client, model)
    before = await years(client, item)
    await client.post(f"/review/{item['id']}/accept", json={"statements": [corrected(item, "1995")]})
    reported = (await client.post(f"/review/{item['id']}/reopen", json={"by": "Bob"})).json()
    assert reported["items"][0]["status"] == "open"
    assert await years(client, item) == before
    assert [one["outcome"] for one in reported["items"][0]["decisions"]] == ["accepted", "open"]


async def everything(client: httpx.AsyncClient, about: str) -> list[tuple[str, str]]:
    rows = await select(client, f"SELECT ?p ?o WHERE {{ <{about}> ?p ?o }} ORDER BY ?p ?o")
    return [(row["p"], row["o"]) for row in rows]


async def evidence_of(client: httpx.AsyncClient, about: str) -> list[str]:
    rows = await select(
        client,
        f"""PREFIX rdf: <{TYPE[:-4]}> PREFIX prov: <http://www.w3.org/ns/prov#>
        SELECT (STR(?run) AS ?of) WHERE {{ GRAPH <https://w3id.org/urbankg/graph/provenance> {{
          ?e rdf:reifies ?t ; prov:wasGeneratedBy ?run FILTER(SUBJECT(?t) = <{about}>) }} }} ORDER BY ?of""",
    )
    return [row["of"] for row in rows]


async def undone(client: httpx.AsyncClient, decision: str) -> dict:
    response = await client.post(f"/review/decisions/{decision.rpartition('/')[2]}/undo", json={"by": "Eve"})
    assert response.status_code == 200, response.text
    return response.json()


async def test_undoing_a_rejection_restores_the_statement_and_what_fell_with_it(client: httpx.AsyncClient):
    (item,) = await warned(client, 1)
    about = item["statement"]["subject"]
    before, evidence = await everything(client, about), await evidence_of(client, about)
    body = {"decision": "reject", "items": [item["id"]], "reason": "no name"}
    reported = (await client.post("/review/decisions", json=body)).json()
    assert len(reported["fallen"]) == 1
    assert await everything(client, about) == []
    back = await undone(client, reported["decision"])
    assert (back["refused"], back["unchanged"]) == ([], [])
    assert await everything(client, about) == before
    assert await evidence_of(client, about) == evidence
    waiting = (await client.get("/review")).json()["items"]
    assert [(one["id"], one["accepted"]) for one in waiting] == [(item["id"], True)]


async def test_undoing_a_correction_restores_the_statement_that_it_replaced(client: httpx.AsyncClient):
    (item,) = await warned(client, 1)
    about = item["statement"]["subject"]
    before = await everything(client, about)
    short = {"type": "literal", "value": "Short Museum", "xml:lang": "en"}
    statement = {"subject": about, "predicate": LABEL, "object": short}
    reported = (await client.post(f"/review/{item['id']}/accept", json={"statements": [statement]})).json()
    corrected = await everything(client, about)
    assert (LABEL, "Short Museum") in corrected
    assert len(corrected) == len(before)
    back = await undone(client, reported["decision"])
    assert await everything(client, about) == before
    again = await undone(client, back["decision"])
    assert again["items"][0]["status"] == "accepted"
    assert await everything(client, about) == corrected


async def test_undoing_an_acceptance_lets_others_wait_again(client: httpx.AsyncClient, model: RecordedModel):
    item = await refused(client, model)
    before = await years(client, item)
    body = {"statements": [corrected(item, "1995")]}
    reported = (await client.post(f"/review/{item['id']}/accept", json=body)).json()
    back = await undone(client, reported["decision"])
    assert back["items"][0]["status"] == "open"
    assert await years(client, item) == before


async def test_undoing_an_undo_decides_as_before(client: httpx.AsyncClient):
    items = await warned(client, 3)
    accepted = {"decision": "accept", "items": [items[0]["id"]]}
    await client.post("/review/decisions", json=accepted)
    rejected = {"decision": "reject", "items": [items[1]["id"]], "reason": "no name"}
    await client.post("/review/decisions", json=rejected)
    both = [items[0]["id"], items[1]["id"]]
    reported = (await client.post("/review/decisions", json={"decision": "reopen", "items": both})).json()
    again = await undone(client, reported["decision"])
    assert {one["id"]: one["status"] for one in again["items"]} == {both[0]: "accepted", both[1]: "rejected"}
    made = (await client.get("/review/decisions")).json()
    assert made["total"] == 5
    assert [one["outcome"] for one in made["decisions"]][2:] == ["open", "rejected", "accepted"]
    assert made["decisions"][3]["reason"] == "no name"


async def test_only_the_last_decision_on_an_item_is_undone(client: httpx.AsyncClient):
    items = await warned(client, 2)
    body = {"decision": "reject", "items": [one["id"] for one in items], "reason": "no names"}
    first = (await client.post("/review/decisions", json=body)).json()
    await client.post(f"/review/{items[0]['id']}/reopen", json={})
    reported = await undone(client, first["decision"])
    assert [one["id"] for one in reported["items"]] == [items[1]["id"]]
    assert [one["id"] for one in reported["unchanged"]] == [items[0]["id"]]
    path = f"/review/decisions/{first['decision'].rpartition('/')[2]}/undo"
    assert (await client.post(path, json={})).status_code == 409
    assert (await client.post("/review/decisions/none/undo", json={})).status_code == 404


async def test_an_undo_brings_nothing_back_of_a_removed_document(
    client: httpx.AsyncClient, model: RecordedModel
):
    name = "The Society for the Advancement of " + "Very " * 20 + "Long Names"
    model.replies = [triples((name, "is a", "museum"))]
    await client.post("/extractions", json={"text": f"{name} is a museum."})
    (item,) = (await client.get("/review")).json()["items"]
    about = item["statement"]["subject"]
    assert await everything(client, about) != []
    reported = (await client.post(f"/review/{item['id']}/reject", json={"reason": "misprint"})).json()
    document = item["document"].rpartition("/")[2]
    assert (await client.delete(f"/documents/{document}")).status_code == 200
    await undone(client, reported["decision"])
    assert await everything(client, about) == []


async def test_items_are_decided_together_by_name_or_filter(client: httpx.AsyncClient, model: RecordedModel):
    model.replies = [triples(("Yale University", "is a", "university"))]
    text = "Columbia University is a private university in the city of New York, and an old one."
    await client.post("/extractions", json={"text": text})
    waiting = (await client.get("/review")).json()["items"]
    assert len(waiting) == 2
    body = {"decision": "accept", "items": [item["id"] for item in waiting], "by": "Ada"}
    reported = (await client.post("/review/decisions", json=body)).json()
    assert len(reported["items"]) == 2
    assert reported["refused"] == []
    assert {item["decisions"][0]["iri"] for item in reported["items"]} == {reported["decision"]}
    body = {"decision": "reopen", "filter": {"status": "accepted", "text": "yale"}}
    reported = (await client.post("/review/decisions", json=body)).json()
    assert len(reported["items"]) == 2
    body = {"decision": "reject", "filter": {"text": "yale"}, "reason": "not in the text"}
    assert len((await client.post("/review/decisions", json=body)).json()["items"]) == 2
    assert (await client.get("/review")).json()["total"] == 0


async def test_a_bulk_decision_names_items_or_a_filter(shared_client: httpx.AsyncClient):
    for body in ({"decision": "accept"}, {"decision": "accept", "items": [], "filter": {}}):
        assert (await shared_client.post("/review/decisions", json=body)).status_code == 422


async def warned(client: httpx.AsyncClient, number: int) -> list[dict]:
    """Post names that are too long, and return their items: accepted with a warning."""
    statements = []
    for count in range(number):
        subject = f"https://example.org/place-{count:02}"
        name = f"Museum {count} " + "of Very Long Names " * 12
        statements += [
            {"subject": subject, "predicate": TYPE, "object": {"type": "uri", "value": URBAN + "Museum"}},
            {
                "subject": subject,
                "predicate": LABEL,
                "object": {"type": "literal", "value": name, "xml:lang": "en"},
                "confidence": 0.2 + 0.5 * (count % 2),
            },
        ]
    answer = (await client.post("/candidates", json={"statements": statements, "source": "a list"})).json()
    assert len(answer["warnings"]) == number, answer
    return (await client.get("/review", params={"severity": "Warning", "limit": 100})).json()["items"]


async def test_a_decision_on_more_than_20_items_needs_their_number(client: httpx.AsyncClient):
    await warned(client, 21)
    body = {"decision": "reject", "filter": {"severity": "Warning"}, "reason": "no names"}
    missing = await client.post("/review/decisions", json=body)
    assert missing.status_code == 422
    assert "21 items" in missing.json()["errors"][0]["message"]
    wrong = await client.post("/review/decisions", json=body | {"expect": 20})
    assert (wrong.status_code, wrong.json()["expected"], wrong.json()["found"]) == (409, 20, 21)
    assert (await client.get("/review")).json()["total"] == 21
    done = (await client.post("/review/decisions", json=body | {"expect": 21})).json()
    assert (len(done["items"]), done["left"]) == (21, 0)


async def test_a_wrong_number_of_few_items_decides_nothing_either(client: httpx.AsyncClient):
    items = await warned(client, 2)
    body = {"decision": "accept", "items": [items[0]["id"], items[0]["id"]], "expect": 2}
    assert (await client.post("/review/decisions", json=body)).status_code == 409
    assert (await client.get("/review")).json()["total"] == 2


async def test_items_are_filtered_by_severity_component_source_class_and_confidence(
    client: httpx.AsyncClient, model: RecordedModel
):
    await refused(client, model)
    items = await warned(client, 4)
    assert len(items) == 4
    component = items[0]["violations"][0]["component"]
    counts = {
        ("severity", "Violation"): 1,
        ("component", component): 4,
        ("component", component.rpartition("#")[2]): 4,
        ("component", "UnknownTerm"): 0,
        ("source", "a list"): 4,
        ("source", "a leaflet"): 1,
        ("class", URBAN + "Museum"): 5,
        ("class", URBAN + "Station"): 0,
        ("min_confidence", "0.5"): 2,
        ("max_confidence", "0.5"): 2,
    }
    for (name, value), count in counts.items():
        page = (await client.get("/review", params={name: value})).json()
        assert page["total"] == count, (name, value)
    for sent in ({"severity": "Warnung"}, {"min_confidence": "2"}, {"class": "no iri"}):
        assert (await client.get("/review", params=sent)).status_code == 422, sent
    body = {"decision": "accept", "filter": {"class": URBAN + "Museum", "severity": "Warning"}}
    assert len((await client.post("/review/decisions", json=body)).json()["items"]) == 4


@pytest.mark.parametrize(
    ("name", "value", "near"),
    [
        ("component", "MinCuont", "MinCountConstraintComponent"),
        ("component", "UnknwonTerm", "UnknownTerm"),
        ("component", "x", "there is no component 'x' in"),
        ("class", URBAN + "Musem", URBAN + "Museum"),
        ("predicate", URBAN + "locatedin", URBAN + "locatedIn"),
        ("source", "a lst", "a list"),
        ("shape", "https://w3id.org/urbankg/shapes/urban#NamdThing", "shapes/urban#NamedThing"),
        ("document", "nothing", "there is no document"),
        ("entity", "http://example.org/nobody", "there is no entity"),
        ("group", "0123", "there is no group"),
    ],
)
async def test_a_value_of_a_filter_that_nothing_has_is_refused_with_the_nearest(
    client: httpx.AsyncClient, name: str, value: str, near: str
):
    await warned(client, 2)
    for path in ("/review", "/review/facets", "/review/groups", "/review/export"):
        answer = await client.get(path, params={name: value})
        assert answer.status_code == 422, path
        assert near.casefold() in answer.json()["errors"][0]["message"].casefold()
    body = {"decision": "reject", "filter": {name: value}, "reason": "none", "expect": 2}
    assert (await client.post("/review/decisions", json=body)).status_code == 422
    assert (await client.get("/review")).json()["total"] == 2


async def test_a_person_without_items_gets_none_and_a_note(client: httpx.AsyncClient):
    items = await warned(client, 2)
    await client.post("/review/assignments", json={"assignee": "Ada", "items": [items[0]["id"]]})
    assert (await client.get("/review", params={"assignee": "Ada"})).json()["notes"] == []
    other = (await client.get("/review", params={"assignee": "Adda"})).json()
    assert other["total"] == 0
    assert other["notes"] == ["No item is assigned to 'Adda'. Did you mean 'Ada'?"]


async def test_items_are_assigned_and_commented(client: httpx.AsyncClient):
    items = await warned(client, 3)
    mine = {"assignee": "Ada", "items": [items[0]["id"], items[1]["id"]]}
    reported = (await client.post("/review/assignments", json=mine)).json()
    assert reported == {"assignee": "Ada", "items": 2, "left": 0}
    assert (await client.get("/review", params={"assignee": "Ada"})).json()["total"] == 2
    nobody = (await client.get("/review", params={"assignee": ""})).json()["items"]
    assert [one["id"] for one in nobody] == [items[2]["id"]]
    wrong = {"assignee": "Bob", "filter": {"assignee": "Ada"}, "expect": 3}
    assert (await client.post("/review/assignments", json=wrong)).status_code == 409
    await client.post("/review/assignments", json=wrong | {"expect": 2})
    facet = (await client.get("/review/facets")).json()["facets"]["assignee"]
    assert facet == [{"value": "Bob", "items": 2}]
    await client.post("/review/assignments", json={"assignee": None, "items": [items[0]["id"]]})
    path = f"/review/{items[0]['id']}"
    for text in ("Is that its name?", "No."):
        await client.post(path + "/comments", json={"text": text, "by": "Ada"})
    await client.post(path + "/accept", json={})
    shown = (await client.get(path)).json()
    assert shown["assignee"] is None
    assert [(one["by"], one["text"]) for one in shown["comments"]] == [
        ("Ada", "Is that its name?"),
        ("Ada", "No."),
    ]


async def test_an_assignment_names_a_person_and_known_items(shared_client: httpx.AsyncClient):
    assert (await shared_client.post("/review/assignments", json={"items": []})).status_code == 422
    unknown = {"assignee": "Ada", "items": ["nothing"]}
    assert (await shared_client.post("/review/assignments", json=unknown)).status_code == 404
    assert (await shared_client.post("/review/nothing/comments", json={"text": "x"})).status_code == 404
    assert (await shared_client.post("/review/nothing/comments", json={"text": ""})).status_code == 422


async def test_a_value_is_corrected_in_all_selected_items(client: httpx.AsyncClient):
    items = await warned(client, 3)
    name = {"type": "literal", "value": "A Museum", "xml:lang": "en"}
    body = {
        "decision": "accept",
        "filter": {"severity": "Warning"},
        "correction": {"value": name},
        "by": "Ada",
    }
    reported = (await client.post("/review/decisions", json=body)).json()
    assert (len(reported["items"]), reported["refused"]) == (3, [])
    rows = await select(client, f'SELECT ?s WHERE {{ ?s <{LABEL}> "A Museum"@en }}')
    assert sorted(row["s"] for row in rows) == sorted(one["statement"]["subject"] for one in items)
    gone = await select(client, f"SELECT ?o WHERE {{ ?s <{LABEL}> ?o FILTER(CONTAINS(?o, 'Very Long')) }}")
    assert gone == []
    await undone(client, reported["decision"])
    assert (await client.get("/review", params={"severity": "Warning"})).json()["total"] == 3
    assert await select(client, f'SELECT ?s WHERE {{ ?s <{LABEL}> "A Museum"@en }}') == []


async def test_a_class_and_a_datatype_are_corrected_where_they_fit(client: httpx.AsyncClient):
    place = "https://example.org/a-hall"
    known = {"subject": place, "predicate": LABEL, "object": {"type": "literal", "value": "A Hall"}}
    typed = {"subject": place, "predicate": TYPE, "object": {"type": "uri", "value": URBAN + "Museeum"}}
    opened = {"subject": place, "predicate": URBAN + "opened", "object": {"type": "literal", "value": "1990"}}
    await client.post("/candidates", json={"statements": [known, typed, opened]})
    items = (await client.get("/review")).json()["items"]
    of = {item["statement"]["predicate"]: item["id"] for item in items}
    body = {"decision": "accept", "items": list(of.values()), "correction": {"class": URBAN + "Museum"}}
    unfit = await client.post("/review/decisions", json=body)
    assert unfit.status_code == 422
    assert "rdf:type" in unfit.json()["detail"]
    assert (await client.get("/review")).json()["total"] == len(items)
    statements = {"statements": [known, typed | {"object": {"type": "uri", "value": URBAN + "Museum"}}]}
    assert (await client.post("/candidates", json=statements)).json()["rejected"] == []
    fixed = await client.post(
        "/review/decisions", json=body | {"items": [of[URBAN + "opened"]], "correction": {"datatype": YEAR}}
    )
    assert [one["status"] for one in fixed.json()["items"]] == ["accepted"]
    rows = await everything(client, place)
    assert (URBAN + "opened", "1990") in rows
    typed_only = body | {"items": [of[TYPE]]}
    assert [
        one["status"] for one in (await client.post("/review/decisions", json=typed_only)).json()["items"]
    ] == ["accepted"]


@pytest.mark.parametrize(
    ("predicate", "wrong", "correction", "right"),
    [
        (TYPE, {"type": "uri", "value": URBAN + "Museeum"}, {"class": URBAN + "Museum"}, URBAN + "Museum"),
        (URBAN + "opened", {"type": "literal", "value": "1990"}, {"datatype": YEAR}, "1990"),
    ],
)
async def test_more_than_20_items_are_corrected_by_class_and_by_datatype_with_their_number(
    client: httpx.AsyncClient, predicate: str, wrong: dict, correction: dict, right: str
):
    statements = []
    for count in range(21):
        hall = f"https://example.org/hall-{count:02}"
        name = {"type": "literal", "value": f"Hall {count}"}
        statements += [
            {"subject": hall, "predicate": LABEL, "object": name},
            {"subject": hall, "predicate": predicate, "object": wrong},
        ]
        kind = {"type": "uri", "value": URBAN + ("Building" if predicate == TYPE else "Museum")}
        statements.append({"subject": hall, "predicate": TYPE, "object": kind})
    await client.post("/candidates", json={"statements": statements})
    selected = {"predicate": predicate}
    assert (await client.get("/review", params=selected)).json()["total"] == 21
    body = {"decision": "accept", "filter": selected, "correction": correction}
    assert (await client.post("/review/decisions", json=body)).status_code == 422
    assert (await client.post("/review/decisions", json=body | {"expect": 20})).status_code == 409
    assert (await client.get("/review", params=selected)).json()["total"] == 21
    done = await client.post("/review/decisions", json=body | {"expect": 21})
    assert done.status_code == 200, done.text
    outcomes = [one["status"] for one in done.json()["items"]]
    rows = await select(client, f"SELECT ?s ?o WHERE {{ ?s <{predicate}> ?o }}")
    corrected = [row["s"] for row in rows if row["o"] == right and "/hall-" in row["s"]]
    assert (outcomes, len(corrected)) == (["accepted"] * 21, 21), done.json()["refused"][:1]
    await undone(client, done.json()["decision"])
    assert (await client.get("/review", params=selected)).json()["total"] == 21


@pytest.mark.parametrize(
    ("decision", "correction", "place"),
    [
        ("reject", {"property": URBAN + "opened"}, "correction"),
        ("accept", {}, "correction"),
        ("accept", {"class": URBAN + "Museum", "property": URBAN + "opened"}, "correction.class"),
        ("accept", {"property": "opened"}, "correction.property"),
        ("accept", {"klass": URBAN + "Museum"}, "correction.klass"),
    ],
)
async def test_a_correction_that_makes_no_sense_is_refused(
    shared_client: httpx.AsyncClient, decision: str, correction: dict, place: str
):
    body = {"decision": decision, "filter": {}, "correction": correction, "reason": "x"}
    response = await shared_client.post("/review/decisions", json=body)
    assert response.status_code == 422
    assert response.json()["errors"][0]["place"] == place


async def test_the_queue_is_exported_as_table_and_as_validation_report(client: httpx.AsyncClient):
    items = await warned(client, 2)
    response = await client.get("/review/export", params={"severity": "Warning"})
    assert response.headers["content-type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(response.text)))
    assert [row["id"] for row in rows] == [item["id"] for item in items]
    assert {row["severity"] for row in rows} == {"Warning"}
    assert rows[0]["message"] == items[0]["violations"][0]["message"]
    assert rows[0]["source"] == "a list"
    response = await client.get("/review/export", params={"format": "shacl"})
    assert response.headers["content-type"].startswith("text/turtle")
    report = rdflib.Graph().parse(data=response.text, format="turtle")
    sh = rdflib.Namespace("http://www.w3.org/ns/shacl#")
    assert len(set(report.objects(None, sh.result))) == 2
    assert {str(one) for one in report.objects(None, sh.focusNode)} == {
        item["violations"][0]["focus"]["value"] for item in items
    }
    assert set(report.objects(None, sh.resultSeverity)) == {sh.Warning}
    assert set(report.objects(None, sh.conforms)) == {rdflib.Literal(False)}


async def test_facets_count_the_values_of_a_filtered_queue(client: httpx.AsyncClient, model: RecordedModel):
    await refused(client, model)
    await warned(client, 4)
    found = (await client.get("/review/facets")).json()
    assert found["total"] == 5
    facets = {
        name: {one["value"]: one["items"] for one in values} for name, values in found["facets"].items()
    }
    assert facets["severity"] == {"Warning": 4, "Violation": 1}
    assert facets["source"] == {"a list": 4, "a leaflet": 1}
    assert facets["status"] == {"open": 5}
    assert facets["class"][URBAN + "Museum"] == 5
    labels = {one["value"]: one["label"] for name in ("class", "document") for one in found["facets"][name]}
    assert labels[URBAN + "Museum"] == "museum"
    assert "a leaflet" in labels.values()
    assert {step: facets["confidence"][step] for step in ("0.2", "0.7")} == {"0.2": 2, "0.7": 2}
    narrow = (await client.get("/review/facets", params={"source": "a list"})).json()
    assert narrow["facets"]["severity"] == [{"value": "Warning", "items": 4}]


async def test_refusals_of_one_cause_are_one_group(client: httpx.AsyncClient, model: RecordedModel):
    item = await refused(client, model)
    await warned(client, 3)
    groups = (await client.get("/review/groups")).json()["groups"]
    assert [group["items"] for group in groups] == [3, 1]
    assert groups[0]["severity"] == "Warning"
    assert groups[1]["shape"] == item["violations"][0]["shape"]
    assert groups[1]["example"] == item["violations"][0]["message"]
    chosen = (await client.get("/review", params={"group": groups[1]["group"]})).json()["items"]
    assert [one["id"] for one in chosen] == [item["id"]]
    assert (await client.get("/review", params={"group": "unknown"})).status_code == 422


async def test_the_queue_is_filtered_and_paged(client: httpx.AsyncClient, model: RecordedModel):
    item = await refused(client, model)
    shape = item["violations"][0]["shape"]
    hits = [
        {"shape": shape},
        {"document": item["document"]},
        {"document": item["document"].rpartition("/")[2]},
        {"predicate": item["statement"]["predicate"]},
        {"entity": item["statement"]["subject"]},
        {"text": "BOWNE"},
        {"status": "any"},
    ]
    misses = [
        {"predicate": URBAN + "opened", "text": "Vienna"},
        {"predicate": URBAN + "hasFunction"},
        {"text": "Vienna"},
        {"status": "accepted"},
    ]
    for parameters in hits:
        assert (await client.get("/review", params=parameters)).json()["total"] == 1, parameters
    for parameters in misses:
        assert (await client.get("/review", params=parameters)).json()["total"] == 0, parameters
    for unknown in ({"shape": URBAN + "x"}, {"document": "nothing"}, {"predicate": URBAN + "x"}):
        assert (await client.get("/review", params=unknown)).status_code == 422, unknown
    assert (await client.get("/review", params={"offset": 1})).json()["items"] == []
    assert (await client.get("/review", params={"shape": "no iri"})).status_code == 422


async def test_the_queue_answers_to_sparql_in_its_own_graph(client: httpx.AsyncClient, model: RecordedModel):
    item = await refused(client, model)
    rows = await select(
        client,
        """PREFIX ukg: <https://w3id.org/urbankg/system#> PREFIX sh: <http://www.w3.org/ns/shacl#>
        SELECT ?item ?message FROM <https://w3id.org/urbankg/graph/review>
        WHERE { ?item ukg:status ukg:Open ; ukg:violation/sh:resultMessage ?message }""",
    )
    assert rows == [{"item": item["iri"], "message": item["violations"][0]["message"]}]


async def test_a_statement_that_conforms_later_needs_no_decision(
    client: httpx.AsyncClient, model: RecordedModel
):
    item = await refused(client, model)
    years_kept = [row for row in ("opened", "closed") if URBAN + row != item["statement"]["predicate"]]
    subject = item["statement"]["subject"]
    update = f"DELETE WHERE {{ <{subject}> <{URBAN}{years_kept[0]}> ?year }}"
    response = await client.post(
        "/update", content=update, headers={"content-type": "application/sparql-update"}
    )
    assert response.status_code in (200, 204), response.text
    lone = REPLY.replace(years_kept[0], "said")
    model.replies = [lone]
    await client.post("/extractions", json={"text": TEXT})
    assert (await client.get(f"/review/{item['id']}")).json()["status"] == "superseded"


async def test_deciding_needs_the_scope_for_it(client: httpx.AsyncClient, services: Services):
    from server.http.access.keys import Scope

    _, writer = services.keys.create("writer", [Scope.WRITE])
    _, person = services.keys.create("ada", [Scope.REVIEW])
    path = "/review/nothing/accept"
    assert (await client.post(path, json={})).status_code == 401
    as_writer = await client.post(path, json={}, headers={"authorization": f"Bearer {writer}"})
    assert as_writer.status_code == 403
    as_person = await client.post(path, json={}, headers={"authorization": f"Bearer {person}"})
    assert as_person.status_code == 404


async def test_the_key_names_who_decided(client: httpx.AsyncClient, model: RecordedModel, services: Services):
    from server.http.access.keys import Scope

    item = await refused(client, model)
    _, token = services.keys.create("reviewer", [Scope.REVIEW])
    headers = {"authorization": f"Bearer {token}"}
    reported = await client.post(f"/review/{item['id']}/reject", json={"reason": "no"}, headers=headers)
    assert reported.json()["items"][0]["decisions"][0]["by"] == "reviewer"


@pytest.mark.parametrize("verb", ["accept", "reject"])
async def test_only_what_is_open_can_be_decided(client: httpx.AsyncClient, model: RecordedModel, verb: str):
    item = await refused(client, model)
    await client.post(f"/review/{item['id']}/reject", json={"reason": "no"})
    response = await client.post(f"/review/{item['id']}/{verb}", json={"reason": "no"})
    assert response.status_code == 409
    assert "reopen" in response.json()["detail"]


async def test_no_suggestion_is_about_something_that_the_passage_does_not_name(
    client: httpx.AsyncClient, model: RecordedModel
):
    known = f"""@prefix urban: <{URBAN}> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    <https://example.org/moma> a urban:Museum ; rdfs:label "Museum of Modern Art"@en .
    <https://example.org/mpa> a urban:Museum ; rdfs:label "Museum of Primitive Art"@en ;
      urban:opened "1957"^^<http://www.w3.org/2001/XMLSchema#gYear> ."""
    headers = {"content-type": "text/turtle"}
    assert (await client.post("/store?default", content=known, headers=headers)).status_code in (201, 204)
    for text, named in (
        ("The Museum of Primitive Art closed in 1950, as all the papers of the town reported.", False),
        ("The Museum of Primitive Art, not the Museum of Modern Art, closed in 1950 for good.", True),
    ):
        model.replies = [triples(("Museum of Primitive Art", "closed", "1950"))]
        await client.post("/extractions", json={"text": text})
        items = (await client.get("/review", params={"predicate": URBAN + "closed"})).json()["items"]
        item = next(one for one in items if "".join(one["sentence"].values()) == text)
        found = (await client.get(f"/review/{item['id']}/suggestions")).json()["suggestions"]
        subjects = {one["statement"]["subject"] for one in found if one["changes"] == "subject"}
        assert subjects == ({"https://example.org/moma"} if named else set())


async def test_a_decision_is_listed_as_undoable_as_long_as_it_can_be_undone(
    client: httpx.AsyncClient, model: RecordedModel
):
    item = await refused(client, model)
    rejected = {"reason": "It is older."}
    assert (await client.post(f"/review/{item['id']}/reject", json=rejected)).status_code == 200
    (made,) = (await client.get("/review/decisions")).json()["decisions"]
    assert made["undoable"] is True
    assert (await client.post(f"/review/decisions/{made['id']}/undo", json={})).status_code == 200
    found = {
        one["id"]: one["undoable"] for one in (await client.get("/review/decisions")).json()["decisions"]
    }
    assert found[made["id"]] is False
