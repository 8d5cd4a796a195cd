"""A question and how it is asked, for the tests of the HTTP adapter."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from extractors.models.chat import Message
from extractors.models.http.endpoint import RetryPolicy, Timeouts
from extractors.models.http.http_model import HttpModel

ASK = [Message("system", "Extract facts from the text."), Message("user", "Relations: is a\nText: Hi.")]


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"triples": {"type": "array", "items": {"type": "string"}}},
    "required": ["triples"],
}


QUICK = RetryPolicy(first_seconds=0.01)


PATIENT = Timeouts(whole=300, connect=120, first_token=120, between_tokens=120)


async def ask(model: HttpModel, schema: dict[str, Any] | None = SCHEMA) -> str:
    return (await model.complete(ASK, schema=schema, max_tokens=50)).text


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what will happen; the test itself waits for a minute."""
    async with asyncio.timeout(60):
        while not condition():
            await asyncio.sleep(0.005)
