"""Extraction from gold texts: what the model says, what the pipeline keeps, what the gate accepts."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel
from extractors.research.evaluation.estimates import cell
from extractors.research.evaluation.expenses import expenses_cells, expenses_heads, expenses_json
from extractors.research.evaluation.judging.items import Item, write_table
from extractors.research.evaluation.judging.page import write_page
from extractors.research.evaluation.rte import GoldText, TextResult, measure, read_gold, result_json
from extractors.research.evaluation.scores import Scores, score
from extractors.research.evaluation.urban import GOLD
from server.cli.output import print_report, stderr
from server.data.sample.city import FOLDER
from server.research.by_relation import by_relation
from server.research.evaluating import empty_graph, gated
from server.research.report import model_identity, progress_of, write_json
from server.settings import Settings

SENTENCES: Final = "sentences"
CHOOSING: Final = "sentences, choosing half"
OTHER: Final = "sentences, other half"
SAMPLES: Final = "sample texts"
ALL: Final = "all"
GIVEN: Final = "texts"


async def measure_urban(
    settings: Settings,
    gold: Path | None,
    out: Path,
    *,
    limit: int | None,
    seed: int,
    prices: Prices,
    sample: bool = False,
    model: ChatModel | None = None,
) -> Mapping[str, Scores]:
    """Measure through the gate; write the report, the statements of each text and the tables for judges.

    Without a file of gold texts there are two sets, the urban sentences and the texts of the sample city; the
    sentences are also scored by halves, since choices are made by looking at one half only. Nothing is stored
    in any graph; it is empty, or with `sample` the sample city. A given model is used instead of that of the
    settings.
    """
    sets = {
        name: drawn(texts, limit, seed)
        for name, texts in (
            {GIVEN: read_gold(gold)}
            if gold is not None
            else {SENTENCES: read_gold(GOLD), SAMPLES: read_gold(FOLDER / "texts" / "gold.jsonl")}
        ).items()
    }
    out.mkdir(parents=True, exist_ok=True)
    results: dict[str, list[TextResult]] = {}
    async with empty_graph(settings, model, sample=sample) as services:
        for name, texts in sets.items():
            with progress_of(name, len(texts)) as tell:
                results[name] = await measure(texts, gated(services), services.schema, tell=tell)
    whole = [result for found in results.values() for result in found]
    scores = {name: score(found, seed=seed) for name, found in _parts(results).items()}
    report = {
        "seed": seed,
        "model": model_identity(settings) if model is None else model.name,
        "graph": "the sample city" if sample else "empty",
        "sets": {
            name: {**one.json(), **expenses_json(one.cost, one.texts, prices)} for name, one in scores.items()
        },
        "relations": {name: asdict(one) for name, one in by_relation(whole).items()},
    }
    write_json(out / "urban.json", report)
    with (out / "texts.jsonl").open("w", encoding="utf-8") as stream:
        stream.writelines(json.dumps(result_json(one), ensure_ascii=False) + "\n" for one in whole)
    items = [
        Item(result.gold.identifier, result.gold.text, *one.told, quote=one.quote)
        for result in whole
        for one in result.said
        if one.accepted
    ]
    write_table(out / "judge.csv", items)
    write_page(out / "judge.html", items, f"{len(items)} statements that the gate accepted")
    return scores


def is_choosing(text: GoldText) -> bool:
    """Whether a text is in the half used for choices, by a hash of its name."""
    return hashlib.sha256(text.identifier.encode()).digest()[0] % 2 == 0


def _parts(results: Mapping[str, list[TextResult]]) -> Mapping[str, list[TextResult]]:
    """The sets, the sentences by halves, and all together."""
    sentences = results[SENTENCES if SENTENCES in results else GIVEN]
    halves = {
        CHOOSING: [one for one in sentences if is_choosing(one.gold)],
        OTHER: [one for one in sentences if not is_choosing(one.gold)],
    }
    if GIVEN in results:
        return {**{name: half for name, half in halves.items() if half}, **results}
    return {**halves, **results, ALL: [one for found in results.values() for one in found]}


def drawn(texts: Sequence[GoldText], limit: int | None, seed: int) -> list[GoldText]:
    """A uniform sample of texts, in their order."""
    if limit is None or limit >= len(texts):
        return list(texts)
    return [texts[place] for place in sorted(random.Random(seed).sample(range(len(texts)), limit))]


def print_urban(
    rows: Sequence[tuple[str, Scores]], prices: Prices, head: str = "method", title: str = "extraction"
) -> None:
    """The stages of each row with their intervals, entities that are not in the text, and the expenses."""
    columns = (
        head, "stage", "precision", "with named kinds", "recall", "right / told / gold", "named", "unsaid",
        "made up", "OC", "types", "failed", *expenses_heads(prices),
    )  # fmt: skip
    lines: list[tuple[str, ...]] = []
    for name, scores in rows:
        size = f"{name} ({scores.texts})"
        cost = expenses_cells(scores.cost, scores.texts, prices)
        stages = {
            "model": scores.model,
            "pipeline": scores.pipeline,
            "gate": scores.gate,
            "its relations": scores.relations,
            "its kinds": scores.kinds,
        }
        for place, (stage, found) in enumerate(stages.items()):
            if found is None:
                continue
            last = stage == "gate"
            lines.append((
                size, stage, cell(found.precision), cell(found.supported),
                cell(found.recall), f"{found.right} / {found.told} / {found.gold}",
                str(found.named), str(scores.unsaid) if last else "",
                f"{len(scores.made_up)} of {scores.entities}" if last else "",
                "" if place else _share(scores.conformance), "" if place else str(scores.relation_types),
                "" if place else str(scores.failed),
                *("" if place else part for part in cost),
            ))  # fmt: skip
    title = f"{title}: strict, micro; beside it the precision where kinds that a name says are right"
    print_report(title, columns, lines)
    for made_up in dict.fromkeys(made_up for _, scores in rows for made_up in scores.made_up):
        stderr.print(f"accepted, but not in the text: {made_up}", markup=False)


def _share(found: float | None) -> str:
    return "-" if found is None else f"{found:.3f}"
