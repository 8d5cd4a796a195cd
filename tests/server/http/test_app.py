"""The application around all routes."""

import httpx
import pytest


async def test_an_unexpected_failure_is_reported_and_raised(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.routes.graph.sparql.read_request", lambda *_: 1 // 0)
    answer = await client.get("/sparql?query=ASK%7B%7D")
    assert answer.status_code == 500
    assert answer.json()["title"] == "Internal error"
