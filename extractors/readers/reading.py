"""The `Reader` Protocol: text and ontology in, triples in words, all turns and their costs out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol

from extractors.errors import ModelError
from extractors.models.chat import Message, Reply
from extractors.prompting.reply import ReplyTriple, plain
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema


@dataclass(frozen=True)
class Turn:
    """One question to the model and what came of it; a repeated question is a turn of its own.

    `stage` says what the turn is for, `prompt` is the name and version of its template. `error` says why
    the reply could not be used, or only in part.
    """

    stage: str
    prompt: str
    messages: tuple[Message, ...]
    reply: Reply | None
    error: str | None


@dataclass(frozen=True)
class Reading:
    """What a window yielded; `failure` is set when no reply gave triples, nor said that there are none."""

    triples: tuple[ReplyTriple, ...]
    turns: tuple[Turn, ...]
    failure: ModelError | None = None


class Reader(Protocol):
    """Reads triples in words out of a window of text; stateless, so windows may be read side by side.

    `prompt_version` names the prompts with their version, `window` says how much text is read at once.
    """

    @property
    def prompt_version(self) -> str: ...

    @property
    def chunk_size(self) -> ChunkSize: ...

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Read a window.

        Raises `ModelUnavailable` or `ModelTimeout` as soon as the model fails so; what else goes wrong with
        the model stands in the reading.
        """
        ...


def union(passes: Sequence[Reading]) -> Reading:
    """All readings together; a failure only where all failed."""
    turns = tuple(turn for reading in passes for turn in reading.turns)
    failures = [reading.failure for reading in passes if reading.failure is not None]
    if len(failures) == len(passes):
        return Reading((), turns, failures[-1])
    return Reading(merged(triple for reading in passes for triple in reading.triples), turns)


def merged(triples: Iterable[ReplyTriple]) -> tuple[ReplyTriple, ...]:
    """The triples without those said before in the same words; of the same, the surest stays."""
    found: dict[tuple[str, ...], ReplyTriple] = {}
    for triple in triples:
        key = plain(triple)
        if key not in found or (found[key].confidence or 0.0) < (triple.confidence or 0.0):
            found[key] = triple
    return tuple(found.values())


@dataclass(frozen=True)
class Cost:
    """Turns, seconds that the model took for them (retries included), and tokens in and out."""

    turns: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.turns + other.turns,
            self.seconds + other.seconds,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )

    def json(self) -> dict[str, Any]:
        """The cost to be shown, with seconds to the millisecond. What is read again is kept by `asdict`."""
        return {**asdict(self), "seconds": round(self.seconds, 3)}


def costs(turns: Iterable[Turn]) -> Mapping[str, Cost]:
    """The cost of each stage, in the order in which the stages first came."""
    found: dict[str, Cost] = {}
    for turn in turns:
        reply = turn.reply
        cost = Cost(1, reply.seconds, reply.prompt_tokens, reply.completion_tokens) if reply else Cost(1)
        found[turn.stage] = found.get(turn.stage, Cost()) + cost
    return found


def total(costs_of_stages: Iterable[Cost]) -> Cost:
    """All stages together."""
    return sum(costs_of_stages, Cost())


def turn_json(turn: Turn) -> dict[str, Any]:
    """A turn as the trace shows it: every word that was sent and came back."""
    reply = turn.reply
    return {
        "stage": turn.stage,
        "prompt": turn.prompt,
        "messages": [{"role": message.role, "content": message.content} for message in turn.messages],
        "reply": reply.text if reply else None,
        "finish_reason": reply.finish_reason if reply else None,
        "prompt_tokens": reply.prompt_tokens if reply else None,
        "completion_tokens": reply.completion_tokens if reply else None,
        "seconds": round(reply.seconds, 3) if reply else None,
        "error": turn.error,
    }
