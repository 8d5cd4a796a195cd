"""Queries that would never end, beside lookups: stopped in time, memory back, lookups hardly slower.

A real server process holds a generated graph. Each kind of runaway is sent again and again with `timeout=2`,
first one at a time, then all kinds at once, while one client in a process of its own looks up subjects.
The bars:

* ended: at most 0.5 s after the deadline, seen from the client, or by the end of the reader process where the
  client itself has stopped reading;
* memory: what server and readers hold afterwards is back to within 10 % (or 32 MB) of what they held before;
* lookups: their 95th percentile beside the runaways is at most 3 times that of the idle server.

Last, one client sends 200 cross joins at once, and while they run or wait, other clients send 128 short
queries at once, each client from an address of its own. The bar: none of these is refused.

Idle and beside are measured in turns, and each kind several times. Where others use the machine too, the best
of the turns says what the server does and the others what its neighbors do: the bar of the lookups is held
against the best turn, and the worst stands beside it. Exit code 1 when a bar is missed.

    python -m benchmarks.runaway --triples 200000
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit

import httpx

from tests.support.running_server import RunningServer

BASE = "http://example.org/runaway/"
TIMEOUT_S = 2.0
GRACE_S = 0.5
MOST_SLOWER = 3.0
MEMORY_SLACK = (1.1, 32 * 2**20)
SETTLE_S = 10.0
PER_ENTITY = 4
GREEDY = "greedy client"
GREEDY_QUERIES = 200
GREEDY_TIMEOUT_S = 30.0
SHORT_QUERIES = 128
OTHER_CLIENTS = 8
STALLED = "1M-row CONSTRUCT, client stops reading"
KINDS = {
    "COUNT over a product": "SELECT (COUNT(*) AS ?n) WHERE { ?a ?p ?b . ?c ?q ?d }",
    "ORDER BY over a product": (
        f"SELECT * WHERE {{ ?a <{BASE}label> ?x . ?b <{BASE}label> ?y }} ORDER BY ?y ?x"
    ),
    "regular expression over everything": (
        "SELECT (COUNT(*) AS ?n) WHERE { ?a ?p ?x . ?b ?q ?y "
        'FILTER(REGEX(CONCAT(STR(?x), STR(?y)), "(e+n*)+t+i.*[0-9]{3}z$", "i")) }'
    ),
    "deep property path": f"SELECT (COUNT(*) AS ?n) WHERE {{ ?a (<{BASE}next>|^<{BASE}next>)+ ?b }}",
    STALLED: (
        f"CONSTRUCT {{ ?a <{BASE}with> ?b }} WHERE {{ "
        f"{{ SELECT ?a WHERE {{ ?a <{BASE}label> ?x }} LIMIT 1000 }} "
        f"{{ SELECT ?b WHERE {{ ?b <{BASE}label> ?y }} LIMIT 1000 }} }}"
    ),
}


def write_graph(path: Path, triples: int) -> int:
    """Entities in one long chain, each with a label and a number, as N-Triples; how many there are."""
    entities = triples // PER_ENTITY
    with path.open("w") as file:
        for n in range(entities):
            name = f"<{BASE}entity/{n}>"
            file.write(
                f"{name} <{BASE}next> <{BASE}entity/{(n + 1) % entities}> .\n"
                f'{name} <{BASE}label> "entity number {n:06} of the chain" .\n'
                f'{name} <{BASE}number> "{n * 7919 % 1000}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
                f"{name} <{BASE}kind> <{BASE}kind/{n % 17}> .\n"
            )
    return entities


def look_up(url: str, entities: int) -> None:
    """The client of lookups, in a process of its own: milliseconds on stdout at the end of each turn.

    A line of stdin begins a turn and the next one ends it.
    """
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
    headers = {"content-type": "application/sparql-query"}
    number = 0
    while sys.stdin.readline():
        ended = threading.Event()
        threading.Thread(target=lambda turn=ended: (sys.stdin.readline(), turn.set()), daemon=True).start()
        taken = []
        while not ended.is_set():
            number = (number + 7919) % entities
            query = f"SELECT ?p ?o WHERE {{ <{BASE}entity/{number}> ?p ?o }}"
            started = time.perf_counter()
            connection.request("POST", "/sparql", query, headers)
            answer = connection.getresponse()
            body = answer.read()
            taken.append((time.perf_counter() - started) * 1000)
            assert answer.status == 200, body
        print(json.dumps(taken), flush=True)
        # One on which nothing is asked for some seconds is closed by the server; the next turn opens another.
        connection.close()


class Lookups:
    """The process that looks up, turned on and off."""

    def __init__(self, url: str, entities: int) -> None:
        command = [sys.executable, "-m", "benchmarks.runaway", "--look-up", url, str(entities)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def during(self, work: Callable[[], None]) -> list[float]:
        """The milliseconds of each lookup made while something else is done."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("begin\n")
        self._process.stdin.flush()
        work()
        self._process.stdin.write("end\n")
        self._process.stdin.flush()
        return list(json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=60)


