"""`urbankg evaluate completion | urban | judge | methods | filling`: by geometry, by gold, by people."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from server.cli.invocation import settings_of
from server.cli.options import Config, ModelUrl
from server.settings import Settings

Limit = Annotated[int | None, typer.Option(min=1, help="Only so many, drawn uniformly.")]
Seed = Annotated[int, typer.Option(help="Of what is drawn, and of the intervals.")]
PriceIn = Annotated[float | None, typer.Option(min=0, help="What a million tokens in cost.")]
PriceOut = Annotated[float | None, typer.Option(min=0, help="What a million tokens out cost.")]

TryAll = Annotated[
    bool, typer.Option("--try-all", help="Also run methods that such a model is known not to follow.")
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for command in (completion, urban, judge, methods, filling):
        app.command()(command)


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
    from server.intake.language_model import prices_of
    from server.research.completion import followed_modes, measure_completion, print_completion

    settings = _settings(context, config, model_url, price_in, price_out)
    prices = prices_of(settings)
    modes = followed_modes(settings, tuple(mode or ()), try_all=try_all)
    scores = asyncio.run(
        measure_completion(settings, files, modes, out, limit=limit, seed=seed, prices=prices)
    )
    print_completion(scores, prices)


def filling(
    context: typer.Context,
    facts: Annotated[Path, typer.Argument(help="JSON lines: question, fact, and a passage that states it.")],
    out: Annotated[Path | None, typer.Option(help="JSON lines to write: what became of each.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many.")] = None,
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Ask for facts of the sample city: the model alone, with the facts deleted, and with gaps filled."""
    from server.research.filling import measure_filling, print_filling, read_facts, write_filled
    from server.research.report import progress_of

    settings = settings_of(context, config=config, model_url=model_url).settings
    read = read_facts(facts)[:limit]
    with progress_of("questions", len(read)) as show:
        count = iter(range(1, len(read) + 1))
        found = asyncio.run(measure_filling(settings, read, lambda _: show(next(count), len(read))))
    print_filling(found, settings.model_name or settings.model_url or "embedded model")
    if out is not None:
        write_filled(out, found)


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
    from server.intake.language_model import prices_of
    from server.research.by_relation import counts_in, print_by_relation
    from server.research.urban import measure_urban, print_urban

    settings = _settings(context, config, model_url, price_in, price_out)
    prices = prices_of(settings)
    scores = asyncio.run(
        measure_urban(settings, gold, out, limit=limit, seed=seed, prices=prices, sample=sample)
    )
    print_urban(list(scores.items()), prices, head=f"texts, {settings.extraction_method}")
    print_by_relation(counts_in(out / "urban.json"))


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
    from server.intake.language_model import deferred_model, prices_of
    from server.research.judging import judge_tables

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
    from server.intake.language_model import prices_of
    from server.research.methods import measure_methods

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
