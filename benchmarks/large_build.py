"""A large build: thousands of documents as one job on an empty folder, and the graph that comes of it.

The documents are composed (`benchmarks/building`): every fact that they state is known. A recorded model in a
process of its own replies to them, with a wrong statement in a share of its replies; with `--model embedded`
the embedded model reads them, one sentence each. Printed are the throughput by tenths of the job, the memory
of the server, the size of its files, CPU time, what became of the statements, tokens and their price, the
graph in numbers, and which of its statements are true. Exit code 1 when a document is lost or doubled.

    python -m benchmarks.large_build --documents 10000
    python -m benchmarks.large_build --documents 500 --model embedded
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any, Final

from pyoxigraph import RdfFormat, Triple, parse

from benchmarks.building.composing import Country, compose
from benchmarks.building.graph import BuiltGraph, single_valued, stated
from benchmarks.building.replies import Reply, replies, write_replies
from benchmarks.jobs import Server, recorded_model
from ontology.schema import Schema
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from tests.support.processes import cpu_seconds, load_average, resident_mb

_EXTRACTED: Final = "https://w3id.org/urbankg/graph/extracted"
_SAMPLE_S: Final = 1.0
_PAGE: Final = 1000
_EXAMPLES: Final = 5
_GROUPS: Final = 12


@dataclass(frozen=True)
class Moment:
    """The job and its server at a time: seconds, documents that are done, MB of memory, CPU seconds."""

    at: float
    done: int
    memory_mb: float
    cpu_s: float


@dataclass
class Watch:
    """Reads a job and its server every second while it runs."""

    server: Server
    job: str
    begin: float = field(default_factory=time.monotonic)
    moments: list[Moment] = field(default_factory=list)

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Read while the block runs, and once more at its end."""
        over = Event()
        thread = Thread(target=self._watch, args=(over,))
        self._read()
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._read()

    def _watch(self, over: Event) -> None:
        while not over.wait(_SAMPLE_S):
            self._read()

    def _read(self) -> None:
        documents = self.server.get(f"/jobs/{self.job}").json()["documents"]
        done = sum(
            count for state, count in documents.items() if state not in ("pending", "extracting", "extracted")
        )
        pid = self.server.process.pid
        self.moments.append(Moment(time.monotonic() - self.begin, done, resident_mb(pid), cpu_seconds(pid)))

    @property
    def seconds(self) -> float:
        """From the posting to the last document."""
        return self.moments[-1].at

    def rates(self, parts: int = 10) -> list[float]:
        """Documents a second in each tenth of the documents."""
        whole = self.moments[-1].done
        times = [self._when(whole * n / parts) for n in range(parts + 1)]
        return [whole / parts / max(1e-6, b - a) for a, b in pairwise(times)]

    def _when(self, done: float) -> float:
        """When so many documents were done, between two readings in proportion."""
        before = self.moments[0]
        for moment in self.moments:
            if moment.done >= done:
                share = (done - before.done) / max(1, moment.done - before.done)
                return before.at + share * (moment.at - before.at)
            before = moment
        return before.at

    def memory(self) -> tuple[float, float, float]:
        """At the start, in the middle of the documents, and at the end."""
        half = self.moments[-1].done / 2
        middle = next(one for one in self.moments if one.done >= half)
        return self.moments[0].memory_mb, middle.memory_mb, self.moments[-1].memory_mb


def documents_of(server: Server, job: str) -> list[dict[str, Any]]:
    """What became of each document."""
    found: list[dict[str, Any]] = []
    while True:
        page = server.get(f"/jobs/{job}/documents", offset=str(len(found)), limit=str(_PAGE)).json()
        found += page["documents"]
        if not page["documents"] or len(found) >= page["total"]:
            return found


