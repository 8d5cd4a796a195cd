"""`evaluate`: how well the configured model reads and answers, by benchmarks, gold texts and judges."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress, TaskID

from research.reporting import model_identity
from server.cli.invocation import settings_of
from server.cli.options import Config, ModelUrl
from server.cli.output import print_report, progress_bar, stderr, working
from server.settings import Settings

if TYPE_CHECKING:
    from extractors.models.accounting import Prices
    from extractors.models.chat import ChatModel
    from extractors.readers.reading import Reader
    from research.questions.asking import AskedQuestion, QuestionGraph
    from research.text2kgbench.reading import TestSet
    from research.text2kgbench.run import Result


evaluate_app = typer.Typer(no_args_is_help=True, help="Measure extraction on benchmarks.")
_SAMPLED = 0.7
_DEFAULT = "default"
_COSTS = ("turns", "seconds", "tokens in", "tokens out")

Out = Annotated[Path, typer.Option("--out", help="Folder of the run; an unfinished one goes on.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only so many, drawn uniformly.")]
Seed = Annotated[int, typer.Option(help="Of what is drawn, and of the intervals.")]
PriceIn = Annotated[float | None, typer.Option(min=0, help="What a million tokens in cost.")]
PriceOut = Annotated[float | None, typer.Option(min=0, help="What a million tokens out cost.")]

TryAll = Annotated[
    bool, typer.Option("--try-all", help="Also run methods that such a model is known not to follow.")
]


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
    from research.text2kgbench.reading import find_files, paired, read_test_set

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
    tests: Sequence[TestSet]
    samples: int
    temperature: float
    seed: int
    concurrency: int

    @property
    def prices(self) -> Prices:
        """The prices of tokens in the settings."""
        from server.intake.language_model import prices_of

        return prices_of(self.settings)

    async def of(self, mode: str, model: ChatModel, out: Path) -> Result:
        """Read, or continue reading, in one mode, and write the scores into the folder."""
        from extractors.readers.opening import SampledModel
        from research.run_folder import RunFolder
        from research.text2kgbench.run import read_all, result_json, score

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


async def _text2kgbench(run: _Run, modes: Sequence[str], out: Path) -> None:
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


def _modes(mode: str) -> Sequence[str]:
    """The modes of an argument: a group of methods, or comma-separated names."""
    from research.methods import GROUPS, any_method_named

    names = [name for part in mode.split(",") for name in GROUPS.get(part.strip(), (part.strip(),))]
    for name in names:
        if name != _DEFAULT:
            any_method_named(name)
    return list(dict.fromkeys(names))


def _reader(model: ChatModel, mode: str, settings: Settings) -> Reader:
    from extractors.prompting.methods import FAST
    from extractors.readers.opening import open_reader
    from extractors.settings import ExtractionSettings
    from research.methods import any_method_named
    from research.text2kgbench.fitting import Fitting

    extraction = ExtractionSettings(prompts=settings.prompts)
    if mode != _DEFAULT:
        return open_reader(model, extraction, any_method_named(mode))
    # The benchmark does not ask for the types of entities.
    return Fitting(open_reader(model, extraction, replace(FAST, kinds=False)))


def _identity(
    settings: Settings, tests: Sequence[TestSet], mode: str, reader: Reader, temperature: float
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


def _print(mode: str, result: Result, prices: Prices) -> None:
    """The scores of every ontology and of all, and the cost of each stage."""
    from research.text2kgbench.run import COLUMNS, cost_rows, row, thousand

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


def _compare(results: Mapping[str, Result]) -> None:
    """The modes side by side, with the cost of a text in each."""
    from research.text2kgbench.run import COLUMNS, cost_rows, row

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
    from research.questions.asking import KeywordTemplate, QuestionGraph, read_questions
    from research.questions.scoring import ask_all, print_scores, write_outcomes

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
    settings: Settings, graph: QuestionGraph, name: str, questions: Sequence[AskedQuestion]
) -> None:
    """Ask the configured model for queries, which are run without any check."""
    from research.questions.asking import FreeQueries
    from research.questions.scoring import ask_all, print_scores
    from server.intake.language_model import deferred_model

    model = deferred_model(settings)
    try:
        found = await ask_all(graph, questions, FreeQueries(graph, model).ask)
    finally:
        await model.close()
    print_scores(f"{name}: SPARQL of {model.name}, unchecked", found)


@evaluate_app.command()
def completion(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Pairs of places: JSON lines, gzipped or not.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; an unfinished one goes on.")],
    mode: Annotated[
        list[str] | None,
        typer.Option(help="zero-shot, 1-shot, 3-shot, 'without pipeline', pipeline, 'no knowledge' ..."),
    ] = None,
    try_all: TryAll = False,
    limit: Limit = None,
    seed: Seed = 0,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Ask the model for the relations of places, and compare them with those of their geometries.

    Without --mode the whole pipeline is compared with the same model without tools, or, for a model that is
    known to follow neither, the bare question without examples and with three.
    """
    # The measuring code takes long to import, and other commands do not need it.
    from research.completion import followed_modes, measure_completion, print_completion
    from server.intake.language_model import prices_of

    settings = _settings(context, config, model_url, price_in, price_out)
    prices = prices_of(settings)
    modes = followed_modes(settings, tuple(mode or ()), try_all=try_all)
    scores = asyncio.run(
        measure_completion(settings, files, modes, out, limit=limit, seed=seed, prices=prices)
    )
    print_completion(scores, prices)


