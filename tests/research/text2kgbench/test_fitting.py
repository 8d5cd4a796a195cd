"""What words and an ontology tell of triples that cannot be."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reading
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema
from research.text2kgbench.fitting import Fitting

ONTOLOGY = Path(__file__).parents[3] / "ontology"

Words = tuple[str, str, str]


@dataclass
class Saying:
    """Says the same of every text."""

    said: Words
    prompt_version: str = "saying@1"
    chunk_size: ChunkSize = field(default_factory=lambda: ChunkSize(2, 60))

    async def read(self, window_text: str, schema: Schema) -> Reading:
        return Reading((ReplyTriple(*self.said, "", None),), ())


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ONTOLOGY)


async def kept(said: Words, schema: Schema) -> bool:
    return bool((await Fitting(Saying(said)).read("a text", schema)).triples)


@pytest.mark.parametrize(
    "said",
    [
        ("Bowery Hall", "located in", "Manhattan"),
        ("Bowery Hall", "opened", "1921"),
        ("Bowery Hall", "opened", "May 1921"),
        ("Bowery Hall", "population", "1921"),
        ("Bowery Hall", "haunted by", "1921"),
    ],
)
async def test_what_fits_or_nobody_knows_of_is_kept(said: Words, schema: Schema) -> None:
    assert await kept(said, schema)


@pytest.mark.parametrize(
    "said",
    [
        ("Bowery Hall", "located in", "the Bowery Hall"),
        ("Bowery Hall", "located in", "1,921 metres"),
        ("Bowery Hall", "opened", "Manhattan"),
    ],
)
async def test_what_cannot_be_is_left_out(said: Words, schema: Schema) -> None:
    assert not await kept(said, schema)


def test_a_run_with_it_is_distinguished_from_one_without() -> None:
    assert Fitting(Saying(("a", "b", "c"))).prompt_version == "saying@1+fitting"
