"""`urbankg evaluate completion`: the model's relations of places against the computed ones."""

from __future__ import annotations

import asyncio
import hashlib
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress, TaskID
from rich.table import Table

from server.invocation import settings_of
from server.settings import Settings

if TYPE_CHECKING:
    from extractors.evaluation.completion.pairs import NumberedPair
    from extractors.evaluation.completion.scoring import Scores
    from extractors.models import ChatModel
    from extractors.models.accounting import Prices

_told = Console(stderr=True, highlight=False)

Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
ModelUrl = Annotated[str | None, typer.Option("--model-url", help="TGI-compatible server.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only so many, drawn uniformly.")]
Seed = Annotated[int, typer.Option(help="Of what is drawn, and of the intervals.")]
PriceIn = Annotated[float | None, typer.Option(min=0, help="What a million prompt tokens cost.")]
PriceOut = Annotated[float | None, typer.Option(min=0, help="What a million answered tokens cost.")]
Currency = Annotated[str, typer.Option(help="Of the prices.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command()(completion)


def completion(
    context: typer.Context,
    files: Annotated[list[Path], typer.Argument(help="Pairs of places: JSON lines, gzipped or not.")],
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; an unfinished one goes on.")],
    mode: Annotated[
        list[str] | None,
        typer.Option(help="zero-shot, 1-shot, 3-shot, 'without pipeline', pipeline, 'no knowledge', ..."),
    ] = None,
    limit: Limit = None,
    seed: Seed = 0,
    price_in: PriceIn = None,
    price_out: PriceOut = None,
    currency: Currency = "USD",
    config: Config = None,
    model_url: ModelUrl = None,
) -> None:
    """Ask the model how places lie to each other, and compare with what their geometries say.

    Without --mode the whole pipeline is compared with the same model without tools.
    """
    from extractors.models.accounting import Prices

    settings = settings_of(context, config=config, model_url=model_url).settings
    modes = tuple(mode or ("pipeline", "no tools"))
    prices = Prices(price_in, price_out, currency)
    asyncio.run(measure_completion(settings, files, modes, out, limit=limit, seed=seed, prices=prices))


async def measure_completion(
    settings: Settings,
    files: list[Path],
    modes: tuple[str, ...],
    out: Path,
    *,
    limit: int | None,
    seed: int,
    prices: Prices,
) -> list[Scores]:
    """Run the modes one after the other, print the table, and write it beside the answers."""
    from extractors.completion import Completer
    from extractors.evaluation.completion.modes import settings_of_mode
    from extractors.evaluation.completion.pairs import choose, read_pairs
    from extractors.evaluation.completion.run import answer_all
    from extractors.evaluation.completion.scoring import baselines, score
    from extractors.evaluation.expenses import expenses_json
    from extractors.evaluation.text2kgbench.folder import RunFolder
    from extractors.sources import BrokenRecord

    chosen = {name: settings_of_mode(name) for name in modes}
    pairs: list[NumberedPair] = []
    for one in read_pairs(files):
        if isinstance(one, BrokenRecord):
            _told.print(f"not usable: {one.place}: {one.reason}", markup=False)
        else:
            pairs.append(one)
    drawn = choose(pairs, limit, seed)
    truths = [truth for one in drawn if (truth := one.pair.computed) is not None]
    scores = baselines(truths, seed=seed)
    model = open_configured(settings)
    try:
        completers = {name: Completer(model, how) for name, how in chosen.items()}
        identity = {"benchmark": "completion", "model": model_identity(settings), "files": digest_of(files)}
        RunFolder(out, identity)
        for name, completer in completers.items():
            file = out / f"{name.replace(' ', '-')}-{_short(completer.prompt_version)}.jsonl"
            with Progress(console=_told, transient=True) as progress:
                tell = partial(_show, progress, progress.add_task(name, total=len(drawn)))
                answers = await answer_all(drawn, completer, file, tell=tell)
            scores.append(score(name, answers, seed=seed))
    finally:
        await model.close()
    rows = {one.name: {**one.json(), **expenses_json(one.cost, one.pairs, prices)} for one in scores}
    write_json(out / "completion.json", {"seed": seed, "modes": rows})
    print_completion(scores, prices)
    return scores


def _show(progress: Progress, task: TaskID, done: int, of: int) -> None:
    progress.update(task, completed=done, total=of)


def print_completion(scores: list[Scores], prices: Prices) -> None:
    """The table of modes, with the baselines on top."""
    from extractors.evaluation.estimates import cell
    from extractors.evaluation.expenses import expenses_cells, expenses_heads
    from geo.rcc8 import RCC5

    counts = {relation: scores[0].found[relation][0] for relation in RCC5}
    heads = [f"{relation.value} ({count})" for relation, count in counts.items() if count]
    table = Table(
        "mode", "right of five", "with direction", *heads, "no answer", "faithful", *expenses_heads(prices),
        title=f"{scores[0].pairs} pairs; the computed relation is the truth; right by relation",
    )  # fmt: skip
    for one in scores:
        by = [str(one.found[relation][1]) for relation, count in counts.items() if count]
        table.add_row(
            one.name, cell(one.five), cell(one.directed), *by, str(one.failed), str(one.faithful),
            *expenses_cells(one.cost, one.pairs, prices),
        )  # fmt: skip
    wide().print(table)


def open_configured(settings: Settings) -> ChatModel:
    """The model that the settings name."""
    from extractors.models import open_model

    return open_model(
        settings.model_url,
        model=settings.model_name,
        api_key=settings.model_api_key,
        timeout_seconds=settings.model_timeout_s,
    )


def model_identity(settings: Settings) -> str:
    """The model in words, with its adapter: what must be the same for a run to go on."""
    from extractors.models.weights import ADAPTER_PATH, sha256_of

    if settings.model_url:
        return f"{settings.model_name or 'default'} at {settings.model_url}"
    return f"embedded, adapter {sha256_of(ADAPTER_PATH)[:12]}"


def digest_of(files: list[Path]) -> dict[str, str]:
    """The files by name with a short hash of what they hold."""
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest()[:12] for file in files}


def write_json(file: Path, value: dict[str, Any]) -> None:
    """Write a report."""
    file.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def wide() -> Console:
    """Standard output, wide enough for a table where it is no terminal."""
    return Console(width=None if _told.is_terminal else 240)


def _short(version: str) -> str:
    return hashlib.sha256(version.encode()).hexdigest()[:8]
