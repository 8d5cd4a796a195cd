"""Reading for a benchmark: long texts in pieces, without triples whose ends do not fit domain and range.

What the pipeline finds out by linking and the gate by shapes, as far as words and an ontology show it (Nie et
al., section 3.2).
"""

from __future__ import annotations

import sys
from dataclasses import replace

from extractors.english.quantities import Unreadable
from extractors.english.values import DATE_DATATYPES, looks_like_value, read_date
from extractors.grounding.linking import normalize
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reader, Reading, union
from extractors.text.chunking import ChunkSize, chunks
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind


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


class Fitting:
    """Reads as another reader does, and keeps what fits.

    Nothing has a relation to itself, a number or date is no thing of a class, and only a date fills a field
    of dates. Words for a relation that the ontology lacks are left alone.
    """

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def prompt_version(self) -> str:
        """That of the reader, marked."""
        return f"{self._reader.prompt_version}+fitting"

    @property
    def chunk_size(self) -> ChunkSize:
        """That of the reader."""
        return self._reader.chunk_size

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Read a window; see `Reader.read`."""
        reading = await self._reader.read(window_text, schema)
        return replace(reading, triples=tuple(one for one in reading.triples if _fits(one, schema)))


def _fits(triple: ReplyTriple, schema: Schema) -> bool:
    if normalize(triple.subject) == normalize(triple.object):
        return False
    named = [term for term in schema.properties.values() if term.label == triple.relation]
    return not named or any(_takes(term, triple.object) for term in named)


def _takes(term: OntologyProperty, words: str) -> bool:
    if term.kind is PropertyKind.OBJECT:
        return not (term.ranges and looks_like_value(words))
    return not term.ranges & DATE_DATATYPES or not isinstance(read_date(words), Unreadable)
