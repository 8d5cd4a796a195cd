"""Records the examples of the API's description: `python -m clients.record_examples URL [PART...]`.

The server at the address must hold a copy of the demo (`urbankg demo`), which this program changes, and use
copies of the ontology and the shapes (`--ontology`, `--shapes`). One part needs a server of its own:
`missing` one with a model and an encyclopedia that know a Rope Museum (`tests/server/gaps/test_loop.py`).
Requests are kept as they were sent,
answers with long texts and lists cut. Examples that are not recorded this time stay.
"""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import httpx

from server.http.description.operations import OPERATIONS
from server.http.description.shortening import shortened

EXAMPLES: Final = Path(__file__).parents[1] / "server/http/description/examples.json"
URBAN: Final = "https://w3id.org/urbankg/urban#"
PLACE: Final = "https://w3id.org/urbankg/id/"
CODES: Final = "http://example.org/"
LABEL: Final = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
TURTLE: Final = {"content-type": "text/turtle"}
SHAPE: Final = f"""@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix ex: <https://example.org/shapes#> .
<https://example.org/shapes> a <http://www.w3.org/2002/07/owl#Ontology> .
ex:MuseumName a sh:NodeShape ; sh:targetClass <{URBAN}Museum> ; sh:message "A museum has a name." ;
  sh:property [ sh:path <{LABEL}> ; sh:minCount 1 ; sh:message "A museum has a name." ] .
"""
TERMS: Final = f"""@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<https://example.org/terms> a owl:Ontology ; rdfs:label "Terms of libraries"@en .
<https://example.org/terms#ReadingRoom> a owl:Class ; rdfs:label "reading room"@en ;
  rdfs:comment "A room in which books are read."@en ; rdfs:subClassOf <{URBAN}Place> .
"""


