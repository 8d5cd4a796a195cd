"""`urbankg relate`, `infer`, `key` and `config`: for who operates a store or server."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from server.cli.invocation import existing, refuse_held, settings_of, with_settings
from server.cli.options import AsJson, Config, Data
from server.cli.output import print_json, print_rows, print_table, stderr
from server.errors import ServerError
from server.http.access.keys import ApiKey, KeyStore, Scope
from server.settings import Settings
from sparql.model.errors import StoreUnreadable

if TYPE_CHECKING:
    from sparql.inference.chase import DerivationRules

key_app = typer.Typer(no_args_is_help=True, help="Make, list and revoke API keys.")
config_app = typer.Typer(no_args_is_help=True, help="Show the configuration.")
_DAY_S: Final = 86_400
_FEATURES_A_STRIP: Final = 20_000


@with_settings()
def relate(
    settings: Settings,
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
    # The geometry libraries take a while to load, and other commands do not need them.
    from server.cli.relating import executor_of, relate_file, relate_graph

    try:
        with executor_of(workers, dask) as (executor, count):
            if source is not None and output is not None:
                relate_file(settings, source, identifier, output, executor, count, strip)
            else:
                relate_graph(settings, executor, count, strip)
    except KeyboardInterrupt:
        typer.echo("Interrupted. Finished strips are kept: the same command continues from there.", err=True)
        raise


@with_settings("ontology", "shapes")
def infer(settings: Settings) -> None:
    """Recompute all inferences of the graph; with the setting inference 'none', delete them."""
    refuse_held(settings, "It keeps its inferences current. Stop it first to recompute everything.")
    if not (settings.data / "graph").is_dir():
        raise StoreUnreadable(settings.data, "there is no graph in it")
    # These packages take a while to load, and other commands do not need them.
    from ontology import Schema
    from server.settings_loading import SHIPPED_ONTOLOGY
    from server.stores import open_store
    from sparql.inference.materialized import Inferences, forget
    from sparql.model.vocabulary import INFERRED
    from sparql.spatial.relations import SpatialRelations
    from sparql.writing.writer import Writer

    schema = Schema.load(settings.ontology or SHIPPED_ONTOLOGY)
    more = _shape_rules(settings)
    store = open_store(settings)
    try:
        writer = Writer(
            store,
            deriver=SpatialRelations(settings.tolerances),
            inferences=Inferences(store, settings.inference_max, more) if settings.infers else None,
        )
        with stderr.status("reading the graph") as status:
            writer.report_inference(
                lambda looked_at, inferred: status.update(
                    f"{looked_at:,} statements followed, {inferred:,} inferred"
                )
            )
            writer.replace_ontology(schema.triples)
            forget(store)
            writer.start()
        count = sum(1 for _ in store.match_quads(None, None, None, INFERRED))
        revision = store.revision()
    finally:
        store.close()
    if writer.rules_problem:
        raise ServerError(
            f"{count} inferences by axioms are in the graph, and none by rules. {writer.rules_problem}"
        )
    stderr.print(f"{count} inferences, as the setting '{settings.inference}' says; revision {revision}")


def _shape_rules(settings: Settings) -> DerivationRules | None:
    """The rules of the shapes, where the settings want them to be followed."""
    if not settings.follows_rules:
        return None
    from server.settings_loading import SHIPPED_SHAPES
    from shapes.loading import load_shapes
    from shapes.shape_rules import shape_rules

    return shape_rules(load_shapes(settings.shapes or SHIPPED_SHAPES).graph)


@key_app.command("create")
@with_settings()
def create_key(
    settings: Settings,
    name: Annotated[str, typer.Argument(help="Whose key it is, or what for.")],
    scope: Annotated[
        list[Scope], typer.Option("--scope", help="What it may do; several with several --scope.")
    ],
    days: Annotated[
        float | None, typer.Option(min=0, help="Days until it expires; never if not set.")
    ] = None,
) -> None:
    """Make a key and print it once. From the first key on, every write needs one."""
    with _keys(settings) as keys:
        key, token = keys.create(name, scope, lifetime_s=None if days is None else days * _DAY_S)
    typer.echo(token)
    stderr.print(
        f"Key '{key.name}' ({', '.join(sorted(key.scopes))}). Keep it now: it cannot be shown again. "
        "Send it as 'Authorization: Bearer KEY'.",
        markup=False,
        highlight=False,
    )


@key_app.command("list")
@with_settings()
def list_keys(settings: Settings, as_json: AsJson = False) -> None:
    """Every key that was ever made, without its secret."""
    with _keys(settings) as keys:
        rows = [_row(key) for key in keys.all()]
    columns = ("name", "id", "scopes", "state", "made", "expires", "last used")
    print_rows(columns, rows, as_json=as_json)


@key_app.command("revoke")
@with_settings()
def revoke_key(
    settings: Settings, name: Annotated[str, typer.Argument(help="Name or identifier of the key.")]
) -> None:
    """Revoke a key at once. After the last one, writes stay closed until another is made."""
    with _keys(settings) as keys:
        key = keys.revoke(name)
    stderr.print(f"Key '{key.name}' ({key.identifier}) is revoked.", markup=False, highlight=False)


@contextmanager
def _keys(settings: Settings) -> Iterator[KeyStore]:
    """The keys in the database beside the graph. A server that holds the folder sees a change at once."""
    keys = KeyStore(existing(settings).data)
    try:
        yield keys
    finally:
        keys.close()


def _row(key: ApiKey) -> tuple[str, ...]:
    state = "revoked" if key.revoked is not None else "valid" if key.is_valid(time.time()) else "expired"
    times = (_minute(key.created), _minute(key.expires), _minute(key.last_used))
    return (key.name, key.identifier, ", ".join(sorted(key.scopes)), state, *times)


def _minute(moment: float | None) -> str:
    return "" if moment is None else f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M}"


@config_app.callback()
def _group() -> None:
    """Show the configuration."""


@config_app.command("show")
def show_config(
    context: typer.Context, data: Data = None, config: Config = None, as_json: AsJson = False
) -> None:
    """Every setting, its value and where it came from; secrets are hidden."""
    rows = list(settings_of(context, data=data, config=config).shown())
    if as_json:
        print_json({name: {"value": value, "origin": origin} for name, value, origin in rows})
    else:
        print_table(("setting", "value", "from"), rows)