def p95(milliseconds: list[float]) -> float:
    return sorted(milliseconds)[int(len(milliseconds) * 0.95)]


def children_of(pid: int) -> set[int]:
    """The processes that a process has started."""
    found: set[int] = set()
    for task in Path(f"/proc/{pid}/task").iterdir():
        found |= {int(one) for one in (task / "children").read_text().split()}
    return found


def resident(pid: int) -> int:
    """Bytes that a process and its children hold."""
    page, total = os.sysconf("SC_PAGE_SIZE"), 0
    for one in {pid} | children_of(pid):
        try:
            total += int(Path(f"/proc/{one}/statm").read_text().split()[1]) * page
        except OSError:
            continue
    return total


@dataclass
class Ends:
    """How runaways of one kind ended: seconds from sending them, and what the client received."""

    seconds: list[float] = field(default_factory=list)
    received: set[str] = field(default_factory=set)


def send_one(server: RunningServer, kind: str, ends: Ends) -> None:
    """One runaway, to its end."""
    if kind == STALLED:
        ends.received.add(stop_reading(server, KINDS[kind], ends))
        return
    started = time.monotonic()
    answer = httpx.post(
        server.url + "/sparql",
        params={"timeout": f"{TIMEOUT_S:g}"},
        content=KINDS[kind],
        headers={"content-type": "application/sparql-query"},
        timeout=60,
        trust_env=False,
    )
    ends.seconds.append(time.monotonic() - started)
    ends.received.add(str(answer.status_code))


def stop_reading(server: RunningServer, query: str, ends: Ends) -> str:
    """Send a query, read the head of its answer and no more; wait for the end of its reader.

    Which reader that is: of those there are, the one that is gone first. Returns how the answer ended:
    cut off, or by its status where there was no room for the query.
    """
    host = urlsplit(server.url)
    before = children_of(server.process.pid)
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65536)
        client.connect((host.hostname, host.port))
        parameters = urlencode({"query": query, "timeout": f"{TIMEOUT_S:g}"}, quote_via=quote)
        client.sendall(f"GET /sparql?{parameters} HTTP/1.1\r\nHost: {host.netloc}\r\n\r\n".encode())
        started = time.monotonic()
        head = client.recv(1000)
        if b" 200 " not in head:
            ends.seconds.append(time.monotonic() - started)
            return head.split()[1].decode()
        while before <= children_of(server.process.pid):
            if time.monotonic() - started > 30:
                return "NOT ENDED"
            time.sleep(0.01)
        ends.seconds.append(time.monotonic() - started)
        client.settimeout(30)
        rest = b""
        try:
            while piece := client.recv(65536):
                rest = (rest + piece)[-16:]
        except OSError:
            return "cut off"
        return "NOT ENDED" if rest.endswith(b"0\r\n\r\n") else "cut off"


