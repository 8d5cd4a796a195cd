"""SPARQLWrapper, unmodified, in all its formats."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pyoxigraph import RdfFormat, parse
from SPARQLWrapper import CSV, JSON, JSONLD, N3, RDFXML, TSV, TURTLE, XML, SPARQLWrapper

from tests.support.running_server import RunningServer

SELECT = "SELECT ?p ?o WHERE { <http://e/s> ?p ?o }"
CONSTRUCT = "CONSTRUCT { <http://e/s> ?p ?o } WHERE { <http://e/s> ?p ?o }"


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    empty = tmp_path_factory.mktemp("empty")
    data: Path = tmp_path_factory.mktemp("server") / "data"
    with RunningServer(data, "--ontology", str(empty), "--shapes", str(empty)) as server:
        update = "INSERT DATA { <http://e/s> <http://e/p> 1 }"
        httpx.post(server.url + "/update", data={"update": update}, timeout=60).raise_for_status()
        yield server.url


def answer(url: str, query: str, format_: str) -> tuple[str, bytes]:
    wrapper = SPARQLWrapper(url + "/sparql")
    wrapper.setQuery(query)
    wrapper.setReturnFormat(format_)
    response = wrapper.query().response
    return response.headers["content-type"].partition(";")[0], response.read()


@pytest.mark.parametrize(
    ("format_", "kind"),
    [
        (JSON, "application/sparql-results+json"),
        (XML, "application/sparql-results+xml"),
        (CSV, "text/csv"),
        (TSV, "text/tab-separated-values"),
    ],
)
def test_results(url: str, format_: str, kind: str) -> None:
    found, body = answer(url, SELECT, format_)
    assert found == kind
    assert b"http://e/p" in body


@pytest.mark.parametrize(
    ("format_", "kind", "read"),
    [
        (TURTLE, "text/turtle", RdfFormat.TURTLE),
        (N3, "text/turtle", RdfFormat.TURTLE),
        (XML, "application/rdf+xml", RdfFormat.RDF_XML),
        (RDFXML, "application/rdf+xml", RdfFormat.RDF_XML),
        (JSONLD, "application/ld+json", RdfFormat.JSON_LD),
    ],
)
def test_graphs(url: str, format_: str, kind: str, read: RdfFormat) -> None:
    found, body = answer(url, CONSTRUCT, format_)
    assert found == kind
    assert len(list(parse(body, format=read))) == 1


@pytest.mark.parametrize("formats", [["csv", "csv"], ["parquet", "csv"], ["turtle", "text/csv", "json"]])
def test_the_first_known_format_is_taken(url: str, formats: list[str]) -> None:
    found = httpx.get(url + "/sparql", params={"query": SELECT, "format": formats}, timeout=60)
    assert found.headers["content-type"] == "text/csv; charset=utf-8"
    assert "warning" not in found.headers


@pytest.mark.parametrize("name", ["parquet", "turtle"])
def test_an_unknown_format_leaves_the_choice_to_accept_and_says_so(url: str, name: str) -> None:
    parameters = {"query": SELECT, "format": name}
    found = httpx.get(url + "/sparql", params=parameters, headers={"accept": "text/csv"}, timeout=60)
    assert found.headers["content-type"] == "text/csv; charset=utf-8"
    assert name in found.headers["warning"]


def test_an_empty_graph_of_a_query_is_not_used(url: str) -> None:
    parameters = {"query": SELECT, "default-graph-uri": "", "named-graph-uri": ""}
    found = httpx.get(url + "/sparql", params=parameters, timeout=60)
    assert len(found.json()["results"]["bindings"]) == 1
    assert "default-graph-uri is empty" in found.headers["warning"]


def test_an_empty_graph_of_an_update_is_refused(url: str) -> None:
    form = {"update": "DELETE WHERE { ?s ?p ?o }", "using-graph-uri": ""}
    assert httpx.post(url + "/update", data=form, timeout=60).status_code == 400
