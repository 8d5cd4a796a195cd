"""Compares the model's relations of places with the computed ones, mode by mode on one model."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from extractors.completion import Completer
from extractors.completion.pair import described
from extractors.completion.toolbox import call_fitting_tools, results_of
from extractors.errors import MethodUnsupported
from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel
from extractors.research.evaluation.completion.modes import refusal_of_mode, settings_of_mode
from extractors.research.evaluation.completion.pairs import NumberedPair, choose, read_pairs
from extractors.research.evaluation.completion.run import answer_all
from extractors.research.evaluation.completion.scoring import Answered, Scores, baselines, score
from extractors.research.evaluation.estimates import cell
from extractors.research.evaluation.expenses import expenses_cells, expenses_heads, expenses_json
from extractors.research.evaluation.judging.items import Item, write_table
from extractors.research.evaluation.judging.page import write_page
from extractors.research.evaluation.text2kgbench.folder import RunFolder
from extractors.sources.record import BrokenRecord
from geo.relate.rcc8 import RCC5
from server.cli.output import print_report, stderr
from server.intake.language_model import deferred_model
from server.research.report import digest_of, model_identity, progress_of, write_json
from server.settings import Settings

_VERTICES: Final = 60
_WORDS: Final = {
    RCC5.DC: "is disconnected from (DC)",
    RCC5.EC: "only touches (EC)",
    RCC5.PO: "partially overlaps (PO)",
    RCC5.EQ: "equals (EQ)",
    RCC5.IN: "lies in (IN)",
    RCC5.INi: "contains (IN, the other way round)",
}


def followed_modes(settings: Settings, modes: Sequence[str], *, try_all: bool) -> Sequence[str]:
    """The modes to run, those of the default where none is given.

    Raises MethodUnsupported for one that the model is known not to follow, unless `try_all`, and
    EvaluationError for a name that there is not.
    """
    profile = deferred_model(settings).prompt_profile
    if not modes:
        return ("zero-shot", "3-shot") if profile == "compact" and not try_all else ("pipeline", "no tools")
    for name in modes:
        if (refusal := refusal_of_mode(name, profile)) and not try_all:
            raise MethodUnsupported(f"{name}: {refusal} Or have it tried with --try-all.")
    return modes


async def measure_completion(
    settings: Settings,
    files: Sequence[Path],
    modes: Sequence[str],
    out: Path,
    *,
    limit: int | None,
    seed: int,
    prices: Prices,
    model: ChatModel | None = None,
) -> list[Scores]:
    """Run the modes one after the other, and write the scores beside the answers.

    A given model is used instead of that of the settings, and stays open.
    """
    chosen = {name: settings_of_mode(name) for name in modes}
    drawn = choose(list(_usable(files)), limit, seed)
    truths = [truth for one in drawn if (truth := one.pair.computed) is not None]
    scores = baselines(truths, seed=seed)
    RunFolder(out, {"benchmark": "completion", "model": model_identity(settings), "files": digest_of(files)})
    asked = model or deferred_model(settings)
    try:
        for name, how in chosen.items():
            completer = Completer(asked, replace(how, prompts=settings.prompts))
            prompts = hashlib.sha256(completer.prompt_version.encode()).hexdigest()[:8]
            file = out / f"{name.replace(' ', '-')}-{prompts}.jsonl"
            with progress_of(name, len(drawn)) as tell:
                answers = await answer_all(drawn, completer, file, tell=tell)
            scores.append(score(name, answers, seed=seed))
            _for_people(out, name, drawn, answers)
    finally:
        if model is None:
            await asked.close()
    rows = {one.name: {**one.json(), **expenses_json(one.cost, one.pairs, prices)} for one in scores}
    write_json(out / "completion.json", {"seed": seed, "modes": rows})
    return scores


def _for_people(out: Path, mode: str, pairs: Sequence[NumberedPair], answers: Sequence[Answered]) -> None:
    """The relations answered in a mode, to judge by the geometries and what the tools say of them."""
    items = [
        Item(
            one.identifier,
            f"A: {described(one.pair.head, _VERTICES)}\nB: {described(one.pair.tail, _VERTICES)}\n"
            f"Results of tools:\n{results_of(call_fitting_tools(one.pair))}",
            f"A ({one.pair.head.name})",
            _WORDS[answer.relation],
            f"B ({one.pair.tail.name})",
        )
        for one, answer in zip(pairs, answers, strict=True)
        if answer.relation is not None
    ]
    name = mode.replace(" ", "-")
    write_table(out / f"judge-{name}.csv", items)
    write_page(out / f"judge-{name}.html", items, f"{len(items)} relations, {mode}")


def _usable(files: Sequence[Path]) -> list[NumberedPair]:
    pairs = []
    for one in read_pairs(files):
        if isinstance(one, BrokenRecord):
            stderr.print(f"not usable: {one.place}: {one.reason}", markup=False)
        else:
            pairs.append(one)
    return pairs


def print_completion(scores: Sequence[Scores], prices: Prices) -> None:
    """The table of modes, with the baselines on top."""
    counts = {relation: scores[0].found[relation][0] for relation in RCC5}
    heads = [f"{relation.value} ({count})" for relation, count in counts.items() if count]
    costs = expenses_heads(prices)
    columns = ("mode", "right of five", "with direction", *heads, "no answer", "faithful", *costs)
    rows = []
    for one in scores:
        by = [str(one.found[relation][1]) for relation, count in counts.items() if count]
        rows.append((
            one.name, cell(one.five), cell(one.directed), *by, str(one.failed), str(one.faithful),
            *expenses_cells(one.cost, one.pairs, prices),
        ))  # fmt: skip
    title = f"Completion: {scores[0].pairs} pairs; the computed relation is the truth; right by relation"
    print_report(title, columns, rows)
