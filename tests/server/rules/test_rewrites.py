"""Statements change their terms in the commit of the edit that renames them, and back with it."""

from typing import Any

import httpx
import pytest
from pyoxigraph import NamedNode, Triple

from server.services import Services
from sparql.model.vocabulary import DEFAULT, EXTRACTED
from sparql.provenance.records import EvidenceReader
from tests.server.conftest import select
from tests.support.workshop import CITY, PREFIX, RULES, SHORT, submit, update

IRI = "http://example.org/city#"
TERMS = "@prefix dcterms: <http://purl.org/dc/terms/> .\n"
TITLE = ':title a owl:DatatypeProperty ; rdfs:label "title"@en ; skos:definition "Its name." .\n'
DEPRECATED = TERMS + CITY + TITLE + ":name owl:deprecated true ; dcterms:isReplacedBy :title .\n"
RENAMED = CITY.replace(":name a", ":title a").replace('"name"@en', '"title"@en')
TURTLE = {"content-type": "text/turtle"}


async def put(client: httpx.AsyncClient, text: str, **parameters: str) -> dict[str, Any]:
    answer = await client.put("/ontologies/city.ttl", content=text, params=parameters, headers=TURTLE)
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def values(client: httpx.AsyncClient, term: str) -> list[str]:
    return [row["o"] for row in await select(client, f"{PREFIX}SELECT ?o {{ ?s :{term} ?o }} ORDER BY ?o")]


