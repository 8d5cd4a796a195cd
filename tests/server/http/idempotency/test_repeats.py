"""POST requests with an `Idempotency-Key`: carried out once, also over a crash."""

import asyncio
import json
from pathlib import Path

import httpx
import pytest

from server.http.idempotency import kept_replies
from server.http.idempotency.kept_replies import KeptReplies, KeptReply
from server.services import Services
from sparql.model.request_mark import RequestMark, marked_revision, marking, marks
from sparql.storage.embedded_store import EmbeddedStore
from tests.server.conftest import RecordedModel, select, triples
from tests.support.running_server import RunningServer

UPDATE = "INSERT DATA { <urn:a> <urn:p> [] }"
COUNT = "SELECT (COUNT(*) AS ?n) WHERE { ?s <urn:p> ?o }"


async def post(
    client: httpx.AsyncClient, key: str, text: str = UPDATE, path: str = "/update"
) -> httpx.Response:
    headers = {"idempotency-key": key, "content-type": "application/sparql-update"}
    return await client.post(path, content=text, headers=headers)


async def count(client: httpx.AsyncClient) -> str:
    return (await select(client, COUNT))[0]["n"]


async def test_a_repeat_gets_the_first_reply_and_commits_nothing(
    services: Services, client: httpx.AsyncClient
) -> None:
    first = await post(client, "one")
    revision = services.store.revision()
    again = await post(client, "one")
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json() == {"revision": revision, "warnings": []}
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    assert services.store.revision() == revision
    assert await count(client) == "1"
    assert (await post(client, "two")).json()["revision"] == revision + 1
    assert await count(client) == "2"


async def test_an_extraction_is_repeated_with_its_identifier(
    client: httpx.AsyncClient, model: RecordedModel
) -> None:
    model.replies = [triples(("Low Library", "located in", "New York City"))]
    body = {"text": "Low Library is in New York City.", "commit": True}
    first = await client.post("/extractions", json=body, headers={"idempotency-key": "x"})
    asked = len(model.asked)
    again = await client.post("/extractions", json=body, headers={"idempotency-key": "x"})
    assert first.status_code == 200, first.text
    assert first.json() == again.json()
    assert first.json()["id"] == again.json()["id"]
    assert asked == len(model.asked)


async def test_another_body_address_or_client_is_another_request(client: httpx.AsyncClient) -> None:
    assert (await post(client, "one")).status_code == 200
    for refused in (
        await post(client, "one", UPDATE.replace("urn:a", "urn:b")),
        await post(client, "one", path="/update?timeout=3"),
    ):
        assert refused.status_code == 422
        assert refused.json()["type"].endswith("/idempotency-key-reused")
    assert await count(client) == "1"


@pytest.mark.parametrize("key", ["", "a b", "x" * 256, "é"])
async def test_a_key_that_cannot_be_used_is_refused(shared_client: httpx.AsyncClient, key: str) -> None:
    headers = {"idempotency-key": key.encode("latin-1"), "content-type": "application/sparql-update"}
    refused = await shared_client.post("/update", content=UPDATE, headers=headers)  # type: ignore[arg-type]
    assert refused.status_code == 400
    assert await count(shared_client) == "0"


async def test_what_was_not_carried_out_may_be_sent_again(client: httpx.AsyncClient) -> None:
    assert (await post(client, "one", "INSERT DATA {")).status_code == 400
    assert (await post(client, "one")).status_code == 200
    assert await count(client) == "1"


async def test_of_two_at_the_same_time_one_is_carried_out(client: httpx.AsyncClient) -> None:
    answers = await asyncio.gather(*(post(client, "one") for _ in range(8)))
    statuses = {answer.status_code for answer in answers}
    assert statuses <= {200, 409}
    assert 200 in statuses
    assert all(answer.headers["retry-after"] == "1" for answer in answers if answer.status_code == 409)
    assert await count(client) == "1"


async def test_a_refused_update_is_answered_with_the_same_report(shop_client: httpx.AsyncClient) -> None:
    text = 'INSERT DATA { <urn:a> <urn:p> "x"^^<http://www.w3.org/2001/XMLSchema#integer> }'
    first, again = await post(shop_client, "one", text), await post(shop_client, "one", text)
    assert first.status_code == again.status_code == 422
    assert first.content == again.content
    assert again.headers["content-type"] == first.headers["content-type"]


async def test_a_query_with_a_key_is_answered_anew(client: httpx.AsyncClient) -> None:
    headers = {"idempotency-key": "q", "content-type": "application/sparql-query"}
    before = await client.post("/sparql", content=COUNT, headers=headers)
    await post(client, "one")
    after = await client.post("/sparql", content=COUNT, headers=headers)
    assert before.json() != after.json()


