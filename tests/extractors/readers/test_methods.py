"""The methods of extraction, turn by turn, with a model that answers from a script."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from outlines_core.fsm.outlines_core_rs import build_regex_from_schema

from extractors.errors import ModelReplyError, ModelRequestRefused, ModelTimeout
from extractors.models.chat import Reply
from extractors.pipeline import Pipeline
from extractors.prompting.methods import FAST, METHODS, Method, MethodName, MethodUnknown, method_named
from extractors.prompting.reply import ReplyTriple
from extractors.readers.form import FormReader
from extractors.readers.opening import open_reader
from extractors.readers.reading import Reading
from extractors.readers.staged.conformance import kinds_stated, misfits
from extractors.research.methods import ALL_METHODS, GROUPS, any_method_named
from extractors.settings import ExtractionSettings
from ontology.schema import Schema
from tests.support.scripted import ScriptedModel, city_labels, reply, urban, words

ONTOLOGY = Path(__file__).parents[3] / "ontology"
TEXT = "Bowery Hall is a theatre in Manhattan. It opened in 1921."
LOCATED = ("Bowery Hall", "located in", "Manhattan")
OPENED = ("Bowery Hall", "opened", "1921")
FAITHFUL = words("Everything is stated.\nThis is a faithful trajectory.")
VIEWS = ALL_METHODS["without_refinement"]
REFINING = replace(ALL_METHODS["zero_shot"], refinement=3)


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ONTOLOGY)


async def read(schema: Schema, method: Method, *script: Reply | Exception) -> tuple[Reading, ScriptedModel]:
    model = ScriptedModel(*script, profile="full")
    return await open_reader(model, ExtractionSettings(), method).read(TEXT, schema), model


def said(reading: Reading) -> list[tuple[str, str, str]]:
    return [(t.subject, t.relation, t.object) for t in reading.triples]


def sent(model: ScriptedModel, number: int) -> str:
    return "\n".join(message.content for message in model.asked[number][0])


def roles(model: ScriptedModel, number: int) -> list[str]:
    return [message.role for message in model.asked[number][0]]


def relation_of(served: Any) -> dict[str, Any]:
    found: dict[str, Any] = served["properties"]["triples"]["items"]["properties"]["relation"]
    return found


def test_every_method_has_its_name_and_the_groups_are_methods() -> None:
    assert tuple(METHODS) == get_args(MethodName)
    assert all(method.name == name for name, method in ALL_METHODS.items())
    assert len(GROUPS["k4"]) == 6
    assert {name for group in GROUPS.values() for name in group} <= set(ALL_METHODS)
    for named in (method_named, any_method_named):
        with pytest.raises(MethodUnknown, match="fast, thorough"):
            named("best")


def test_methods_that_are_only_compared_are_no_methods_of_the_server() -> None:
    assert any_method_named("form_bare") == ALL_METHODS["form_bare"]
    with pytest.raises(MethodUnknown):
        method_named("form_bare")


def test_each_ablation_lacks_one_thing_of_the_thorough_method() -> None:
    thorough = ALL_METHODS["thorough"]
    assert replace(ALL_METHODS["without_views"], name="thorough", views=thorough.views) == thorough
    assert replace(ALL_METHODS["without_tools"], name="thorough", tools=True) == thorough
    assert replace(ALL_METHODS["without_refinement"], name="thorough", refinement=3) == thorough
    assert ALL_METHODS["without_knowledge"].ontology == "none"


async def test_parts_of_a_form_are_for_models_that_were_trained_on_forms(schema: Schema) -> None:
    model = ScriptedModel(reply([LOCATED]), profile="full")
    reading = await open_reader(model, ExtractionSettings(), ALL_METHODS["form_whole"]).read(TEXT, schema)
    assert "not trained on forms" in str(reading.failure)


@pytest.mark.parametrize(
    "method", [one for one in METHODS.values() if one.form == FAST.form], ids=lambda method: method.name
)
async def test_every_method_reads_and_its_schema_suits_the_strictest_server(
    schema: Schema, method: Method
) -> None:
    model = ScriptedModel(reply([LOCATED]), profile="full")
    reading = await open_reader(model, ExtractionSettings(), method).read(TEXT, schema)
    assert said(reading) == [LOCATED]
    for _, served, _ in model.asked:
        if served is not None:
            assert "triples" in build_regex_from_schema(json.dumps(served))


async def test_a_view_asks_for_types_and_then_for_triples_of_these_types(schema: Schema) -> None:
    method = replace(VIEWS, chain_of_thought=False)
    script = [words("theatre\nlocated in"), reply([LOCATED])]
    script += [words("year\nopened"), reply([OPENED]), words("nothing"), reply([LOCATED])]
    reading, model = await read(schema, method, *script)
    assert said(reading) == [LOCATED, OPENED]
    assert [turn.stage for turn in reading.turns] == ["types", "triples"] * 3
    assert [view in sent(model, 2 * n) for n, view in enumerate(("spatial", "temporal", "functional"))] == [
        True
    ] * 3
    assert roles(model, 1) == ["system", "user", "assistant", "user"]
    assert model.asked[1][0][2].content == "theatre\nlocated in"
    assert model.asked[0][1] is None
    assert "located in" in relation_of(model.asked[1][1])["enum"]


async def test_chain_of_thought_in_a_view_is_a_turn_of_its_own(schema: Schema) -> None:
    reading, model = await read(
        schema, replace(VIEWS, views=("spatial",)), words("types"), words("reasons"), reply([LOCATED])
    )
    assert [turn.stage for turn in reading.turns] == ["types", "reasoning", "triples"]
    assert "Let's think step by step" in sent(model, 1)


async def test_a_view_without_a_usable_reply_is_left_out_but_not_all_may_be(schema: Schema) -> None:
    method = replace(VIEWS, views=("spatial", "temporal"), chain_of_thought=False)
    nothing = ModelReplyError("empty", "")
    reading, _ = await read(schema, method, nothing, nothing, words("types"), reply([OPENED]))
    assert said(reading) == [OPENED]
    assert reading.failure is None
    assert [turn.error is None for turn in reading.turns] == [False, False, True, True]
    failed, _ = await read(schema, method, nothing)
    assert failed.failure is nothing


async def test_the_chain_of_thought_has_three_steps_and_ends_in_the_ontologys_list(schema: Schema) -> None:
    reading, model = await read(
        schema, ALL_METHODS["icl_cot"], words("Bowery Hall | theatre"), words("lies in"), reply([LOCATED])
    )
    assert [turn.stage for turn in reading.turns] == ["entities", "relations", "triples"]
    assert [turn.prompt.partition("@")[0] for turn in reading.turns] == [
        "cot-entities",
        "cot-relations",
        "cot-mapping",
    ]
    assert roles(model, 2) == ["system", *["user", "assistant"] * 3, *["user", "assistant"] * 2, "user"]
    assert sent(model, 2).index("Old Mill | theatre") < sent(model, 2).index("Bowery Hall | theatre")


async def test_the_context_format_is_the_dialog_in_one_message(schema: Schema) -> None:
    _, turns = await read(schema, ALL_METHODS["icl_ontology"], reply([]))
    _, block = await read(schema, ALL_METHODS["context_ontology"], reply([]))
    assert roles(turns, 0) == ["system", "user", "assistant", "user"]
    assert roles(block, 0) == ["user"]
    for message in turns.asked[0][0]:
        assert message.content in sent(block, 0)


async def test_shots_are_examples_before_the_question(schema: Schema) -> None:
    for name, shots in (("zero_shot", 0), ("one_shot", 1), ("three_shot", 3)):
        _, model = await read(schema, METHODS[name], reply([]))
        assert roles(model, 0) == ["system", *["user", "assistant"] * shots, "user"]
        assert TEXT in model.asked[0][0][-1].content
    assert '"relation": "is a"' in sent(model, 0)


async def test_knowledge_is_the_concept_list_and_relations_with_domain_and_range(schema: Schema) -> None:
    _, model = await read(schema, ALL_METHODS["icl_ontology"], reply([]))
    question = model.asked[0][0][0].content
    assert "Kinds of things: " in question
    assert "- located in (" in question
    labels = [term.label for term in schema.properties.values() if not term.borrowed and not term.deprecated]
    assert sum(f"- {label} (" in question for label in labels) > 20
    assert "is a" not in [line.removeprefix("- ").partition(":")[0] for line in question.splitlines()]


async def test_without_knowledge_no_word_of_the_ontology_is_given_and_relations_are_free(
    schema: Schema,
) -> None:
    stated = [("Bowery Hall", "lies in", "Manhattan")]
    reading, model = await read(schema, ALL_METHODS["icl_base"], reply(stated))
    assert said(reading) == stated
    assert "Kinds of things" not in sent(model, 0)
    assert relation_of(model.asked[0][1]) == {"type": "string"}


async def test_the_snippet_holds_the_reply_to_its_relations_and_the_four_groups_do_not(
    schema: Schema,
) -> None:
    _, held = await read(schema, ALL_METHODS["zero_shot"], reply([]))
    assert relation_of(held.asked[0][1])["enum"][0] == "is a"
    _, free = await read(schema, ALL_METHODS["icl_ontology"], reply([]))
    assert "enum" not in relation_of(free.asked[0][1])


async def test_refinement_follows_suggestions_until_the_faithful_verdict(schema: Schema) -> None:
    script = [reply([LOCATED]), words("Yes, but the opening is missing."), reply([LOCATED, OPENED]), FAITHFUL]
    reading, model = await read(schema, REFINING, *script)
    assert said(reading) == [LOCATED, OPENED]
    assert [turn.stage for turn in reading.turns] == ["triples", "verify", "update", "verify"]
    assert "Bowery Hall | located in | Manhattan" in sent(model, 1)
    assert "opening is missing" in sent(model, 2)
    assert "Bowery Hall | opened | 1921" in sent(model, 3)


@pytest.mark.parametrize(
    "verdict", ["Yes", "Yes.", "Not quite: 'this is a faithful trajectory' is too much said"]
)
async def test_nothing_but_the_faithful_verdict_ends_it_before_three_rounds(
    schema: Schema, verdict: str
) -> None:
    updates = [reply([LOCATED]), reply([OPENED]), reply([LOCATED, OPENED])]
    script = [reply([])] + [one for update in updates for one in (words(verdict), update)]
    reading, model = await read(schema, REFINING, *script)
    assert said(reading) == [LOCATED, OPENED]
    assert len(model.asked) == 7


async def test_a_round_without_a_usable_reply_keeps_the_last_triples(schema: Schema) -> None:
    broken = ModelReplyError("no JSON", "nonsense")
    reading, _ = await read(schema, REFINING, reply([LOCATED]), words("Look again."), broken, broken)
    assert said(reading) == [LOCATED]
    assert reading.failure is None
    assert [turn.error for turn in reading.turns][-1] == "no JSON"


async def test_the_verifier_receives_what_cannot_fit_the_ontology(schema: Schema) -> None:
    triples = [
        ("1921", "is a", "person"),
        ("Bowery Hall", "located in", "Manhattan"),
        ("Jane", "is a", "person"),
    ]
    triples.append(("Manhattan", "designed by", "1921"))
    reading, model = await read(schema, REFINING, reply([*triples, ("a", "no such", "b")]), FAITHFUL)
    assert '- "no such" is not among the relations.' in sent(model, 1)
    assert len(reading.triples) == 5


def test_ends_of_another_kind_do_not_fit_and_those_above_or_below_do(schema: Schema) -> None:
    def of(subject: str, relation: str, object_: str) -> ReplyTriple:
        return ReplyTriple(subject, relation, object_, "", None)

    kinds = kinds_stated([of("Ada", "is a", "person")], "1. Bowery Hall | theatre\n- Elm Park | park")
    assert kinds == {"ada": "person", "bowery hall": "theatre", "elm park": "park"}
    assert list(misfits([of("Bowery Hall", "designed by", "Ada")], schema, kinds)) == []
    (reported,) = misfits([of("Ada", "designed by", "Ada")], schema, kinds)
    assert reported.startswith('"designed by" asks for an ')
    assert reported.endswith('"Ada" is a person.')


async def test_what_most_of_several_readings_agree_on_is_kept_with_its_share(schema: Schema) -> None:
    method = replace(ALL_METHODS["zero_shot"], samples=3)
    reading, model = await read(
        schema, method, reply([LOCATED, OPENED]), reply([LOCATED]), reply([OPENED, LOCATED])
    )
    assert [(t.relation, t.confidence) for t in reading.triples] == [
        ("located in", 1.0),
        ("opened", pytest.approx(2 / 3)),
    ]
    assert [temperature for _, _, temperature in model.asked] == [0.7] * 3


async def test_a_larger_models_own_way_reads_as_often_as_set(schema: Schema) -> None:
    model = ScriptedModel(reply([LOCATED]), profile="full")
    settings = ExtractionSettings(samples=3)
    pipeline = Pipeline(schema=schema, labels=city_labels(), model=model, settings=settings)
    extraction = await pipeline.extract(TEXT)
    assert len(model.asked) == 3
    assert extraction.prompt_version.endswith(" x3")


def test_the_embedded_models_own_way_reads_once_however_often_is_set() -> None:
    model = ScriptedModel(reply([LOCATED]), profile="compact")
    reader = open_reader(model, ExtractionSettings(), replace(ALL_METHODS["fast"], samples=3))
    assert isinstance(reader, FormReader)


async def test_a_model_that_is_slow_ends_the_reading_at_any_stage(schema: Schema) -> None:
    with pytest.raises(ModelTimeout):
        await read(schema, REFINING, reply([LOCATED]), ModelTimeout("slow"))


async def test_the_version_of_a_method_changes_with_any_of_its_prompts(
    schema: Schema, tmp_path: Path
) -> None:
    model = ScriptedModel(reply([]), profile="full")
    method = ALL_METHODS["zero_shot"]
    before = open_reader(model, ExtractionSettings(), method).prompt_version
    (tmp_path / "rules.md").write_text("# system\nBe brief. $knowledge\n")
    settings = ExtractionSettings(prompts=tmp_path)
    after = open_reader(model, settings, method)
    assert before.startswith("zero_shot@")
    assert after.prompt_version != before
    await after.read(TEXT, schema)
    assert model.asked[0][0][0].content.startswith("Be brief. Kinds of things")


async def test_the_pipeline_reads_by_the_method_of_its_settings_or_of_the_text(schema: Schema) -> None:
    model = ScriptedModel(reply([LOCATED]), profile="full")
    settings = ExtractionSettings(method=ALL_METHODS["zero_shot"])
    pipeline = Pipeline(schema=schema, labels=city_labels(), model=model, settings=settings)
    first = await pipeline.extract(TEXT)
    second = await pipeline.extract(TEXT, FAST)
    assert (first.method, second.method) == ("zero_shot", "fast")
    assert first.prompt_version.startswith("zero_shot@")
    assert second.prompt_version.startswith("fast@")
    assert urban("locatedIn") in [c.predicate for c in first.candidates]


async def test_an_ontology_too_long_for_the_model_is_halved_until_it_fits(schema: Schema) -> None:
    refused = ModelRequestRefused("too long", too_long=True)
    reading, model = await read(schema, ALL_METHODS["icl_ontology"], refused, refused, reply([LOCATED]))
    assert said(reading) == [LOCATED]
    whole, half, quarter = (sent(model, number).count("\n- ") for number in range(3))
    assert whole > 1.5 * half > 2 * quarter
    assert [turn.error for turn in reading.turns] == ["too long", "too long", None]


async def test_a_text_too_long_for_the_model_is_not_asked_for_ever(schema: Schema) -> None:
    refused = [ModelRequestRefused("too long", too_long=True)] * 20
    reading, model = await read(schema, ALL_METHODS["icl_ontology"], *refused)
    assert isinstance(reading.failure, ModelRequestRefused)
    assert len(model.asked) < 10


async def test_a_whole_ontology_is_described_in_the_same_words_for_every_text(schema: Schema) -> None:
    model = ScriptedModel(reply([]), reply([]), profile="full")
    reader = open_reader(model, ExtractionSettings(), ALL_METHODS["icl_ontology"])
    for text in (TEXT, "A bridge spans the river."):
        await reader.read(text, schema)
    first, second = (sent(model, number).partition(text)[0] for number, text in ((0, TEXT), (1, "A bridge")))
    assert first == second