def lost_and_doubled(server: Server, rows: Sequence[dict[str, Any]], count: int) -> list[str]:
    """What is wrong with the documents of the graph, in words."""
    times: dict[str, int] = {}
    while True:
        page = server.get("/documents", offset=str(len(times)), limit=str(_PAGE)).json()
        times |= {one["id"]: one["times"] for one in page["documents"]}
        if not page["documents"] or len(times) >= page["total"]:
            break
    committed = {row["document"] for row in rows if row["state"] == "committed"}
    lost = count - len(committed & set(times)) - sum(row["state"] != "committed" for row in rows)
    doubled = sum(number != 1 for number in times.values()) + len(set(times) - committed)
    print(f"documents lost: {lost}; doubled: {doubled}")
    problems = [f"{lost} documents are lost"] if lost else []
    problems += [f"{doubled} documents are doubled"] if doubled else []
    others = Counter(row["state"] for row in rows if row["state"] != "committed")
    problems += [f"{number} documents are {state}" for state, number in others.items()]
    return problems


def extracted(server: Server) -> list[Triple]:
    """The statements that documents support."""
    text = server.get("/dump", format="ntriples", graph=_EXTRACTED).content
    return [quad.triple for quad in parse(text, format=RdfFormat.N_TRIPLES)]


def print_pace(watch: Watch) -> None:
    """Throughput, memory and CPU time."""
    done, rates = watch.moments[-1].done, watch.rates()
    cpu = watch.moments[-1].cpu_s - watch.moments[0].cpu_s
    start, middle, end = watch.memory()
    print(f"{done} documents in {watch.seconds:.0f} s: {done / watch.seconds:.2f}/s; load {load_average()}")
    print(f"documents/s by tenths: {' '.join(f'{rate:.2f}' for rate in rates)}")
    print(f"CPU time of the server and its processes: {1000 * cpu / max(1, done):.0f} ms a document")
    print(
        f"memory of the server and its processes: {start:.0f} MB at the start, {middle:.0f} in the middle, "
        f"{end:.0f} at the end, {max(one.memory_mb for one in watch.moments):.0f} at most"
    )


def print_tokens(server: Server, count: int, price_in: float, price_out: float) -> None:
    """What was sent to the model and came back, and what it would cost."""
    usage = server.get("/models").json()["usage"]
    tokens_in, tokens_out = usage["prompt_tokens"], usage["completion_tokens"]
    cost = (tokens_in * price_in + tokens_out * price_out) / 1e6
    print(
        f"tokens: {tokens_in:,} in, {tokens_out:,} out; at {price_in} and {price_out} a million: {cost:.2f} "
        f"({1000 * cost / max(1, count):.3f} a thousand documents)"
    )


def print_statements(server: Server, rows: Sequence[dict[str, Any]]) -> None:
    """What became of the statements, and what waits for a person."""
    sums = {name: sum(row[name] or 0 for row in rows) for name in ("accepted", "refused", "warned")}
    print(f"statements: {', '.join(f'{count} {name}' for name, count in sums.items())}")
    page = server.get("/review/groups", limit=str(_GROUPS)).json()
    print(
        f"waiting in review: {sum(one['items'] for one in page['groups'])} items of the most frequent "
        f"{len(page['groups'])} of {page['total']} causes:"
    )
    for group in page["groups"]:
        cause, path = (str(group[name] or "").rpartition("#")[2] for name in ("component", "path"))
        print(f"  {group['items']} {cause} {path}: {group['example']}")


def print_size(data: Path) -> None:
    """The size of the folder, by its parts; files that several have (hard links) count once."""
    seen: set[int] = set()
    sizes: Counter[str] = Counter()
    for file in sorted(data.rglob("*")):
        state = file.stat()
        if file.is_file() and state.st_ino not in seen:
            seen.add(state.st_ino)
            sizes[file.relative_to(data).parts[0]] += state.st_size
    parts = ", ".join(f"{name} {size / 2**20:.1f}" for name, size in sizes.most_common(6))
    print(f"files: {sizes.total() / 2**20:.1f} MB ({parts})")


