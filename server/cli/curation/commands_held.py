"""`urbankg held list | show | withdraw | judge`: batches held back because very much depends on them.

On a folder that a server holds, the commands call that server, which judges held batches by itself.
"""

import time
from typing import Annotated, Any

import typer

from server.cli.invocation import settings_of, show_from_either
from server.cli.options import AsJson, Config, Data, Limit, Offset
from server.cli.output import print_json, print_table, stderr
from server.cli.running_server import RunningServer
from server.intake.held.held_store import HeldState
from server.services import Services

held_app = typer.Typer(no_args_is_help=True, help="Batches that wait to be judged, as much depends on them.")
_POLL_S = 1.0

Batch = Annotated[str, typer.Argument(help="Identifier of a held batch.")]
Page = dict[str, Any]


@held_app.command("list")
def list_batches(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    status: Annotated[str, typer.Option(help="waiting, committed, refused, withdrawn or any.")] = "waiting",
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The waiting batches, in the order in which they are judged."""
    if status not in ("any", *HeldState):
        raise typer.BadParameter(f"There is no status '{status}'. Use {', '.join(HeldState)} or any.")
    settings = settings_of(context, data=data, config=config).settings
    parameters = {"status": status, "offset": str(offset), "limit": str(limit)}

    show_from_either(
        settings,
        lambda server: server.get("/held", parameters),
        lambda services: services.held_judge.page(status, offset, limit),
        lambda found: _print_page(found, as_json),
        opening=Services.reading,
    )


@held_app.command()
def show(context: typer.Context, batch: Batch, data: Data = None, config: Config = None) -> None:
    """One batch as JSON: why it is held, its status and its outcome."""
    settings = settings_of(context, data=data, config=config).settings

    show_from_either(
        settings,
        lambda server: server.get(f"/held/{batch}"),
        lambda services: services.held_judge.describe(batch),
        print_json,
        opening=Services.reading,
    )


@held_app.command()
def withdraw(context: typer.Context, batch: Batch, data: Data = None, config: Config = None) -> None:
    """Withdraw a waiting batch; nothing of it was in the graph."""
    settings = settings_of(context, data=data, config=config).settings

    show_from_either(
        settings,
        lambda server: server.delete(f"/held/{batch}"),
        lambda services: services.held_judge.withdraw(batch),
        _print_end,
    )


@held_app.command()
def judge(context: typer.Context, data: Data = None, config: Config = None) -> None:
    """Judge all waiting batches, or wait until the server has; exit code 1 if one was refused."""
    settings = settings_of(context, data=data, config=config).settings

    def local(services: Services) -> list[Page]:
        held_judge = services.held_judge
        waiting = held_judge.batches.find(HeldState.WAITING)
        held_judge.judge_waiting()
        return [held_judge.describe(one) for one in waiting]

    def remote(server: RunningServer) -> list[Page]:
        ended = []
        server.post("/held/judge", {})
        for one in _waiting(server):
            batch = server.get(f"/held/{one}")
            while batch["status"] == HeldState.WAITING and not batch["problem"]:
                time.sleep(_POLL_S)
                batch = server.get(f"/held/{one}")
            ended.append(batch)
        return ended

    show_from_either(settings, remote, local, _print_ends)


def _waiting(server: RunningServer) -> list[str]:
    """All batches waiting now."""
    found: list[str] = []
    while True:
        page = server.get("/held", {"offset": str(len(found)), "limit": "1000"})
        found += [one["id"] for one in page["batches"]]
        if not page["batches"] or len(found) >= page["total"]:
            return found


def _print_ends(batches: list[Page]) -> int:
    """Print the outcome of each; 1 when one was refused or still waits."""
    for one in batches:
        _print_end(one)
    stderr.print(f"{len(batches)} judged" if batches else "Nothing waits.")
    return 1 if any(one["status"] in (HeldState.REFUSED, HeldState.WAITING) for one in batches) else 0


def _print_end(batch: Page) -> int:
    outcome = batch["outcome"]
    counts = ""
    if outcome is not None:
        counts = f"\t{len(outcome['accepted'])} accepted, {len(outcome['rejected'])} refused"
    print(f"{batch['id']}\t{batch['status']}{counts}")
    if batch["problem"]:
        stderr.print(f"{batch['id']} cannot be judged: {batch['problem']}", markup=False, soft_wrap=True)
    return 0


def _print_page(page: Page, as_json: bool) -> int:
    if as_json:
        return print_json(page)
    print_table(("id", "status", "since", "statements", "source", "why"), map(_row, page["batches"]))
    stderr.print(f"{len(page['batches'])} of {page['total']}")
    return 0


def _row(one: Page) -> tuple[str, ...]:
    since, statements = one["created"][:19], str(one["statements"])
    return one["id"], one["status"], since, statements, one["source"] or "", one["reason"]
