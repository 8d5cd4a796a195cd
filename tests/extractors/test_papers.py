"""What the papers ask of extraction and completion, row by row, with a model that answers from a script.

U: UrbanKGent (Ning and Liu), K: Knowledge Graph Efficient Construction (Nie et al.). The sections are theirs.
What a row leaves to other files: cleaning in detail (sources), the dialog about pairs (completion), tables of
judges and scores (research), the service (tests/server).
"""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import shapely
from outlines_core.fsm.outlines_core_rs import build_regex_from_schema

from extractors.completion.completer import Completer, CompletionSettings
from extractors.completion.pair import Pair, Place, offered
from extractors.errors import ModelReplyError
from extractors.models.accounting import Prices
from extractors.models.chat import Reply, Token
from extractors.models.schemas import check_document
from extractors.prompting.methods import METHODS, Method
from extractors.prompting.reply import ReplyTriple
from extractors.readers.dialogs import load_examples
from extractors.readers.opening import Agreement, open_reader
from extractors.readers.reading import Reading, costs, total
from extractors.readers.refinement import kinds_stated, misfits
from extractors.settings import ExtractionSettings
from extractors.sources.mapping import read_sources
from extractors.sources.records import SourceKind, SourceRecord
from extractors.sources.rules import Cleaner, Rule
from geo.relate.rcc8 import RCC5
from ontology.schema import Schema
from research.completion import ABLATIONS, MODES, pairs_among
from research.judging.judges import JudgeModel
from research.judging.tables import Item, Judgment, agreement, majority, summary
from research.methods import ALL_METHODS, GROUPS
from research.reporting import expenses_json
from research.text2kgbench.fitting import Fitting
from research.text2kgbench.reading import Fact
from research.text2kgbench.scoring import count
from research.training.trajectories import divide, of_pair, of_text
from tests.support.schema_dialect import check_schema
from tests.support.scripted import ScriptedModel, reply, words

ONTOLOGY = Path(__file__).parents[2] / "ontology"
TEXT = "Bowery Hall is a theatre in Manhattan. It opened in 1921 and was drawn by Ada Reed."
IS_THEATRE = ("Bowery Hall", "is a", "theater")
LOCATED = ("Bowery Hall", "located in", "Manhattan")
OPENED = ("Bowery Hall", "opened", "1921")
DESIGNED = ("Bowery Hall", "designed by", "Ada Reed")
FAITHFUL = words("Everything is stated.\nThis is a faithful trajectory.")
THOROUGH = METHODS["thorough"]
REFINING = replace(METHODS["zero_shot"], refinement=3)
IN_WORDS = replace(REFINING, updates="words")
TWO_TURNS = replace(THOROUGH, chain_of_thought="none", refinement=0)

Triple = tuple[str, str, str]


@pytest.fixture(scope="module")
def schema() -> Schema:
    return Schema.load(ONTOLOGY)


async def read(schema: Schema, method: Method, *script: Reply | Exception) -> tuple[Reading, ScriptedModel]:
    model = ScriptedModel(*script, profile="full")
    return await open_reader(model, ExtractionSettings(), method).read(TEXT, schema), model


def said(reading: Reading) -> list[Triple]:
    return [(triple.subject, triple.relation, triple.object) for triple in reading.triples]


def sent(model: ScriptedModel, number: int) -> str:
    return "\n".join(message.content for message in model.asked[number][0])


def schema_of(model: ScriptedModel, number: int) -> Any:
    return model.asked[number][1]


def relations_of(served: Any) -> list[str]:
    """The relations that a reply's schema allows, for "is a" and for others."""
    items = served["properties"]["triples"]["items"]
    return [name for one in items.get("anyOf", [items]) for name in one["properties"]["relation"]["enum"]]


def types(entities: Sequence[str], relations: Sequence[str]) -> Reply:
    return words(json.dumps({"entity_types": entities, "relations": relations}))


def row(triple: Triple, quote: str = "") -> dict[str, str]:
    return dict(zip(("quote", "subject", "relation", "object"), (quote, *triple), strict=True))


def verdict(*wrong: dict[str, Any], missing: Sequence[Triple] = (), faithful: bool = False) -> Reply:
    rows = [row(triple) for triple in missing]
    return words(json.dumps({"faithful": faithful, "wrong": wrong, "missing": rows}))


NOTHING_WRONG = verdict(faithful=True)


