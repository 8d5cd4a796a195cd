"""Completion measured: pairs from files, modes, scores beside their baselines, runs that go on."""

import json
from pathlib import Path
from typing import Any

import pytest
import shapely

from extractors.completion.completer import Completer
from extractors.completion.pair import Pair, Place
from extractors.errors import EvaluationError, ModelTimeout, ModelUnavailable
from extractors.models.accounting import Prices
from extractors.readers.reading import Cost
from extractors.sources.records import BrokenRecord
from geo.relate.rcc8 import RCC5
from research.completion import (
    ABLATIONS,
    MODES,
    Answered,
    NumberedPair,
    answer_all,
    baselines,
    choose,
    read_pairs,
    score,
    settings_of_mode,
)
from research.estimates import f1, ratio
from research.reporting import expenses_json
from tests.support.scripted import ScriptedModel, words

DC = words('{"relation": "DC", "inner": "none"}')
INSIDE = words('{"relation": "IN", "inner": "A"}')
SQUARE = "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))"
RELEASED = {
    "head entity name": "City_Park",
    "head entity type": "park",
    "head geometry type": "polygon",
    "head geometry value": SQUARE,
    "tail entity name": "Kiosk",
    "tail geometry value": "POINT (1 1)",
}


def pairs(tmp_path: Path, *rows: Any) -> list[NumberedPair | BrokenRecord]:
    (tmp_path / "pairs.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    return list(read_pairs([tmp_path / "pairs.jsonl"]))


def numbered(count: int) -> list[NumberedPair]:
    park = Place("Park", "park", shapely.box(0, 0, 2, 2))
    points = [Place(f"P{x}", "", shapely.Point(x, 1)) for x in range(1, 2 * count, 2)]
    return [NumberedPair(point.name, "", Pair(point, park)) for point in points]


def test_released_pairs_and_nested_ones_are_read(tmp_path: Path) -> None:
    nested = {
        "head": {"name": "Kiosk", "geometry": {"type": "Point", "coordinates": [1, 1]}},
        "tail": {"name": "City Park", "type": "park", "geometry": SQUARE},
    }
    released, own = pairs(tmp_path, RELEASED, nested)
    assert isinstance(released, NumberedPair)
    assert isinstance(own, NumberedPair)
    assert (released.pair.head.name, released.pair.head.type) == ("City Park", "park")
    assert (released.pair.computed, own.pair.computed) == (RCC5.INi, RCC5.IN)


def test_a_pair_without_geometry_is_reported_and_left_out(tmp_path: Path) -> None:
    (broken,) = pairs(tmp_path, {**RELEASED, "tail geometry value": None})
    assert isinstance(broken, BrokenRecord)
    assert "the tail has no geometry" in broken.reason


def test_pairs_are_drawn_uniformly_and_the_same_again(tmp_path: Path) -> None:
    all_of_them = numbered(30)
    drawn = choose(all_of_them, 5, seed=1)
    assert drawn == choose(all_of_them, 5, seed=1) != choose(all_of_them, 5, seed=2)
    assert [one.identifier for one in drawn] != [one.identifier for one in all_of_them[:5]]
    with pytest.raises(EvaluationError, match="no pairs"):
        choose([], 5, seed=1)


def test_the_direction_counts_only_where_it_is_asked_for() -> None:
    answers = [
        Answered(RCC5.IN, RCC5.INi),
        Answered(RCC5.INi, RCC5.INi),
        Answered(RCC5.DC, RCC5.DC),
        Answered(RCC5.EC, None, error="broken"),
    ]
    scores = score("some", answers)
    assert scores.five is not None
    assert scores.directed is not None
    assert (scores.five.value, scores.directed.value, scores.failed) == (0.75, 0.5, 1)
    assert scores.found[RCC5.INi] == (1, 1)
    assert scores.json()["answers"] == {"INi": 2, "DC": 1, "none": 1}


def test_always_answering_the_same_stands_beside_the_scores() -> None:
    truths = [RCC5.IN] * 3 + [RCC5.DC]
    always_dc, most_frequent = baselines(truths)
    assert (always_dc.name, most_frequent.name) == ("always DC", "always IN")
    assert always_dc.five is not None
    assert always_dc.five.value == 0.25
    assert len(baselines([RCC5.DC, RCC5.DC])) == 1


def test_intervals_hold_the_score_and_come_out_the_same_for_one_seed() -> None:
    found = ratio([1, 0, 1, 1] * 10, [1] * 40, seed=3)
    assert found is not None
    assert found.low < found.value == 0.75 < found.high
    assert found == ratio([1, 0, 1, 1] * 10, [1] * 40, seed=3)
    assert ratio([0], [0]) is None
    assert f1([1], [1], [1]) is not None


def test_a_thousand_tasks_cost_what_their_tokens_cost() -> None:
    cost = Cost(turns=4, seconds=3.0, prompt_tokens=2000, completion_tokens=100)
    reported = expenses_json(cost, 2, Prices(1.0, 10.0))["per_1000_tasks"]
    assert (reported["seconds"], reported["prompt_tokens"], reported["turns"]) == (1500.0, 1_000_000, 2000)
    assert reported["cost"] == {"amount": 1.5, "currency": "USD"}
    assert expenses_json(cost, 2, Prices())["per_1000_tasks"]["cost"] is None


async def test_a_run_that_ended_goes_on_where_it_was(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    plain = settings_of_mode("zero-shot")
    broken = ScriptedModel(INSIDE, ModelTimeout("slow"), DC, ModelUnavailable("gone"))
    with pytest.raises(ModelUnavailable):
        await answer_all(numbered(4), Completer(broken, plain), file)
    with file.open("a") as stream:
        stream.write('{"id": "P5", "cut o')
    model = ScriptedModel(DC)
    answers = await answer_all(numbered(4), Completer(model, plain), file)
    assert len(model.asked) == 2, "the one that was too slow, and the one that was never asked about"
    assert [one.relation for one in answers] == [RCC5.IN, *[RCC5.DC] * 3]
    assert [one.truth for one in answers] == [RCC5.IN, *[RCC5.DC] * 3]
    row = json.loads(file.read_text().splitlines()[0])
    assert row["turns"][0]["reply"] == INSIDE.text
    assert answers[0].cost == Cost(1, 0.1, 100, 50)


def test_modes_differ_in_what_they_leave_out() -> None:
    assert len({**MODES, **ABLATIONS}) == len({repr(one) for one in (*MODES.values(), *ABLATIONS.values())})
    assert not ABLATIONS["no tools"].tools
    assert ABLATIONS["no refinement"].rounds == 0
    with pytest.raises(EvaluationError, match=r"no mode 'best'. Take one of zero-shot"):
        settings_of_mode("best")
