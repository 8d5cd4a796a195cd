"""Rules of shapes over HTTP and the command line: followed where the setting says so, named where not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from server.cli.app import command_line
from server.runtime.wiring import build
from server.services import Services
from tests.server.conftest import RecordedModel
from tests.server.writes.test_inference import client_of, names, settings_of, update

TURTLE = {"content-type": "text/turtle"}
RULES = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
ex:Home a sh:NodeShape ; sh:targetSubjectsOf ex:livesIn ; sh:rule [ a sh:TripleRule ;
    sh:subject [ sh:path ex:livesIn ] ;
    sh:predicate rdf:type ; sh:object ex:Square ] ; sh:rule [ a sh:SPARQLRule ; sh:construct
    '''PREFIX ex: <http://example.org/> CONSTRUCT { $this ex:beside ?other }
    WHERE { $this ex:livesIn/^ex:livesIn ?other FILTER (?other != $this) }''' ] .
"""
ENDLESS = """@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix ex: <http://example.org/> .
ex:More a sh:NodeShape ; sh:targetSubjectsOf ex:livesIn ; sh:rule ex:again . ex:again a sh:SPARQLRule ;
    sh:construct '''PREFIX ex: <http://example.org/> CONSTRUCT { ?x ex:livesIn [] }
    WHERE { $this ex:livesIn ?x }''' .
"""


@pytest.fixture
async def city(tmp_path: Path) -> AsyncIterator[Services]:
    settings = settings_of(tmp_path, inference="rules")
    (tmp_path / "shapes" / "rules.ttl").write_text(RULES)
    async with build(settings, model=RecordedModel()) as services:
        yield services


@pytest.fixture
async def client(city: Services) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(city) as client:
        yield client


async def test_rules_conclude_shapes_judge_it_and_it_goes_with_its_premises(client: httpx.AsyncClient):
    done = await update(client, "INSERT DATA { ex:ann ex:livesIn ex:a . ex:bob ex:livesIn ex:a }")
    assert done.is_success, done.text
    assert await names(client, "?x a ex:Square") == ["a"]
    assert await names(client, "ex:ann ex:beside ?x") == ["bob"]
    assert await names(client, "?x a ex:Square", derived="false") == []
    refused = await update(client, "INSERT DATA { ex:cay ex:livesIn ex:a }")
    assert refused.status_code == 422
    assert "two neighbors" in refused.text
    assert (await update(client, "DELETE DATA { ex:bob ex:livesIn ex:a }")).is_success
    assert await names(client, "ex:ann ex:beside ?x") == []
    assert await names(client, "?x a ex:Square") == ["a"]


async def test_an_edit_of_a_rule_infers_all_anew(client: httpx.AsyncClient, city: Services):
    await update(client, "INSERT DATA { ex:ann ex:livesIn ex:a }")
    edited = RULES.replace("sh:object ex:Square", "sh:object ex:Park")
    put = await client.put("/shapes/rules.ttl", content=edited, headers=TURTLE)
    assert put.status_code == 200, put.text
    city.background.finish(120)
    assert await names(client, "?x a ex:Square") == []
    assert await names(client, "?x a ex:Place") == ["a"]
    assert (await client.get("/rules")).json()["inference"] == "complete"


async def test_a_rule_without_end_is_a_problem_and_no_reason_to_stop(
    client: httpx.AsyncClient, city: Services
):
    await update(client, "INSERT DATA { ex:ann ex:livesIn ex:a . ex:b a ex:Park }")
    put = await client.put("/shapes/endless.ttl", content=ENDLESS, headers=TURTLE)
    assert put.status_code == 201, put.text
    city.background.finish(120)
    reported = (await client.get("/rules")).json()
    assert "example.org/again" in reported["problem"]
    assert "without end" not in reported["inference"]
    assert await names(client, "?x a ex:Place") == ["b"]
    assert (await client.delete("/shapes/endless.ttl")).is_success
    city.background.finish(120)
    assert (await client.get("/rules")).json()["problem"] is None
    assert await names(client, "?x a ex:Square") == ["a"]


async def test_an_update_that_starts_a_rule_without_end_is_refused(client: httpx.AsyncClient, city: Services):
    put = await client.put("/shapes/endless.ttl", content=ENDLESS, headers=TURTLE)
    assert put.status_code == 201, put.text
    city.background.finish(120)
    refused = await update(client, "INSERT DATA { ex:ann ex:livesIn ex:a }")
    assert refused.status_code == 422
    assert refused.json()["rule"] == "http://example.org/again"
    assert "never end" in refused.json()["detail"]
    assert await names(client, "?x ex:livesIn ?y") == []


async def test_switched_on_later_and_by_the_command(tmp_path: Path):
    async with build(settings_of(tmp_path), model=RecordedModel()) as services, client_of(services) as client:
        (tmp_path / "shapes" / "rules.ttl").write_text(RULES)
        await update(client, "INSERT DATA { ex:ann ex:livesIn ex:a }")
        assert await names(client, "?x a ex:Square") == []
    config = tmp_path / "urbankg.toml"
    folders = [f"--{name}={tmp_path / name}" for name in ("data", "ontology", "shapes")]
    for setting, count in (("rules", 1), ("materialised", 0), ("rules", 1)):
        config.write_text(f'inference = "{setting}"\n')
        outcome = CliRunner().invoke(command_line(), ["infer", f"--config={config}", *folders])
        assert outcome.exit_code == 0, outcome.output
        assert f"{count} inferences" in outcome.output
    (tmp_path / "shapes" / "endless.ttl").write_text(ENDLESS)
    outcome = CliRunner().invoke(command_line(), ["infer", f"--config={config}", *folders])
    assert outcome.exit_code != 0
    assert "example.org/again" in str(outcome.exception)


def test_check_names_the_rules_that_are_not_followed(tmp_path: Path):
    settings_of(tmp_path)
    (tmp_path / "shapes" / "rules.ttl").write_text(
        RULES.replace("ex:Home a", "ex:Home sh:rule [ a sh:JSRule ] ; a")
    )
    config = tmp_path / "urbankg.toml"
    folders = [f"--{name}={tmp_path / name}" for name in ("ontology", "shapes")]
    said = {}
    for setting in ("materialised", "rules"):
        config.write_text(f'inference = "{setting}"\n')
        outcome = CliRunner().invoke(command_line(), ["check", f"--config={config}", *folders])
        said[setting] = [line for line in outcome.output.splitlines() if "shape_unsupported" in line]
    assert len(said["materialised"]) == 1
    assert "sh:rule, a rule, which is unsupported: it has no effect" in said["materialised"][0]
    assert len(said["rules"]) == 1
    assert "neither a sh:TripleRule nor a sh:SPARQLRule" in said["rules"][0]
