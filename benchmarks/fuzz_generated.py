"""Requests generated from the server's OpenAPI description, by schemathesis."""

from __future__ import annotations

from typing import Any

import httpx
import schemathesis
from schemathesis.engine import Status, events, from_schema

from tests.support.fuzzing.described import routes_of
from tests.support.fuzzing.ledger import ALLOWED, HANG_S, Answer, Ledger
from tests.support.fuzzing.target import Target

_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def _as_text(context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Texts as they are, whatever was generated."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


def _register_serializers(url: str) -> None:
    """Schemathesis knows how to write JSON, forms and a few more: the other bodies of the description are texts."""
    described = httpx.get(url + "/openapi.json", timeout=60, trust_env=False).json()
    bodies = {kind for route in routes_of(described) for kind in route.body}
    known = ("/json", "+json", "/x-www-form-urlencoded", "/form-data", "/*")
    for kind in sorted(kind for kind in bodies if not kind.endswith(known)):
        schemathesis.serializer(kind)(_as_text)


def generated(target: Target, *, key: str, seed: int, examples: int, most_s: int) -> None:
    """Run schemathesis with the key of that name: its systematic cases and so many random ones for each route.

    What breaks a check is a failure: a status or a media type that the description does not name, an answer
    outside its schema, a status of 500 and above.
    """
    _register_serializers(target.url)
    expected = ["2xx", "3xx", "4xx", *(str(status) for status in sorted(ALLOWED))]
    config = schemathesis.Config.from_dict(
        {
            "seed": seed,
            "request-timeout": HANG_S,
            "headers": {"Authorization": f"Bearer {target.keys[key]}"},
            # The sample city is a real load, which may take longer where the machine is busy.
            "operations": [{"include-name": "POST /loads", "request-timeout": 4 * HANG_S}],
            "continue-on-failure": True,
            "max-time": most_s,
            "max-stream-events": 1,
            "generation": {
                "max-examples": examples,
                "database": "none",
                "no-shrink": True,
                "with-security-parameters": False,
            },
            "checks": {
                "enabled": False,
                **{name: {"enabled": True} for name in _CHECKS},
                "not_a_server_error": {"enabled": True, "expected-statuses": expected},
            },
        }
    )
    schema = schemathesis.openapi.from_url(target.url + "/openapi.json", config=config)
    reported: set[str] = set()
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _note(event, f"{key} key, {event.phase.value.lower()}", target.ledger, reported)
        elif isinstance(event, events.NonFatalError | events.FatalError):
            target.ledger.fail(f"generated: {event}")


def _note(event: events.ScenarioFinished, group: str, ledger: Ledger, reported: set[str]) -> None:
    recorder = event.recorder
    for exchange in recorder.interactions.values():
        response = exchange.response
        if response is None:
            answer = Answer(None, HANG_S, hung=True)
        else:
            answer = Answer(response.status_code, response.elapsed, body=response.content or b"")
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