# U1, section 2.1: areas, roads, points of interest, reviews and web pages as records


def test_u1_five_kinds_of_sources_are_records_of_name_type_geometry_and_text(tmp_path: Path) -> None:
    rows = [
        {"name": "Kiln Ward", "type": "ward", "geometry": "POLYGON ((0 0, 1 0, 1 1, 0 0))"},
        {"name": "Kiln Lane", "type": "road", "geometry": "LINESTRING (0 0, 1 1)"},
        {"name": "Kiln Cafe", "type": "cafe", "geometry": "POINT (0 0)"},
        {"name": "Kiln Cafe", "text": "Good soup.", "rating": 4.5},
        {"name": "Kiln Ward", "text": "A ward.", "url": "https://example.org/kiln"},
    ]
    (tmp_path / "all.jsonl").write_text("\n".join(json.dumps(one) for one in rows))
    records = [one for one in read_sources([tmp_path / "all.jsonl"]) if isinstance(one, SourceRecord)]
    assert [one.kind for one in records] == list(SourceKind)
    assert (records[0].name, records[0].type, records[3].rating) == ("Kiln Ward", "ward", 4.5)


# U2, section 2.2: text is cleaned before use


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("null", Rule.NULL),
        ("A nice park with trees.", Rule.SHORT),
        ("Kiln Park. KILN PARK! Kiln Park, Kiln Park; Kiln Park - Kiln Park", Rule.NAME_ONLY),
        ("Der Park liegt seit vielen Jahren an der Brücke und ist bei Besuchern beliebt.", Rule.LANGUAGE),
    ],
)
def test_u2_text_of_no_use_is_dropped(text: str, rule: Rule) -> None:
    record = SourceRecord("a, line 1", SourceKind.POI, "Kiln Park", text=text)
    assert Cleaner().clean(record).dropped is rule


# U3, section 3.1: triplets from text, then the relations of pairs among them that have geometry


async def test_u3_pairs_for_completion_are_those_that_extracted_triplets_relate(schema: Schema) -> None:
    reading, _ = await read(schema, METHODS["zero_shot"], reply([LOCATED, DESIGNED]))
    places = {
        "bowery hall": Place("Bowery Hall", "theatre", shapely.Point(0.5, 0.5)),
        "Manhattan": Place("Manhattan", "borough", shapely.box(0, 0, 1, 1)),
        "Ada Reed": Place("Ada Reed"),
    }
    (found,) = pairs_among(reading.triples, places)
    model = ScriptedModel(words('{"relation": "IN", "inner": "A"}'))
    plain = CompletionSettings(thinking=False, tools=False, rounds=0)
    done = await Completer(model, plain).complete(found.pair)
    assert done.relation is found.pair.computed is RCC5.IN


# U4, section 4.2.1: three views, each first the types, then the triplets of these types


async def test_u4_each_view_answers_with_types_and_its_triplets_are_held_to_exactly_these(
    schema: Schema,
) -> None:
    script = [types(["theater", "borough"], ["located in"]), reply([LOCATED])]
    script += [types(["theater"], ["opened"]), reply([OPENED])]
    script += [types(["theater"], ["is a", "designed by"]), reply([IS_THEATRE, DESIGNED])]
    reading, model = await read(schema, TWO_TURNS, *script)
    assert said(reading) == [LOCATED, OPENED, IS_THEATRE, DESIGNED]
    assert [turn.stage for turn in reading.turns] == ["types", "triples"] * 3
    assert [relations_of(schema_of(model, number)) for number in (1, 3)] == [["located in"], ["opened"]]
    others, kinds = schema_of(model, 5)["properties"]["triples"]["items"]["anyOf"]
    assert others["properties"]["relation"]["enum"] == ["designed by"]
    assert kinds["properties"]["relation"]["enum"] == ["is a"]
    assert kinds["properties"]["object"]["enum"] == ["theater"]
    assert [message.role for message in model.asked[1][0]] == ["system", "user", "assistant", "user"]


async def test_u4_a_view_has_its_own_definition_and_the_relations_that_belong_to_it(schema: Schema) -> None:
    _, model = await read(schema, TWO_TURNS, types([], []))
    offered_relations = []
    for number, view in enumerate(("spatial", "temporal", "functional")):
        assert f"the {view} view" in sent(model, number)
        assert "Not here: " in sent(model, number)
        asked = schema_of(model, number)["properties"]
        assert "theater" in asked["entity_types"]["items"]["enum"]
        offered_relations.append(asked["relations"]["items"]["enum"])
    spatial, temporal, functional = map(set, offered_relations)
    assert {"located in", "area"} <= spatial
    assert {"opened", "demolished"} <= temporal
    assert {"is a", "designed by"} <= functional
    assert not (spatial & temporal | spatial & functional | temporal & functional)


