"""`urbankg review list | show | accept | reject | reopen | decisions | undo`: the review queue.

On a folder that a server holds, the commands call that server.
"""

import getpass
from pathlib import Path
from typing import Annotated, Any

import typer

from curation.review.review_item import Reviewer
from curation.review.review_queue import named_item
from server.cli.invocation import settings_of, show_from_either
from server.cli.options import AsJson, By, Config, Data, Limit, Offset, Reason
from server.cli.output import print_json, print_table, stderr
from server.curation.review_filter import FilterJson, filter_of
from server.curation.reviewing import ReviewService
from server.http.bodies.request_bodies import check, parse_json
from server.http.reporting.statements import AcceptRequest, statement_of
from server.services import Services

review_app = typer.Typer(no_args_is_help=True, help="Decide what the gate refused or warned of.")

Items = Annotated[list[str] | None, typer.Argument(help="Identifiers of review items.")]
Status = Annotated[str, typer.Option(help="open, accepted, rejected, superseded or any.")]
Document = Annotated[str | None, typer.Option(help="IRI or identifier of a document.")]
Shape = Annotated[str | None, typer.Option(help="IRI of a shape that was broken.")]
Predicate = Annotated[str | None, typer.Option(help="IRI of the statement's property.")]
Entity = Annotated[str | None, typer.Option(help="IRI of the statement's subject or object.")]
Text = Annotated[str | None, typer.Option(help="Words in names, quotes, replies or reasons.")]
Expect = Annotated[
    int | None,
    typer.Option(help="How many items are decided; needed above 20, and nothing is if it is wrong."),
]


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
    severity: Annotated[str | None, typer.Option(help="Violation, Warning or Info.")] = None,
    component: Annotated[str | None, typer.Option(help="IRI or name of a constraint component.")] = None,
    source: Annotated[str | None, typer.Option(help="The client's name of the source.")] = None,
    class_: Annotated[str | None, typer.Option("--class", help="IRI of a class of the subject.")] = None,
    assignee: Annotated[str | None, typer.Option(help="A person; empty for nobody.")] = None,
    group: Annotated[str | None, typer.Option(help="Identifier of a cause.")] = None,
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The waiting items, newest first."""
    settings = settings_of(context, data=data, config=config).settings
    sent = {"status": status, "document": document, "shape": shape, "predicate": predicate, "entity": entity}
    sent |= {"text": text, "severity": severity, "component": component, "source": source, "class": class_}
    sent |= {"group": group, "assignee": assignee}
    wanted = filter_of(check({n: v for n, v in sent.items() if v is not None}, FilterJson))
    sent |= {"offset": str(offset), "limit": str(limit)}
    parameters = {name: value for name, value in sent.items() if value is not None}
    show_from_either(
        settings,
        lambda server: server.get("/review", parameters),
        lambda services: ReviewService(services).page(wanted, offset, limit),
        lambda found: _print_page(found, as_json),
        opening=Services.reading,
    )


@review_app.command()
def show(
    context: typer.Context,
    item: Annotated[str, typer.Argument(help="Identifier of a review item.")],
    data: Data = None,
    config: Config = None,
) -> None:
    """One item as JSON: its statement, words, reasons, similar entities and decisions."""
    settings = settings_of(context, data=data, config=config).settings

    show_from_either(
        settings,
        lambda server: server.get(f"/review/{item}"),
        lambda services: ReviewService(services).show(named_item(item)),
        print_json,
        opening=Services.reading,
    )


@review_app.command()
def accept(
    context: typer.Context,
    items: Items = None,
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
    expect: Expect = None,
    statements: Annotated[
        Path | None,
        typer.Option(help="JSON file with a list of statements that replace that of the (single) item."),
    ] = None,
    text: Text = None,
    as_json: AsJson = False,
) -> None:
    """Accept statements, through the gate again; several items are judged together."""
    if statements is None:
        _decide(context, "accept", items, data, config, reason, by, text, as_json, expect)
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

    def local(services: Services) -> dict[str, Any]:
        corrected = [statement_of(one)[0] for one in given]
        reviewer = Reviewer(message["by"])
        service = ReviewService(services)
        return service.decide("accept", [named_item(items[0])], reviewer, reason, corrected).json()

    show_from_either(
        settings,
        lambda server: server.post(f"/review/{items[0]}/accept", message),
        local,
        lambda outcome: _print_outcome(outcome, as_json),
    )


@review_app.command()
def reject(
    context: typer.Context,
    items: Items = None,
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
    expect: Expect = None,
    text: Text = None,
    as_json: AsJson = False,
) -> None:
    """Reject statements; one with only a warning is deleted from the graph."""
    _decide(context, "reject", items, data, config, reason, by, text, as_json, expect)


@review_app.command()
def reopen(
    context: typer.Context,
    items: Items = None,
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
    expect: Expect = None,
    as_json: AsJson = False,
) -> None:
    """Undo decisions; statements that they accepted are deleted from the graph and wait again."""
    _decide(context, "reopen", items, data, config, reason, by, None, as_json, expect)


@review_app.command()
def decisions(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The decisions that were made, newest first."""

    def shown(found: dict[str, Any]) -> int:
        if as_json:
            return print_json(found)
        for one in found["decisions"]:
            print(
                one["id"], one["at"], one["outcome"], one["items"], one["by"], one["reason"] or "", sep="\t"
            )
        return 0

    show_from_either(
        settings_of(context, data=data, config=config).settings,
        lambda server: server.get("/review/decisions", {"offset": str(offset), "limit": str(limit)}),
        lambda services: ReviewService(services).history(offset, limit),
        shown,
        opening=Services.reading,
    )


