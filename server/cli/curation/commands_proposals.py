"""`urbankg proposals list | show | accept | dismiss | reopen | retry | export`: words the ontology lacks.

On a folder that a server holds, the commands call that server.
"""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from curation.proposals import named_proposal
from curation.review.review_item import Reviewer
from server.cli.curation.commands_review import account
from server.cli.invocation import on_either, settings_of, show_from_either
from server.cli.options import AsJson, By, Config, Data, Limit, Offset, Reason
from server.cli.output import print_json, print_table, stderr
from server.cli.running_server import RunningServer
from server.curation.proposing import ProposalService, proposal_filter, term_of
from server.services import Services

proposals_app = typer.Typer(no_args_is_help=True, help="Words that texts use and the ontology does not have.")

Name = Annotated[str, typer.Argument(help="Identifier of a proposal.")]
Status = Annotated[str, typer.Option(help="open, accepted, dismissed or any.")]
Kind = Annotated[str | None, typer.Option(help="class or property.")]
Text = Annotated[str | None, typer.Option(help="Words in terms, names and quotes.")]
Least = Annotated[int, typer.Option(min=1, help="How often it must have been used.")]


@proposals_app.command("list")
def list_proposals(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    status: Status = "open",
    kind: Kind = None,
    text: Text = None,
    least: Least = 1,
    offset: Offset = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """The proposals, the most used first."""
    settings = settings_of(context, data=data, config=config).settings
    wanted = proposal_filter(status, kind, text, least)

    parameters = {**_parameters(status, kind, text, least), "offset": str(offset), "limit": str(limit)}
    show_from_either(
        settings,
        lambda server: server.get("/proposals", parameters),
        lambda services: ProposalService(services).page(wanted, offset, limit),
        lambda found: _print_page(found, as_json),
        opening=Services.reading,
    )


@proposals_app.command()
def show(context: typer.Context, proposal: Name, data: Data = None, config: Config = None) -> None:
    """One proposal as JSON, with its examples and decisions."""
    settings = settings_of(context, data=data, config=config).settings

    show_from_either(
        settings,
        lambda server: server.get(f"/proposals/{proposal}"),
        lambda services: ProposalService(services).show(named_proposal(proposal)),
        print_json,
        opening=Services.reading,
    )


@proposals_app.command()
def accept(
    context: typer.Context,
    proposal: Name,
    as_: Annotated[str, typer.Option("--as", help="IRI of the ontology's term that the word means.")],
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
) -> None:
    """Accept a word as a term of the ontology, and try the statements that wait for it again."""
    _decide(context, "accept", proposal, data, config, reason, by, as_)


@proposals_app.command()
def dismiss(
    context: typer.Context,
    proposal: Name,
    reason: Annotated[str, typer.Option("--reason", help="Why.")],
    data: Data = None,
    config: Config = None,
    by: By = None,
) -> None:
    """Decide that the ontology needs no such term."""
    _decide(context, "dismiss", proposal, data, config, reason, by)


@proposals_app.command()
def reopen(
    context: typer.Context,
    proposal: Name,
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
) -> None:
    """Undo a decision."""
    _decide(context, "reopen", proposal, data, config, reason, by)


@proposals_app.command()
def retry(
    context: typer.Context, proposal: Name, data: Data = None, config: Config = None, by: By = None
) -> None:
    """Try the statements that wait for an accepted word again."""
    _decide(context, "retry", proposal, data, config, None, by)


@proposals_app.command()
def export(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    status: Status = "open",
    kind: Kind = None,
    text: Text = None,
    least: Least = 1,
) -> None:
    """Print the proposals as a fragment of OWL in Turtle, to paste into a file of the ontology."""
    settings = settings_of(context, data=data, config=config).settings
    wanted = proposal_filter(status, kind, text, least)

    async def here(services: Services) -> int:
        print(ProposalService(services).export(wanted), end="")
        return 0

    def through_server(server: RunningServer) -> int:
        server.download("/proposals/export", _parameters(status, kind, text, least), sys.stdout.buffer)
        return 0

    on_either(settings, through_server, here)


def _decide(
    context: typer.Context,
    decision: str,
    proposal: str,
    data: Path | None,
    config: Path | None,
    reason: str | None,
    by: str | None,
    as_: str | None = None,
) -> None:
    settings = settings_of(context, data=data, config=config).settings
    who, term = by or account(), term_of(as_)
    message = {"decision": decision, "as": as_, "reason": reason, "by": who}

    show_from_either(
        settings,
        lambda server: server.post(f"/proposals/{proposal}", message),
        lambda services: ProposalService(services).decide(
            decision, named_proposal(proposal), Reviewer(who), term, reason
        ),
        _print_decided,
    )


def _parameters(status: str, kind: str | None, text: str | None, least: int) -> dict[str, str]:
    sent = {"status": status, "kind": kind, "text": text, "least": str(least)}
    return {name: value for name, value in sent.items() if value is not None}


def _print_decided(outcome: dict[str, Any]) -> int:
    """Print the outcome of a decision; 1 when some statements still wait."""
    proposal = outcome["proposal"]
    print(f"{proposal['id']}\t{proposal['status']}\t{proposal['accepted_as'] or ''}".rstrip())
    retried = outcome.get("retried")
    if retried is None:
        return 0
    for one in retried["refused"]:
        print(f"{one['id']}\trefused\t{'; '.join(v['message'] for v in one['violations'])}")
    for item in retried["unread"]:
        print(f"{item}\twaits\tits other end is not known")
    stderr.print(f"{len(retried['let_in'])} waiting statements accepted, {retried['left']} not tried.")
    return 1 if retried["refused"] or retried["unread"] or retried["left"] else 0


def _print_page(page: dict[str, Any], as_json: bool) -> int:
    if as_json:
        return print_json(page)
    columns = ("id", "kind", "term", "used", "documents", "from", "to", "status")
    print_table(columns, map(_row, page["proposals"]))
    stderr.print(f"{len(page['proposals'])} of {page['total']}")
    return 0


def _row(one: dict[str, Any]) -> tuple[str, ...]:
    ends = (", ".join(end["label"] for end in one[name][:3]) for name in ("domain", "range"))
    return one["id"], one["kind"], one["term"], str(one["count"]), str(one["documents"]), *ends, one["status"]
