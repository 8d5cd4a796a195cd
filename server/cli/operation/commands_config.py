"""`urbankg config show`: every setting and where its value comes from."""

import json

import typer

from server.cli.invocation import settings_of
from server.cli.options import AsJson, Config, Data
from server.cli.output import print_table

config_app = typer.Typer(no_args_is_help=True, help="Show the configuration.")


@config_app.command("show")
def config_show(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Every setting, its value and where it came from; secrets are hidden."""
    loaded = settings_of(context, data=data, config=config)
    rows = list(loaded.shown())
    if as_json:
        typer.echo(json.dumps({n: {"value": v, "origin": o} for n, v, o in rows}, indent=2))
        return
    print_table(("setting", "value", "from"), rows)
