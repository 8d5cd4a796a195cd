"""Texts of any length, read by a reader whose windows have a length."""

from __future__ import annotations

from dataclasses import dataclass, field

from extractors.errors import ModelReplyError
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reading
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema
from research.text2kgbench.fitting import read_long_text

WORDS = 8


@dataclass
class Repeating:
    """Says of each window that it is a window; cannot read what it is set to fail at."""

    prompt_version: str = "repeating@1"
    chunk_size: ChunkSize = field(default_factory=lambda: ChunkSize(1, WORDS))
    unreadable: str = "nothing"
    asked: list[str] = field(default_factory=list)

    async def read(self, window_text: str, schema: Schema) -> Reading:
        self.asked.append(window_text)
        if self.unreadable in window_text:
            return Reading((), (), ModelReplyError("broken", ""))
        return Reading((ReplyTriple(window_text, "is a", "window", "", None),), ())


async def test_what_fits_is_read_at_once_as_it_is() -> None:
    reader = Repeating()
    await read_long_text(reader, "  One sentence. And  another one. ", Schema.empty())
    assert reader.asked == ["  One sentence. And  another one. "]


async def test_what_is_longer_is_read_in_pieces_that_hold_every_word_once() -> None:
    reader = Repeating()
    text = "The mill opened in May. It closed in June 1921. " + " ".join(str(n) for n in range(30))
    reading = await read_long_text(reader, text, Schema.empty())
    assert " ".join(reader.asked).split() == text.split()
    assert all(len(piece.split()) <= WORDS for piece in reader.asked)
    assert len(reading.triples) == len(reader.asked)


async def test_of_a_text_without_words_nothing_is_asked() -> None:
    reader = Repeating()
    for text in ("", " \n ", "!!! ??? ..."):
        assert await read_long_text(reader, text, Schema.empty()) == Reading((), ())
    assert reader.asked == []


async def test_a_piece_that_cannot_be_read_is_left_out_unless_all_cannot() -> None:
    text = "The mill opened long ago in the month of May. It closed in the June of next year."
    some = await read_long_text(Repeating(unreadable="June"), text, Schema.empty())
    assert some.triples
    assert some.failure is None
    assert (await read_long_text(Repeating(unreadable=" "), text, Schema.empty())).failure is not None
