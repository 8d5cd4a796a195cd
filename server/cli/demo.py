"""`urbankg demo`: from an empty folder to an answer, with every step shown."""

import csv
import io
import shutil
from pathlib import Path
from typing import Any

import typer
from pyoxigraph import Literal, NamedNode
from rich.console import Console
from rich.table import Table

from extractors.errors import ModelError, ModelReplyError
from server.cli.commands_storage import progress_bar
from server.cli.invocation import finish, on_folder, settings_of
from server.cli.options import Config, Data, ModelUrl
from server.data.sample.city import FOLDER, sample_texts
from server.data.storage import Loader
from server.errors import ServerError
from server.intake.outcome import Outcome
from server.runtime.context import Services
from server.runtime.settings import Settings
from sparql.model.vocabulary import DERIVED
from sparql.protocol.formats import RESULT_FORMATS
from sparql.protocol.negotiation import choose_by_name
from sparql.workers.result import QueryRequest

_MARK = ".demo"
"""Marks a folder that holds only what a demonstration made."""
_out = Console(highlight=False)


def demo(
    context: typer.Context, data: Data = None, config: Config = None, model_url: ModelUrl = None
) -> None:
    """From nothing to an answer: the sample city, twelve texts, RCC8 and one GeoSPARQL query."""
    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    finish(on_folder(empty(settings), run, new=True))


def empty(settings: Settings) -> Settings:
    """An empty data folder: a new one, or that of an earlier demonstration, emptied.

    Raises `ServerError` for a folder with anything else in it, which is not touched.
    """
    folder = settings.data
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).exists():
        raise ServerError(f"{folder} is not empty and not from a demo. Give another folder with --data.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / _MARK).touch()
    return settings


async def run(services: Services) -> int:
    """Load, extract, gate, relate, query; the last line has the counts.

    A text without a usable reply of the model is reported and not counted; 1 when no model answered.
    """
    loaded = load_sample(services)
    _print(f"Sample city: {loaded} statements about New York in {services.settings.data}.")
    outcomes: list[Outcome] = []
    failures: list[ModelError] = []
    texts = list(sample_texts())
    with progress_bar("texts read by " + services.model.name) as progress:
        task = progress.add_task("", total=len(texts))
        for name, text in texts:
            try:
                outcome = await services.intake.extract(text, source=f"sample text {name}")
            except ModelError as error:
                failures.append(error)
                progress.console.print(_text(name, text), f"  no statements: {error}", sep="\n", markup=False)
            else:
                outcomes.append(outcome)
                _show(services, name, text, outcome)
            progress.advance(task)
    relations = sum(1 for _ in services.store.match_quads(None, None, None, DERIVED))
    _print(f"\nRCC8: {relations} relations between features are derived from their geometry.")
    rows = await _query(services, FOLDER / "query.rq")
    accepted = sum(len(outcome.verdict.accepted) for outcome in outcomes)
    refused = sum(len(outcome.verdict.rejected) for outcome in outcomes)
    print(f"accepted={accepted} refused={refused} rcc8={relations} rows={rows}")
    unanswered = [error for error in failures if not isinstance(error, ModelReplyError)]
    return 1 if unanswered else 0


def _print(line: str, style: str = "") -> None:
    _out.print(line, style=style, markup=False, soft_wrap=True)


def _text(name: str, text: str) -> str:
    return f"\n{name}\n{text}"


def _show(services: Services, name: str, text: str, outcome: Outcome) -> None:
    _print(_text(name, text))
    for statement in outcome.verdict.accepted:
        _print("  accepted  " + _words(services, statement.triple), "green")
    for rejection in outcome.verdict.rejected:
        _print("  refused   " + _words(services, rejection.statement.triple), "red")
        for message in dict.fromkeys(violation.message for violation in rejection.violations):
            _print("            because: " + message)


def _words(services: Services, triple: object) -> str:
    return " · ".join(_name_of(services, term) for term in triple)  # type: ignore[attr-defined]


async def _query(services: Services, path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    _print("\n" + text, "dim")
    request = QueryRequest(text, choose_by_name("csv", RESULT_FORMATS))
    async with services.readers.query(request) as result:
        body = b"".join([chunk async for chunk in result])
    rows = list(csv.reader(io.StringIO(body.decode())))
    table = Table(*rows[0])
    for row in rows[1:]:
        table.add_row(*row)
    _out.print(table)
    return len(rows) - 1


def load_sample(services: Services) -> int:
    """Load the sample city with a progress bar; the number of statements."""
    with progress_bar("sample city: statements judged, related, committed") as progress:
        task = progress.add_task("", total=None)
        loader = Loader(services)
        result = loader.sample(lambda done, total: progress.update(task, completed=done, total=total))
        return result.accepted


def _name_of(services: Services, term: Any) -> str:
    """A readable form of a term: the main label of an entity or ontology term, the text of a literal."""
    if isinstance(term, Literal):
        return f'"{term.value}"'
    if isinstance(term, NamedNode):
        known = services.schema.classes.get(term) or services.schema.properties.get(term)
        if known is not None:
            return known.label
        entries = services.labels.entries_of(term)
        if entries:
            return next((entry.label for entry in entries if entry.main), entries[0].label)
        return term.value.rstrip("/").replace("#", "/").rpartition("/")[2]
    return str(term)
