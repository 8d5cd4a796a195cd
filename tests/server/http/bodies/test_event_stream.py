"""The steps of work as server-sent events, by content negotiation."""

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from extractors.errors import ModelTimeout
from extractors.models.chat import Message, Reply
from ontology import Schema
from server.app import create_app
from server.runtime.wiring import build
from server.services import Services
from shapes.gate.gate import ShapesGate
from tests.server.conftest import COLUMBIA, RecordedModel, own_gate, triples
from tests.support.workshop import settings_of

EVENTS = {"accept": "text/event-stream"}
Asgi = dict[str, Any]


def events_of(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """The events of a stream, by name."""
    assert response.status_code == 200, response.text
    assert response.headers["content-type"].startswith("text/event-stream")
    found = []
    for block in response.text.strip().split("\n\n"):
        name, data = (line.partition(": ")[2] for line in block.split("\n"))
        found.append((name, json.loads(data)))
    return found


async def test_the_steps_of_a_question_come_before_its_answer(client: httpx.AsyncClient):
    question = {"question": "How many museums are there?"}
    plain = (await client.post("/ask", json=question)).json()
    *steps, last = events_of(await client.post("/ask", json=question, headers=EVENTS))
    assert {name for name, _ in steps} == {"step"}
    assert [step for _, step in steps] == plain["trace"] != []
    assert last[0] == "answer"
    assert {**last[1], "usage": None} == {**plain, "usage": None}
    preferred = await client.post(
        "/ask", json=question, headers={"accept": "application/json, text/event-stream;q=0.5"}
    )
    assert preferred.headers["content-type"] == "application/json"


async def test_a_bad_request_is_refused_before_the_stream_and_a_later_failure_is_its_last_event(
    client: httpx.AsyncClient, model: RecordedModel
):
    refused = await client.post("/ask", json={"query": "?"}, headers=EVENTS)
    assert refused.status_code == 422
    assert (
        events_of(await client.post("/ask", json={"question": " "}, headers=EVENTS))[-1][1]["status"] == 422
    )
    model.replies = [ModelTimeout("The model took too long.")]
    keyed = {**EVENTS, "idempotency-key": "once"}
    name, problem = events_of(await client.post("/extractions", json={"text": COLUMBIA}, headers=keyed))[-1]
    assert (name, problem["status"]) == ("problem", 504)
    assert problem["instance"] == "/extractions"
    # What failed is not kept: the same key may be sent again.
    model.replies = [triples(("Columbia University", "established", "1754"))]
    steps = events_of(await client.post("/extractions", json={"text": COLUMBIA}, headers=keyed))
    assert [name for name, _ in steps] == ["step", "step", "answer"]
    assert [step["action"] for _, step in steps[:-1]] == ["read", "link"]
    assert steps[0][1]["triples"] == 1
    assert steps[-1][1]["trace"]["model"] == "recorded"


class _Endless(RecordedModel):
    """Answers never; notices when it is no longer asked."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.ended = asyncio.Event(), asyncio.Event()

    async def complete(self, messages: Sequence[Message], **_: Mapping[str, Any]) -> Reply:  # type: ignore[override]
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        raise AssertionError


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
@pytest.mark.parametrize(
    ("path", "sent_body"),
    [
        ("/extractions", {"text": COLUMBIA}),
        ("/ask", {"question": "Which?", "dialogue": "plain"}),
        ("/models/probe", {}),
    ],
)
async def test_a_client_that_leaves_ends_the_work(
    tmp_path: Path,
    schema: Schema,
    gate: ShapesGate,
    new_folder: Callable[[Path], Path],
    accept: str,
    path: str,
    sent_body: dict[str, str],
):
    model = _Endless()
    settings = settings_of(data=new_folder(tmp_path / "data"), readers=1)
    async with build(settings, model=model, schema=schema, gate=own_gate(gate)) as services:
        await services.opened()
        await _leave(services, model, path, json.dumps(sent_body).encode(), accept)


async def _leave(services: Services, model: _Endless, path: str, body: bytes, accept: str) -> None:
    """Send a request, and leave when the model is at work: it is asked no more, and nothing is answered."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]
    headers = {"host": "127.0.0.1:8000", "content-type": "application/json", "content-length": str(len(body))}
    scope: Asgi = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in {**headers, "accept": accept}.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 8000),
    }
    sent: list[Asgi] = []

    async def receive() -> Asgi:
        if waiting:
            return waiting.pop()
        await model.begun.wait()
        return {"type": "http.disconnect"}

    async def send(message: Asgi) -> None:
        sent.append(message)

    async with asyncio.timeout(30):
        await create_app(services)(scope, receive, send)
        await model.ended.wait()
    streamed = accept != "application/json" and path != "/models/probe"
    assert sent[0]["status"] == (200 if streamed else 499)
    assert not any(b"event: answer" in message.get("body", b"") for message in sent)
