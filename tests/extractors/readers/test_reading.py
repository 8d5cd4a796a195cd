"""The seam between windows of text and the ways to read them."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from extractors.errors import ModelReplyError
from extractors.models.chat import ChatModel, Message
from extractors.pipeline import Pipeline
from extractors.prompting.methods import Method
from extractors.prompting.reply import ReplyTriple
from extractors.readers.reading import Reader, Reading, Turn
from extractors.settings import ExtractionSettings
from extractors.text.chunking import ChunkSize
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, city_labels, reply, urban

ONTOLOGY = Path(__file__).parents[3] / "ontology"
TEXT = "Bowery Hall is in Manhattan. Astor House is in Brooklyn."
ONE_SENTENCE = ChunkSize(sentences=1, words=50)
LOCATED = {
    "Bowery Hall is in Manhattan.": ("Bowery Hall", "Manhattan"),
    "Astor House is in Brooklyn.": ("Astor House", "Brooklyn"),
}


@dataclass
class ByHeart:
    """Reads without a model: sentence by sentence, what it knows."""

    prompt_version: str = "by-heart@1"
    chunk_size: ChunkSize = ONE_SENTENCE
    failing: tuple[str, ...] = ()
    seen: list[str] = field(default_factory=list)

    async def read(self, window_text: str, schema: Schema) -> Reading:
        lead = next(words for words in LOCATED if window_text.endswith(words))
        self.seen.append(lead)
        question = Turn("form", "form@1", (Message("user", lead),), None, None)
        if lead in self.failing:
            return Reading((), (question,), ModelReplyError("nothing usable", ""))
        subject, object_ = LOCATED[lead]
        return Reading((ReplyTriple(subject, "located in", object_, "", 0.5),), (question,))


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ONTOLOGY)


def pipeline(schema: Schema, reader: ByHeart) -> Pipeline:
    def opened(_: ChatModel, __: ExtractionSettings, ___: Method) -> Reader:
        return reader

    model = ScriptedModel(reply([]))
    return Pipeline(schema=schema, labels=city_labels(), model=model, reader=opened)


async def test_any_reader_gives_the_triples_and_its_turns_are_the_trace(schema: Schema) -> None:
    reader = ByHeart()
    extraction = await pipeline(schema, reader).extract(TEXT)
    located = [c for c in extraction.candidates if c.predicate == urban("locatedIn")]
    assert [(c.evidence and c.evidence.quote, c.confidence) for c in located] == [
        ("Bowery Hall is in Manhattan", 0.5),
        ("Astor House is in Brooklyn", 0.5),
    ]
    assert extraction.prompt_version == "by-heart@1"
    assert [(t.stage, t.prompt, TEXT[t.start : t.end]) for t in extraction.windows] == [
        ("form", "form@1", words) for words in LOCATED
    ]


async def test_a_window_that_failed_leaves_the_others_and_all_failing_is_an_error(schema: Schema) -> None:
    first, second = LOCATED
    extraction = await pipeline(schema, ByHeart(failing=(first,))).extract(TEXT)
    assert [e.label for e in extraction.entities] == ["Astor House", "Brooklyn"]
    with pytest.raises(ModelReplyError, match="nothing usable"):
        await pipeline(schema, ByHeart(failing=(first, second))).extract(TEXT)


async def test_a_window_whose_reply_is_cut_off_is_read_again_in_halves(schema: Schema) -> None:
    first, second = ((subject, "located in", place) for subject, place in LOCATED.values())
    model = ScriptedModel(reply([first], finish="length"), reply([first]), reply([second]))
    pipeline = Pipeline(schema=schema, labels=city_labels(), model=model)
    extraction = await pipeline.extract(TEXT)
    assert {e.label for e in extraction.entities} >= {"Bowery Hall", "Astor House"}
    shown = [messages[-1].content for messages, _, _ in model.asked]
    assert [("Bowery" in text, "Astor" in text) for text in shown] == [
        (True, True),
        (True, False),
        (False, True),
    ]
