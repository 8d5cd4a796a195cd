"""The methods of extraction as objects: names, versions, limits. What the papers ask is in test_papers.py."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from outlines_core.fsm.outlines_core_rs import build_regex_from_schema

from extractors import MethodName
from extractors.errors import ModelReplyError, ModelRequestRefused, ModelTimeout
from extractors.models.chat import Reply
from extractors.pipeline import Pipeline
from extractors.prompting.methods import FAST, METHODS, Method, MethodUnknown, method_named
from extractors.readers.form import FormReader
from extractors.readers.opening import open_reader
from extractors.readers.reading import Reading
from extractors.settings import ExtractionSettings
from ontology.schema import Schema
from research.methods import ALL_METHODS, GROUPS, any_method_named
from tests.support.scripted import ScriptedModel, city_labels, reply, urban, words

ONTOLOGY = Path(__file__).parents[3] / "ontology"
TEXT = "Bowery Hall is a theatre in Manhattan. It opened in 1921."
LOCATED = ("Bowery Hall", "located in", "Manhattan")
REFINING = replace(ALL_METHODS["zero_shot"], refinement=3, updates="words")


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
    parts = {"entity_types": ["theater"], "relations": ["located in"], "wrong": [], "missing": []}
    answer = words(json.dumps({**json.loads(reply([LOCATED]).text), **parts}))
    model = ScriptedModel(answer, profile="full")
    reading = await open_reader(model, ExtractionSettings(), method).read(TEXT, schema)
    assert said(reading) == [LOCATED]
    for _, served, _ in model.asked:
        if served is not None:
            assert build_regex_from_schema(json.dumps(served))


async def test_the_snippet_holds_the_reply_to_its_relations_and_the_four_groups_do_not(
    schema: Schema,
) -> None:
    _, held = await read(schema, ALL_METHODS["zero_shot"], reply([]))
    assert relation_of(held.asked[0][1])["enum"][0] == "is a"
    _, free = await read(schema, ALL_METHODS["icl_ontology"], reply([]))
    assert "enum" not in relation_of(free.asked[0][1])


async def test_a_round_without_a_usable_reply_keeps_the_last_triples(schema: Schema) -> None:
    broken = ModelReplyError("no JSON", "nonsense")
    reading, _ = await read(schema, REFINING, reply([LOCATED]), words("Look again."), broken, broken)
    assert said(reading) == [LOCATED]
    assert reading.failure is None
    assert [turn.error for turn in reading.turns][-1] == "no JSON"


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
