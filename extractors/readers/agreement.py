"""Reading several times and keeping what most readings agree on, with their share as confidence."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from extractors.prompting.reply import plain
from extractors.readers.reading import Reader, Reading, merged
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema

__all__ = ["Agreement"]


class Agreement:
    """Asks a reader, whose model answers by chance, `samples` times about each window."""

    def __init__(self, reader: Reader, samples: int) -> None:
        self._reader = reader
        self._samples = samples

    @property
    def prompt_version(self) -> str:
        """The reader's version and the number of samples."""
        return f"{self._reader.prompt_version} x{self._samples}"

    @property
    def chunk_size(self) -> ChunkSize:
        """The reader's."""
        return self._reader.chunk_size

    async def read(self, window_text: str, schema: Schema) -> Reading:
        """Read so often; a triple stays when more than half of the usable readings have it."""
        readings = [await self._reader.read(window_text, schema) for _ in range(self._samples)]
        turns = tuple(turn for reading in readings for turn in reading.turns)
        usable = [merged(reading.triples) for reading in readings if reading.failure is None]
        if not usable:
            return Reading((), turns, readings[-1].failure)
        votes = Counter(plain(triple) for triples in usable for triple in triples)
        kept = [
            replace(triple, confidence=votes[plain(triple)] / len(usable))
            for triple in merged(triple for triples in usable for triple in triples)
            if 2 * votes[plain(triple)] > len(usable)
        ]
        return Reading(tuple(kept), turns)
