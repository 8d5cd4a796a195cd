"""`urbankg demo`: from an empty folder to an answer, with everything on the way shown."""

import csv
import io
import shutil
from pathlib import Path

from rich.console import Console
from rich.table import Table

from server.errors import ServerError
from server.intake import Outcome
from server.operations import load_sample, name_of, progress_bar
from server.sample.city import FOLDER, sample_texts
from server.services import Services
from server.settings import Settings
from sparql.formats import RESULT_FORMATS
from sparql.negotiation import choose_by_name
from sparql.readers import QueryRequest
from sparql.vocabulary import DERIVED

_MARK = ".demo"
"""Tells that a folder holds only what a demonstration made."""
_out = Console(highlight=False)


def empty(settings: Settings) -> Settings:
    """An empty data folder: a new one, or that of an earlier demonstration, emptied.

    Raises `ServerError` for a folder with anything else in it, which is left alone.
    """
    folder = settings.data
    if folder.exists() and any(folder.iterdir()) and not (folder / _MARK).exists():
        raise ServerError(f"{folder} is not empty and not from a demo. Give another folder with --data.")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / _MARK).touch()
    return settings


async def run(services: Services) -> int:
    """Load, extract, gate, relate, query; the last line says how much of each."""
    loaded = load_sample(services)
    _out.print(f"Sample city: {loaded} statements about New York in {services.settings.data}.")
    outcomes: list[tuple[str, str, Outcome]] = []
    texts = list(sample_texts())
    with progress_bar("texts read by " + services.model.name) as progress:
        task = progress.add_task("", total=len(texts))
        for name, text in texts:
            outcome = await services.intake.extract(text, source=f"sample text {name}")
            outcomes.append((name, text, outcome))
            progress.advance(task)
    for name, text, outcome in outcomes:
        _show(services, name, text, outcome)
    relations = sum(1 for _ in services.store.match_quads(None, None, None, DERIVED))
    _out.print(f"\nRCC8: {relations} relations between features are derived from their geometry.")
    rows = await _query(services, FOLDER / "query.rq")
    accepted = sum(len(outcome.verdict.accepted) for _, _, outcome in outcomes)
    refused = sum(len(outcome.verdict.rejected) for _, _, outcome in outcomes)
    print(f"accepted={accepted} refused={refused} rcc8={relations} rows={rows}")
    return 0


def _show(services: Services, name: str, text: str, outcome: Outcome) -> None:
    _out.print(f"\n[bold]{name}[/bold]")
    _out.print(text, markup=False)
    for statement in outcome.verdict.accepted:
        _out.print("  accepted  " + _words(services, statement.triple), style="green", markup=False)
    for rejection in outcome.verdict.rejected:
        _out.print("  refused   " + _words(services, rejection.statement.triple), style="red", markup=False)
        for message in dict.fromkeys(violation.message for violation in rejection.violations):
            _out.print("            because: " + message, markup=False)


def _words(services: Services, triple: object) -> str:
    return " · ".join(name_of(services, term) for term in triple)  # type: ignore[attr-defined]


async def _query(services: Services, path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    _out.print("\n" + text, markup=False, style="dim")
    request = QueryRequest(text, choose_by_name("csv", RESULT_FORMATS))
    async with services.readers.query(request) as result:
        body = b"".join([chunk async for chunk in result])
    rows = list(csv.reader(io.StringIO(body.decode())))
    table = Table(*rows[0])
    for row in rows[1:]:
        table.add_row(*row)
    _out.print(table)
    return len(rows) - 1
