"""`urbankg serve` alone: importing the other commands would take as long as importing the server."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

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
) -> None:
    """Serve the graph of a folder, or of another store, over HTTP."""
    from server.runtime.early_start import start

    start(
        {
            "data": data, "host": host, "port": port, "config": config, "ontology": ontology,
            "shapes": shapes, "model_url": model_url, "store_url": store_url,
        },
        context.obj,
    )  # fmt: skip