class Recorder:
    """Sends requests, and keeps the first success of each operation."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client
        self.found: dict[str, Any] = {}

    def send(self, template: str, method: str = "GET", /, **request: Any) -> httpx.Response:
        """Send a request to an address of the description; `at` fills the parts of its path."""
        address = template
        for name, value in request.pop("at", {}).items():
            address = address.replace(f"{{{name}}}", str(value))
        response = self.client.request(method, address, **request)
        identifier = OPERATIONS[method.lower(), template].identifier
        if not response.is_success:
            print(f"{method} {address}: {response.status_code} {response.text[:300]}", file=sys.stderr)
        elif identifier not in self.found:
            self.found[identifier] = self._example(response)
        return response

    def _example(self, response: httpx.Response) -> dict[str, Any]:
        example: dict[str, Any] = {}
        sent = response.request.read()
        if sent:
            example["request"] = _content(response.request.headers["content-type"], sent)
        example["status"] = str(response.status_code)
        if response.content:
            answer = _content(response.headers["content-type"], response.content)
            example["answer"] = shortened(answer)
        return example


def _content(kind: str, body: bytes) -> dict[str, Any]:
    """What a body holds, under its media type."""
    name = kind.partition(";")[0].strip()
    text = body.decode()
    return {name: json.loads(text) if name.endswith(("/json", "+json")) else text}


def queries(to: Recorder) -> None:
    """SPARQL and the graph store."""
    select = f"SELECT ?name WHERE {{ ?place a <{URBAN}Museum> ; <{LABEL}> ?name }} ORDER BY ?name LIMIT 2"
    insert = "INSERT DATA { GRAPH <https://example.org/g> { <urn:a> <urn:b> 1 } }"
    for path in ("/sparql", "/query"):
        to.send(path, params={"query": select})
        to.send(path, "POST", content=select, headers={"content-type": "application/sparql-query"})
    to.send("/update", "POST", content=insert, headers={"content-type": "application/sparql-update"})
    graph = {"params": {"graph": "https://example.org/g"}}
    triple = '<https://example.org/low-library> <http://purl.org/dc/terms/title> "Low Library" .'
    for method in ("PUT", "POST"):
        to.send("/store", method, **graph, content=triple, headers=TURTLE)
        to.send("/store/{path}", method, at={"path": "libraries"}, content=triple, headers=TURTLE)
    for method in ("GET", "DELETE"):
        to.send("/store", method, **graph)
        to.send("/store/{path}", method, at={"path": "libraries"})
    entity = {"iri": f"{PLACE}roosevelt-island"}
    plain = {"accept": "text/turtle"}
    for path, sent in (
        ("/.well-known/void", {}),
        ("/ontology", {}),
        ("/shapes", {}),
        ("/dump", {}),
        ("/entities", entity),
    ):
        to.send(path, params=sent, headers=plain)
    to.send("/changes", params={"since": _revision(to) - 2}, headers={"accept": "application/x-ndjson"})


def _revision(to: Recorder) -> int:
    return int(to.send("/healthz").json()["revision"])


def reading(to: Recorder) -> None:
    """What only shows."""
    for path in ("/readyz", "/access", "/metrics", "/models", "/rules", "/conformance", "/collections"):
        to.send(path)
    to.send("/", headers={"accept": "application/json"})
    to.send("/suggest", params={"text": "central"})
    to.send("/features", params={"limit": 2})
    collection = to.send("/collections").json()["collections"][0]["id"]
    to.send("/collections/{collection}", at={"collection": collection})
    items = to.send("/collections/{collection}/items", at={"collection": collection}, params={"limit": 2})
    one = items.json()["features"][0]["id"]
    to.send("/collections/{collection}/items/{feature}", at={"collection": collection, "feature": one})
    to.send("/models/probe", "POST")
    to.send("/rules/examples", params={"shape": "https://w3id.org/urbankg/shapes/urban#OpenedBeforeClosed"})


def texts(to: Recorder) -> None:
    """Texts, statements, records and jobs in."""
    text = "The Museum of the City is in Manhattan. It opened in 1923."
    to.send(
        "/extractions", "POST", json={"text": text, "source": "https://example.org/guide", "commit": False}
    )
    run = to.send("/extractions", params={"limit": 2}).json()["extractions"][0]
    to.send("/extractions/{identifier}/trace", at={"identifier": run["id"]})
    statement = {
        "subject": "https://example.org/id/low-library",
        "predicate": LABEL,
        "object": {"type": "literal", "value": "Low Library", "xml:lang": "en"},
    }
    kind = {**statement, "predicate": TYPE, "object": {"type": "uri", "value": f"{URBAN}Library"}}
    to.send(
        "/candidates", "POST", json={"statements": [kind, statement], "source": "https://example.org/list"}
    )
    record = {"kind": "poi", "name": "Quay Library", "type": "library", "geometry": "POINT (-73.99 40.70)"}
    to.send("/sources", "POST", json={"records": [record]})
    boxes = {"a": "POLYGON ((0 0, 2 0, 2 2, 0 2, 0 0))", "b": "POLYGON ((1 1, 3 1, 3 3, 1 3, 1 1))"}
    to.send("/relations", "POST", json=boxes)
    lines = '{"text": "The Guild Hall opened in 1931.", "name": "hall"}\n{"text": " ", "name": "empty"}\n'
    sent = {"params": {"name": "leaflets", "paused": "true"}, "content": lines}
    job = to.send("/jobs", "POST", **sent, headers={"content-type": "application/x-ndjson"}).json()["id"]
    at = {"job": job}
    for act in ("resume", "pause", "resume"):
        to.send(f"/jobs/{{job}}/{act}", "POST", at=at)
    to.send("/jobs", params={"limit": 2})
    to.send("/jobs/{job}/events", at=at)
    to.send("/jobs/{job}", at=at)
    to.send("/jobs/{job}/documents", at=at)
    to.send("/jobs/{job}/retry", "POST", at=at)
    other = to.send("/jobs", "POST", **sent, headers={"content-type": "application/x-ndjson"}).json()["id"]
    to.send("/jobs/{job}/cancel", "POST", at={"job": other})
    _until(lambda: to.send("/jobs/{job}", "DELETE", at={"job": other}).is_success)


def _until(done: Callable[[], bool]) -> None:
    for _ in range(60):
        if done():
            return
        time.sleep(1)


def deciding(to: Recorder) -> None:
    """Review, proposals, documents and merges."""
    to.send("/review", params={"limit": 2})
    ids = [one["id"] for one in to.client.get("/review", params={"limit": 9}).json()["items"]]
    for path in ("/review/facets", "/review/groups", "/review/export"):
        to.send(path, params={"severity": "Warning"} if path != "/review/groups" else {"limit": 2})
    for at in ({"item": one} for one in ids):
        to.send("/review/{item}", at=at)
        if to.send("/review/{item}/suggestions", at=at).json()["suggestions"]:
            break
    at = {"item": ids[0]}
    why = {"reason": "another place of that name", "by": "Ada"}
    to.send("/review/{item}/comments", "POST", at=at, json={"text": "Compare with the old map.", "by": "Ada"})
    to.send("/review/assignments", "POST", json={"items": ids[:2], "assignee": "Ada"})
    to.send("/review/{item}/reject", "POST", at=at, json=why)
    to.send("/review/{item}/reopen", "POST", at=at, json=why)
    library = {"subject": f"{PLACE}guild-library"}
    kind = {**library, "predicate": TYPE, "object": {"type": "uri", "value": f"{URBAN}Library"}}
    name = {**library, "predicate": LABEL, "object": {"type": "literal", "value": "Guild Library"}}
    corrected = {"statements": [kind, name], **why}
    to.send("/review/{item}/accept", "POST", at={"item": ids[1]}, json=corrected)
    to.send("/review/decisions", "POST", json={"decision": "reject", "items": ids[2:4], **why})
    decision = to.send("/review/decisions", params={"limit": 2}).json()["decisions"][0]["id"]
    to.send("/review/decisions/{decision}/undo", "POST", at={"decision": decision}, json=why)
    to.send("/proposals", params={"limit": 2})
    to.send("/proposals/export", params={"status": "any"})
    proposal = to.send("/proposals", params={"status": "any"}).json()["proposals"][0]["id"]
    to.send("/proposals/{proposal}", at={"proposal": proposal})
    to.send("/proposals/{proposal}", "POST", at={"proposal": proposal}, json={"decision": "dismiss", **why})
    documents = to.send("/documents", params={"limit": 2}).json()["documents"]
    for one in ("quay-library", "the-quay-library"):
        insert = f'INSERT DATA {{ <{PLACE}{one}> a <{URBAN}Library> ; <{LABEL}> "{one}"@en }}'
        to.send("/update", "POST", content=insert, headers={"content-type": "application/sparql-update"})
    pair = {"keep": f"{PLACE}quay-library", "merge": f"{PLACE}the-quay-library", **why}
    to.send("/entities/merge", "POST", json=pair)
    merge = to.send("/entities/merges").json()["merges"][0]["id"]
    to.send("/entities/merges/{merge}/split", "POST", at={"merge": merge}, json=why)
    to.send("/documents/{document}", at={"document": documents[0]["id"]}, params={"limit": 2})
    to.send(
        "/documents/{document}", "DELETE", at={"document": documents[0]["id"]}, params={"reason": "withdrawn"}
    )


def asking(to: Recorder) -> None:
    """Questions, and queries that they became."""
    found = to.send("/ask", "POST", json={"question": "Which museums are in Manhattan?"}).json()
    to.send("/ask/run", "POST", json={"sparql": found["sparql"]})


def missing(to: Recorder) -> None:
    """What questions miss."""
    to.client.post("/ask", json={"question": "When did the Rope Museum open?"})
    gap = to.send("/gaps", params={"limit": 2}).json()["gaps"][0]["id"]
    at, why = {"gap": gap}, {"reason": "not asked about this city", "by": "Ada"}
    for act in ("complete", "verify"):
        to.send(f"/gaps/{{gap}}/{act}", "POST", at=at)
    to.send("/gaps/{gap}", at=at)
    to.send("/gaps/decisions", "POST", json={"decision": "reject", "items": [gap], **why})
    for act in ("reopen", "reject", "reopen"):
        to.send(f"/gaps/{{gap}}/{act}", "POST", at=at, json=why)
    to.send("/gaps/{gap}/accept", "POST", at=at, json={"value": "1907", "by": "Ada"})


def operating(to: Recorder) -> None:
    """Rules, loads and backups."""
    for path, name, text in (
        ("/shapes/{file}", "museums.ttl", SHAPE),
        ("/ontologies/{file}", "libraries.ttl", TERMS),
    ):
        at = {"file": name}
        to.send(path, "PUT", at=at, content=text, headers=TURTLE, timeout=300)
        to.send(path, at=at)
        to.send(path, "DELETE", at=at, timeout=300)
    old = next(one for one in to.send("/rules").json()["history"] if "museums.ttl" in one["files"])
    at = {"kind": old["kind"], "version": old["version"], "file": "museums.ttl"}
    to.send("/rules/{kind}/{version}/{file}", at=at)
    for path in ("/check", "/impact"):
        to.send(path, "POST", json={"shapes": {"museums.ttl": SHAPE}}, timeout=300)
    both = {"shapes": {"museums.ttl": SHAPE}, "ontology": {"libraries.ttl": TERMS}}
    to.send("/rules", "POST", json=both, params={"dry-run": "true"}, timeout=300)
    place = Path(f"/tmp/urbankg-example.{time.time_ns()}")
    place.mkdir()
    (place / "more.ttl").write_text(f'<{PLACE}quay-library> <{LABEL}> "Quay Library"@en .')
    to.send("/loads", "POST", json={"files": [str(place / "more.ttl")]})
    to.send("/backup", "POST", json={"folder": str(place / "backup")}, timeout=300)
    to.send("/optimize", "POST", timeout=300)


def looking_back(to: Recorder) -> None:
    """Verdicts and slow queries of the past."""
    years = [("opened", "1931"), ("closed", "1925")]
    statements = [
        {
            "subject": f"{PLACE}museum-of-modern-art",
            "predicate": f"{URBAN}{name}",
            "object": {
                "type": "literal",
                "value": year,
                "datatype": "http://www.w3.org/2001/XMLSchema#gYear",
            },
        }
        for name, year in years
    ]
    to.client.post("/candidates", json={"statements": statements, "source": "a leaflet"})
    to.send("/verdicts", params={"periods": 2})
    pairs = "SELECT (COUNT(*) AS ?pairs) WHERE { ?one ?p ?x . ?other ?q ?y }"
    to.client.post("/sparql", content=pairs, headers={"content-type": "application/sparql-query"})
    to.send("/queries/slow")


PARTS: Final = (queries, reading, texts, deciding, asking, operating, looking_back)


def _without_places(value: Any) -> Any:
    """Paths of this machine are replaced by one that explains itself."""
    text = json.dumps(value, ensure_ascii=False)
    text = re.sub(r"/tmp/urbankg-example\.\d+", "/srv/urbankg", text)
    text = re.sub(r'"(?:/[^/"]+)+/([^/"]+\.ttl)"', r'"/srv/urbankg/\1"', text)
    return json.loads(re.sub(r"http://(127\.0\.0\.1|localhost):\d+", "http://127.0.0.1:8000", text))


def record(url: str, parts: Sequence[Callable[[Recorder], None]]) -> Iterator[str]:
    """Record the examples, and write them; gives the operations that have none."""
    with httpx.Client(base_url=url, timeout=300, trust_env=False) as client:
        recorder = Recorder(client)
        try:
            for part in parts:
                part(recorder)
        finally:
            _keep(recorder.found)
    yield from (one.identifier for one in OPERATIONS.values() if one.identifier not in _known())


def _known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(EXAMPLES.read_text(encoding="utf-8")) if EXAMPLES.exists() else {}
    return found


def _keep(examples: dict[str, Any]) -> None:
    found = _known() | _without_places(examples)
    kept = {one.identifier: found[one.identifier] for one in OPERATIONS.values() if one.identifier in found}
    EXAMPLES.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    chosen = [part for part in (*PARTS, missing) if part.__name__ in sys.argv[2:]]
    for identifier in record(sys.argv[1], chosen or PARTS):
        print(f"no example of {identifier}", file=sys.stderr)
