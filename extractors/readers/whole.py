"""Reading a text of any length: what is longer than a window is read window by window."""

from __future__ import annotations

import sys

from extractors.readers.reading import Reader, Reading
from extractors.readers.staged import union
from extractors.text.chunking import WindowSize, windows
from ontology.schema import Schema

__all__ = ["read_whole"]


async def read_whole(reader: Reader, text: str, schema: Schema) -> Reading:
    """Read a text at once where a window has room for its words, else in pieces.

    Of a text without words the model is asked nothing. A piece that cannot be read is left out, unless it is
    so with all. Raises what `Reader.read` does.
    """
    pieces = windows(text, WindowSize(sys.maxsize, reader.window.words))
    if not any(character.isalnum() for character in text):
        return Reading((), ())
    if len(pieces) == 1:
        return await reader.read(text, schema)
    return union([await reader.read(text[piece.start : piece.end], schema) for piece in pieces])
