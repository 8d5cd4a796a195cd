"""The command line: `urbankg serve | query | extract | ask | validate | config | demo`; and `storage_cli`.

Data goes to standard output, everything else to standard error. Exit codes: 0 done, 1 done but something
was refused or missing, 2 could not be done.
"""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from server.cli import commands_rules, operations
from server.cli import commands_storage as storage_cli
from server.cli.commands_infer import infer
from server.cli.commands_keys import key_app
from server.cli.commands_relate import relate
from server.cli.curation.commands_entities import entity_app
from server.cli.curation.commands_held import held_app
from server.cli.curation.commands_proposals import proposals_app
from server.cli.curation.commands_review import review_app
from server.cli.invocation import finish, on_either, on_folder, settings_of
from server.cli.options import Config, Data, ModelUrl, ShapesFolder
from server.cli.serve_command import options, serve
from server.cli.text.commands_jobs import jobs_app
from server.cli.text.commands_models import models
from server.cli.text.commands_prompts import prompts
from server.cli.text.commands_trace import trace
from server.research import commands_measure, commands_train
from server.research.commands_evaluate import evaluate_app
from server.runtime.context import Services

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
config_app = typer.Typer(no_args_is_help=True, help="Show the configuration.")
app.add_typer(config_app, name="config")
app.add_typer(key_app, name="key")
app.add_typer(review_app, name="review")
app.add_typer(held_app, name="held")
app.add_typer(proposals_app, name="proposals")
app.add_typer(entity_app, name="entity")
app.add_typer(jobs_app, name="jobs")
app.add_typer(evaluate_app, name="evaluate", rich_help_panel="Research")
commands_measure.register(evaluate_app)
storage_cli.register(app)
commands_rules.register(app)
commands_train.register(app)
app.callback()(options)
app.command()(serve)
app.command()(relate)
app.command()(infer)
app.command()(models)
app.command()(prompts)
app.command()(trace)


@app.command()
def query(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="A SPARQL query, or the path of a file that holds one.")],
    data: Data = None,
    config: Config = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="json, xml, csv, tsv, turtle, ntriples ...")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how it would run instead.")] = False,
) -> None:
    """Run a SPARQL query and print its answer."""
    settings = settings_of(context, data=data, config=config).settings
    query_text = operations.text_or_file(text)
    if explain:
        on_either(
            settings,
            lambda server: operations.explain_remote(server, query_text),
            lambda services: operations.explain(services, query_text),
            opening=Services.querying,
        )
        return
    on_either(
        settings,
        lambda server: operations.query_remote(server, query_text, format_),
        lambda services: operations.query(services, query_text, format_),
        opening=Services.querying,
    )


@app.command()
def extract(
    context: typer.Context,
    text: Annotated[
        list[str],
        typer.Argument(
            help="The text, or the path of a file, or - for standard input; or files of records "
            "(.jsonl, .csv, .geojson, .json), gzipped or not."
        ),
    ],
    data: Data = None,
    config: Config = None,
    source: Annotated[str | None, typer.Option(help="Where the text comes from.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    mapping: Annotated[
        Path | None,
        typer.Option(help="TOML file: which fields of records hold what, and the cleaning rules."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many records.")] = None,
    method: Annotated[str | None, typer.Option(help="How to read: fast, thorough ...")] = None,
    model_url: ModelUrl = None,
) -> None:
    """Extract statements from a text, or from the records of files, judge them and commit what conforms."""
    settings = settings_of(
        context, data=data, config=config, model_url=model_url, extraction_method=method
    ).settings
    if files := source_files(text):
        from server.cli.text.commands_sources import extract_files

        extract_files(settings, files, mapping=mapping, limit=limit, commit=not dry_run)
        return
    if len(text) > 1:
        raise typer.BadParameter(
            "Give one text in quotes, or only files of records (.jsonl, .csv, .geojson)."
        )
    words = operations.text_or_file(text[0])
    message = {"text": words, "source": source, "commit": not dry_run, "method": method}
    on_either(
        settings,
        lambda server: operations.print_extraction(server.post("/extractions", message, timeout=None)),
        lambda services: operations.extract(services, message),
    )


@app.command()
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="A question in plain language.")],
    data: Data = None,
    config: Config = None,
    model_url: ModelUrl = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole answer as JSON.")] = False,
) -> None:
    """Answer a question from the graph, or say what is missing."""
    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    on_either(
        settings,
        lambda server: operations.print_answer(server.post("/ask", {"question": question}), as_json),
        lambda services: operations.ask(services, question, as_json),
    )


@app.command()
def validate(
    context: typer.Context, data: Data = None, config: Config = None, shapes: ShapesFolder = None
) -> None:
    """Validate the whole graph against the shapes and print every result."""
    settings = settings_of(context, data=data, config=config, shapes=shapes).settings
    finish(on_folder(settings, operations.validate))


@app.command()
def demo(
    context: typer.Context, data: Data = None, config: Config = None, model_url: ModelUrl = None
) -> None:
    """From nothing to an answer: the sample city, twelve texts, RCC8 and one GeoSPARQL query."""
    from server.cli import demo as demonstration

    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    finish(on_folder(demonstration.empty(settings), demonstration.run))


def source_files(arguments: list[str]) -> list[Path]:
    """The arguments as files of records, where all of them are such files by their names."""
    from extractors.sources.rows import is_source_file

    paths = [Path(argument) for argument in arguments if "\n" not in argument and len(argument) < 1024]
    named = all(is_source_file(path) and (" " not in path.name or path.is_file()) for path in paths)
    return paths if named and len(paths) == len(arguments) else []


@config_app.command("show")
def config_show(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False,
) -> None:
    """Every setting, its value and where it came from; secrets are hidden."""
    loaded = settings_of(context, data=data, config=config)
    rows = list(loaded.shown())
    if as_json:
        typer.echo(json.dumps({n: {"value": v, "origin": o} for n, v, o in rows}, indent=2))
        return
    table = Table("setting", "value", "from")
    for row in rows:
        table.add_row(*row)
    Console().print(table)
