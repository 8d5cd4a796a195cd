"""How long a read takes right after a write, beside the same read at rest.

Two queries with ORDER BY, of two patterns each: one around a constant, whose work is bounded before it
runs, so that the server answers it in its own process; and one that goes to a worker process. Each is asked
at rest, and each time after an update that adds a place, whose acknowledgement is waited for. With
``--writers`` others write all the time, so that hardly any read finds what the one before it left.

The server listens on this machine; HTTP is included in all times, in milliseconds.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.parse import quote, urlsplit

from benchmarks.serving.data import LABEL, E, write_city
from tests.support.processes import cpu_seconds, load_average, resident_mb

_START_S = 300.0
_QUERIES = {
    "in process": (
        f"SELECT ?near ?label WHERE {{ <{E}place/%d> <{E}near> ?near ; <{LABEL}> ?label }} ORDER BY ?near"
    ),
    "by a worker": (
        f"SELECT ?place ?label WHERE {{ ?place <{E}operator> <{E}operator/%d> . ?place <{LABEL}> ?label }} "
        "ORDER BY DESC(?label) LIMIT 20"
    ),
}


@dataclass(frozen=True)
class Times:
    """Milliseconds of one kind of read."""

    seconds: list[float]

    @property
    def median(self) -> float:
        return 1000 * median(self.seconds)

    @property
    def p95(self) -> float:
        return 1000 * sorted(self.seconds)[int(0.95 * len(self.seconds))]


class Client:
    """One kept connection."""

    def __init__(self, url: str) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)

    def ask(self, query: str) -> bytes:
        return self._exchange("GET", "/sparql?query=" + quote(query), None, {})

    def update(self, text: str) -> None:
        self._exchange("POST", "/update", text.encode(), {"Content-Type": "application/sparql-update"})

    def _exchange(self, method: str, target: str, body: bytes | None, headers: dict[str, str]) -> bytes:
        self._connection.request(
            method, target, body, {"Accept": "application/sparql-results+json", **headers}
        )
        answer = self._connection.getresponse()
        found = answer.read()
        assert answer.status < 300, (answer.status, found)
        return found


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """A server of this program on a folder, without shapes and ontology; its address and process."""
    data = folder / "data"
    for name in ("shapes", "ontology"):
        (folder / name).mkdir(exist_ok=True)
    command = [sys.executable, "-m", "server", "serve", "--data", str(data), "--port", "0"]
    flags = ["--shapes", str(folder / "shapes"), "--ontology", str(folder / "ontology")]
    with (folder / "log").open("a") as log:
        process = subprocess.Popen([*command, *flags], stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + _START_S
        while time.monotonic() < deadline:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                found = json.loads((data / "server.json").read_text())
                if found["pid"] == process.pid:
                    Client(found["url"]).update("INSERT DATA {}")
                    break
            except (OSError, ValueError, AssertionError):
                pass
            time.sleep(0.05)
        yield found["url"], process.pid
    finally:
        process.terminate()
        process.wait()


def load(folder: Path, triples: int) -> int:
    """Load the made-up city into a new folder; how many places it has."""
    import pyoxigraph

    file = folder / "city.nt"
    places = write_city(file, triples)
    (folder / "data").mkdir()
    store = pyoxigraph.Store(str(folder / "data" / "graph"))
    store.bulk_load(path=str(file))
    store.optimize()
    file.unlink()
    return places


def new_place(number: int, places: int) -> str:
    """An update that adds a place with four statements."""
    place = f"<{E}place/new{number}>"
    return (
        f'INSERT DATA {{ {place} a <{E}Type{number % 20}> ; <{LABEL}> "New place {number}" ; '
        f"<{E}district> <{E}district/{number % 500}> ; <{E}near> <{E}place/{number % places}> }}"
    )


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def measure(url: str, query: str, places: int, turns: int) -> tuple[Times, Times]:
    """The query at rest, and right after a write."""
    client = Client(url)
    rest, after = [], []
    for turn in range(turns):
        client.ask(query % turn)
        rest.append(timed(lambda turn=turn: client.ask(query % turn)))  # type: ignore[misc]
        client.update(new_place(int(time.time() * 1e6), places))
        after.append(timed(lambda turn=turn: client.ask(query % turn)))  # type: ignore[misc]
    return Times(rest), Times(after)


@contextmanager
def writing(url: str, writers: int, places: int) -> Iterator[None]:
    """So many clients that write, one update after the other with a hundredth of a second between."""
    over = threading.Event()

    def write(name: int) -> None:
        client, number = Client(url), 0
        while not over.wait(0.01):
            number += 1
            client.update(new_place(name * 10**9 + number, places))

    threads = [threading.Thread(target=write, args=(name,)) for name in range(writers)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def disk_mb(folder: Path) -> float:
    """What a folder takes on the disk; hard links count once."""
    seen: dict[int, int] = {}
    for one in folder.rglob("*"):
        try:
            status = one.lstat()
        except OSError:
            continue
        seen[status.st_ino] = status.st_blocks * 512
    return sum(seen.values()) / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--triples", type=int, nargs="+", default=[12_000, 1_000_000])
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--writers", type=int, default=2)
    given = parser.parse_args()
    print(f"{os.cpu_count()} processors, load {load_average()}; milliseconds, HTTP included")
    print(f"{'triples':>9}  {'':<28}{'rest p50':>9}{'p95':>8}{'after p50':>11}{'p95':>8}{'ratio':>8}")
    for triples in given.triples:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            places = load(folder, triples)
            with serving(folder) as (url, pid):
                for writers in sorted({0, given.writers}):
                    for how, query in _QUERIES.items():
                        with writing(url, writers, places):
                            rest, after = measure(url, query, places, given.turns)
                        what = how + (f", {writers} others write" if writers else "")
                        cells = f"{rest.median:>9.2f}{rest.p95:>8.2f}{after.median:>11.2f}{after.p95:>8.2f}"
                        print(
                            f"{triples:>9}  {what:<28}{cells}{after.median / rest.median:>8.1f}", flush=True
                        )
                beside, store = disk_mb(folder / "data" / "checkpoints"), disk_mb(folder / "data" / "graph")
                print(
                    f"{triples:>9}  checkpoints {beside:.1f} MB beside a store of {store:.1f} MB; "
                    f"{resident_mb(pid):.0f} MB of memory, {cpu_seconds(pid):.1f} s of CPU",
                    flush=True,
                )


if __name__ == "__main__":
    main()
