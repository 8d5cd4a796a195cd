"""The `Reader` Protocol: a chunk of text and an ontology in, triples in words and all turns out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from extractors.errors import ModelError
from extractors.models.chat import Message, Reply
from extractors.prompting.reply import ReplyTriple
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema

__all__ = ["Reader", "Reading", "Turn"]


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
