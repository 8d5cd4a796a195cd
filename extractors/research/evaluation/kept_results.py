"""The results of a run text by text in a file, so that a run that ended goes on where it was."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from extractors.readers.costs import Cost
from extractors.research.evaluation.rte import GoldText, ScoredTriple, TextResult, result_json

__all__ = ["KeptResults"]


class KeptResults:
    """A file of JSON lines: each text as people read it (`result_json`), and `kept`, which is scored."""

    def __init__(self, file: Path, gold: Sequence[GoldText]) -> None:
        """Read what is there; a line that was cut off when a run ended is taken out."""
        self._file = file
        texts = {one.identifier: one for one in gold}
        self.known: Mapping[str, TextResult] = {
            row["id"]: _result(texts[row["id"]], row) for row in _whole_lines(file) if row["id"] in texts
        }

    def keep(self, result: TextResult) -> None:
        """Add the result of a text."""
        kept = {
            "said": [asdict(one) for one in result.said],
            "entities": result.entities,
            "unsaid": result.unsaid,
            "gated": result.gated,
            "cost": asdict(result.cost),
            "seconds": result.seconds,
        }
        with self._file.open("a", encoding="utf-8") as stream:
            # Escaped, since a model's reply may hold what UTF-8 cannot.
            stream.write(json.dumps({**result_json(result), "kept": kept}) + "\n")


def _result(gold: GoldText, row: Mapping[str, Any]) -> TextResult:
    kept = row["kept"]
    said = (
        ScoredTriple(**{**one, "words": tuple(one["words"]), "told": tuple(one["told"])})
        for one in kept["said"]
    )
    return TextResult(
        gold,
        tuple(said),
        kept["entities"],
        tuple(row["made_up"]),
        kept["unsaid"],
        kept["gated"],
        Cost(**kept["cost"]),
        kept["seconds"],
        row["error"],
    )


def _whole_lines(file: Path) -> list[dict[str, Any]]:
    if not file.is_file():
        return []
    content = file.read_bytes()
    whole = content.rfind(b"\n") + 1
    if whole < len(content):
        with file.open("r+b") as stream:
            stream.truncate(whole)
    return [json.loads(line) for line in content[:whole].splitlines() if line.strip()]