@evaluate_app.command()
def filling(
    context: typer.Context,
    facts: Annotated[Path, typer.Argument(help="JSON lines: question, fact, and a passage that states it.")],
    out: Annotated[Path | None, typer.Option(help="JSON lines to write: what became of each.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many.")] = None,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Ask for facts of the sample city: the model alone, with the facts deleted, and with gaps filled."""
    from research.questions.filling import measure_filling, print_filling, read_facts, write_filled
    from research.reporting import progress_of

    settings = settings_of(context, config=config, model_url=model_url).settings
    read = read_facts(facts)[:limit]
    with progress_of("questions", len(read)) as show:
        count = iter(range(1, len(read) + 1))
        found = asyncio.run(measure_filling(settings, read, lambda _: show(next(count), len(read))))
    print_filling(found, settings.model_name or settings.model_url or "embedded model")
    if out is not None:
        write_filled(out, found)


@evaluate_app.command()
def urban(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="Folder for the report and what there is to judge.")],
    gold: Annotated[
        Path | None,
        typer.Option(help="Gold texts as JSON lines; our 72 sentences and the sample texts when not given."),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Over the graph of the sample city, not over an empty one.")
    ] = False,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many of each set.")] = None,
    seed: Seed = 0,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Extract from gold texts; score what the model says, what the pipeline keeps, and what the gate accepts.

    The folder also gets judge.csv and judge.html, on which people judge the accepted statements.
    """
    from research.urban.measuring import counts_in, measure_urban, print_by_relation, print_urban
    from server.intake.language_model import prices_of

    settings = _settings(context, config, model_url, price_in, price_out)
    prices = prices_of(settings)
    scores = asyncio.run(
        measure_urban(settings, gold, out, limit=limit, seed=seed, prices=prices, sample=sample)
    )
    print_urban(list(scores.items()), prices, head=f"texts, {settings.extraction_method}")
    print_by_relation(counts_in(out / "urban.json"))


@evaluate_app.command()
def judge(
    context: typer.Context,
    csv: Annotated[list[Path], typer.Option("--csv", help="A judged table; several for several judges.")],
    model: Annotated[
        bool, typer.Option("--model", help="Let the configured model judge as well, beside the people.")
    ] = False,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often the model judges each claim; an odd number, most count.")
    ] = 1,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the report.")] = None,
    seed: Seed = 0,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Read judged tables back: true and false, majority vote, agreement of people and model."""
    from research.judging.judges import judge_tables
    from server.intake.language_model import deferred_model, prices_of

    settings = _settings(context, config, model_url, price_in, price_out)

    prices = prices_of(settings)

    async def work() -> None:
        opened = deferred_model(settings) if model or model_url else None
        try:
            await judge_tables(csv, model=opened, repeats=repeats, out=out, seed=seed, prices=prices)
        finally:
            if opened is not None:
                await opened.close()

    asyncio.run(work())


@evaluate_app.command()
def methods(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="Folder of the run, for methods.md and every answer.")],
    pairs: Annotated[
        list[Path] | None, typer.Option(help="Pairs of places, for the table of completion.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Gold texts as JSON lines; our 72 urban sentences when not given.")
    ] = None,
    texts: Annotated[bool, typer.Option(help="Whether there are tables of extraction.")] = True,
    table: Annotated[
        list[str] | None, typer.Option(help="Of those only this one: k4, u11 or form; may be given again.")
    ] = None,
    tuned: Annotated[
        str | None, typer.Option(help="The model or LoRA adapter at the same server that was fine-tuned.")
    ] = None,
    try_all: TryAll = False,
    limit: Limit = None,
    seed: Seed = 0,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Compare groups of prompts, modes and ablations on one model, and parts of a form if it knows forms.

    The folder gets methods.md with all tables; the same command goes on where it ended.
    """
    from research.methods import measure_methods
    from server.intake.language_model import prices_of

    settings = _settings(context, config, model_url, price_in, price_out)
    asyncio.run(
        measure_methods(
            settings, out, pairs=pairs or [], gold=gold, texts=texts,
            limit=limit, seed=seed, prices=prices_of(settings),
            only=table or (), try_all=try_all, tuned=tuned,
        )
    )  # fmt: skip


def _settings(
    context: typer.Context,
    config: Path | None,
    model_url: str | None,
    price_in: float | None,
    price_out: float | None,
) -> Settings:
    flags = {"model_price_input": price_in, "model_price_output": price_out}
    return settings_of(context, config=config, model_url=model_url, **flags).settings
