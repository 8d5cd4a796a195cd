"""Bytes, characters and rows of the benchmark's files, whatever wrote them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from extractors.errors import EvaluationError

__all__ = ["decoded", "read_bytes", "read_rows", "whole"]

_HALF_PAIR: Final = re.compile("[\ud800-\udfff]")


def read_bytes(path: Path) -> bytes:
    """The content of a file. Raises `EvaluationError` when there is none."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror}. Give an existing file.") from error


def decoded(content: bytes) -> str:
    """The characters of a file; what is no UTF-8 is replaced."""
    return content.decode("utf-8-sig", errors="replace")


def whole(text: str) -> str:
    """The text with what is no character replaced: nothing that stores or sends text takes it."""
    return _HALF_PAIR.sub("\ufffd", text)


def read_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a file of JSON lines with the numbers of their lines.

    Raises `EvaluationError` for a line that is none.
    """
    # Cut at \n alone: a sentence may hold other characters that Python takes for ends of lines.
    for number, line in enumerate(decoded(read_bytes(path)).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise EvaluationError(
                f"{path}, line {number} is not JSON: {error}. Write one JSON object a line."
            ) from error
        if not isinstance(row, dict):
            raise EvaluationError(f"{path}, line {number} is no JSON object. Write one JSON object a line.")
        yield number, {key: whole(held) if isinstance(held, str) else held for key, held in row.items()}