def print_graph(graph: BuiltGraph, single: frozenset[Any], country: Country) -> None:
    """The graph in numbers."""
    print(f"graph: {len(graph.triples)} statements about {len(graph.things)} things")
    print(f"classes: {_counted(graph.classes())}")
    print(f"properties: {_counted(graph.properties())}")
    print(f"things without a label: {graph.unnamed()}; without a class: {graph.unclassified()}")
    two = graph.with_two_values(single)
    print(f"things with two values of a property that has one: {len(two)} {two[:_EXAMPLES]}")
    names = graph.duplicates()
    apart = {name for name in names if name in {one.casefold() for one in country.namesakes}}
    print(
        f"names that several things have: {len(names)}; of {len(country.namesakes)} names that two places in "
        f"two cities have, kept apart: {len(apart)}; others: {sorted(set(names) - apart)[:_EXAMPLES]}"
    )
    print(f"RCC8 relations: {graph.relations_of_geometries()}")


def print_truth(graph: BuiltGraph, country: Country, said: Sequence[Reply]) -> None:
    """How much of the graph is true, and how much of what the texts state is in it."""
    truth = graph.judge(country)
    facts = stated(country.facts)
    print(
        f"true: {truth.right} relations and {truth.kinds_right} kinds; false: {len(truth.wrong)} and "
        f"{len(truth.kinds_wrong)}; precision {truth.precision:.4f}"
    )
    print(f"of {len(facts)} facts that the texts state, {len(facts & truth.found)} are in the graph "
          f"({len(facts & truth.found) / max(1, len(facts)):.3f})")  # fmt: skip
    for name, false in (("relations", truth.wrong), ("kinds", truth.kinds_wrong)):
        print(f"false {name}: {_counted(Counter(relation for _, relation, _ in false))} {false[:_EXAMPLES]}")
    missed = Counter(relation for _, relation, _ in facts - truth.found)
    print(f"missed: {_counted(missed)}")
    if said:
        wrong = stated(one.wrong for one in said if one.wrong is not None) - facts
        entered = len(wrong & truth.found)
        print(f"wrong statements of the recorded model: {len(wrong)}, of which in the graph: {entered}")


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.most_common()) or "none"


def build(folder: Path, options: argparse.Namespace) -> list[str]:
    """Post the job, wait for its end, print everything; what is wrong, in words."""
    embedded = options.model == "embedded"
    documents, country = compose(
        options.documents, sentences=(1,) if embedded else (1, 2, 2, 3), seed=options.seed
    )
    said = [] if embedded else list(replies(documents, errors=options.errors))
    with ExitStack() as stack:
        url = None
        if not embedded:
            file = folder / "replies.jsonl"
            write_replies(said, file)
            url = stack.enter_context(recorded_model(options.delay, options.at_once, file))
        server = Server(folder / "data", url)
        stack.callback(server.stop)
        job = server.post([one.text for one in documents])
        watch = Watch(server, job)
        with watch.watching():
            states = server.finished(job)
        print(f"{options.model} model: {states}")
        print_pace(watch)
        rows = documents_of(server, job)
        print_statements(server, rows)
        print_tokens(server, len(documents), options.price_in, options.price_out)
        print_size(folder / "data")
        schema = Schema.load(SHIPPED_ONTOLOGY)
        graph = BuiltGraph(extracted(server), schema)
        print_graph(graph, single_valued(schema, SHIPPED_SHAPES), country)
        print_truth(graph, country, said)
        return lost_and_doubled(server, rows, len(documents))


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, print what was found; 1 when a document is lost, doubled or failed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--model", choices=("recorded", "embedded"), default="recorded")
    parser.add_argument(
        "--errors", type=float, default=0.05, help="share of recorded replies with a wrong statement"
    )
    parser.add_argument("--delay", type=float, default=0.05, help="seconds that a recorded reply takes")
    parser.add_argument("--at-once", type=int, default=8, help="recorded replies at a time")
    parser.add_argument("--price-in", type=float, default=0.2, help="of a million tokens in")
    parser.add_argument("--price-out", type=float, default=0.6, help="of a million tokens out")
    parser.add_argument("--seed", type=int, default=11, help="of the documents")
    parser.add_argument("--folder", type=Path, help="an empty folder to keep what was built")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="urbankg-build-") as name:
        problems = build(options.folder or Path(name), options)
    for problem in problems:
        print(f"FAILED: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
