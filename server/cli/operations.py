"""The work of the commands, on an open folder or through the server that holds it."""

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pyoxigraph import Literal, NamedNode
from rich.table import Table

from server.cli.commands_storage import progress_bar
from server.cli.output import print_json, stderr
from server.cli.running_server import RunningServer
from server.data.storage import Loader
from server.runtime.context import Services
from sparql.model.options import Options
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS
from sparql.protocol.negotiation import choose_by_name
from sparql.syntax.request_facts import facts_of
from sparql.workers.result import QueryRequest


def text_or_file(argument: str) -> str:
    """The argument itself, or the content of the file of that name (or of standard input, for -)."""
    if argument == "-":
        return sys.stdin.read()
    is_name = "\n" not in argument and len(argument) < 1024
    path = Path(argument)
    if is_name and path.suffix in (".txt", ".rq", ".sparql", ".md") and path.is_file():
        return path.read_text(encoding="utf-8")
    return argument


def load_sample(services: Services) -> int:
    """Load the sample city with a progress bar; the number of statements."""
    with progress_bar("sample city: statements judged, related, committed") as progress:
        task = progress.add_task("", total=None)
        loader = Loader(services)
        result = loader.sample(lambda done, total: progress.update(task, completed=done, total=total))
        return result.accepted


async def query(services: Services, text: str, format_: str | None) -> int:
    """Run a query and write its answer to standard output as it comes."""
    form = facts_of(text).form
    offers = GRAPH_FORMATS if form is not None and form.gives_graph else RESULT_FORMATS
    chosen = choose_by_name(format_, offers) if format_ else offers[0]
    preparation = services.rewriter.preparation(text, Options())
    async with services.readers.query(QueryRequest(text, chosen, preparation=preparation)) as result:
        async for chunk in result:
            sys.stdout.buffer.write(chunk)
    sys.stdout.write("\n")
    return 0


async def explain(services: Services, text: str) -> int:
    """Print the plan of a query as JSON."""
    preparation = services.rewriter.preparation(text, Options(explain=True))
    assert preparation is not None
    prepared = await services.readers.prepared(QueryRequest(text, preparation=preparation))
    return print_json(preparation.explanation(*prepared))


def explain_remote(server: RunningServer, text: str) -> int:
    """The same through the server that holds the folder."""
    return print_json(json.loads(server.query(text, "*/*", explain=True)))


def query_remote(server: RunningServer, text: str, format_: str | None) -> int:
    """The same through the server that holds the folder."""
    known = {f.name: f.media_type for f in (*RESULT_FORMATS, *GRAPH_FORMATS)}
    sys.stdout.buffer.write(server.query(text, known.get(format_ or "", "*/*")))
    sys.stdout.write("\n")
    return 0


async def extract(services: Services, message: dict[str, Any]) -> int:
    """Extract from a text and print the outcome as JSON."""
    outcome = await services.intake.extract(
        message["text"], source=message["source"], commit=message["commit"], method=message["method"]
    )
    return print_extraction(outcome.json())


def print_extraction(outcome: dict[str, Any]) -> int:
    """The outcome on standard output, a summary on standard error."""
    print(json.dumps(outcome, ensure_ascii=False, indent=2))
    stderr.print(f"{len(outcome['accepted'])} accepted, {len(outcome['rejected'])} refused")
    if "held" in outcome:
        stderr.print(f"{outcome['held']['reason']} See: urbankg held show {outcome['id']}", markup=False)
    cost = Table("stage", "turns", "seconds", "tokens in", "tokens out")
    for stage in (outcome["trace"] or {}).get("stages", ()):
        cells = (stage["turns"], stage["seconds"], stage["prompt_tokens"], stage["completion_tokens"])
        cost.add_row(stage["stage"], *map(str, cells))
    stderr.print(cost)
    return 0


async def ask(services: Services, question: str, as_json: bool) -> int:
    """Answer a question."""
    return print_answer(asdict(await services.asker.ask(question)), as_json)


def print_answer(answer: dict[str, Any], as_json: bool) -> int:
    """The answer (or the gaps) on standard output, the query on standard error; 1 when there is a gap."""
    if as_json:
        print(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        print(answer["answer"] or "No answer.")
        for gap in answer["gaps"]:
            print(f"Missing: {gap['message']}")
        if answer["sparql"]:
            stderr.print(answer["sparql"], markup=False, highlight=False)
    return 1 if answer["gaps"] else 0


async def validate(services: Services) -> int:
    """Print every validation result of the whole graph; 1 when something violates."""
    with stderr.status("validating everything"):
        violations = services.gate.report(services.store)
    for violation in violations:
        name = violation.severity.value.rpartition("#")[2]
        print(f"{name}\t{violation.focus}\t{violation.path or ''}\t{violation.message}\t{violation.shape}")
    blocking = sum(violation.blocking for violation in violations)
    stderr.print(f"{len(violations)} results, {blocking} of them violations")
    return 1 if blocking else 0


def name_of(services: Services, term: Any) -> str:
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
