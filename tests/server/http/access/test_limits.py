"""Limits: depth, length, operators, rate, slow and large heads; none of them lets a text kill a process."""

import asyncio
import http.client
import io
import time
import urllib.parse
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse
from starlette.responses import PlainTextResponse

from server.data.rdf_files import LoadError, rdf_file
from server.errors import NestedTooDeep, TextTooComplex, TooLong
from server.http.access.admission import RateLimit, TextLimits
from server.http.access.client_limits import limited_protocol
from server.http.access.clients import Clients
from server.settings import Settings
from sparql.model.errors import PayloadProblem
from sparql.syntax.nesting import ShallowFile, size_of
from sparql.syntax.request_facts import Kind
from sparql.syntax.tokens import read_tokens
from tests.support.listening import listening
from tests.support.running_server import RunningServer

LIMITS = TextLimits(Settings())


def depth(text: str) -> int:
    return size_of(text, depth_limit=0, operator_limit=0).depth


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?o FILTER(" + "(" * 101 + "1" + ")" * 101 + ") }",
        "SELECT * " + "{" * 101 + "}" * 101,
        "SELECT * { ?s ?p " + "[ ?p " * 101 + "1" + "]" * 101 + " }",
        "SELECT * { ?s " + "(" * 101 + "<a:b>" + ")*" * 101 + " ?o }",
        "SELECT * { ?s ?p " + "<<( ?a ?b " * 101 + "1" + " )>>" * 101 + " }",
        # A comparison that looks like the start of an IRI hides no bracket.
        "SELECT * { FILTER(?a<" + "(" * 101 + "1" + ")" * 101 + "&&1>0) }",
        # Neither do a quote in an IRI, a comment without an end, or a quote in a comment.
        "SELECT * { <http://e/'> ?p " + "(" * 101 + "1" + ")" * 101 + " . <http://e/'> ?p ?o }",
        "SELECT * { # '\n ?s ?p " + "(" * 101 + "1" + ")" * 101 + " # '\n }",
    ],
)
def test_deep_texts_are_refused_before_the_engine_sees_them(text: str):
    with pytest.raises(NestedTooDeep, match="100"):
        LIMITS.check(text, Kind.QUERY)


def test_brackets_in_strings_comments_and_iris_do_not_count():
    rows = " ".join(f"<http://e/{n}_(x> <http://e/p> '((([[[{{{{' . # ((((\n" for n in range(200))
    assert depth("INSERT DATA { " + rows + " }") == 1
    LIMITS.check("INSERT DATA { " + rows + " }", Kind.UPDATE)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p ?o FILTER(" + " || ".join(["?o"] * 2002) + ") }",
        "SELECT * { " + " UNION ".join(["{?s ?p ?o}"] * 2002) + " }",
        "SELECT * { ?s " + "/".join(["<a:b>"] * 2002) + " ?o }",
        "SELECT * { FILTER(" + "!" * 2001 + "true) }",
        "SELECT * { " + "".join(f"BIND(1 AS ?v{n})" for n in range(1001)) + " }",
    ],
)
def test_long_chains_of_operators_are_refused(text: str):
    with pytest.raises(TextTooComplex):
        LIMITS.check(text, Kind.QUERY)


def test_long_lists_of_data_are_no_chain():
    LIMITS.check("INSERT DATA { " + "<a:b> <a:c-d/e> -1.5 , 'a+b=c' . " * 3000 + "}", Kind.UPDATE)
    LIMITS.check("SELECT * { VALUES ?x { " + "<a:b> " * 5000 + "} ?x ?p ?o }", Kind.QUERY)


def test_long_texts_are_refused():
    with pytest.raises(TooLong, match="200000"):
        LIMITS.check("SELECT" + " " * 200_000, Kind.QUERY)
    LIMITS.check("INSERT DATA {" + " " * 200_000 + "}", Kind.UPDATE)


