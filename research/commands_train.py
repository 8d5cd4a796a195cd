"""`python -m research train` and `python -m research trajectories`: train an adapter, and make its data."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from extractors.errors import TrainingDataError
from server.cli.invocation import settings_of
from server.cli.options import Config
from server.cli.output import progress_bar, stderr
from server.settings import Settings

_NEEDED = ("torch", "transformers", "peft", "accelerate", "gguf")


def train(
    out: Annotated[Path, typer.Option(help="Folder of the run: data, adapter, records, scores, card.")],
    base: Annotated[
        Path | None,
        typer.Option(
            help="Folder of a causal model as transformers saves it; default: the packaged weights."
        ),
    ] = None,
    instructions: Annotated[
        list[Path] | None,
        typer.Option(help="Files of dialogs, as the command trajectories writes them."),
    ] = None,
    test: Annotated[
        list[Path] | None, typer.Option(help="Such files to measure on, which are not learned from.")
    ] = None,
    answers: Annotated[
        int | None, typer.Option(min=0, help="Generate at most so many of the test's answers.")
    ] = None,
    text2kgbench: Annotated[
        list[Path] | None,
        typer.Option(help="Folders of labeled sentences in the layout of Text2KGBench: their training rows."),
    ] = None,
    fewrel: Annotated[Path | None, typer.Option(help="FewRel's file (val_wiki.json), unpacked.")] = None,
    start: Annotated[
        Path | None, typer.Option(help="Folder of a finished run whose adapter to train on.")
    ] = None,
    minutes: Annotated[
        float, typer.Option(min=0.1, help="For all of it, with what is measured at the end.")
    ] = 90.0,
    epochs: Annotated[int, typer.Option(min=1)] = 1,
    city: Annotated[int, typer.Option(min=0, help="Composed passages about cities.")] = 4000,
    plans: Annotated[int, typer.Option(min=0, help="Plans of questions.")] = 900,
    repeats: Annotated[int, typer.Option(min=1, help="How often each labeled sentence comes.")] = 1,
    long: Annotated[
        float, typer.Option(min=0, max=1, help="Share of the passages that are several after one another.")
    ] = 0.0,
    batch: Annotated[int, typer.Option(min=1)] = 16,
    rank: Annotated[int, typer.Option(min=1, help="Of the adapter; alpha is twice as much.")] = 16,
    learning_rate: Annotated[float, typer.Option(min=0)] = 1e-3,
    warm_up: Annotated[int, typer.Option(min=1, help="Steps in which the rate rises.")] = 30,
    decay: Annotated[
        float, typer.Option(min=0.01, max=1, help="Share of the run in which the rate falls.")
    ] = 0.4,
    seed: Annotated[int, typer.Option()] = 7,
    longest: Annotated[int, typer.Option(min=32, help="Tokens of a form with its fields.")] = 200,
    longest_dialog: Annotated[
        int,
        typer.Option(
            min=32, help="Tokens of a dialog with its answer; longer ones are counted and left out."
        ),
    ] = 4096,
    device: Annotated[
        str,
        typer.Option(help="`cpu`, or `auto` for a GPU where there is one (CUDA_VISIBLE_DEVICES chooses)."),
    ] = "auto",
    processes: Annotated[int, typer.Option(min=1, help="Make the examples with so many processes.")] = 1,
    measured: Annotated[
        bool, typer.Option(help="Fill in held-out forms with the engine afterwards, and calibrate by them.")
    ] = True,
) -> None:
    """Train a LoRA adapter for any base model, on a GPU where there is one, else on this machine's processor.

    The same command goes on with a run that was stopped.
    """
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise TrainingDataError(
            f"Training needs {', '.join(missing)}: install the checkout with its extra research "
            "(`pip install --editable '.[research]'`), best in an environment of their own."
        )
    from research.training.dataset import Mixture
    from research.training.lora import Settings as TunerSettings
    from research.training.train import Run
    from research.training.train import train as run_training

    settings = TunerSettings(
        epochs=epochs,
        batch=batch,
        learning_rate=learning_rate,
        warm_up=warm_up,
        decay=decay,
        rank=rank,
        alpha=2 * rank,
        seed=seed,
        longest=longest,
        longest_dialog=longest_dialog,
        device=device,
    )
    run = Run(
        out,
        base,
        settings,
        Mixture(city, plans, repeats, long),
        minutes,
        tuple(text2kgbench or ()),
        fewrel,
        tuple(instructions or ()),
        tuple(test or ()),
        answers,
        start,
        processes,
        measured,
    )
    if not run_training(run, lambda line: stderr.print(line, markup=False)):
        raise typer.Exit(130)


def trajectories(
    context: typer.Context,
    out: Annotated[Path, typer.Option(help="Folder for instruct.jsonl, test.jsonl and large.jsonl.")],
    texts: Annotated[list[Path] | None, typer.Option(help="Texts to extract from, one on each line.")] = None,
    pairs: Annotated[
        list[Path] | None, typer.Option(help="Pairs of places: JSON lines, gzipped or not.")
    ] = None,
    places: Annotated[
        list[Path] | None,
        typer.Option(help="Places with geometry: those that the texts' triples relate become pairs too."),
    ] = None,
    instruct: Annotated[int, typer.Option(min=1, help="Trajectories to learn from.")] = 3000,
    test: Annotated[int, typer.Option(min=0, help="Trajectories to measure on.")] = 200,
    large: Annotated[int, typer.Option(min=0, help="Trajectories beyond those.")] = 0,
    seed: Annotated[int, typer.Option(help="Of the draw.")] = 7,
    config: Config = None,
    model_url: Annotated[str | None, typer.Option("--model-url", help="The teacher.")] = None,
) -> None:
    """Let a teacher model extract and complete with the whole pipeline, and store its steps to train on."""
    settings = settings_of(context, config=config, model_url=model_url).settings
    if not settings.model_url:
        raise TrainingDataError(
            "Trajectories need a teacher: give --model-url, or set model_url, to the server of a large model."
        )
    if not texts and not pairs:
        raise TrainingDataError("Give --texts, --pairs or both: there is nothing to learn from.")
    asyncio.run(
        _collect(settings, texts or [], pairs or [], places or [], out, (instruct, test, large), seed)
    )


async def _collect(
    settings: Settings,
    texts: list[Path],
    pairs: list[Path],
    places: list[Path],
    out: Path,
    sizes: tuple[int, int, int],
    seed: int,
) -> None:
    from extractors.completion.completer import Completer
    from extractors.completion.pair import Place
    from extractors.models.opening import open_model
    from extractors.prompting.methods import THOROUGH
    from extractors.prompting.reply import ReplyTriple
    from extractors.readers.opening import open_reader
    from extractors.settings import ExtractionSettings
    from extractors.sources.mapping import read_sources
    from extractors.sources.records import BrokenRecord, SourceRecord
    from ontology.schema import Schema
    from research.completion import NumberedPair, pairs_among, read_pairs
    from research.training.trajectories import Trajectory, divide, of_pair, of_text, write_instructions
    from server.settings_loading import SHIPPED_ONTOLOGY

    model = open_model(
        settings.model_url,
        model=settings.model_name,
        adapter=settings.model_adapter,
        prompts=settings.model_prompts,
        api_key=settings.model_api_key,
        timeout_seconds=settings.model_timeout_s,
    )
    found: list[Trajectory | None] = []
    try:
        schema = await asyncio.to_thread(Schema.load, settings.ontology or SHIPPED_ONTOLOGY)
        reader = open_reader(model, ExtractionSettings(), THOROUGH)
        completer = Completer(model)
        read = [*read_pairs(pairs), *read_sources(places)]
        broken = [f"{one.place}: {one.reason}" for one in read if isinstance(one, BrokenRecord)]
        to_relate = [one.pair for one in read if isinstance(one, NumberedPair)]
        known = {
            one.name: Place(one.name, one.type, one.geometry) for one in read if isinstance(one, SourceRecord)
        }
        triples: list[ReplyTriple] = []
        with progress_bar(transient=True) as progress:
            for text in progress.track(list(_lines(texts)), description="texts"):
                reading = await reader.read(text, schema)
                triples += reading.triples
                found.append(of_text(text, reading))
            to_relate += [one.pair for one in pairs_among(triples, known)]
            for pair in progress.track(to_relate, description="pairs"):
                found.append(of_pair(pair, await completer.complete(pair)))
    finally:
        await model.close()
    kept = [one for one in found if one is not None]
    sets = divide(kept, instruct=sizes[0], test=sizes[1], large=sizes[2], seed=seed)
    out.mkdir(parents=True, exist_ok=True)
    for place in broken:
        stderr.print(f"passed over: {place}")
    stderr.print(f"{len(kept)} of {len(found)} trajectories can be used")
    for name, chosen in (("instruct", sets.instruct), ("test", sets.test), ("large", sets.large)):
        count = write_instructions(chosen, out / f"{name}.jsonl")
        typer.echo(f"{out / name}.jsonl: {count} instructions of {len(chosen)} trajectories")


def _lines(files: list[Path]) -> Iterator[str]:
    for path in files:
        for line in path.read_text(encoding="utf-8").splitlines():
            if line.strip():
                yield line.strip()
