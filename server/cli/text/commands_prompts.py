"""`urbankg prompts`: the prompts in use, with versions, and copies to customize."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from extractors.prompting.form import VERSION
from extractors.prompting.methods import method_named
from extractors.prompting.templates import (
    EXAMPLES,
    SHIPPED,
    PromptError,
    check_prompts,
    export_prompts,
    load_prompt,
    prompt_names,
    read_source,
)
from extractors.readers.examples import load_examples
from server.cli.invocation import settings_of
from server.cli.options import AsJson, Config
from server.cli.output import print_json, print_table
from server.settings import Settings

FORM = "form"
_TEXT = "The Varga Museum in Szeged was designed by Ilona Barta and opened in 1931."


def prompts(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="A prompt to show as it is in force.")] = None,
    export: Annotated[
        Path | None, typer.Option(help="Copy the shipped files into this folder, to be changed there.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--prompts", help="Folder of prompt files that stand in for the shipped.")
    ] = None,
    text: Annotated[str, typer.Option(help="The text that `form` is shown for.")] = _TEXT,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """List the prompts with their versions, show one, or copy them out to change them.

    `form` is what the embedded model fills in, shown for a text, with the ontology of the settings. Its words
    are part of the training, so it is no file.
    """
    settings = settings_of(context, config=config, prompts=folder).settings
    own = settings.prompts
    if name == FORM and export is None:
        typer.echo(_form(settings, text), nl=False)
        return
    if export is not None:
        copied = export_prompts(export, None if name is None else _file(name))
        for path in copied:
            typer.echo(path)
        typer.echo(
            f"{len(copied)} copied; files that were there already stay. Set `prompts` to the folder.",
            err=True,
        )
        return
    if name is not None:
        typer.echo(read_source(_file(name), own)[0], nl=False)
        return
    if own is not None:
        check_prompts(own)
    rows = list(_rows(own))
    if as_json:
        print_json([dict(zip(("prompt", "version", "from", "purpose"), row, strict=True)) for row in rows])
        return
    print_table(("prompt", "version", "from", "what it is for"), rows)


def _rows(own: Path | None) -> Iterator[tuple[str, str, str, str]]:
    """Name, version, origin and purpose of each prompt."""
    for one in prompt_names():
        prompt = load_prompt(one, own)
        yield one, prompt.version.partition("@")[2], prompt.source, prompt.purpose
    _, version = load_examples(own)
    yield EXAMPLES, version, read_source(EXAMPLES, own)[1], "Worked examples that methods with shots show."
    yield FORM, VERSION, SHIPPED, "The form that the embedded model fills in, by ontology and text."


def _form(settings: Settings, text: str) -> str:
    """The form of a text by the ontology of the settings."""
    from extractors.readers.form import shown_form
    from extractors.settings import FormSettings
    from ontology import Schema
    from server.settings_loading import SHIPPED_ONTOLOGY

    schema = Schema.load(settings.ontology or SHIPPED_ONTOLOGY)
    kinds = replace(FormSettings(), kinds=method_named(settings.extraction_method).kinds)
    return shown_form(schema, text, kinds)


def _file(name: str) -> str:
    """The file of a prompt. Raises `PromptError` when there is no such prompt."""
    stem = name.removesuffix(".md")
    if name == EXAMPLES:
        return name
    if stem not in prompt_names():
        raise PromptError(
            f"There is no prompt {name!r}. `urbankg prompts` lists them; {EXAMPLES} is one of the files too."
        )
    return f"{stem}.md"
