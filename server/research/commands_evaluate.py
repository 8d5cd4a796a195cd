"""`urbankg evaluate`: how well the configured model reads, measured on benchmarks."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, TaskID

from server.cli.invocation import settings_of
from server.cli.options import Config, ModelUrl
from server.cli.output import print_report, progress_bar, stderr, working
from server.research import commands_measure
from server.research.report import model_identity
from server.settings import Settings

if TYPE_CHECKING:
    from extractors.models.accounting import Prices
    from extractors.models.chat import ChatModel
    from extractors.readers.reading import Reader
    from extractors.research.evaluation.text2kgbench.reading import TestSet
    from extractors.research.evaluation.text2kgbench.run import Result
    from server.research.questions.graph import QuestionGraph
    from server.research.questions.reading import AskedQuestion

evaluate_app = typer.Typer(no_args_is_help=True, help="Measure extraction on benchmarks.")
commands_measure.register(evaluate_app)
_SAMPLED = 0.7
_DEFAULT = "default"
_COSTS = ("turns", "seconds", "tokens in", "tokens out")

Out = Annotated[Path, typer.Option("--out", help="Folder of the run; an unfinished one goes on.")]


@evaluate_app.callback()
def evaluate() -> None:
    """Measure extraction on benchmarks."""


@evaluate_app.command()
def text2kgbench(
    context: typer.Context,
    out: Out,
    ontology: Annotated[list[Path] | None, typer.Option(help="An ontology of the benchmark.")] = None,
    sentences: Annotated[list[Path] | None, typer.Option(help="Its sentences, as JSON lines.")] = None,
    gold: Annotated[list[Path] | None, typer.Option(help="Their gold triples, as JSON lines.")] = None,
    folder: Annotated[
        list[Path] | None, typer.Option(help="Instead: folders with such files, found by their names.")
    ] = None,
    split: Annotated[str | None, typer.Option(help="Which sentences of the folders: dev, test ...")] = None,
    mode: Annotated[
        str,
        typer.Option(
            help="`default` (the best way for the model), a method such as `icl_cot`, `k4` (its six groups), "
            "`u11` (baselines and ablations), or several with commas."
        ),
    ] = _DEFAULT,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many sentences an ontology.")] = None,
    samples: Annotated[int, typer.Option(min=1, help="Readings of each text; scores are averaged.")] = 1,
    temperature: Annotated[
        float | None, typer.Option(min=0, help="Of the model; 0.7 with several samples, else 0.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the intervals.")] = 0,
    concurrency: Annotated[
        int | None, typer.Option(min=1, help="Texts read at a time: 4; 1 with the embedded model.")
    ] = None,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Read Text2KGBench's sentences, write predictions in its format, and score them where there is gold."""
    from extractors.research.evaluation.text2kgbench.files import find_files, paired
    from extractors.research.evaluation.text2kgbench.reading import read_test_set

    settings = settings_of(context, config=config, model_url=model_url).settings
    files = find_files(folder, split) if folder else paired(ontology or [], sentences or [], gold or [])
    tests = [read_test_set(*names) for names in files]
    tests = [replace(test, sentences=test.sentences[:limit]) for test in tests]
    for note in (note for test in tests for note in test.notes):
        stderr.print(note, markup=False)
    warmth = temperature if temperature is not None else (_SAMPLED if samples > 1 else 0.0)
    # The embedded model answers one request at a time: waiting for it must not count as the cost of a text.
    at_once = concurrency or (4 if settings.model_url else 1)
    run = _Run(settings, tests, samples, warmth, seed, at_once)
    asyncio.run(_text2kgbench(run, _modes(mode), out))


@dataclass(frozen=True)
class _Run:
    """The common parts of all modes of a command."""

    settings: Settings
    tests: "Sequence[TestSet]"
    samples: int
    temperature: float
    seed: int
    concurrency: int

    @property
    def prices(self) -> "Prices":
        """The prices of tokens in the settings."""
        from server.intake.language_model import prices_of

        return prices_of(self.settings)

    async def of(self, mode: str, model: "ChatModel", out: Path) -> "Result":
        """Read, or continue reading, in one mode, and write the scores into the folder."""
        from extractors.readers.sampling import SampledModel
        from extractors.research.evaluation.text2kgbench.folder import RunFolder
        from extractors.research.evaluation.text2kgbench.report import result_json
        from extractors.research.evaluation.text2kgbench.run import read_all, score

        # The embedded model's own form takes the most likely answer, without sampling.
        own_way = mode == _DEFAULT and model.prompt_profile == "compact"
        by_chance = self.temperature > 0 and not own_way
        sampled = SampledModel(model, self.temperature) if by_chance else model
        reader = _reader(sampled, mode, self.settings)
        run = RunFolder(out, _identity(self.settings, self.tests, mode, reader, self.temperature))
        answers = []
        with progress_bar(transient=True) as progress:
            for number in range(1, self.samples + 1):
                task = progress.add_task(f"{mode} {number}", total=None)
                answers.append(
                    await read_all(
                        self.tests,
                        reader,
                        run,
                        sample=number,
                        concurrency=self.concurrency,
                        tell=partial(_advance, progress, task),
                    )
                )
        result = score(self.tests, answers, seed=self.seed)
        run.write("scores.json", {"mode": mode, "seed": self.seed, **result_json(result, self.prices)})
        return result


