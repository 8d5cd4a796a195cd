"""SPARQL 1.1 Protocol, clause by clause, and what Update and the result formats add to it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import urlencode

import httpx
import pytest
import pytest_asyncio

from server.app import create_app
from server.runtime.wiring import build
from server.settings import Settings
from tests.server.conftest import RecordedModel

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUERY = "application/sparql-query"
UPDATE = "application/sparql-update"
FORM = "application/x-www-form-urlencoded"
PREFIX = "PREFIX e: <http://e/> "
BOTH = "ASK { <http://e/a> <http://e/p> 1 . <http://e/b> <http://e/p> 2 }"
NAMED = "ASK { GRAPH <http://e/g1> { <http://e/a> ?p 1 } GRAPH <http://e/g2> { <http://e/b> ?p 2 } }"
DATA = """PREFIX e: <http://e/> INSERT DATA {
    e:d e:p 0 . GRAPH e:g1 { e:a e:p 1 } GRAPH e:g2 { e:b e:p 2 } }"""

Parameters = list[tuple[str, str]]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def endpoint(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """One server without ontology and shapes for all tests here."""
    folder: Path = tmp_path_factory.mktemp("protocol")
    nothing = folder / "nothing"
    nothing.mkdir()
    settings = Settings(data=folder / "data", ontology=nothing, shapes=nothing, readers=1)
    async with build(settings, model=RecordedModel()) as services:
        transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
            yield client


@pytest_asyncio.fixture(loop_scope="module")
async def data(endpoint: httpx.AsyncClient) -> httpx.AsyncClient:
    """The server with a triple in the default graph and one in each of two named graphs."""
    await update(endpoint, "DROP ALL; " + DATA)
    return endpoint


async def update(client: httpx.AsyncClient, text: str, status: int = 200) -> None:
    response = await client.post("/update", content=text, headers={"content-type": UPDATE})
    assert response.status_code == status, response.text


async def ask(client: httpx.AsyncClient, text: str, parameters: Parameters | None = None) -> bool:
    response = await client.get("/sparql", params=[("query", text), *(parameters or [])])
    assert response.status_code == 200, response.text
    return bool(response.json()["boolean"])


async def send(
    client: httpx.AsyncClient, method: str, target: str, content_type: str | None, body: str | bytes = b""
) -> httpx.Response:
    headers = {} if content_type is None else {"content-type": content_type}
    return await client.request(method, target, content=body, headers=headers)


async def test_a_query_by_get_has_its_text_in_the_query_string(data: httpx.AsyncClient) -> None:
    """2.1.1"""
    assert await ask(data, PREFIX + "ASK { e:d e:p 0 }")


@pytest.mark.parametrize("parameters", [[("default-graph-uri", "http://e/g1")], []])
async def test_a_query_by_form_has_its_text_and_dataset_in_the_body(
    data: httpx.AsyncClient, parameters: Parameters
) -> None:
    """2.1.2"""
    body = urlencode([("query", "ASK { <http://e/a> ?p 1 }"), *parameters])
    response = await send(data, "POST", "/sparql", FORM, body)
    assert response.json()["boolean"] is bool(parameters)


async def test_a_query_as_the_body_has_its_dataset_in_the_query_string(data: httpx.AsyncClient) -> None:
    """2.1.3"""
    target = "/sparql?" + urlencode({"default-graph-uri": "http://e/g1"})
    response = await send(data, "POST", target, QUERY + "; charset=utf-8", "ASK { <http://e/a> ?p 1 }")
    assert response.json()["boolean"] is True


async def test_several_default_graphs_are_merged(data: httpx.AsyncClient) -> None:
    """2.1.4"""
    both = [("default-graph-uri", "http://e/g1"), ("default-graph-uri", "http://e/g2")]
    assert await ask(data, BOTH, both)
    assert not await ask(data, BOTH, both[:1])
    assert not await ask(data, BOTH)


async def test_named_graphs_are_those_of_the_request(data: httpx.AsyncClient) -> None:
    """2.1.4"""
    both = [("named-graph-uri", "http://e/g1"), ("named-graph-uri", "http://e/g2")]
    assert await ask(data, NAMED, both)
    assert not await ask(data, NAMED, both[1:])


async def test_without_a_default_graph_in_the_request_it_is_empty(data: httpx.AsyncClient) -> None:
    """2.1.4: a request with named graphs only describes a dataset whose default graph is empty."""
    assert not await ask(data, "ASK { ?s ?p ?o }", [("named-graph-uri", "http://e/g1")])


async def test_a_request_may_have_default_and_named_graphs(data: httpx.AsyncClient) -> None:
    """2.1.4"""
    text = "ASK { <http://e/a> ?p 1 GRAPH ?g { <http://e/b> ?p 2 } }"
    assert await ask(data, text, [("default-graph-uri", "http://e/g1"), ("named-graph-uri", "http://e/g2")])
    assert not await ask(data, text, [("default-graph-uri", "http://e/g2")])


async def test_the_dataset_of_the_request_beats_that_of_the_query(data: httpx.AsyncClient) -> None:
    """2.1.4"""
    text = "ASK FROM <http://e/g1> { <http://e/b> ?p 2 }"
    assert not await ask(data, text)
    assert await ask(data, text, [("default-graph-uri", "http://e/g2")])


@pytest.mark.parametrize(
    ("text", "accept", "media_type"),
    [
        ("SELECT * { ?s ?p ?o }", "application/sparql-results+xml", "application/sparql-results+xml"),
        ("SELECT * { ?s ?p ?o }", "text/tab-separated-values", "text/tab-separated-values"),
        ("ASK {}", "application/sparql-results+json", "application/sparql-results+json"),
        ("DESCRIBE <http://e/d>", "application/rdf+xml", "application/rdf+xml"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "text/turtle, */*;q=0.1", "text/turtle"),
        ("CONSTRUCT WHERE { ?s ?p ?o }", "*/*", "text/turtle"),
    ],
)
async def test_each_form_of_query_has_an_answer_of_its_kind(
    data: httpx.AsyncClient, text: str, accept: str, media_type: str
) -> None:
    """2.1.5 and 2.1.6"""
    response = await data.get("/sparql", params={"query": text}, headers={"accept": accept})
    assert response.status_code == 200
    assert response.headers["content-type"].partition(";")[0] == media_type


@pytest.mark.parametrize(
    ("method", "target", "content_type", "body", "status"),
    [
        ("PUT", "/sparql?query=ASK%20%7B%7D", None, "", 405),
        ("DELETE", "/sparql?query=ASK%20%7B%7D", None, "", 405),
        ("GET", "/sparql?query=ASK%20%7B%7D&query=ASK%20%7B%7D", None, "", 400),
        ("GET", "/sparql?query=", None, "", 400),
        ("GET", "/sparql?query=ASK%20%7B", None, "", 400),
        ("GET", "/sparql?query=ASK%20%7B%7D&default-graph-uri=not%20an%20iri", None, "", 400),
        ("GET", "/sparql?query=ASK%20%7B%7D&using-graph-uri=http://e/g", None, "", 400),
        ("GET", "/sparql?query=%ff%fe", None, "", 400),
        ("GET", "/sparql?update=CLEAR%20ALL", None, "", 400),
        ("GET", "/update?update=CLEAR%20ALL", None, "", 405),
        ("POST", "/sparql", FORM, "query=ASK%20%7B%7D&query=ASK%20%7B%7D", 400),
        ("POST", "/sparql", FORM, "query=ASK%20%7B%7D&update=CLEAR%20ALL", 400),
        ("POST", "/sparql", FORM, "default-graph-uri=http://e/g", 400),
        ("POST", "/sparql", FORM, "query=CLEAR%20ALL", 400),
        ("POST", "/sparql", QUERY, "SELECT * WHERE", 400),
        ("POST", "/sparql", QUERY, "", 400),
        ("POST", "/sparql", QUERY, "ASK {}".encode("utf-16"), 400),
        ("POST", "/sparql", QUERY + "; charset=utf-16", "ASK {}".encode("utf-16"), 415),
        ("POST", "/sparql", "text/plain", "ASK {}", 415),
        ("POST", "/sparql", None, "ASK {}", 415),
        ("POST", "/sparql", None, "query=ASK%20%7B%7D", 415),
    ],
)
async def test_a_query_that_breaks_the_protocol_is_refused(
    data: httpx.AsyncClient,
    method: str,
    target: str,
    content_type: str | None,
    body: str | bytes,
    status: int,
) -> None:
    """2.1 and 2.1.6; a client's mistake is 4xx and reported as a problem."""
    response = await send(data, method, target, content_type, body)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/sparql", "/update"])
