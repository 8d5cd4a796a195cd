"""Drops triples whose ends do not fit the domain and range (Nie et al., section 3.2).

What the pipeline finds out by linking and the gate by shapes, as far as words and an ontology show it: for
texts that are read without either, such as those of a benchmark.
"""

from __future__ import annotations

from dataclasses import replace

from extractors.english.dates import DATE_DATATYPES, read_date
from extractors.english.unreadable import Unreadable
from extractors.english.values import looks_like_value
from extractors.grounding.linking import normalize
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reader, Reading
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema
from ontology.terms import OntologyProperty, PropertyKind

__all__ = ["Fitting"]


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
