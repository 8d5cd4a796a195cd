"""Reading a window by filling in a form."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import pytest

from extractors.errors import ModelRequestRefused, ModelUnavailable
from extractors.models.chat import BlankForm, FilledField, FilledForm, FormModel, Token
from extractors.prompting.methods import FormParts
from extractors.readers.form import FormReader, pairs_of, shown_form
from extractors.settings import FormSettings
from ontology.schema import Schema
from tests.support.scripted import ONTOLOGY

TEXT = "The Old Mill is a theatre in Ashford. It opened in 1921."


def tokens(*pieces: tuple[str, float]) -> tuple[Token, ...]:
    return tuple(Token(text, math.log(probability)) for text, probability in pieces)


class ScriptedForm:
    """Answers headings by how they begin; what is not in the script is empty."""

    def __init__(self, answers: Mapping[str, tuple[float, tuple[Token, ...]]]) -> None:
        self.answers = answers
        self.asked: list[str] = []
        self.opening = ""
        self.grammars: list[str] = []

    async def fill(self, form: BlankForm) -> FilledForm:
        self.opening, self.asked = form.opening, [blank.heading for blank in form.fields]
        self.grammars = [blank.grammar for blank in form.fields]
        fields = []
        for heading in self.asked:
            script = next((self.answers[key] for key in self.answers if heading.startswith(key)), (0.01, ()))
            fields.append(
                FilledField(heading, script[0], script[1] if script[0] >= form.least_presence else ())
            )
        return FilledForm(tuple(fields), 10, 5, 0.1, "scripted", "adapter")


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ONTOLOGY)


async def test_pairs_become_triples_with_the_relation_of_their_field(schema: Schema) -> None:
    model = ScriptedForm(
        {
            "is a": (0.9, tokens((" Old Mill | theatre", 0.9))),
            "opened": (0.8, tokens((" Old Mill", 0.8), (" | 1921", 0.5))),
        }
    )
    assert isinstance(model, FormModel)
    reading = await FormReader(model, FormSettings()).read(TEXT, schema)
    found = {(t.subject, t.relation, t.object): t.confidence for t in reading.triples}
    assert set(found) == {("Old Mill", "is a", "theatre"), ("Old Mill", "opened", "1921")}
    assert found["Old Mill", "opened", "1921"] == pytest.approx(0.4)
    assert model.opening == f"Text: {TEXT}\n"
    assert "opened (place > date):" in model.asked or any(h.startswith("opened") for h in model.asked)


async def test_a_field_below_the_least_presence_says_nothing(schema: Schema) -> None:
    model = ScriptedForm({"opened": (0.1, tokens((" Old Mill | 1921", 0.9)))})
    reading = await FormReader(model, FormSettings(least_presence=0.2)).read(TEXT, schema)
    assert reading.triples == ()
    assert reading.failure is None


async def test_as_many_relations_are_asked_as_set_and_kinds_only_where_wanted(schema: Schema) -> None:
    model = ScriptedForm({})
    await FormReader(model, FormSettings(maximum_properties=5)).read(TEXT, schema)
    assert len(model.asked) == 6
    assert model.asked[0] == "is a:"
    await FormReader(model, FormSettings(maximum_properties=5, kinds=False)).read(TEXT, schema)
    assert len(model.asked) == 5


async def test_parts_of_a_form_can_be_changed_to_compare(schema: Schema) -> None:
    model, plain = ScriptedForm({}), FormSettings(maximum_properties=5)
    await FormReader(model, replace(plain, parts=FormParts(whole=True))).read(TEXT, schema)
    assert len(model.asked) > 50
    await FormReader(model, replace(plain, parts=FormParts(sides=False))).read(TEXT, schema)
    assert not any("(" in heading for heading in model.asked)
    grammars = {}
    for copied in (True, False):
        await FormReader(model, replace(plain, parts=FormParts(copied=copied))).read(TEXT, schema)
        grammars[copied] = model.grammars
    assert all("Ashford" in grammar for grammar in grammars[True])
    assert not any("Ashford" in grammar for grammar in grammars[False])


async def test_a_form_is_shown_as_the_model_gets_it(schema: Schema) -> None:
    model, settings = ScriptedForm({}), FormSettings(maximum_properties=5)
    await FormReader(model, settings).read(TEXT, schema)
    assert shown_form(schema, TEXT, settings) == model.opening + "\n".join(model.asked) + "\n"


async def test_a_refusal_stands_in_the_reading_and_a_model_that_is_down_is_raised(schema: Schema) -> None:
    class Refusing(ScriptedForm):
        async def fill(self, form: BlankForm) -> FilledForm:
            raise ModelRequestRefused("the text is too long")

    class Down(ScriptedForm):
        async def fill(self, form: BlankForm) -> FilledForm:
            raise ModelUnavailable("gone")

    reading = await FormReader(Refusing({}), FormSettings()).read(TEXT, schema)
    assert isinstance(reading.failure, ModelRequestRefused)
    assert reading.turns[0].error == "the text is too long"
    with pytest.raises(ModelUnavailable):
        await FormReader(Down({}), FormSettings()).read(TEXT, schema)


async def test_the_turn_tells_what_was_asked_and_how_sure_each_answer_is(schema: Schema) -> None:
    model = ScriptedForm({"opened": (0.75, tokens((" Old Mill | 1921", 0.5)))})
    reading = await FormReader(model, FormSettings()).read(TEXT, schema)
    (turn,) = reading.turns
    assert turn.reply is not None
    assert " Old Mill | 1921 [0.750]" in turn.reply.text
    assert turn.messages[0].content.startswith("Text: The Old Mill")
    assert (turn.reply.prompt_tokens, turn.reply.completion_tokens) == (10, 5)


def test_every_line_of_an_answer_has_a_score_of_its_own() -> None:
    filled = FilledField("serves:", 0.9, tokens((" A | B", 0.5), ("\n", 0.5), ("A | C", 0.8)))
    assert [(p.subject, p.object, round(p.score, 3)) for p in pairs_of(filled)] == [
        ("A", "B", 0.25),
        ("A", "C", 0.8),
    ]


def test_a_broken_line_and_a_repeated_one_are_passed_over() -> None:
    filled = FilledField("serves:", 0.9, tokens((" A | B\n", 0.5), ("nonsense\n", 0.5), ("A | B", 0.8)))
    assert [(p.subject, p.object) for p in pairs_of(filled)] == [("A", "B")]
