"""Several replies of a model to one question, checked and repaired, of which the answers vote."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from extractors.errors import ModelReplyError
from extractors.models.chat import ChatModel, Message
from sparql.ask.errors import PlanError
from sparql.ask.planning.planner import Trace

__all__ = ["Checked", "Request", "vote"]

T = TypeVar("T")

_TOKENS: Final = 1000
_WARMTH: Final = 0.7


@dataclass(frozen=True)
class Request:
    """What the model is asked: a dialog, the schema of its reply, and what the reply is called."""

    messages: Sequence[Message]
    schema: Mapping[str, Any]
    what: str
    repairs: int = 2


@dataclass(frozen=True)
class Checked(Generic[T]):
    """What a reply holds, and the answer set that it finds."""

    value: T
    found: Hashable


Check = Callable[[str], Awaitable[Checked[T]]]
"""Reads a reply and runs it. Raises `PlanError` with what to correct."""


async def vote(
    model: ChatModel, request: Request, check: Check[T], samples: int, trace: Trace
) -> list[tuple[T, float]]:
    """Return one value for each answer set that replies found, with its share, the largest first.

    The first reply is the most likely one, the others are sampled. At most so many replies in all are
    repaired, with the message of the check. It ends as soon as more than half of the samples agree.
    """
    found: list[Checked[T]] = []
    repairs = request.repairs
    for sample in range(samples):
        messages = list(request.messages)
        while True:
            warmth = _WARMTH if sample else 0.0
            try:
                reply = await model.complete(
                    messages, schema=request.schema, max_tokens=_TOKENS, temperature=warmth
                )
            except ModelReplyError as error:
                trace.note(f"Reply {sample + 1} cannot be read.", request.what, str(error))
                break
            try:
                found.append(await check(reply.text))
            except PlanError as error:
                trace.note(
                    f"Reply {sample + 1}: a {request.what} is checked before it is used.",
                    request.what,
                    f"{reply.text} {error}",
                )
                if not repairs:
                    break
                repairs -= 1
                correction = f"{error} Write the whole {request.what} again, corrected, and nothing else."
                messages += [Message("assistant", reply.text), Message("user", correction)]
                continue
            trace.note(
                f"Reply {sample + 1}: the {request.what} fits the ontology and uses every word.",
                request.what,
                reply.text,
            )
            break
        votes = _votes(found)
        if votes and votes[0][1] * 2 > samples:
            break
    return [(value, count / len(found)) for value, count in _votes(found)]


def _votes(found: Sequence[Checked[T]]) -> list[tuple[T, int]]:
    """Return the first value of each answer set with its votes, the most votes first."""
    groups: dict[Hashable, list[T]] = {}
    for one in found:
        groups.setdefault(one.found, []).append(one.value)
    return sorted(((values[0], len(values)) for values in groups.values()), key=lambda one: -one[1])
