"""Requests generated from the server's OpenAPI description, by schemathesis."""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis.engine import Status, events, from_schema

from tests.support.fuzzing.ledger import ALLOWED, HANG_S, Answer, Ledger

_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


@schemathesis.serializer(
    "application/sparql-query",
    "application/sparql-update",
    "application/n-triples",
    "application/n-quads",
    "application/trig",
    "text/turtle",
)
def _as_text(context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Texts as they are, whatever was generated."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def generated(
    url: str, ledger: Ledger, *, seed: int, examples: int, phases: tuple[str, ...], most_s: int
) -> None:
    """Run schemathesis: its systematic cases and so many random ones for each route.

    What breaks a check is a failure: a status or a media type that the description does not name, an answer
    outside its schema, a status of 500 and above.
    """
    every = ("examples", "coverage", "fuzzing", "stateful")
    expected = ["2xx", "3xx", "4xx", *(str(status) for status in sorted(ALLOWED))]
    config = schemathesis.Config.from_dict(
        {
            "seed": seed,
            "request-timeout": HANG_S,
            "continue-on-failure": True,
            "max-time": most_s,
            "max-stream-events": 1,
            "generation": {
                "max-examples": examples,
                "database": "none",
                "no-shrink": True,
                "with-security-parameters": False,
            },
            "phases": {name: {"enabled": name in phases} for name in every},
            "checks": {
                "enabled": False,
                **{name: {"enabled": True} for name in _CHECKS},
                "not_a_server_error": {"enabled": True, "expected-statuses": expected},
            },
        }
    )
    schema = schemathesis.openapi.from_url(url + "/openapi.json", config=config)
    reported: set[str] = set()
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _note(event, ledger, reported)
        elif isinstance(event, events.NonFatalError | events.FatalError):
            ledger.fail(f"generated: {event}")


def _note(event: events.ScenarioFinished, ledger: Ledger, reported: set[str]) -> None:
    recorder = event.recorder
    for exchange in recorder.interactions.values():
        response = exchange.response
        if response is None:
            answer = Answer(None, HANG_S, hung=True)
        else:
            answer = Answer(response.status_code, response.elapsed, body=response.content or b"")
        group = f"generated, {event.phase.value.lower()}"
        ledger.add(group, f"{exchange.request.method} {exchange.request.uri}", answer, must_answer=True)
    for identifier, checks in recorder.checks.items():
        for check in checks:
            info = check.failure_info
            if check.status is not Status.FAILURE or info is None or check.name == "not_a_server_error":
                continue
            failure = f"{recorder.label}: {check.name}: {info.failure.title}: {info.failure.message[:300]}"
            if failure not in reported:
                reported.add(failure)
                ledger.fail(f"generated: {failure}\n    {info.code_sample[:400]} ({identifier})")
