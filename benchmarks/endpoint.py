"""Our endpoint beside the `oxigraph` server, and Virtuoso with `--virtuoso`: python benchmarks/endpoint.py

All servers hold the same made-up city (a million statements unless `--triples` says otherwise) and answer the
same requests from `wrk`, in turns, on the same machine. Printed are answers per second (medians of the
rounds), the ratio to oxigraph, and the CPU time of the server per answer: on a busy machine the latter is
what can be compared. Then the first byte and the memory of large results, updates through the gate, and the
speed of queries over a store with all our system graphs against a plain one. Exit code 1: a bar is missed.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx
import pyoxigraph

sys.path.insert(0, str(Path(__file__).parent.parent))

from benchmarks.serving import data as city
from benchmarks.serving.load import Measured, Request, find_wrk, measure
from benchmarks.serving.processes import PeakMemory, load_average
from benchmarks.serving.servers import Server, start_oxigraph, start_urbankg, start_virtuoso


@dataclass(frozen=True)
class Workload:
    """A request, and the least ratio to oxigraph's throughput (`bar`) with so many clients."""

    name: str
    request: Request
    bar: float | None = None
    bar_clients: tuple[int, ...] = (1, 8)
    in_bytes: bool = False


def workloads(places: int) -> list[Workload]:
    """What is measured of reads."""
    small = city.THREE_HOPS.replace(
        f"?a <{city.E}district> <{city.E}district/%d>", f"<{city.E}place/%d> <{city.E}near> ?a"
    )
    return [
        Workload("lookup", Request(city.LOOKUP, places), 0.40, (8,)),
        Workload("3 hops from a place (36 rows)", Request(small, places)),
        Workload("3 hops from a district", Request(city.THREE_HOPS, city.DISTRICTS), 0.95),
        Workload("SELECT of 10,000 rows", Request(city.TEN_THOUSAND), 0.95),
        Workload("aggregate over all places", Request(city.AGGREGATE), 0.95),
        Workload(
            "CONSTRUCT of everything",
            Request(city.CONSTRUCT, accept="application/n-triples"),
            0.95,
            in_bytes=True,
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
    with tempfile.TemporaryDirectory(prefix="urbankg-endpoint-") as name:
        folder = Path(name)
        file = folder / "city.nt"
        places = city.write_city(file, options.triples)
        ours = start_urbankg(folder / "urbankg", file, *options.flags)
        peers = [start_oxigraph(folder / "oxigraph", file)]
        virtuoso = start_virtuoso(folder / "virtuoso", file) if options.virtuoso else None
        peers += [virtuoso] if virtuoso else []
        try:
            print(f"{options.triples:,} statements; load average {load_average()}")
            chosen = [one for one in workloads(places) if options.only in one.name]
            if chosen:
                failed += _throughput(chosen, ours, peers, options)
            if options.only in ("", "large results"):
                failed += _large_results(ours, peers)
            if options.only in ("", "updates"):
                failed += _updates(ours, peers[0], options)
        finally:
            for server in (ours, *peers):
                server.stop()
        if options.only in ("", "plain graph"):
            failed += _plain_graph(folder / "urbankg" / "graph", folder / "oxigraph", places)
    for bar in failed:
        print(f"MISSED: {bar}")
    return 1 if failed else 0


def _throughput(
    chosen: list[Workload], ours: Server, peers: list[Server], options: argparse.Namespace
) -> list[str]:
    names = [peer.name for peer in peers]
    print(f"\n{'':32}clients {'urbankg':>10}" + "".join(f"{name:>11}{'ratio':>7}" for name in names), end="")
    print("   bar   CPU us: " + " ".join(f"{one.name}" for one in (ours, *peers)))
    failed = []
    for one in chosen:
        for clients in options.clients:
            found = _in_turns([ours, *peers], one.request, clients, options)
            rates = [m.mb_per_second if one.in_bytes else m.per_second for m in found]
            # A round may be too short for a single answer.
            ratios = [rates[0] / rate if rate else math.inf for rate in rates[1:]]
            bar = one.bar if one.bar is not None and clients in one.bar_clients else None
            unit = " MB/s" if one.in_bytes else " /s"
            line = f"{one.name:32}{clients:>7} {rates[0]:>10,.1f}"
            line += "".join(
                f"{rate:>11,.1f}{ratio:>7.2f}" for rate, ratio in zip(rates[1:], ratios, strict=True)
            )
            cpu = " ".join(f"{m.cpu_us:,.0f}" for m in found)
            print(f"{line}{bar if bar else '':>6}   {cpu}{unit}", flush=True)
            if any(m.failures for m in found):
                failed.append(f"{one.name}, {clients} clients: failures {[m.failures for m in found]}")
            if bar is not None and ratios[0] < bar:
                failed.append(f"{one.name}, {clients} clients: {ratios[0]:.2f} of oxigraph, not {bar}")
    return failed


def _in_turns(
    servers: list[Server], request: Request, clients: int, options: argparse.Namespace
) -> list[Measured]:
    """The median round of each server; the rounds alternate, so that all meet the same machine."""
    rounds: list[list[Measured]] = [[] for _ in servers]
    for _ in range(options.rounds):
        for server, done in zip(servers, rounds, strict=True):
            url = server.update_url if request.update else server.query_url
            done.append(
                measure(
                    url,
                    request,
                    clients=clients,
                    seconds=options.seconds,
                    pid=server.process.pid,
                    parameters={} if request.update else server.parameters,
                )
            )
    return [sorted(done, key=lambda m: m.mb_per_second)[len(done) // 2] for done in rounds]


def _large_results(ours: Server, peers: list[Server]) -> list[str]:
    head = f"{'large results, one client':32}{'first byte, ms':>16}{'whole, s':>10}"
    print(f"\n{head}{'memory over idle, MB':>22}")
    failed = []
    construct_memory: dict[str, float] = {}
    for server in (ours, *peers):
        for name, query, accept in (
            ("SELECT", city.EVERYTHING, "text/tab-separated-values"),
            ("CONSTRUCT", city.CONSTRUCT, "application/n-triples"),
        ):
            first, whole, memory = _stream(server, query, accept)
            print(
                f"{server.name + ' ' + name:32}{first * 1000:>16.0f}{whole:>10.1f}{memory:>22.0f}", flush=True
            )
            if name == "CONSTRUCT":
                construct_memory[server.name] = memory
            elif server is ours:
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


def _updates(ours: Server, oxigraph: Server, options: argparse.Namespace) -> list[str]:
    print("\nsingle-statement updates, gate on, neither synced to the disk")
    failed = []
    for clients in options.clients:
        found = _in_turns([ours, oxigraph], UPDATE, clients, options)
        ratio = found[0].per_second / found[1].per_second
        rates = " ".join(f"{m.per_second:,.0f}/s" for m in found)
        print(f"{clients} clients: {rates} ratio {ratio:.2f}, CPU us {[round(m.cpu_us) for m in found]}")
        if clients == 8 and ratio < 0.2:
            failed.append(f"updates at 8 clients: {ratio:.2f} of oxigraph, not .2")
        if any(m.failures for m in found):
            failed.append(f"updates: failures {[m.failures for m in found]}")
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
    parser.add_argument("--seconds", type=float, default=5, help="of each round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--only", default="", help=_ONLY)
    parser.add_argument("--virtuoso", action="store_true", help="compare Virtuoso, too")
    parser.add_argument("--flags", nargs="*", default=[], help="more flags for our server")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
