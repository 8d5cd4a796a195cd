"""Requests generated from the server's OpenAPI description, by schemathesis."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import httpx
import schemathesis
from hypothesis import strategies
from schemathesis.engine import Status, events, from_schema
from schemathesis.engine.recorder import ScenarioRecorder
from schemathesis.generation import GenerationMode

from benchmarks.soaking.readings import memory_and_descriptors
from tests.support.fuzzing.ledger import ALLOWED, HANG_S, Answer, Ledger
from tests.support.fuzzing.target import Target

_REFUSED = (400, 413, 415, 422)
"""What is answered to a request that is wrong in itself, whatever the graph holds."""
_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_schema_conformance",
)


def _as_text(context: schemathesis.SerializationContext, value: Any) -> bytes:
    """Texts as they are, whatever was generated."""
    return value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")


_IRI = "http://example.org/"
_FORMATS = {
    "iri": (*(f"{_IRI}{n}" for n in range(5)), f"{_IRI}caf\u00e9", f"{_IRI}p", "urn:x:1"),
    "wkt": ("POINT(-73.96 40.81)", "POLYGON((0 0, 1 0, 1 1, 0 0))", "LINESTRING(0 0, 1 1)", "POINT EMPTY"),
    "sparql-query": (
        "ASK {}",
        "SELECT * WHERE { ?s ?p ?o } LIMIT 3",
        "CONSTRUCT WHERE { ?s <http://example.org/p> 1 }",
        "DESCRIBE <http://example.org/1>",
        "SELECT (COUNT(*) AS ?n) WHERE { GRAPH ?g { ?s ?p ?o } } GROUP BY ?g",
    ),
    "sparql-update": (
        "INSERT DATA { <http://example.org/1> <http://example.org/q> 2 }",
        "DELETE WHERE { ?s <http://example.org/q> ?o }",
        "CREATE SILENT GRAPH <http://example.org/g>",
    ),
}
"""Texts of each format of the description that is none of JSON Schema's own."""
_TRIPLE = '<http://example.org/1> <http://example.org/q> "caf\u00e9" .'
_DOCUMENTS = {
    "text/turtle": ("", _TRIPLE, "@prefix e: <http://example.org/> . e:a e:b [ e:c 1.5 ] ."),
    "application/n-triples": ("", _TRIPLE),
    "application/n-quads": ("", _TRIPLE),
    "application/trig": ("", _TRIPLE, "<http://example.org/g> { <a:a> <a:b> 1 }"),
    "application/rdf+xml": (
        '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="http://example.org/">'
        '<rdf:Description rdf:about="http://example.org/1"><e:q>1</e:q></rdf:Description></rdf:RDF>',
    ),
    "application/sparql-query": _FORMATS["sparql-query"],
    "application/sparql-update": _FORMATS["sparql-update"],
    "application/x-ndjson": ('{"text": "The library is in the park."}\n',),
    "text/csv": ("name,text\na,The library is in the park.\n",),
}
"""Sound documents of the media types that a schema cannot describe."""


def _description(url: str) -> dict[str, Any]:
    """The server's description, with formats for documents that no schema describes, and how to write them.

    Schemathesis writes JSON, forms and a few more: all other bodies are texts.
    """
    described: dict[str, Any] = httpx.get(url + "/openapi.json", timeout=60, trust_env=False).json()
    for name, texts in {**_FORMATS, **_DOCUMENTS}.items():
        schemathesis.openapi.format(name, strategies.sampled_from(texts))
    known = ("/json", "+json", "/x-www-form-urlencoded", "/form-data", "/*")
    for operations in described["paths"].values():
        for operation in operations.values():
            for kind, form in operation.get("requestBody", {}).get("content", {}).items():
                if not kind.endswith(known):
                    schemathesis.serializer(kind)(_as_text)
                if kind in _DOCUMENTS:
                    form["schema"] = {**form["schema"], "format": kind}
    return described


def generated(target: Target, *, key: str, seed: int, examples: int, most_s: int) -> None:
    """Run schemathesis with the key of that name: systematic cases, and so many random ones for each route.

    What breaks a check is a failure: a status or a media type that the description does not name, an answer
    outside its schema, a status of 500 and above.
    """
    expected = ["2xx", "3xx", "4xx", *(str(status) for status in sorted(ALLOWED))]
    config = schemathesis.Config.from_dict(
        {
            "seed": seed,
            "base-url": target.url,
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
    schema = schemathesis.openapi.from_dict(_description(target.url), config=config)
    reported: set[str] = set()
    allowed: dict[str, Counter[bool]] = defaultdict(Counter)
    for event in from_schema(schema).execute():
        if isinstance(event, events.ScenarioFinished):
            _note(event, f"{key} key, {event.phase.value.lower()}", target.ledger, reported)
            _count_allowed(event.recorder, allowed)
        elif isinstance(event, events.PhaseFinished):
            reading = memory_and_descriptors(target.server.process.pid)
            print(f"{key} key, after {event.phase.name.value.lower()}: server {reading}", flush=True)
        elif isinstance(event, events.NonFatalError | events.FatalError):
            target.ledger.fail(f"generated: {event}")
    for label, counts in sorted(allowed.items()):
        if counts[True] > counts[False]:
            print(f"{label} refuses {counts[True]} of {counts.total()} requests that its schema allows")


def _count_allowed(recorder: ScenarioRecorder, allowed: dict[str, Counter[bool]]) -> None:
    """Count what the description allows, by operation and by whether it was refused for its content."""
    for identifier, exchange in recorder.interactions.items():
        case = recorder.cases[identifier].value
        sound = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
        if sound and exchange.response is not None:
            allowed[case.operation.label][exchange.response.status_code in _REFUSED] += 1


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