@review_app.command()
def undo(
    context: typer.Context,
    decision: Annotated[str, typer.Argument(help="Identifier of a decision.")],
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
    as_json: AsJson = False,
) -> None:
    """Undo a decision on all of its items that were not decided again since."""
    who = by or account()
    show_from_either(
        settings_of(context, data=data, config=config).settings,
        lambda server: server.post(f"/review/decisions/{decision}/undo", {"reason": reason, "by": who}),
        lambda services: ReviewService(services).undo(decision, Reviewer(who), reason),
        lambda outcome: _print_outcome(outcome, as_json),
    )


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
    expect: int | None,
) -> None:
    if bool(items) == (text is not None):
        raise typer.BadParameter("Give identifiers of items, or --text for all open ones that mention it.")
    settings = settings_of(context, data=data, config=config).settings
    who = by or account()
    choice: dict[str, Any] = {"items": items} if items else {"filter": {"text": text}}
    message = {"decision": decision, "reason": reason, "by": who, "expect": expect, **choice}

    def local(services: Services) -> dict[str, Any]:
        service = ReviewService(services)
        wanted = None if items else filter_of(check({"text": text}, FilterJson))
        found, left = service.selected(items, wanted, expect)
        return {**service.decide(decision, found, Reviewer(who), reason).json(), "left": left}

    show_from_either(
        settings,
        lambda server: server.post("/review/decisions", message),
        local,
        lambda outcome: _print_outcome(outcome, as_json),
    )


def _print_page(page: dict[str, Any], as_json: bool) -> int:
    if as_json:
        return print_json(page)
    print_table(("id", "status", "seen", "statement", "why"), map(_row, page["items"]))
    stderr.print(f"{len(page['items'])} of {page['total']}")
    return 0


def _print_outcome(outcome: dict[str, Any], as_json: bool) -> int:
    """Print the outcome of a decision; 1 when something was refused or could not be decided."""
    if as_json:
        print_json(outcome)
    else:
        lines = [f"{item['id']}\t{item['status']}" for item in outcome["items"]]
        lines += [f"{one['id']}\trefused\t{_reasons(one)}" for one in outcome["refused"]]
        lines += [f"{one['id']}\tis {one['status']}" for one in outcome["unchanged"]]
        for line in lines:
            print(line)
        for name, what in (("fallen", "no longer conform"), ("revived", "conform now")):
            if outcome[name]:
                stderr.print(f"{len(outcome[name])} other statements {what}.")
    return 1 if outcome["refused"] or outcome["unchanged"] else 0


def _row(item: dict[str, Any]) -> tuple[str, ...]:
    why = "; ".join(violation["message"] for violation in item["violations"])
    return item["id"], item["status"], str(item["seen"]), _statement(item["statement"]), why


def _statement(statement: dict[str, Any]) -> str:
    value = statement["object"]
    outcome = _short(value["value"]) if value["type"] == "uri" else f'"{value["value"]}"'
    return f"{_short(statement['subject'])} {_short(statement['predicate'])} {outcome}"


def _short(iri: str) -> str:
    return iri.rstrip("/").replace("#", "/").rpartition("/")[2]


def _reasons(refused: dict[str, Any]) -> str:
    return "; ".join(violation["message"] for violation in refused["violations"])
