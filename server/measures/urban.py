"""Extraction from gold texts: what the model says, what the pipeline keeps, what the gate lets in."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from extractors.evaluation.estimates import cell
from extractors.evaluation.expenses import expenses_cells, expenses_heads, expenses_json
from extractors.evaluation.judging.items import Item, write_table
from extractors.evaluation.judging.page import write_page
from extractors.evaluation.rte import GoldText, Scores, measure, read_gold, result_json, score
from extractors.evaluation.urban import GOLD
from extractors.models import ChatModel
from extractors.models.accounting import Prices
from server.evaluating import empty_graph, gated
from server.measures.report import model_identity, output, progress_of, told, write_json
from server.settings import Settings


async def measure_urban(
    settings: Settings,
    gold: Path | None,
    out: Path,
    *,
    limit: int | None,
    seed: int,
    prices: Prices,
    model: ChatModel | None = None,
) -> Scores:
    """Measure through the gate; write the report, the statements of each text and what there is to judge.

    Nothing is kept in any graph. A model handed in is used instead of what the settings name.
    """
    texts = drawn(read_gold(gold or GOLD), limit, seed)
    out.mkdir(parents=True, exist_ok=True)
    async with empty_graph(settings, model) as services:
        with progress_of("texts", len(texts)) as tell:
            results = await measure(texts, gated(services), services.schema, tell=tell)
    scores = score(results, seed=seed)
    report = {
        "seed": seed,
        "model": model_identity(settings) if model is None else model.name,
        **scores.json(),
        **expenses_json(scores.cost, scores.texts, prices),
    }
    write_json(out / "urban.json", report)
    with (out / "texts.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(result_json(one), ensure_ascii=False) + "\n" for one in results)
    items = [
        Item(result.gold.identifier, result.gold.text, *one.told, quote=one.quote)
        for result in results
        for one in result.said
        if one.accepted
    ]
    write_table(out / "judge.csv", items)
    write_page(out / "judge.html", items, f"{len(items)} statements that the gate let in")
    return scores


def drawn(texts: Sequence[GoldText], limit: int | None, seed: int) -> list[GoldText]:
    """So many texts, drawn uniformly, in their order."""
    if limit is None or limit >= len(texts):
        return list(texts)
    return [texts[place] for place in sorted(random.Random(seed).sample(range(len(texts)), limit))]


def print_urban(rows: Sequence[tuple[str, Scores]], prices: Prices) -> None:
    """The stages of each row with their intervals, entities that are not in the text, and the expenses."""
    table = Table(
        "method", "stage", "precision", "recall", "F1", "right / told / gold", "made-up entities", "failed",
        *expenses_heads(prices), title=f"Extraction: {rows[0][1].texts} texts, strict, micro",
    )  # fmt: skip
    for name, scores in rows:
        stages = [("model", scores.model), ("pipeline", scores.pipeline), ("gate", scores.gate)]
        for place, (stage, found) in enumerate(stages):
            if found is None:
                continue
            last = stage == "gate"
            table.add_row(
                "" if place else name, stage, cell(found.precision), cell(found.recall), cell(found.f1),
                f"{found.right} / {found.told} / {found.gold}",
                f"{len(scores.made_up)} of {scores.entities}" if last else "",
                "" if place else str(scores.failed),
                *(expenses_cells(scores.cost, scores.texts, prices) if not place else ()),
            )  # fmt: skip
    output().print(table)
    for name, scores in rows:
        for made_up in scores.made_up:
            told.print(f"accepted, but not in the text: {name}, {made_up}", markup=False)
