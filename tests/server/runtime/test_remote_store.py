"""A server whose graph is in another store: the same routes, and honest words about what differs."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import httpx
import pytest
from pyoxigraph import NamedNode

from ontology import Schema
from server.app import create_app
from server.errors import SettingsError
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from server.settings_loading import load_settings
from server.stores import remote_address
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.model.errors import RemoteUnreachable
from sparql.model.vocabulary import PROVENANCE
from sparql.remote.endpoint import RemoteAddress
from tests.server.conftest import RecordedModel, own_gate, select
from tests.support.remote_servers import VIRTUOSO_DEFAULT_GRAPH, clear, direct, oxigraph_server, virtuoso
from tests.support.running_server import RunningServer
from tests.support.tgi_stand_in import free_port

E = "http://e.org/"
SPARQL_UPDATE = {"content-type": "application/sparql-update"}
SQUARES = """
PREFIX geo: <http://www.opengis.net/ont/geosparql#> PREFIX : <http://e.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
INSERT DATA {
  :a a geo:Feature ; rdfs:label "A"@en ; geo:hasDefaultGeometry :ga . :ga a geo:Geometry ; geo:asWKT
    "<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))"^^geo:wktLiteral .
  :b a geo:Feature ; rdfs:label "B"@en ; geo:hasDefaultGeometry :gb . :gb a geo:Geometry ;
    geo:asWKT "POLYGON((2 0, 4 0, 4 2, 2 2, 2 0))"^^geo:wktLiteral }