@pytest.fixture
async def parks(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    await update(shop_client, "INSERT DATA { :a a :Park ; :name 'High' . :b a :Park ; :name 'River' }")
    return shop_client


async def test_the_impact_offers_a_rewrite_with_its_number_of_statements(parks: httpx.AsyncClient) -> None:
    impact = (await put(parks, DEPRECATED, **{"dry-run": "true"}))["impact"]
    assert impact["rewrites"] == [
        {
            "old": IRI + "name",
            "new": IRI + "title",
            "source": "http://purl.org/dc/terms/isReplacedBy",
            "statements": 2,
        }
    ]
    assert await values(parks, "name") == ["High", "River"]


async def test_equivalent_terms_and_classes_are_offered_too(parks: httpx.AsyncClient) -> None:
    alike = CITY + TITLE + (
        ":name owl:deprecated true ; owl:equivalentProperty :title .\n"
        ':Green a owl:Class ; rdfs:label "green"@en ; skos:definition "Green." ; rdfs:subClassOf :Place .\n'
        ":Park owl:deprecated true ; owl:equivalentClass :Green .\n"
    )  # fmt: skip
    done = await put(parks, alike, rewrite="true")
    found = {one["old"].removeprefix(IRI): one["source"] for one in done["impact"]["rewrites"]}
    owl = "http://www.w3.org/2002/07/owl#"
    assert found == {"Park": owl + "equivalentClass", "name": owl + "equivalentProperty"}
    assert done["rewritten"] == 4
    assert len(await select(parks, PREFIX + "SELECT ?s { ?s a :Green ; :title ?o }")) == 2
    assert await select(parks, PREFIX + "SELECT ?s { ?s a :Park }") == []


async def test_edit_and_rewrite_are_one_commit_and_go_back_together(
    shop: Services, parks: httpx.AsyncClient
) -> None:
    before = shop.store.revision()
    both = {"ontology": {"city.ttl": DEPRECATED}, "shapes": {"rules.ttl": RULES.replace(":name", ":title")}}
    done = (await parks.post("/rules", json=both, params={"rewrite": "true"})).json()
    assert (done["switched"], done["rewritten"]) == (True, 2)
    assert shop.store.revision() == before + 1
    assert (await values(parks, "name"), await values(parks, "title")) == ([], ["High", "River"])
    await update(parks, "INSERT DATA { :c a :Park ; :name 'Old' ; :title 'New' }")
    await update(parks, "DELETE DATA { :b a :Park ; :title 'River' }")
    former = {"ontology": {"city.ttl": CITY}, "shapes": {"rules.ttl": RULES}}
    back = (await parks.post("/rules", json=former)).json()
    assert [(one["source"], one["new"][-5:]) for one in back["impact"]["rewrites"]] == [("undo", "#name")]
    assert back["rewritten"] == 1
    assert await values(parks, "name") == ["High", "Old"], "neither revived nor renamed"
    assert await values(parks, "title") == ["New"], "stated so by the client"
    assert shop.store.revision() == before + 4


async def test_what_new_rules_refused_waits_once_when_its_term_is_rewritten(parks: httpx.AsyncClient) -> None:
    await update(parks, "INSERT DATA { :b :name 'Riverside' }")
    await parks.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    [item] = (await parks.get("/review")).json()["items"]
    shapes = (RULES + SHORT).replace(":name", ":title")
    longer = shapes + SHORT.replace("s:Short", "s:Shorter").replace(":name", ":title").replace("5", "6")
    for turtle, reasons in ((shapes, 1), (longer, 2)):
        both = {"ontology": {"city.ttl": DEPRECATED}, "shapes": {"rules.ttl": turtle}}
        done = await parks.post("/rules", json=both, params={"rewrite": "true"})
        assert done.is_success, done.text
        [again] = (await parks.get("/review")).json()["items"]
        assert again["id"] == item["id"]
        assert again["statement"]["predicate"] == IRI + "title"
        assert len(again["violations"]) == reasons


async def test_without_asking_for_it_statements_stay_as_they_are(parks: httpx.AsyncClient) -> None:
    assert (await put(parks, DEPRECATED))["rewritten"] == 0
    assert await values(parks, "name") == ["High", "River"]


async def test_the_new_statement_keeps_evidence_origin_and_review_items(
    shop: Services, parks: httpx.AsyncClient
) -> None:
    await parks.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
    refused = await submit(parks, ("a", "name", "'High'"), ("b", "name", "'Riverside'"))
    assert len(refused["rejected"]) == 1
    [item] = (await parks.get("/review")).json()["items"]
    await put(parks, DEPRECATED, rewrite="true")
    [stated] = list(shop.store.match(NamedNode(IRI + "a"), NamedNode(IRI + "title"), None))
    assert any(shop.store.match_quads(stated.subject, stated.predicate, stated.object, EXTRACTED))
    assert len(EvidenceReader(shop.store).about(stated)) == 1
    item = (await parks.get(f"/review/{item['id']}")).json()
    assert item["statement"]["predicate"] == IRI + "title"
    assert [one["path"] for one in item["violations"]] == [IRI + "title"]
    await put(parks, CITY)
    item = (await parks.get(f"/review/{item['id']}")).json()
    assert item["statement"]["predicate"] == IRI + "name"
    old = Triple(stated.subject, NamedNode(IRI + "name"), stated.object)
    assert len(EvidenceReader(shop.store).about(old)) == 1
    assert not EvidenceReader(shop.store).about(stated)


async def test_a_statement_that_exists_with_both_terms_is_one_meanwhile(
    shop: Services, parks: httpx.AsyncClient
) -> None:
    await submit(parks, ("b", "name", "'River'"))
    only_new = CITY + TITLE
    await put(parks, only_new)
    await update(parks, "INSERT DATA { :a :title 'High' . :b :title 'River' }")
    graph = {quad for quad in shop.store.match_quads(None, None, None, None) if IRI in str(quad.predicate)}
    assert (await put(parks, DEPRECATED, rewrite="true"))["rewritten"] == 2
    assert (await values(parks, "name"), await values(parks, "title")) == ([], ["High", "River"])
    assert (await put(parks, only_new))["rewritten"] == 2
    now = {quad for quad in shop.store.match_quads(None, None, None, None) if IRI in str(quad.predicate)}
    assert now == graph
    triple = Triple(NamedNode(IRI + "b"), NamedNode(IRI + "name"), next(
        q.object for q in shop.store.match_quads(NamedNode(IRI + "b"), NamedNode(IRI + "name"), None, DEFAULT)
    ))  # fmt: skip
    assert len(EvidenceReader(shop.store).about(triple)) == 1


async def test_two_rewrites_are_taken_back_together(parks: httpx.AsyncClient) -> None:
    await put(parks, DEPRECATED, rewrite="true")
    third = ':label a owl:DatatypeProperty ; rdfs:label "label"@en ; skos:definition "Its name." .\n'
    again = DEPRECATED + third + ":title owl:deprecated true ; dcterms:isReplacedBy :label .\n"
    await put(parks, again, rewrite="true")
    assert await values(parks, "label") == ["High", "River"]
    back = await put(parks, CITY)
    assert back["rewritten"] == 2
    assert (await values(parks, "name"), await values(parks, "label")) == (["High", "River"], [])
    assert (await put(parks, DEPRECATED))["rewritten"] == 0, "what was taken back is not taken back again"


async def test_several_files_switch_as_one_version_with_terms_that_the_client_gives(
    parks: httpx.AsyncClient,
) -> None:
    shapes = RULES.replace("sh:path :name", "sh:path :title")
    message = {
        "ontology": {"city.ttl": RENAMED},
        "shapes": {"rules.ttl": shapes},
        "rewrites": {IRI + "name": IRI + "title"},
    }
    before = (await parks.get("/rules")).json()
    tried = await parks.post("/rules", json=message, params={"dry-run": "true", "rewrite": "true"})
    assert tried.json()["switched"] is False
    assert tried.json()["impact"]["failing"] == 0, "the graph is judged as the rewrite leaves it"
    assert [(one["source"], one["statements"]) for one in tried.json()["impact"]["rewrites"]] == [
        ("request", 2)
    ]
    assert (await parks.get("/rules")).json() == before
    done = (await parks.post("/rules", json=message, params={"rewrite": "true"})).json()
    assert (done["switched"], done["rewritten"]) == (True, 2)
    assert await values(parks, "title") == ["High", "River"]
    assert (await parks.get("/review")).json()["items"] == []
    back = {"ontology": {"city.ttl": CITY}, "shapes": {"rules.ttl": RULES}}
    undone = (await parks.post("/rules", json=back)).json()
    assert undone["rewritten"] == 2
    assert undone["rules"] == before["rules"]
    assert await values(parks, "name") == ["High", "River"]


async def test_without_the_rewrite_the_same_edit_makes_statements_fail(parks: httpx.AsyncClient) -> None:
    shapes = {"rules.ttl": RULES.replace("sh:path :name", "sh:path :title")}
    message = {"ontology": {"city.ttl": RENAMED}, "shapes": shapes}
    tried = await parks.post("/rules", json=message, params={"dry-run": "true"})
    assert tried.json()["impact"]["failing"] == 2


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"rewrites": {IRI + "name": IRI + "nothing"}}, "neither a class nor a property"),
        ({"rewrites": {IRI + "Park": IRI + "title"}}, "is no property"),
        ({"rewrites": {IRI + "name": IRI + "title", IRI + "title": IRI + "near"}}, "also to be replaced"),
        ({"rewrites": {"name": IRI + "title"}}, "not an absolute IRI"),
        ({"rewrites": {IRI + "name": IRI + "title"}, "ontology": {"city.ttl": CITY}}, "stays as it is"),
        ({"rewrite": {}}, "did you mean 'rewrites'"),
        ({"ontology": {}}, "at least one file"),
    ],
)
async def test_unusable_terms_are_refused_and_nothing_changes(
    parks: httpx.AsyncClient, members: dict[str, Any], words: str
) -> None:
    message = {"ontology": {"city.ttl": CITY + TITLE}} | members
    answer = await parks.post("/rules", json=message, params={"rewrite": "true"})
    assert answer.status_code == 422
    assert words in answer.json()["detail"]
    assert ":title" not in (await parks.get("/ontologies/city.ttl")).text


async def test_terms_without_the_parameter_that_carries_them_out_are_refused(
    parks: httpx.AsyncClient,
) -> None:
    message = {"ontology": {"city.ttl": RENAMED}, "rewrites": {IRI + "name": IRI + "title"}}
    answer = await parks.post("/rules", json=message)
    assert answer.status_code == 422
    assert "rewrite=true" in answer.json()["detail"]
