"""What every program here does: it runs its checks against a server and prints one line of JSON for each."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable

URL = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8000"
SPARQL = URL + "/sparql"
UPDATE = URL + "/update"
URBAN = "https://w3id.org/urbankg/urban#"
PREFIXES = (
    f"PREFIX urban: <{URBAN}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
    "PREFIX geo: <http://www.opengis.net/ont/geosparql#> "
)
MUSEUMS = PREFIXES + "SELECT ?name ?museum { ?museum a urban:Museum ; rdfs:label ?name } ORDER BY ?name"
NAMES = ["Clock Museum", "Harbour Museum"]
WKT = PREFIXES + "SELECT ?wkt { ?museum a urban:Museum ; geo:hasDefaultGeometry/geo:asWKT ?wkt }"
GRAPH = PREFIXES + "CONSTRUCT { ?museum rdfs:label ?name } { ?museum a urban:Museum ; rdfs:label ?name }"


def run(client: str, version: str, checks: dict[str, Callable[[], object]]) -> None:
    """Run each check; one that raises has failed."""
    for does, check in checks.items():
        error = None
        try:
            check()
        except BaseException:  # noqa: BLE001 - whatever a client raises is what the table has to show.
            error = traceback.format_exc(limit=-2).strip()
        print(json.dumps({"client": client, "version": version, "does": does, "error": error}), flush=True)


def same(found: object, expected: object) -> None:
    """Raise unless both are equal."""
    if found != expected:
        raise AssertionError(f"found {found!r:.300}, expected {expected!r:.300}")