"""


@pytest.fixture(scope="module")
def oxigraph_address() -> Iterator[RemoteAddress]:
    with oxigraph_server() as address:
        yield address


@pytest.fixture(scope="module")
def virtuoso_address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteAddress]:
    with virtuoso(tmp_path_factory.mktemp("virtuoso")) as address:
        yield address


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("empty")


@pytest.fixture(scope="module")
def schema(empty: Path) -> Schema:
    """Nothing: what is tested here does not depend on an ontology, and opens quickly without."""
    return Schema.load(empty)


@pytest.fixture(scope="module")
def gate(empty: Path) -> ShapesGate:
    return ShapesGate(load_shapes(empty))


@pytest.fixture(params=["oxigraph", pytest.param("virtuoso", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest) -> RemoteAddress:
    found: RemoteAddress = request.getfixturevalue(f"{request.param}_address")
    clear(found)
    return found


def settings_for(address: RemoteAddress, data: Path) -> Settings:
    return Settings(
        data=data,
        readers=1,
        store_url=address.query_url,
        store_update_url=address.update_url,
        store_graph_url=address.graph_url,
        store_user=address.user,
        store_password=address.password,
        store_auth="digest" if address.digest else "basic",
        store_default_graph=address.default_graph.value if address.default_graph else None,
    )


@pytest.fixture
async def services(
    address: RemoteAddress, tmp_path: Path, model: RecordedModel, schema: Schema, gate: ShapesGate
) -> AsyncIterator[Services]:
    settings = settings_for(address, tmp_path / "data")
    async with build(settings, model=model, schema=schema, gate=own_gate(gate)) as services:
        await services.opened()
        yield services


@pytest.fixture
async def client(services: Services) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    async with httpx.AsyncClient(
        transport=transport, base_url="http://127.0.0.1:8000", timeout=120
    ) as client:
        yield client


async def update(client: httpx.AsyncClient, text: str) -> httpx.Response:
    return await client.post("/update", content=text, headers=SPARQL_UPDATE)


async def ask(client: httpx.AsyncClient, query: str, accept: str) -> httpx.Response:
    return await client.post("/sparql", data={"query": query}, headers={"accept": accept})


async def test_a_join_of_the_graph_with_its_provenance_is_refused_with_what_to_do(
    client: httpx.AsyncClient,
):
    for query in (
        f"SELECT * {{ ?s ?p ?o . GRAPH {PROVENANCE} {{ ?r ?q <<( ?s ?p ?o )>> }} }}",
        f"SELECT * {{ GRAPH {PROVENANCE} {{ ?r ?q ?s }} ?s ?p ?o }}",
    ):
        answer = await ask(client, query, "application/sparql-results+json")
        assert answer.status_code == 501, answer.text
        assert "kept beside it" in answer.json()["detail"]
    alone = f"SELECT * {{ GRAPH {PROVENANCE} {{ ?s ?p ?o }} }}"
    assert (await ask(client, alone, "application/sparql-results+json")).status_code == 200


async def test_a_function_that_the_store_lacks_is_named(client: httpx.AsyncClient):
    area = "<http://www.opengis.net/def/function/geosparql/metricArea>"
    query = f"SELECT ({area}('POINT(1 1)'^^<http://www.opengis.net/ont/geosparql#wktLiteral>) AS ?x) {{}}"
    answer = await ask(client, query, "application/sparql-results+json")
    assert answer.status_code == 501, answer.text
    assert area in answer.json()["detail"]


async def test_answers_come_in_every_format(client: httpx.AsyncClient):
    answer = await update(client, f'INSERT DATA {{ <{E}a> <{E}p> "x"@en, true, 7, <{E}b> }}')
    assert answer.status_code == 200, answer.text
    query = f"SELECT ?o WHERE {{ <{E}a> <{E}p> ?o }} ORDER BY STR(?o)"
    csv = await ask(client, query, "text/csv")
    assert csv.text.split("\r\n") == ["o", "7", f"{E}b", "true", "x", ""]
    tsv = await ask(client, query, "text/tab-separated-values")
    assert tsv.text.split("\n")[0] == "?o"
    assert '"x"@en' in tsv.text
    xml = await ask(client, query, "application/sparql-results+xml")
    assert 'xml:lang="en"' in xml.text
    found = (await ask(client, query, "application/sparql-results+json")).json()["results"]["bindings"]
    assert {term["o"]["type"] for term in found} == {"uri", "literal"}
    truth = await ask(client, f"ASK {{ <{E}a> ?p ?o }}", "application/sparql-results+json")
    assert truth.json() == {"head": {}, "boolean": True}
    for accept in ("text/turtle", "application/n-triples", "application/rdf+xml", "application/ld+json"):
        graph = await ask(client, f"CONSTRUCT WHERE {{ ?s <{E}p> ?o }}", accept)
        assert graph.status_code == 200, graph.text
        assert graph.headers["content-type"].startswith(accept)
        assert f"{E}b" in graph.text, accept


async def test_a_query_sees_clients_graphs_and_not_the_systems(client: httpx.AsyncClient):
    await update(client, f"INSERT DATA {{ GRAPH <{E}g> {{ <{E}a> <{E}p> 1 }} }}")
    assert await select(client, "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }") == [{"g": f"{E}g"}]
    assert await select(client, f"SELECT ?o WHERE {{ GRAPH <{E}g> {{ ?s ?p ?o }} }}") == [{"o": "1"}]
    assert await select(client, f"SELECT ?o WHERE {{ <{E}a> ?p ?o }}") == []
    await update(client, SQUARES)
    derived = "SELECT ?s WHERE { GRAPH <https://w3id.org/urbankg/graph/derived> { ?s ?p ?o } }"
    assert len(await select(client, derived)) == 2
    assert len(await select(client, "SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }")) == 1


async def test_a_mistake_in_a_query_is_the_clients(client: httpx.AsyncClient):
    answer = await ask(client, "SELECT * WHERE { ?s ?p }", "*/*")
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


async def test_relations_are_derived_before_the_update_is_sent(client: httpx.AsyncClient):
    answer = await update(client, SQUARES)
    assert answer.status_code == 200, answer.text
    rows = await select(client, f"SELECT ?p WHERE {{ <{E}a> ?p <{E}b> }}")
    assert rows == [{"p": "http://www.opengis.net/ont/geosparql#rcc8ec"}]
    wkt = "PREFIX geo: <http://www.opengis.net/ont/geosparql#> SELECT ?w (DATATYPE(?w) AS ?d) WHERE"
    rows = await select(client, f"{wkt} {{ <{E}ga> geo:asWKT ?w }}")
    assert rows[0]["w"].startswith("<http://www.opengis.net/def/crs/OGC/1.3/CRS84> POLYGON")
    gone = f"<{E}b> <http://www.opengis.net/ont/geosparql#hasDefaultGeometry> ?g . ?g ?p ?o"
    answer = await update(client, f"DELETE WHERE {{ {gone} }}")
    assert answer.status_code == 200, answer.text
    assert await select(client, f"SELECT ?p WHERE {{ <{E}a> ?p <{E}b> }}") == []


async def test_what_does_not_conform_is_refused_and_nothing_is_sent(
    client: httpx.AsyncClient, services: Services
):
    before = services.store.revision()
    wkt = "http://www.opengis.net/ont/geosparql#wktLiteral"
    answer = await update(client, f'INSERT DATA {{ <{E}x> <{E}p> "nowhere"^^<{wkt}> }}')
    assert answer.status_code == 422
    assert services.store.revision() == before
    assert await select(client, f"SELECT ?p WHERE {{ <{E}x> ?p ?o }}") == []


async def test_candidates_leave_their_provenance_and_review_items_beside(
    client: httpx.AsyncClient, services: Services
):
    label = "http://www.w3.org/2000/01/rdf-schema#label"
    malformed = {"type": "literal", "value": "x", "datatype": "http://www.w3.org/2001/XMLSchema#integer"}
    statements = [
        {"subject": f"{E}a", "predicate": label, "object": {"type": "literal", "value": "Ashland"}},
        {"subject": f"{E}a", "predicate": f"{E}p", "object": malformed},
    ]
    answer = await client.post("/candidates", json={"statements": statements, "source": "http://e.org/doc"})
    assert answer.status_code == 200, answer.text
    assert len(answer.json()["rejected"]) == 1
    queue = (await client.get("/review")).json()
    assert len(queue["items"]) == 1
    evidence = "SELECT ?r WHERE { GRAPH <https://w3id.org/urbankg/graph/provenance> { ?r ?p ?run } }"
    assert await select(client, evidence)
    assert await select(client, f"SELECT ?o WHERE {{ <{E}a> ?p ?o }}") == [{"o": "Ashland"}]


async def test_graphs_are_put_read_and_deleted(client: httpx.AsyncClient):
    turtle = f"<{E}a> <{E}p> [ <{E}q> 1 ] ."
    headers = {"content-type": "text/turtle"}
    put = await client.put(f"/store?graph={E}g", content=turtle, headers=headers)
    assert put.status_code == 201, put.text
    got = await client.get(f"/store?graph={E}g", headers={"accept": "application/n-triples"})
    assert len(got.text.strip().split("\n")) == 2
    put = await client.put(f"/store?graph={E}g", content=f"<{E}a> <{E}p> 2 .", headers=headers)
    assert put.status_code == 204
    got = await client.get(f"/store?graph={E}g", headers={"accept": "application/n-triples"})
    assert got.text.strip() == f'<{E}a> <{E}p> "2"^^<http://www.w3.org/2001/XMLSchema#integer> .'
    dump = await client.get("/dump", headers={"accept": "application/n-quads"})
    assert f"<{E}g> .\n" in dump.text
    assert (await client.delete(f"/store?graph={E}g")).status_code == 204
    assert (await client.get(f"/store?graph={E}g")).status_code == 404


async def test_what_others_write_is_seen_at_once_and_answers_are_never_confirmed_as_unchanged(
    client: httpx.AsyncClient, address: RemoteAddress
):
    query = {"query": f"SELECT ?o WHERE {{ <{E}a> <{E}p> ?o }}"}
    first = await client.get("/sparql", params=query)
    assert "etag" not in first.headers
    data = f"<{E}a> <{E}p> 5"
    graph = address.default_graph
    direct(address, f"INSERT DATA {{ {data if graph is None else f'GRAPH {graph} {{ {data} }}'} }}")
    second = await client.get("/sparql", params=query, headers={"if-none-match": "*"})
    assert second.json()["results"]["bindings"]


async def test_a_query_over_its_time_is_given_up(client: httpx.AsyncClient):
    numbers = " ".join(str(number) for number in range(300))
    values = " ".join(f"VALUES ?v{n} {{ {numbers} }}" for n in range(5))
    query = f"SELECT (COUNT(*) AS ?n) WHERE {{ {values} FILTER(?v0 + ?v1 + ?v2 + ?v3 + ?v4 = 7) }}"
    answer = await client.get("/sparql", params={"query": query, "timeout": "1"})
    assert answer.status_code in (502, 504), answer.text
    assert (await client.get("/sparql", params={"query": "ASK {}"})).status_code == 200


@pytest.mark.parametrize(
    ("query", "parameters"),
    [
        ('SELECT ?s { ?s <https://w3id.org/urbankg/system#textMatch> "Mill" }', {}),
    ],
)
async def test_what_is_answered_only_from_the_folder_is_refused(
    client: httpx.AsyncClient, query: str, parameters: dict[str, str]
):
    answer = await client.get("/sparql", params={"query": query, **parameters})
    assert answer.status_code == 501
    assert "urbankg:textMatch; leave them out" in answer.json()["detail"]


async def test_healthz_says_what_a_remote_store_cannot_promise(client: httpx.AsyncClient):
    reported = (await client.get("/healthz")).json()["store"]
    assert reported["kind"] == "remote"
    assert any("RDF 1.2" in one for one in reported["not_promised"])
    assert (await client.get("/readyz")).status_code == 200
    description = await client.get("/sparql", headers={"accept": "application/n-triples"})
    assert "EmptyGraphs" not in description.text


async def test_a_store_that_is_gone_is_reported(tmp_path: Path, schema: Schema, gate: ShapesGate):
    with oxigraph_server() as address:
        services = build(settings_for(address, tmp_path / "data"), schema=schema, gate=own_gate(gate))
        await services.start()
        await services.opened()
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        query = await client.get("/sparql", params={"query": "ASK { ?s ?p ?o }"})
        assert query.status_code == 503
        assert "cannot be reached" in query.json()["detail"]
        answer = await update(client, f"INSERT DATA {{ <{E}a> <{E}p> 1 }}")
        assert answer.status_code == 503
        assert "Nothing was changed" in answer.json()["detail"]
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/healthz")).status_code == 200
    await services.close()


def test_a_server_does_not_start_without_its_store(tmp_path: Path):
    url = f"http://127.0.0.1:{free_port()}/query"
    with pytest.raises(RemoteUnreachable, match="cannot be reached"):
        build(Settings(data=tmp_path / "data", store_url=url))


def test_secrets_of_the_store_are_hidden():
    loaded = load_settings({}, environment={"URBANKG_STORE_TOKEN": "s3cret", "URBANKG_STORE_PASSWORD": "pw"})
    shown = {name: value for name, value, _ in loaded.shown()}
    assert shown["store_token"] == shown["store_password"] == "********"


def test_settings_that_contradict_each_other_are_refused():
    with pytest.raises(SettingsError, match="store_url is missing"):
        remote_address(Settings(store_update_url="http://e.org/update"))
    with pytest.raises(SettingsError, match="Both"):
        remote_address(Settings(store_url="http://e.org/q", store_token="t", store_user="u"))
    with pytest.raises(SettingsError, match="not an absolute IRI"):
        remote_address(Settings(store_url="http://e.org/q", store_default_graph="graph"))
    found = remote_address(Settings(store_url="http://e.org/q", store_token="t"))
    assert found is not None
    assert found.update_url == "http://e.org/q"
    request = httpx.Request("GET", "http://e.org/q")
    authentication = found.authentication()
    assert authentication is not None
    assert next(authentication.auth_flow(request)).headers["authorization"] == "Bearer t"


@pytest.mark.slow
def test_a_whole_server_runs_on_virtuoso(virtuoso_address: RemoteAddress, tmp_path: Path, empty: Path):
    clear(virtuoso_address)
    config = tmp_path / "urbankg.toml"
    settings = {
        "store_update_url": virtuoso_address.update_url,
        "store_graph_url": virtuoso_address.graph_url,
        "store_user": "dba",
        "store_password": "dba",
        "store_auth": "digest",
        "store_default_graph": VIRTUOSO_DEFAULT_GRAPH.value,
    }
    config.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in settings.items()))
    flags = ("--config", str(config), "--store-url", virtuoso_address.query_url)
    flags += ("--ontology", str(empty), "--shapes", str(empty))
    for expected in ("1", "2"):
        with RunningServer(tmp_path / "data", *flags) as server:
            answer = httpx.post(
                server.url + "/update",
                content=f"INSERT DATA {{ <{E}a> <{E}p> {expected} }}",
                headers=SPARQL_UPDATE,
                timeout=120,
            )
            assert answer.status_code == 200, answer.text
            query = {"query": f"SELECT (COUNT(?o) AS ?n) WHERE {{ <{E}a> <{E}p> ?o }}"}
            rows = httpx.get(server.url + "/sparql", params=query, timeout=60).json()["results"]["bindings"]
            assert rows[0]["n"]["value"] == expected


@pytest.mark.slow
async def test_an_answer_that_virtuoso_cut_is_an_error(tmp_path: Path, schema: Schema, gate: ShapesGate):
    folder = tmp_path / "virtuoso"
    folder.mkdir()
    with virtuoso(folder, row_limit=5000) as address:
        async with build(
            settings_for(address, tmp_path / "data"), schema=schema, gate=own_gate(gate)
        ) as services:
            await services.opened()
            triples = " ".join(f"<{E}{number}> <{E}p> {number} ." for number in range(6000))
            direct_graph = NamedNode(f"{E}g")
            transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
                put = await client.put(
                    f"/store?graph={direct_graph.value}",
                    content=triples,
                    headers={"content-type": "text/turtle"},
                )
                assert put.status_code == 201, put.text
                query = f"SELECT * WHERE {{ GRAPH {direct_graph} {{ ?s ?p ?o }} }}"
                cut = await client.get("/sparql", params={"query": query})
                assert cut.status_code == 502
                assert "ResultSetMaxRows" in cut.json()["detail"]
                assert (await client.get(f"/store?graph={direct_graph.value}")).status_code == 502
                narrow = await client.get("/sparql", params={"query": query + " LIMIT 10"})
                assert len(narrow.json()["results"]["bindings"]) == 10
