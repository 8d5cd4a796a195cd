"""`urbankg key create | list | revoke`: who may write to a graph.

They work on the database beside the graph, so also while a server holds the folder; it applies changes from
the next request on.
"""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from server.cli.invocation import existing, settings_of
from server.cli.options import AsJson, Config, Data
from server.cli.output import print_json, print_table, stderr
from server.http.access.keys import ApiKey, KeyStore, Scope

key_app = typer.Typer(no_args_is_help=True, help="Make, list and revoke API keys.")
_DAY_S = 86_400


@key_app.command("create")
def create(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Whose key it is, or what for.")],
    scope: Annotated[
        list[Scope], typer.Option("--scope", help="What it may do; several with several --scope.")
    ],
    days: Annotated[
        float | None, typer.Option(min=0, help="Days until it expires; never if not set.")
    ] = None,
    data: Data = None,
    config: Config = None,
) -> None:
    """Make a key and print it once. From the first key on, every write needs one."""
    keys = _keys(context, data, config)
    try:
        key, token = keys.create(name, scope, lifetime_s=None if days is None else days * _DAY_S)
    finally:
        keys.close()
    typer.echo(token)
    stderr.print(
        f"Key '{key.name}' ({', '.join(sorted(key.scopes))}). Keep it now: it cannot be shown again. "
        "Send it as 'Authorization: Bearer KEY'.",
        markup=False,
        highlight=False,
    )


@key_app.command("list")
def list_keys(
    context: typer.Context, data: Data = None, config: Config = None, as_json: AsJson = False
) -> None:
    """Every key that was ever made, without its secret."""
    keys = _keys(context, data, config)
    try:
        found = keys.all()
    finally:
        keys.close()
    columns = ("name", "id", "scopes", "state", "made", "expires", "last used")
    rows = [_row(key) for key in found]
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return
    print_table(columns, rows)


@key_app.command("revoke")
def revoke(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="Name or identifier of the key.")],
    data: Data = None,
    config: Config = None,
) -> None:
    """Revoke a key at once. After the last one, writes stay closed until another is made."""
    keys = _keys(context, data, config)
    try:
        key = keys.revoke(name)
    finally:
        keys.close()
    stderr.print(f"Key '{key.name}' ({key.identifier}) is revoked.", markup=False, highlight=False)


def _keys(context: typer.Context, data: Path | None, config: Path | None) -> KeyStore:
    return KeyStore(existing(settings_of(context, data=data, config=config).settings).data)


def _row(key: ApiKey) -> tuple[str, ...]:
    times = (_day(key.created), _day(key.expires), _day(key.last_used))
    return (key.name, key.identifier, ", ".join(sorted(key.scopes)), _state(key), *times)


def _state(key: ApiKey) -> str:
    if key.revoked is not None:
        return "revoked"
    return "valid" if key.is_valid(time.time()) else "expired"


def _day(moment: float | None) -> str:
    return "" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"
