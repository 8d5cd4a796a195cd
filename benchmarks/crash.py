"""kill -9 under mixed writes: nothing acknowledged is lost, nothing is torn, the server is back quickly.

Each cycle starts a real server on the same folder, lets several clients write through every route that
changes the graph (candidates, updates, the graph store, bulk loads), kills it at a random moment, starts it
again and counts. A batch is a subject of its own with a known number of triples: all or none may be there.
At the end clients increment one counter together through /update. Exit code 1 when anything fails.

    python -m benchmarks.crash --cycles 30
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from statistics import median

import httpx

BASE = "http://example.org/crash/"
REOPENED = "http://example.org/reopened"
PART = f"<{BASE}part>"
TRIPLES_A_BATCH = 12
TRIPLES_A_BULK = 3000
URBAN = "https://w3id.org/urbankg/urban#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
RDFS_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
SKOS_ALT = "http://www.w3.org/2004/02/skos/core#altLabel"
COUNT = (
    "SELECT ?s (COUNT(*) AS ?n) WHERE { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } "
    f'FILTER(STRSTARTS(STR(?s), "{BASE}")) }} GROUP BY ?s'
)
COUNTER = f"<{BASE}counter>"
VALUE = f"<{BASE}value>"
INCREMENT = (
    f"DELETE {{ {COUNTER} {VALUE} ?n }} INSERT {{ {COUNTER} {VALUE} ?m }} "
    f"WHERE {{ {COUNTER} {VALUE} ?n BIND(?n + 1 AS ?m) }}"
)


class Server:
    """A server process on a folder.

    `seconds` is how long it took from its start until it said that it is ready, answered a query through a
    reader and acknowledged a write, all three; `cpu_s` what that took of processors, readers included.
    """

    def __init__(self, data: Path, *flags: str) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("URBANKG_")}
        environment["URBANKG_LOG_LEVEL"] = "warning"
        environment |= dict(flag.split("=", 1) for flag in flags)
        self.data = data
        self.log = data.parent / "server.log"
        (data / "server.json").unlink(missing_ok=True)
        # Made before: it takes as long as a tenth of a start.
        self._client = httpx.Client(timeout=60, trust_env=False)
        started = time.monotonic()
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "server", "serve", "--data", str(data), "--port", "0"],
                stdout=log,
                stderr=log,
                env=environment,
                cwd=Path(__file__).parent.parent,
            )
        self.url = self._wait()
        self.seconds = time.monotonic() - started
        self.cpu_s = processor_seconds(self.process.pid)
        self._client.close()

    def _wait(self) -> str:
        deadline = time.monotonic() + 600
        while time.monotonic() < deadline:
            if self.process.poll() is not None:
                raise SystemExit(f"the server ended: {self.log.read_text()[-3000:]}")
            try:
                url = str(json.loads((self.data / "server.json").read_text())["url"])
                if self._answers(url):
                    return url
            except (OSError, ValueError, httpx.HTTPError):
                pass
            time.sleep(0.01)
        raise SystemExit(f"the server did not come up: {self.log.read_text()[-3000:]}")

    def _answers(self, url: str) -> bool:
        """Whether it says that it is ready, answers a query and takes a write."""
        ready = self._client.get(url + "/readyz")
        if not ready.is_success:
            return False
        query = {"query": "SELECT * WHERE { ?s ?p ?o } LIMIT 1"}
        found = self._client.get(url + "/sparql", params=query)
        if not found.is_success or len(found.json()["results"]["bindings"]) != 1:
            return False
        update = f"INSERT DATA {{ <{REOPENED}> <{REOPENED}> {time.time_ns()} }}"
        headers = {"content-type": "application/sparql-update"}
        took = self._client.post(url + "/update", content=update, headers=headers)
        return took.is_success

    def kill(self) -> None:
        """kill -9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """SIGTERM; the exit code."""
        self.process.terminate()
        return self.process.wait(timeout=120)


