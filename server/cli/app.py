"""The command line: which module has which command, and `urbankg serve` and `mcp`.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 done but something
was refused or missing, 2 could not be done.
"""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from server.cli.options import Config, Data, ModelUrl, OntologyFolder, ShapesFolder

if TYPE_CHECKING:
    from server.mcp.calling import FolderCalls

COMMANDS: Final = {
    "serve": "server.cli.app:serve",
    "query": "server.cli.query:query",
    "extract": "server.cli.extract:extract",
    "ask": "server.cli.query:ask",
    "validate": "server.cli.query:validate",
    "load": "server.cli.storage:load",
    "dump": "server.cli.storage:dump",
    "backup": "server.cli.storage:backup",
    "restore": "server.cli.storage:restore_command",
    "optimize": "server.cli.storage:optimize",
    "relate": "server.cli.operation:relate",
    "infer": "server.cli.operation:infer",
    "check": "server.cli.rules:check_files",
    "impact": "server.cli.rules:impact",
    "ontology": "server.cli.rules:ontology_app",
    "review": "server.cli.curation:review_app",
    "gaps": "server.cli.curation:gaps_app",
    "proposals": "server.cli.curation:proposals_app",
    "entity": "server.cli.curation:entity_app",
    "jobs": "server.cli.jobs:jobs_app",
    "models": "server.cli.models:models",
    "model": "server.cli.models:model_app",
    "prompts": "server.cli.models:prompts",
    "key": "server.cli.operation:key_app",
    "config": "server.cli.operation:config_app",
    "mcp": "server.cli.app:mcp",
    "demo": "server.cli.demo:demo",
}
"""Every command, and the function or the group of commands that it is."""
RESEARCH: Final = {
    "evaluate": "research.commands_evaluate:evaluate_app",
    "train": "research.commands_train:train",
    "trajectories": "research.commands_train:trajectories",
}
"""Commands of a checkout, which no installed wheel has: `--help` lists them apart."""


def command_line(command: str | None = None) -> typer.Typer:
    """The command line, with this command alone, or all where there is none of that name.

    A module is imported with its commands only: all together take longer than most of them run.
    """
    app = typer.Typer(no_args_is_help=True, pretty_exceptions_enable=False)
    app.callback()(options)
    alone = command in COMMANDS or command in RESEARCH
    for name, place in COMMANDS.items():
        if not alone or name == command:
            _add(app, name, place)
    for name, place in RESEARCH.items():
        if not alone or name == command:
            _add_research(app, name, place)
    return app


def _add(app: typer.Typer, name: str, place: str, panel: str | None = None) -> None:
    module, _, attribute = place.partition(":")
    added = getattr(import_module(module), attribute)
    if isinstance(added, typer.Typer):
        app.add_typer(added, name=name, rich_help_panel=panel)
    else:
        app.command(name, rich_help_panel=panel)(added)


def _add_research(app: typer.Typer, name: str, place: str) -> None:
    if find_spec("research") is not None:
        _add(app, name, place, "Research")
    else:
        anything = {"allow_extra_args": True, "ignore_unknown_options": True}
        app.command(name, hidden=True, context_settings=anything)(only_in_a_checkout)


def only_in_a_checkout() -> None:
    """Says where training and evaluation are."""
    from server.errors import ServerError

    raise ServerError(
        "Training and evaluation are run from a checkout of the repository, with `python -m research`."
    )


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"urbankg {version('urbankg')}")
        raise typer.Exit


def options(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
    model_url: ModelUrl = None,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """A knowledge-graph server for cities: text in, gated and related graph out, SPARQL over it."""
    context.obj = {
        "data": data, "config": config, "ontology": ontology, "shapes": shapes, "model_url": model_url,
    }  # fmt: skip


def serve(
    context: typer.Context,
    data: Data = None,
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(help="Port; 0 takes a free one.")] = None,
    config: Config = None,
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
    model_url: ModelUrl = None,
    store_url: Annotated[
        str | None, typer.Option("--store-url", help="SPARQL endpoint of a store that holds the graph.")
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Load the sample city first, if the folder holds no graph.")
    ] = False,
) -> None:
    """Serve the graph of a folder, or of another store, over HTTP."""
    # What is imported stays; the server lets the collector go on when all is open.
    gc.disable()
    from server.runtime.serving import start

    flags = {
        "data": data, "host": host, "port": port, "config": config, "ontology": ontology,
        "shapes": shapes, "model_url": model_url, "store_url": store_url,
    }  # fmt: skip
    if sample:
        _load_sample({**context.obj, **{name: value for name, value in flags.items() if value is not None}})
    start(flags, context.obj)


def _load_sample(flags: Mapping[str, Any]) -> None:
    """Load the sample city by a process of its own, so that the server starts as small as without it."""
    from server.settings_loading import chosen

    folder = chosen(flags).settings.data
    if (folder / "graph").exists():
        return
    shared = [f"--{name}={flags[name]}" for name in ("config", "ontology", "shapes") if flags[name]]
    load = [sys.executable, "-P", "-m", "server", *shared, "load", "--sample", "--data", str(folder)]
    code = subprocess.run(load, check=False).returncode
    if code:
        raise typer.Exit(code)


def mcp(context: typer.Context, data: Data = None, config: Config = None, model_url: ModelUrl = None) -> None:
    """Offer the graph to a language model as tools, over standard input and output.

    The server that holds the folder is called, by the key in URBANKG_API_KEY where it wants one; where none
    does, one is started for as long as this runs. A running server offers the same at /mcp.
    """
    from server.cli.invocation import existing, settings_of
    from server.mcp.calling import FolderCalls

    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    flags = {"--config": config, "--model-url": model_url}
    given = [str(part) for flag, value in flags.items() if value is not None for part in (flag, value)]
    asyncio.run(_serve_tools(FolderCalls(existing(settings).data, settings.api_key, given)))


async def _serve_tools(calls: FolderCalls) -> None:
    from server.mcp.tools import serve_standard_streams

    try:
        await serve_standard_streams(calls)
    finally:
        await calls.close()
