"""Filling in forms over HTTP, against the stand-in of TGI and of its relatives."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from extractors.errors import ModelReplyError
from extractors.models.chat import BlankField, BlankForm, FormModel
from extractors.models.http.http_model import HttpModel
from extractors.readers.form import Field, answer_grammar, opening, pairs_of
from extractors.readers.opening import open_reader
from extractors.settings import ExtractionSettings
from ontology.schema import Schema
from tests.support.asking import QUICK
from tests.support.scripted import ONTOLOGY
from tests.support.tgi_stand_in import StandIn, running

TEXT = "The Old Mill in Ashford was opened in 1921 by Ann Dale."
WRITES = {
    "opened": (0.9, " Old Mill | 1921"),
    "located in": (0.4, " Old Mill | Ashford\nOld Mill | London"),
    "died in": (0.05, " Ann Dale | Ashford"),
}


@pytest.fixture(params=["tgi", "vllm", "llamacpp"])
def server(request: pytest.FixtureRequest) -> Iterator[StandIn]:
    with running(StandIn(kind=request.param, writes=dict(WRITES))) as stand_in:
        yield stand_in


@pytest.fixture
async def model(server: StandIn) -> AsyncIterator[HttpModel]:
    model = HttpModel(server.url, prompt_profile="compact")
    yield model
    await model.close()


def form(*labels: str, least_presence: float = 0.2) -> BlankForm:
    grammar = answer_grammar(TEXT)
    fields = tuple(BlankField(Field(label).heading, grammar) for label in labels)
    return BlankForm(opening(TEXT), fields, least_presence, 40)


async def test_a_form_is_filled_in_field_by_field(model: HttpModel) -> None:
    assert isinstance(model, FormModel)
    filled = await model.fill(form("opened", "died in"))
    opened, died = filled.fields
    assert opened.presence == pytest.approx(0.9)
    assert [(pair.subject, pair.object) for pair in pairs_of(opened)] == [("Old Mill", "1921")]
    assert pairs_of(opened)[0].score == pytest.approx(0.9 * 0.9**3)
    assert died.presence == pytest.approx(0.05)
    assert died.tokens == ()


async def test_an_answer_less_likely_than_none_is_written_where_it_is_wanted(model: HttpModel) -> None:
    (located,) = (await model.fill(form("located in"))).fields
    assert located.presence == pytest.approx(0.4)
    assert located.text.startswith(" Old Mill | Ashford")


async def test_a_line_with_words_that_the_text_lacks_is_dropped(model: HttpModel) -> None:
    (located,) = (await model.fill(form("located in"))).fields
    assert [pair.object for pair in pairs_of(located)] == ["Ashford"]


async def test_the_form_is_the_fast_way_to_read_with_such_a_model(model: HttpModel) -> None:
    reader = open_reader(model, ExtractionSettings())
    reading = await reader.read(TEXT, Schema.load(ONTOLOGY))
    assert reading.failure is None
    assert ("Old Mill", "opened", "1921") in {(t.subject, t.relation, t.object) for t in reading.triples}


async def test_a_server_that_gives_no_probabilities_is_reported(server: StandIn, model: HttpModel) -> None:
    server.writes["opened"] = (0.9, "")
    server.silent_logprobs = True
    with pytest.raises(ModelReplyError, match="probabilities"):
        await model.fill(form("opened"))


async def test_the_fields_of_a_form_are_asked_side_by_side_within_the_places_of_the_server(
    server: StandIn,
) -> None:
    server.limit = 3 if server.kind != "vllm" else 128  # vLLM does not report one
    model = HttpModel(server.url, prompt_profile="compact", concurrency=4)
    labels = ("opened", "located in", "died in", "closed", "owned by", "part of", "near", "designed by")
    filled = await model.fill(form(*labels))
    assert [field.heading for field in filled.fields] == [Field(label).heading for label in labels]
    assert server.most_completions_at_once == (4 if server.kind == "vllm" else 3)
    assert model.state()["in_flight"] == 0
    await model.close()


async def test_a_field_that_is_tried_again_does_not_cost_the_others_their_answers(
    server: StandIn,
) -> None:
    model = HttpModel(server.url, prompt_profile="compact", retry=QUICK)
    server.troubles = ["overloaded", "unavailable"]
    opened, died = (await model.fill(form("opened", "died in"))).fields
    assert [pair.object for pair in pairs_of(opened)] == ["1921"]
    assert died.tokens == ()
    assert len(server.completions) == 5
    await model.close()