def processor_seconds(pid: int) -> float:
    """What a process and its children have taken of processors so far (Linux; 0 elsewhere)."""
    fields: dict[int, list[str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields[int(stat.parent.name)] = stat.read_text().rpartition(") ")[2].split()
    family = [pid, *(one for one, found in fields.items() if int(found[1]) == pid)]
    ticks = sum(int(one) for member in family for one in fields.get(member, [])[11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


@dataclass
class Ledger:
    """What was sent and what was acknowledged: the number of triples of each batch, by its subject."""

    sent: dict[str, int] = field(default_factory=dict)
    acknowledged: dict[str, int] = field(default_factory=dict)
    by_route: dict[str, int] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)
    routes: int = 1
    writing: threading.Event = field(default_factory=threading.Event)
    """Set when a batch of each of so many routes has been acknowledged in this cycle."""

    def write(self, route: str, subject: str, triples: int, send: Callable[[], httpx.Response]) -> bool:
        """Send a batch and note what became of it; False when the server is gone."""
        with self.lock:
            self.sent[subject] = triples
        try:
            response = send()
        except httpx.HTTPError:
            return False
        with self.lock:
            if response.is_success and not _rejected(response):
                self.acknowledged[subject] = triples
                self.by_route[route] = self.by_route.get(route, 0) + 1
                if len(self.by_route) == self.routes:
                    self.writing.set()
            else:
                self.refused.append(f"{route} {response.status_code} {response.text[:300]}")
        return True


def _rejected(response: httpx.Response) -> bool:
    if "json" not in response.headers.get("content-type", ""):
        return False
    found = response.json()
    return isinstance(found, dict) and bool(found.get("rejected"))


def turtle(subject: str, triples: int) -> str:
    """A batch that extraction may state: a kind, a name, and other names."""
    lines = [
        f"<{subject}> <{RDF_TYPE}> <{URBAN}Museum> .",
        f'<{subject}> <{RDFS_LABEL}> "{subject[-12:]}"@en .',
    ]
    lines += [f'<{subject}> <{SKOS_ALT}> "{subject[-12:]} {n}"@en .' for n in range(triples - 2)]
    return "\n".join(lines)


def parts(subject: str, triples: int) -> str:
    """A batch of any other route."""
    return "\n".join(f"<{subject}> {PART} {n} ." for n in range(triples))


def writers(url: str, folder: Path) -> dict[str, Callable[[httpx.Client, str], httpx.Response]]:
    """How to send the batch of a subject through each route that this server has."""
    paths = httpx.get(url + "/openapi.json", timeout=120, trust_env=False).json().get("paths", {})

    def candidates(client: httpx.Client, subject: str) -> httpx.Response:
        return client.post(
            "/candidates",
            content=turtle(subject, TRIPLES_A_BATCH),
            headers={"content-type": "text/turtle"},
        )

    def update(client: httpx.Client, subject: str) -> httpx.Response:
        text = f"INSERT DATA {{ {parts(subject, TRIPLES_A_BATCH)} }}"
        return client.post("/update", content=text, headers={"content-type": "application/sparql-update"})

    def store(client: httpx.Client, subject: str) -> httpx.Response:
        return client.post(
            "/store",
            params={"graph": BASE + "graph"},
            content=parts(subject, TRIPLES_A_BATCH),
            headers={"content-type": "text/turtle"},
        )

    def bulk(client: httpx.Client, subject: str) -> httpx.Response:
        path = folder / (subject.rpartition("/")[2] + ".ttl")
        path.write_text(parts(subject, TRIPLES_A_BULK))
        return client.post("/loads", json={"files": [str(path)], "bulk": True, "report": False})

    known = {"/candidates": candidates, "/update": update, "/store": store, "/loads": bulk}
    return {path: send for path, send in known.items() if path in paths}


def write_until_killed(
    url: str,
    route: str,
    send: Callable[[httpx.Client, str], httpx.Response],
    cycle: int,
    client_number: int,
    ledger: Ledger,
) -> None:
    """One client: a batch after the other."""
    triples = TRIPLES_A_BULK if route == "/loads" else TRIPLES_A_BATCH
    with httpx.Client(base_url=url, timeout=120, trust_env=False) as client:
        number = 0
        going = True
        while going:
            subject = f"{BASE}{route.strip('/')}-{cycle}-{client_number}-{number}"
            going = ledger.write(route, subject, triples, partial(send, client, subject))
            number += 1


def found_in(server: Server) -> dict[str, int]:
    """The number of triples of each batch that is there."""
    answer = httpx.post(
        server.url + "/sparql",
        content=COUNT,
        headers={"content-type": "application/sparql-query"},
        params={"timeout": "120"},
        timeout=180,
        trust_env=False,
    )
    answer.raise_for_status()
    rows = answer.json()["results"]["bindings"]
    return {row["s"]["value"]: int(row["n"]["value"]) for row in rows if "s" in row}


def increments(server: Server, clients: int, each: int) -> int:
    """Let clients increment one counter at the same time; its value afterwards."""
    kind = {"content-type": "application/sparql-update"}
    httpx.post(
        server.url + "/update",
        content=f"INSERT DATA {{ {COUNTER} {VALUE} 0 }}",
        headers=kind,
        trust_env=False,
        timeout=120,
    ).raise_for_status()

    def client_work() -> None:
        with httpx.Client(base_url=server.url, timeout=300, trust_env=False) as client:
            for _ in range(each):
                client.post("/update", content=INCREMENT, headers=kind).raise_for_status()

    threads = [threading.Thread(target=client_work) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    answer = httpx.get(
        server.url + "/sparql",
        params={"query": f"SELECT ?n WHERE {{ {COUNTER} {VALUE} ?n }}"},
        trust_env=False,
        timeout=120,
    )
    rows = answer.json()["results"]["bindings"]
    return int(rows[0]["n"]["value"]) if len(rows) == 1 else -1


@dataclass(frozen=True)
class Cycle:
    """What one kill came to."""

    number: int
    acknowledged: dict[str, int]
    reopened_s: float
    cpu_s: float
    lost: int
    torn: int

    def __str__(self) -> str:
        routes = "  ".join(f"{route} {count:>5}" for route, count in sorted(self.acknowledged.items()))
        outcome = f"lost {self.lost}  torn {self.torn}"
        reopened = f"reopened {self.reopened_s:5.2f} s (processors {self.cpu_s:5.2f} s)"
        return f"{self.number:>5}  {routes}  {reopened}  {outcome}"


def run(
    folder: Path, cycles: int, clients: int, busy_s: tuple[float, float], flags: tuple[str, ...], seed: int
) -> list[Cycle]:
    """All cycles on one folder that grows; each is printed as it ends."""
    chance = random.Random(seed)
    data, files = folder / "data", folder / "files"
    data.mkdir(parents=True)
    files.mkdir()
    ledger = Ledger()
    done: list[Cycle] = []
    server = Server(data, *flags)
    try:
        for number in range(1, cycles + 1):
            ledger.by_route.clear()
            ledger.writing.clear()
            sending = writers(server.url, files)
            ledger.routes = len(sending)
            threads = [
                threading.Thread(
                    target=write_until_killed, args=(server.url, route, send, number, client, ledger)
                )
                for route, send in sending.items()
                for client in range(1 if route == "/loads" else clients)
            ]
            for thread in threads:
                thread.start()
            # Some routes wait for what is opened last: the time to write begins when all of them do.
            if not ledger.writing.wait(120):
                raise SystemExit(f"not every route took a write: {server.log.read_text()[-3000:]}")
            time.sleep(chance.uniform(*busy_s))
            server.kill()
            for thread in threads:
                thread.join()
            server = Server(data, *flags)
            found = found_in(server)
            lost = [name for name, count in ledger.acknowledged.items() if found.get(name, 0) < count]
            torn = [name for name, count in found.items() if count != ledger.sent.get(name, count)]
            done.append(
                Cycle(number, dict(ledger.by_route), server.seconds, server.cpu_s, len(lost), len(torn))
            )
            print(done[-1], flush=True)
            for what, names in (("lost", lost), ("torn", torn)):
                for name in names[:5]:
                    print(f"       {what}: {name}: {found.get(name, 0)} of {ledger.sent.get(name)} triples")
        for refusal in sorted(set(ledger.refused))[:5]:
            print(f"refused: {refusal}")
        code = server.stop()
        print(f"SIGTERM: exit code {code}")
        if code:
            raise SystemExit("the last server did not end cleanly")
    finally:
        if server.process.poll() is None:
            server.kill()
    return done


def main(arguments: list[str] | None = None) -> int:
    """Run all, print the table, 1 when a bar is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cycles", type=int, default=30)
    parser.add_argument("--clients", type=int, default=2, help="clients for each route but the bulk load")
    parser.add_argument("--busy", type=float, nargs=2, default=(0.5, 2.5), help="seconds of writing, from to")
    parser.add_argument(
        "--reopen", type=float, default=2.0, help="most seconds from start to an answer and a write"
    )
    parser.add_argument("--increments", type=int, default=500, help="by each of 8 clients; 0: none")
    parser.add_argument("--durability", choices=("none", "commit", "group"), default="none")
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args(arguments)
    flags = (f"URBANKG_DURABILITY={options.durability}",)
    failed = False
    with tempfile.TemporaryDirectory(prefix="urbankg-crash-") as folder:
        cycles = run(Path(folder), options.cycles, options.clients, tuple(options.busy), flags, options.seed)
    reopened = [cycle.reopened_s for cycle in cycles] or [0.0]
    slowest = max(reopened)
    lost, torn = sum(cycle.lost for cycle in cycles), sum(cycle.torn for cycle in cycles)
    written = sum(sum(cycle.acknowledged.values()) for cycle in cycles)
    print(
        f"{len(cycles)} kills, {written} acknowledged batches: {lost} lost, {torn} torn, "
        f"open in {median(reopened):.2f} s (median), {slowest:.2f} s (slowest; bar {options.reopen:g} s), "
        f"{median([cycle.cpu_s for cycle in cycles] or [0.0]):.2f} s of processors (median)"
    )
    failed |= bool(lost or torn) or slowest > options.reopen
    if options.increments:
        with tempfile.TemporaryDirectory(prefix="urbankg-crash-") as folder:
            data = Path(folder) / "data"
            data.mkdir()
            server = Server(data, *flags)
            started = time.monotonic()
            value = increments(server, 8, options.increments)
            seconds = time.monotonic() - started
            server.stop()
        wanted = 8 * options.increments
        print(f"8 clients x {options.increments} increments: {value} of {wanted}, {wanted / seconds:.0f}/s")
        failed |= value != wanted
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
