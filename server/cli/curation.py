"""`urbankg review`, `gaps`, `proposals` and `entity`: what people decide about the graph."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from server.cli.api import Api, RemoteFailed
from server.cli.invocation import account, with_api
from server.cli.options import AsJson, By, Expect, Limit, Offset, Reason
from server.cli.output import print_json, print_page, stderr

review_app = typer.Typer(no_args_is_help=True, help="Decide what the gate refused or warned of.")
gaps_app = typer.Typer(no_args_is_help=True, help="What questions missed, and what fills it.")
proposals_app = typer.Typer(no_args_is_help=True, help="Words that texts use and the ontology does not have.")
entity_app = typer.Typer(no_args_is_help=True, help="Merge entities that are one, and split them again.")

Found = dict[str, Any]
Gap = Annotated[str, typer.Argument(help="Identifier of a gap.")]
GapText = Annotated[
    str | None, typer.Option("--text", help="Words in the triple, its message or a question.")
]
Text = Annotated[str | None, typer.Option("--text", help="Words in names, quotes, replies or reasons.")]
Statements = Annotated[
    Path | None,
    typer.Option("--statements", help="For `accept`: JSON file with a list of statements instead."),
]
ProposalStatus = Annotated[str, typer.Option("--status", help="open, accepted, dismissed or any.")]
ProposalKind = Annotated[str | None, typer.Option("--kind", help="class or property.")]
Words = Annotated[str | None, typer.Option("--text", help="Words in terms, names and quotes.")]
Least = Annotated[int, typer.Option("--least", min=1, help="How often it must have been used.")]


@review_app.command("list")
@with_api()
def list_items(
    api: Api,
    status: Annotated[str, typer.Option(help="open, accepted, rejected, superseded or any.")] = "open",
    document: Annotated[str | None, typer.Option(help="IRI or identifier of a document.")] = None,
    shape: Annotated[str | None, typer.Option(help="IRI of a shape that was broken.")] = None,
    predicate: Annotated[str | None, typer.Option(help="IRI of the statement's property.")] = None,
    entity: Annotated[str | None, typer.Option(help="IRI of the statement's subject or object.")] = None,
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
    wanted = {"status": status, "document": document, "shape": shape, "predicate": predicate}
    wanted |= {"entity": entity, "text": text, "severity": severity, "component": component}
    wanted |= {"source": source, "class": class_, "assignee": assignee, "group": group}
    page = api.get("/review", offset=offset, limit=limit, **wanted)
    columns = ("id", "status", "seen", "statement", "why")
    print_page(page, "items", columns, _item_row, as_json=as_json)


@review_app.command("show")
@with_api()
def show_item(api: Api, item: Annotated[str, typer.Argument(help="Identifier of a review item.")]) -> None:
    """One item as JSON: its statement, words, reasons, similar entities and decisions."""
    print_json(api.get(f"/review/{item}"))


@review_app.command("decide")
@with_api()
def decide_items(
    api: Api,
    decision: Annotated[
        Literal["accept", "reject", "reopen", "undo"],
        typer.Argument(
            help="`accept`: through the gate again, several items together. `reject`: one with only a "
            "warning is deleted from the graph. `reopen`: what was accepted is deleted and waits again. "
            "`undo`: of a decision, by its identifier, on all items that were not decided again since."
        ),
    ],
    items: Annotated[
        list[str] | None, typer.Argument(help="Identifiers of items, or of the decision to undo.")
    ] = None,
    reason: Reason = None,
    by: By = None,
    expect: Expect = None,
    statements: Statements = None,
    text: Text = None,
    as_json: AsJson = False,
) -> int:
    """Decide on items: those named, or all open ones that mention a text. Exit code 1: one is refused."""
    message = {"reason": reason, "by": by or account()}
    single = decision == "undo" or statements is not None
    if single and (not items or len(items) != 1 or text is not None):
        raise typer.BadParameter("Give exactly one identifier with undo or --statements.")
    if decision == "undo":
        outcome = api.post(f"/review/decisions/{items[0]}/undo", message) if items else {}
    elif statements is not None:
        changed = {**message, "statements": _statements_in(statements)}
        outcome = api.post(f"/review/{items[0]}/{decision}", changed) if items else {}
    else:
        chosen = _selection(items, text)
        outcome = api.post("/review/decisions", {**message, "decision": decision, "expect": expect, **chosen})
    return _print_outcome(outcome, as_json=as_json)


@review_app.command()
@with_api()
def decisions(api: Api, offset: Offset = 0, limit: Limit = 50, as_json: AsJson = False) -> None:
    """The decisions that were made, newest first."""
    columns = ("id", "at", "outcome", "items", "by", "reason")
    page = api.get("/review/decisions", offset=offset, limit=limit)
    print_page(
        page,
        "decisions",
        columns,
        lambda made: tuple(str(made[name] or "") for name in columns),
        as_json=as_json,
    )


@gaps_app.command("list")
@with_api()
def list_gaps(
    api: Api,
    status: Annotated[str, typer.Option(help="open, accepted, rejected or any.")] = "open",
    kind: Annotated[str | None, typer.Option(help="data, entity or schema.")] = None,
    text: GapText = None,
    askers: Annotated[int, typer.Option(min=1, help="How many must have asked at least.")] = 1,
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The gaps, those that most have asked for first."""
    page = api.get("/gaps", status=status, kind=kind, text=text, askers=askers, offset=offset, limit=limit)
    columns = ("id", "kind", "missing", "asked", "by", "proposed", "question")
    print_page(page, "gaps", columns, _gap_row, as_json=as_json)