@dataclass
class Row:
    """What one kind came to over its turns."""

    kind: str
    ends: Ends = field(default_factory=Ends)
    idle: list[float] = field(default_factory=list)
    beside: list[float] = field(default_factory=list)
    most: list[float] = field(default_factory=list)
    before: int = 0
    after: int = 0

    @property
    def ratios(self) -> list[float]:
        return sorted(beside / idle for idle, beside in zip(self.idle, self.beside, strict=True))

    def misses(self) -> list[str]:
        """The bars that are missed."""
        found = []
        if not self.ends.seconds or max(self.ends.seconds) > TIMEOUT_S + GRACE_S:
            found.append("ended late")
        if not self.ends.received <= {"504", "503", "cut off"}:
            found.append(f"received {', '.join(sorted(self.ends.received))}")
        if self.after > max(self.before * MEMORY_SLACK[0], self.before + MEMORY_SLACK[1]):
            found.append("memory not back")
        if self.ratios[0] > MOST_SLOWER:
            found.append("lookups slow")
        return found

    def __str__(self) -> str:
        best = min(range(len(self.idle)), key=lambda turn: self.beside[turn] / self.idle[turn])
        return (
            f"{self.kind:<40} {len(self.ends.seconds):>3} {max(self.ends.seconds, default=0):7.2f}  "
            f"{','.join(sorted(self.ends.received)):<12} "
            f"{self.before / 2**20:6.0f} {self.after / 2**20:6.0f}  "
            f"{self.idle[best]:7.2f} {self.beside[best]:7.2f} {max(self.most):8.1f}  "
            f"{self.ratios[0]:5.2f} {self.ratios[-1]:5.2f}  {'; '.join(self.misses()) or 'pass'}"
        )


HEAD = (
    f"{'kind':<40} {'n':>3} {'last/s':>7}  {'received':<12} {'MB':>6} {'after':>6}  {'p95 idle':>7} "
    f"{'beside':>6} {'max/ms':>8}  {'ratio':>5} {'worst':>5}  verdict"
)