async def test_u4_relations_without_a_view_belong_to_every_view(tmp_path: Path) -> None:
    turtle = """@prefix owl: <http://www.w3.org/2002/07/owl#> . @prefix : <https://example.org/shop#> .
        @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
        :Part a owl:Class ; rdfs:label "part" . :fits a owl:ObjectProperty ; rdfs:label "fits" ."""
    (tmp_path / "shop.ttl").write_text(turtle)
    _, model = await read(Schema.load(tmp_path), TWO_TURNS, types([], []))
    asked = [schema_of(model, number)["properties"]["relations"]["items"]["enum"] for number in range(3)]
    assert asked == [["fits"], ["fits"], ["is a", "fits"]]


async def test_u4_a_view_that_the_text_does_not_speak_of_costs_one_turn(schema: Schema) -> None:
    reading, model = await read(schema, TWO_TURNS, types(["theater"], []))
    assert (said(reading), reading.failure, len(model.asked)) == ([], None, 3)


async def test_u4_a_view_without_a_usable_reply_is_left_out_but_not_all_may_be(schema: Schema) -> None:
    method = replace(TWO_TURNS, views=("spatial", "temporal"))
    nothing = ModelReplyError("empty", "")
    reading, _ = await read(schema, method, nothing, nothing, types(["year"], ["opened"]), reply([OPENED]))
    assert (said(reading), reading.failure) == ([OPENED], None)
    failed, _ = await read(schema, method, nothing)
    assert failed.failure is nothing


async def test_u4_without_the_ontology_a_view_is_held_to_its_own_types_all_the_same(schema: Schema) -> None:
    method = replace(TWO_TURNS, ontology="none", closed=False, views=("functional",))
    drawn = ("Bowery Hall", "is drawn by", "Ada Reed")
    reading, model = await read(schema, method, types(["theater"], ["is drawn by"]), reply([drawn]))
    assert said(reading) == [drawn]
    assert relations_of(schema_of(model, 1)) == ["is drawn by", "is a"]


# U5, section 4.2.2: both geometries and the five definitions


async def test_u5_completion_shows_both_geometries_and_the_five_definitions_with_their_tests() -> None:
    pair = Pair(Place("Kiosk", "shop", shapely.Point(1, 1)), Place("Park", "park", shapely.box(0, 0, 2, 2)))
    model = ScriptedModel(words('{"relation": "IN", "inner": "A"}'))
    await Completer(model, CompletionSettings(thinking=False, tools=False, rounds=0)).complete(pair)
    system, question = (message.content for message in model.asked[0][0])
    for name in ("DC, disconnected", "EC, externally", "PO, partial", "EQ, equal", "IN, proper part"):
        assert "Test: " in system.partition(name)[2].partition("\n")[0]
    assert "A point counts as a very small disc" in system
    assert "A: Kiosk (shop), point\nPOINT (1 1)" in question
    assert "B: Park (park), polygon, 5 vertices, box 0..2, 0..2, area " in question
    assert schema_of(model, 0)["properties"]["relation"]["enum"] == ["DC", "EC", "PO", "EQ", "IN"]


# U6, section 4.3.1: chain of thought on both tasks


async def test_u6_reasoning_is_a_turn_of_each_view_and_its_lines_become_evidence(schema: Schema) -> None:
    method = replace(THOROUGH, views=("spatial",), refinement=0)
    lines = words('"is a theatre in Manhattan" -> Bowery Hall; located in; Manhattan')
    reading, model = await read(schema, method, types(["theater"], ["located in"]), lines, reply([LOCATED]))
    assert [turn.stage for turn in reading.turns] == ["types", "reasoning", "triples"]
    assert "Let's think step by step" in sent(model, 1)
    assert reading.triples[0].quote == "is a theatre in Manhattan"


