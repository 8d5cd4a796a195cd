"""The Model Context Protocol, spoken by the official client over HTTP and over standard streams."""

import gzip
import json
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from httpx2 import AsyncClient
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from server.http.access.keys import KeyStore, Scope
from tests.support.running_server import RunningServer

URBAN = "https://w3id.org/urbankg/urban#"
PARK = "https://w3id.org/urbankg/id/brook-park"
READERS = ("search", "vocabulary", "describe", "query", "ask", "review")
WRITERS = ("propose_statements", "read_text", "decide")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the shipped ontology and shapes."""
    with RunningServer(tmp_path_factory.mktemp("mcp") / "data") as running:
        yield running


@asynccontextmanager
async def over_http(server: RunningServer, **headers: str) -> AsyncIterator[Client]:
    async with (
        # The first request imports the protocol's SDK.
        AsyncClient(headers=headers, trust_env=False, timeout=60) as http,
        Client(streamable_http_client(f"{server.url}/mcp", http_client=http)) as client,
    ):
        yield client


@asynccontextmanager
async def over_streams(folder: Path) -> AsyncIterator[Client]:
    command = StdioServerParameters(
        command=sys.executable, args=["-m", "server", "mcp", "--data", str(folder)]
    )
    async with Client(stdio_client(command)) as client:
        yield client


async def call(client: Client, name: str, **arguments: Any) -> Any:
    """What a tool gives, also as text."""
    answer = await client.call_tool(name, arguments)
    text = answer.content[0].text  # type: ignore[union-attr]
    assert not answer.is_error, text
    assert json.loads(text) == answer.structured_content
    return answer.structured_content


async def refusal(client: Client, name: str, **arguments: Any) -> str:
    answer = await client.call_tool(name, arguments)
    assert answer.is_error
    return str(answer.content[0].text)  # type: ignore[union-attr]


def statement(subject: str, predicate: str, value: dict[str, str]) -> dict[str, Any]:
    return {"subject": subject, "predicate": predicate, "object": value}


def a_park(iri: str = PARK, name: str = "Brook Park") -> list[dict[str, Any]]:
    return [
        statement(
            iri,
            "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
            {"type": "uri", "value": URBAN + "Park"},
        ),
        statement(
            iri,
            "http://www.w3.org/2000/01/rdf-schema#label",
            {"type": "literal", "value": name, "xml:lang": "en"},
        ),
    ]


async def test_tools_say_what_they_take_and_whether_they_write(server: RunningServer) -> None:
    async with over_http(server) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert set(tools) == {*READERS, *WRITERS}
    for name, tool in tools.items():
        assert tool.description
        assert tool.input_schema["additionalProperties"] is False
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (name in READERS)


async def test_a_statement_is_proposed_refused_decided_found_and_asked_for(server: RunningServer) -> None:
    async with over_http(server) as client:
        tried = await call(client, "propose_statements", statements=a_park(), commit=False)
        assert (len(tried["accepted"]), tried["revision"]) == (2, None)
        assert (await call(client, "search", text="Brook Park", kind="entity"))["suggestions"] == []

        done = await call(client, "propose_statements", statements=a_park(), source="a model")
        assert len(done["accepted"]) == 2
        (found,) = (await call(client, "search", text="Brook Park", kind="entity"))["suggestions"]
        assert (found["iri"], found["classes"]) == (PARK, [URBAN + "Park"])

        wrong = statement(PARK, URBAN + "height", {"type": "literal", "value": "very tall"})
        refused = await call(client, "propose_statements", statements=[wrong])
        assert not refused["accepted"]
        assert refused["rejected"][0]["violations"][0]["message"]
        (item,) = (await call(client, "review", text="very tall"))["items"]
        await call(client, "decide", item=item["id"], decision="reject", by="Ada", reason="no number")
        assert (await call(client, "review", text="very tall"))["total"] == 0
        (item,) = (await call(client, "review", text="very tall", status="rejected"))["items"]
        assert item["decisions"][-1]["by"] == "Ada"

        described = await call(client, "describe", iri=PARK)
        assert {"property": "http://www.w3.org/2000/01/rdf-schema#label", "value": "Brook Park"} in described[
            "statements"
        ]
        asked = await call(client, "ask", question="Which parks are there?")
        assert "Brook Park" in asked["answer"]
        used = await call(client, "vocabulary")
        assert (URBAN + "Park", "1") in {(one["iri"], one["uses"]) for one in used["classes"]}


async def test_rows_are_limited_and_those_left_out_are_counted(server: RunningServer) -> None:
    async with over_http(server) as client:
        found = await call(client, "query", sparql="SELECT * { VALUES ?n { 1 2 3 4 5 } }", rows=2)
        assert (len(found["results"]["bindings"]), found["left_out"]) == (2, 3)
        assert (await call(client, "query", sparql="ASK { ?s ?p ?o }"))["boolean"] is True
        graph = await call(client, "query", sparql="CONSTRUCT { <http://e/a> <http://e/b> 1 } {}")
        assert "<http://e/b>" in graph["turtle"]


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("serch", {"text": "x"}, "did you mean 'search'?"),
        ("search", {"txt": "x"}, "did you mean 'text'?"),
        ("search", {"text": "x", "limit": 101}, "limit"),
        ("describe", {"iri": "http://e/a> ?p ?o } #"}, "iri"),
        ("decide", {"item": "../x", "decision": "accept", "by": "Ada"}, "item"),
        ("decide", {"item": "unknown", "decision": "accept", "by": "Ada"}, "unknown"),
        ("query", {"sparql": "SELECT * { ?s"}, "does not parse at line 1"),
        ("query", {"sparql": "CLEAR ALL"}, "This is an update"),
        ("propose_statements", {"statements": [{"subject": "a"}]}, "statements.0.predicate"),
    ],
)
async def test_what_is_wrong_is_said(
    server: RunningServer, name: str, arguments: dict[str, Any], message: str
) -> None:
    async with over_http(server) as client:
        assert message in await refusal(client, name, **arguments)


async def test_the_standard_streams_reach_the_server_that_holds_the_folder(server: RunningServer) -> None:
    iri = "https://w3id.org/urbankg/id/mill-park"
    async with over_streams(server.data) as client:
        await call(client, "propose_statements", statements=a_park(iri, "Mill Park"))
    answer = httpx.get(server.url + "/suggest", params={"text": "Mill Park"}, trust_env=False)
    assert answer.json()["suggestions"][0]["iri"] == iri
    assert server.process.poll() is None


async def test_the_standard_streams_start_a_server_and_end_it(tmp_path: Path) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    async with over_streams(folder) as client, over_streams(folder) as second:
        await call(client, "propose_statements", statements=a_park())
        (found,) = (await call(second, "search", text="Brook", kind="entity"))["suggestions"]
        assert found["iri"] == PARK
    assert not (folder / "server.json").exists()


async def test_each_tool_needs_what_its_route_needs(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data") as server:
        keys = KeyStore(server.data)
        tokens = {scope: keys.create(scope, [scope])[1] for scope in (Scope.READ, Scope.EXTRACT)}
        keys.close()
        async with over_http(server) as client:
            await call(client, "query", sparql="ASK {}")
            assert "key" in await refusal(client, "propose_statements", statements=a_park())
        async with over_http(server, authorization=f"Bearer {tokens[Scope.READ]}") as client:
            assert "extract" in await refusal(client, "propose_statements", statements=a_park())
        async with over_http(server, authorization=f"Bearer {tokens[Scope.EXTRACT]}") as client:
            assert (await call(client, "propose_statements", statements=a_park()))["accepted"]


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
def test_other_methods_are_refused(server: RunningServer, method: str) -> None:
    answer = httpx.request(method, server.url + "/mcp", trust_env=False)
    assert (answer.status_code, answer.headers["allow"]) == (405, "OPTIONS, POST")


def test_a_packed_request_is_read(server: RunningServer) -> None:
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}'
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
    packed = {**headers, "content-encoding": "gzip"}
    with httpx.Client(base_url=server.url, trust_env=False) as client:
        plain = client.post("/mcp", content=body, headers=headers)
        assert client.post("/mcp", content=gzip.compress(body), headers=packed).json() == plain.json()
        unknown = client.post("/mcp", content=body, headers={**headers, "content-encoding": "br"})
    assert plain.status_code == 200
    assert unknown.status_code == 415