async def test_an_update_comes_as_a_form_or_as_the_body(data: httpx.AsyncClient, path: str) -> None:
    """2.2.1 and 2.2.2"""
    texts = [f"INSERT DATA {{ <http://e/new{path}> <http://e/p> {number} }}" for number in (1, 2)]
    assert (await send(data, "POST", path, FORM, urlencode({"update": texts[0]}))).status_code == 200
    assert (await send(data, "POST", path, UPDATE + "; charset=UTF-8", texts[1])).status_code == 200
    assert await ask(data, f"ASK {{ <http://e/new{path}> ?p 1, 2 }}")


@pytest.mark.parametrize("direct", [True, False])
async def test_using_graphs_are_the_dataset_of_the_pattern(data: httpx.AsyncClient, direct: bool) -> None:
    """2.2.3"""
    text = "INSERT { GRAPH <http://e/found> { ?s ?p ?o } } WHERE { ?s ?p ?o }"
    using = [("using-graph-uri", "http://e/g1"), ("using-graph-uri", "http://e/g2")]
    if direct:
        response = await send(data, "POST", "/sparql?" + urlencode(using), UPDATE, text)
    else:
        response = await send(data, "POST", "/sparql", FORM, urlencode([("update", text), *using]))
    assert response.status_code == 200, response.text
    assert await ask(data, "ASK { GRAPH <http://e/found> { <http://e/a> ?p 1 . <http://e/b> ?q 2 } }")
    assert not await ask(data, "ASK { GRAPH <http://e/found> { <http://e/d> ?p ?o } }")


