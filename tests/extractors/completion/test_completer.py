"""The dialog about a pair of places: what the model is asked, what it receives, and when it ends."""

import json
from typing import Any

import pytest
import shapely

from extractors.completion.completer import (
    Completer,
    CompletionSettings,
    answer_text,
    claim_of,
    worked_examples,
)
from extractors.completion.pair import Pair, Place, described
from extractors.errors import ModelReplyError, ModelTimeout
from extractors.models.chat import Reply
from extractors.prompting.reply import is_faithful
from geo.relate.rcc8 import RCC5
from tests.support.scripted import ScriptedModel, words

PARK = Place("City Park", "park", shapely.box(0, 0, 2, 2))
KIOSK = Place("Kiosk", "shop", shapely.Point(1, 1))
PAIR = Pair(KIOSK, PARK)
FAITHFUL = words("The reasoning holds. This is a faithful trajectory.")


def answer(relation: str, inner: str = "none") -> Reply:
    return words(json.dumps({"relation": relation, "inner": inner}))


def tools(*names: str) -> Reply:
    return words(json.dumps({"tools": list(names)}))


def completer(*script: Reply | Exception, **settings: Any) -> tuple[Completer, ScriptedModel]:
    model = ScriptedModel(*script, profile="full")
    return Completer(model, CompletionSettings(**settings)), model


async def test_the_model_reasons_then_names_tools_refines_by_their_results_is_verified_and_answers() -> None:
    asking, model = completer(
        words("Their boxes touch. Relation: EC; inner: none"),
        tools("Point2Polygon", "Distance"),
        words("The kiosk lies inside. Relation: IN; inner: A"),
        words("OK\nThe tool says so. This is a faithful trajectory."),
        answer("IN", "A"),
    )
    done = await asking.complete(PAIR)
    assert (done.relation, done.faithful, done.rounds, done.error) == (RCC5.IN, True, 1, None)
    assert [turn.stage for turn in done.turns] == ["think", "tools", "results", "verify", "answer"]
    first, second, third, verdict, last = (asked[0] for asked in model.asked)
    assert "DC, disconnected: A and B have no point in common. Test: their distance" in first[0].content
    assert "B: City Park (park), polygon, 5 vertices, box 0..2, 0..2, area 49232 km2" in first[-1].content
    assert "A: Kiosk (shop), point\nPOINT (1 1)" in first[-1].content
    assert "Let's think step by step." in first[-1].content
    assert "Which types of tool interface you need" in second[-1].content
    assert "- Polygon4Polygon(polygon, polygon) -> touch / overlap / none" in second[-1].content
    assert "- Point2Polygon: yes, A lies in B\n- Distance: 0.000000 km" in third[-1].content
    assert "Please refine your reasoning process" in third[-1].content
    assert "the result is right" in third[-1].content
    assert "The kiosk lies inside." in verdict[-1].content
    assert "Claimed: IN, inner A" in verdict[-1].content
    assert [message.role for message in last] == ["system", *("user", "assistant") * 3, "user"]


async def test_tools_are_right_in_both_orders_and_one_that_does_not_fit_says_so() -> None:
    script = [tools("Point2Polygon", "Point4Linestring"), words("."), answer("IN", "B")]
    asking, _ = completer(*script, thinking=False, rounds=0)
    done = await asking.complete(Pair(PARK, KIOSK))
    assert done.relation is RCC5.INi
    fits, does_not = done.tools
    assert fits.result == "yes, B lies in A"
    assert does_not.refused
    assert "takes a point and a line" in does_not.result


async def test_the_tools_tell_touching_from_overlapping() -> None:
    beside = Pair(PARK, Place("Green", "park", shapely.box(2, 0, 3, 2)))
    asking, model = completer(tools("Polygon4Polygon"), words("."), answer("EC"), thinking=False, rounds=0)
    await asking.complete(beside)
    assert "- Polygon4Polygon: touch (borders only" in model.asked[1][0][-1].content


async def test_tools_of_these_types_are_called_where_the_model_names_none() -> None:
    asking, model = completer(tools(), words("Inside."), answer("IN", "A"), thinking=False, rounds=0)
    done = await asking.complete(PAIR)
    assert [call.tool for call in done.tools] == ["Geohash", "Distance", "Point2Polygon"]
    assert not any(call.by_model or call.refused for call in done.tools)
    assert "- Point2Polygon: yes, A lies in B" in model.asked[1][0][-1].content


@pytest.mark.parametrize(
    ("reasoning", "claim"),
    [
        ("Relation: IN; inner: B", "IN, inner B"),
        ("At first relation: DC. Yet they meet.\n**Relation:** EC; inner: none", "EC, inner none"),
        ("They touch.", "no relation is named"),
    ],
)
def test_what_reasoning_claims_is_its_last_line_on_the_relation(reasoning: str, claim: str) -> None:
    assert claim_of(reasoning) == claim


async def test_the_updater_follows_the_verifier_until_it_is_faithful() -> None:
    asking, model = completer(
        words("They touch."),
        words("Yes, but the point is not on the border."),
        words("It lies inside."),
        FAITHFUL,
        answer("IN", "A"),
        tools=False,
    )
    done = await asking.complete(PAIR)
    assert (done.rounds, done.faithful, done.reasoning) == (2, True, "It lies inside.")
    assert [turn.stage for turn in done.turns] == ["think", "verify", "update", "verify", "answer"]
    update = model.asked[2][0][-1].content
    assert "the point is not on the border" in update
    assert "Follow suggestion to refine the reasoning process" in update


