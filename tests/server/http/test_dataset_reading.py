"""The description of the dataset by a whole server: what tools read before they write a query."""

import httpx
import pytest
from pyoxigraph import NamedNode, Quad, RdfFormat, Store, parse

pytestmark = pytest.mark.asyncio(loop_scope="module")

URBAN = "https://w3id.org/urbankg/urban#"
CITY = """
    @prefix id: <https://w3id.org/urbankg/id/> . @prefix urban: <https://w3id.org/urbankg/urban#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
    id:mill a urban:Museum ; rdfs:label "Old Mill"@en ; urban:locatedIn id:park .
    id:park a urban:Park ; rdfs:label "Mill Park"@en .
"""
EXAMPLES = """PREFIX sh: <http://www.w3.org/ns/shacl#> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
    SELECT ?q ?comment ?text WHERE {
        ?q a sh:SPARQLExecutable ; rdfs:comment ?comment ; sh:select|sh:ask ?text }"""


async def described(client: httpx.AsyncClient, path: str) -> Store:
    answer = await client.get(path, headers={"Accept": "text/turtle"})
    assert answer.status_code == 200, answer.text
    store = Store()
    store.extend(Quad(*triple) for triple in parse(answer.content, format=RdfFormat.TURTLE))
    return store


@pytest.mark.parametrize("path", ["/sparql", "/.well-known/void"])
async def test_the_uses_of_properties_follow_the_graph(shared_client: httpx.AsyncClient, path: str) -> None:
    put = await shared_client.put("/store?default", content=CITY, headers={"Content-Type": "text/turtle"})
    assert put.is_success, put.text
    store = await described(shared_client, path)
    found = store.query(f"""PREFIX void: <http://rdfs.org/ns/void#> SELECT ?o WHERE {{
        ?c void:class <{URBAN}Museum> ; void:propertyPartition ?p .
        ?p void:property <{URBAN}locatedIn> ; void:classPartition/void:class ?o }}""")
    assert [row["o"] for row in found] == [NamedNode(URBAN + "Park")]
    counted = store.query(
        "SELECT ?n { ?d <http://rdfs.org/ns/void#triples> ?n } ORDER BY DESC(xsd:integer(?n))".replace(
            "xsd:integer", "<http://www.w3.org/2001/XMLSchema#integer>"
        )
    )
    total = await shared_client.get("/sparql", params={"query": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"})
    assert next(iter(counted))["n"].value == total.json()["results"]["bindings"][0]["n"]["value"]


async def test_the_examples_are_found_in_the_graph_and_in_its_description_and_run(
    shared_client: httpx.AsyncClient,
) -> None:
    answer = await shared_client.get("/sparql", params={"query": EXAMPLES})
    rows = answer.json()["results"]["bindings"]
    assert len(rows) >= 6
    described_ones = (await described(shared_client, "/sparql")).query(EXAMPLES)
    assert {row["q"].value for row in described_ones} == {row["q"]["value"] for row in rows}
    for row in rows:
        run = await shared_client.get("/sparql", params={"query": row["text"]["value"]})
        assert run.status_code == 200, (row["q"]["value"], run.text)
        assert "warning" not in run.headers, row["q"]["value"]
