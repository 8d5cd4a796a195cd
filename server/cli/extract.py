"""`urbankg extract`: statements from a text or from the records of files, and the trace of an extraction."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from server.cli.api import Api
from server.cli.invocation import text_or_file, with_api
from server.cli.options import Method
from server.cli.output import print_json, print_table, stderr, stdout
from server.errors import UnknownResource

if TYPE_CHECKING:
    from extractors.sources.mapping import Mapping
    from extractors.sources.records import SourceRecord
    from extractors.sources.rules import CleaningReport
    from server.intake.sources import Counts

_AT_ONCE: Final = 4
_LAST: Final = "last"


@with_api("model_url")
def extract(
    api: Api,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            help="The text, or the path of a file, or - for standard input; or files of records "
            "(.jsonl, .csv, .geojson, .json), gzipped or not."
        ),
    ] = None,
    source: Annotated[str | None, typer.Option(help="Where the text comes from.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would happen.")] = False,
    mapping: Annotated[
        Path | None,
        typer.Option(help="TOML file: which fields of records hold what, and the cleaning rules."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many records.")] = None,
    method: Method = None,
    trace: Annotated[
        str | None,
        typer.Option(
            help="Instead: show every message to the model and every reply of the extraction with this "
            "`id`, or of the `last`."
        ),
    ] = None,
) -> int:
    """Extract statements from a text, or from the records of files, judge them and commit what conforms."""
    if (trace is None) == (not text):
        raise typer.BadParameter("Give a text, or --trace with the id of an extraction.")
    if trace is not None:
        return _show_trace(api, trace)
    assert text is not None
    if files := source_files(text):
        if method is not None or source is not None:
            raise typer.BadParameter(
                "--method and --source are for a text. Records name their source, and the setting "
                "extraction_method says how their texts are read."
            )
        return extract_files(api, files, mapping=mapping, limit=limit, commit=not dry_run)
    if mapping is not None or limit is not None:
        raise typer.BadParameter("--mapping and --limit are for files of records.")
    if len(text) > 1:
        raise typer.BadParameter(
            "Give one text in quotes, or only files of records (.jsonl, .csv, .geojson)."
        )
    message = {"text": text_or_file(text[0]), "source": source, "commit": not dry_run, "method": method}
    return _print_extraction(api.post("/extractions", message, timeout=None))


def source_files(arguments: list[str]) -> list[Path]:
    """The arguments as files of records, where all of them are such files by their names."""
    from extractors.sources.records import is_source_file

    paths = [Path(argument) for argument in arguments if "\n" not in argument and len(argument) < 1024]
    named = all(is_source_file(path) and (" " not in path.name or path.is_file()) for path in paths)
    return paths if named and len(paths) == len(arguments) else []


def _print_extraction(outcome: dict[str, Any]) -> int:
    """The outcome on standard output, a summary on standard error."""
    print_json(outcome)
    stderr.print(f"{len(outcome['accepted'])} accepted, {len(outcome['rejected'])} refused")
    if outcome["incomplete"] is not None:
        where = f"It stopped at character {outcome['incomplete']['at']}."
        stderr.print(f"{outcome['incomplete']['reason']} {where}", style="yellow", markup=False)
    members = ("stage", "turns", "seconds", "prompt_tokens", "completion_tokens")
    stages = (outcome["trace"] or {}).get("stages", ())
    costs = [[str(stage[member]) for member in members] for stage in stages]
    print_table(("stage", "turns", "seconds", "tokens in", "tokens out"), costs, errors=True)
    return 0


def extract_files(
    api: Api, files: list[Path], *, mapping: Path | None, limit: int | None, commit: bool
) -> int:
    """Extract from the records of files; one line of JSON each, the reports on standard error.

    The exit code is 1 when something was refused, failed or was not readable.
    """
    # The libraries for geometry take a while to import, and a text does not need them.
    from extractors.sources.mapping import Mapping, read_mapping
    from extractors.sources.rules import CleaningReport, Rules
    from server.intake.sources import Counts

    languages = tuple(filter(None, (code.strip() for code in api.settings.language.split(","))))
    read = read_mapping(mapping, languages) if mapping else Mapping(rules=Rules(languages=languages))
    report, counts = CleaningReport(), Counts()

    def post(record: SourceRecord) -> dict[str, Any]:
        message = {"records": [_message(record)], "clean": False, "commit": commit}
        answer = api.post("/sources", message, timeout=None)["records"][0]
        return {**answer, "record": record.place}

    records = _cleaned(files, read, limit, report)
    try:
        with ThreadPoolExecutor(_AT_ONCE) as threads:
            while waiting := [threads.submit(post, record) for record in islice(records, _AT_ONCE)]:
                for done in waiting:
                    counts.add(done.result())
                    typer.echo(json.dumps(done.result(), ensure_ascii=False))
    finally:
        _print_reports(report, counts)
    return 1 if counts.refused or counts.failures or report.broken_count else 0


def _cleaned(
    files: Iterable[Path], mapping: Mapping, limit: int | None, report: CleaningReport
) -> Iterator[SourceRecord]:
    """The records of files that have a text or a place after cleaning; the report counts all."""
    from extractors.sources.mapping import read_sources
    from extractors.sources.records import BrokenRecord
    from extractors.sources.rules import Cleaner

    cleaner = Cleaner(mapping.rules)
    for record in islice(read_sources(tuple(files), mapping), limit):
        if isinstance(record, BrokenRecord):
            report.add_broken(record)
            continue
        cleaned = cleaner.clean(record)
        report.add(cleaned)
        if cleaned.record.text or cleaned.kept_place:
            yield cleaned.record


def _message(record: SourceRecord) -> dict[str, Any]:
    """A record as `POST /sources` takes it."""
    from geo.formats.literals import write_geometry

    return {
        "kind": record.kind.value,
        "name": record.name,
        "type": record.type,
        "class": record.iri_class,
        "text": record.text,
        "geometry": None if record.geometry is None else write_geometry(record.geometry).value,
        "rating": record.rating,
        "url": record.url or record.place,
        "id": record.identifier,
    }


def _print_reports(report: CleaningReport, counts: Counts) -> None:
    lines = [
        *report.lines(),
        f"{counts.records} records taken in: {counts.features} places, {counts.texts} texts; "
        f"{counts.accepted} statements accepted, {counts.refused} refused, {counts.derived} derived",
        *(f"text not worked on: {failure}" for failure in counts.failures),
    ]
    for line in lines:
        stderr.print(line, markup=False, soft_wrap=True)


def _show_trace(api: Api, identifier: str) -> int:
    """Print a trace, as JSON where standard output is no terminal."""
    if identifier == _LAST:
        found = api.get("/extractions", limit=1)["extractions"]
        if not found:
            raise UnknownResource("There is no extraction in the graph. Extract from a text first.")
        identifier = found[0]["id"]
    record = api.get(f"/extractions/{identifier}/trace")
    if not sys.stdout.isatty():
        return print_json(record)
    for name in ("id", "started", "source", "model", "adapter", "prompt_version"):
        if record[name]:
            stdout.print(f"{name}: {record[name]}", markup=False, soft_wrap=True)
    if record["trace"] is None:
        stdout.print("No trace was kept (trace_message_chars is 0).")
        return 1
    for number, turn in enumerate(record["trace"]["windows"], 1):
        heading = f"{number}. {turn['stage']}, characters {turn['start']} to {turn['end']} of the text"
        stdout.rule(heading, align="left", characters="-")
        for message in turn["messages"]:
            stdout.print(f"[{message['role']}]\n{message['content']}", markup=False, soft_wrap=True)
        stdout.print(f"[reply, {turn['finish_reason'] or 'none'}]", markup=False)
        stdout.print(turn["reply"] or "", markup=False, soft_wrap=True)
        if turn["error"]:
            stdout.print(f"[error] {turn['error']}", markup=False, soft_wrap=True)
    return 0
