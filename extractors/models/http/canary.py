"""Tests what a server does not report: whether it follows schemas, and whether an adapter is active.

Both fail silently otherwise: a server that drops the schema answers in prose now and then, and TGI answers
for an adapter that it does not have with the base model.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from enum import StrEnum
from typing import Any, Final

from extractors.models.chat import Message, Reply

__all__ = [
    "CANARY_SCHEMA",
    "SCHEMA_MESSAGES",
    "AdapterState",
    "SchemaState",
    "compare_adapter",
    "follows_canary",
]

# Keys and values that no model would come upon by itself, and no word of them in the question.
CANARY_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {
        "qx_brindle": {"type": "string", "enum": ["ochre-7", "teal-4"]},
        "vorpal_tally": {"type": "string", "enum": ["nine-k", "two-k"]},
    },
    "required": ["qx_brindle", "vorpal_tally"],
    "additionalProperties": False,
}
SCHEMA_MESSAGES: Final = (Message("user", "Which month comes after May?"),)
CANARY_TOKENS: Final = 96

_SAMPLE_MESSAGES: Final = (
    Message("system", "Extract facts from the text."),
    Message(
        "user",
        "Relations: is a; located in; opened\nText: Alder Hall is a museum in Porto. It opened in 1931.",
    ),
)
_SAMPLE_TOKENS: Final = 24
_SAME_LOGPROB: Final = 1e-3
NOBODY: Final = "urbankg-no-such-adapter"


class SchemaState(StrEnum):
    """What the canary showed."""

    HONORED = "honoured"
    DROPPED = "dropped"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class AdapterState(StrEnum):
    """What is known of the configured adapter.

    LISTED: the server names it. IN_FORCE: it answers otherwise than the base model. UNSURE: the server's
    answers vary, so they show nothing.
    """

    NONE = "none"
    LISTED = "listed"
    IN_FORCE = "in force"
    UNSURE = "unsure"
    MISSING = "missing"


def follows_canary(text: str) -> bool:
    """Return whether a reply to the canary follows its schema."""
    try:
        found = json.loads(text)
    except ValueError:
        return False
    properties = CANARY_SCHEMA["properties"]
    return (
        isinstance(found, dict)
        and found.keys() == properties.keys()
        and all(found[name] in properties[name]["enum"] for name in properties)
    )


Ask = Callable[[str, tuple[Message, ...], int], Awaitable[Reply]]
"""Asks for a named model, without a schema, for so many tokens at most."""


async def compare_adapter(ask: Ask, base: str, adapter: str) -> AdapterState:
    """Find out from its answers whether a server has an adapter: for a missing one it answers with the base.

    A name that nobody has is the measure: what it gets twice must be the same before a difference counts.
    """
    base_said = await ask(base, _SAMPLE_MESSAGES, _SAMPLE_TOKENS)
    nobody_said = await ask(NOBODY, _SAMPLE_MESSAGES, _SAMPLE_TOKENS)
    adapter_said = await ask(adapter, _SAMPLE_MESSAGES, _SAMPLE_TOKENS)
    if _same(adapter_said, base_said) or _same(adapter_said, nobody_said):
        return AdapterState.MISSING
    return AdapterState.IN_FORCE if _same(base_said, nobody_said) else AdapterState.UNSURE


def _same(one: Reply, other: Reply) -> bool:
    if one.text != other.text:
        return False
    pairs = zip(one.tokens, other.tokens, strict=False)
    return all(abs(a.logprob - b.logprob) <= _SAME_LOGPROB for a, b in pairs)
