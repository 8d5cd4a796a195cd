"""Ten clients of a soak: each sends one kind of request again and again, and takes away what it added."""

from __future__ import annotations

import json
import random
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from benchmarks.soaking.record import Record
from tests.support.recorded.frames import text_about

URBAN = "https://w3id.org/urbankg/urban#"
LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
GEO = "http://www.opengis.net/ont/geosparql#"
BASE = "http://example.org/soak/"
FEATURES = "https://w3id.org/urbankg/id/soakmuseum-"
_TIMEOUT_S = 120.0
_KEPT_DOCUMENTS = 10
"""So many documents of a client stay before the oldest goes."""
_LOADED = 20

COUNTER = f"INSERT DATA {{ <{BASE}counter> <{BASE}value> 0 }}"
MAPPING = f"""
[prefixes]
urban = "{URBAN}"

[[layers]]
iri = "soakmuseum-{{gid}}"
class = "urban:Museum"
label = "name"
language = "en"
"""


class Client:
    """One client: a connection of its own, and where it notes what it got."""

    def __init__(self, url: str, record: Record, seed: int, folder: Path) -> None:
        self._http = httpx.Client(base_url=url, timeout=_TIMEOUT_S, trust_env=False)
        self._record = record
        self._documents: deque[str] = deque()
        self.folder = folder
        self.chance = random.Random(seed)
        self.number = 1_000_000 * seed

    def next(self) -> int:
        """A number that no request had before."""
        self.number += 1
        return self.number

    def send(self, kind: str, method: str, path: str, **arguments: Any) -> httpx.Response | None:
        """The answer; None, with the failure noted, where it is none of success."""
        begin = time.monotonic()
        try:
            answer = self._http.request(method, path, **arguments)
        except httpx.HTTPError as error:
            self._record.fail(f"{kind}: {error!r}")
            return None
        self._record.answered(kind, time.monotonic() - begin)
        if not answer.is_success:
            self._record.fail(f"{kind}: {answer.status_code} {answer.text[:300]}")
            return None
        return answer

    def query(self, kind: str, text: str) -> None:
        """Send a query."""
        self.send(kind, "GET", "/sparql", params={"query": text})

    def update(self, kind: str, text: str) -> None:
        """Send an update."""
        self.send(
            kind, "POST", "/update", content=text, headers={"content-type": "application/sparql-update"}
        )

    def stored(self, answer: httpx.Response | None, source: str) -> None:
        """A document came in; the oldest that is kept goes when there are many."""
        if answer is not None:
            self._documents.append(source)
        while len(self._documents) > _KEPT_DOCUMENTS:
            self.remove_oldest()

    def remove_oldest(self) -> None:
        """Take the oldest document back."""
        found = self.send("documents", "GET", "/documents", params={"source": self._documents.popleft()})
        for document in found.json()["documents"] if found is not None else ():
            self.send("removals", "DELETE", f"/documents/{document['id']}")

    def leave(self) -> None:
        """Take back what is left, and hang up."""
        while self._documents:
            self.remove_oldest()
        self._http.close()


Turn = Callable[[Client], None]


def look_up(client: Client) -> None:
    """Everything about one thing: one of the sample city, or one that is not there."""
    name = client.chance.choice(("park-central-park", "borough-bronx", f"nothing-{client.next()}"))
    client.query("lookup", f"SELECT * {{ <https://w3id.org/urbankg/id/{name}> ?p ?o }}")


def join(client: Client) -> None:
    """Two to four patterns, with words that no query had before; some of them by place."""
    near = (
        f"?s <{GEO}hasGeometry>/<{GEO}asWKT> ?w FILTER(<http://www.opengis.net/def/function/geosparql/sfWithin>"
        f'(?w, "POLYGON((-74.1 40.6,-73.9 40.6,-73.9 40.{client.next() % 1000 + 7000},-74.1 40.6))"'
        f"^^<{GEO}wktLiteral>))"
    )
    other = f'?s <{URBAN}locatedIn> ?in . ?in <{LABEL}> ?name FILTER(?name != "none {client.next()}")'
    more = client.chance.choice((near, other))
    client.query("join", f"SELECT * {{ ?s a <{URBAN}Museum> ; <{LABEL}> ?l . {more} }} ORDER BY ?l LIMIT 20")


def update_by_pattern(client: Client) -> None:
    """A value of one subject in place of another."""
    subject, value = f"<{BASE}counter>", f"<{BASE}value>"
    client.update(
        "update",
        f"DELETE {{ {subject} {value} ?n }} INSERT {{ {subject} {value} {client.next()} }} "
        f"WHERE {{ OPTIONAL {{ {subject} {value} ?n }} }}",
    )


def submit(client: Client) -> None:
    """A museum with its text and evidence."""
    number = client.next()
    name = f"Soak Museum {number}"
    text = f"{name} is a museum in New York City. " + text_about(client.chance)
    about = f"{BASE}museum-{number}"
    quote = {"start": 0, "end": len(name), "quote": name}
    body = {
        "source": f"soak {number}",
        "text": text,
        "statements": [
            _statement(
                about, TYPE, {"type": "uri", "value": f"{URBAN}Museum"}, evidence=quote, confidence=0.9
            ),
            _statement(about, LABEL, {"type": "literal", "value": name, "xml:lang": "en"}, evidence=quote),
        ],
    }
    client.stored(client.send("candidates", "POST", "/candidates", json=body), f"soak {number}")


