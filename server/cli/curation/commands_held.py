"""`urbankg held list | show | withdraw | judge`: batches that wait, since very much depends on them.

On a folder that a server holds, the commands talk to that server, which judges what waits by itself.
"""

import asyncio
import json
import time
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from server.cli.invocation import on_either, settings_of
from server.cli.running_server import RunningServer
from server.intake.held_store import HeldState
from server.runtime.context import Services

held_app = typer.Typer(no_args_is_help=True, help="Batches that wait to be judged, as much depends on them.")
_told = Console(stderr=True)
_ASK_AGAIN_S = 1.0

Data = Annotated[Path | None, typer.Option("--data", help="Folder of the graph.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Batch = Annotated[str, typer.Argument(help="Identifier of a held batch.")]
Page = dict[str, Any]


@held_app.command("list")
def list_batches(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    status: Annotated[str, typer.Option(help="waiting, committed, refused, withdrawn or any.")] = "waiting",
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to show.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
) -> None:
    """The batches that wait, in the order in which they are judged."""
    if status not in ("any", *HeldState):
        raise typer.BadParameter(f"There is no status '{status}'. Use {', '.join(HeldState)} or any.")
    settings = settings_of(context, data=data, config=config).settings
    parameters = {"status": status, "offset": str(offset), "limit": str(limit)}

    async def here(services: Services) -> int:
        return _print_page(services.held_judge.page(status, offset, limit), as_json)

    on_either(settings, lambda server: _print_page(server.get("/held", parameters), as_json), here)


@held_app.command()
def show(context: typer.Context, batch: Batch, data: Data = None, config: Config = None) -> None:
    """One batch as JSON: why it is held, where it stands, and what became of it."""
    settings = settings_of(context, data=data, config=config).settings

    async def here(services: Services) -> int:
        return _print_json(services.held_judge.describe(batch))

    on_either(settings, lambda server: _print_json(server.get(f"/held/{batch}")), here)


@held_app.command()
def withdraw(context: typer.Context, batch: Batch, data: Data = None, config: Config = None) -> None:
    """Take back a batch that waits; nothing of it was in the graph."""
    settings = settings_of(context, data=data, config=config).settings

    async def here(services: Services) -> int:
        return _print_end(await asyncio.to_thread(services.held_judge.withdraw, batch))

    on_either(settings, lambda server: _print_end(server.delete(f"/held/{batch}")), here)


@held_app.command()
def judge(context: typer.Context, data: Data = None, config: Config = None) -> None:
    """Judge all that waits, or wait until the server on the folder has; exit code 1 if one was refused."""
    settings = settings_of(context, data=data, config=config).settings

    async def here(services: Services) -> int:
        holding = services.held_judge
        waiting = holding.batches.find(HeldState.WAITING)
        await asyncio.to_thread(holding.judge_waiting)
        return _print_ends([holding.describe(one) for one in waiting])

    def through_server(server: RunningServer) -> int:
        ended = []
        server.post("/held/judge", {})
        for one in _waiting(server):
            told = server.get(f"/held/{one}")
            while told["status"] == HeldState.WAITING and not told["problem"]:
                time.sleep(_ASK_AGAIN_S)
                told = server.get(f"/held/{one}")
            ended.append(told)
        return _print_ends(ended)

    on_either(settings, through_server, here)


def _waiting(server: RunningServer) -> list[str]:
    """All that waits now."""
    found: list[str] = []
    while True:
        page = server.get("/held", {"offset": str(len(found)), "limit": "1000"})
        found += [one["id"] for one in page["batches"]]
        if not page["batches"] or len(found) >= page["total"]:
            return found


def _print_ends(batches: list[Page]) -> int:
    """What became of each; 1 when one was refused or still waits."""
    for one in batches:
        _print_end(one)
    _told.print(f"{len(batches)} judged" if batches else "Nothing waits.")
    return 1 if any(one["status"] in (HeldState.REFUSED, HeldState.WAITING) for one in batches) else 0


def _print_end(batch: Page) -> int:
    outcome = batch["outcome"]
    counts = ""
    if outcome is not None:
        counts = f"\t{len(outcome['accepted'])} accepted, {len(outcome['rejected'])} refused"
    print(f"{batch['id']}\t{batch['status']}{counts}")
    if batch["problem"]:
        _told.print(f"{batch['id']} cannot be judged: {batch['problem']}", markup=False, soft_wrap=True)
    return 0


def _print_page(page: Page, as_json: bool) -> int:
    if as_json:
        return _print_json(page)
    table = Table("id", "status", "since", "statements", "source", "why")
    for one in page["batches"]:
        since = one["created"][:19]
        table.add_row(
            one["id"], one["status"], since, str(one["statements"]), one["source"] or "", one["reason"]
        )
    Console().print(table)
    _told.print(f"{len(page['batches'])} of {page['total']}")
    return 0


def _print_json(found: Page) -> int:
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return 0
