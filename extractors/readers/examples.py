"""The worked examples that a method shows before its question; each has a small ontology of its own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from extractors.prompting.prompt import IS_A, IS_A_DEFINITION
from extractors.prompting.templates import EXAMPLES, PromptError, digest_of, read_source

__all__ = ["Example", "load_examples"]

Row = tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """A text and what is right to answer to it.

    `relations` are label, domain, range and meaning; `entities` name and kind; `triples` quote, subject,
    relation and object, those that say a kind among them.
    """

    text: str
    classes: Row
    relations: tuple[Row, ...]
    entities: tuple[Row, ...]
    triples: tuple[Row, ...]

    def definitions(self, *, kinds: bool) -> list[str]:
        """The relations as prompts show them."""
        lines = [
            f"- {label} ({domain} -> {range_}): {note}" for label, domain, range_, note in self.relations
        ]
        return [IS_A_DEFINITION, *lines] if kinds else lines

    def answers(self, *, kinds: bool) -> Mapping[str, str]:
        """The right answers: all triples as JSON, and the parts of a chain of thought as lines."""
        said = [row for row in self.triples if kinds or row[2] != IS_A]
        rows = [dict(zip(("quote", "subject", "relation", "object"), row, strict=True)) for row in said]
        found = [
            (f'"{quote}"', subject, object_) for quote, subject, relation, object_ in said if relation != IS_A
        ]
        return {
            "answer": json.dumps({"triples": rows}, ensure_ascii=False),
            "entities": _lines(self.entities),
            "relations": _lines(found),
            "triples": "\n".join(f"[{' | '.join(row[1:])}]" for row in said) or "none",
        }


def _lines(rows: Iterable[Row]) -> str:
    return "\n".join(" | ".join(row) for row in rows) or "none"


def load_examples(folder: Path | None) -> tuple[tuple[Example, ...], str]:
    """The examples in order and the version of their file. Raises `PromptError` with the line."""
    source, place = read_source(EXAMPLES, folder)
    lines = [(number, line) for number, line in enumerate(source.split("\n"), start=1) if line.strip()]
    return tuple(_example(place, number, line) for number, line in lines), digest_of(source)


def _example(place: str, number: int, line: str) -> Example:
    try:
        row = json.loads(line)
        return Example(
            text=str(row["text"]),
            classes=tuple(map(str, row["classes"])),
            relations=_rows(row["relations"], 4),
            entities=_rows(row["entities"], 2),
            triples=_rows(row["triples"], 4),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise PromptError(
            f"{place if place.endswith(EXAMPLES) else EXAMPLES}, line {number} is no example ({error!r}): it "
            "needs text, classes, relations, entities and triples, as the shipped ones have."
        ) from error


def _rows(value: Any, width: int) -> tuple[Row, ...]:
    rows = tuple(tuple(map(str, row)) for row in value)
    if any(len(row) != width for row in rows):
        raise ValueError(f"rows of {width} are needed")
    return rows
