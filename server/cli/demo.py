"""`urbankg demo`: from an empty folder to an answer, with every step shown."""

import csv
import io
import shutil
from pathlib import Path
from typing import Annotated, Any

import typer
from pyoxigraph import Literal, NamedNode, Triple

from extractors.errors import ModelError, ModelReplyError
from server.cli.invocation import on_folder, with_settings
from server.cli.output import counting, print_table, stdout
from server.cli.storage import load_sample
from server.data.sample.city import FOLDER, sample_texts
from server.errors import ServerError
from server.intake.outcome import Outcome
from server.services import Services
from server.settings import Settings
from sparql.model.vocabulary import DERIVED, RDF, RDFS
from sparql.protocol.formats import RESULT_FORMATS, choose_by_name
from sparql.workers.query import QueryRequest

_MARK = ".demo"
"""Marks a folder that holds only what a demonstration made."""
_ROWS = 8


@with_settings("model_url")
def demo(
    settings: Settings,
    details: Annotated[
        bool, typer.Option("--details", help="Show each text with all of its statements, and the query.")
    ] = False,
) -> int:
    """From nothing to an answer: the sample city, twelve texts, RCC8 and one GeoSPARQL query."""
    return on_folder(empty(settings), lambda services: run(services, details=details), new=True)


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


async def run(services: Services, *, details: bool = False) -> int:
    """Load, extract, gate, relate, query; the last line has the counts.

    A text without a usable reply of the model is reported and not counted; 1 when no model answered.
    """
    loaded = load_sample(services).accepted
    _print(f"Sample city: {loaded} statements about New York in {services.settings.data}. Texts:")
    outcomes: list[Outcome] = []
    failures: list[ModelError] = []
    texts = list(sample_texts())
    with counting("texts read by " + services.model.name) as progress:
        task = progress.add_task("", total=len(texts))
        for name, text in texts:
            try:
                outcome = await services.intake.extract(text, source=f"sample text {name}")
            except ModelError as error:
                failures.append(error)
                _print(f"  {name:27} no statements: {error}", "red")
            else:
                outcomes.append(outcome)
                if details:
                    _show(services, name, text, outcome)
                else:
                    _summarize(services, name, outcome)
            progress.advance(task)
    relations = sum(1 for _ in services.store.match_quads(None, None, None, DERIVED))
    _print(f"RCC8: {relations} relations between features are derived from their geometry.")
    rows = await _query(services, FOLDER / "query.rq", whole=details)
    accepted = sum(len(outcome.verdict.accepted) for outcome in outcomes)
    refused = sum(len(outcome.verdict.rejected) for outcome in outcomes)
    if not details:
        _print("All statements and reasons: urbankg demo --details. What was refused: urbankg review list.")
    _print(
        f"Ask about them: urbankg serve --data {services.settings.data}, and open its address in a browser."
    )
    print(f"accepted={accepted} refused={refused} rcc8={relations} rows={rows}")
    unanswered = [error for error in failures if not isinstance(error, ModelReplyError)]
    return 1 if unanswered else 0


def _print(line: str, style: str = "") -> None:
    stdout.print(line, style=style, markup=False, soft_wrap=True)


def _summarize(services: Services, name: str, outcome: Outcome) -> None:
    """One line for a text: how many statements, and one of those accepted."""
    accepted, refused = outcome.verdict.accepted, outcome.verdict.rejected
    # What the text says of a thing is more specific than its class or name.
    example = _words(
        services, max((statement.triple for statement in accepted), key=_is_informative, default=None)
    )
    counts = f"{len(accepted):2} accepted {len(refused):2} refused"
    stdout.print(f"  {name:27} {counts}  {example}", markup=False, no_wrap=True, overflow="ellipsis")


def _is_informative(triple: Triple) -> bool:
    return triple.predicate not in (RDF.type, RDFS.label)


def _show(services: Services, name: str, text: str, outcome: Outcome) -> None:
    _print(f"\n{name}\n{text}")
    for statement in outcome.verdict.accepted:
        _print("  accepted  " + _words(services, statement.triple), "green")
    for rejection in outcome.verdict.rejected:
        _print("  refused   " + _words(services, rejection.statement.triple), "red")
        for message in dict.fromkeys(violation.message for violation in rejection.violations):
            _print("            because: " + message)


def _words(services: Services, triple: Triple | None) -> str:
    if triple is None:
        return ""
    terms = (triple.subject, triple.predicate, triple.object)
    return " · ".join(_name_of(services, term) for term in terms)


async def _query(services: Services, path: Path, *, whole: bool) -> int:
    """Run the query of a file, whose first line says what it asks for; the number of rows."""
    text = path.read_text(encoding="utf-8")
    _print("\n" + text if whole else text.partition("\n")[0].lstrip("# "), "dim")
    request = QueryRequest(text, choose_by_name("csv", RESULT_FORMATS))
    async with services.readers.query(request) as result:
        body = b"".join([chunk async for chunk in result])
    rows = list(csv.reader(io.StringIO(body.decode())))
    shown = rows[1:] if whole else rows[1 : 1 + _ROWS]
    print_table(rows[0], shown)
    if len(shown) < len(rows) - 1:
        _print(f"  and {len(rows) - 1 - len(shown)} more")
    return len(rows) - 1


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
