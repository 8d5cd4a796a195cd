"""SERVICE and LOAD: fetched by us, from named hosts at public addresses only, through redirects and DNS."""

import ipaddress
import json
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs

import httpx
import pytest
from pyoxigraph import NamedNode, QuerySolutions, Store

from server.app import create_app
from server.data.remote_access import RemoteAccess, hosts_of, is_public
from server.http.access.admission import Admission
from server.runtime.wiring import build
from server.services import Services
from server.settings import Settings
from sparql.model.errors import FetchFailed, FetchRefused
from sparql.protocol.federation import localize, remote_parts, values_of
from tests.server.conftest import RecordedModel, select

ROWS = {
    "head": {"vars": ["s", "n"]},
    "results": {
        "bindings": [
            {"s": {"type": "uri", "value": "http://e/a"}, "n": {"type": "literal", "value": 'it\'s "A"\n'}},
            {"s": {"type": "uri", "value": "http://e/b"}},
            {"s": {"type": "bnode", "value": "x"}, "n": {"type": "literal", "value": "B", "xml:lang": "en"}},
        ]
    },
}


class Far(ThreadingHTTPServer):
    """Another host: answers each path as set, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.asked: list[tuple[str, dict[str, str], bytes]] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def port(self) -> int:
        return self.server_address[1]


class Handler(BaseHTTPRequestHandler):
    server: Far

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.server.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        status, headers, content = self.server.answers.get(self.path, (404, {}, b""))
        self.send_response(status)
        for name, value in {"content-length": str(len(content)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET

    def log_message(self, *arguments: object) -> None:
        return


@contextmanager
def running() -> Iterator[Far]:
    far = Far()
    thread = threading.Thread(target=far.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield far
    finally:
        far.shutdown()
        thread.join()
        far.server_close()


@pytest.fixture
def far() -> Iterator[Far]:
    with running() as server:
        yield server


class Names:
    """A name server: what each name stands for at the first, second ... question."""

    def __init__(self, **names: list[str]) -> None:
        self.names = {name.replace("_", "."): answers for name, answers in names.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> list[str]:
        self.asked.append(host)
        answers = self.names[host]
        return (answers.pop(0) if len(answers) > 1 else answers[0]).split()


def access(far: Far, names: Names, **options: object) -> RemoteAccess:
    """A client for whom 127.0.0.1 is a public address, and every other is judged as it is."""

    def allowed(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
        return str(address) == "127.0.0.1" or is_public(address)

    hosts = frozenset(f"{name}:{far.port}" for name in names.names)
    return RemoteAccess(hosts, resolve=names, allowed=allowed, **options)


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "10.1.2.3", "172.16.0.1", "192.168.0.1", "169.254.169.254", "100.64.0.1", "0.0.0.0",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fe80::1%eth0", "fd00:ec2::254",
        "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a00:1", "2002:a00:1::",
        "2001:0:0:0::1", "ff02::1",
    ],
)  # fmt: skip
def test_private_addresses_are_not_public_however_they_are_written(address: str):
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public_addresses_are_public(address: str):
    assert is_public(ipaddress.ip_address(address))


async def test_a_document_of_a_named_host_is_fetched_without_anything_of_the_client(far: Far):
    far.answers["/d"] = (200, {"content-type": "text/turtle; charset=utf-8"}, b"<a:a> <a:b> 1 .")
    names = Names(far_example=["127.0.0.1"])
    found = await access(far, names).fetch(f"http://far.example:{far.port}/d", "text/turtle")
    assert (found.content, found.media_type) == (b"<a:a> <a:b> 1 .", "text/turtle")
    _, headers, _ = far.asked[0]
    assert headers["host"] == f"far.example:{far.port}"
    assert not {"authorization", "cookie"} & set(headers)


@pytest.mark.parametrize(
    "url",
    [
        "http://other.example/", "http://far.example/", "http://far.example:1/", "ftp://far.example/",
        "file:///etc/passwd", "http://user:secret@far.example:PORT/", "http://far.example.evil:PORT/",
        "http:///x", "http://far.example:PORT@evil.example/", "http://127.0.0.1:PORT/", "http://[::1]:PORT/",
    ],
)  # fmt: skip
async def test_other_addresses_are_refused_unasked(far: Far, url: str):
    names = Names(far_example=["127.0.0.1"])
    with pytest.raises(FetchRefused):
        await access(far, names).fetch(url.replace("PORT", str(far.port)), "*/*")
    assert far.asked == []
    assert names.asked == []


@pytest.mark.parametrize(
    "answer", ["10.0.0.1", "169.254.169.254", "127.0.0.1 10.0.0.1", "::1", "::ffff:10.0.0.1"]
)
async def test_a_name_that_resolves_to_a_private_address_is_refused(far: Far, answer: str):
    with pytest.raises(FetchRefused, match="not public"):
        await access(far, Names(far_example=[answer])).fetch(f"http://far.example:{far.port}/", "*/*")


async def test_a_name_is_resolved_once_and_the_checked_address_is_used(far: Far):
    """A name server that returns a private address the second time gains nothing."""
    far.answers["/d"] = (200, {}, b"x")
    names = Names(far_example=["127.0.0.1", "10.0.0.1"])
    assert (await access(far, names).fetch(f"http://far.example:{far.port}/d", "*/*")).content == b"x"
    assert names.asked == ["far.example"]


async def test_every_step_of_a_redirect_is_checked(far: Far):
    names = Names(far_example=["127.0.0.1"], near_example=["127.0.0.1"], inner_example=["10.0.0.1"])
    client = access(far, names)
    base = f"http://far.example:{far.port}"
    far.answers["/ok"] = (302, {"location": f"http://near.example:{far.port}/d"}, b"")
    far.answers["/d"] = (200, {}, b"moved")
    far.answers["/inner"] = (301, {"location": f"http://inner.example:{far.port}/d"}, b"")
    far.answers["/unlisted"] = (307, {"location": "http://169.254.169.254/latest/meta-data"}, b"")
    far.answers["/file"] = (303, {"location": "file:///etc/passwd"}, b"")
    far.answers["/again"] = (302, {"location": "/again"}, b"")
    assert (await client.fetch(base + "/ok", "*/*")).content == b"moved"
    for path in ("/inner", "/unlisted", "/file"):
        with pytest.raises(FetchRefused):
            await client.fetch(base + path, "*/*")
    with pytest.raises(FetchFailed, match="more than"):
        await client.fetch(base + "/again", "*/*")


async def test_what_is_too_large_compressed_or_missing_is_a_failure(far: Far):
    client = access(far, Names(far_example=["127.0.0.1"]), max_bytes=100)
    base = f"http://far.example:{far.port}"
    far.answers["/large"] = (200, {}, b"x" * 101)
    far.answers["/zip"] = (200, {"content-encoding": "gzip"}, b"x")
    for path, word in (("/large", "larger"), ("/zip", "compressed"), ("/none", "404")):
        with pytest.raises(FetchFailed, match=word):
            await client.fetch(base + path, "*/*")


async def test_a_host_that_does_not_answer_is_given_up():
    with running() as far:
        client = access(far, Names(far_example=["127.0.0.1"]), timeout_s=0.3)
        far.answers["/slow"] = (200, {"content-length": "10"}, b"x")
        with pytest.raises(FetchFailed):
            await client.fetch(f"http://far.example:{far.port}/slow", "*/*")


def test_hosts_are_read_from_the_setting():
    assert hosts_of(" A.example, b.example:8080 ,,") == {"a.example", "b.example:8080"}


class Recorded:
    """Sources that answer from memory."""

    def __init__(self, answer: bytes = json.dumps(ROWS).encode(), error: Exception | None = None) -> None:
        self.answer, self.error = answer, error
        self.asked: list[tuple[str, str]] = []

    async def results(self, endpoint: str, query: str) -> bytes:
        self.asked.append((endpoint, query))
        if self.error is not None:
            raise self.error
        return self.answer

    async def triples(self, document: str) -> list:
        if self.error is not None:
            raise self.error
        return []


async def run(query: str, sources: Recorded) -> list[dict[str, str | None]]:
    found = Store().query((await localize(query, sources)).text)
    assert isinstance(found, QuerySolutions)
    names = [variable.value for variable in found.variables]
    return [{name: None if row[name] is None else row[name].value for name in names} for row in found]


async def test_a_service_gives_its_solutions_joined():
    sources = Recorded()
    query = (
        "PREFIX e: <http://e/> SELECT * { VALUES ?s { e:a e:b e:c }\n"
        " SERVICE e:far { ?s e:name ?n\n FILTER(?n != '}') } }"
    )
    assert await run(query, sources) == [
        {"s": "http://e/a", "n": 'it\'s "A"\n'},
        {"s": "http://e/b", "n": None},
    ]
    endpoint, asked = sources.asked[0]
    assert endpoint == "http://e/far"
    Store().query(asked)
    assert "FILTER(?n != '}')" in asked
    text = (await localize(query, sources)).text
    assert text.count("\n") >= query.count("\n")


async def test_blank_nodes_of_another_endpoint_become_iris_of_their_own():
    rows = await run("SELECT ?s { SERVICE <http://e/far> { ?s ?p ?n } }", Recorded())
    assert rows[2]["s"].startswith("urn:x-urbankg:remote-blank-node:")


async def test_silent_goes_on_without_a_host_that_fails_or_is_refused():
    failing = Recorded(error=FetchFailed("http://e/far", "down"))
    query = "SELECT ?x { VALUES ?x { 1 } SERVICE SILENT <http://e/far> { ?x ?p ?o } }"
    assert await run(query, failing) == [{"x": "1"}]
    with pytest.raises(FetchFailed):
        await run(query.replace("SILENT", ""), failing)
    refused = Recorded(error=FetchRefused("http://e/far", "no"))
    assert await run(query, refused) == [{"x": "1"}]
    assert "<http://e/far> is not fetched: no" in (await localize(query, refused)).passed_over[0]
    with pytest.raises(FetchRefused):
        await run(query.replace("SILENT", ""), refused)


async def test_no_solutions_are_no_solutions():
    empty = Recorded(b'{"head":{"vars":["x"]},"results":{"bindings":[]}}')
    assert await run("SELECT * { SERVICE <http://e/far> { ?x ?p 1 } }", empty) == []
    found = Recorded(b'{"head":{"vars":[]},"results":{"bindings":[{}]}}')
    assert len(await run("SELECT * { SERVICE <http://e/far> { <a:a> <a:b> 1 } }", found)) == 1


@pytest.mark.parametrize(
    "answer",
    [b"", b"<html>", b'{"boolean":true}', b'{"head":{"vars":["x } INSERT"]},"results":{"bindings":[]}}'],
)
def test_an_answer_that_is_no_result_is_a_failure(answer: bytes):
    with pytest.raises(FetchFailed):
        values_of(answer, "http://e/far")


def test_a_service_in_a_string_or_comment_is_none():
    text = "SELECT * { ?s ?p 'SERVICE <http://e/> {}' # SERVICE <http://e/> {}\n }"
    assert list(remote_parts(text)) == []


def test_a_service_over_a_variable_is_left_alone():
    assert list(remote_parts("SELECT * { ?s ?p ?e SERVICE ?e { ?s ?p ?o } }")) == []


def test_loads_are_found_with_their_graphs():
    text = "PREFIX e: <http://e/> LOAD e:d ; PREFIX e: <http://f/> LOAD SILENT e:d INTO GRAPH e:g"
    first, second = remote_parts(text)
    assert (first.target, first.silent, first.graph) == ("http://e/d", False, None)
    assert (second.target, second.silent, second.graph) == ("http://f/d", True, NamedNode("http://f/g"))


@pytest.fixture
async def services(tmp_path: Path) -> AsyncIterator[Services]:
    """Without ontology and shapes."""
    settings = Settings(data=tmp_path / "data", readers=1, ontology=tmp_path, shapes=tmp_path)
    async with build(settings, model=RecordedModel()) as services:
        yield services


@pytest.fixture
async def served(services: Services, far: Far) -> AsyncIterator[httpx.AsyncClient]:
    names = Names(far_example=["127.0.0.1"])
    services.admission = Admission(services.settings, services.guard, access(far, names))
    transport = httpx.ASGITransport(create_app(services), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client:
        yield client


async def test_service_and_load_work_end_to_end(served: httpx.AsyncClient, far: Far):
    base = f"http://far.example:{far.port}"
    far.answers["/d.ttl"] = (200, {"content-type": "text/plain"}, b"<http://e/a> <http://e/p> [], 'x' .")
    far.answers["/sparql"] = (
        200, {"content-type": "application/sparql-results+json"}, json.dumps(ROWS).encode(),
    )  # fmt: skip
    update = f"LOAD <{base}/d.ttl> INTO GRAPH <http://e/g> ; LOAD SILENT <{base}/none>"
    done = await served.post("/update", data={"update": update})
    assert done.status_code == 200, done.text
    query = f"SELECT ?n {{ GRAPH <http://e/g> {{ ?s ?p 'x' }} SERVICE <{base}/sparql> {{ ?s ?q ?n }} }}"
    assert await select(served, query) == [{"n": 'it\'s "A"\n'}]
    sent = parse_qs(far.asked[-1][2].decode())["query"][0]
    assert sent.strip().startswith("BASE") or "SELECT * WHERE" in sent
    refused = await served.get(
        "/sparql", params={"query": "SELECT * { SERVICE <http://169.254.169.254/> {} }"}
    )
    assert refused.status_code == 403
    missing = await served.post("/update", data={"update": f"LOAD <{base}/none>"})
    assert missing.status_code == 502


async def test_both_are_off_as_long_as_no_host_is_named(client: httpx.AsyncClient):
    query = await client.get(
        "/sparql", params={"query": "SELECT * { SERVICE <http://dbpedia.org/sparql> {} }"}
    )
    load = await client.post("/update", data={"update": "LOAD <http://dbpedia.org/d>"})
    assert (query.status_code, load.status_code) == (403, 403)


async def test_what_silent_passes_over_is_reported_in_a_header(client: httpx.AsyncClient):
    query = "SELECT ?x { VALUES ?x { 1 } SERVICE SILENT <http://dbpedia.org/sparql> { ?x ?p ?o } }"
    answer = await client.get("/sparql", params={"query": query})
    assert [row["x"]["value"] for row in answer.json()["results"]["bindings"]] == ["1"]
    assert "SERVICE SILENT is skipped" in answer.headers["warning"]
    load = await client.post("/update", data={"update": "LOAD SILENT <http://dbpedia.org/d>"})
    assert load.status_code == 200
    assert "LOAD SILENT is skipped" in load.headers["warning"]


async def test_a_function_that_is_unknown_is_an_error_of_its_expression(client: httpx.AsyncClient):
    query = (
        "PREFIX e: <http://e/> SELECT ?a ?b { VALUES ?x { 1 2 } "
        "BIND(e:one(?x) AS ?a) BIND(COALESCE(e:two(?x, 1), ?x) AS ?b) FILTER(?x = 2 || e:one(?x)) }"
    )
    answer = await client.get("/sparql", params={"query": query})
    assert answer.status_code == 200, answer.text
    assert [sorted(row) for row in answer.json()["results"]["bindings"]] == [["b"]]
    assert "<http://e/one> is not known here" in answer.headers["warning"]
    assert "<http://e/two> is not known here" in answer.headers["warning"]
    update = "INSERT { <http://e/s> <http://e/p> ?y } WHERE { BIND(COALESCE(<http://e/one>(1), 5) AS ?y) }"
    assert (await client.post("/update", data={"update": update})).status_code == 200
    assert await select(client, "SELECT ?y { <http://e/s> <http://e/p> ?y }") == [{"y": "5"}]
