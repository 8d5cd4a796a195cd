"""`urbankg evaluate`: how well the configured model reads, measured on benchmarks."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from server.invocation import settings_of
from server.settings import Settings

if TYPE_CHECKING:
    from extractors.evaluation.text2kgbench.reading import TestSet
    from extractors.evaluation.text2kgbench.run import Result
    from extractors.models import ChatModel
    from extractors.readers import Reader

evaluate_app = typer.Typer(no_args_is_help=True, help="Measure extraction on benchmarks.")
_told = Console(stderr=True)
_SAMPLED = 0.7

Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
ModelUrl = Annotated[str | None, typer.Option("--model-url", help="TGI-compatible server.")]
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
    mode: Annotated[str, typer.Option(help="How to read: `default`.")] = "default",
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
    from extractors.evaluation.text2kgbench.files import find_files, paired
    from extractors.evaluation.text2kgbench.reading import read_test_set

    settings = settings_of(context, config=config, model_url=model_url).settings
    files = find_files(folder, split) if folder else paired(ontology or [], sentences or [], gold or [])
    tests = [read_test_set(*names) for names in files]
    tests = [replace(test, sentences=test.sentences[:limit]) for test in tests]
    warmth = temperature if temperature is not None else (_SAMPLED if samples > 1 else 0.0)
    # The embedded model answers one after another: waiting for it is no part of what a text costs.
    at_once = concurrency or (4 if settings.model_url else 1)
    asyncio.run(_text2kgbench(settings, tests, mode, out, samples, warmth, seed, at_once))


async def _text2kgbench(
    settings: Settings,
    tests: "Sequence[TestSet]",
    mode: str,
    out: Path,
    samples: int,
    temperature: float,
    seed: int,
    concurrency: int,
) -> None:
    from extractors.evaluation.text2kgbench.folder import RunFolder
    from extractors.evaluation.text2kgbench.report import result_json
    from extractors.evaluation.text2kgbench.run import read_all, score
    from extractors.models import open_model
    from extractors.readers.sampling import SampledModel

    model = open_model(
        settings.model_url,
        model=settings.model_name,
        api_key=settings.model_api_key,
        timeout_seconds=settings.model_timeout_s,
    )
    try:
        reader = _reader(SampledModel(model, temperature), mode)
        run = RunFolder(out, _identity(settings, tests, mode, reader, temperature))
        with Progress(console=_told, transient=True) as progress:
            task = progress.add_task(mode, total=None)
            answers = [
                await read_all(
                    tests,
                    reader,
                    run,
                    sample=number,
                    concurrency=concurrency,
                    tell=lambda done, of: progress.update(task, completed=done, total=of),
                )
                for number in range(1, samples + 1)
            ]
    finally:
        await model.close()
    result = score(tests, answers, seed=seed)
    run.write("scores.json", {"mode": mode, "seed": seed, **result_json(result)})
    _print(mode, result)


def _reader(model: "ChatModel", mode: str) -> "Reader":
    from extractors.readers import open_reader
    from extractors.settings import ExtractionSettings

    return open_reader(model, ExtractionSettings())


def _identity(
    settings: Settings, tests: "Sequence[TestSet]", mode: str, reader: "Reader", temperature: float
) -> dict[str, object]:
    """What must be the same for a run to go on. Fewer or more sentences or samples of it may be read."""
    from extractors.models.weights import ADAPTER_PATH, sha256_of

    if settings.model_url:
        model = f"{settings.model_name or 'default'} at {settings.model_url}"
    else:
        model = f"embedded, adapter {sha256_of(ADAPTER_PATH)[:12]}"
    return {
        "benchmark": "text2kgbench",
        "mode": mode,
        "model": model,
        "prompts": reader.prompt_version,
        "temperature": temperature,
        "files": {test.name: test.digest for test in tests},
    }


def _print(mode: str, result: "Result") -> None:
    """The scores of every ontology and of all, and what each stage cost."""
    from extractors.evaluation.text2kgbench.report import COLUMNS, cost_rows, row

    scores = Table("ontology", "sentences", *(head for head, _ in COLUMNS), "relation types", title=mode)
    for one in (*result.ontologies, *([result.whole] if len(result.ontologies) > 1 else ())):
        scores.add_row(*row(one.name, one))
    cost = Table("stage", "turns", "seconds", "tokens in", "tokens out", title="each text")
    for cells in cost_rows(result):
        cost.add_row(*cells)
    console = Console(width=None if _told.is_terminal else 200)
    console.print(scores)
    console.print(cost)
    if result.failed:
        _told.print(
            f"{result.failed} of {result.texts} readings failed and count as empty; trace.jsonl says why."
        )
