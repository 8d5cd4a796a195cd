"""A large model writes plans: its replies are constrained, checked, repaired, and vote by their answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from extractors.prompting.prompt import PromptError
from tests.sparql.ask.conftest import City, RecordedModel


def step(op: str, **parts: Any) -> dict[str, Any]:
    return {"op": op, **parts}


def reply(*steps: dict[str, Any]) -> str:
    return json.dumps({"steps": steps})


ASKED = "Which not Southside but Northside museums?"
NORTH = (
    step("place link", place="within"),
    step("named", entity="Northside"),
    step("related", link=1, to=2),
    step("named", entity="Southside"),
    step("related", link=1, to=4),
)
MUSEUMS = reply(
    *NORTH,
    step("kind", of="museum"),
    step("and", sets=[6, 3]),
    step("minus", set=7, without=5),
    step("list", set=8),
)
SAME_MUSEUMS = reply(
    *NORTH,
    step("kind", of="museum"),
    step("minus", set=6, without=5),
    step("and", sets=[7, 3]),
    step("list", set=8),
)
GALLERIES = reply(
    *NORTH,
    step("kind", of="museum"),
    step("kind", of="art museum"),
    step("and", sets=[6, 7, 3]),
    step("minus", set=8, without=5),
    step("list", set=9),
)
DROPS_NOT = reply(*NORTH, step("kind", of="museum"), step("and", sets=[6, 3, 5]), step("list", set=7))


async def ask(city: City, tmp_path: Path, *replies: str, samples: int = 1) -> tuple[Any, RecordedModel]:
    model = RecordedModel(list(replies), "full")
    return await city.asker(model, tmp_path, samples).ask(ASKED), model


async def test_a_plan_that_drops_a_word_is_repaired_with_the_message_of_the_check(
    city: City, tmp_path: Path
) -> None:
    result, model = await ask(city, tmp_path, DROPS_NOT, MUSEUMS)
    assert result.answer == "2 museums in Northside not in Southside: Glass Museum and Rail Museum."
    assert "does not use: not" in model.asked[1][-1].content
    assert model.asked[1][-2].content == DROPS_NOT


async def test_at_most_two_plans_are_repaired_and_then_nothing_is_answered(
    city: City, tmp_path: Path
) -> None:
    result, model = await ask(city, tmp_path, *[DROPS_NOT] * 5, samples=3)
    assert result.answer is None
    assert len(model.asked) == 3 + 2


async def test_what_most_plans_find_is_answered_though_they_are_written_differently(
    city: City, tmp_path: Path
) -> None:
    result, model = await ask(city, tmp_path, GALLERIES, MUSEUMS, SAME_MUSEUMS, samples=3)
    assert result.answer == "2 museums in Northside not in Southside: Glass Museum and Rail Museum."
    assert model.temperatures == [0.0, 0.7, 0.7]


async def test_no_more_is_asked_when_more_than_half_agree(city: City, tmp_path: Path) -> None:
    result, model = await ask(city, tmp_path, MUSEUMS, SAME_MUSEUMS, samples=3)
    assert result.answer is not None
    assert len(model.asked) == 2


async def test_answers_with_equal_votes_are_asked_back(city: City, tmp_path: Path) -> None:
    result, _ = await ask(city, tmp_path, GALLERIES, MUSEUMS, samples=2)
    assert result.answer is None
    assert result.gaps[0]["kind"] == "ambiguous"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("{", "not JSON"),
        ("[]", "not a JSON object"),
        ('{"steps": []}', "at least one step"),
        (reply(step("list", set=1)), "Step 1 names the step 1"),
        (reply(step("kind", of="castle"), step("list", set=1)), "have no 'castle'"),
        (reply(step("kind", of="museum")), "one of: aggregation; count"),
    ],
)
async def test_a_reply_that_is_no_plan_is_repaired(
    city: City, tmp_path: Path, wrong: str, message: str
) -> None:
    result, model = await ask(city, tmp_path, wrong, MUSEUMS)
    assert result.answer is not None
    assert message in model.asked[1][-1].content


async def test_examples_of_a_users_file_are_shown_beside_questions_like_them(
    city: City, tmp_path: Path
) -> None:
    tree = {"op": "count", "set": {"op": "kind", "of": {"iri": "http://e/x", "label": "lighthouse"}}}
    line = {"question": "Which not Harwich but Ely lighthouses?", "plan": tree}
    (tmp_path / "ask-examples.jsonl").write_text(json.dumps(line) + "\n", encoding="utf-8")
    _, model = await ask(city, tmp_path, MUSEUMS)
    shown = model.asked[0][-1].content
    assert '{"steps": [{"op": "kind", "of": "lighthouse"}, {"op": "count", "set": 1}]}' in shown
    (tmp_path / "ask-examples.jsonl").write_text(
        '{"question": "?", "plan": {"op": "sing"}}', encoding="utf-8"
    )
    with pytest.raises(PromptError, match=r"ask-examples\.jsonl, line 1"):
        await ask(city, tmp_path, MUSEUMS)
