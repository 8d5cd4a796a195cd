"""Ontologies and shapes that others wrote: the gate beside pySHACL, and what they cost.

    python -m benchmarks.foreign_shapes --packages FOLDER [--changes N] [--only NAME] [--seed N]
        [--write FILE]

Each pair's ontology is committed to a store, then random changes that its shapes have much to say about. What
the gate finds in a change must be exactly what pySHACL finds in the whole graph after it and not before it,
by shape, focus node, path, value, component and severity. Then `urbankg check` of the pair, the start of a
server with it, and a PUT of its shapes with one changed rule as a dry run. Times are seconds by the clock
and, in brackets, of the processor. The table replaces the one of FILE. Ends with 1 where the two differ.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from shutil import copy
from tempfile import TemporaryDirectory

import httpx
from pyoxigraph import Quad, Triple

from benchmarks.serving.servers import free_port
from benchmarks.vocabularies.changes import RandomData
from benchmarks.vocabularies.pairs import PACKAGES, Pair, pairs
from benchmarks.vocabularies.reference import Reference, results_of_gate
from ontology import Schema
from ontology.adding import add
from shapes.gate.gate import ShapesGate
from shapes.loading import load_shapes
from sparql.model.source import Overlay
from sparql.storage.embedded_store import EmbeddedStore
from tests.support.processes import cpu_seconds
from tests.support.waiting import wait_until

_ADDED = 25
_COLUMNS = (
    *("pair", "triples", "changes", "pySHACL's results", "changes that differ"),
    *("`check`", "start", "ready to write", "dry run"),
)
HEAD = f"| {' | '.join(_COLUMNS)} |\n|{'---|' * len(_COLUMNS)}"
_SH = "http://www.w3.org/ns/shacl#"
_NAMED = f"\n<http://example.org/edit> a <{_SH}NodeShape> ; <{_SH}{{}}> {{}} ."


@dataclass(frozen=True, order=True)
class Cost:
    """Seconds by the clock, and of the processor."""

    wall: float = 0.0
    cpu: float = 0.0

    def __str__(self) -> str:
        return f"{self.wall:.1f} s ({self.cpu:.1f})"


class Meter:
    """The cost since it was made, of a process with its children; without one, of the children that ended."""

    def __init__(self, pid: int | None = None) -> None:
        self._pid = pid
        self._begun, self._used = time.monotonic(), self._cpu()

    def cost(self) -> Cost:
        """The cost until now."""
        return Cost(time.monotonic() - self._begun, self._cpu() - self._used)

    def _cpu(self) -> float:
        if self._pid is not None:
            return cpu_seconds(self._pid)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return used.ru_utime + used.ru_stime


@dataclass(frozen=True)
class Row:
    """What was found and measured for a pair."""

    name: str
    triples: int
    changes: int
    results: int
    different: tuple[str, ...]
    check: Cost
    start: Cost
    ready: Cost
    dry_run: Cost


def main() -> int:
    """Print the table and every difference; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packages", type=Path, required=True, help=f"folder with {', '.join(PACKAGES)}")
    parser.add_argument("--changes", type=int, default=5)
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--only", default="", help="a part of the name of the pairs to run")
    parser.add_argument("--write", type=Path, help="a Markdown file with such a table")
    arguments = parser.parse_args()
    rows = []
    load = os.getloadavg()[0]
    print(HEAD)
    for pair in pairs(arguments.packages):
        if arguments.only.lower() in pair.name.lower():
            rows.append(row(pair, arguments.changes, arguments.seed))
            print(line(rows[-1]), flush=True)
    for one in rows:
        for difference in one.different:
            print(f"{one.name}: {difference}")
    if arguments.write is not None:
        loads = sorted((load, os.getloadavg()[0]))
        write(arguments.write, rows, f"{date.today():%m-%d}, load {loads[0]:.0f} to {loads[1]:.0f}")
    return 1 if any(one.different for one in rows) else 0


def row(pair: Pair, changes: int, seed: int) -> Row:
    """All about one pair, in folders of its own."""
    with TemporaryDirectory(prefix="foreign-") as place:
        folder = Path(place)
        for name in ("ontology", "shapes"):
            (folder / name).mkdir()
        if pair.ontology:
            add([str(path) for path in pair.ontology], folder / "ontology", allow_empty=True)
        for path in pair.shapes:
            copy(path, folder / "shapes")
        schema = Schema.load(folder / "ontology")
        results, different = compare(folder, schema, changes, seed)
        checked = checking(folder)
        started, ready, dry_run = serving(folder)
        return Row(
            pair.name, len(schema.triples), changes, results, different, checked, started, ready, dry_run
        )


