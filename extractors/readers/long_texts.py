"""Reads a text of any length, chunk by chunk."""

from __future__ import annotations

import sys

from extractors.readers.reading import Reader, Reading, union
from extractors.text.chunking import ChunkSize, chunks
from ontology.schema import Schema

__all__ = ["read_long_text"]


async def read_long_text(reader: Reader, text: str, schema: Schema) -> Reading:
    """Read a text at once if it fits into one chunk, else in several.

    A text without words is not sent to the model. Chunks that cannot be read are left out, unless all
    fail. Raises what `Reader.read` does.
    """
    pieces = chunks(text, ChunkSize(sys.maxsize, reader.chunk_size.words))
    if not any(character.isalnum() for character in text):
        return Reading((), ())
    if len(pieces) == 1:
        return await reader.read(text, schema)
    return union([await reader.read(text[piece.start : piece.end], schema) for piece in pieces])
