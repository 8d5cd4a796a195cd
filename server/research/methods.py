"""Modes and ablations on one model, table by table: groups of prompts, UrbanKGent's, and those of forms.

The groups are those of Nie et al. (section 4.2), the modes and ablations those of UrbanKGent (section 5.1.2)
for both of its tasks. The forms of the embedded model have parts of their own to leave out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from extractors.errors import EvaluationError, MethodUnsupported
from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel
from extractors.research.evaluation.completion.modes import ABLATIONS, MODES, refusal_of_mode
from extractors.research.evaluation.expenses import expenses_json
from extractors.research.evaluation.kept_results import KeptResults
from extractors.research.evaluation.rte import GoldText, measure, read_gold
from extractors.research.evaluation.scores import Scores, score
from extractors.research.evaluation.text2kgbench.folder import RunFolder
from extractors.research.evaluation.urban import GOLD
from extractors.research.methods import any_method_named
from server.cli.output import stderr
from server.intake.language_model import deferred_model
from server.research.completion import measure_completion, print_completion
from server.research.evaluating import empty_graph, gated
from server.research.methods_report import MethodsReport, Refused
from server.research.report import digest_of, model_identity, progress_of, write_json
from server.research.urban import drawn, print_urban
from server.services import Services
from server.settings import Settings

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
    "refinement in words": "refinement_in_words",
}
FORMS: Final[Mapping[str, str]] = {
    "form": "fast",
    "whole ontology": "form_whole",
    "no domains and ranges": "form_bare",
    "no copying": "form_free",
    "no kinds": "form_untyped",
}
TUNED: Final[Mapping[str, str]] = {"without pipeline": "fast", "pipeline": "thorough"}
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
    try_all: bool = False,
    model: ChatModel | None = None,
    tuned: str | None = None,
    tuned_model: ChatModel | None = None,
) -> None:
    """Run every row on the same texts and pairs, print the tables one by one, and write everything down.

    Every answer is in the folder as soon as it is there, and a run that ended goes on where it was. A method
    that the model is known not to follow is refused in its row, unless `try_all`. Tools are for completion:
    extraction is the same without them, and no method is run twice. `only` names tables of extraction; by
    default all for such a model. `tuned` names the same model after fine-tuning, at the same server: it is
    measured with and without the pipeline. Raises EvaluationError for an unknown name, and for a folder of
    another run.
    """
    if unknown := set(only) - set(TABLES):
        raise EvaluationError(f"There is no table {min(unknown)!r}. Take one of {', '.join(TABLES)}.")
    read = read_gold(gold or GOLD) if texts else []
    chosen = drawn(read, limit, seed)
    identity = model_identity(settings) if model is None else model.name
    RunFolder(out, _identity(identity, settings, gold or GOLD))
    parts = [f"{len(chosen)} of {len(read)} texts drawn uniformly" if texts else ""]
    parts += [f"at most {limit or 'all'} pairs of {', '.join(one.name for one in pairs)}"] if pairs else []
    report = MethodsReport(identity, ", ".join(part for part in parts if part), prices)
    if texts:
        async with empty_graph(settings, model) as services:
            run = _Run(services, chosen, out, seed, try_all, {})
            # The parts of a form are not the methods of a model that gets none.
            can = TABLES if services.model.prompt_profile == "compact" else [*TABLES][:-1]
            for table in (name for name in TABLES if name in (only or can)):
                await _extraction(run, *TABLES[table], report, out)
    if pairs:
        await _completion(settings, pairs, out, report, limit=limit, seed=seed, try_all=try_all, model=model)
    if tuned is None:
        return
    settings, part = settings.model_copy(update={"model_name": tuned}), out / "tuned"
    RunFolder(part, {**_identity(identity, settings, gold or GOLD), "tuned": tuned})
    if texts:
        async with empty_graph(settings, tuned_model) as services:
            run = _Run(services, chosen, part, seed, try_all, {})
            await _extraction(run, f"fine-tuned: {tuned} (U11)", TUNED, report, out)
    if pairs:
        scores = await measure_completion(
            settings, pairs, list(TUNED), part / "completion",
            limit=limit, seed=seed, prices=prices, model=tuned_model,
        )  # fmt: skip
        print_completion(scores, prices)
        report.completion += [(f"fine-tuned, {one.name}", one) for one in scores if one.name in TUNED]
        _write(report, out)


async def _extraction(
    run: _Run, title: str, methods: Mapping[str, str], report: MethodsReport, out: Path
) -> None:
    """One table of extraction, printed and written at once, since a table may take long."""
    rows = {name: await run.row(method) for name, method in methods.items()}
    for name, one in rows.items():
        if isinstance(one, Refused):
            stderr.print(f"{name} ({methods[name]}) is refused: {one.reason}", markup=False)
    print_urban([(n, one) for n, one in rows.items() if isinstance(one, Scores)], report.prices, title=title)
    report.extraction[title] = {name: (methods[name], one) for name, one in rows.items()}
    tables = {
        title: {name: _json(method, one, report.prices) for name, (method, one) in rows.items()}
        for title, rows in report.extraction.items()
    }
    write_json(out / "extraction.json", {"seed": run.seed, "model": report.model, "tables": tables})
    _write(report, out)


async def _completion(
    settings: Settings,
    pairs: Sequence[Path],
    out: Path,
    report: MethodsReport,
    *,
    limit: int | None,
    seed: int,
    try_all: bool,
    model: ChatModel | None,
) -> None:
    """The table of completion."""
    modes = [*MODES, *ABLATIONS]
    profile = (model or deferred_model(settings)).prompt_profile
    reasons = {} if try_all else {name: refusal_of_mode(name, profile) for name in modes}
    refused = {name: Refused(reason) for name, reason in reasons.items() if reason is not None}
    scores = await measure_completion(
        settings, pairs, [name for name in modes if name not in refused], out / "completion",
        limit=limit, seed=seed, prices=report.prices, model=model,
    )  # fmt: skip
    print_completion(scores, report.prices)
    for name, one in refused.items():
        stderr.print(f"{name} is refused: {one.reason}", markup=False)
    measured = {one.name: one for one in scores}
    baselines = [(name, one) for name, one in measured.items() if name not in modes]
    report.completion = [*baselines, *((name, refused.get(name) or measured[name]) for name in modes)]
    _write(report, out)


def _write(report: MethodsReport, out: Path) -> None:
    (out / "methods.md").write_text(report.markdown(), encoding="utf-8")


def _json(method: str, row: Scores | Refused, prices: Prices) -> dict[str, Any]:
    if isinstance(row, Refused):
        return {"method": method, "refused": row.reason}
    return {"method": method, **row.json(), **expenses_json(row.cost, row.texts, prices)}


def _identity(model: str, settings: Settings, gold: Path) -> dict[str, Any]:
    """What must be the same for a run to continue. It may take fewer or more texts."""
    folders = {"ontology": settings.ontology, "shapes": settings.shapes, "prompts": settings.prompts}
    return {
        "benchmark": "methods",
        "model": model,
        "gold": digest_of([gold]),
        **{
            name: digest_of(sorted(one for one in folder.rglob("*") if one.is_file()))
            for name, folder in folders.items()
            if folder is not None
        },
    }


@dataclass(frozen=True)
class _Run:
    """The texts of one comparison; a method in several tables is run once."""

    services: Services
    texts: Sequence[GoldText]
    out: Path
    seed: int
    try_all: bool
    measured: dict[str, Scores]

    async def row(self, name: str) -> Scores | Refused:
        """The scores of a method, or why it is refused."""
        # Extraction uses no tools.
        name = "thorough" if name == "without_tools" else name
        method = replace(any_method_named(name), tried=self.try_all)
        try:
            method.check(self.services.model.prompt_profile)
        except MethodUnsupported as error:
            return Refused(str(error))
        if name not in self.measured:
            kept = KeptResults(self.out / f"extraction-{name}.jsonl", self.texts)
            with progress_of(name, len(self.texts)) as tell:
                results = await measure(
                    self.texts,
                    gated(self.services, method),
                    self.services.schema,
                    tell=tell,
                    known=kept.known,
                    keep=kept.keep,
                )
            self.measured[name] = score(results, seed=self.seed)
        return self.measured[name]