async def test_using_named_graphs_are_what_graph_ranges_over(data: httpx.AsyncClient) -> None:
    """2.2.3"""
    text = "INSERT { GRAPH <http://e/found> { ?s ?p ?o } } WHERE { GRAPH ?g { ?s ?p ?o } }"
    target = "/update?" + urlencode({"using-named-graph-uri": "http://e/g2"})
    assert (await send(data, "POST", target, UPDATE, text)).status_code == 200
    assert await ask(data, "ASK { GRAPH <http://e/found> { <http://e/b> ?p 2 } }")
    assert not await ask(data, "ASK { GRAPH <http://e/found> { <http://e/a> ?p 1 } }")


@pytest.mark.parametrize("clause", ["WITH <http://e/g1>", "USING"])
async def test_a_dataset_in_both_request_and_update_is_refused(data: httpx.AsyncClient, clause: str) -> None:
    """2.2.3"""
    using = " USING <http://e/g1>" if clause == "USING" else ""
    start = "" if using else clause
    text = f"{start} DELETE {{ ?s ?p ?o }} INSERT {{ <http://e/x> ?p ?o }}{using} WHERE {{ ?s ?p ?o }}"
    target = "/sparql?" + urlencode({"using-graph-uri": "http://e/g2"})
    assert (await send(data, "POST", target, UPDATE, text)).status_code == 400
    assert not await ask(data, "ASK { <http://e/x> ?p ?o }")


@pytest.mark.parametrize(
    ("content_type", "body", "status"),
    [
        (FORM, "update=CLEAR%20ALL&update=CLEAR%20ALL", 400),
        (FORM, "update=SELECT%20*%20%7B%7D", 400),
        (FORM, "update=CLEAR%20ALL&default-graph-uri=http://e/g", 400),
        (UPDATE, "CLEAR SILENT", 400),
        (UPDATE, "INSERT DATA { <http://e/x> <http://e/p> }", 400),
        (UPDATE, "CLEAR ALL; LOAD ;", 400),
        (UPDATE, "CLEAR ALL".encode("utf-16"), 400),
        (UPDATE + "; charset=utf-16", "CLEAR ALL".encode("utf-16"), 415),
        ("text/plain", "CLEAR ALL", 415),
        (None, "CLEAR ALL", 415),
        (None, "update=CLEAR%20ALL", 415),
    ],
)
async def test_an_update_that_breaks_the_protocol_changes_nothing(
    data: httpx.AsyncClient, content_type: str | None, body: str | bytes, status: int
) -> None:
    """2.2 and 2.2.4"""
    response = await send(data, "POST", "/sparql", content_type, body)
    assert response.status_code == status, response.text
    assert await ask(data, NAMED)


