"""Parses plain flags of `urbankg serve` without the command-line library.

That library takes as long to import as a store to open. It parses all other flags, mistakes and `--help`.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

FLAGS: Final = {
    "--data": Path,
    "--host": str,
    "--port": int,
    "--config": Path,
    "--ontology": Path,
    "--shapes": Path,
    "--model-url": str,
    "--store-url": str,
}
"""The flags of `serve_command.serve` with their types; a test compares them."""


def plain_flags(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The flags by the names of settings, where each is `--name value` and occurs once; else None."""
    names, values = arguments[::2], arguments[1::2]
    if len(names) != len(values) or len(set(names)) != len(names):
        return None
    found: dict[str, Any] = {}
    for name, value in zip(names, values, strict=True):
        kind = FLAGS.get(name)
        if kind is None or not value or value.startswith("-"):
            return None
        if kind is int and not (value.isascii() and value.isdigit()):
            return None
        found[name.removeprefix("--").replace("-", "_")] = kind(value)
    return found