@pytest.mark.parametrize(
    "text",
    ["a." * 50_000, "a-" * 50_000, "a:" + ".a" * 50_000, "#" * 100_000, '"""' + "'" * 50_000, "<a" * 50_000],
)
def test_no_text_takes_time_in_the_square_of_its_length(text: str):
    def seconds(part: str) -> float:
        started = time.process_time()
        size_of("SELECT " + part, depth_limit=0, operator_limit=0)
        return time.process_time() - started

    whole = min(seconds(text) for _ in range(3))
    assert whole < 40 * max(seconds(text[: len(text) // 8]), 0.005)


def test_runs_of_names_are_cut_as_the_engine_cuts_them():
    assert [token.text for token in read_tokens("true.SERVICE a-b 1.5 ex.a:b.c x.5")] == [
        "true", ".", "SERVICE", "a", "-", "b", "1.5", "ex.a:b.c", "x", ".5",
    ]  # fmt: skip
    assert [token.text for token in read_tokens("{} # }")] == ["{", "}"]


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="({[<>])}'\"#\\ \na.:?|!", max_size=60))
def test_any_text_is_measured(text: str):
    found = size_of(text, depth_limit=0, operator_limit=0)
    assert 0 <= found.depth <= len(text)


@pytest.mark.parametrize("between", [b"", b"#)>>\n", b"\n", b" # ' )>> ' \n", b"\t"])
def test_a_body_of_any_length_is_read_without_terms_that_nest_deep(between: bytes):
    levels = 30_000
    body = b"<a:a> <a:b> " + (b"<<(_:a<a:b#>" + between) * levels + b"1" + b")>>" * levels + b" ."
    with pytest.raises(PayloadProblem, match="100"):
        list(parse(ShallowFile(io.BytesIO(body), RdfFormat.TURTLE), format=RdfFormat.TURTLE))


def test_many_terms_beside_each_other_are_not_deep():
    row = b"<a:a#x> <a:b> <<( <a:a> <a:b> 'no comment # )>> and no <<(' )>> .\n"
    body = row * 2000 + b"<a:a> <a:b> 'x' .\n" * 2000
    assert len(list(parse(ShallowFile(io.BytesIO(body), RdfFormat.TURTLE), format=RdfFormat.TURTLE))) == 4000


DEEP_JSON = b'{"a:b": [' * 60 + b"1" + b"]}" * 60
DEEP_XML = b'<a xmlns="http://e/">' * 120 + b"</a>" * 120
QUOTED = b'{"a:b": ["[[[[", "\\"{{{{", "\\\\", {"a:c": "]]"}]}' + b" " * 50
BRACKETED = b"""<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="a:">
<r:Description r:about="a:a"><!-- <a><a> --><e:b><![CDATA[<a><a>]]></e:b></r:Description></r:RDF>"""


class Piecewise(io.BytesIO):
    """A file that gives a few bytes at a time."""

    def __init__(self, data: bytes, size: int) -> None:
        super().__init__(data)
        self._size = size

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(self._size)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 65_536])
@pytest.mark.parametrize(
    ("format_", "deep", "flat", "statements"),
    [(RdfFormat.JSON_LD, DEEP_JSON, QUOTED, 5), (RdfFormat.RDF_XML, DEEP_XML, BRACKETED, 1)],
)
def test_documents_are_read_without_objects_and_elements_that_nest_deep(
    format_: RdfFormat, deep: bytes, flat: bytes, statements: int, size: int
):
    with pytest.raises(PayloadProblem, match="100"):
        list(parse(ShallowFile(Piecewise(deep, size), format_), format=format_))
    shallow = ShallowFile(Piecewise(flat, size), format_, limit=3)
    assert len(list(parse(shallow, format=format_))) == statements


