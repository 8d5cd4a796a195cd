"""`urbankg serve` with flags in their plainest form, which need not wait for the library of the command line.

It takes as long to import as a store to open. Whatever is not plain is left to it, mistakes and `--help` too.
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
"""What `serve_command.serve` takes, and as what; a test compares them."""


def plain_flags(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The flags by the names of settings, where each is `--name value` and comes once; else None."""
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
