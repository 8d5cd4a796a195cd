"""The instruction set from what a teacher did."""

from __future__ import annotations

from pathlib import Path

import pytest
import shapely

from extractors.completion.completer import Completion
from extractors.completion.pair import Pair, Place
from extractors.errors import ModelReplyError, TrainingDataError
from extractors.models.chat import Message, Reply
from extractors.readers.reading import Reading, Turn
from geo.relate.rcc8 import RCC5
from research.training.dataset import Mixture, build
from research.training.trajectories import (
    Trajectory,
    divide,
    of_pair,
    of_text,
    read_instructions,
    write_instructions,
)

ASKED = (Message("system", "You extract."), Message("user", "Text: The mill opened in 1921."))


def turn(stage: str, words: str, *, error: str | None = None) -> Turn:
    return Turn(stage, f"{stage}@1", ASKED, Reply(words, "stop", 1, 1, 0.1, "teacher", None), error)


def reading(*turns: Turn) -> Reading:
    return Reading((), turns)


def text_trajectory(number: int) -> Trajectory:
    found = of_text(f"Text {number}.", reading(turn("triples", f"answer {number}")))
    assert found is not None
    return found


def pair_trajectory(number: int) -> Trajectory:
    found = of_pair(pair(number), completion(RCC5.DC))
    assert found is not None
    return found


def pair(number: int) -> Pair:
    box = shapely.box(0, 0, 1, 1)
    return Pair(Place(f"A{number}", geometry=box), Place(f"B{number}", geometry=shapely.box(5, 5, 6, 6)))


def completion(relation: RCC5 | None) -> Completion:
    return Completion(relation, "because", (), 1, True, (turn("answer", "DC"),))


def test_every_turn_with_a_usable_reply_is_an_instruction_that_ends_with_the_answer() -> None:
    found = of_text("A text.", reading(turn("types", "place"), turn("triples", "x", error="cut off")))
    assert found is not None
    (one,) = found.instructions
    assert one.stage == "types"
    assert one.messages == (*ASKED, Message("assistant", "place"))


def test_a_reading_that_failed_teaches_nothing() -> None:
    assert of_text("A text.", Reading((), (turn("types", "x"),), ModelReplyError("broken", "x"))) is None


def test_a_pair_is_kept_only_with_the_relation_that_the_geometries_have() -> None:
    assert of_pair(pair(1), completion(RCC5.DC)) is not None
    assert of_pair(pair(1), completion(RCC5.EQ)) is None
    assert of_pair(pair(1), completion(None)) is None


def test_the_sets_share_no_text_and_hold_both_tasks() -> None:
    made = [text_trajectory(n) for n in range(20)] + [pair_trajectory(n) for n in range(20)]
    sets = divide([*made, *made], instruct=10, test=6, large=100)
    abouts = [{one.about for one in chosen} for chosen in (sets.instruct, sets.test, sets.large)]
    assert [len(one) for one in abouts] == [10, 6, 24]
    assert len(set.union(*abouts)) == 40
    assert sum(one.task == "KGC" for one in sets.instruct) == 5


def test_the_same_seed_draws_the_same_sets_whatever_the_order() -> None:
    made = [text_trajectory(n) for n in range(12)]
    assert divide(made, instruct=4, test=2, large=0) == divide(made[::-1], instruct=4, test=2, large=0)
    assert divide(made, instruct=4, test=2, large=0) != divide(made, instruct=4, test=2, large=0, seed=8)


def test_without_a_trajectory_it_is_said_where_to_look() -> None:
    with pytest.raises(TrainingDataError, match="trace"):
        divide([], instruct=1, test=1, large=1)


def test_instructions_are_written_and_read_back_and_become_examples(tmp_path: Path) -> None:
    path = tmp_path / "instruct.jsonl"
    assert write_instructions([text_trajectory(1), pair_trajectory(1)], path) == 2
    taught = read_instructions(path)
    made = build(Mixture(city=2, plans=0), (), taught, seed=1, validation=False)
    learned = [example for example in made if example.source == "instruction"]
    assert {example.answer for example in learned} == {"answer 1", "DC"}
    assert learned[0].dialog[0] == ("system", "You extract.")


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"task": "RTE"}',
        '{"messages": [{"role": "user", "content": "x"}]}',
        '{"messages": [{"role": "x", "content": "x"}, {"role": "assistant", "content": "x"}]}',
        '["messages"]',
    ],
)
def test_a_line_that_is_no_dialog_is_reported_with_its_number(tmp_path: Path, line: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(f"\n{line}\n", encoding="utf-8")
    with pytest.raises(TrainingDataError, match="line 2"):
        read_instructions(path)