def compare(folder: Path, schema: Schema, changes: int, seed: int) -> tuple[int, tuple[str, ...]]:
    """How many results there were, and where gate and pySHACL differ."""
    rng = random.Random(seed)
    shapes = load_shapes(folder / "shapes")
    gate = ShapesGate(shapes)
    data = RandomData(shapes.graph, rng)
    store = EmbeddedStore()
    store.commit([Quad(*triple) for triple in schema.triples])
    reference = Reference(shapes.graph)
    before = reference.results(store)
    held: set[Triple] = set()
    results = 0
    different = []
    for number in range(changes):
        gone = frozenset(rng.sample(sorted(held, key=str), len(held) // 4))
        added = {one for one in data.draw(_ADDED) if not store.contains(Quad(*one))} - gone
        after = reference.results(Overlay(store, added, gone))
        found, wanted = results_of_gate(gate.judge(store, added, gone)), after - before
        results += len(wanted)
        if found != wanted:
            missed, many = sorted(wanted - found), sorted(found - wanted)
            different.append(f"change {number + 1}: missed {missed[:5]}; too many {many[:5]}")
        store.commit([Quad(*one) for one in added], [Quad(*one) for one in gone])
        held = (held | added) - gone
        before = after
    return results, tuple(different)


def checking(folder: Path) -> Cost:
    """The cost of `urbankg check`."""
    command = [sys.executable, "-m", "server", "check", *_folders(folder)]
    meter = Meter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
    return meter.cost()


def serving(folder: Path) -> tuple[Cost, Cost, Cost]:
    """The cost until the second start answers a query, until it takes a write, and of a dry run."""
    started = ready = dry_run = Cost()
    for turn in range(2):
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        command = [
            sys.executable,
            "-m",
            "server",
            "serve",
            "--data",
            str(folder / "data"),
            "--port",
            str(port),
        ]
        with (folder / "log").open("ab") as log:
            process = subprocess.Popen([*command, *_folders(folder)], stdout=log, stderr=log)
        meter = Meter(process.pid)
        try:
            wait_until(lambda url=url: _answers(f"{url}/sparql?query=ASK%7B%7D"))  # type: ignore[misc]
            started = meter.cost()
            wait_until(lambda url=url: _answers(f"{url}/readyz"))  # type: ignore[misc]
            ready = meter.cost()
            if turn:
                dry_run = _dry_run(folder, url, process.pid)
        finally:
            process.terminate()
            process.wait(timeout=60)
    return started, ready, dry_run


def _dry_run(folder: Path, url: str, pid: int) -> Cost:
    """The cheaper of two, once what the start opens in the background is there."""
    time.sleep(3)
    path = max((folder / "shapes").iterdir(), key=lambda path: path.stat().st_size)
    costs = []
    for predicate, value in (("nodeKind", "<http://www.w3.org/ns/shacl#IRI>"), ("minLength", "1")):
        target = "<http://www.w3.org/ns/shacl#targetClass> <http://example.org/Edited>"
        edited = path.read_bytes() + _NAMED.format(predicate, f"{value} ; {target}").encode()
        meter = Meter(pid)
        found = httpx.put(f"{url}/shapes/{path.name}?dry-run=true", content=edited, timeout=120)
        costs.append(meter.cost())
        if found.status_code >= 500:
            raise SystemExit(found.text)
    return min(costs, key=lambda cost: cost.cpu)


def _folders(folder: Path) -> list[str]:
    return ["--ontology", str(folder / "ontology"), "--shapes", str(folder / "shapes")]


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=60).is_success
    except httpx.TransportError:
        return False


def line(row: Row) -> str:
    """The row as Markdown."""
    return (
        f"| {row.name} | {row.triples:,} | {row.changes} | {row.results} | {len(row.different)} "
        f"| {row.check} | {row.start} | {row.ready} | {row.dry_run} |"
    )


def write(file: Path, rows: Sequence[Row], when: str) -> None:
    """Replace the table of a file, and the line before it, which says when and at which load."""
    text = file.read_text(encoding="utf-8")
    known = re.compile(r"Measured [^\n]*\n\n" + re.escape(HEAD) + r"(?:\n\|[^\n]*)*")
    table = "\n".join([HEAD, *map(line, rows)])
    text, found = known.subn(lambda _: f"Measured {when}.\n\n{table}", text)
    if found != 1:
        raise SystemExit(f"{file} has {found} such tables.")
    file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