def extract(client: Client) -> None:
    """A text for the recorded model."""
    source = f"soak text {client.next()}"
    body = {"text": text_about(client.chance, sentences=3), "source": source}
    client.stored(client.send("extraction", "POST", "/extractions", json=body), source)


def decide(client: Client) -> None:
    """A statement that the gate refuses, and the decision that it stays out."""
    number = client.next()
    about = f"{BASE}refused-{number}"
    body = {
        "source": f"soak {number}",
        "statements": [_statement(about, f"{URBAN}population", {"type": "literal", "value": "many"})],
    }
    answer = client.send("refused", "POST", "/candidates", json=body)
    found = client.send("review", "GET", "/review", params={"entity": about})
    for item in found.json()["items"] if found is not None else ():
        client.send("decision", "POST", f"/review/{item['id']}/reject", json={"reason": "soak", "by": "soak"})
    client.stored(answer, f"soak {number}")


def reload(client: Client) -> None:
    """A shapes file that was never there, and its end."""
    name, number = f"/shapes/soak-{client.number % 2}.ttl", client.next()
    text = (
        f"@prefix sh: <http://www.w3.org/ns/shacl#> .\n<{BASE}shape> a sh:NodeShape ;\n"
        f"  sh:targetClass <{URBAN}Museum> ; sh:property <{BASE}length> .\n"
        f'<{BASE}length> sh:path <{LABEL}> ; sh:maxLength {number} ; sh:message "Too long."@en .\n'
    )
    if client.send("reload", "PUT", name, content=text, headers={"content-type": "text/turtle"}) is not None:
        client.send("reload", "DELETE", name)


def ask(client: Client) -> None:
    """A question, which the recorded model plans."""
    question = f"How many museums are in the Bronx and have number {client.next()}?"
    client.send("ask", "POST", "/ask", json={"question": question})


def load(client: Client) -> None:
    """A file of points, in place of the one before."""
    path = client.folder / "soak.geojson"
    begin = client.next() * _LOADED
    rows = [
        {
            "type": "Feature",
            "geometry": {"type": "Point", "coordinates": [-74 + client.chance.random() / 9, 40.7]},
            "properties": {"gid": number, "name": f"Loaded Museum {number}"},
        }
        for number in range(begin, begin + _LOADED)
    ]
    path.write_text(json.dumps({"type": "FeatureCollection", "features": rows}))
    body = {"files": [str(path)], "mapping": str(client.folder / "soak.toml")}
    client.send("load", "POST", "/loads", json=body)
    client.update(
        "unload",
        "DELETE { ?s ?p ?o . ?g ?q ?x . ?other ?r ?s } "
        f"WHERE {{ ?s ?p ?o FILTER(STRSTARTS(STR(?s), '{FEATURES}')) "
        f"OPTIONAL {{ ?s <{GEO}hasDefaultGeometry> ?g . ?g ?q ?x }} OPTIONAL {{ ?other ?r ?s }} }}",
    )


@dataclass(frozen=True)
class Role:
    """What a client does, and how many seconds it rests after each turn."""

    name: str
    turn: Turn
    rest_s: float


ROLES = (
    Role("lookups", look_up, 0.02),
    Role("more lookups", look_up, 0.02),
    Role("joins", join, 0.1),
    Role("pattern updates", update_by_pattern, 0.1),
    Role("candidates", submit, 0.1),
    Role("extractions", extract, 0.2),
    Role("review", decide, 0.2),
    Role("shapes", reload, 5.0),
    Role("questions", ask, 0.3),
    Role("features", load, 2.0),
)


class Clients:
    """All clients, each on a thread of its own, until `stop`."""

    def __init__(
        self, url: str, record: Record, folder: Path, roles: tuple[Role, ...] = ROLES, seed: int = 1
    ) -> None:
        """With other seeds clients send other values."""
        (folder / "soak.toml").write_text(MAPPING)
        self._over = threading.Event()
        self._record = record
        self._threads = [
            threading.Thread(
                target=self._run, args=(role, Client(url, record, number, folder)), name=role.name
            )
            for number, role in enumerate(roles, seed)
        ]
        for thread in self._threads:
            thread.start()

    def _run(self, role: Role, client: Client) -> None:
        try:
            while not self._over.is_set():
                role.turn(client)
                self._over.wait(role.rest_s)
            client.leave()
        except Exception as error:
            self._record.fail(f"{role.name}: {error!r}")
            raise

    def stop(self) -> None:
        """Let each finish, and take back what it added."""
        self._over.set()
        for thread in self._threads:
            thread.join()


def _statement(subject: str, predicate: str, value: Mapping[str, str], **more: object) -> dict[str, object]:
    return {"subject": subject, "predicate": predicate, "object": value, **more}
