"""From a question that misses to an answer of the graph, through a real server with recorded replies."""

import json
from pathlib import Path
from typing import Any

import httpx
from typer.testing import CliRunner

from server.cli.app import command_line
from tests.server.conftest import triples
from tests.server.routes.text.test_ask import CITY, PREFIXES
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import StandIn, running

ARTICLES = (
    ("Salt Museum", "The Salt Museum is a museum. It shows salt from all over the world, and nothing else."),
    (
        "Rope Museum",
        "The Rope Museum is a museum in Northtown. The Rope Museum opened in 1907 in an old mill.",
    ),
    ("Rope", "Rope is made of strands that are twisted together. It was made in long, narrow buildings."),
)
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
ROPE = {"type": "literal", "value": "Rope Museum", "xml:lang": "en"}
PALACE = (
    "Guides often forget this place, which is a pity. The Mirror Palace is a museum in Northtown. "
    "The Mirror Palace was designed by Ann Mill. It is open every day but Monday."
)
QUESTION = "When did the Rope Museum open?"


class Person:
    """Asks and decides; each answer must be a success unless said otherwise."""

    def __init__(self, url: str) -> None:
        self._url = url

    def _sent(self, method: str, path: str, **options: Any) -> httpx.Response:
        return httpx.request(method, self._url + path, timeout=120, **options)

    def get(self, path: str, **parameters: str) -> Any:
        return self._checked(self._sent("GET", path, params=parameters), 200)

    def post(self, path: str, message: Any = None, status: int = 200, key: str | None = None) -> Any:
        headers = {} if key is None else {"idempotency-key": key}
        return self._checked(self._sent("POST", path, json=message or {}, headers=headers), status)

    def delete(self, path: str) -> None:
        self._checked(self._sent("DELETE", path), 200)

    def ask(self, question: str = QUESTION) -> Any:
        return self.post("/ask", {"question": question})

    def load(self, turtle: str) -> None:
        kind = {"content-type": "text/turtle"}
        assert self._checked(self._sent("POST", "/candidates", content=turtle, headers=kind), 200)["accepted"]

    @staticmethod
    def _checked(response: httpx.Response, status: int) -> Any:
        assert response.status_code == status, response.text
        return response.json()


def test_what_a_question_misses_is_verified_accepted_and_then_answered_from_the_graph(tmp_path: Path):
    articles = tmp_path / "articles.jsonl"
    articles.write_text("\n".join(json.dumps({"title": name, "text": text}) for name, text in ARTICLES))
    flags = ("--config", str(tmp_path / "urbankg.toml"))
    (tmp_path / "urbankg.toml").write_text(f'encyclopedia = "{articles}"\n')
    model = StandIn()
    with running(model), RunningServer(tmp_path / "data", *flags, model_url=model.url) as server:
        person = Person(server.url)
        person.load(CITY)
        assert person.ask()["answer"] is None
        person.ask()
        (gap,) = person.get("/gaps")["gaps"]
        assert (gap["subject"], gap["property"], gap["object"]) == ("Rope Museum", "opened", "?")
        assert (gap["kind"], gap["asked"], gap["askers"]) == ("data", 2, 1)
        assert gap["questions"][0]["question"] == QUESTION
        assert "SELECT" in gap["attempt"]
        at = f"/gaps/{gap['id']}"
        assert person.get(at)["terms"]["property"] == "https://w3id.org/urbankg/urban#opened"
        assert "Verify it" in person.post(f"{at}/accept", status=422)["detail"]

        # The model's belief is kept apart: the question is as unanswered as before.
        model.answer = '{"value": "1911"}'
        believed = person.post(f"{at}/complete")["gap"]["completion"]
        assert (believed["by"], believed["value"], believed["verdict"]) == ("model", "1911", "unverified")
        assert "The value is a date." in model.requests[-1]["messages"][-1]["content"]
        assert person.ask()["answer"] is None

        model.answer = triples(("Rope Museum", "opened", "1907"))
        found = person.post(f"{at}/verify")["gap"]
        assert (found["completion"]["value"], found["completion"]["verdict"]) == ("1907", "corrected")
        best = found["passages"][0]
        assert best["title"] == "Rope Museum"
        assert "1907" in best["match"]["quote"]
        assert best["text"][best["match"]["start"] : best["match"]["end"]] == best["match"]["quote"]
        assert person.ask()["answer"] is None

        tried = person.post(f"{at}/accept", {"dry_run": True})
        assert (tried["revision"], tried["answer"], tried["gap"]["status"]) == (None, None, "open")
        accepted = person.post(f"{at}/accept", {"by": "Ada", "reason": "stated"}, key="once")
        assert accepted["answer"] == "Rope Museum: opened 1907."
        assert accepted["missing"] == []
        assert [one["object"]["value"] for one in accepted["accepted"]] == ["1907"]
        assert person.post(f"{at}/accept", {"by": "Ada", "reason": "stated"}, key="once") == accepted
        assert person.post(f"{at}/accept", status=409)["state"] == "accepted"
        assert person.ask()["answer"] == "Rope Museum: opened 1907."
        assert person.get("/gaps")["total"] == 0

        # Its provenance: the passage, the words in it, and who accepted it.
        (document,) = person.get("/documents", source="Rope Museum")["documents"]
        (statement,) = person.get(f"/documents/{document['id']}")["statements"]
        assert "1907" in statement["evidence"]["quote"]
        shown = CliRunner().invoke(
            command_line("gaps"), ["gaps", "list", "--status", "any", "--json", "--data", str(server.data)]
        )
        assert shown.exit_code == 0, shown.output
        assert json.loads(shown.output)["gaps"][0]["decisions"][0]["by"] == "Ada"

        # What is removed and missed again waits again; what is stated otherwise needs no proposal.
        person.delete(f"/documents/{document['id']}")
        assert person.ask()["answer"] is None
        assert person.get(at)["status"] == "open"
        person.load(PREFIXES + ':b urban:opened "1908"^^<http://www.w3.org/2001/XMLSchema#gYear> .')
        settled = person.post(f"{at}/accept")
        assert (settled["answer"], settled["revision"]) == ("Rope Museum: opened 1908.", None)


