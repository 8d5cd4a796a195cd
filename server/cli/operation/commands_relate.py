"""`urbankg relate --bulk`: recomputes all relations, or those of a file."""

from pathlib import Path
from typing import Annotated

import typer

from server.cli.invocation import settings_of
from server.cli.options import Config, Data

_FEATURES_A_STRIP = 20_000


def relate(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    bulk: Annotated[bool, typer.Option("--bulk", help="Relate all features of the graph again.")] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes of this machine; as many as it has cores when not given."),
    ] = None,
    dask: Annotated[
        str | None,
        typer.Option(help="A Dask cluster's scheduler, tcp://host:port, instead of processes here."),
    ] = None,
    strip: Annotated[
        int, typer.Option(min=1, help="Features a strip: more need more memory, fewer more exchange.")
    ] = _FEATURES_A_STRIP,
    source: Annotated[
        Path | None, typer.Option("--input", help="A GeoParquet file to relate instead of the graph.")
    ] = None,
    identifier: Annotated[
        str, typer.Option("--id", help="The column of that file that holds the features' IRIs.")
    ] = "id",
    output: Annotated[
        Path | None, typer.Option(help="The N-Triples file to write then; .gz compresses.")
    ] = None,
) -> None:
    """Relate all features by RCC8 at once. After an interruption, the same command continues."""
    if not bulk:
        raise typer.BadParameter("Relations are updated with every change; --bulk recomputes all of them.")
    if (source is None) != (output is None):
        raise typer.BadParameter(
            "--input and --output need each other: relations of a file are written to a file."
        )
    settings = settings_of(context, data=data, config=config).settings
    # The geometry libraries take a while to load, and other commands do not need them.
    from server.data.relating import executor_of, relate_file, relate_graph

    try:
        with executor_of(workers, dask) as (executor, count):
            if source is not None and output is not None:
                relate_file(settings, source, identifier, output, executor, count, strip)
            else:
                relate_graph(settings, executor, count, strip)
    except KeyboardInterrupt:
        typer.echo("Interrupted. Finished strips are kept: the same command continues from there.", err=True)
        raise
