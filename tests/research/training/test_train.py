"""A whole run on a tiny base: data, adapter, figures on held-out instructions, cards; stopped and gone on."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="training needs the extra research")
pytest.importorskip("peft", reason="training needs the extra research")

from extractors.errors import TrainingDataError  # noqa: E402
from extractors.models.local.weights import read_card  # noqa: E402
from extractors.models.opening import prompts_of  # noqa: E402
from research.training.dataset import Mixture  # noqa: E402
from research.training.lora import Settings  # noqa: E402
from research.training.train import Run, train  # noqa: E402
from tests.support.tiny_models import write_tiny_model  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("default")]


def instructions(path: Path, *texts: str) -> Path:
    lines = []
    for text in texts:
        triples = {"triples": [{"subject": text, "relation": "located in", "object": "Bergen"}]}
        for stage, question, answer in (
            ("types", "List the types.", "museum; city"),
            ("triples", "Extract triples.", json.dumps(triples)),
            ("verify", "Text: which relations hold here?", "This is a faithful trajectory."),
        ):
            turns = (("system", question), ("user", text), ("assistant", answer))
            messages = [{"role": role, "content": words} for role, words in turns]
            lines.append(json.dumps({"task": "RTE", "stage": stage, "messages": messages}))
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def run(tmp_path: Path) -> Run:
    torch.set_num_threads(1)
    long = "museum city " * 3000
    return Run(
        tmp_path / "city-facts",
        write_tiny_model("qwen2", tmp_path / "base"),
        Settings(epochs=25, batch=3, rank=8, alpha=16, learning_rate=2e-2, warm_up=2, device="cpu"),
        Mixture(city=0, plans=0),
        minutes=10,
        instructions=(instructions(tmp_path / "instruct.jsonl", "The Museum", "The city", long),),
        test=(instructions(tmp_path / "test.jsonl", "A Museum"),),
    )


def test_a_run_leaves_an_adapter_with_figures_for_each_kind_of_turn(run: Run) -> None:
    said: list[str] = []
    assert train(run, said.append)
    record = json.loads((run.out / "record.json").read_text(encoding="utf-8"))
    assert record["trained"]["ended"] == "epochs"
    assert record["lengths"]["RTE triples"]["left_out"] == 1
    assert set(record["test"]) == {"RTE triples", "RTE types", "RTE verify"}
    assert record["test"]["RTE verify"]["exact"] == 1.0
    assert record["test"]["RTE triples"]["triples"] == 1
    assert any("too long and left out" in line for line in said)

    card = (run.out / "MODEL_CARD.md").read_text(encoding="utf-8")
    assert card == (run.out / "adapter" / "README.md").read_text(encoding="utf-8")
    assert "| RTE verify | 1 |" in card
    assert f"base_model: {run.base}" in card
    declared = read_card(run.out)
    assert declared.name == "city-facts"
    assert declared.turns == ("RTE triples", "RTE types", "RTE verify")
    assert prompts_of(None, model="base.gguf", adapter=str(run.out), prompts=None) == "full"


def test_a_stopped_run_goes_on_and_another_one_wants_another_folder(run: Run) -> None:
    said: list[str] = []

    def stopping(line: str) -> None:
        said.append(line)
        if line.startswith("step 10/"):
            os.kill(os.getpid(), signal.SIGTERM)

    assert not train(run, stopping)
    assert "the same command goes on" in said[-1]
    assert not (run.out / "record.json").exists()
    with pytest.raises(TrainingDataError, match=r"other settings: give another --out"):
        train(replace(run, settings=replace(run.settings, rank=4)), said.append)
    assert train(replace(run, minutes=20), said.append)
    assert any(line.startswith("goes on at step 1") for line in said)


def test_a_run_that_did_not_begin_leaves_its_folder_to_another(run: Run, tmp_path: Path) -> None:
    with pytest.raises(TrainingDataError, match="nothing to learn from"):
        train(replace(run, instructions=(), test=()), print)
    few = replace(run.settings, epochs=1)
    assert train(replace(run, settings=few, answers=0), lambda line: None)


def test_what_is_measured_on_must_not_be_learned_from(run: Run) -> None:
    with pytest.raises(TrainingDataError, match="among the training instructions"):
        train(replace(run, test=run.instructions), print)


def test_a_run_goes_on_only_from_an_adapter_of_its_base(run: Run, tmp_path: Path) -> None:
    assert train(replace(run, settings=replace(run.settings, epochs=1)), lambda line: None)
    again = replace(run, out=tmp_path / "again", start=run.out)
    with pytest.raises(TrainingDataError, match="give that one as --base"):
        train(replace(again, base=None), print)
    assert train(replace(again, settings=replace(run.settings, epochs=1)), lambda line: None)
    assert json.loads((again.out / "record.json").read_text(encoding="utf-8"))["before"]["base"]


def test_the_minutes_are_for_the_whole_command(run: Run) -> None:
    """A clock of which every look takes two seconds: training and generating both end by it."""
    now = [0.0]

    def clock() -> float:
        now[0] += 2.0
        return now[0]

    passing: Callable[[], float] = clock
    assert train(replace(run, minutes=2), lambda line: None, clock=passing)
    record = json.loads((run.out / "record.json").read_text(encoding="utf-8"))
    assert record["trained"]["ended"] == "minutes"
    assert now[0] < 2 * 60 + 30
