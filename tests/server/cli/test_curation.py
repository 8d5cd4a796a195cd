"""`urbankg review`, through a running server and on a folder; decisions outlive kill -9."""

import json
from pathlib import Path

import httpx
import pytest

from tests.support.prepared_processes import urbankg
from tests.support.running_server import RunningServer

THING = "https://example.org/thing"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
MUSEUM = "https://w3id.org/urbankg/urban#Museum"


def nameless(subject: str) -> dict:
    """A name without a kind, which the gate refuses."""
    return {"subject": subject, "predicate": LABEL, "object": {"type": "literal", "value": "Thing Hall"}}


@pytest.mark.slow
def test_the_queue_is_worked_through_from_the_command_line(tmp_path: Path):
    data = tmp_path / "data"
    body = {"statements": [nameless(THING), nameless(THING + "2")], "source": "test"}
    with RunningServer(data) as server:
        httpx.post(server.url + "/candidates", json=body, timeout=300).raise_for_status()
        listed = urbankg("review", "list", "--data", str(data), "--json")
        assert listed.returncode == 0, listed.stderr
        found = json.loads(listed.stdout)["items"]
        by_subject = {item["statement"]["subject"]: item["id"] for item in found}
        why = ("--reason", "a double", "--by", "Ada")
        rejected = urbankg("review", "decide", "reject", by_subject[THING + "2"], *why, "--data", str(data))
        assert rejected.returncode == 0, rejected.stderr
        still = urbankg("review", "decide", "accept", by_subject[THING], "--data", str(data))
        assert still.returncode == 1
        assert "kind" in still.stdout
        server.kill()
    corrected = tmp_path / "corrected.json"
    corrected.write_text(
        json.dumps(
            [
                nameless(THING),
                {"subject": THING, "predicate": TYPE, "object": {"type": "uri", "value": MUSEUM}},
            ]
        )
    )
    accepted = urbankg(
        "review", "decide", "accept", by_subject[THING], "--statements", str(corrected), "--data", str(data)
    )
    assert accepted.returncode == 0, accepted.stderr + accepted.stdout
    shown = urbankg("review", "show", by_subject[THING + "2"], "--data", str(data))
    decision = json.loads(shown.stdout)["decisions"][0]
    assert (decision["by"], decision["outcome"], decision["reason"]) == ("Ada", "rejected", "a double")
    query = f"SELECT ?o WHERE {{ <{THING}> <{LABEL}> ?o }}"
    asked = urbankg("query", query, "--data", str(data), "--format", "csv")
    assert asked.stdout.split() == ["o", "Thing", "Hall"]
    reopened = urbankg(
        "review", "decide", "reopen", by_subject[THING + "2"], "--data", str(data), "--no-json"
    )
    assert reopened.stdout.split() == [by_subject[THING + "2"], "open"]


@pytest.mark.slow
def test_entities_are_merged_and_split_from_the_command_line(tmp_path: Path):
    data, turtle = tmp_path / "data", tmp_path / "halls.ttl"
    turtle.write_text(
        f"""<https://example.org/a> a <{MUSEUM}> ; <{LABEL}> "A Hall" .
        <https://example.org/b> a <{MUSEUM}> ; <{LABEL}> "B Hall" ."""
    )
    assert urbankg("load", str(turtle), "--data", str(data)).returncode == 0
    pair = ("https://example.org/a", "https://example.org/b")
    merged = urbankg("entity", "merge", *pair, "--by", "Ada", "--data", str(data))
    assert merged.returncode == 0, merged.stderr
    asks = f"SELECT (COUNT(*) AS ?n) WHERE {{ ?s a <{MUSEUM}> }}"
    assert urbankg("query", asks, "--data", str(data), "--format", "csv").stdout.split() == ["n", "1"]
    with RunningServer(data):
        (merge,) = json.loads(urbankg("entity", "merges", "--data", str(data)).stdout)["merges"]
        split = urbankg("entity", "split", merge["id"], "--data", str(data))
        assert split.returncode == 0, split.stderr
        again = urbankg("entity", "split", merge["id"], "--data", str(data))
        assert again.returncode == 2
    assert urbankg("query", asks, "--data", str(data), "--format", "csv").stdout.split() == ["n", "2"]