async def test_three_rounds_are_the_end_and_the_last_reasoning_is_kept() -> None:
    script = [words("One.")]
    for number in range(3):
        script += [words("Yes. It is wrong."), words(f"Again {number}.")]
    asking, _ = completer(*script, answer("DC"), tools=False)
    done = await asking.complete(PAIR)
    assert (done.rounds, done.faithful, done.reasoning, done.relation) == (3, False, "Again 2.", RCC5.DC)


@pytest.mark.parametrize(
    ("said", "faithful"),
    [
        ("All is right.\nThis is a faithful trajectory", True),
        ('Good. "This is a faithful trajectory."', True),
        ("Yes", False),
        ("OK\nAll is right.\nThis is a faithful trajectory", True),
        ("WRONG\nIt would be EC.\nThis is a faithful trajectory", False),
        ("This is not a faithful trajectory.", False),
        ("This is a faithful trajectory. But EC would be better.", False),
        ("It would end with This is a faithful trajectory", False),
        ("", False),
    ],
)
def test_only_the_faithful_verdict_at_the_end_is_faithful(said: str, faithful: bool) -> None:
    assert is_faithful(said) is faithful


async def test_each_part_can_be_left_out() -> None:
    asking, model = completer(answer("EC"), knowledge=False, thinking=False, tools=False, rounds=0)
    done = await asking.complete(PAIR)
    assert done.relation is RCC5.EC
    ((asked, schema, _),) = model.asked
    assert schema is not None
    assert "externally connected" not in asked[0].content
    assert "step by step" not in asked[-1].content
    assert asking.prompt_version.count("@") == 2


async def test_examples_go_before_the_question_as_turns_of_the_dialog() -> None:
    asking, model = completer(words("Inside."), answer("IN", "A"), tools=False, rounds=0, shots=3)
    await asking.complete(PAIR)
    asked = model.asked[0][0]
    assert [message.role for message in asked] == ["system", *("user", "assistant") * 3, "user"]
    assert asked[2].content.endswith('{"relation": "IN", "inner": "A"}')


def test_the_relations_of_the_examples_are_computed() -> None:
    assert [example.pair.computed for example in worked_examples()] == [RCC5.IN, RCC5.EC, RCC5.DC]


async def test_an_answer_that_is_none_is_asked_for_once_more_and_then_reported() -> None:
    broken = ModelReplyError("the model's reply is not JSON", "IN")
    asking, model = completer(broken, answer("EQ"), thinking=False, tools=False, rounds=0)
    assert (await asking.complete(PAIR)).relation is RCC5.EQ
    assert [asked[2] for asked in model.asked] == [0.0, 0.3]
    asking, _ = completer(broken, thinking=False, tools=False, rounds=0)
    done = await asking.complete(PAIR)
    assert done.relation is None
    assert done.error == "the model's reply is not JSON"
    assert [turn.error for turn in done.turns] == [done.error] * 2


async def test_reasoning_that_was_cut_off_is_taken_as_far_as_it_goes() -> None:
    cut = ModelReplyError("the model's reply was cut off at max_tokens", "The point lies")
    asking, _ = completer(cut, answer("IN", "A"), tools=False, rounds=0)
    done = await asking.complete(PAIR)
    assert (done.reasoning, done.relation) == ("The point lies", RCC5.IN)


async def test_a_model_that_is_too_slow_ends_it() -> None:
    asking, _ = completer(ModelTimeout("slow"))
    with pytest.raises(ModelTimeout):
        await asking.complete(PAIR)


async def test_without_geometry_the_tools_say_so_and_nothing_is_computed() -> None:
    pair = Pair(Place("Atlantis"), PARK)
    asking, model = completer(tools("Distance"), words("Unknown."), answer("DC"), thinking=False, rounds=0)
    done = await asking.complete(pair)
    assert pair.computed is None
    assert "Atlantis, whose geometry is not known" in model.asked[0][0][-1].content
    assert done.tools[0].refused


@pytest.mark.parametrize("relation", list(RCC5))
async def test_every_relation_is_read_back_as_it_is_written(relation: RCC5) -> None:
    asking, _ = completer(words(answer_text(relation)), thinking=False, tools=False, rounds=0)
    assert (await asking.complete(PAIR)).relation is relation


def test_a_shape_of_many_vertices_is_drawn_with_few_and_that_is_said() -> None:
    circle = shapely.Point(0, 0).buffer(1, quad_segs=500)
    sent = described(Place("Pond", "water", circle), 12)
    summary, _, wkt = sent.partition("\n")
    assert summary.startswith("Pond (water), polygon, 2001 vertices, box -1..1, -1..1, area ")
    assert summary.endswith(f"drawn here with {shapely.get_num_coordinates(shapely.from_wkt(wkt))}")
    assert shapely.get_num_coordinates(shapely.from_wkt(wkt)) <= 12


async def test_a_large_model_is_shown_forty_vertices_of_each_place_at_most() -> None:
    circle = Place("Pond", "water", shapely.Point(0, 0).buffer(1, quad_segs=500))
    asking, model = completer(answer("DC"), thinking=False, tools=False, rounds=0)
    await asking.complete(Pair(circle, KIOSK))
    question = model.asked[0][0][-1].content
    assert 20 < question.partition("POLYGON")[2].partition(")")[0].count(",") < 40
