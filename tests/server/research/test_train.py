"""`urbankg train` and `urbankg trajectories`, as far as they go without PyTorch and without a teacher."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from extractors.errors import TrainingDataError
from server.cli.app import command_line


@pytest.mark.skipif(find_spec("torch") is not None, reason="PyTorch is installed: training would begin")
def test_training_without_pytorch_says_what_to_install(tmp_path: Path) -> None:
    result = CliRunner().invoke(command_line(), ["train", "--out", str(tmp_path / "run")])
    assert isinstance(result.exception, TrainingDataError)
    assert "WHEEL[research]" in str(result.exception)
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
