"""`urbankg entity merge | split | merges`: two entities that are one, from the command line.

On a folder that a server holds, the commands talk to that server.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pyoxigraph import NamedNode

from curation.decisions import Reviewer
from curation.merge_record import Merged, named_merge
from server.cli.curation.commands_review import account
from server.cli.invocation import on_either, settings_of
from server.cli.running_server import RunningServer
from server.http.pages import page
from server.http.routes.graph.entities import merge_json, merged_json
from server.runtime.context import Services

entity_app = typer.Typer(no_args_is_help=True, help="Merge entities that are one, and split them again.")

Data = Annotated[Path | None, typer.Option("--data", help="Folder of the graph.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
Why = Annotated[str | None, typer.Option("--reason", help="Why.")]
By = Annotated[str | None, typer.Option("--by", help="Who decides; the name of the account if not given.")]


@entity_app.command("merge")
def merge(
    context: typer.Context,
    keep: Annotated[str, typer.Argument(help="IRI of the entity that stays.")],
    other: Annotated[str, typer.Argument(help="IRI of the entity whose statements become its.")],
    data: Data = None,
    config: Config = None,
    reason: Why = None,
    by: By = None,
    drop_conflicts: Annotated[
        bool, typer.Option("--drop-conflicts", help="Leave out what contradicts the kept entity.")
    ] = False,
) -> None:
    """Make two entities one; exit code 1 when the gate refuses it."""
    settings = settings_of(context, data=data, config=config).settings
    who = by or account()
    message = {"keep": keep, "merge": other, "reason": reason, "by": who, "drop_conflicts": drop_conflicts}

    async def here(services: Services) -> int:
        told = services.merging.merge(
            _iri(keep), _iri(other), Reviewer(who), reason=reason, drop_conflicts=drop_conflicts
        )
        return _print_merged(told)

    on_either(settings, lambda server: _print(server.post("/entities/merge", message)), here)


@entity_app.command("split")
def split(
    context: typer.Context,
    identifier: Annotated[str, typer.Argument(metavar="MERGE", help="Identifier of the merge.")],
    data: Data = None,
    config: Config = None,
    reason: Why = None,
    by: By = None,
) -> None:
    """Take a merge back: each entity has what it had."""
    settings = settings_of(context, data=data, config=config).settings
    who = by or account()

    async def here(services: Services) -> int:
        return _print_merged(services.merging.split(named_merge(identifier), Reviewer(who), reason=reason))

    def through_server(server: RunningServer) -> int:
        return _print(server.post(f"/entities/merges/{identifier}/split", {"reason": reason, "by": who}))

    on_either(settings, through_server, here)


@entity_app.command("merges")
def merges(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to show.")] = 50,
) -> None:
    """The merges there were, the last one first, as JSON."""
    settings = settings_of(context, data=data, config=config).settings

    async def here(services: Services) -> int:
        return _print(page("merges", services.merging.all(), 0, limit, merge_json))

    on_either(settings, lambda server: _print(server.get("/entities/merges", {"limit": str(limit)})), here)


def _print_merged(told: Merged) -> int:
    _print(merged_json(told))
    return 0 if told.merge is not None else 1


def _print(found: dict[str, Any]) -> int:
    print(json.dumps(found, ensure_ascii=False, indent=2))
    return 0


def _iri(text: str) -> NamedNode:
    try:
        return NamedNode(text)
    except ValueError as error:
        raise typer.BadParameter(f"'{text}' is not an absolute IRI: {error}") from error
