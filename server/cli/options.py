"""The options that several commands share. Imports little: `urbankg serve` starts with it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

Data = Annotated[Path | None, typer.Option("--data", help="Folder of the graph.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]
OntologyFolder = Annotated[Path | None, typer.Option("--ontology", help="Folder of OWL files.")]
ShapesFolder = Annotated[Path | None, typer.Option("--shapes", help="Folder of SHACL files.")]
ModelUrl = Annotated[str | None, typer.Option("--model-url", help="TGI-compatible server.")]


def _json_when_piped(context: typer.Context, parameter: typer.CallbackParam, chosen: bool) -> bool:
    """What was chosen; if nothing was, JSON unless standard output is a terminal."""
    source = context.get_parameter_source(parameter.name or "")
    if source is not None and source.name == "DEFAULT":
        return not sys.stdout.isatty()
    return chosen


AsJson = Annotated[
    bool,
    typer.Option(
        "--json/--no-json",
        callback=_json_when_piped,
        show_default=False,
        help="The whole answer as JSON, as it comes without this option where the output is no terminal.",
    ),
]
Reason = Annotated[str | None, typer.Option("--reason", help="Why.")]
By = Annotated[str | None, typer.Option("--by", help="Who decides; the name of the account if not given.")]
Offset = Annotated[int, typer.Option(min=0, help="How many to skip.")]
Limit = Annotated[int, typer.Option(min=1, max=1000, help="How many to show.")]
Method = Annotated[str | None, typer.Option("--method", help="How to read: fast, thorough ...")]
Expect = Annotated[
    int | None,
    typer.Option(help="How many are decided; needed above 20, and nothing is decided if it is wrong."),
]