async def test_u6_completion_reasons_before_any_tool_is_offered() -> None:
    pair = Pair(Place("A", "", shapely.Point(1, 1)), Place("B", "", shapely.box(0, 0, 2, 2)))
    script = [
        words("Inside."),
        words('{"tools": []}'),
        words("Inside."),
        words('{"relation": "IN", "inner": "A"}'),
    ]
    done = await Completer(ScriptedModel(*script), CompletionSettings(rounds=0)).complete(pair)
    assert [turn.stage for turn in done.turns] == ["think", "tools", "results", "answer"]


# U7, section 4.3.2, table 8: eight tools


def test_u7_eight_tools_are_offered_with_what_they_take_and_give() -> None:
    assert offered().count("\n- ") == 7
    assert "- Point4Linestring(point, line) -> touch / overlap / none: " in offered()
    assert "- Geohash(any) -> 8 characters: " in offered()


async def test_u7_the_results_of_the_tools_that_the_model_names_refine_its_reasoning() -> None:
    park, green = (
        Place(name, "park", shapely.box(x, 0, x + 2, 2)) for name, x in (("Park", 0), ("Green", 2))
    )
    named = words('{"tools": ["Polygon4Polygon", "Distance"]}')
    script = [
        words("They overlap."),
        named,
        words("They touch."),
        words('{"relation": "EC", "inner": "none"}'),
    ]
    model = ScriptedModel(*script)
    done = await Completer(model, CompletionSettings(rounds=0)).complete(Pair(park, green))
    results = model.asked[2][0][-1].content
    assert "- Polygon4Polygon: touch (borders only" in results
    assert "Please refine your reasoning process" in results
    assert (done.relation, done.reasoning) == (RCC5.EC, "They touch.")


# U8, section 4.3.3: verifier and updater, three rounds, the last trajectory kept


async def test_u8_edits_of_numbered_triplets_are_carried_out_without_asking_the_model_again(
    schema: Schema,
) -> None:
    wrong = ("Manhattan", "located in", "Bowery Hall")
    first = reply([wrong, OPENED, ("Ada Reed", "opened", "1921")])
    edits = [
        {"number": 1, "why": "turned round", "instead": row(LOCATED, "a theatre in Manhattan")},
        {"number": 3, "why": "the hall opened", "instead": None},
    ]
    judged = verdict(*edits, missing=[DESIGNED])
    reading, model = await read(schema, REFINING, first, judged, NOTHING_WRONG)
    assert said(reading) == [LOCATED, OPENED, DESIGNED]
    check_document(judged, schema_of(model, 1))
    assert reading.triples[0].quote == "a theatre in Manhattan"
    assert [turn.stage for turn in reading.turns] == ["triples", "verify", "verify"]
    assert "1. Manhattan; located in; Bowery Hall\n2. Bowery Hall; opened; 1921\n3. " in sent(model, 1)
    assert '1. "a theatre in Manhattan" -> Bowery Hall; located in; Manhattan' in sent(model, 2)


async def test_u8_none_of_thirty_right_triplets_is_lost_by_an_edit(schema: Schema) -> None:
    thirty = [(f"Hall {number}", "opened", "1921") for number in range(30)]
    edit = {"number": 7, "why": "another year", "instead": row(("Hall 6", "opened", "1922"))}
    reading, _ = await read(schema, REFINING, reply(thirty), verdict(edit), NOTHING_WRONG)
    assert len(reading.triples) == 30
    assert set(said(reading)) - set(thirty) == {("Hall 6", "opened", "1922")}


async def test_u8_the_updater_is_asked_only_about_what_is_doubted_without_an_edit(schema: Schema) -> None:
    doubted = verdict({"number": 2, "why": "not this year"}, {"number": 9, "why": "no such number"})
    updated = words(json.dumps({"edits": [{"number": 2, "instead": None}, {"number": 1, "instead": None}]}))
    reading, model = await read(schema, REFINING, reply([LOCATED, OPENED]), doubted, updated, NOTHING_WRONG)
    assert said(reading) == [LOCATED], "an edit of a triplet that nobody doubted is not carried out"
    assert [turn.stage for turn in reading.turns] == ["triples", "verify", "update", "verify"]
    question = model.asked[2][0][-1].content
    assert "Follow suggestion to refine the reasoning process" in question
    assert "2. Bowery Hall; opened; 1921. Said against it: not this year" in question
    assert "located in" not in question
    assert "no such number" not in question


