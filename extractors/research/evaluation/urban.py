"""Measures extraction on the urban gold sentences.

Run `python -m extractors.research.evaluation.urban [--limit N]`.

Told are the model's own triples, and those the pipeline finds no fault with before the gate; `urbankg
evaluate urban` also asks the gate. See `extractors.research.evaluation.rte` for what counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

from extractors.grounding.linking import LabelEntry
from extractors.models.opening import open_model
from extractors.pipeline import Pipeline
from extractors.research.evaluation.estimates import cell
from extractors.research.evaluation.rte import Gated, measure, read_gold
from extractors.research.evaluation.scores import Stage, score
from ontology import Schema

__all__ = ["GOLD", "main", "stage_line"]

GOLD = Path(__file__).parent / "urban_gold.jsonl"
_ONTOLOGY = Path(__file__).resolve().parents[3] / "ontology"


class _NoLabels:
    """An empty graph: every name is new."""

    def exact(self, words: str) -> Sequence[LabelEntry]:
        return ()

    def similar(self, words: str, limit: int) -> Sequence[tuple[LabelEntry, float]]:
        return ()

    def mentions(
        self, text: str, *, any_case: bool = False
    ) -> Sequence[tuple[int, int, Sequence[LabelEntry]]]:
        return ()


def stage_line(name: str, stage: Stage) -> str:
    """A stage in one line."""
    return (
        f"{name:<27}P {cell(stage.precision)}  R {cell(stage.recall)}  F1 {cell(stage.f1)}  "
        f"({stage.right} right of {stage.told} told, {stage.gold} in the gold)"
    )


async def _measure(gold_file: Path, limit: int | None, url: str | None, out: Path | None) -> int:
    model = open_model(url)
    schema = Schema.load(_ONTOLOGY)
    pipeline = Pipeline(schema=schema, labels=_NoLabels(), model=model)

    async def extract(text: str) -> Gated:
        return Gated(await pipeline.extract(text))

    try:
        scores = score(await measure(read_gold(gold_file)[:limit], extract, schema))
    finally:
        await model.close()
    print(
        f"{scores.texts} texts, {scores.failed} without a usable reply, {scores.seconds:.0f} s, "
        f"model {model.name}"
    )
    print(stage_line("the model's triples", scores.model))
    print(stage_line("after the pipeline's rules", scores.pipeline))
    if out is not None:
        told = scores.json()
        counts = {name: {key: told[name][key] for key in ("right", "told", "gold")} for name in _STAGES}
        out.write_text(json.dumps({"texts": scores.texts, **counts}, indent=1), encoding="utf-8")
    return 0


_STAGES = ("model", "pipeline")


def main() -> int:
    """Run the measurement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gold", type=Path, default=GOLD)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--model-url", help="a TGI-compatible server; the embedded model when not given")
    parser.add_argument("--out", type=Path, help="also write the counts here, as JSON")
    arguments = parser.parse_args()
    return asyncio.run(_measure(arguments.gold, arguments.limit, arguments.model_url, arguments.out))


if __name__ == "__main__":
    raise SystemExit(main())
