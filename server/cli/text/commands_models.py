"""`urbankg models`: what the language model is, what it can do, and what it costs."""

import asyncio
from typing import Any

import typer

from server.cli.invocation import finish, settings_of
from server.cli.options import AsJson, Config, Data, ModelUrl
from server.cli.output import print_json, print_table, stderr
from server.cli.running_server import running_server
from server.settings import Settings


def models(
    context: typer.Context,
    data: Data = None,
    config: Config = None,
    model_url: ModelUrl = None,
    as_json: AsJson = False,
) -> None:
    """Probe the model with a short question: server, limits, schemas, adapter, speed, cost.

    Through the server that holds the folder, where one runs and no other model is given.
    """
    settings = settings_of(context, data=data, config=config, model_url=model_url).settings
    server = None if model_url else running_server(settings.data, settings.api_key)
    report = server.post("/models/probe", {}) if server is not None else asyncio.run(_probe(settings))
    if as_json:
        print_json(report)
    else:
        _show(report)
    finish(1 if report["probe"]["error"] else 0)


async def _probe(settings: Settings) -> dict[str, Any]:
    from server.intake.language_model import language_model, prices_of, probed
    from server.monitoring.metrics import Metrics

    model = language_model(settings, Metrics())
    try:
        return await probed(model, prices_of(settings))
    finally:
        await model.close()


def _show(report: dict[str, Any]) -> None:
    rows = [(name, str(value)) for name, value in _rows(report) if value not in (None, "", [])]
    print_table(("name", "value"), rows, header=False)
    if report["probe"]["error"]:
        stderr.print(report["probe"]["error"], markup=False)


def _rows(report: dict[str, Any]) -> list[tuple[str, Any]]:
    state, probe, usage = report["state"], report["probe"], report["usage"]
    cost = usage["cost"]
    return [
        ("model", probe.get("model") or report["model"]),
        ("adapter", probe.get("adapter")),
        ("adapter check", state.get("adapter")),
        ("server", " ".join(filter(None, (state.get("kind"), state.get("version"))))),
        ("address", state.get("url")),
        ("JSON schemas", state.get("schema")),
        ("log-probabilities", {True: "yes", False: "no"}.get(probe.get("log_probabilities", ""))),
        ("most tokens of a request", state.get("max_total_tokens")),
        ("requests at a time", _concurrency(state)),
        ("adapters loaded", ", ".join(state.get("adapters", ()))),
        ("probe", f"{probe['seconds']} s, {probe.get('tokens_per_second') or 0} tokens/s"),
        ("calls so far", f"{usage['calls']}, {usage['failed']} failed, {usage['retries']} sent again"),
        ("tokens so far", f"{usage['prompt_tokens']} in, {usage['completion_tokens']} out"),
        ("cost so far", f"{cost['amount']} {cost['currency']}" if cost else "no prices set"),
        *_per_thousand(usage.get("per_1000_tasks")),
    ]


def _concurrency(state: dict[str, Any]) -> str | None:
    if "concurrency" not in state:
        return None
    limit = state["server_concurrency"]
    return f"{state['concurrency']}" + (f" (the server takes {limit})" if limit else "")


def _per_thousand(found: dict[str, Any] | None) -> list[tuple[str, Any]]:
    if found is None:
        return []
    cost = found["cost"]
    money = f", {cost['amount']} {cost['currency']}" if cost else ""
    return [("per 1,000 texts", f"{found['seconds']} s{money}")]