async def test_u8_faithful_with_an_edit_goes_on_and_three_rounds_are_the_end(schema: Schema) -> None:
    years = [
        verdict({"number": 1, "why": "?", "instead": row(("Bowery Hall", "opened", year))}, faithful=True)
        for year in ("1922", "1923", "1924", "1925")
    ]
    reading, model = await read(schema, REFINING, reply([OPENED]), *years)
    assert said(reading) == [("Bowery Hall", "opened", "1924")]
    assert len(model.asked) == 4


@pytest.mark.parametrize(
    "broken", ["", "no JSON", "[]", '{"faithful": false, "wrong": [{"number": "x"}, 3]}']
)
async def test_u8_a_verdict_that_cannot_be_used_changes_nothing(schema: Schema, broken: str) -> None:
    reading, _ = await read(schema, REFINING, reply([LOCATED]), words(broken))
    assert (said(reading), reading.failure) == ([LOCATED], None)


async def test_u8_the_verifier_receives_each_round_what_cannot_fit_the_ontology(schema: Schema) -> None:
    first = [
        ("Ada Reed", "is a", "person"),
        ("Ada Reed", "designed by", "Bowery Hall"),
        ("a", "no such", "b"),
    ]
    fixed = verdict({"number": 3, "why": "not stated", "instead": None})
    _, model = await read(schema, REFINING, reply(first), fixed, NOTHING_WRONG)
    assert '- 3: "no such" is not among the relations.' in sent(model, 1)
    assert '- 2: "designed by" asks for an' in sent(model, 1)
    assert "no such" not in sent(model, 2)
    assert '- 2: "designed by" asks for an' in sent(model, 2)


async def test_u8_in_the_papers_words_the_updater_repeats_all_until_the_faithful_verdict(
    schema: Schema,
) -> None:
    script = [reply([LOCATED]), words("Yes, but the opening is missing."), reply([LOCATED, OPENED]), FAITHFUL]
    reading, model = await read(schema, IN_WORDS, *script)
    assert said(reading) == [LOCATED, OPENED]
    assert [turn.stage for turn in reading.turns] == ["triples", "verify", "update", "verify"]
    assert "opening is missing" in sent(model, 2)
    assert "maxItems" not in json.dumps(schema_of(model, 2))
    assert ALL_METHODS["refinement_in_words"] == replace(
        THOROUGH, name="refinement_in_words", updates="words"
    )


@pytest.mark.parametrize(
    "suggestion", ["Yes", "Yes.", "Not quite: 'this is a faithful trajectory' is too much said"]
)
async def test_u8_nothing_but_the_faithful_verdict_ends_it_before_three_rounds(
    schema: Schema, suggestion: str
) -> None:
    updates = [reply([LOCATED]), reply([OPENED]), reply([LOCATED, OPENED])]
    script = [reply([])] + [one for update in updates for one in (words(suggestion), update)]
    reading, model = await read(schema, IN_WORDS, *script)
    assert said(reading) == [LOCATED, OPENED]
    assert len(model.asked) == 7


# U9 and U10, sections 4.4 and 5.1: trajectories become instructions, in sets that share nothing


async def test_u9_the_turns_of_both_tasks_become_instructions(schema: Schema) -> None:
    reading, _ = await read(schema, REFINING, reply([LOCATED]), NOTHING_WRONG)
    text = of_text(TEXT, reading)
    assert text is not None
    assert [one.stage for one in text.instructions] == ["triples", "verify"]
    pair = Pair(Place("A", "", shapely.Point(1, 1)), Place("B", "", shapely.box(0, 0, 2, 2)))
    script = [words("Inside."), words('{"relation": "IN", "inner": "A"}')]
    done = await Completer(ScriptedModel(*script), CompletionSettings(tools=False, rounds=0)).complete(pair)
    found = of_pair(pair, done)
    assert found is not None
    assert [one.stage for one in found.instructions] == ["think", "answer"]
    assert found.instructions[-1].messages[-1].content == '{"relation": "IN", "inner": "A"}'


async def test_u10_the_sets_share_no_text_and_are_drawn_uniformly(schema: Schema) -> None:
    reading, _ = await read(schema, METHODS["zero_shot"], reply([LOCATED]))
    made = [one for number in range(30) if (one := of_text(f"Text {number}.", reading)) is not None]
    sets = divide([*made, *made], instruct=10, test=5, large=100)
    drawn = [{one.about for one in chosen} for chosen in (sets.instruct, sets.test, sets.large)]
    assert [len(one) for one in drawn] == [10, 5, 15]
    assert len(set.union(*drawn)) == 30


