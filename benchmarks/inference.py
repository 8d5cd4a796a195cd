"""Time and memory of inferring everything anew: `make inference`.

A graph of things with one class each, in chains of ten by a transitive property with an inverse, in a store
on disk. Each size is measured in a process of its own, so that its peak of memory is its own.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from pyoxigraph import Literal, NamedNode, Quad

from sparql.inference.materialized import Inferences
from sparql.model.vocabulary import ASSERTED, DEFAULT, OWL, RDF, RDFS, Namespace
from sparql.storage.embedded_store import EmbeddedStore

EX = Namespace("http://example.org/")
CHAIN = 10
"""Things in a chain; 36 of the statements between them follow, and 45 the other way round."""


def statements(things: int) -> Iterator[tuple[NamedNode, NamedNode, NamedNode | Literal]]:
    """The axioms, and what is said of each thing."""
    yield EX.Lower, RDFS.subClassOf, EX.Upper
    yield EX.within, RDF.type, OWL.TransitiveProperty
    yield EX.contains, OWL.inverseOf, EX.within
    for number in range(things):
        thing = EX.term(f"thing{number:08}")
        yield thing, RDF.type, EX.Lower
        yield thing, RDFS.label, Literal(f"Thing {number}")
        if number % CHAIN:
            yield thing, EX.within, EX.term(f"thing{number - 1:08}")


def measure(things: int) -> dict[str, float]:
    """Infer everything about so many things; seconds, and the growth of the process in MiB."""
    with tempfile.TemporaryDirectory() as folder:
        store = EmbeddedStore(Path(folder) / "graph")
        store.bulk_add(Quad(*triple, graph) for triple in statements(things) for graph in (DEFAULT, ASSERTED))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        inferred = Inferences(store, 1).infer_all()
        seconds = time.perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        store.close()
    return {"things": things, "inferred": inferred, "seconds": seconds, "mib": (after - before) / 1024}


def main() -> None:
    """Measure each size in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--things", type=int, nargs="+", default=[12_000, 110_000])
    parser.add_argument("--one", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one is not None:
        print(json.dumps(measure(arguments.one)))
        return
    for things in arguments.things:
        command = [sys.executable, "-m", "benchmarks.inference", "--one", str(things)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"{found['things']:,} things: {found['inferred']:,} inferred in {found['seconds']:.0f} s, "
            f"{found['inferred'] / found['seconds']:,.0f} a second; memory grew by {found['mib']:.0f} MiB"
        )


if __name__ == "__main__":
    main()
