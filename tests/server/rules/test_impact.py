"""What an edit would change is reported before it is put in force, and done after."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from server.runtime.wiring import build
from server.services import Services
from shapes.authoring.impact_results import Bounds
from tests.server.conftest import RecordedModel, select
from tests.support.prepared_processes import urbankg
from tests.support.workshop import CITY, PREFIX, RULES, SHORT, folders, settings_in, submit, update

NAMES = "SELECT ?n { ?s :name ?n } ORDER BY ?n"


async def put(client: httpx.AsyncClient, path: str, text: str, **parameters: str) -> dict[str, Any]:
    answer = await client.put(path, content=text, params=parameters, headers={"content-type": "text/turtle"})
    assert answer.is_success, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def open_items(client: httpx.AsyncClient) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = (await client.get("/review")).json()["items"]
    return found


@pytest.fixture
async def parks(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    await update(shop_client, "INSERT DATA { :a a :Park ; :name 'High' . :b a :Park ; :name 'Riverside' }")
    return shop_client


@pytest.mark.parametrize("many", [0, 500])
async def test_statements_that_would_newly_fail_are_counted_with_examples(
    parks: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch, many: int
) -> None:
    monkeypatch.setattr("shapes.authoring.impact_results.BOUNDS", Bounds(many=many))
    impact = (await put(parks, "/shapes/rules.ttl", RULES + SHORT, **{"dry-run": "true"}))["impact"]
    assert (impact["failing"], impact["mended"], impact["exact"]) == (1, 0, True)
    [shape] = impact["shapes"]
    assert (shape["shape"], shape["change"], shape["targets"]) == (
        "http://example.org/shapes#Short",
        "added",
        2,
    )
    assert shape["failing_examples"][0]["value"]["value"] == "Riverside"


async def test_a_shape_that_says_the_same_in_other_words_has_no_impact(parks: httpx.AsyncClient) -> None:
    said = RULES.replace(
        "sh:targetClass :Park ; sh:path :name ;", "sh:path :name ;\n  sh:targetClass :Park ;"
    )
    impact = (await put(parks, "/shapes/rules.ttl", "# moved\n" + said, **{"dry-run": "true"}))["impact"]
    assert impact["shapes"] == []


async def test_a_new_subclass_makes_its_instances_fail_by_a_shape_that_stays(
    parks: httpx.AsyncClient,
) -> None:
    square = ':Square a owl:Class ; rdfs:label "square"@en ; skos:definition "Open." .\n'
    await put(parks, "/ontologies/city.ttl", CITY + square)
    await update(parks, "INSERT DATA { :c a :Square }")
    edited = CITY + square + ":Square rdfs:subClassOf :Park ."
    impact = (await put(parks, "/ontologies/city.ttl", edited, **{"dry-run": "true"}))["impact"]
    [shape] = impact["shapes"]
    assert (shape["shape"], shape["change"]) == ("http://example.org/shapes#Named", "same, other axioms")
    assert shape["failing_examples"][0]["focus"]["value"] == "http://example.org/city#c"
    conclusions = {one["conclusion"]: one["statements"] for one in impact["inferences"]}
    assert conclusions["every Square is a Park"] == 1


async def test_an_axiom_about_very_many_things_is_not_followed_to_each_and_the_answer_says_so(
    parks: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shapes.authoring.impact_results.BOUNDS", Bounds(touched=1, many=0))
    edited = CITY.replace("owl:disjointWith :Park", "rdfs:subClassOf :Park")
    await update(parks, "INSERT DATA { :c a :Road . :d a :Road }")
    impact = (await put(parks, "/ontologies/city.ttl", edited, **{"dry-run": "true"}))["impact"]
    assert [one["change"] for one in impact["shapes"]] == ["removed"], "the one made from the disjointness"
    assert impact["exact"] is False
    assert "urbankg validate" in impact["notes"][0]


async def test_what_fails_after_a_switch_is_put_before_people_and_settled_when_it_is_fixed(
    parks: httpx.AsyncClient,
) -> None:
    assert await open_items(parks) == []
    await put(parks, "/shapes/rules.ttl", RULES + SHORT)
    [item] = await open_items(parks)
    assert item["statement"]["object"]["value"] == "Riverside"
    assert item["accepted"] is True
    assert "Keep names short" in item["violations"][0]["message"]
    await put(parks, "/shapes/rules.ttl", RULES)
    assert await open_items(parks) == []


async def test_terms_that_go_are_counted_and_candidates_with_them_are_warned_of(
    parks: httpx.AsyncClient,
) -> None:
    title = CITY.replace(":name a", ":title a").replace('"name"@en', '"title"@en')
    gone = (await put(parks, "/ontologies/city.ttl", title, **{"dry-run": "true"}))["impact"]["terms"]
    assert [(one["term"][-5:], one["change"], one["statements"]) for one in gone] == [("#name", "removed", 2)]
    assert gone[0]["successor"] is None
    old = ":name owl:deprecated true ; dcterms:isReplacedBy :title .\n"
    both = "@prefix dcterms: <http://purl.org/dc/terms/> .\n" + CITY + title.partition("\n\n")[2] + old
    done = (await put(parks, "/ontologies/city.ttl", both))["impact"]["terms"]
    assert await select(parks, PREFIX + NAMES) != [], "nothing is rewritten that nobody asks for"
    assert [(one["change"], one["successor"][-6:]) for one in done] == [("deprecated", "#title")]
    warned = await submit(parks, ("b", "name", "'River'"))
    assert [one["violations"][0]["severity"] for one in warned["warnings"]] == ["Warning"]
    assert "Use :title." in warned["warnings"][0]["violations"][0]["message"]


async def test_what_waits_and_conforms_after_a_switch_is_accepted(parks: httpx.AsyncClient) -> None:
    await put(parks, "/shapes/rules.ttl", RULES + SHORT)
    refused = await submit(parks, ("c", "a", "Park"), ("c", "name", "'Morningside'"))
    assert len(refused["rejected"]) == 2
    dry = (await put(parks, "/shapes/rules.ttl", RULES, **{"dry-run": "true"}))["impact"]
    assert (dry["passing"], dry["waiting"]) == (2, 2)
    assert [row["n"] for row in await select(parks, PREFIX + NAMES)] == ["High", "Riverside"]
    done = (await put(parks, "/shapes/rules.ttl", RULES))["impact"]
    assert done["passing"] == 2
    assert [row["n"] for row in await select(parks, PREFIX + NAMES)] == ["High", "Morningside", "Riverside"]
    assert await open_items(parks) == []


async def test_a_proposed_term_that_the_ontology_now_declares_lets_its_statement_in(
    parks: httpx.AsyncClient,
) -> None:
    refused = await submit(parks, ("a", "founder", "b"))
    assert len(refused["rejected"]) == 1
    founder = (
        ':founder a owl:ObjectProperty ; rdfs:label "founder"@en ; skos:definition "Who founded it." .\n'
    )
    done = (await put(parks, "/ontologies/city.ttl", CITY + founder))["impact"]
    assert done["passing"] == 1
    assert await select(parks, PREFIX + "SELECT ?o { :a :founder ?o }") == [
        {"o": "http://example.org/city#b"}
    ]


async def test_an_edit_of_several_files_is_measured_together(parks: httpx.AsyncClient) -> None:
    message = {"shapes": {"rules.ttl": RULES + SHORT}, "ontology": {"city.ttl": CITY}}
    answer = await parks.post("/impact", json=message)
    assert answer.json()["impact"]["failing"] == 1
    broken = await parks.post("/impact", json={"shapes": {"rules.ttl": "broken"}})
    assert broken.status_code == 422


async def test_of_very_many_suspects_a_part_is_judged_and_the_answer_says_so(
    parks: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shapes.authoring.impact_results.BOUNDS", Bounds(judged=1))
    text = RULES + SHORT.replace("sh:maxLength 5", "sh:maxLength 2")
    impact = (await put(parks, "/shapes/rules.ttl", text, **{"dry-run": "true"}))["impact"]
    [shape] = impact["shapes"]
    assert impact["exact"] is False
    assert (shape["judged"], shape["suspects"], shape["failing"]) == (1, 2, 1)
    monkeypatch.setattr("shapes.authoring.impact_results.BOUNDS", Bounds(tested=1))
    impact = (await put(parks, "/shapes/rules.ttl", text, **{"dry-run": "true"}))["impact"]
    assert (impact["shapes"][0]["tested"], impact["shapes"][0]["targets"], impact["exact"]) == (1, 2, False)


async def test_the_command_compares_folders_with_the_rules_in_force(tmp_path: Path) -> None:
    folders(tmp_path)
    async with build(settings_in(tmp_path), model=RecordedModel()) as services:
        await fill(services)
    (tmp_path / "edited").mkdir()
    folders(tmp_path / "edited", shapes=RULES + SHORT)
    edited = [
        part for kind in ("ontology", "shapes") for part in (f"--{kind}", str(tmp_path / "edited" / kind))
    ]
    done = urbankg("impact", "--data", str(tmp_path / "data"), "--format", "json", *edited)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["failing"] == 1


async def fill(services: Services) -> None:
    from pyoxigraph import Literal, NamedNode, Triple

    from sparql.model.change import Change, Statement

    city = "http://example.org/city#"
    kind = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    rows = [
        Triple(NamedNode(city + "b"), kind, NamedNode(city + "Park")),
        Triple(NamedNode(city + "b"), NamedNode(city + "name"), Literal("Riverside")),
    ]
    assert services.writer.commit(Change(tuple(Statement(row) for row in rows))).conforms
