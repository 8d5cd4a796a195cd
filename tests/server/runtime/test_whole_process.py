"""The server as a user runs it: a process, a TGI-compatible model, real SPARQL clients, kill -9."""

import threading
from pathlib import Path

import httpx
import rdflib
from rdflib.plugins.stores.sparqlstore import SPARQLStore
from SPARQLWrapper import JSON, SPARQLWrapper

from tests.server.conftest import COLUMBIA, triples
from tests.support.running_server import PROGRAM, RunningServer
from tests.support.tgi_stand_in import StandIn, free_port, running
from tests.support.waiting import wait_until

URBAN = "https://w3id.org/urbankg/urban#"
ESTABLISHED = f"SELECT ?s ?year WHERE {{ ?s <{URBAN}established> ?year }}"
REPLY = triples(
    ("Columbia University", "is a", "private Ivy League research university"),
    ("Columbia University", "established", "1754"),
    ("Columbia University", "former name", "King's College"),
)


def ask_wrapper(url: str, query: str) -> list[dict[str, dict[str, str]]]:
    client = SPARQLWrapper(url + "/sparql")
    client.setQuery(query)
    client.setReturnFormat(JSON)
    return client.query().convert()["results"]["bindings"]


def test_a_text_goes_in_over_http_and_comes_out_through_sparql_clients_also_after_a_kill(tmp_path: Path):
    """A kill in an extraction loses nothing and leaves no half batch."""
    with running(StandIn(answer=REPLY)) as model:
        server = RunningServer(tmp_path / "data", model_url=model.url, program=PROGRAM)
        answer = httpx.post(server.url + "/extractions", json={"text": COLUMBIA}, timeout=60)
        assert answer.status_code == 200, answer.text
        assert len(answer.json()["accepted"]) == 4
        rows = ask_wrapper(server.url, ESTABLISHED)
        assert [row["year"]["value"] for row in rows] == ["1754"]
        graph = rdflib.Graph(SPARQLStore(server.url + "/sparql"))
        assert [str(row.year) for row in graph.query(ESTABLISHED)] == ["1754"]
        revision = httpx.get(server.url + "/healthz", timeout=120).json()["revision"]
        model.held = 1
        other = COLUMBIA.replace("Columbia University", "Fordham University")
        posting = threading.Thread(target=_post_quietly, args=(server.url, other))
        posting.start()
        wait_until(lambda: model.at_once, seconds=120)
        server.kill()
        posting.join()
        model.held = 0
        with RunningServer(tmp_path / "data", model_url=model.url) as again:
            assert httpx.get(again.url + "/healthz", timeout=120).json()["revision"] == revision
            assert len(ask_wrapper(again.url, ESTABLISHED)) == 1
            assert ask_wrapper(again.url, "SELECT * WHERE { ?s ?p 'Fordham University'@en }") == []


def test_a_model_server_that_is_down_is_reported_and_the_server_goes_on(tmp_path: Path):
    down = f"http://127.0.0.1:{free_port()}"
    with RunningServer(tmp_path / "data", model_url=down) as server:
        answer = httpx.post(server.url + "/extractions", json={"text": COLUMBIA}, timeout=120)
        assert answer.status_code == 503
        assert answer.headers["retry-after"]
        assert down in answer.json()["detail"]
        assert httpx.get(server.url + "/healthz", timeout=120).is_success


def test_empty_ontology_and_shapes_folders_know_and_demand_nothing(tmp_path: Path):
    empty = tmp_path / "empty"
    empty.mkdir()
    flags = ("--ontology", str(empty), "--shapes", str(empty))
    with RunningServer(tmp_path / "data", *flags) as server:
        assert ask_wrapper(server.url, "SELECT * WHERE { ?s ?p ?o }") == []
        body = "<http://e.org/a> <http://e.org/p> 'anything' ."
        headers = {"content-type": "text/turtle"}
        answer = httpx.post(server.url + "/candidates", content=body, headers=headers, timeout=60)
        assert len(answer.json()["accepted"]) == 1
        assert len(ask_wrapper(server.url, "SELECT * WHERE { ?s ?p ?o }")) == 1


def _post_quietly(url: str, text: str) -> None:
    try:
        httpx.post(url + "/extractions", json={"text": text}, timeout=60)
    except httpx.HTTPError:
        return
