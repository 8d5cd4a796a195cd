"""Our endpoint beside the `oxigraph` server, and Virtuoso with `--virtuoso`: python -m benchmarks.endpoint

All servers hold the same made-up city (a million statements unless `--triples` says otherwise) and answer the
same requests from `wrk`, one after the other, on the same machine, in several short rounds. With `--gzip`,
each read is measured again from clients that accept gzip; with `--before`, the code of another checkout is
measured, too. Each round starts the servers anew and in another order (Virtuoso goes on): one process of
a server may be half again as fast as the next, and each has a second of a request before it is measured.
Printed are answers per second, the ratio to the others and between which of the rounds' ratios it lies, and
the CPU time of the server per answer: medians of the rounds. Then the first byte and the memory of large
results, updates through the gate, and the speed of queries over a store with all our system graphs against a
plain one. Some fifteen minutes. Exit code 1: a bar is missed by the median.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import httpx
import pyoxigraph

from benchmarks.serving import data as city
from benchmarks.serving.load import Request, find_wrk
from benchmarks.serving.rounds import Open, Task, compare, fresh, in_words
from benchmarks.serving.servers import Server, start_oxigraph, start_urbankg, start_virtuoso
from tests.support.processes import PeakMemory, load_average


@dataclass(frozen=True)
class Workload:
    """A request, and the least ratio to oxigraph's throughput (`bar`) with so many clients.

    It is measured `length` times as long as the shortest.
    """

    name: str
    request: Request
    bar: float | None = None
    bar_clients: tuple[int, ...] = (1, 8)
    in_bytes: bool = False
    length: int = 1


def workloads(places: int) -> list[Workload]:
    """What is measured of reads."""
    small = city.THREE_HOPS.replace(
        f"?a <{city.E}district> <{city.E}district/%d>", f"<{city.E}place/%d> <{city.E}near> ?a"
    )
    return [
        Workload("lookup", Request(city.LOOKUP, places), 0.25, (8,)),
        Workload("3 hops from a place (36 rows)", Request(small, places)),
        Workload("3 hops from a district", Request(city.THREE_HOPS, city.DISTRICTS), 0.95, length=2),
        Workload("SELECT of 10,000 rows", Request(city.TEN_THOUSAND), 0.95, length=2),
        # Eight clients wait two seconds and more for each.
        Workload("aggregate over all places", Request(city.AGGREGATE), 0.95, length=12),
        Workload(
            "CONSTRUCT of everything",
            Request(city.CONSTRUCT, accept="application/n-triples"),
            0.95,
            in_bytes=True,
            # An answer takes seven seconds and more, and its beginning is not as quick as the rest.
            length=8,
        ),
    ]


_ONLY = "reads whose name holds this, or one part: large results, updates, plain graph"
UPDATE = Request(
    f'INSERT DATA {{ <{city.E}new/%d> <{city.E}note> "one statement" }}', update=True, accept="*/*"
)


def main() -> int:
    """Run everything and print it."""
    options = _options()
    find_wrk()
    failed: list[str] = []
    with tempfile.TemporaryDirectory(prefix="urbankg-endpoint-") as name, ExitStack() as stack:
        folder = Path(name)
        file = folder / "city.nt"
        places = city.write_city(file, options.triples)
        start_ours = partial(start_urbankg, folder / "urbankg", None, *options.flags)
        start_peer = partial(start_oxigraph, folder / "oxigraph", None)
        start_urbankg(folder / "urbankg", file).stop()
        start_oxigraph(folder / "oxigraph", file).stop()
        opens: dict[str, Open] = {
            "urbankg": lambda: fresh(start_ours),
            "oxigraph": lambda: fresh(start_peer),
        }
        if options.before:
            # With a folder of its own, since its format may have changed since.
            earlier = {"checkout": options.before.resolve(), "name": "before"}
            start_urbankg(folder / "before", file, **earlier).stop()
            start_before = partial(start_urbankg, folder / "before", None, **earlier)
            opens["before"] = lambda: fresh(start_before)
        virtuoso = start_virtuoso(folder / "virtuoso", file) if options.virtuoso else None
        if virtuoso:
            stack.callback(virtuoso.stop)
            opens["virtuoso"] = lambda: nullcontext(virtuoso)
        print(f"{options.triples:,} statements; load average {load_average()}", flush=True)
        chosen = [one for one in workloads(places) if options.only in one.name]
        if chosen:
            failed += _throughput(chosen, opens, options)
        if options.only in ("", "large results"):
            failed += _large_results(list(opens.values()))
        # Before the updates, of which each store takes as many as it can.
        if options.only in ("", "plain graph"):
            failed += _plain_graph(folder / "urbankg" / "graph", folder / "oxigraph", places)
        if options.only in ("", "updates"):
            failed += _updates([opens["urbankg"], opens["oxigraph"]], options)
    for bar in failed:
        print(f"MISSED: {bar}")
    return 1 if failed else 0


def _throughput(chosen: list[Workload], opens: dict[str, Open], options: argparse.Namespace) -> list[str]:
    tasks = [
        (one, Task(replace(one.request, gzip=gzip), clients, one.length * options.seconds, one.in_bytes))
        for one in chosen
        for clients in options.clients
        for gzip in ((False, True) if options.gzip else (False,))
    ]
    found = compare(
        list(opens.values()), [task for _, task in tasks], options.rounds, warm_with=city.THREE_HOPS % 0
    )
    names = list(opens)
    print(f"\n{'':32}clients {'gzip':4} {names[0]:>10}", end="")
    print("".join(f"{name:>11}  {'ratio (of rounds)':<18}" for name in names[1:]), end="")
    print(f"  bar   CPU us: {' '.join(names)}")
    failed = []
    for (one, task), compared in zip(tasks, found, strict=True):
        bar = one.bar if task.clients in one.bar_clients else None
        accepted = "yes" if task.request.gzip else "no"
        line = f"{one.name:32}{task.clients:>7} {accepted:4} {compared.rate(0):>10,.1f}"
        for place in range(1, len(names)):
            line += f"{compared.rate(place):>11,.1f}  {in_words(compared.ratios(place)):<18}"
        cpu = " ".join(f"{compared.cpu_us(place):,.0f}" for place in range(len(names)))
        print(f"{line}{bar or '':>5}   {cpu}{' MB/s' if one.in_bytes else ' /s'}", flush=True)
        what = f"{one.name}, {task.clients} clients" + (" with gzip" if task.request.gzip else "")
        if any(compared.failures()):
            failed.append(f"{what}: failures {compared.failures()}")
        if bar is not None and statistics.median(compared.ratios(1)) < bar:
            failed.append(f"{what}: {in_words(compared.ratios(1))} of oxigraph, not {bar}")
    return failed


def _large_results(opens: list[Open]) -> list[str]:
    head = f"{'large results, one client':32}{'first byte, ms':>16}{'whole, s':>10}"
    print(f"\n{head}{'memory over idle, MB':>22}")
    failed = []
    construct_memory: dict[str, float] = {}
    for open_ in opens:
        with open_() as server:
            for name, query, accept in (
                ("SELECT", city.EVERYTHING, "text/tab-separated-values"),
                ("CONSTRUCT", city.CONSTRUCT, "application/n-triples"),
            ):
                first, whole, memory = _stream(server, query, accept)
                figures = f"{first * 1000:>16.0f}{whole:>10.1f}{memory:>22.0f}"
                print(f"{server.name + ' ' + name:32}{figures}", flush=True)
                if name == "CONSTRUCT":
                    construct_memory[server.name] = memory
                elif open_ is opens[0]:
                    failed += [f"first byte after {first * 1000:.0f} ms, not 150"] if first > 0.15 else []
                    failed += [f"{memory:.0f} MB for a large SELECT, not 64"] if memory > 64 else []
    if construct_memory["urbankg"] > construct_memory["oxigraph"] * 1.02:
        failed.append("CONSTRUCT of everything takes more memory than oxigraph's")
    return failed


def _stream(server: Server, query: str, accept: str) -> tuple[float, float, float]:
    """First byte (best of three, s), whole time (s) and memory over idle (MB) of one streamed answer."""
    firsts = []
    parameters = {"query": query, **server.parameters}
    with httpx.Client(timeout=600) as client:
        for last in (False, False, True):
            with PeakMemory(server.process.pid) as memory:
                began = time.perf_counter()
                with client.stream(
                    "GET", server.query_url, params=parameters, headers={"Accept": accept}
                ) as answer:
                    pieces = answer.iter_raw()
                    next(pieces)
                    firsts.append(time.perf_counter() - began)
                    if last:
                        for _ in pieces:
                            pass
                whole = time.perf_counter() - began
    return min(firsts), whole, memory.peak - memory.idle


def _updates(opens: list[Open], options: argparse.Namespace) -> list[str]:
    print("\nsingle-statement updates, gate on, neither synced to the disk")
    failed = []
    tasks = [Task(UPDATE, clients, options.seconds) for clients in options.clients]
    for compared in compare(opens, tasks, options.rounds, warm_with=city.THREE_HOPS % 0):
        clients, ratios = compared.task.clients, compared.ratios(1)
        rates = " ".join(f"{compared.rate(place):,.0f}/s" for place in (0, 1))
        cpu = [round(compared.cpu_us(place)) for place in (0, 1)]
        print(f"{clients} clients: {rates} ratio {in_words(ratios)}, CPU us {cpu}", flush=True)
        if clients == 8 and statistics.median(ratios) < 0.2:
            failed.append(f"updates at 8 clients: {in_words(ratios)} of oxigraph, not .2")
        if any(compared.failures()):
            failed.append(f"updates: failures {compared.failures()}")
    return failed


def _plain_graph(ours: Path, plain: Path, places: int) -> list[str]:
    """Queries in this process over our store, with its system graphs, and over a plain one."""
    print(
        "\nthe default graph beside others, CPU time against a plain graph's (1.1 is the most; below 1: less)"
    )
    stores = [pyoxigraph.Store.read_only(str(path)) for path in (ours, plain)]
    failed = []
    for name, texts in (
        ("lookup", [city.LOOKUP % (number * 7919 % places) for number in range(2000)]),
        ("3 hops", [city.THREE_HOPS % number for number in range(20)]),
        ("aggregate", [city.AGGREGATE]),
        ("scan", [city.TEN_THOUSAND]),
    ):
        ratios = []
        for _ in range(5):
            ours_s, plain_s = (_cpu_seconds(store, texts) for store in stores)
            ratios.append(ours_s / plain_s)
        ratio = statistics.median(ratios)
        print(f"{name:12}{ratio:.2f}")
        if ratio > 1.1:
            failed.append(f"{name} over our store takes {ratio:.2f} of a plain graph's time")
    return failed


def _cpu_seconds(store: pyoxigraph.Store, texts: list[str]) -> float:
    began = time.process_time()
    for text in texts:
        for _ in store.query(text):  # type: ignore[union-attr]
            pass
    return time.process_time() - began


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=1, help="of the shortest kind of request in a round")
    parser.add_argument("--rounds", type=int, default=5, help="with servers that are started anew")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--gzip", action="store_true", help="measure each read with gzip accepted as well")
    parser.add_argument("--only", default="", help=_ONLY)
    parser.add_argument("--virtuoso", action="store_true", help="compare Virtuoso, too")
    parser.add_argument("--before", type=Path, help="a checkout of an earlier commit to compare, too")
    parser.add_argument("--flags", nargs="*", default=[], help="more flags for our server")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
