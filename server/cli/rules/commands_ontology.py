"""`urbankg ontology add` and `document`: ontologies with what they import, and pages that describe them."""

from pathlib import Path
from typing import Annotated

import typer

from ontology.adding import add
from server.cli.invocation import settings_of
from server.cli.options import Config, OntologyFolder, ShapesFolder
from server.cli.output import stderr
from server.cli.rules.commands_rules import folders_of
from server.documentation.pages import index_page, ontology_page, page_names
from server.documentation.shape_sections import ShapeSections
from server.errors import SettingsError
from server.rules.ruleset import read_ruleset

ontology_app = typer.Typer(no_args_is_help=True, help="The files of the ontology.")

Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE|FOLDER|PACKAGE[:PATH]...", help="Files, folders, installed Python packages."
    ),
]
Search = Annotated[
    list[Path] | None, typer.Option("--search", help="Folder below which imports may be; several times.")
]
Replace = Annotated[bool, typer.Option("--replace", help="Replace files of the same names.")]
EmptyImports = Annotated[
    bool, typer.Option("--empty-imports", help="Write an empty file for each import that is nowhere.")
]


@ontology_app.command("add")
def add_ontology(
    context: typer.Context,
    sources: Sources,
    ontology: OntologyFolder = None,
    search: Search = None,
    config: Config = None,
    replace: Replace = False,
    empty_imports: EmptyImports = False,
) -> None:
    """Copy ontologies into the ontology folder, with all that they import. Nothing is fetched."""
    folder = settings_of(context, ontology=ontology, config=config).settings.ontology
    if folder is None:
        raise SettingsError(
            "Name the folder that gets the files: --ontology DIR, or `ontology` in the settings."
        )
    missing = [path for path in search or () if not path.is_dir()]
    if missing:
        raise SettingsError(f"There is no folder {', '.join(map(str, missing))}. Correct --search.")
    added = add(sources, folder, search or (), replace=replace, allow_empty=empty_imports)
    for path in (*added.files, *added.imported):
        typer.echo(path)
    for iri in added.empty:
        stderr.print(f"<{iri}> was found nowhere: it is empty here.", markup=False, highlight=False)


@ontology_app.command("document")
def document_ontology(
    context: typer.Context,
    output: Annotated[Path, typer.Option("--output", help="Folder that gets the pages; made if needed.")],
    ontology: OntologyFolder = None,
    shapes: ShapesFolder = None,
    config: Config = None,
) -> None:
    """Write ontology and shapes as HTML pages: terms, diagrams, examples, rules. A server gives them too."""
    folders = folders_of(settings_of(context, ontology=ontology, shapes=shapes, config=config).settings)
    rules = read_ruleset(folders)
    sections = ShapeSections(rules.files.sources, rules.shapes_folder)
    pages = page_names(rules.schema)
    written = {name: ontology_page(rules.schema, iri, sections) for iri, name in pages.items()}
    written["index.html"] = index_page(rules.schema, pages.items())
    output.mkdir(parents=True, exist_ok=True)
    for name, content in written.items():
        (output / name).write_text(content, encoding="utf-8")
        typer.echo(output / name)