# U11, section 5.1.2, table 4: comparable modes and ablations


def test_u11_modes_and_ablations_differ_from_the_pipeline_in_one_part() -> None:
    assert replace(ALL_METHODS["without_views"], name="thorough", views=THOROUGH.views) == THOROUGH
    assert replace(ALL_METHODS["without_tools"], name="thorough", tools=True) == THOROUGH
    assert replace(ALL_METHODS["without_refinement"], name="thorough", refinement=3) == THOROUGH
    assert ALL_METHODS["without_knowledge"].ontology == "none"
    assert {"zero_shot", "one_shot", "three_shot", "thorough", "refinement_in_words"} <= set(GROUPS["u11"])
    assert [name for name in MODES if "shot" in name] == ["zero-shot", "1-shot", "3-shot"]
    assert list(ABLATIONS) == ["no knowledge", "no tools", "no refinement"]


async def test_u11_shots_are_examples_before_the_question(schema: Schema) -> None:
    for name, shots in (("zero_shot", 0), ("one_shot", 1), ("three_shot", 3)):
        _, model = await read(schema, METHODS[name], reply([]))
        roles = [message.role for message in model.asked[0][0]]
        assert roles == ["system", *["user", "assistant"] * shots, "user"]
        assert TEXT in model.asked[0][0][-1].content


def test_u11_the_examples_show_a_paraphrase_a_list_and_a_denial_in_words_of_their_texts() -> None:
    paraphrase, listed, denied = load_examples(None)[0]
    assert any(
        "drawn by" in quote and relation == "designed by" for quote, _, relation, _ in paraphrase.triples
    )
    assert sum(relation == "next to" for _, _, relation, _ in listed.triples) == 3
    assert denied.triples == ()
    for example in (paraphrase, listed, denied):
        for quote, subject, relation, object_ in example.triples:
            assert quote in example.text
            assert subject in example.text
            assert relation == "is a" or object_ in example.text


# U12, section 5.1.4 and appendix D: judges, their confidence and their agreement


def vote(said_verdict: str, probability: float) -> Reply:
    before, after = '{"quote": "in 1921", "reason": "It is stated.", "verdict": "', '"}'
    tokens = (Token(before, -2.0), Token(said_verdict, math.log(probability)), Token(after, -0.1))
    return words(before + said_verdict + after, tokens=tokens)


async def test_u12_a_model_judges_repeatedly_and_its_confidence_is_the_probability_of_its_verdicts() -> None:
    item = Item("a", TEXT, *OPENED)
    model = ScriptedModel(vote("true", 0.9), vote("false", 0.6), vote("true", 0.7))
    (judged,) = (await JudgeModel(model, repeats=3).judge([item])).judgments
    assert judged.verdict
    assert judged.confidence == pytest.approx((0.9 + 0.7) / 3)
    assert list(schema_of(model, 0)["properties"]) == ["quote", "reason", "verdict"]


def test_u12_true_and_false_by_text_a_majority_and_spearmans_correlation() -> None:
    items = [Item(f"text {number // 2}", TEXT, "Hall", "opened", str(number)) for number in range(6)]
    one, other, third = (
        [Judgment(item, held, name) for item, held in zip(items, verdicts, strict=True)]
        for name, verdicts in (
            ("a", (True, True, True, False, False, False)),
            ("b", (True, True, False, True, False, False)),
            ("c", (True, False, True, True, False, False)),
        )
    )
    assert [judged.verdict for judged in majority([*one, *other, *third])] == [True] * 4 + [False] * 2
    assert summary("a", one).json()["true_per_text"] == 1.0
    assert agreement(one, other).rank == pytest.approx(1.0)


# U13, sections 5.4 and 5.5: what a thousand tasks cost (the service and its page are tested in tests/server)


async def test_u13_latency_and_cost_of_a_thousand_tasks_are_reported(schema: Schema) -> None:
    reading, _ = await read(schema, REFINING, reply([LOCATED]), NOTHING_WRONG)
    reported = expenses_json(total(costs(reading.turns).values()), 1, Prices(1.0, 10.0))["per_1000_tasks"]
    assert (reported["turns"], reported["prompt_tokens"]) == (2000, 200_000)
    assert reported["seconds"] == pytest.approx(200.0)
    assert reported["cost"] == {"amount": 1.2, "currency": "USD"}