@gaps_app.command("show")
@with_api()
def show_gap(api: Api, gap: Gap) -> None:
    """One gap as JSON: its triple, questions, what is proposed, passages, decisions."""
    print_json(api.get(f"/gaps/{gap}"))


@gaps_app.command()
@with_api("model_url")
def complete(api: Api, gap: Gap) -> None:
    """Let the model fill in what it believes; nothing of it enters the graph."""
    print_json(api.post(f"/gaps/{gap}/complete")["gap"])


@gaps_app.command()
@with_api("model_url")
def verify(api: Api, gap: Gap) -> None:
    """Look the gap up in the graph's documents and the encyclopedia."""
    print_json(api.post(f"/gaps/{gap}/verify")["gap"])


@gaps_app.command("decide")
@with_api()
def decide_gaps(
    api: Api,
    decision: Annotated[
        Literal["accept", "reject", "reopen"],
        typer.Argument(
            help="`accept`: commit what fills the gap, through the gate, and answer its question again. "
            "`reject`: it is not to be filled. `reopen`: take a rejection back."
        ),
    ],
    gaps: Annotated[list[str] | None, typer.Argument(help="Identifiers of gaps.")] = None,
    value: Annotated[str | None, typer.Option(help='For `accept`: the words in place of "?".')] = None,
    statements: Statements = None,
    text: GapText = None,
    expect: Expect = None,
    reason: Reason = None,
    by: By = None,
) -> int:
    """Decide on gaps: those named, or all open ones that mention the text. Exit code 1 when one failed."""
    message: Found = {"reason": reason, "by": by or account()}
    if gaps and len(gaps) == 1 and decision == "accept":
        message |= {"value": value, "statements": _statements_in(statements)}
        return print_json(api.post(f"/gaps/{gaps[0]}/accept", message))
    if value is not None or statements is not None:
        raise typer.BadParameter("Give exactly one gap to accept with --value or --statements.")
    message |= {"decision": decision, "expect": expect, **_selection(gaps, text)}
    answer = api.post("/gaps/decisions", message)
    print_json(answer)
    return 1 if answer["failed"] else 0


