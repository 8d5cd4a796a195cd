"""`urbankg extract`: statements from a text, or from the records of files."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from server.cli.invocation import on_either, settings_of, text_or_file
from server.cli.options import Config, Data, ModelUrl
from server.cli.output import print_table, stderr
from server.services import Services


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
    words = text_or_file(text[0])
    message = {"text": words, "source": source, "commit": not dry_run, "method": method}
    on_either(
        settings,
        lambda server: _print_extraction(server.post("/extractions", message, timeout=None)),
        lambda services: _extract(services, message),
    )


def source_files(arguments: list[str]) -> list[Path]:
    """The arguments as files of records, where all of them are such files by their names."""
    from extractors.sources.rows import is_source_file

    paths = [Path(argument) for argument in arguments if "\n" not in argument and len(argument) < 1024]
    named = all(is_source_file(path) and (" " not in path.name or path.is_file()) for path in paths)
    return paths if named and len(paths) == len(arguments) else []


async def _extract(services: Services, message: dict[str, Any]) -> int:
    """Extract from a text and print the outcome as JSON."""
    outcome = await services.intake.extract(
        message["text"], source=message["source"], commit=message["commit"], method=message["method"]
    )
    return _print_extraction(outcome.json())


def _print_extraction(outcome: dict[str, Any]) -> int:
    """The outcome on standard output, a summary on standard error."""
    print(json.dumps(outcome, ensure_ascii=False, indent=2))
    stderr.print(f"{len(outcome['accepted'])} accepted, {len(outcome['rejected'])} refused")
    if "held" in outcome:
        stderr.print(f"{outcome['held']['reason']} See: urbankg held show {outcome['id']}", markup=False)
    if outcome["incomplete"] is not None:
        where = f"It stopped at character {outcome['incomplete']['at']}."
        stderr.print(f"{outcome['incomplete']['reason']} {where}", style="yellow", markup=False)
    members = ("stage", "turns", "seconds", "prompt_tokens", "completion_tokens")
    stages = (outcome["trace"] or {}).get("stages", ())
    costs = [[str(stage[member]) for member in members] for stage in stages]
    print_table(("stage", "turns", "seconds", "tokens in", "tokens out"), costs, errors=True)
    return 0
