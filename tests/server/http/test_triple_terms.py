"""Triple terms (RDF 1.2, 3.1) in the graph: formats that cannot hold one say so, and all others work."""

import httpx
import pytest

from tests.support.workshop import PREFIX, update

JSON_LD = {"accept": "application/ld+json"}
CITY = "http://example.org/city#"
CONSTRUCT = PREFIX + "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o FILTER (?p != :nothing) }"
WHOLE = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"


@pytest.fixture
async def client(shop_client: httpx.AsyncClient) -> httpx.AsyncClient:
    rows = " ".join(f":p{n} a :Park ; :name 'n{n}' ." for n in range(200))
    added = await update(
        shop_client, f"INSERT DATA {{ {rows} :z a :Park ; :name 'z' ; :near <<( :p1 :near :p2 )>> }}"
    )
    assert added.status_code == 200, added.text
    return shop_client


@pytest.mark.parametrize(
    ("path", "parameters"),
    [
        ("/store", {"default": ""}),
        ("/dump", {}),
        ("/sparql", {"query": CONSTRUCT}),
        ("/sparql", {"query": WHOLE}),
        ("/sparql", {"query": PREFIX + "DESCRIBE :z"}),
        ("/sparql", {"query": PREFIX + "CONSTRUCT WHERE { :z ?p ?o }"}),
        ("/sparql", {"query": PREFIX + "CONSTRUCT { :z ?p ?o } WHERE { :z ?p ?o }"}),
    ],
)
async def test_json_ld_cannot_hold_a_triple_term_and_names_the_formats_that_can(
    client: httpx.AsyncClient, path: str, parameters: dict[str, str]
) -> None:
    answer = await client.get(path, params=parameters, headers=JSON_LD)
    assert answer.status_code == 406, answer.text[:300]
    assert "text/turtle" in answer.json()["detail"]
    for kind in ("text/turtle", "application/n-triples", "application/rdf+xml"):
        assert (await client.get(path, params=parameters, headers={"accept": kind})).status_code == 200


async def test_json_ld_of_what_holds_no_triple_term_is_sent(client: httpx.AsyncClient) -> None:
    query = PREFIX + "CONSTRUCT { ?s :name ?o } WHERE { ?s :name ?o }"
    answer = await client.get("/sparql", params={"query": query}, headers=JSON_LD)
    assert answer.status_code == 200
    assert len(answer.json()) == 201


async def test_an_entity_with_a_triple_term_is_described_in_a_format_that_can_hold_it(
    client: httpx.AsyncClient,
) -> None:
    parameters = {"iri": CITY + "z"}
    refused = await client.get("/entities", params=parameters, headers=JSON_LD)
    assert refused.status_code == 406
    assert "text/turtle" in refused.json()["detail"]
    both = {"accept": "application/ld+json, text/turtle;q=0.5"}
    for headers in ({}, both):
        answer = await client.get("/entities", params=parameters, headers=headers)
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/turtle")
        assert "<<(" in answer.text
