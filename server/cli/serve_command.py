"""`urbankg serve` alone: importing the other commands would take as long as importing the server."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import version
from typing import Annotated, Any

import typer

from server.cli.options import Config, Data, ModelUrl, OntologyFolder, ShapesFolder


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
