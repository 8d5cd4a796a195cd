"""SPARQL requests on their direct way: what they get is what the way through all layers gives."""

from urllib.parse import quote

import httpx
import pytest

QUERY = "SELECT (COUNT(*) AS ?n) { ?s <http://e/p> ?o }"
GET = f"/sparql?query={quote(QUERY)}"
FORM = {"content-type": "application/x-www-form-urlencoded"}
JSON = {"content-type": "application/json"}
OWN = {"x-request-id", "date"}

REQUESTS = [
    ("GET", GET, {}, b"", 200),
    ("GET", GET, {"accept": "text/csv"}, b"", 200),
    ("GET", GET, {"accept": "image/png"}, b"", 406),
    ("GET", "/query?query=SELECT", {}, b"", 400),
    (
        "GET",
        "/sparql?query=CONSTRUCT+WHERE+%7B+%3Chttp://e/s%3E+?p+?o+%7D",
        {"accept": "text/turtle"},
        b"",
        200,
    ),
    ("GET", "/update", {}, b"", 405),
    ("PUT", "/sparql", {}, b"", 405),
    ("POST", "/sparql", {"content-type": "application/sparql-query"}, QUERY.encode(), 200),
    ("POST", "/sparql", {"content-type": "text/plain"}, QUERY.encode(), 415),
    ("POST", "/query", FORM, b"query=ASK%20%7B%7D", 200),
    ("POST", "/update", FORM, b"update=CLEAR%20GRAPH%20%3Chttp%3A%2F%2Fe%2Fg%3E", 404),
    ("POST", "/update", {**FORM, "x-api-key": "wrong"}, b"update=CLEAR%20ALL", 401),
    ("POST", "/candidates", JSON, b'{"statements": [{"subject": "s"}]}', 422),
    ("POST", "/candidates", JSON, b"{", 400),
    ("POST", "/candidates", {"content-type": "image/png"}, b"", 415),
    ("POST", "/candidates", {**JSON, "x-api-key": "wrong"}, b'{"statements": []}', 401),
    ("GET", "/candidates", {}, b"", 405),
]


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("encoding", ["identity", "gzip"])
@pytest.mark.parametrize(("method", "target", "headers", "body", "status"), REQUESTS)
async def test_both_ways_give_the_same(
    shared_client: httpx.AsyncClient,
    encoding: str,
    method: str,
    target: str,
    headers: dict[str, str],
    body: bytes,
    status: int,
) -> None:
    headers = {"accept": "*/*", "accept-encoding": encoding, **headers}
    direct = await shared_client.request(method, target, headers=headers, content=body)
    around = await shared_client.request(
        method, target, headers={**headers, "origin": "http://127.0.0.1:8000"}, content=body
    )
    assert direct.status_code == around.status_code == status
    assert direct.content == around.content
    assert {k: _parts(v) for k, v in direct.headers.items() if k not in OWN} == {
        k: _parts(v) for k, v in around.headers.items() if k not in OWN
    }


async def test_an_unexpected_failure_is_reported_and_raised(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.http.routes.graph.sparql.read_request", lambda *_: 1 // 0)
    answer = await client.get(GET)
    assert answer.status_code == 500
    assert answer.json()["title"] == "Internal error"


def _parts(header: str) -> set[str]:
    return {part.strip() for part in header.split(",")}
