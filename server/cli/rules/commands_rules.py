"""`urbankg check`, `impact` and `shapes`: for ontology engineers and CI, before an edit is put in force."""

import gc
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from curation.review.review_queue import ReviewQueue
from ontology.checks.findings import Level
from ontology.checks.reporting import CheckReport, ReportFormat
from ontology.errors import OntologyError
from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from server.cli.invocation import finish, on_store, settings_of
from server.cli.options import Config, Data, OntologyFolder, ShapesFolder
from server.cli.running_server import RunningServer, running_server
from server.errors import ServerError, SettingsError
from server.rules.checking import Folders, Reasoner, check
from server.rules.rule_effects import impact_json, impact_text, measure
from server.rules.rule_history import RuleHistory
from server.rules.ruleset import Ruleset, read_ruleset, turtle
from server.settings import Settings
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.file_types import SUFFIXES as SHAPES_SUFFIXES
from sparql.storage.embedded_store import EmbeddedStore


def folders_of(settings: Settings) -> Folders:
    """The folders that the settings name, else the shipped ones."""
    return Folders(
        settings.ontology or SHIPPED_ONTOLOGY,
        settings.shapes or SHIPPED_SHAPES,
        generate=settings.generate_shapes,
        follows_rules=settings.follows_rules,
    )


def check_files(
    context: typer.Context,
    data: Annotated[
        Path | None, typer.Option("--data", help="Folder of a graph: also ask a server that holds it.")
    ] = None,
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
    config: Config = None,
    format_: Annotated[ReportFormat, typer.Option("--format", help="How to write it.")] = ReportFormat.TEXT,
    output: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    reasoner: Annotated[
        Reasoner, typer.Option("--reason", help="Run a reasoner too; pellet also explains. Needs Java.")
    ] = Reasoner.NONE,
    fail_on: Annotated[
        Level, typer.Option("--fail-on", case_sensitive=False, help="Exit with 1 from this level on.")
    ] = Level.ERROR,
) -> None:
    """Check the files of ontology and shapes: readable, sound, complete, and consistent with each other."""
    # The command ends soon, and most of what it makes is needed until then.
    gc.disable()
    settings = settings_of(context, data=data, ontology=ontology, shapes=shapes, config=config).settings
    report = _with_server(check(folders_of(settings), reasoner), settings)
    text = report.written(format_, root=Path.cwd())
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
    finish(1 if report.fails(fail_on) else 0)


def _with_server(report: CheckReport, settings: Settings) -> CheckReport:
    """The report with a note on why the server that holds the graph does not use the files."""
    server = running_server(settings.data, settings.api_key)
    if server is None:
        return report
    try:
        problem = server.get("/rules")["problem"]
    except ServerError as error:
        problem = f"what it uses is not known: {error}"
    if problem is None:
        return report
    note = f"The server at {server.url} does not use the files as they are: {problem}"
    return replace(report, notes=(*report.notes, note))


def impact(
    context: typer.Context,
    data: Data = None,
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
    config: Config = None,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="text, json or markdown.")
    ] = ReportFormat.TEXT,
) -> None:
    """Report what these folders would change compared to the rules in force: what fails, passes and follows.

    Exit code 1 when something in the graph would newly fail.
    """
    if format_ is ReportFormat.SARIF:
        raise SettingsError("SARIF is for `urbankg check`; here choose text, json or markdown.")
    settings = settings_of(context, data=data, ontology=ontology, shapes=shapes, config=config).settings
    folders = folders_of(settings)

    def write(found: dict[str, Any]) -> int:
        if format_ is ReportFormat.JSON:
            typer.echo(json.dumps(found, ensure_ascii=False, indent=2))
        else:
            typer.echo(impact_text(found, markdown=format_ is ReportFormat.MARKDOWN))
        return 1 if found["failing"] else 0

    def local(store: EmbeddedStore) -> int:
        review = ReviewQueue(store)
        return write(
            impact_json(measure(store, review, _kept(settings.data, folders), read_ruleset(folders)))
        )

    on_store(settings, lambda server: write(_asked(server, folders)), local)


def shapes_made(
    context: typer.Context,
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
    config: Config = None,
) -> None:
    """Print, as Turtle, the shapes generated from the ontology where none is handwritten."""
    settings = settings_of(context, ontology=ontology, shapes=shapes, config=config).settings
    rules = read_ruleset(folders_of(settings))
    typer.echo(turtle(rules.generated(), rules))


def _kept(data: Path, folders: Folders) -> Ruleset:
    """The rules that were in force last in a data folder."""
    history = RuleHistory(data)
    schema = history.last_good_ontology()
    shapes = None if schema is None else history.last_good_shapes(schema, folders.generate)
    if schema is None or shapes is None:
        raise SettingsError(f"No rules were ever in force in {data}. Serve it once, then compare.")
    return Ruleset(schema, shapes[0], folders.shapes, shapes[1])


def _asked(server: RunningServer, folders: Folders) -> dict[str, Any]:
    """The impact from the server that holds the folder, for the files as they are here."""
    in_force = server.get("/rules")["files"]
    message: dict[str, dict[str, str | None]] = {}
    for kind, folder, suffixes in (
        ("ontology", folders.ontology, (*ONTOLOGY_SUFFIXES, ".xml")),
        ("shapes", folders.shapes, SHAPES_SUFFIXES),
    ):
        if not folder.is_dir():
            raise SettingsError(f"There is no folder {folder}. Give --{kind} the folder of the edited files.")
        files: dict[str, str | None] = {file["name"]: None for file in in_force[kind] if file["direct"]}
        for path in sorted(folder.iterdir()):
            if path.suffix in suffixes:
                files[path.name] = _text(path)
        message[kind] = files
    found: dict[str, Any] = server.post("/impact", message)["impact"]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OntologyError(f"The file cannot be read: {error}.", "Write it as UTF-8.", file=path) from error
