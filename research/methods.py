"""Methods that are only compared, and their measurement on one model, table by table.

Knowledge Graph Efficient Construction (Nie et al., 2024), section 4.2: {Context, ICL} x {base, ontology,
CoT + ontology}; UrbanKGent (Ning & Liu, 2024), Table 4: baselines and ablations; variants of the form.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from extractors.errors import EvaluationError, MethodUnsupported
from extractors.models.accounting import Prices
from extractors.models.chat import ChatModel
from extractors.prompting.methods import FAST, METHODS, THOROUGH, FormParts, Method, MethodUnknown
from extractors.readers.reading import Cost
from research.completion import ABLATIONS, MODES, measure_completion, print_completion, refusal_of_mode
from research.completion import Scores as CompletionScores
from research.empty_graph import empty_graph, gated
from research.estimates import cell
from research.reporting import digest_of, expenses_json, model_identity, progress_of, write_json
from research.run_folder import RunFolder
from research.urban.gold import GoldText, ScoredTriple, TextResult, measure, read_gold, result_json
from research.urban.measuring import GOLD, Scores, drawn, print_urban, score
from server.cli.output import stderr
from server.intake.language_model import deferred_model
from server.services import Services
from server.settings import Settings

_BASE: Final = Method("icl_base", shots=1, ontology="none", closed=False, kinds=False)
_WITH_ONTOLOGY: Final = replace(_BASE, name="icl_ontology", ontology="whole")
_WITH_THOUGHT: Final = replace(_WITH_ONTOLOGY, name="icl_cot", chain_of_thought="instruction")

# These name relations freely, so that their share of relations in the ontology means something.
_PROMPT_GROUPS: Final = (
    replace(_BASE, name="context_base", format="context"),
    replace(_WITH_ONTOLOGY, name="context_ontology", format="context"),
    replace(_WITH_THOUGHT, name="context_cot", format="context"),
    _BASE,
    _WITH_ONTOLOGY,
    _WITH_THOUGHT,
)
_ABLATIONS: Final = (
    replace(THOROUGH, name="without_knowledge", ontology="none", closed=False),
    replace(THOROUGH, name="without_views", views=()),
    replace(THOROUGH, name="without_tools", tools=False),
    replace(THOROUGH, name="without_refinement", refinement=0),
)
# The paper's words: free suggestions, after which all triples are given again; and thought in turns.
_VARIANTS: Final = (
    replace(THOROUGH, name="refinement_in_words", updates="words"),
    replace(_WITH_THOUGHT, name="icl_cot_turns", chain_of_thought="turns"),
)
_FORMS: Final = (
    replace(FAST, name="form_whole", form=FormParts(whole=True)),
    replace(FAST, name="form_bare", form=FormParts(sides=False)),
    replace(FAST, name="form_free", form=FormParts(copied=False)),
    replace(FAST, name="form_untyped", kinds=False),
)

ALL_METHODS: Final[Mapping[str, Method]] = MappingProxyType(
    {**METHODS, **{method.name: method for method in (*_PROMPT_GROUPS, *_ABLATIONS, *_VARIANTS, *_FORMS)}}
)
"""The methods by name, those of `extractors.prompting.methods` first."""

GROUPS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "k4": tuple(method.name for method in _PROMPT_GROUPS),
        "u11": (
            "zero_shot",
            "one_shot",
            "three_shot",
            "thorough",
            *(method.name for method in _ABLATIONS),
            "refinement_in_words",
        ),
        "form": ("fast", *(method.name for method in _FORMS)),
    }
)
"""Methods measured together. Forms are for models that were trained on them."""


def any_method_named(name: str) -> Method:
    """Return the method of this name, also one for comparison only. Raises `MethodUnknown`."""
    if name not in ALL_METHODS:
        raise MethodUnknown(
            f"There is no extraction method {name!r}. The methods are {', '.join(ALL_METHODS)}."
        )
    return ALL_METHODS[name]


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


_EXTRACTION: Final = (
    "row", "method", "texts", "precision", "with named kinds", "recall", "right / accepted / gold",
    "the model said: right / all", "OC", "types", "failed", "s a text", "tokens a text, in and out",
)  # fmt: skip
_COMPLETION: Final = (
    "row", "pairs", "right of five", "with direction", "no answer", "tools called", "s a pair",
    "tokens a pair, in and out",
)  # fmt: skip


@dataclass(frozen=True)
class Refused:
    """Why a method was not run: the model is known not to follow it."""

    reason: str


@dataclass
class MethodsReport:
    """What was measured so far; a title's rows are methods by the names of their rows.

    `model` and `drawn` say on which model and on which texts and pairs.
    """

    model: str
    drawn: str
    prices: Prices
    extraction: dict[str, dict[str, tuple[str, Scores | Refused]]] = field(default_factory=dict)
    completion: list[tuple[str, CompletionScores | Refused]] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)

    def markdown(self) -> str:
        """The file."""
        self.reasons = []
        parts = [
            "# Methods compared",
            f"Model: {self.model}. {self.drawn}. Intervals are of 95 %, the texts or pairs drawn anew 1,000 "
            "times. Precision and recall are strict, of what the gate accepts; the column beside the "
            "precision counts kinds that a name says itself as right. OC: share of what the model said whose "
            "relation or kind the ontology has.",
        ]
        for title, rows in self.extraction.items():
            lines = [self._extraction_row(name, *row) for name, row in rows.items()]
            parts += [f"## {title[0].upper()}{title[1:]}", _table(_EXTRACTION, lines)]
        if self.completion:
            lines = [self._completion_row(name, row) for name, row in self.completion]
            parts += ["## Completion", _table(_COMPLETION, lines)]
        if self.reasons:
            parts += ["Refused:", "\n".join(f"{n}. {reason}" for n, reason in enumerate(self.reasons, 1))]
        return "\n\n".join(parts) + "\n"

    def _extraction_row(self, name: str, method: str, row: Scores | Refused) -> Sequence[str]:
        if isinstance(row, Refused):
            return (name, f"`{method}`", "", self._refused(row), *[""] * (len(_EXTRACTION) - 4))
        last = row.gate or row.pipeline
        return (
            name, f"`{method}`", str(row.texts),
            cell(last.precision), cell(last.supported), cell(last.recall),
            f"{last.right} / {last.told} / {last.gold}", f"{row.model.right} / {row.model.told}",
            "-" if row.conformance is None else f"{row.conformance:.3f}", str(row.relation_types),
            str(row.failed), *self._costs(row.cost, row.texts),
        )  # fmt: skip

    def _completion_row(self, name: str, row: CompletionScores | Refused) -> Sequence[str]:
        if isinstance(row, Refused):
            return (name, "", self._refused(row), *[""] * (len(_COMPLETION) - 3))
        return (
            name, str(row.pairs), cell(row.five), cell(row.directed), str(row.failed), str(row.tools),
            *self._costs(row.cost, row.pairs),
        )  # fmt: skip

    def _refused(self, row: Refused) -> str:
        """A number that leads to the reason, which several rows may have."""
        if row.reason not in self.reasons:
            self.reasons.append(row.reason)
        return f"refused ({self.reasons.index(row.reason) + 1})"

    def _costs(self, cost: Cost, tasks: int) -> tuple[str, str]:
        share = 1 / tasks if tasks else 0.0
        money = self.prices.cost(cost.prompt_tokens, cost.completion_tokens)
        paid = "" if money is None else f"; {money * share * 1000:.2f} {self.prices.currency} a thousand"
        tokens = f"{cost.prompt_tokens * share:.0f}, {cost.completion_tokens * share:.0f}{paid}"
        return f"{cost.seconds * share:.1f}", tokens


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(one.replace('|', chr(92) + '|') for one in line)} |" for line in lines)


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
