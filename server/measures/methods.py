"""The modes and ablations of UrbanKGent on one model, for both of its tasks, in two tables (methods U11)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from extractors.evaluation.completion.modes import ABLATIONS, MODES
from extractors.evaluation.expenses import expenses_json
from extractors.evaluation.rte import measure, read_gold, result_json
from extractors.evaluation.scores import Scores, score
from extractors.evaluation.urban import GOLD
from extractors.models import ChatModel
from extractors.models.accounting import Prices
from server.evaluating import empty_graph, gated
from server.measures.completion import measure_completion, print_completion
from server.measures.report import model_identity, progress_of, write_json
from server.measures.urban import drawn, print_urban
from server.settings import Settings

#: The rows of the table of extraction, and the method of each. What was left out of the whole is named.
EXTRACTION: Final[Mapping[str, str]] = {
    "zero-shot": "zero_shot",
    "1-shot": "one_shot",
    "3-shot": "three_shot",
    "without pipeline": "fast",
    "pipeline": "thorough",
    "no knowledge": "without_knowledge",
    "no multi-view": "without_views",
    "no tools": "without_tools",
    "no refinement": "without_refinement",
}


async def measure_methods(
    settings: Settings,
    out: Path,
    *,
    pairs: Sequence[Path],
    gold: Path | None,
    texts: bool,
    limit: int | None,
    seed: int,
    prices: Prices,
    model: ChatModel | None = None,
) -> None:
    """Run every row on the same texts and pairs, print a table for each task, and write both down.

    Tools are for completion: extraction without them is the same as with them, and is not run twice.
    """
    out.mkdir(parents=True, exist_ok=True)
    if texts:
        rows = await _extraction(settings, out, gold, limit, seed, model)
        print_urban(list(rows.items()), prices)
        told: dict[str, Any] = {
            name: {**one.json(), **expenses_json(one.cost, one.texts, prices)} for name, one in rows.items()
        }
        write_json(out / "extraction.json", {"seed": seed, "model": model_identity(settings), "modes": told})
    if pairs:
        modes = [*MODES, *ABLATIONS]
        scores = await measure_completion(
            settings, pairs, modes, out / "completion", limit=limit, seed=seed, prices=prices, model=model
        )
        print_completion(scores, prices)


async def _extraction(
    settings: Settings, out: Path, gold: Path | None, limit: int | None, seed: int, model: ChatModel | None
) -> dict[str, Scores]:
    chosen = drawn(read_gold(gold or GOLD), limit, seed)
    rows: dict[str, Scores] = {}
    async with empty_graph(settings, model) as services:
        for name, method in EXTRACTION.items():
            if name == "no tools":
                rows[name] = rows["pipeline"]
                continue
            with progress_of(name, len(chosen)) as tell:
                results = await measure(chosen, gated(services, method), services.schema, tell=tell)
            with (out / f"extraction-{method}.jsonl").open("w", encoding="utf-8") as stream:
                stream.writelines(json.dumps(result_json(one), ensure_ascii=False) + "\n" for one in results)
            rows[name] = score(results, seed=seed)
    return rows
