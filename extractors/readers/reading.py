"""The `Reader` Protocol: a chunk of text and an ontology in, triples in words and all turns out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from extractors.errors import ModelError
from extractors.models.chat import Message, Reply
from extractors.prompting.reply import ReplyTriple, plain
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema

__all__ = ["Reader", "Reading", "Turn", "merged", "union"]


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
