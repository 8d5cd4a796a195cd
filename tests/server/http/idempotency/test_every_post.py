"""Each POST that writes answers its repeat with the first reply, writes nothing, and refuses another body."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from server.http.description.operations import OPERATIONS
from server.jobs.progress import Progress
from server.services import Services
from tests.server.conftest import RecordedModel, triples
from tests.server.routes.text.test_ask import CITY

pytestmark = pytest.mark.asyncio(loop_scope="module")

URBAN = "https://w3id.org/urbankg/urban#"
PLACE = "https://w3id.org/urbankg/id/"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TURTLE = {"content-type": "text/turtle"}
UPDATE = {"content-type": "application/sparql-update"}
LINES = {"content-type": "application/x-ndjson"}
READING = {"/query", "/check", "/impact", "/ask/run", "/models/probe"}
"""What writes nothing is answered anew."""

RETRY = "/jobs/{job}/retry"
"""Needs a document that failed: `retry_of`."""

Sent = dict[str, Any]
Made = Callable[[httpx.AsyncClient, Path], Awaitable[tuple[str, Sent]]]


def plain(path: str, **sent: Any) -> Made:
    async def made(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
        return path, sent

    return made


def of_item(act: str, body: Sent) -> Made:
    """For an open item of the review queue."""

    async def made(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
        item = await open_item(client)
        if act == "reopen":
            await client.post(f"/review/{item}/reject", json={"reason": "first"})
        return f"/review/{item}/{act}", {"json": body}

    return made


async def open_item(client: httpx.AsyncClient) -> str:
    items = (await client.get("/review", params={"text": "skyward", "limit": 1})).json()["items"]
    return str(items[0]["id"])


async def decisions(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
    body = {"decision": "reject", "items": [await open_item(client)], "reason": "no number"}
    return "/review/decisions", {"json": body}


async def assignments(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
    return "/review/assignments", {"json": {"items": [await open_item(client)], "assignee": "Ada"}}


async def undone(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
    await client.post(f"/review/{await open_item(client)}/reject", json={"reason": "wrong"})
    newest = (await client.get("/review/decisions", params={"limit": 1})).json()["decisions"][0]
    return f"/review/decisions/{newest['id']}/undo", {"json": {"reason": "it was right"}}


def of_job(act: str, *, paused: bool) -> Made:
    """For a job, on which nobody works here."""

    async def made(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
        content = json.dumps({"text": f"A park to {act}."}) + "\n"
        asked = {"paused": str(paused).lower()}
        posted = await client.post("/jobs", params=asked, content=content, headers=LINES)
        return f"/jobs/{posted.json()['id']}/{act}", {}

    return made


def retry_of(services: Services) -> Made:
    """For a job with a document that failed."""

    async def made(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
        posted = await client.post("/jobs", content=json.dumps({"text": "A pond to retry."}), headers=LINES)
        progress = Progress(services.jobs)
        for work in progress.claim(100):
            progress.failed(work, "The reply is no JSON.")
        job = posted.json()["id"]
        assert (await client.get(f"/jobs/{job}")).json()["documents"]["failed"] == 1
        return f"/jobs/{job}/retry", {}

    return made


def of_gap(act: str, body: Sent | None, *before: str) -> Made:
    async def made(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
        await client.post("/ask", json={"question": f"When did the {GAPS[act]} open?"})
        gaps = (await client.get("/gaps", params={"text": GAPS[act], "status": "any"})).json()["gaps"]
        at = f"/gaps/{gaps[0]['id']}"
        for one in before:
            await client.post(f"{at}/{one}", json={"reason": "first"})
        if act == "decisions":
            return "/gaps/decisions", {"json": {"items": [gaps[0]["id"]], **(body or {})}}
        return f"{at}/{act}", {} if body is None else {"json": body}

    return made


GAPS = dict.fromkeys(("complete", "verify", "decisions"), "Rope Museum")
GAPS |= {"accept": "Salt Museum", "reject": "Clock Museum", "reopen": "Clock Museum"}


async def proposal(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
    found = (await client.get("/proposals")).json()["proposals"][0]["id"]
    return f"/proposals/{found}", {"json": {"decision": "dismiss", "reason": "no kind of place"}}


def merge_of(name: str) -> Made:
    async def made(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
        for one in (name, f"{name}2"):
            text = f'INSERT DATA {{ <{PLACE}{one}> a <{URBAN}Museum> ; <{LABEL}> "{one}"@en }}'
            await client.post("/update", content=text, headers=UPDATE)
        return "/entities/merge", {"json": {"keep": PLACE + name, "merge": f"{PLACE}{name}2"}}

    return made


async def split(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
    path, sent = await merge_of("split")(client, folder)
    await client.post(path, **sent)
    merge = (await client.get("/entities/merges", params={"limit": 1})).json()["merges"][0]["id"]
    return f"/entities/merges/{merge}/split", {"json": {"reason": "two after all"}}


async def backup(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
    return "/backup", {"json": {"folder": str(folder / "backup")}}


async def loads(client: httpx.AsyncClient, folder: Path) -> tuple[str, Sent]:
    (folder / "more.ttl").write_text("<urn:a> <urn:b> [] .")
    return "/loads", {"json": {"files": [str(folder / "more.ttl")]}}


STATEMENT = {"subject": "urn:x", "predicate": LABEL, "object": {"type": "literal", "value": "x"}}
HOUSE = {**STATEMENT, "subject": f"{PLACE}a", "object": {"type": "literal", "value": "Clock House"}}
POSTS: dict[str, Made] = {
    "/sparql": plain("/sparql", data={"update": "INSERT DATA { <urn:a> <urn:b> [] }"}),
    "/update": plain("/update", content="INSERT DATA { <urn:a> <urn:b> [] }", headers=UPDATE),
    "/store": plain("/store", content="<urn:a> <urn:b> [] .", headers=TURTLE),
    "/store/{path}": plain("/store/x", content="<urn:a> <urn:b> [] .", headers=TURTLE),
    "/extractions": plain("/extractions", json={"text": "Low Library is in Northtown."}),
    "/candidates": plain("/candidates", json={"statements": [STATEMENT], "source": "a list"}),
    "/sources": plain("/sources", json={"records": [{"kind": "poi", "name": "Quay", "type": "park"}]}),
    "/relations": plain("/relations", json={"a": "POINT (0 0)", "b": "POINT (0 0)"}),
    "/jobs": plain("/jobs?paused=true", content='{"text": "A pond."}\n', headers=LINES),
    "/jobs/{job}/pause": of_job("pause", paused=False),
    "/jobs/{job}/resume": of_job("resume", paused=True),
    "/jobs/{job}/cancel": of_job("cancel", paused=True),
    "/review/{item}/comments": of_item("comments", {"text": "Look at the map."}),
    "/review/{item}/accept": of_item("accept", {"statements": [HOUSE], "reason": "as on the map"}),
    "/review/{item}/reject": of_item("reject", {"reason": "no number"}),
    "/review/{item}/reopen": of_item("reopen", {"reason": "second thoughts"}),
    "/review/decisions": decisions,
    "/review/assignments": assignments,
    "/review/decisions/{decision}/undo": undone,
    "/gaps/{gap}/complete": of_gap("complete", None),
    "/gaps/{gap}/verify": of_gap("verify", None),
    "/gaps/{gap}/accept": of_gap("accept", {"value": "1907"}),
    "/gaps/{gap}/reject": of_gap("reject", {"reason": "nobody knows"}),
    "/gaps/{gap}/reopen": of_gap("reopen", {"reason": "somebody knows"}, "reject"),
    "/gaps/decisions": of_gap("decisions", {"decision": "reject", "reason": "nobody knows"}),
    "/proposals/{proposal}": proposal,
    "/entities/merge": merge_of("merged"),
    "/entities/merges/{merge}/split": split,
    # The folders of this server are those of the package, which are not edited.
    "/rules": plain("/rules?dry-run=true", json={"shapes": {"empty.ttl": ""}}),
    "/ask": plain("/ask", json={"question": "Which museums are there?"}),
    "/backup": backup,
    "/loads": loads,
    "/optimize": plain("/optimize"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def town(shared_client: httpx.AsyncClient, shared_model: RecordedModel) -> httpx.AsyncClient:
    """Museums, statements that wait in review, and a word that the ontology lacks."""
    answer = await shared_client.post("/candidates", content=CITY, headers=TURTLE)
    assert answer.json()["rejected"] == []
    heights = [
        {"subject": f"{PLACE}a", "predicate": f"{URBAN}height", "object": {"type": "literal", "value": text}}
        for text in (f"skyward {number}" for number in range(9))
    ]
    assert (await shared_client.post("/candidates", json={"statements": heights})).json()["rejected"]
    shared_model.replies = [triples(("Grey Quay", "mooring for", "Ada Stone"))]
    await shared_client.post("/extractions", json={"text": "Grey Quay is mooring for Ada Stone."})
    shared_model.replies = [triples(("Rope Museum", "opened", "1907"))]
    return shared_client


async def test_every_post_that_writes_is_tried() -> None:
    written = {path for method, path in OPERATIONS if method == "post"} - READING
    assert set(POSTS) | {RETRY} == written


@pytest.mark.parametrize("path", [*POSTS, RETRY])
async def test_a_repeat_gets_the_first_reply(
    town: httpx.AsyncClient, shared_services: Services, tmp_path: Path, path: str
) -> None:
    made = retry_of(shared_services) if path == RETRY else POSTS[path]
    address, sent = await made(town, tmp_path)
    headers = {**sent.pop("headers", {}), "idempotency-key": path}
    first = await town.post(address, **sent, headers=headers)
    # The model knows nothing by heart: the reply that says so is kept as well.
    assert first.is_success or (path, first.status_code) == ("/gaps/{gap}/complete", 422), first.text
    revision = shared_services.store.revision()
    again = await town.post(address, **sent, headers=headers)

    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.headers.get("location") == first.headers.get("location")
    assert shared_services.store.revision() == revision

    other = await town.post(address, content=b'{"other": 1}', headers=headers)
    assert other.status_code == 422
    assert other.json()["type"].endswith("/idempotency-key-reused")


@pytest.mark.parametrize(
    "sent", [{"data": {"query": "SELECT * {}"}}, {"params": {"query": "ASK {}"}, "data": {}}]
)
async def test_a_query_in_a_form_is_answered_anew(town: httpx.AsyncClient, sent: Sent) -> None:
    headers = {"idempotency-key": "query", "content-type": "application/x-www-form-urlencoded"}
    for _ in range(2):
        answer = await town.post("/sparql", **sent, headers=headers)
        assert answer.status_code == 200
        assert "idempotency-replayed" not in answer.headers
    other = await town.post("/sparql", data={"query": "ASK { ?s ?p ?o }"}, headers=headers)
    assert other.json()["boolean"] is True
