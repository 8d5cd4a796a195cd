"""`urbankg review list | show | accept | reject | reopen`: the review queue from the command line.

On a folder that a server holds, the commands talk to that server.
"""

import getpass
import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from curation.decisions import Reviewer
from curation.review import named_item
from server.cli.invocation import on_either, settings_of
from server.cli.running_server import RunningServer
from server.curation.reviewing import ReviewService, filter_of
from server.http.bodies import check, parse_json
from server.http.reporting.statements import statement_of
from server.http.routes.curation.review import AcceptRequest
from server.runtime.context import Services

review_app = typer.Typer(no_args_is_help=True, help="Decide what the gate refused or warned of.")
_told = Console(stderr=True, soft_wrap=True)

Data = Annotated[Path | None, typer.Option("--data", help="Folder of the graph.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Items = Annotated[list[str] | None, typer.Argument(help="Identifiers of review items.")]
Why = Annotated[str | None, typer.Option("--reason", help="Why.")]
By = Annotated[str | None, typer.Option("--by", help="Who decides; the name of the account if not given.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")]
Status = Annotated[str, typer.Option(help="open, accepted, rejected, superseded or any.")]
Document = Annotated[str | None, typer.Option(help="IRI or identifier of a document.")]
Shape = Annotated[str | None, typer.Option(help="IRI of a shape that was broken.")]
Predicate = Annotated[str | None, typer.Option(help="IRI of the statement's property.")]
Entity = Annotated[str | None, typer.Option(help="IRI of the statement's subject or object.")]
Text = Annotated[str | None, typer.Option(help="Words in names, quotes, replies or reasons.")]


@review_app.command("list")
def list_items(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    status: Status = "open",
    document: Document = None,
    shape: Shape = None,
    predicate: Predicate = None,
    entity: Entity = None,
    text: Text = None,
    offset: Annotated[int, typer.Option(min=0, help="How many to pass over.")] = 0,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to show.")] = 50,
    as_json: AsJson = False,
) -> None:
    """The items that wait, newest first."""
    settings = settings_of(context, data=data, config=config).settings
    wanted = filter_of(status, document, shape, predicate, entity, text)

    async def here(services: Services) -> int:
        return _print_page(ReviewService(services).page(wanted, offset, limit), as_json)

    def through_server(server: RunningServer) -> int:
        sent = {"status": status, "document": document, "shape": shape, "predicate": predicate}
        sent |= {"entity": entity, "text": text}
        parameters = {name: value for name, value in sent.items() if value is not None}
        return _print_page(
            server.get("/review", {**parameters, "offset": str(offset), "limit": str(limit)}), as_json
        )

    on_either(settings, through_server, here)


@review_app.command()
def show(
    context: typer.Context,
    item: Annotated[str, typer.Argument(help="Identifier of a review item.")],
    data: Data = None,
    config: Config = None,
) -> None:
    """One item as JSON: its statement, words, reasons, similar entities and decisions."""
    settings = settings_of(context, data=data, config=config).settings

    async def here(services: Services) -> int:
        return _print_json(ReviewService(services).show(named_item(item)))

    on_either(settings, lambda server: _print_json(server.get(f"/review/{item}")), here)


@review_app.command()
def accept(
    context: typer.Context,
    items: Items = None,
    data: Data = None,
    config: Config = None,
    reason: Why = None,
    by: By = None,
    statements: Annotated[
        Path | None,
        typer.Option(help="JSON file with a list of statements that replace that of the (single) item."),
    ] = None,
    text: Text = None,
    as_json: AsJson = False,
) -> None:
    """Let statements in, through the gate again; several items are judged together."""
    if statements is None:
        _decide(context, "accept", items, data, config, reason, by, text, as_json)
        return
    if not items or len(items) != 1:
        raise typer.BadParameter("Give exactly one item with --statements.")
    settings = settings_of(context, data=data, config=config).settings
    given = check({"statements": parse_json(statements.read_bytes())}, AcceptRequest).statements or []
    message: dict[str, Any] = {
        "statements": [one.model_dump(by_alias=True) for one in given],
        "reason": reason,
        "by": by or account(),
    }

    async def here(services: Services) -> int:
        mended = [statement_of(one)[0] for one in given]
        told = ReviewService(services).decide(
            "accept", [named_item(items[0])], Reviewer(message["by"]), reason, mended
        )
        return _print_told(told.json(), as_json)

    on_either(
        settings,
        lambda server: _print_told(server.post(f"/review/{items[0]}/accept", message), as_json),
        here,
    )


@review_app.command()
def reject(
    context: typer.Context,
    items: Items = None,
    data: Data = None,
    config: Config = None,
    reason: Why = None,
    by: By = None,
    text: Text = None,
    as_json: AsJson = False,
) -> None:
    """Keep statements out; one that was only warned of leaves the graph."""
    _decide(context, "reject", items, data, config, reason, by, text, as_json)


@review_app.command()
def reopen(
    context: typer.Context,
    items: Items = None,
    data: Data = None,
    config: Config = None,
    reason: Why = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Take decisions back; what they let in leaves the graph and waits again."""
    _decide(context, "reopen", items, data, config, reason, by, None, as_json)


def account() -> str:
    """The name of the account that runs the command, where it has one."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "anonymous"


def _decide(
    context: typer.Context,
    decision: str,
    items: list[str] | None,
    data: Path | None,
    config: Path | None,
    reason: str | None,
    by: str | None,
    text: str | None,
    as_json: bool,
) -> None:
    if bool(items) == (text is not None):
        raise typer.BadParameter("Give identifiers of items, or --text for all open ones that mention it.")
    settings = settings_of(context, data=data, config=config).settings
    who = by or account()
    choice: dict[str, Any] = {"items": items} if items else {"filter": {"text": text}}
    message = {"decision": decision, "reason": reason, "by": who, **choice}

    async def here(services: Services) -> int:
        desk = ReviewService(services)
        found = [named_item(one) for one in items] if items else desk.find(filter_of("open", text=text))
        return _print_told(desk.decide(decision, found, Reviewer(who), reason).json(), as_json)

    on_either(settings, lambda server: _print_told(server.post("/review/decisions", message), as_json), here)


def _print_page(page: dict[str, Any], as_json: bool) -> int:
    if as_json:
        return _print_json(page)
    table = Table("id", "status", "seen", "statement", "why")
    for item in page["items"]:
        why = "; ".join(violation["message"] for violation in item["violations"])
        table.add_row(item["id"], item["status"], str(item["seen"]), _statement(item["statement"]), why)
    Console().print(table)
    _told.print(f"{len(page['items'])} of {page['total']}")
    return 0


def _print_told(told: dict[str, Any], as_json: bool) -> int:
    """What became of a decision; 1 when something was refused or could not be decided."""
    if as_json:
        _print_json(told)
    else:
        lines = [f"{item['id']}\t{item['status']}" for item in told["items"]]
        lines += [f"{one['id']}\trefused\t{_reasons(one)}" for one in told["refused"]]
        lines += [f"{one['id']}\tis {one['status']}" for one in told["unchanged"]]
        for line in lines:
            print(line)
        for name, what in (("fallen", "no longer conform"), ("revived", "conform now")):
            if told[name]:
                _told.print(f"{len(told[name])} other statements {what}.")
    return 1 if told["refused"] or told["unchanged"] else 0


def _print_json(found: dict[str, Any]) -> int:
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return 0


def _statement(statement: dict[str, Any]) -> str:
    value = statement["object"]
    told = _short(value["value"]) if value["type"] == "uri" else f'"{value["value"]}"'
    return f"{_short(statement['subject'])} {_short(statement['predicate'])} {told}"


def _short(iri: str) -> str:
    return iri.rstrip("/").replace("#", "/").rpartition("/")[2]


def _reasons(refused: dict[str, Any]) -> str:
    return "; ".join(violation["message"] for violation in refused["violations"])