@proposals_app.command("list")
@with_api()
def list_proposals(
    api: Api,
    status: ProposalStatus = "open",
    kind: ProposalKind = None,
    text: Words = None,
    least: Least = 1,
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The proposals, the most used first."""
    page = api.get("/proposals", status=status, kind=kind, text=text, least=least, offset=offset, limit=limit)
    columns = ("id", "kind", "term", "used", "documents", "from", "to", "status")
    print_page(page, "proposals", columns, _proposal_row, as_json=as_json)


@proposals_app.command("show")
@with_api()
def show_proposal(
    api: Api, proposal: Annotated[str, typer.Argument(help="Identifier of a proposal.")]
) -> None:
    """One proposal as JSON, with its examples and decisions."""
    print_json(api.get(f"/proposals/{proposal}"))


@proposals_app.command("decide")
@with_api()
def decide_proposal(
    api: Api,
    decision: Annotated[
        Literal["accept", "dismiss", "reopen", "retry"],
        typer.Argument(
            help="`accept`: the word means the term `--as`, and the statements that wait for it are judged. "
            "`dismiss`: the ontology needs no such term. `reopen`: undo a decision. `retry`: judge the "
            "statements that wait for an accepted word again."
        ),
    ],
    proposal: Annotated[str, typer.Argument(help="Identifier of a proposal.")],
    as_: Annotated[
        str | None, typer.Option("--as", help="IRI of the ontology's term that the word means.")
    ] = None,
    reason: Reason = None,
    by: By = None,
) -> int:
    """Decide on a word. Exit code 1 when statements still wait for it."""
    message = {"decision": decision, "as": as_, "reason": reason, "by": by or account()}
    outcome = api.post(f"/proposals/{proposal}", message)
    decided = outcome["proposal"]
    print(f"{decided['id']}\t{decided['status']}\t{decided['accepted_as'] or ''}".rstrip())
    retried = outcome.get("retried")
    if retried is None:
        return 0
    for refused in retried["refused"]:
        print(f"{refused['id']}\trefused\t{_messages(refused)}")
    for item in retried["unread"]:
        print(f"{item}\twaits\tits other end is not known")
    stderr.print(f"{len(retried['let_in'])} waiting statements accepted, {retried['left']} not tried.")
    return 1 if retried["refused"] or retried["unread"] or retried["left"] else 0


@proposals_app.command()
@with_api()
def export(
    api: Api,
    status: ProposalStatus = "open",
    kind: ProposalKind = None,
    text: Words = None,
    least: Least = 1,
) -> None:
    """Print the proposals as a fragment of OWL in Turtle, to paste into a file of the ontology."""
    wanted = {"status": status, "kind": kind, "text": text, "least": least}
    parameters = {name: value for name, value in wanted.items() if value is not None}
    api.download("GET", "/proposals/export", sys.stdout.buffer, params=parameters)


@entity_app.command()
@with_api()
def merge(
    api: Api,
    keep: Annotated[str, typer.Argument(help="IRI of the entity that stays.")],
    other: Annotated[str, typer.Argument(help="IRI of the entity whose statements become its.")],
    reason: Reason = None,
    by: By = None,
    drop_conflicts: Annotated[
        bool, typer.Option("--drop-conflicts", help="Leave out what contradicts the kept entity.")
    ] = False,
) -> int:
    """Make two entities one; exit code 1 when the gate refuses it."""
    message = {"keep": keep, "merge": other, "drop_conflicts": drop_conflicts}
    return _print_merged(api, "/entities/merge", {**message, "reason": reason, "by": by or account()})


@entity_app.command()
@with_api()
def split(
    api: Api,
    merge: Annotated[str, typer.Argument(help="Identifier of the merge.")],
    reason: Reason = None,
    by: By = None,
) -> int:
    """Undo a merge: each entity has what it had before."""
    message = {"reason": reason, "by": by or account()}
    return _print_merged(api, f"/entities/merges/{merge}/split", message)


@entity_app.command()
@with_api()
def merges(api: Api, offset: Offset = 0, limit: Limit = 50) -> None:
    """All merges, newest first, as JSON."""
    print_json(api.get("/entities/merges", offset=offset, limit=limit))


def _selection(items: list[str] | None, text: str | None) -> Found:
    """What is decided on: the things named, or those that mention a text."""
    if bool(items) == (text is not None):
        raise typer.BadParameter("Give identifiers, or --text for all open ones that mention it.")
    return {"items": items} if items else {"filter": {"text": text}}


def _statements_in(file: Path | None) -> Any:
    """The statements in a JSON file; the server checks them."""
    if file is None:
        return None
    try:
        return json.loads(file.read_bytes())
    except ValueError as error:
        raise typer.BadParameter(f"{file} is not JSON: {error}.") from error


def _print_outcome(outcome: Found, *, as_json: bool) -> int:
    """Print the outcome of a decision; 1 when something was refused or could not be decided."""
    if as_json:
        print_json(outcome)
    else:
        for item in outcome["items"]:
            print(f"{item['id']}\t{item['status']}")
        for item in outcome["refused"]:
            print(f"{item['id']}\trefused\t{_messages(item)}")
        for item in outcome["unchanged"]:
            print(f"{item['id']}\tis {item['status']}")
        for name, what in (("fallen", "no longer conform"), ("revived", "conform now")):
            if outcome[name]:
                stderr.print(f"{len(outcome[name])} other statements {what}.")
    return 1 if outcome["refused"] or outcome["unchanged"] else 0


def _print_merged(api: Api, path: str, message: Found) -> int:
    """Print the outcome of a merge or split; 1 when the gate refused it."""
    try:
        return print_json(api.post(path, message))
    except RemoteFailed as error:
        if "rejected" not in error.problem:
            raise
        print_json(error.problem)
        return 1


def _messages(item: Found) -> str:
    return "; ".join(violation["message"] for violation in item["violations"])


def _item_row(item: Found) -> tuple[str, ...]:
    statement = item["statement"]
    value = statement["object"]
    shown = _short(value["value"]) if value["type"] == "uri" else f'"{value["value"]}"'
    words = f"{_short(statement['subject'])} {_short(statement['predicate'])} {shown}"
    return item["id"], item["status"], str(item["seen"]), words, _messages(item)


def _short(iri: str) -> str:
    return iri.rstrip("/").replace("#", "/").rpartition("/")[2]


def _gap_row(gap: Found) -> tuple[str, ...]:
    proposed = gap["completion"]
    return (
        gap["id"],
        gap["kind"],
        f"{gap['subject']} | {gap['property']} | {gap['object']}",
        str(gap["asked"]),
        str(gap["askers"]),
        "" if proposed is None else f"{proposed['value']} ({proposed['verdict']})",
        gap["questions"][0]["question"],
    )


def _proposal_row(found: Found) -> tuple[str, ...]:
    ends = (", ".join(end["label"] for end in found[name][:3]) for name in ("domain", "range"))
    counts = str(found["count"]), str(found["documents"])
    return found["id"], found["kind"], found["term"], *counts, *ends, found["status"]
