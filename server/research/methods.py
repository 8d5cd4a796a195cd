"""Modes and ablations on one model, table by table: groups of prompts, UrbanKGent's, and those of forms.

The groups are those of Nie et al. (section 4.2), the modes and ablations those of UrbanKGent (section 5.1.2)
for both of its tasks. The forms of the embedded model have parts of their own to leave out.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from extractors.errors import EvaluationError
from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel
from extractors.research.evaluation.completion.modes import ABLATIONS, MODES
from extractors.research.evaluation.expenses import expenses_json
from extractors.research.evaluation.rte import GoldText, measure, read_gold, result_json
from extractors.research.evaluation.scores import Scores, score
from extractors.research.evaluation.urban import GOLD
from extractors.research.methods import any_method_named
from server.research.completion import measure_completion, print_completion
from server.research.evaluating import empty_graph, gated
from server.research.report import model_identity, progress_of, write_json
from server.research.urban import drawn, print_urban
from server.runtime.context import Services
from server.runtime.settings import Settings

#: The tables of extraction: their rows, and the method of each. Rows are named after the omitted part.
GROUPS_OF_PROMPTS: Final[Mapping[str, str]] = {
    "Context base": "context_base",
    "Context ontology": "context_ontology",
    "Context CoT + ontology": "context_cot",
    "ICL base": "icl_base",
    "ICL ontology": "icl_ontology",
    "ICL CoT + ontology": "icl_cot",
}
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
FORMS: Final[Mapping[str, str]] = {
    "form": "fast",
    "whole ontology": "form_whole",
    "no domains and ranges": "form_bare",
    "no copying": "form_free",
    "no kinds": "form_untyped",
}
TABLES: Final[Mapping[str, tuple[str, Mapping[str, str]]]] = {
    "k4": ("groups of prompts (K4)", GROUPS_OF_PROMPTS),
    "u11": ("modes and ablations (U11)", EXTRACTION),
    "form": ("the form and its parts", FORMS),
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
    only: Collection[str] = (),
    model: ChatModel | None = None,
) -> None:
    """Run every row on the same texts and pairs, print the tables one by one, and write everything down.

    Tools are for completion: extraction is the same without them, and no method is run twice. `only` names
    tables of extraction; by default all that the model supports. Raises EvaluationError for an unknown name.
    """
    if unknown := set(only) - set(TABLES):
        raise EvaluationError(f"There is no table {min(unknown)!r}. Take one of {', '.join(TABLES)}.")
    out.mkdir(parents=True, exist_ok=True)
    if texts:
        measured: dict[str, Scores] = {}
        reported: dict[str, Any] = {}
        async with empty_graph(settings, model) as services:
            chosen = drawn(read_gold(gold or GOLD), limit, seed)
            run = _Run(services, chosen, out, seed, measured)
            can = TABLES if services.model.prompt_profile == "compact" else [*TABLES][:-1]
            for table in (name for name in TABLES if name in (only or can)):
                title, methods = TABLES[table]
                rows = {name: await run.scores(method) for name, method in methods.items()}
                print_urban(list(rows.items()), prices, title=title)
                reported[title] = {
                    name: {
                        "method": methods[name],
                        **one.json(),
                        **expenses_json(one.cost, one.texts, prices),
                    }
                    for name, one in rows.items()
                }
                # Printed at once: a table may take long.
                write_json(
                    out / "extraction.json",
                    {"seed": seed, "model": model_identity(settings), "tables": reported},
                )
    if pairs:
        modes = [*MODES, *ABLATIONS]
        scores = await measure_completion(
            settings, pairs, modes, out / "completion", limit=limit, seed=seed, prices=prices, model=model
        )
        print_completion(scores, prices)


@dataclass(frozen=True)
class _Run:
    """The texts of one comparison; a method in several tables is run once."""

    services: Services
    texts: Sequence[GoldText]
    out: Path
    seed: int
    measured: dict[str, Scores]

    async def scores(self, method: str) -> Scores:
        """The scores of a method."""
        # Extraction uses no tools.
        method = "thorough" if method == "without_tools" else method
        if method not in self.measured:
            with progress_of(method, len(self.texts)) as tell:
                extract = gated(self.services, any_method_named(method))
                results = await measure(self.texts, extract, self.services.schema, tell=tell)
            with (self.out / f"extraction-{method}.jsonl").open("w", encoding="utf-8") as stream:
                stream.writelines(json.dumps(result_json(one), ensure_ascii=False) + "\n" for one in results)
            self.measured[method] = score(results, seed=self.seed)
        return self.measured[method]