# K1, section 3.2: the ontology as prior knowledge, which every triple's ends must fit


async def test_k1_the_prompt_has_the_concepts_and_the_relations_with_domain_and_range(schema: Schema) -> None:
    _, model = await read(schema, ALL_METHODS["icl_ontology"], reply([]))
    system = model.asked[0][0][0].content
    assert "Kinds of things: place; " in system
    assert "- designed by (event or organization or place -> organization or person): " in system


def test_k1_ends_of_another_kind_do_not_fit_and_those_above_or_below_do(schema: Schema) -> None:
    def of(*triple: str) -> ReplyTriple:
        subject, relation, object_ = triple
        return ReplyTriple(subject, relation, object_, "", None)

    kinds = kinds_stated([of("Ada", "is a", "person")], "1. Bowery Hall | theatre\n- Elm Park | park")
    assert kinds == {"ada": "person", "bowery hall": "theatre", "elm park": "park"}
    assert list(misfits([of("Bowery Hall", "designed by", "Ada")], schema, kinds)) == []
    (reported,) = misfits([of("Ada", "designed by", "Ada")], schema, kinds)
    assert reported.endswith('"Ada" is a person.')


async def test_k1_a_triple_whose_ends_cannot_fit_is_left_out_where_no_gate_follows(schema: Schema) -> None:
    model = ScriptedModel(reply([LOCATED, ("Bowery Hall", "located in", "1921")]))
    reader = Fitting(open_reader(model, ExtractionSettings(), METHODS["zero_shot"]))
    assert said(await reader.read(TEXT, schema)) == [LOCATED]


async def test_k1_without_knowledge_relations_are_verb_phrases_of_the_models_own(schema: Schema) -> None:
    stated = [("Bowery Hall", "lies in", "Manhattan")]
    reading, model = await read(schema, METHODS["open"], reply(stated))
    assert said(reading) == stated
    assert "Kinds of things: place" not in sent(model, 0)
    assert "verb phrase in the present" in sent(model, 0)
    assert "same words for the same relation" in sent(model, 0)
    triple = schema_of(model, 0)["properties"]["triples"]["items"]
    assert triple["properties"]["relation"] == {"type": "string"}


# K2, section 3.3: chain of thought in three steps

THOUGHT = """ENTITIES
Bowery Hall | theatre
Manhattan | borough
RELATIONS
"is a theatre in Manhattan" | Bowery Hall | Manhattan
"opened in 1921" | Bowery Hall | 1921
TRIPLES
[Bowery Hall | located in | Manhattan]
- [Bowery Hall | opened | 1921]
"""


async def test_k2_the_three_steps_are_one_instruction_and_their_parts_stand_under_headings(
    schema: Schema,
) -> None:
    reading, model = await read(schema, ALL_METHODS["icl_cot"], words(THOUGHT))
    assert said(reading) == [LOCATED, OPENED]
    assert [triple.quote for triple in reading.triples] == ["is a theatre in Manhattan", "opened in 1921"]
    assert len(model.asked) == 1
    system, *shown, question = (message.content for message in model.asked[0][0])
    assert system.index("ENTITIES") < system.index("RELATIONS") < system.index("TRIPLES")
    assert "[Old Mill | designed by | Jane Pell]" in shown[-1]
    assert "Let's think step by step." in question
    assert schema_of(model, 0) is None


async def test_k2_a_reply_without_the_heading_is_asked_for_again_and_a_cut_off_line_is_left_out(
    schema: Schema,
) -> None:
    cut = words(THOUGHT.partition("- [Bowery")[0] + "[Bowery Hall | ope", finish="length")
    reading, model = await read(schema, ALL_METHODS["icl_cot"], words("There are two."), cut)
    assert said(reading) == [LOCATED]
    assert not any(turn.error is None for turn in reading.turns)
    assert [temperature for _, _, temperature in model.asked] == [0.0, 0.3, 0.0, 0.0]


async def test_k2_triples_in_json_are_read_where_lines_were_asked_for(schema: Schema) -> None:
    reading, model = await read(schema, ALL_METHODS["icl_cot"], reply([LOCATED]))
    assert (said(reading), len(model.asked)) == ([LOCATED], 1)