def test_a_file_that_nests_too_deep_is_not_loaded(tmp_path: Path):
    path = tmp_path / "deep.jsonld"
    path.write_bytes(DEEP_JSON)
    with pytest.raises(LoadError, match="deeper than 100 levels"):
        list(rdf_file(path).quads())
    path.with_suffix(".rdf").write_bytes(DEEP_XML)
    with pytest.raises(LoadError, match="deeper than 100 levels"):
        list(rdf_file(path.with_suffix(".rdf")).quads())


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_a_client_that_asks_too_often_waits_and_others_do_not():
    clock = Clock()
    clients = Clients("10.0.0.9", lambda request: {"k": "loader"}.get(request.headers["x-api-key"]))
    app = RateLimit(PlainTextResponse("ok"), 2.0, clients, clock=clock)

    async def ask(address: str, path: str = "/sparql", **headers: str) -> httpx.Response:
        transport = httpx.ASGITransport(app, client=(address, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://e") as client:
            return await client.get(path, headers={name.replace("_", "-"): v for name, v in headers.items()})

    assert [(await ask("10.0.0.1")).status_code for _ in range(3)] == [200, 200, 429]
    refused = await ask("10.0.0.1")
    assert refused.headers["retry-after"] == "1"
    assert refused.headers["content-type"] == "application/problem+json"
    assert (await ask("10.0.0.2")).status_code == 200
    assert (await ask("10.0.0.1", "/healthz")).status_code == 200
    # A wrong key or a header that anybody can send makes no other client; a key or a trusted proxy does.
    assert (await ask("10.0.0.1", x_api_key="wrong")).status_code == 429
    assert (await ask("10.0.0.1", x_forwarded_for="10.0.0.3")).status_code == 429
    assert (await ask("10.0.0.1", x_api_key="k")).status_code == 200
    assert (await ask("10.0.0.9", x_forwarded_for="10.0.0.1")).status_code == 429
    assert (await ask("10.0.0.9", x_forwarded_for="10.0.0.3")).status_code == 200
    clock.now += 0.5
    assert [(await ask("10.0.0.1")).status_code for _ in range(2)] == [200, 429]


@pytest.fixture
async def port(tmp_path: Path) -> AsyncIterator[int]:
    """A server with short limits that answers with the length of the body."""

    async def app(scope, receive, send) -> None:
        size, more = 0, True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            size += len(message.get("body", b""))
            more = message.get("more_body", False)
        await PlainTextResponse(str(size))(scope, receive, send)

    protocol = limited_protocol(Settings(client_timeout_s=1.2))
    protocol.head_limit = 8192
    async with listening(app, http=protocol, lifespan="off") as port:
        yield port


async def talk(port: int, *pieces: bytes | float) -> bytes:
    """Send the pieces with the pauses between them, in seconds; everything that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        for piece in pieces:
            if isinstance(piece, bytes):
                writer.write(piece)
                await writer.drain()
            else:
                await asyncio.sleep(piece)
        async with asyncio.timeout(10):
            return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.close()


async def test_a_head_that_drips_is_given_up(port: int):
    answer = await talk(port, b"GET / HTTP/1.1\r\n", 0.6, b"a: b\r\n", 0.8)
    assert answer.startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_stops_is_given_up(port: int):
    head = b"POST / HTTP/1.1\r\nhost: e\r\ncontent-length: 10\r\n\r\n"
    assert (await talk(port, head, b"123")).startswith(b"HTTP/1.1 408 ")


async def test_a_body_may_take_long_when_it_goes_on(port: int):
    head = b"POST / HTTP/1.1\r\nhost: e\r\nconnection: close\r\ncontent-length: 5\r\n\r\n"
    answer = await talk(port, head, 0.5, b"1", 0.5, b"2", 0.5, b"3", 0.5, b"45")
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"5")


async def test_a_client_that_says_nothing_is_let_go(port: int):
    assert await talk(port) == b""


async def test_empty_lines_do_not_hold_a_connection(port: int):
    request = b"GET / HTTP/1.1\r\nhost: e\r\n\r\n"
    started = time.monotonic()
    answer = await talk(port, request, 0.2, *([b"\r\n", 0.2] * 3))
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert time.monotonic() - started < 30


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nhost: e\r\n\r\n", b"414"),
        (b"GET / HTTP/1.1\r\nhost: e\r\nx: " + b"a" * 9000 + b"\r\n\r\n", b"431"),
        (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 3000 + b"\r\n", b"431"),
        (b"GET / HTTP/1.1\r\nhost: e\r\nx: " + b"a" * 200_000, b"431"),
    ],
)
async def test_heads_that_are_too_large_are_refused(port: int, head: bytes, status: bytes):
    assert (await talk(port, head)).split(b" ")[1:2] in ([status], [])


@pytest.mark.parametrize("target", [b"http://", b"http://[::1/", b"http://x:99999/"])
async def test_a_target_that_is_no_address_is_refused_also_after_one_that_is(port: int, target: bytes):
    bad = b"GET " + target + b" HTTP/1.1\r\nhost: localhost\r\n\r\n"
    assert (await talk(port, bad)).startswith(b"HTTP/1.1 400 ")
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
    async with asyncio.timeout(60):
        assert (await reader.readuntil(b"\r\n\r\n0")).startswith(b"HTTP/1.1 200 ")
        writer.write(bad)
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
    writer.close()


async def test_a_large_body_in_one_piece_is_no_large_head(port: int):
    head = b"POST / HTTP/1.1\r\nhost: e\r\nconnection: close\r\ncontent-length: 50000\r\n\r\n"
    assert (await talk(port, head + b"x" * 50_000)).endswith(b"50000")


async def test_many_requests_on_one_connection_are_answered(port: int):
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=120) as client:
        for size in (0, 10, 100_000):
            assert (await client.post("/", content=b"x" * size)).text == str(size)
            await asyncio.sleep(0.1)


@pytest.mark.slow
def test_a_connection_rests_longer_than_clients_keep_it(tmp_path: Path):
    with RunningServer(tmp_path / "data") as server:
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(server.url).netloc, timeout=30)
        for pause in (6.5, 0):  # httpx, Node and many others keep one for 5 s.
            connection.request("GET", "/healthz")
            first = connection.sock
            assert connection.getresponse().read()
            time.sleep(pause)
        assert connection.sock is first is not None
        connection.close()


@pytest.mark.slow
def test_no_text_ends_the_server(tmp_path: Path):
    """Each of these ends a process that parses it unguarded (seen with pyoxigraph 0.5.13)."""
    deep = "(" * 20_000
    patterns = (
        f"{{ ?s ?p ?o FILTER({deep}1{')' * 20_000}) }}",
        "{" * 5_000 + "}" * 5_000,
        "{ ?s ?p ?o FILTER(" + "||".join(["?o"] * 20_000) + ") }",
        "{ ?s ?p ?o FILTER(" + "!" * 90_000 + "true) }",
    )
    levels = 40_000
    turtle = "<a:a> <a:b> " + "<<(_:a<a:b>" * levels + "1" + ")>>" * levels + " ."
    with RunningServer(tmp_path / "data") as server:
        for pattern in patterns:
            query = httpx.post(server.url + "/sparql", data={"query": f"SELECT * {pattern}"}, timeout=60)
            assert query.status_code == 400, query.text
            update = f"INSERT {{ <a:a> <a:b> 1 }} WHERE {pattern}"
            assert httpx.post(server.url + "/update", data={"update": update}, timeout=60).status_code == 400
        body = httpx.post(
            server.url + "/candidates", content=turtle, headers={"content-type": "text/turtle"}, timeout=60
        )
        assert body.status_code == 400, body.text
        assert server.process.poll() is None
        assert (
            httpx.post(server.url + "/sparql", data={"query": "ASK {}"}, timeout=120).json()["boolean"]
            is True
        )
