"""Commands on the whole graph: query it, ask it a question, validate it."""

import io
import json
import sys
from typing import Annotated, Any

import typer

from curation.review.review_item import Decided
from curation.review.review_queue import Exceptions
from server.cli.api import Api
from server.cli.invocation import on_folder, text_or_file, with_api, with_settings
from server.cli.options import AsJson
from server.cli.output import print_json, print_table, stderr, working
from server.services import Services
from server.settings import Settings
from sparql.model.change import Violation
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS, choose_by_name
from sparql.syntax.request_facts import facts_of


@with_api()
def query(
    api: Api,
    text: Annotated[str, typer.Argument(help="A SPARQL query, or the path of a file that holds one.")],
    format_: Annotated[
        str | None, typer.Option("--format", help="json, xml, csv, tsv, turtle, ntriples ...")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how it would run instead.")] = False,
) -> None:
    """Run a SPARQL query and print its answer."""
    query_text = text_or_file(text)
    form = facts_of(query_text).form
    gives_graph = form is not None and form.gives_graph
    offers = GRAPH_FORMATS if gives_graph else RESULT_FORMATS
    answer = io.BytesIO()
    if explain:
        api.query(query_text, "*/*", answer, explain=True)
        print_json(json.loads(answer.getvalue()))
    elif format_ is None and not gives_graph and sys.stdout.isatty():
        api.query(query_text, RESULT_FORMATS[0].media_type, answer)
        _print_rows(json.loads(answer.getvalue()))
    else:
        chosen = choose_by_name(format_, offers) if format_ else offers[0]
        api.query(query_text, chosen.media_type, sys.stdout.buffer)
        sys.stdout.write("\n")


@with_api("model_url")
def ask(
    api: Api,
    question: Annotated[str, typer.Argument(help="A question in plain language.")],
    as_json: AsJson = False,
) -> int:
    """Answer a question from the graph, or say what is missing (exit code 1)."""
    answer = api.post("/ask", {"question": question})
    if as_json:
        print_json(answer)
    else:
        print(answer["answer"] or "No answer.")
        for gap in answer["gaps"]:
            print(f"Missing: {gap['message']}")
        if answer["sparql"]:
            stderr.print(answer["sparql"], markup=False, highlight=False)
    return 1 if answer["gaps"] else 0


@with_settings("shapes")
def validate(settings: Settings, as_json: AsJson = False) -> int:
    """Validate the whole graph against the shapes and print every result."""
    return on_folder(settings, lambda services: _validate(services, as_json))


def _print_rows(found: dict[str, Any]) -> None:
    """Print an answer in SPARQL's JSON format as a table, and the number of rows on standard error."""
    if "boolean" in found:
        print("yes" if found["boolean"] else "no")
        return
    variables, rows = found["head"]["vars"], found["results"]["bindings"]
    print_table(variables, ([_cell(row.get(name)) for name in variables] for row in rows))
    stderr.print(f"{len(rows)} rows")


def _cell(term: dict[str, Any] | None) -> str:
    """A term as people read it: the value, and the language of a text."""
    if term is None:
        return ""
    value = json.dumps(term["value"]) if term["type"] == "triple" else str(term["value"])
    language = term.get("xml:lang")
    return f"{value} @{language}" if language else value


async def _validate(services: Services, as_json: bool) -> int:
    """Print every validation result of the whole graph; 1 when something violates that no person accepted."""
    with working("validating everything"):
        violations = services.gate.report(services.store)
        exceptions = Exceptions(services.review)
    found = [(violation, exceptions.of(violation)) for violation in violations]
    columns = ("severity", "focus", "path", "message", "shape")
    rows = [(*_result(violation), decided) for violation, decided in found]
    if as_json:
        results = [dict(zip(columns, row, strict=False)) for row in rows]
        print_json(
            [result | {"exception": _exception(row[-1])} for result, row in zip(results, rows, strict=True)]
        )
    elif rows:
        print_table((*columns, "exception"), ((*texts, _accepted(decided)) for *texts, decided in rows))
    blocking = sum(violation.blocking for violation in violations)
    left = sum(violation.blocking and decided is None for violation, decided in found)
    excepted = f", {blocking - left} of these are exceptions that a person made" if left < blocking else ""
    stderr.print(f"{len(violations)} results, {blocking} of them violations{excepted}")
    return 1 if left else 0


def _result(violation: Violation) -> tuple[str, str, str, str, str]:
    severity = violation.severity.value.rpartition("#")[2]
    path = str(violation.path or "")
    return severity, str(violation.focus), path, violation.message, str(violation.shape)


def _accepted(decided: Decided | None) -> str:
    return "" if decided is None else f"{decided.by}, {decided.at[:10]}: {decided.reason}"


def _exception(decided: Decided | None) -> dict[str, Any] | None:
    return None if decided is None else {"by": decided.by, "at": decided.at, "reason": decided.reason}
