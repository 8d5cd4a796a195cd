"""`urbankg check`: what an ontology engineer runs before an edit is put in force, and what CI runs."""

from pathlib import Path
from typing import Annotated

import typer

from ontology.findings import Level
from ontology.reporting import ReportFormat
from server.checking import Folders, Reasoner, check
from server.invocation import finish, settings_of
from server.services import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from server.settings import Settings

OntologyFolder = Annotated[Path | None, typer.Option("--ontology", help="Folder of OWL files.")]
ShapesFolder = Annotated[Path | None, typer.Option("--shapes", help="Folder of SHACL files.")]
Config = Annotated[Path | None, typer.Option("--config", help="TOML file with settings.")]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("check")(check_files)


def folders_of(settings: Settings) -> Folders:
    """The folders that the settings name, else the shipped ones."""
    return Folders(settings.ontology or SHIPPED_ONTOLOGY, settings.shapes or SHIPPED_SHAPES)


def check_files(
    context: typer.Context,
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
    config: Config = None,
    format_: Annotated[ReportFormat, typer.Option("--format", help="How to write it.")] = ReportFormat.TEXT,
    output: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    reasoner: Annotated[
        Reasoner, typer.Option("--reason", help="Ask a reasoner too; pellet also explains. Needs Java.")
    ] = Reasoner.NONE,
    fail_on: Annotated[
        Level, typer.Option("--fail-on", case_sensitive=False, help="Exit with 1 from this level on.")
    ] = Level.ERROR,
) -> None:
    """Check the files of ontology and shapes: readable, sound, complete, and of one mind."""
    settings = settings_of(context, ontology=ontology, shapes=shapes, config=config).settings
    report = check(folders_of(settings), reasoner)
    text = report.written(format_, root=Path.cwd())
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
    finish(1 if report.fails(fail_on) else 0)
