"""Turtle and TriG have the prefixes of the ontology, whatever answers; other formats are as they were."""

import httpx
import pyoxigraph
import pytest
from pyoxigraph import RdfFormat

from tests.server.routes.text.test_ask import CITY

TURTLE = {"accept": "text/turtle"}
URBAN = "https://w3id.org/urbankg/urban#"
DECLARED = f"@prefix urban: <{URBAN}> .\n"
MUSEUM = f"{URBAN}Museum"
GRAPHS = {
    "a pattern": "CONSTRUCT WHERE { ?s a ?class }",
    "the whole": "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }",
    "a filter": f"CONSTRUCT {{ ?s a ?c }} WHERE {{ ?s a ?c FILTER(?c = <{MUSEUM}>) }}",
    "a description": f"DESCRIBE ?s WHERE {{ ?s a <{MUSEUM}> }}",
}


@pytest.fixture
async def city(shared_client: httpx.AsyncClient) -> httpx.AsyncClient:
    await shared_client.post("/candidates", content=CITY, headers={"content-type": "text/turtle"})
    return shared_client


@pytest.mark.parametrize("query", GRAPHS.values(), ids=GRAPHS)
async def test_an_answer_in_turtle_has_the_prefixes(city: httpx.AsyncClient, query: str) -> None:
    short = await city.get("/sparql", params={"query": query}, headers=TURTLE)
    assert DECLARED in short.text
    assert " urban:Museum" in short.text
    full = await city.get("/sparql", params={"query": query}, headers={"accept": "application/n-triples"})
    assert f"<{MUSEUM}>" in full.text
    said = {quad.triple for quad in pyoxigraph.parse(short.content, format=RdfFormat.TURTLE)}
    assert said == {quad.triple for quad in pyoxigraph.parse(full.content, format=RdfFormat.N_TRIPLES)}


@pytest.mark.parametrize(
    "address", ["/dump?format=turtle", "/dump?format=trig", "/store?default&format=turtle"]
)
async def test_what_holds_a_whole_graph_has_them_too(city: httpx.AsyncClient, address: str) -> None:
    answer = await city.get(address)
    assert DECLARED in answer.text
    assert " urban:Museum" in answer.text


async def test_an_answer_without_prefixes_is_as_it_was(city: httpx.AsyncClient) -> None:
    query = {"query": "CONSTRUCT WHERE { ?s a ?class }"}
    for kind in ("application/ld+json", "application/rdf+xml", "application/n-quads"):
        assert "urban:Museum" not in (await city.get("/sparql", params=query, headers={"accept": kind})).text