def measure(
    server: RunningServer, lookups: Lookups, name: str, kinds: list[str], turns: int, each: int, before: int
) -> Row:
    """Idle and beside in turns; in each turn every kind runs `each` times, all kinds at the same time.

    `before` is what the server held at rest, in bytes, when all of its readers were there.
    """
    row = Row(name, before=before)

    def again_and_again(kind: str) -> None:
        for _ in range(each):
            send_one(server, kind, row.ends)

    def all_kinds() -> None:
        threads = [threading.Thread(target=again_and_again, args=(kind,)) for kind in kinds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    for _ in range(turns):
        row.idle.append(p95(lookups.during(lambda: time.sleep(2.0))))
        beside = lookups.during(all_kinds)
        row.beside.append(p95(beside))
        row.most.append(max(beside))
    deadline = time.monotonic() + SETTLE_S
    while True:
        row.after = resident(server.process.pid)
        if "memory not back" not in row.misses() or time.monotonic() > deadline:
            return row
        time.sleep(0.2)


@dataclass
class Crowd:
    """What many queries that were sent at the same time came to."""

    answers: Counter[str] = field(default_factory=Counter)
    taken: list[float] = field(default_factory=list)

    def ask(self, url: str, address: str, query: str, timeout_s: float) -> None:
        """Send a query from an address of this machine, to its end."""
        host = urlsplit(url)
        connection = http.client.HTTPConnection(host.netloc, timeout=120, source_address=(address, 0))
        headers = {"content-type": "application/sparql-query"}
        started = time.perf_counter()
        try:
            connection.request("POST", f"/sparql?timeout={timeout_s:g}", query, headers)
            answer = connection.getresponse()
            answer.read()
            outcome = str(answer.status)
        except (http.client.HTTPException, OSError) as error:
            outcome = type(error).__name__
        finally:
            connection.close()
        self.taken.append((time.perf_counter() - started) * 1000)
        self.answers[outcome] += 1

    def __str__(self) -> str:
        return ", ".join(f"{count} times {outcome}" for outcome, count in sorted(self.answers.items()))


def greedy_client(server: RunningServer) -> bool:
    """One client with endless queries beside others with short ones; whether the bar is met."""
    greedy, others = Crowd(), Crowd()
    cross_join = KINDS["COUNT over a product"]
    endless = [
        threading.Thread(target=greedy.ask, args=(server.url, "127.0.0.2", cross_join, GREEDY_TIMEOUT_S))
        for _ in range(GREEDY_QUERIES)
    ]
    for thread in endless:
        thread.start()
    queued = -1.0
    while queued < (queued := reading(server.url, "query_queue")):
        time.sleep(0.5)
    # No lookup of the kind that takes no reader.
    short = f"SELECT ?o WHERE {{ <{BASE}entity/%d> <{BASE}label> ?o }} ORDER BY ?o"

    kills = reading(server.url, "reader_kills_total")
    clients = [
        threading.Thread(
            target=others.ask,
            args=(server.url, f"127.0.0.{10 + number % OTHER_CLIENTS}", short % number, GREEDY_TIMEOUT_S),
        )
        for number in range(SHORT_QUERIES)
    ]
    for thread in clients:
        thread.start()
    for thread in clients:
        thread.join()
    refused = SHORT_QUERIES - others.answers["200"]
    print(
        f"one client with {GREEDY_QUERIES} cross joins, {queued:.0f} of them in the queue; {OTHER_CLIENTS} "
        f"others with {SHORT_QUERIES} short queries: {others}; {refused} refused, "
        f"median {sorted(others.taken)[SHORT_QUERIES // 2]:.0f} ms, p95 {p95(others.taken):.0f} ms, "
        f"max {max(others.taken):.0f} ms, "
        f"{reading(server.url, 'reader_kills_total') - kills:.0f} readers killed  "
        f"{'some were refused' if refused else 'pass'}",
        flush=True,
    )
    for thread in endless:
        thread.join()
    print(f"the greedy client: {greedy}", flush=True)
    return not refused


def reading(url: str, name: str) -> float:
    """What the server's metrics say of this."""
    metrics = httpx.get(url + "/metrics", timeout=60, trust_env=False).text
    return float(metrics.partition(f"\nurbankg_{name} ")[2].partition("\n")[0])


def main(arguments: list[str] | None = None) -> int:
    """Run all, print the table, 1 when a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--triples", type=int, default=200_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--each", type=int, default=2, help="runaways of a kind in one turn")
    parser.add_argument("--only", default="", help=f"kinds whose name holds this, or '{GREEDY}'")
    parser.add_argument("--look-up", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.look_up:
        look_up(options.look_up[0], int(options.look_up[1]))
        return 0
    with tempfile.TemporaryDirectory(prefix="urbankg-runaway-") as folder:
        file = Path(folder) / "graph.nt"
        entities = write_graph(file, options.triples)
        with RunningServer(Path(folder) / "data") as server:
            load = {"files": [str(file)], "bulk": True, "report": False}
            httpx.post(server.url + "/loads", json=load, timeout=600, trust_env=False).raise_for_status()
            lookups = Lookups(server.url, entities)
            lookups.during(lambda: time.sleep(3.0))
            busy = ", ".join(f"{one:.1f}" for one in os.getloadavg())
            print(
                f"{options.triples} triples, timeout {TIMEOUT_S:g} s, {os.cpu_count()} cores, load {busy} "
                f"(others run here too: the best of {options.turns} turns counts)\n{HEAD}",
                flush=True,
            )
            before = resident(server.process.pid)
            chosen = [kind for kind in KINDS if options.only in kind]
            rows = [(kind, [kind]) for kind in chosen]
            if len(chosen) > 1:
                rows.append((f"all {len(chosen)} kinds at once", chosen))
            missed = False
            for name, kinds in rows:
                row = measure(server, lookups, name, kinds, options.turns, options.each, before)
                print(row, flush=True)
                missed |= bool(row.misses())
            lookups.close()
            if options.only in GREEDY:
                missed |= not greedy_client(server)
    print("some bars are missed" if missed else "all bars are met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
