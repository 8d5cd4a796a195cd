"""`urbankg check`, `impact` and `ontology`: for ontology engineers and CI, before an edit is put in force."""

import gc
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from curation.review.review_queue import ReviewQueue
from ontology.adding import add
from ontology.checks.findings import Level
from ontology.checks.reporting import CheckReport, ReportFormat
from ontology.errors import OntologyError
from ontology.loading import SUFFIXES as ONTOLOGY_SUFFIXES
from server.cli.api import Api, opened_api
from server.cli.invocation import on_store, with_settings
from server.cli.output import print_json, stderr
from server.errors import ServerError, SettingsError
from server.rules.checking import Folders, Reasoner, check
from server.rules.rule_effects import impact_json, impact_text, measure
from server.rules.rule_folders import RuleHistory
from server.rules.ruleset import Ruleset, read_ruleset, turtle
from server.running_server import running_server
from server.settings import Settings
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.configuration import SUFFIXES as SHAPES_SUFFIXES
from sparql.storage.embedded_store import EmbeddedStore

ontology_app = typer.Typer(no_args_is_help=True, help="The files of the ontology.")
Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE|FOLDER|PACKAGE[:PATH]...", help="Files, folders, installed Python packages."
    ),
]


def _folders_of(settings: Settings) -> Folders:
    """The folders that the settings name, else the shipped ones."""
    return Folders(
        settings.ontology or SHIPPED_ONTOLOGY,
        settings.shapes or SHIPPED_SHAPES,
        generate=settings.generate_shapes,
        follows_rules=settings.follows_rules,
    )


@with_settings("ontology", "shapes")
def check_files(
    settings: Settings,
    format_: Annotated[ReportFormat, typer.Option("--format", help="How to write it.")] = ReportFormat.TEXT,
    output: Annotated[Path | None, typer.Option("--output", help="Write to this file.")] = None,
    reasoner: Annotated[
        Reasoner, typer.Option("--reason", help="Run a reasoner too; pellet also explains. Needs Java.")
    ] = Reasoner.NONE,
    fail_on: Annotated[
        Level, typer.Option("--fail-on", case_sensitive=False, help="Exit with 1 from this level on.")
    ] = Level.ERROR,
    generated: Annotated[
        bool,
        typer.Option(
            "--generated",
            help="Instead: print the shapes made from the ontology where none is written by hand, as Turtle.",
        ),
    ] = False,
) -> int:
    """Check the files of ontology and shapes: readable, sound, complete, and consistent with each other.

    Where a server holds the folder, it is asked whether it uses the files as they are.
    """
    # The command ends soon, and most of what it makes is needed until then.
    gc.disable()
    folders = _folders_of(settings)
    if generated:
        rules = read_ruleset(folders)
        typer.echo(turtle(rules.generated(), rules))
        return 0
    report = _with_server(check(folders, reasoner), settings)
    text = report.written(format_, root=Path.cwd())
    if output is None:
        typer.echo(text)
    else:
        output.write_text(text + "\n", encoding="utf-8")
    return 1 if report.fails(fail_on) else 0


def _with_server(report: CheckReport, settings: Settings) -> CheckReport:
    """The report with a note on why the server that holds the graph does not use the files."""
    server = running_server(settings.data)
    if server is None:
        return report
    try:
        with opened_api(settings) as api:
            problem = api.get("/rules")["problem"]
    except ServerError as error:
        problem = f"what it uses is not known: {error}"
    if problem is None:
        return report
    note = f"The server at {server.url} does not use the files as they are: {problem}"
    return replace(report, notes=(*report.notes, note))


@with_settings("ontology", "shapes")
def impact(
    settings: Settings,
    format_: Annotated[
        ReportFormat, typer.Option("--format", help="text, json or markdown.")
    ] = ReportFormat.TEXT,
) -> int | None:
    """Report what these folders would change compared to the rules in force: what fails, passes and follows.

    Exit code 1 when something in the graph would newly fail.
    """
    if format_ is ReportFormat.SARIF:
        raise SettingsError("SARIF is for `urbankg check`; here choose text, json or markdown.")
    folders = _folders_of(settings)

    def write(found: dict[str, Any]) -> int:
        if format_ is ReportFormat.JSON:
            print_json(found)
        else:
            typer.echo(impact_text(found, markdown=format_ is ReportFormat.MARKDOWN))
        return 1 if found["failing"] else 0

    def local(store: EmbeddedStore) -> int:
        kept = _last_in_force(settings.data, folders)
        return write(impact_json(measure(store, ReviewQueue(store), kept, read_ruleset(folders))))

    return on_store(settings, lambda api: write(_asked(api, folders)), local)


def _last_in_force(data: Path, folders: Folders) -> Ruleset:
    """The rules that were in force last in a data folder."""
    history = RuleHistory(data)
    schema = history.last_good_ontology()
    shapes = None if schema is None else history.last_good_shapes(schema, folders.generate)
    if schema is None or shapes is None:
        raise SettingsError(f"No rules were ever in force in {data}. Serve it once, then compare.")
    return Ruleset(schema, shapes[0], folders.shapes, shapes[1])


def _asked(api: Api, folders: Folders) -> dict[str, Any]:
    """The impact from the server that holds the folder, for the files as they are here."""
    in_force = api.get("/rules")["files"]
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
    found: dict[str, Any] = api.post("/impact", message)["impact"]
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise OntologyError(f"The file cannot be read: {error}.", "Write it as UTF-8.", file=path) from error


@ontology_app.command("add")
@with_settings("ontology", data=False)
def add_ontology(
    settings: Settings,
    sources: Sources,
    search: Annotated[
        list[Path] | None,
        typer.Option("--search", help="Folder below which imports may be; several times."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Replace files of the same names.")] = False,
    empty_imports: Annotated[
        bool, typer.Option("--empty-imports", help="Write an empty file for each import that is nowhere.")
    ] = False,
) -> None:
    """Copy ontologies into the ontology folder, with all that they import. Nothing is fetched."""
    if settings.ontology is None:
        raise SettingsError(
            "Name the folder that gets the files: --ontology DIR, or `ontology` in the settings."
        )
    missing = [path for path in search or () if not path.is_dir()]
    if missing:
        raise SettingsError(f"There is no folder {', '.join(map(str, missing))}. Correct --search.")
    added = add(sources, settings.ontology, search or (), replace=replace, allow_empty=empty_imports)
    for path in (*added.files, *added.imported):
        typer.echo(path)
    for iri in added.empty:
        stderr.print(f"<{iri}> was found nowhere: it is empty here.", markup=False, highlight=False)


@ontology_app.command("document")
@with_settings("ontology", "shapes", data=False)
def document_ontology(
    settings: Settings,
    output: Annotated[Path, typer.Option("--output", help="Folder that gets the pages; made if needed.")],
) -> None:
    """Write ontology and shapes as HTML pages: terms, diagrams, examples, rules. A server gives them too."""
    from server.documentation.pages import ShapeSections, index_page, ontology_page, page_names

    rules = read_ruleset(_folders_of(settings))
    sections = ShapeSections(rules.files.sources, rules.shapes_folder)
    pages = page_names(rules.schema)
    written = {name: ontology_page(rules.schema, iri, sections) for iri, name in pages.items()}
    written["index.html"] = index_page(rules.schema, pages.items())
    output.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        (output / name).write_text(content, encoding="utf-8")
        typer.echo(output / name)
