"""Commands on the whole graph: query it, ask it a question, validate it."""

import json
import sys
from dataclasses import asdict
from typing import Annotated, Any

import typer

from curation.review.review_item import Decided
from curation.review.review_queue import Exceptions
from server.cli.invocation import finish, on_either, on_folder, settings_of, text_or_file
from server.cli.options import AsJson, Config, Data, ModelUrl, ShapesFolder
from server.cli.output import print_json, print_table, stderr
from server.cli.progress import working
from server.cli.running_server import RunningServer
from server.services import Services
from sparql.model.change import Violation
from sparql.model.options import Options
from sparql.protocol.formats import GRAPH_FORMATS, RESULT_FORMATS, WITH_PREFIXES
from sparql.protocol.negotiation import choose_by_name
from sparql.syntax.request_facts import facts_of
from sparql.workers.query import QueryRequest


def query(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="A SPARQL query, or the path of a file that holds one.")],
    data: Data = None,
    config: Config = None,
    format_: Annotated[
        str | None, typer.Option("--format", help="json, xml, csv, tsv, turtle, ntriples ...")
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show how it would run instead.")] = False,
) -> None:
    """Run a SPARQL query and print its answer."""
    settings = settings_of(context, data=data, config=config).settings
    query_text = text_or_file(text)
    if explain:
        on_either(
            settings,
            lambda server: _explain_remote(server, query_text),
            lambda services: explain_locally(services, query_text),
            opening=Services.querying,
        )
        return
    on_either(
        settings,
        lambda server: _query_remote(server, query_text, format_),
        lambda services: _query(services, query_text, format_),
        opening=Services.querying,
    )


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="A question in plain language.")],
    data: Data = None,
    config: Config = None,
    model_url: ModelUrl = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question from the graph, or say what is missing."""
    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    on_either(
        settings,
        lambda server: _print_answer(server.post("/ask", {"question": question}), as_json),
        lambda services: _ask(services, question, as_json),
    )


def validate(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    shapes: ShapesFolder = None,
    as_json: AsJson = False,
) -> None:
    """Validate the whole graph against the shapes and print every result."""
    settings = settings_of(context, data=data, config=config, shapes=shapes).settings
    finish(on_folder(settings, lambda services: _validate(services, as_json)))


async def _query(services: Services, text: str, format_: str | None) -> int:
    """Run a query and write its answer to standard output as it comes, or as a table on a terminal."""
    form = facts_of(text).form
    offers = GRAPH_FORMATS if form is not None and form.gives_graph else RESULT_FORMATS
    chosen = choose_by_name(format_, offers) if format_ else offers[0]
    preparation = services.rewriter.preparation(text, Options())
    table = _as_table(text, format_)
    body = b""
    prefixes = services.schema.prefixes if chosen.name in WITH_PREFIXES else {}
    asked = QueryRequest(text, chosen, preparation=preparation, prefixes=prefixes)
    async with services.readers.query(asked) as result:
        async for chunk in result:
            if table:
                body += chunk
            else:
                sys.stdout.buffer.write(chunk)
    _print_table(body) if table else sys.stdout.write("\n")
    return 0


def _as_table(text: str, format_: str | None) -> bool:
    """Whether the answer is shown as a table: rows on a terminal, when no format is asked for."""
    form = facts_of(text).form
    return format_ is None and sys.stdout.isatty() and not (form is not None and form.gives_graph)


def _print_table(body: bytes) -> None:
    """Print an answer in SPARQL's JSON format as a table, and the number of rows on standard error."""
    found = json.loads(body)
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


def _query_remote(server: RunningServer, text: str, format_: str | None) -> int:
    """The same through the server that holds the folder."""
    if _as_table(text, format_):
        _print_table(server.query(text, RESULT_FORMATS[0].media_type))
        return 0
    known = {f.name: f.media_type for f in (*RESULT_FORMATS, *GRAPH_FORMATS)}
    sys.stdout.buffer.write(server.query(text, known.get(format_ or "", "*/*")))
    sys.stdout.write("\n")
    return 0


async def explain_locally(services: Services, text: str) -> int:
    """Print the plan of a query as JSON."""
    preparation = services.rewriter.preparation(text, Options(explain=True))
    assert preparation is not None
    prepared = await services.readers.prepared(QueryRequest(text, preparation=preparation))
    return print_json(preparation.explanation(*prepared))


def _explain_remote(server: RunningServer, text: str) -> int:
    """The same through the server that holds the folder."""
    return print_json(json.loads(server.query(text, "*/*", explain=True)))


async def _ask(services: Services, question: str, as_json: bool) -> int:
    """Answer a question."""
    return _print_answer(asdict(await services.asker.ask(question)), as_json)


def _print_answer(answer: dict[str, Any], as_json: bool) -> int:
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


async def _validate(services: Services, as_json: bool) -> int:
    """Print every validation result of the whole graph; 1 when something violates that no person accepted."""
    with working("validating everything"):
        violations = services.gate.report(services.store)
        exceptions = Exceptions(services.review)
    found = [(one, exceptions.of(one)) for one in violations]
    columns = ("severity", "focus", "path", "message", "shape")
    rows = [(*_result(one), decided) for one, decided in found]
    if as_json:
        print_json([dict(zip(columns, row, strict=False)) | {"exception": _said(row[-1])} for row in rows])
    elif rows:
        print_table((*columns, "exception"), ((*texts, _made(decided)) for *texts, decided in rows))
    blocking = sum(one.blocking for one in violations)
    left = sum(one.blocking and decided is None for one, decided in found)
    excepted = f", {blocking - left} of these are exceptions that a person made" if left < blocking else ""
    stderr.print(f"{len(violations)} results, {blocking} of them violations{excepted}")
    return 1 if left else 0


def _result(one: Violation) -> tuple[str, str, str, str, str]:
    severity = one.severity.value.rpartition("#")[2]
    return severity, str(one.focus), str(one.path or ""), one.message, str(one.shape)


def _made(decided: Decided | None) -> str:
    return "" if decided is None else f"{decided.by}, {decided.at[:10]}: {decided.reason}"


def _said(decided: Decided | None) -> dict[str, Any] | None:
    return None if decided is None else {"by": decided.by, "at": decided.at, "reason": decided.reason}
