"""A day of an ontology engineer, with the server, the command line and a tool that reads RDF/XML."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.prepared_processes import urbankg
from tests.support.running_server import RunningServer
from tests.support.waiting import wait_until
from tests.support.workshop import CITY, PREFIX, RULES, SHORT, folders

TURTLE = {"content-type": "text/turtle"}
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SQUARE = ':Square a owl:Class ; rdfs:label "square"@en ; skos:definition "Open." ; rdfs:subClassOf :Place .\n'


def until(holds: Callable[[], bool]) -> None:
    """Wait for the server to follow the files; half a minute is the ceiling, not what is expected."""
    wait_until(holds, seconds=60)


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_day_of_an_ontology_engineer(tmp_path: Path) -> None:
    owlready2 = pytest.importorskip("owlready2")
    folders(tmp_path)
    (tmp_path / "draft").mkdir()
    draft = folders(tmp_path / "draft")
    flags = ["--ontology", str(tmp_path / "ontology"), "--shapes", str(tmp_path / "shapes")]
    with (
        RunningServer(tmp_path / "data", *flags) as server,
        httpx.Client(base_url=server.url, timeout=60) as client,
    ):

        def ask(query: str) -> bool:
            return bool(client.get("/sparql", params={"query": PREFIX + query}).json()["boolean"])

        def items() -> list[dict[str, Any]]:
            return list(client.get("/review").json()["items"])

        def rules() -> dict[str, Any]:
            return dict(client.get("/rules").json())

        # What is there: a park that is accepted, and a statement with a term that nobody knows yet.
        insert = PREFIX + "INSERT DATA { :a a :Park ; :name 'Riverside' }"
        headers = {"content-type": "application/sparql-update"}
        assert client.post("/sparql", content=insert, headers=headers).is_success
        city = "http://example.org/city#"
        proposed = {
            "subject": city + "b",
            "predicate": RDF_TYPE,
            "object": {"type": "uri", "value": city + "Square"},
        }
        assert len(client.post("/candidates", json={"statements": [proposed]}).json()["rejected"]) == 1
        assert len(items()) == 1
        first = rules()["rules"]

        # The ontology is opened in a tool that reads RDF/XML.
        exported = tmp_path / "export.rdf"
        accept = {"accept": "application/rdf+xml"}
        exported.write_bytes(client.get("/ontology", headers=accept).content)
        world = owlready2.World()
        opened = world.get_ontology(exported.as_uri()).load()
        assert {"Place", "Park", "Road"} <= {one.name for one in opened.classes()}

        # A class and a shape are drafted; the first draft has a slip that the check finds.
        (draft[0] / "city.ttl").write_text(CITY + SQUARE.replace(":Place", ":Placce"))
        (draft[1] / "rules.ttl").write_text(RULES + SHORT)
        drafted = ["--ontology", str(draft[0]), "--shapes", str(draft[1])]
        checked = urbankg("check", *drafted, "--fail-on", "warn")
        assert checked.returncode == 1
        assert "undeclared_term" in checked.stdout
        (draft[0] / "city.ttl").write_text(CITY + SQUARE)
        assert urbankg("check", *drafted, "--fail-on", "warn").returncode == 0

        # What would it change? One statement fails, one that waits passes; nothing has changed yet.
        impact = urbankg("impact", "--data", str(tmp_path / "data"), *drafted)
        assert impact.returncode == 1, impact.stderr
        assert "1 statements in the graph would newly fail" in impact.stdout
        assert "1 of 1 waiting ones would pass" in impact.stdout
        assert rules()["rules"] == first

        # The switch: the shape over HTTP, the ontology by saving the file.
        put = client.put("/shapes/rules.ttl", content=RULES + SHORT, headers=TURTLE)
        assert put.json()["impact"]["failing"] == 1
        (tmp_path / "ontology" / "city.ttl").write_text(CITY + SQUARE)
        until(lambda: rules()["rules"]["ontology"] != first["ontology"])
        until(lambda: ask("ASK { :b a :Square }"))
        [flagged] = items()
        assert flagged["statement"]["object"]["value"] == "Riverside"
        assert flagged["accepted"] is True
        assert ask("ASK { :a :name 'Riverside' }")

        # A property is renamed together with its statements and their items, and taken back with them.
        earlier = {"ontology": {"city.ttl": CITY + SQUARE}, "shapes": {"rules.ttl": RULES + SHORT}}
        renamed = {
            kind: {file: text.replace(":name", ":title") for file, text in files.items()}
            for kind, files in earlier.items()
        }
        asked = {**renamed, "rewrites": {city + "name": city + "title"}}
        tried = client.post("/rules", params={"rewrite": "true", "dry-run": "true"}, json=asked)
        assert [one["statements"] for one in tried.json()["impact"]["rewrites"]] == [1], tried.text
        assert ask("ASK { :a :name 'Riverside' }")
        done = client.post("/rules", params={"rewrite": "true"}, json=asked)
        assert done.json()["rewritten"] == 1, done.text
        assert ask("ASK { :a :title 'Riverside' FILTER NOT EXISTS { :a :name ?name } }")
        assert [one["statement"]["predicate"] for one in items()] == [city + "title"]
        assert client.post("/rules", json=earlier).json()["rewritten"] == 1
        assert ask("ASK { :a :name 'Riverside' FILTER NOT EXISTS { :a :title ?title } }")
        assert [one["statement"]["predicate"] for one in items()] == [city + "name"]

        # A slip on the disk harms nobody.
        (tmp_path / "shapes" / "rules.ttl").write_text("broken")
        until(lambda: rules()["problem"] is not None)
        assert "rules.ttl:1" in rules()["problem"]
        assert ask("ASK { :b a :Square }")

        # Roll back to the files of the morning.
        (tmp_path / "shapes" / "rules.ttl").write_text(RULES)
        (tmp_path / "ontology" / "city.ttl").write_text(CITY)
        until(lambda: rules()["rules"] == first)
        until(lambda: items() == [] or not any("short" in str(item["violations"]) for item in items()))
        assert rules()["problem"] is None
        kept = tmp_path / "data" / "rules" / "shapes"
        versions = [one["version"] for one in rules()["history"] if one["kind"] == "shapes"]
        expected = {RULES, RULES + SHORT, renamed["shapes"]["rules.ttl"]}
        assert {(kept / one / "rules.ttl").read_text() for one in versions} == expected
