"""The commands train and trajectories, as far as they go without PyTorch and without a teacher."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from extractors.errors import TrainingDataError
from extractors.models.chat import Reply
from server.cli.app import command_line
from server.errors import ServerError
from tests.support.scripted import ScriptedModel, words


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed: training would begin")
def test_training_without_pytorch_says_what_to_install(tmp_path: Path) -> None:
    result = CliRunner().invoke(command_line(), ["train", "--out", str(tmp_path / "run")])
    assert isinstance(result.exception, TrainingDataError)
    assert ".[research]" in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_trajectories_need_a_teacher(tmp_path: Path) -> None:
    result = CliRunner().invoke(command_line(), ["trajectories", "--out", str(tmp_path), "--texts", "x.txt"])
    assert isinstance(result.exception, TrainingDataError)
    assert "--model-url" in str(result.exception)


def test_trajectories_need_something_to_work_on(tmp_path: Path) -> None:
    arguments = ["trajectories", "--out", str(tmp_path), "--model-url", "http://127.0.0.1:9/"]
    result = CliRunner().invoke(command_line(), arguments)
    assert isinstance(result.exception, TrainingDataError)
    assert "--texts" in str(result.exception)


def test_places_that_extracted_triples_relate_become_pairs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Teacher(ScriptedModel):
        async def complete(
            self, messages: Any, *, schema: Any, max_tokens: int, temperature: float = 0
        ) -> Reply:
            triples = {"triples": [{"subject": "Mill Hall", "relation": "located in", "object": "Kiln Ward"}]}
            answer = {"entity_types": ["place"], "relations": ["located in"], **triples, "tools": []}
            said = json.dumps({**answer, "wrong": [], "missing": [], "relation": "IN", "inner": "A"})
            self.script = [words(said if schema else "This is a faithful trajectory")]
            return await super().complete(
                messages, schema=schema, max_tokens=max_tokens, temperature=temperature
            )

    monkeypatch.setattr("extractors.models.opening.open_model", lambda *_, **__: Teacher(words("")))
    (tmp_path / "texts.txt").write_text("Mill Hall is in Kiln Ward.\n")
    places = [
        {"name": "Mill Hall", "type": "hall", "geometry": "POINT (0.5 0.5)"},
        {"name": "Kiln Ward", "geometry": "POLYGON ((0 0, 1 0, 1 1, 0 1, 0 0))"},
        {"name": "Nowhere", "text": "A place."},
    ]
    (tmp_path / "places.jsonl").write_text("\n".join(json.dumps(one) for one in places))
    arguments = ["trajectories", "--out", str(tmp_path / "out"), "--model-url", "http://127.0.0.1:9/"]
    files = ["--texts", str(tmp_path / "texts.txt"), "--places", str(tmp_path / "places.jsonl")]
    done = CliRunner().invoke(command_line(), [*arguments, *files])
    assert done.exit_code == 0, done.output
    rows = [json.loads(line) for line in (tmp_path / "out" / "instruct.jsonl").read_text().splitlines()]
    assert {row["task"] for row in rows} == {"RTE", "KGC"}
    assert [row["stage"] for row in rows if row["task"] == "KGC"][-1] == "answer"


def test_without_a_checkout_the_command_line_says_where_the_commands_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("server.cli.app.find_spec", lambda name: None)
    for arguments in (["train", "--out", str(tmp_path)], ["evaluate", "urban", "--out", str(tmp_path)]):
        result = CliRunner().invoke(command_line(arguments[0]), arguments)
        assert isinstance(result.exception, ServerError)
        assert "`python -m research`" in str(result.exception)
    assert "trajectories" not in CliRunner().invoke(command_line(), ["--help"]).stdout


def test_the_commands_run_as_a_module_of_the_checkout() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "research", "trajectories", "--out", "x"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--model-url" in done.stderr
