"""`urbankg gaps list | show | complete | verify | accept | reject | reopen`: what questions missed.

On a folder that a server holds, the commands call that server.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from curation.review.review_item import Reviewer
from server.cli.curation.commands_review import account
from server.cli.invocation import on_either, settings_of, show_from_either
from server.cli.options import AsJson, By, Config, Data, Limit, Offset, Reason
from server.cli.output import print_json, print_table, stderr
from server.cli.running_server import RunningServer
from server.gaps.service import GapService
from server.http.bodies.request_bodies import check, parse_json
from server.routes.curation.gaps import GapAcceptRequest, GapFilterJson, filter_of
from server.services import Services

gaps_app = typer.Typer(no_args_is_help=True, help="What questions missed, and what fills it.")

Name = Annotated[str, typer.Argument(help="Identifier of a gap.")]
Names = Annotated[list[str] | None, typer.Argument(help="Identifiers of gaps.")]
Status = Annotated[str, typer.Option(help="open, accepted, rejected or any.")]
Kind = Annotated[str | None, typer.Option(help="data, entity or schema.")]
Text = Annotated[str | None, typer.Option(help="Words in the triple, its message or a question.")]
Askers = Annotated[int, typer.Option(min=1, help="How many must have asked at least.")]
Expect = Annotated[int | None, typer.Option(help="How many gaps are decided; needed above 20.")]


@gaps_app.command("list")
def list_gaps(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    status: Status = "open",
    kind: Kind = None,
    text: Text = None,
    askers: Askers = 1,
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The gaps, those that most have asked for first."""
    settings = settings_of(context, data=data, config=config).settings
    sent = {"status": status, "kind": kind, "text": text, "askers": askers}
    given = {name: value for name, value in sent.items() if value is not None}
    read = check(given, GapFilterJson)
    wanted = filter_of(read.status, read.kind, read.text, read.askers)
    parameters = {name: str(value) for name, value in {**given, "offset": offset, "limit": limit}.items()}
    show_from_either(
        settings,
        lambda server: server.get("/gaps", parameters),
        lambda services: GapService(services).page(wanted, offset, limit),
        lambda found: _print_page(found, as_json),
        opening=Services.reading,
    )


@gaps_app.command()
def show(context: typer.Context, gap: Name, data: Data = None, config: Config = None) -> None:
    """One gap as JSON: its triple, questions, what is proposed, passages, decisions."""
    show_from_either(
        settings_of(context, data=data, config=config).settings,
        lambda server: server.get(f"/gaps/{gap}"),
        lambda services: GapService(services).show(gap),
        print_json,
    )


@gaps_app.command()
def complete(context: typer.Context, gap: Name, data: Data = None, config: Config = None) -> None:
    """Let the model fill in what it believes; nothing of it enters the graph."""
    _work(
        context,
        data,
        config,
        lambda server: server.post(f"/gaps/{gap}/complete", {})["gap"],
        lambda service: service.complete(gap),
    )


@gaps_app.command()
def verify(context: typer.Context, gap: Name, data: Data = None, config: Config = None) -> None:
    """Look the gap up in the graph's documents and the encyclopedia."""
    _work(
        context,
        data,
        config,
        lambda server: server.post(f"/gaps/{gap}/verify", {})["gap"],
        lambda service: service.verify(gap),
    )


@gaps_app.command()
def accept(
    context: typer.Context,
    gap: Name,
    data: Data = None,
    config: Config = None,
    value: Annotated[str | None, typer.Option(help='The words in place of "?".')] = None,
    statements: Annotated[
        Path | None, typer.Option(help="JSON file with a list of statements that fill the gap.")
    ] = None,
    reason: Reason = None,
    by: By = None,
) -> None:
    """Commit what fills the gap, through the gate, and answer its question again."""
    who = by or account()
    given = None if statements is None else parse_json(statements.read_bytes())
    message = check({"value": value, "statements": given, "reason": reason, "by": who}, GapAcceptRequest)
    _work(
        context,
        data,
        config,
        lambda server: server.post(f"/gaps/{gap}/accept", message.model_dump(by_alias=True)),
        lambda service: service.accept(
            gap, Reviewer(who), reason=reason, statements=message.statements, value=value
        ),
    )


@gaps_app.command()
def reject(
    context: typer.Context,
    gaps: Names = None,
    data: Data = None,
    config: Config = None,
    text: Text = None,
    expect: Expect = None,
    reason: Reason = None,
    by: By = None,
) -> None:
    """Decide that gaps are not to be filled: those named, or all open ones that mention the text."""
    _decide(context, data, config, "reject", gaps, text, expect, reason, by)


@gaps_app.command()
def reopen(
    context: typer.Context,
    gaps: Names = None,
    data: Data = None,
    config: Config = None,
    expect: Expect = None,
    reason: Reason = None,
    by: By = None,
) -> None:
    """Take rejections back."""
    _decide(context, data, config, "reopen", gaps, None, expect, reason, by)


def _decide(
    context: typer.Context,
    data: Path | None,
    config: Path | None,
    decision: str,
    gaps: list[str] | None,
    text: str | None,
    expect: int | None,
    reason: str | None,
    by: str | None,
) -> None:
    if bool(gaps) == (text is not None):
        raise typer.BadParameter("Give identifiers of gaps, or --text for all open ones that mention it.")
    who = by or account()
    choice: dict[str, Any] = {"items": gaps} if gaps else {"filter": {"text": text}}
    message = {"decision": decision, "reason": reason, "by": who, "expect": expect, **choice}

    async def here(service: GapService) -> dict[str, Any]:
        wanted = None if gaps else filter_of("open", None, text, 1)
        found, left = await asyncio.to_thread(service.selected, gaps, wanted, expect)
        return {**await service.decide(decision, found, Reviewer(who), reason), "left": left}

    _work(context, data, config, lambda server: server.post("/gaps/decisions", message), here)


def _work(
    context: typer.Context,
    data: Path | None,
    config: Path | None,
    remote: Callable[[RunningServer], dict[str, Any]],
    local: Callable[[GapService], Awaitable[dict[str, Any]]],
) -> None:
    """Print the answer as JSON; the exit code is 1 when a part of it failed."""

    async def here(services: Services) -> int:
        return _shown(await local(GapService(services)))

    on_either(
        settings_of(context, data=data, config=config).settings, lambda server: _shown(remote(server)), here
    )


def _shown(answer: dict[str, Any]) -> int:
    print_json(answer)
    return 1 if answer.get("failed") else 0


def _print_page(page: dict[str, Any], as_json: bool) -> int:
    if as_json:
        return print_json(page)
    print_table(("id", "kind", "missing", "asked", "by", "proposed", "question"), map(_row, page["gaps"]))
    stderr.print(f"{len(page['gaps'])} of {page['total']}")
    return 0


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    proposed = one["completion"]
    return (
        one["id"],
        one["kind"],
        f"{one['subject']} | {one['property']} | {one['object']}",
        str(one["asked"]),
        str(one["askers"]),
        "" if proposed is None else f"{proposed['value']} ({proposed['verdict']})",
        one["questions"][0]["question"],
    )