def test_gaps_are_filtered_rejected_and_filled_by_hand_and_what_breaks_a_shape_changes_nothing(
    tmp_path: Path,
):
    with running(StandIn()) as model, RunningServer(tmp_path / "data", model_url=model.url) as server:
        person = Person(server.url)
        person.load(CITY)
        for question in (
            QUESTION,
            "Who designed the Rope Museum?",
            "Who designed the Mirror Palace?",
            "Which museums are wooden?",
        ):
            assert person.ask(question)["answer"] is None
        gaps = {(gap["kind"], gap["property"]): gap for gap in person.get("/gaps")["gaps"]}
        kinds = {kind: person.get("/gaps", kind=kind)["total"] for kind in ("data", "entity", "schema")}
        assert kinds == {"data": 2, "entity": 1, "schema": 1}, gaps
        assert person.get("/gaps", text="mirror")["gaps"][0]["subject"] == "Mirror Palace"
        assert person.get("/gaps", askers="2")["total"] == 0
        (wooden,) = person.get("/gaps", kind="schema")["gaps"]
        assert "ontology" in person.post(f"/gaps/{wooden['id']}/accept", status=422)["detail"]

        sent = {"decision": "reject", "filter": {"kind": "schema"}, "reason": "not our matter"}
        assert person.post("/gaps/decisions", {**sent, "expect": 7}, status=409)["found"] == 1
        assert person.post("/gaps/decisions", sent)["gaps"] == [{"id": wooden["id"], "status": "rejected"}]
        assert person.post(f"/gaps/{wooden['id']}/reopen")["status"] == "open"

        opened = gaps["data", "opened"]["id"]
        assert "no value" in person.post(f"/gaps/{opened}/accept", {"value": "soon"}, status=422)["detail"]
        (designed,) = (one for one in person.get("/gaps", text="designed the Rope")["gaps"])
        assert (
            "nothing in the graph"
            in person.post(f"/gaps/{designed['id']}/accept", {"value": "Nobody"}, status=422)["detail"]
        )
        model.answer = '{"value": null}'
        unknown = person.post(f"/gaps/{designed['id']}/complete", status=422)
        assert "does not know it" in unknown["detail"]
        asked = model.requests[-1]["messages"][-1]["content"]
        assert "Ann Mill" in asked.partition("organization or person. Names of such things are")[2]
        wrong = {
            "subject": "https://w3id.org/urbankg/id/b",
            "predicate": "https://w3id.org/urbankg/urban#opened",
            "object": {"type": "literal", "value": "soon"},
        }
        refused = person.post(f"/gaps/{opened}/accept", {"statements": [wrong]}, status=422)
        assert refused["refused"][0]["violations"]
        assert person.get(f"/gaps/{opened}")["status"] == "open"
        filled = person.post(f"/gaps/{designed['id']}/accept", {"value": "Ann Mill"})
        assert "Ann Mill" in filled["answer"]
        assert person.get("/gaps", status="accepted")["gaps"][0]["id"] == designed["id"]

        # A name that the graph lacks is found in a document of the graph, and comes with its kind.
        label = {"subject": wrong["subject"], "predicate": LABEL, "object": ROPE}
        person.post("/candidates", {"text": PALACE, "statements": [label], "source": "a guide"})
        model.answer = triples(
            ("Mirror Palace", "is a", "museum"), ("Mirror Palace", "designed by", "Ann Mill")
        )
        palace = f"/gaps/{gaps['entity', '?']['id']}"
        proposed = person.post(f"{palace}/verify")["gap"]
        assert proposed["passages"][0]["document"] == proposed["completion"]["document"] is not None
        evidence = [one["evidence"] for one in proposed["completion"]["statements"]]
        assert all(PALACE[one["start"] : one["end"]] == one["quote"] for one in evidence if one)
        assert "Ann Mill" in person.post(f"{palace}/accept")["answer"]
        document = proposed["completion"]["document"].rpartition("/")[2]
        person.delete(f"/documents/{document}")
        left = person.get(palace)
        assert left["completion"] is None
        assert PALACE not in json.dumps(left)
        assert person.post("/gaps/nothing/verify", status=404)["title"] == "No such gap"
