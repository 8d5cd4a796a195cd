"""What the gate costs, and that it does not grow with the store.

    python -m benchmarks.gate [--sizes 10000,100000,1000000] [--large] [--whole 2000] [--candidates 100000]

For each size a store on the disk is filled with made-up museums by the bulk loader and compacted, as `urbankg
load --bulk` does (`--large`: also one of 10,000,000 triples, which takes minutes, 3 GB of disk and 3 GB of
memory). Then batches of 50 statements (ten new museums, one of them impossible) and one of 5,000 are judged
by both engines, attribution included, and the impossible is taken out. The same is done by pySHACL over a
whole store of `--whole` triples, as one would without a gate that knows changes. Last, `--candidates`
statements go in batches of 50 from 8 clients through a served gate (terms, shapes, relations, provenance,
commit), and as plain INSERT DATA into the same server without ontology and shapes. Prints milliseconds
(medians; in brackets those of the process alone, which other work on the machine does not change) and ratios
of one run.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import rdflib
from pyoxigraph import Literal, NamedNode, Quad, Triple
from pyshacl import validate

from benchmarks.w3c.server_process import running_server
from ontology import Schema
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from shapes.engine.reference import DataGraph
from shapes.gate.gate import EngineName, ShapesGate
from shapes.loading import ShapesFiles, load_shapes
from sparql.model.change import Delta, Statement
from sparql.model.source import Overlay
from sparql.model.vocabulary import GEO, RDF, RDFS, XSD, Namespace
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.counting_source import CountingSource

EX = Namespace("http://example.org/")
SF = Namespace("http://www.opengis.net/ont/sf#")
URBAN = Namespace("https://w3id.org/urbankg/urban#")
PER_MUSEUM = 5
BATCHES = 15
ENGINES: tuple[EngineName, ...] = ("compiled", "pyshacl")
CLIENTS = 8
LONG = 1_000_000
"""Stores of this size say how long they took to load."""


def museum(number: int) -> list[Triple]:
    """Five statements about a museum; one in ten says that it closed before it opened."""
    iri = EX.term(f"museum-{number}")
    closed = 1800 if number % 10 == 0 else 1990
    return [
        Triple(iri, RDF.type, URBAN.Museum),
        Triple(iri, RDFS.label, Literal(f"Museum {number}", language="en")),
        Triple(iri, URBAN.locatedIn, EX.city),
        Triple(iri, URBAN.opened, Literal("1900", datatype=XSD.gYear)),
        Triple(iri, URBAN.closed, Literal(str(closed), datatype=XSD.gYear)),
    ]


def city() -> list[Triple]:
    """The city that every museum lies in."""
    border = "POLYGON((-74.2 40.5,-73.7 40.5,-73.7 40.9,-74.2 40.9,-74.2 40.5))"
    return [
        Triple(EX.city, RDF.type, URBAN.City),
        Triple(EX.city, RDFS.label, Literal("City", language="en")),
        Triple(EX.city, GEO.hasDefaultGeometry, EX.border),
        Triple(EX.border, RDF.type, SF.Polygon),
        Triple(EX.border, GEO.asWKT, Literal(border, datatype=GEO.wktLiteral)),
    ]


def quads_of(schema: Schema, size: int) -> Iterator[Quad]:
    """About `size` triples about museums, after those of the ontology."""
    for triple in (*schema.triples, *city()):
        yield Quad(*triple)
    for number in range(size // PER_MUSEUM):
        for triple in museum(number * 10 + 1):
            yield Quad(*triple)


def filled(schema: Schema, size: int, folder: Path) -> EmbeddedStore:
    """A store of about `size` triples beside the ontology, on the disk."""
    began = time.perf_counter()
    store = EmbeddedStore(folder)
    store.graph.bulk_extend(quads_of(schema, size))
    loaded = time.perf_counter()
    store.optimize()
    if size >= LONG:
        compacted = time.perf_counter() - loaded
        print(f"loaded {size} triples in {loaded - began:.0f} s, compacted in {compacted:.0f} s", flush=True)
    return store


def judged(gate: ShapesGate, source: CountingSource, first: int, museums: int) -> tuple[float, float, int]:
    """Milliseconds, those of this process alone, and statements refused, for one batch."""
    numbers = range(first, first + museums)
    statements = tuple(Statement(triple) for number in numbers for triple in museum(number))
    began, own = time.perf_counter(), time.process_time()
    _, rejected, *_ = gate.select(source, statements, frozenset(), lambda a, r: Delta(), partial=True)
    return (time.perf_counter() - began) * 1000, (time.process_time() - own) * 1000, len(rejected)


def print_sizes(files: ShapesFiles, schema: Schema, sizes: list[int]) -> dict[tuple[str, int], float]:
    """A row per size and engine; the median milliseconds of a batch of 50, of this process."""
    gates = {name: ShapesGate(files, name, derives_from=lambda triple: False) for name in ENGINES}
    medians: dict[tuple[str, int], float] = {}
    names = f"{'triples':>9} {'engine':>9} {'50 ms':>16} {'read':>6} {'refused':>8}"
    print(f"{names} {'5,000 ms':>18} {'refused':>8}")
    for size in sizes:
        with TemporaryDirectory(prefix="gate-") as folder:
            store = filled(schema, size, Path(folder))
            for name, gate in gates.items():
                source = CountingSource(store)
                judged(gate, source, 100_000_000, 10)
                source.read = 0
                runs = [judged(gate, source, 100_000_010 + 10 * batch, 10) for batch in range(BATCHES)]
                wall, own = (statistics.median(run[column] for run in runs) for column in (0, 1))
                medians[name, size] = own
                read = source.read // BATCHES
                row = f"{size:>9} {name:>9} {wall:>8.1f} ({own:>5.1f}) {read:>6} {runs[0][2]:>8}"
                if name == "compiled" or size == sizes[0]:
                    large = judged(gate, source, 200_000_000, 1000)
                    row += f" {large[0]:>9.0f} ({large[1]:>6.0f}) {large[2]:>8}"
                print(row, flush=True)
            del store, source
    for name in ENGINES:
        for size in sizes[1:]:
            growth = medians[name, size] / medians[name, sizes[0]]
            print(f"{name}: {growth:.2f} times as long at {size} triples as at {sizes[0]}")
    return medians


def print_whole(files: ShapesFiles, schema: Schema, size: int) -> None:
    """The ratio to pySHACL over everything, with one batch added."""
    store = EmbeddedStore()
    store.graph.bulk_extend(quads_of(schema, size))
    added = [triple for number in range(200_000_000, 200_000_010) for triple in museum(number)]
    copy = rdflib.Graph()
    for triple in DataGraph(Overlay(store, added)).triples((None, None, None)):
        copy.add(triple)
    own = time.process_time()
    validate(copy, shacl_graph=files.graph, inplace=True)
    whole = (time.process_time() - own) * 1000
    for name in ENGINES:
        gate = ShapesGate(files, name, derives_from=lambda triple: False)
        runs = [judged(gate, CountingSource(store), 100_000_000 + 10 * b, 10)[1] for b in range(BATCHES)]
        mine = statistics.median(runs)
        figures = f"{whole / mine:.0f} times {name}'s {mine:.1f}"
        print(f"{size} triples, pySHACL over the whole: {whole:.0f} ms, {figures}")


def candidate_batches(statements: int) -> list[list[Triple]]:
    """Batches of 50: six museums with geometry, one with a name only."""
    batches = []
    for number in range(statements // 50):
        batch: list[Triple] = []
        for place in range(6):
            key = number * 10 + place
            iri, point = EX.term(f"museum-{key}"), EX.term(f"point-{key}")
            wkt = f"POINT({-74.15 + key % 400 / 1000:.4f} {40.55 + key // 400 / 1000:.4f})"
            batch += museum(key)
            batch += [
                Triple(iri, GEO.hasDefaultGeometry, point),
                Triple(point, RDF.type, SF.Point),
                Triple(point, GEO.asWKT, Literal(wkt, datatype=GEO.wktLiteral)),
            ]
        batch += museum(number * 10 + 6)[:2]
        batches.append(batch)
    return batches


def as_json(triple: Triple) -> dict[str, object]:
    """A statement as `POST /candidates` takes it."""
    value = triple.object
    if isinstance(value, NamedNode):
        term = {"type": "uri", "value": value.value}
    else:
        assert isinstance(value, Literal)
        term = {"type": "literal", "value": value.value}
        term |= {"xml:lang": value.language} if value.language else {"datatype": value.datatype.value}
    subject = triple.subject
    assert isinstance(subject, NamedNode)
    return {
        "subject": subject.value,
        "predicate": triple.predicate.value,
        "object": term,
        "confidence": 0.9,
    }


def posted(url: str, path: str, kind: str, bodies: list[bytes]) -> tuple[float, int]:
    """Seconds that 8 clients take to post these bodies, and how many statements were refused."""
    left, lock, refused = iter(bodies), threading.Lock(), [0] * CLIENTS
    failures: list[str] = []

    def client(number: int) -> None:
        connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        while True:
            with lock:
                body = next(left, None)
            if body is None:
                return
            connection.request("POST", path, body, {"Content-Type": kind})
            answer = connection.getresponse()
            verdict = json.loads(answer.read() or b"{}")
            if answer.status >= 300:
                failures.append(f"{path} answered {answer.status}: {verdict}")
                return
            refused[number] += len(verdict.get("rejected", ()))

    threads = [threading.Thread(target=client, args=(number,)) for number in range(CLIENTS)]
    began = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise SystemExit(failures[0])
    return time.perf_counter() - began, sum(refused)


def print_candidates(statements: int) -> None:
    """Statements a second through everything, beside plain INSERT DATA of the same."""
    batches = candidate_batches(statements)
    candidates = [json.dumps({"statements": [as_json(t) for t in batch]}).encode() for batch in batches]
    inserts = [("INSERT DATA {" + " .\n".join(map(str, batch)) + "}").encode() for batch in batches]
    start = ("INSERT DATA {" + " .\n".join(map(str, city())) + "}").encode()
    rates, own = {}, {}
    for gated in (False, True):
        with (
            TemporaryDirectory(prefix="gate-") as folder,
            running_server(Path(folder), gated=gated) as server,
        ):
            update = "application/sparql-update"
            posted(server.url, "/update", update, [start])
            began = server.cpu_s()
            if gated:
                seconds, refused = posted(server.url, "/candidates", "application/json", candidates)
            else:
                seconds, refused = posted(server.url, "/update", update, inserts)
            rates[gated] = 50 * len(batches) / seconds
            own[gated] = server.cpu_s() - began
            name = "gated candidates" if gated else "INSERT DATA, no gate"
            figures = f"{rates[gated]:>8.0f} statements/s, {refused} refused"
            print(f"{name:>22}: {figures}; {own[gated]:.1f} s of the server's own time", flush=True)
    ratio = own[False] / own[True]
    print(f"ratio: {rates[True] / rates[False]:.2f}; by the servers' own time {ratio:.2f}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000,1000000")
    parser.add_argument("--large", action="store_true", help="10,000,000 triples too")
    parser.add_argument(
        "--whole", type=int, default=2_000, help="triples for pySHACL over everything; 0: none"
    )
    parser.add_argument("--candidates", type=int, default=100_000, help="statements to post; 0: none")
    arguments = parser.parse_args()
    files, schema = load_shapes(SHIPPED_SHAPES), Schema.load(SHIPPED_ONTOLOGY)
    sizes = [int(part) for part in arguments.sizes.split(",") if part]
    if arguments.large:
        sizes.append(10_000_000)
    if sizes:
        print_sizes(files, schema, sizes)
    if arguments.whole:
        print_whole(files, schema, arguments.whole)
    if arguments.candidates:
        print_candidates(arguments.candidates)


if __name__ == "__main__":
    main()
