"""`urbankg entity merge | split | merges`: merges two entities that are one.

On a folder that a server holds, the commands call that server.
"""

from typing import Annotated, Any

import typer

from curation.merging.merging import named_merge
from curation.review.review_item import Reviewer
from server.cli.curation.commands_review import account
from server.cli.invocation import settings_of, show_from_either
from server.cli.options import By, Config, Data, Limit, Reason
from server.cli.output import iri, print_json
from server.http.pages import page
from server.http.reporting.statements import merge_json, merged_json
from server.services import Services

entity_app = typer.Typer(no_args_is_help=True, help="Merge entities that are one, and split them again.")


@entity_app.command("merge")
def merge(
    context: typer.Context,
    keep: Annotated[str, typer.Argument(help="IRI of the entity that stays.")],
    other: Annotated[str, typer.Argument(help="IRI of the entity whose statements become its.")],
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
    drop_conflicts: Annotated[
        bool, typer.Option("--drop-conflicts", help="Leave out what contradicts the kept entity.")
    ] = False,
) -> None:
    """Make two entities one; exit code 1 when the gate refuses it."""
    settings = settings_of(context, data=data, config=config).settings
    who = by or account()
    message = {"keep": keep, "merge": other, "reason": reason, "by": who, "drop_conflicts": drop_conflicts}

    show_from_either(
        settings,
        lambda server: server.post("/entities/merge", message),
        lambda services: merged_json(
            services.merging.merge(
                iri(keep), iri(other), Reviewer(who), reason=reason, drop_conflicts=drop_conflicts
            )
        ),
        _print_merged,
    )


@entity_app.command("split")
def split(
    context: typer.Context,
    identifier: Annotated[str, typer.Argument(metavar="MERGE", help="Identifier of the merge.")],
    data: Data = None,
    config: Config = None,
    reason: Reason = None,
    by: By = None,
) -> None:
    """Undo a merge: each entity has what it had before."""
    settings = settings_of(context, data=data, config=config).settings
    who = by or account()

    show_from_either(
        settings,
        lambda server: server.post(f"/entities/merges/{identifier}/split", {"reason": reason, "by": who}),
        lambda services: merged_json(
            services.merging.split(named_merge(identifier), Reviewer(who), reason=reason)
        ),
        _print_merged,
    )


@entity_app.command("merges")
def merges(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    limit: Limit = 50,
) -> None:
    """All merges, newest first, as JSON."""
    settings = settings_of(context, data=data, config=config).settings

    show_from_either(
        settings,
        lambda server: server.get("/entities/merges", {"limit": str(limit)}),
        lambda services: page("merges", services.merging.all(), 0, limit, merge_json),
        print_json,
        opening=Services.reading,
    )


def _print_merged(found: dict[str, Any]) -> int:
    """Print the outcome; 1 when the gate refused it."""
    print_json(found)
    return 0 if found["merge"] is not None else 1
