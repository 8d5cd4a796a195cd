"""The worked examples of one-shot and three-shot prompts (UrbanKGent, section 5.1.2)."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

import shapely

from extractors.completion.pair import Pair, Place

__all__ = ["WorkedExample", "worked_examples"]


@dataclass(frozen=True)
class WorkedExample:
    """A pair and how one comes to its relation, in words; the relation itself is computed."""

    pair: Pair
    reasoning: str


@cache
def worked_examples() -> tuple[WorkedExample, ...]:
    """Three pairs of made-up places: inside, touching, apart."""
    source = (resources.files("extractors") / "completion" / "examples.jsonl").read_text(encoding="utf-8")
    rows = [json.loads(line) for line in source.splitlines() if line]
    return tuple(
        WorkedExample(Pair(_place(row["head"]), _place(row["tail"])), row["reasoning"]) for row in rows
    )


def _place(row: dict[str, Any]) -> Place:
    return Place(row["name"], row["type"], shapely.from_wkt(row["wkt"]))