async def test_k2_the_three_steps_can_be_three_turns(schema: Schema) -> None:
    reading, model = await read(
        schema,
        ALL_METHODS["icl_cot_turns"],
        words("Bowery Hall | theatre"),
        words("lies in"),
        reply([LOCATED]),
    )
    assert [turn.stage for turn in reading.turns] == ["entities", "relations", "triples"]
    roles = [message.role for message in model.asked[2][0]]
    assert roles == ["system", *["user", "assistant"] * 3, *["user", "assistant"] * 2, "user"]
    assert sent(model, 2).index("Old Mill | theatre") < sent(model, 2).index("Bowery Hall | theatre")


# K3, section 3.3, figure 3: two prompt formats


async def test_k3_the_context_format_is_one_block_with_the_headings_of_figure_3(schema: Schema) -> None:
    for name in ("context_ontology", "context_cot"):
        _, model = await read(schema, ALL_METHODS[name], words(THOUGHT) if "cot" in name else reply([]))
        (message,) = model.asked[0][0]
        assert message.role == "user"
        block = message.content
        parts = ("CONTEXT\n", "Ontology concepts: place; ", "Ontology relations:\n- ", "Example input:\n",
                 "Example output:\n", "Test input:\n", TEXT)  # fmt: skip
        places = [block.index(part) for part in parts]
        assert places == sorted(places)
        assert block.endswith("\n\nTest output:")


async def test_k3_the_icl_format_is_a_dialog_of_the_same_words(schema: Schema) -> None:
    _, turns = await read(schema, ALL_METHODS["icl_base"], reply([]))
    _, block = await read(schema, ALL_METHODS["context_base"], reply([]))
    assert [message.role for message in turns.asked[0][0]] == ["system", "user", "assistant", "user"]
    for message in turns.asked[0][0]:
        assert message.content in sent(block, 0)


# K4, section 4.2: six groups, several outputs of each text


def test_k4_the_six_groups_are_two_formats_by_three_amounts_of_knowledge() -> None:
    groups = [ALL_METHODS[name] for name in GROUPS["k4"]]
    parts = {(one.format, one.ontology, one.chain_of_thought) for one in groups}
    amounts = (("none", "none"), ("whole", "none"), ("whole", "instruction"))
    assert parts == {(format_, *amount) for format_ in ("context", "icl") for amount in amounts}
    assert not any(one.closed for one in groups), "so that conformance to the ontology means something"


async def test_k4_several_readings_agree_by_majority_and_keep_their_quotes(schema: Schema) -> None:
    quoted = words(json.dumps({"triples": [row(LOCATED, "in Manhattan"), row(OPENED)]}))
    method = replace(METHODS["zero_shot"], samples=3)
    reading, model = await read(schema, method, quoted, reply([LOCATED]), reply([OPENED, LOCATED]))
    assert isinstance(open_reader(model, ExtractionSettings(), method), Agreement)
    assert [(one.relation, one.quote, one.confidence) for one in reading.triples] == [
        ("located in", "in Manhattan", 1.0),
        ("opened", "", pytest.approx(2 / 3)),
    ]
    assert [temperature for _, _, temperature in model.asked] == [0.7] * 3


# K5, sections 4.3 and 4.4: precision, recall, F1, relation types and conformance to the ontology


def test_k5_right_told_gold_and_conforming_triples_are_counted() -> None:
    stated = [Fact(*OPENED), Fact("Bowery Hall", "was put up in", "1921")]
    found = count(stated, [Fact(*OPENED), Fact(*LOCATED)], sentence=TEXT, relations=["opened"], concepts=[])
    assert (found.right, found.told, found.gold) == (1, 2, 2)
    assert (found.conforming, found.triples) == (1, 2)


# Every schema that any method sends is one that the strictest server takes


@pytest.mark.parametrize("name", ["thorough", "without_knowledge", "refinement_in_words", "icl_cot_turns"])
async def test_every_schema_of_a_method_suits_the_strictest_server(schema: Schema, name: str) -> None:
    doubted = verdict({"number": 1, "why": "?"}, missing=[OPENED])
    both = json.loads(types(["theater"], ["is a", "opened"]).text)
    answer = words(json.dumps(both | json.loads(doubted.text) | {"triples": [row(OPENED)], "edits": []}))
    method = replace(ALL_METHODS[name], ontology="none" if name == "without_knowledge" else "snippet")
    _, model = await read(schema, method, answer)
    served = {json.dumps(one) for _, one, _ in model.asked if one is not None}
    assert len(served) > 0
    for one in served:
        check_schema(json.loads(one))
        assert build_regex_from_schema(one)