async def test_a_revoked_key_reads_no_reply(services: Services, client: httpx.AsyncClient) -> None:
    from server.http.access.keys import Scope

    token = services.keys.create("writer", [Scope.WRITE])[1]
    client.headers["authorization"] = f"Bearer {token}"
    assert (await post(client, "one")).status_code == 200
    services.keys.revoke("writer")
    assert (await post(client, "one")).status_code == 401


async def test_marks_are_removed_with_the_next_marked_commit(
    services: Services, client: httpx.AsyncClient
) -> None:
    for key in "abc":
        await post(client, key)
    assert len(marks(services.store)) == 1


def test_a_reply_is_kept_for_a_day(tmp_path: Path) -> None:
    now = 0.0
    kept = KeptReplies(tmp_path, clock=lambda: now)
    kept.begin("me", "key", address="a", body="b")
    kept.keep("me", "key", KeptReply(200, (), b"{}"))
    now = kept_replies.KEPT_S - 1
    assert kept.find("me", "key") is not None
    now += 2
    assert kept.find("me", "key") is None
    kept.begin("me", "other", address="a", body="b")
    kept.close()


def test_a_mark_is_in_the_commit_of_what_it_marks() -> None:
    store = EmbeddedStore()
    with marking(RequestMark("me")):
        from pyoxigraph import NamedNode, Quad

        revision = store.commit([Quad(NamedNode("urn:a"), NamedNode("urn:p"), NamedNode("urn:o"))])
        store.commit([Quad(NamedNode("urn:b"), NamedNode("urn:p"), NamedNode("urn:o"))])
    assert marked_revision(store, "me") == revision
    assert marked_revision(store, "other") is None


CANDIDATES = {
    "statements": [
        {"subject": "urn:a", "predicate": "urn:p", "object": {"type": "uri", "value": "urn:o"}},
    ]
}

KILLED = """
import os, signal, sys
from server.http.idempotency.kept_replies import KeptReplies
KeptReplies.keep = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
from server.cli.entry import main
sys.argv = ["urbankg", *sys.argv[1:]]
main()
"""


WRITES = [
    ("/update", "application/sparql-update", UPDATE, 200),
    ("/store?graph=urn:g", "text/turtle", "<urn:a> <urn:p> [] .", 204),
    ("/jobs?paused=true", "application/x-ndjson", json.dumps({"text": "Low Library."}), 202),
    ("/candidates", "application/json", json.dumps(CANDIDATES), 409),
]


def test_a_kill_between_commit_and_reply_does_not_double_the_write(tmp_path: Path) -> None:
    data = tmp_path / "data"
    folder = tmp_path / "ontology"
    folder.mkdir()
    flags = ["--ontology", str(folder), "--shapes", str(folder)]
    for path, kind, body, _ in WRITES:
        headers = {"idempotency-key": path, "content-type": kind}
        with RunningServer(data, *flags, program=("-c", KILLED)) as server:
            with pytest.raises(httpx.TransportError):
                httpx.post(server.url + path, content=body, headers=headers, timeout=60)
            server.process.wait(timeout=30)
    with RunningServer(data, *flags) as server:
        assert _state(server.url) == (3, 1)
        for path, kind, body, status in WRITES:
            headers = {"idempotency-key": path, "content-type": kind}
            again = httpx.post(server.url + path, content=body, headers=headers, timeout=60)
            assert again.status_code == status, (path, again.text)
            assert _state(server.url) == (3, 1), path


def _state(url: str) -> tuple[int, int]:
    """How many triples of `urn:p` and how many jobs there are."""
    query = "SELECT (COUNT(*) AS ?n) WHERE { { ?s <urn:p> ?o } UNION { GRAPH ?g { ?s <urn:p> ?o } } }"
    found = httpx.get(url + "/sparql", params={"query": query}, timeout=60).json()
    jobs = httpx.get(url + "/jobs", timeout=60).json()["total"]
    return int(found["results"]["bindings"][0]["n"]["value"]), jobs


async def test_a_reply_is_kept_although_the_route_does_not_read_the_body(client: httpx.AsyncClient) -> None:
    async def pieces():  # type: ignore[no-untyped-def]
        for piece in (b"", b"{", b"}"):
            yield piece

    job = (await client.post("/jobs?paused=true", json=[{"text": "A park."}])).json()["id"]
    headers = {"idempotency-key": "one", "content-type": "application/json"}
    first = await client.post(f"/jobs/{job}/resume", content=pieces(), headers=headers)
    again = await client.post(f"/jobs/{job}/resume", content=pieces(), headers=headers)
    assert first.status_code == again.status_code == 200
    assert first.json() == again.json()
    assert again.headers["idempotency-replayed"] == "true"
