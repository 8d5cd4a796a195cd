"""`urbankg trace`: the messages to the model in an extraction, and its replies."""

from typing import Annotated, Any

import typer

from server.cli.invocation import on_store, settings_of
from server.cli.options import AsJson, Config, Data
from server.cli.output import print_json, stdout
from server.cli.running_server import RunningServer
from server.errors import UnknownResource
from server.intake.outcome import Traces
from sparql.storage.embedded_store import EmbeddedStore


def trace(
    context: typer.Context,
    identifier: Annotated[
        str | None, typer.Argument(help="The extraction's `id`; the last one if left out.")
    ] = None,
    data: Data = None,
    config: Config = None,
    as_json: AsJson = False,
) -> None:
    """Show every message to the model and every reply of an extraction."""

    def remote(server: RunningServer) -> int:
        name = identifier or _last(server.get("/extractions", {"limit": "1"})["extractions"])
        return _show(server.get(f"/extractions/{name}/trace"), as_json)

    def local(store: EmbeddedStore) -> int:
        traces = Traces(store)
        return _show(traces.get(identifier or _last(traces.latest(0, 1)[1])), as_json)

    on_store(settings_of(context, data=data, config=config).settings, remote, local)


def _last(extractions: list[dict[str, Any]]) -> str:
    if not extractions:
        raise UnknownResource("There is no extraction in the graph. Extract from a text first.")
    return str(extractions[0]["id"])


def _show(record: dict[str, Any], as_json: bool) -> int:
    if as_json:
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