async def test_relative_iris_of_an_update_are_resolved(data: httpx.AsyncClient) -> None:
    """3.1 of RFC 3986 asks for a base; the protocol's suite wants some absolute IRI."""
    await update(data, "INSERT DATA { GRAPH <http://e/base> { <http://e/s> <http://e/p> <thing> } }")
    assert await ask(data, "ASK { GRAPH <http://e/base> { ?s ?p ?o FILTER(CONTAINS(STR(?o), '://')) } }")


async def test_the_operations_of_one_request_are_all_done_or_none(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 Update, 3: a request is atomic."""
    await update(data, "INSERT DATA { <http://e/x> <http://e/p> 9 }; DROP GRAPH <http://e/none>", 404)
    assert not await ask(data, "ASK { <http://e/x> <http://e/p> 9 }")


async def test_a_load_that_is_refused_fails_unless_it_is_silent(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 Update, 3.1.4: with SILENT an operation that fails is a success that does nothing."""
    insert = "INSERT DATA { <http://e/x> <http://e/p> 8 }"
    await update(data, f"{insert}; LOAD <http://elsewhere.example/d.ttl>", 403)
    assert not await ask(data, "ASK { <http://e/x> <http://e/p> 8 }")
    await update(data, f"LOAD SILENT <http://elsewhere.example/d.ttl> INTO GRAPH <http://e/g4>; {insert}")
    assert await ask(data, "ASK { <http://e/x> <http://e/p> 8 FILTER NOT EXISTS { GRAPH <http://e/g4> {} } }")


async def test_graphs_come_and_go_by_name_also_when_empty(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 Update, 3.2: a store that keeps empty graphs says when one exists, or does not."""
    await update(data, "CREATE GRAPH <http://e/empty>")
    await update(data, "CREATE GRAPH <http://e/empty>", 409)
    await update(data, "CREATE SILENT GRAPH <http://e/empty>")
    assert await ask(data, "ASK { GRAPH <http://e/empty> {} }")
    await update(data, "DROP GRAPH <http://e/empty>")
    assert not await ask(data, "ASK { GRAPH <http://e/empty> {} }")
    await update(data, "DROP GRAPH <http://e/empty>", 404)
    await update(data, "DROP SILENT GRAPH <http://e/empty>")


async def test_a_dropped_graph_is_gone_and_a_cleared_one_is_empty(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 Update, 3.1.5 and 3.2.2"""
    await update(data, "CLEAR GRAPH <http://e/g1>; DROP GRAPH <http://e/g2>")
    assert await ask(data, "ASK { GRAPH <http://e/g1> {} }")
    assert not await ask(data, "ASK { GRAPH <http://e/g2> {} }")
    await update(data, "DROP ALL")
    assert not await ask(data, "ASK { GRAPH ?g {} }")


async def test_a_moved_graph_is_where_it_went(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 Update, 3.2.4"""
    await update(data, "MOVE <http://e/g1> TO <http://e/g3>")
    assert await ask(data, "ASK { GRAPH <http://e/g3> { <http://e/a> ?p 1 } }")
    assert not await ask(data, "ASK { GRAPH <http://e/g1> {} }")


async def test_csv_quotes_what_must_be_and_leaves_the_unbound_empty(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 CSV and TSV, 3"""
    text = "SELECT ?a ?b ?c { VALUES (?a ?b ?c) { ('x,\"y' UNDEF <http://e/i>) } }"
    response = await data.get("/sparql", params={"query": text}, headers={"accept": "text/csv"})
    assert response.text == 'a,b,c\r\n"x,""y",,http://e/i\r\n'


async def test_tsv_writes_terms_as_turtle_does(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 CSV and TSV, 4"""
    text = "SELECT ?a ?b ?c ?d { VALUES (?a ?b ?c ?d) { ('x\\ty'@en UNDEF <http://e/i> 1.5) } }"
    accept = {"accept": "text/tab-separated-values"}
    response = await data.get("/sparql", params={"query": text}, headers=accept)
    assert response.text == '?a\t?b\t?c\t?d\n"x\\ty"@en\t\t<http://e/i>\t1.5\n'


async def test_json_leaves_the_unbound_out(data: httpx.AsyncClient) -> None:
    """SPARQL 1.1 Query Results JSON Format, 3.2.1"""
    text = "SELECT ?a ?b { VALUES (?a ?b) { ('x'@en UNDEF) } }"
    found = (await data.get("/sparql", params={"query": text})).json()
    assert found["head"] == {"vars": ["a", "b"]}
    assert found["results"]["bindings"] == [{"a": {"type": "literal", "value": "x", "xml:lang": "en"}}]
