"""The plain dialogue: the model alone, and said so."""

import json

import httpx

from tests.server.conftest import RecordedModel


async def test_the_model_alone_is_asked_with_context_and_as_much_history_as_wanted(
    client: httpx.AsyncClient, model: RecordedModel
):
    model.replies = [json.dumps({"answer": "In 1907."})]
    sent = {"question": "When did it open?", "dialogue": "plain", "context": "the Rope Museum"}
    asked = {**sent, "history": ["Where is rope made?", "What is the Rope Museum?"], "history_length": 1}
    found = (await client.post("/ask", json=asked)).json()
    assert found["answer"] == "By the model alone, not checked against the graph: In 1907."
    assert (found["sparql"], found["results"], found["gaps"]) == (None, None, [])
    assert found["trace"][0]["action"] == "model"
    assert found["usage"]["calls"] == 1
    system, *words = [message.content for message in model.asked[-1]]
    assert "the Rope Museum" not in system, "what the user writes is never said by the system"
    assert words == [
        "Earlier I asked: What is the Rope Museum?",
        "<context>\nthe Rope Museum\n</context>\n\nWhen did it open?",
    ]
    assert (await client.get("/gaps")).json()["total"] == 0


async def test_what_would_have_no_effect_is_refused(client: httpx.AsyncClient, model: RecordedModel):
    warm = await client.post("/ask", json={"question": "How many museums are there?", "temperature": 0.7})
    assert warm.status_code == 422
    assert "plain" in warm.json()["detail"]
    model.prompt_profile = "compact"
    plain = await client.post("/ask", json={"question": "How many museums?", "dialogue": "plain"})
    assert plain.status_code == 422
    assert "model server" in plain.json()["detail"]
