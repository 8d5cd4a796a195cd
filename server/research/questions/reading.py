"""Files of questions: our JSON lines, and TEXT2SPARQL's YAML."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server.errors import ServerError

__all__ = ["AskedQuestion", "read_questions"]


@dataclass(frozen=True)
class AskedQuestion:
    """A question with its gold.

    `query` is a SPARQL query whose results are the gold. With `gap` (the kind of what is missing) the
    question has no answer and is to be refused. A `trap` may be refused, or answered as the gold says. The
    questions of a `group` mean the same.
    """

    id: str
    text: str
    category: str = ""
    query: str | None = None
    gap: str | None = None
    trap: bool = False
    group: str | None = None
    history: tuple[str, ...] = ()


def read_questions(path: Path) -> list[AskedQuestion]:
    """Read a file of questions. Raises `ServerError`, which names the line or the member at fault."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ServerError(f"{path} cannot be read: {error.strerror}.") from error
    found = list(_from_yaml(text, path) if path.suffix in (".yml", ".yaml") else _from_lines(text, path))
    if not found:
        raise ServerError(f"{path} holds no question.")
    return found


def _from_lines(text: str, path: Path) -> Iterator[AskedQuestion]:
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield _of_line(json.loads(line))
        except (ValueError, KeyError, TypeError) as error:
            raise ServerError(
                f"{path}, line {number}: {error!r}. A line is an object with id and question."
            ) from error


def _of_line(line: dict[str, Any]) -> AskedQuestion:
    known = {"id", "question", "category", "query", "gap", "trap", "group", "history"}
    if unknown := line.keys() - known:
        raise ValueError(f"unknown members: {', '.join(sorted(unknown))}")
    return AskedQuestion(
        str(line["id"]),
        line["question"],
        line.get("category", ""),
        line.get("query"),
        line.get("gap"),
        bool(line.get("trap", False)),
        line.get("group"),
        tuple(line.get("history", ())),
    )


def _from_yaml(text: str, path: Path) -> Iterator[AskedQuestion]:
    import yaml

    try:
        listed = yaml.safe_load(text)["questions"]
        for one in listed:
            features = [str(f) for f in one.get("features", ())]
            yield AskedQuestion(
                str(one["id"]), one["question"]["en"], " ".join(features), one["query"]["sparql"]
            )
    except (yaml.YAMLError, KeyError, TypeError) as error:
        raise ServerError(f"{path} is not a file of TEXT2SPARQL questions: {error}.") from error
