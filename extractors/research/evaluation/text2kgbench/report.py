"""The scores of a run as JSON and as the lines of a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from extractors.models.accounting import Prices
from extractors.readers.costs import Cost, total
from extractors.research.evaluation.text2kgbench.bootstrap import Estimate
from extractors.research.evaluation.text2kgbench.run import Result, SetScores

__all__ = ["COLUMNS", "cost_rows", "result_json", "row", "thousand"]

COLUMNS: Final = (
    ("strict P", "strict_precision"),
    ("R", "strict_recall"),
    ("F1", "strict_f1"),
    ("official P", "official_precision"),
    ("R", "official_recall"),
    ("F1", "official_f1"),
    ("OC", "ontology_conformance"),
    ("made-up S", "made_up_subjects"),
    ("O", "made_up_objects"),
    ("R", "made_up_relations"),
)
_WITH_INTERVAL: Final = ("strict_f1", "official_f1")


def row(name: str, scores: SetScores) -> tuple[str, ...]:
    """Name, sentences, the scores of `COLUMNS` (the F1 with their intervals), relation types."""
    cells = [_cell(scores.estimates, key) for _, key in COLUMNS]
    return (name, str(scores.sentences), *cells, str(scores.relation_types))


def _cell(estimates: Mapping[str, Estimate], key: str) -> str:
    found = estimates.get(key)
    if found is None:
        return "-"
    interval = f" ({found.low:.3f}-{found.high:.3f})" if key in _WITH_INTERVAL else ""
    return f"{found.value:.3f}{interval}"


def cost_rows(result: Result) -> Iterable[tuple[str, ...]]:
    """Stage, turns, seconds and tokens in and out, each per text; the last row is all stages together."""
    for stage, cost in (*result.stages.items(), ("together", total(result.stages.values()))):
        yield (stage, *_per_text(cost, result.texts))


def _per_text(cost: Cost, texts: int) -> Sequence[str]:
    share = max(texts, 1)
    numbers = (cost.turns, cost.seconds, cost.prompt_tokens, cost.completion_tokens)
    return [
        f"{number / share:.2f}" if place < 2 else f"{number / share:.0f}"
        for place, number in enumerate(numbers)
    ]


def thousand(result: Result, prices: Prices) -> dict[str, Any]:
    """What a thousand texts take: seconds of the model, tokens, and their cost where prices are set."""
    whole, share = total(result.stages.values()), 1000 / max(result.texts, 1)
    tokens_in, tokens_out = round(whole.prompt_tokens * share), round(whole.completion_tokens * share)
    told: dict[str, Any] = {
        "seconds": round(whole.seconds * share, 1),
        "prompt_tokens": tokens_in,
        "completion_tokens": tokens_out,
    }
    cost = prices.cost(tokens_in, tokens_out)
    return told if cost is None else {**told, "cost": round(cost, 4), "currency": prices.currency}


def result_json(result: Result, prices: Prices) -> dict[str, Any]:
    """Every score with its interval, and what the run cost."""
    whole = total(result.stages.values())
    texts = max(result.texts, 1)
    return {
        "samples": result.samples,
        "failed": result.failed,
        **_scores_json(result.whole),
        "seconds_per_text": round(whole.seconds / texts, 3),
        "tokens_per_text": round((whole.prompt_tokens + whole.completion_tokens) / texts, 1),
        "thousand_texts": thousand(result, prices),
        "stages": {stage: cost.json() for stage, cost in result.stages.items()},
        "ontologies": {scores.name: _scores_json(scores) for scores in result.ontologies},
    }


def _scores_json(scores: SetScores) -> dict[str, Any]:
    return {
        "sentences": scores.sentences,
        "relation_types": scores.relation_types,
        "scores": {
            name: {"value": round(e.value, 4), "low": round(e.low, 4), "high": round(e.high, 4)}
            for name, e in scores.estimates.items()
        },
    }