async def _text2kgbench(run: _Run, modes: "Sequence[str]", out: Path) -> None:
    from server.intake.language_model import deferred_model

    model = deferred_model(run.settings)
    results = {}
    try:
        for mode in modes:
            results[mode] = await run.of(mode, model, out / mode if len(modes) > 1 else out)
            _print(mode, results[mode], run.prices)
    finally:
        await model.close()
    if len(results) > 1:
        _compare(results)


def _advance(progress: Progress, task: TaskID, done: int, of: int) -> None:
    progress.update(task, completed=done, total=of)


def _modes(mode: str) -> "Sequence[str]":
    """The modes of an argument: a group of methods, or comma-separated names."""
    from extractors.research.methods import GROUPS, any_method_named

    names = [name for part in mode.split(",") for name in GROUPS.get(part.strip(), (part.strip(),))]
    for name in names:
        if name != _DEFAULT:
            any_method_named(name)
    return list(dict.fromkeys(names))


def _reader(model: "ChatModel", mode: str, settings: Settings) -> "Reader":
    from extractors.prompting.methods import FAST
    from extractors.readers.fitting import Fitting
    from extractors.readers.opening import open_reader
    from extractors.research.methods import any_method_named
    from extractors.settings import ExtractionSettings

    extraction = ExtractionSettings(prompts=settings.prompts)
    if mode != _DEFAULT:
        return open_reader(model, extraction, any_method_named(mode))
    # The benchmark does not ask for the types of entities.
    return Fitting(open_reader(model, extraction, replace(FAST, kinds=False)))


def _identity(
    settings: Settings, tests: "Sequence[TestSet]", mode: str, reader: "Reader", temperature: float
) -> dict[str, object]:
    """What must be the same for a run to continue. It may read fewer or more sentences or samples."""
    return {
        "benchmark": "text2kgbench",
        "mode": mode,
        "model": model_identity(settings),
        "prompts": reader.prompt_version,
        "temperature": temperature,
        "files": {test.name: test.digest for test in tests},
    }


def _print(mode: str, result: "Result", prices: "Prices") -> None:
    """The scores of every ontology and of all, and the cost of each stage."""
    from extractors.research.evaluation.text2kgbench.report import COLUMNS, cost_rows, row, thousand

    ontologies = (*result.ontologies, *([result.whole] if len(result.ontologies) > 1 else ()))
    heads = ("ontology", "sentences", *(head for head, _ in COLUMNS), "relation types")
    print_report(mode, heads, (row(one.name, one) for one in ontologies))
    print_report(f"{mode}, each text", ("stage", *_COSTS), cost_rows(result))
    costs = thousand(result, prices)
    priced = f", {costs['cost']:g} {costs['currency']}" if "cost" in costs else ""
    stderr.print(
        f"1,000 texts: {costs['seconds']:,.0f} s of the model, {costs['prompt_tokens']:,} tokens in, "
        f"{costs['completion_tokens']:,} out{priced}"
    )
    if result.failed:
        stderr.print(
            f"{result.failed} of {result.texts} readings failed and count as empty; trace.jsonl says why."
        )


def _compare(results: "Mapping[str, Result]") -> None:
    """The modes side by side, with the cost of a text in each."""
    from extractors.research.evaluation.text2kgbench.report import COLUMNS, cost_rows, row

    rows = []
    for mode, result in results.items():
        *_, (_, *cost) = cost_rows(result)
        rows.append((*row(mode, result.whole), *cost))
    heads = ("mode", "sentences", *(head for head, _ in COLUMNS), "relation types")
    print_report("modes, each text", (*heads, *_COSTS), rows)


@evaluate_app.command()
def questions(
    context: typer.Context,
    graph: Annotated[list[Path], typer.Option(help="RDF files of the graph.")],
    files: Annotated[
        list[Path], typer.Option("--questions", help="JSON lines, or TEXT2SPARQL's YAML, with gold queries.")
    ],
    ontology: Annotated[Path | None, typer.Option(help="Folder of the ontology.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="JSON lines to write: each question with its outcome.")
    ] = None,
    baselines: Annotated[
        bool,
        typer.Option(help="Ask a keyword template and the model's SPARQL without checks as well."),
    ] = False,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Ask questions of a graph in memory without a model, and score the answers against gold queries."""
    from server.research.questions.baselines import KeywordTemplate
    from server.research.questions.graph import QuestionGraph
    from server.research.questions.reading import read_questions
    from server.research.questions.report import print_scores, write_outcomes
    from server.research.questions.scoring import ask_all

    settings = settings_of(context, config=config, model_url=model_url).settings
    asked = [(path, read_questions(path)) for path in files]
    with working("loading the graph"):
        held = QuestionGraph(graph, ontology)
    for path, of_file in asked:
        outcomes = asyncio.run(ask_all(held, of_file))
        print_scores(path.name, outcomes)
        if out is not None:
            write_outcomes(out, outcomes)
        if baselines:
            of = asyncio.run(ask_all(held, of_file, KeywordTemplate(held).ask))
            print_scores(f"{path.name}: keyword template", of)
            asyncio.run(_ask_model(settings, held, path.name, of_file))


async def _ask_model(
    settings: Settings, graph: "QuestionGraph", name: str, questions: "Sequence[AskedQuestion]"
) -> None:
    """Ask the configured model for queries, which are run without any check."""
    from server.intake.language_model import deferred_model
    from server.research.questions.baselines import FreeQueries
    from server.research.questions.report import print_scores
    from server.research.questions.scoring import ask_all

    model = deferred_model(settings)
    try:
        found = await ask_all(graph, questions, FreeQueries(graph, model).ask)
    finally:
        await model.close()
    print_scores(f"{name}: SPARQL of {model.name}, unchecked", found)
