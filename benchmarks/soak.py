"""A soak: ten clients with a mixed load for half an hour, on a server that must not grow.

Lookups, joins, updates by patterns, candidates with texts, extractions with a recorded model, review
decisions, reloads of shapes, questions and loads of features; all that is added is taken away again. It
prints for each minute the time of each kind of request, for each process its memory and descriptors, and the
disk.
Exit code 1 when, after the warm-up, a process grew by more than 5 %, descriptors were left open, the
checkpoints took more than twice the store, a request failed, or the graph did not keep its size. The graph
keeps its size, but its history (what was removed and decided, and by whom) grows, and an engine holds more of
a larger store. So at the end others take the place of the readers and of the capturer, and get the same load:
an old one may hold 5 % more than a new one. The end of the server's log is printed when a request failed.

The engine's caches hold blocks of files that were deleted until they are full (some 270 MB in the server), so
the warm-up is counted in requests: it ends when they are.

    python -m benchmarks.soak --minutes 5 --warm-up 100000
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import httpx

from benchmarks.soaking.clients import COUNTER, ROLES, Clients, Role
from benchmarks.soaking.readings import Reading, read
from benchmarks.soaking.record import Record
from benchmarks.soaking.verdict import REPLACED, growth, needed, problems, roles
from server.settings_loading import SHIPPED_ONTOLOGY, SHIPPED_SHAPES
from tests.support.processes import load_average
from tests.support.recorded.server import RecordedServer, serving
from tests.support.running_server import RunningServer

_EVERY_S = 5.0
_WARM_UP_REQUESTS = 100_000
"""Measured: from there on the memory of the server is level, at any speed of the machine."""
_LOG_LINES = 200
_FRESH = 0.2
"""Of the minutes, so much for the workers that take the place of others at the end."""
_SIZE = "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }"


def soak(
    minutes: float, folder: Path, chosen: Sequence[Role] = ROLES, warm_up: int = _WARM_UP_REQUESTS
) -> list[str]:
    """Run it in an empty folder, for so many minutes after a warm-up of so many requests; what is wrong."""
    with serving(RecordedServer(delay_s=0.05)) as model, _server(folder, model.url) as server:
        # The client of pattern updates puts another value in its place.
        update = {"content-type": "application/sparql-update"}
        httpx.post(
            server.url + "/update", content=COUNTER, headers=update, trust_env=False
        ).raise_for_status()
        before = _statements(server.url)
        record = Record()
        readings: list[Reading] = []
        clients = Clients(server.url, record, folder, tuple(chosen))
        try:
            warm_up_s = None
            while warm_up_s is None or time.monotonic() - record.begin < warm_up_s + 60 * minutes:
                time.sleep(min(_EVERY_S, 60 * minutes / 20))
                readings.append(read(server.process.pid, server.data, record.begin))
                _show(readings, record)
                if server.process.poll() is not None:
                    break
                if warm_up_s is None and record.requests >= warm_up:
                    warm_up_s = readings[-1].at
                    print(f"{warm_up_s:6.0f} s  the warm-up ends", flush=True)
        finally:
            clients.stop()
        fresh = _replaced(server, record, folder, chosen, minutes)
        found = problems(readings, record, warm_up_s or 0.0, fresh)
        after = _statements(server.url)
        if after != before:
            found.append(f"the graph had {before} statements and has {after} now")
        _report(readings, record, warm_up_s or 0.0, fresh)
        if record.failed:
            print(*server.log.read_text().splitlines()[-_LOG_LINES:], sep="\n")
        return found


def _replaced(
    server: RunningServer, record: Record, folder: Path, chosen: Sequence[Role], minutes: float
) -> list[Reading]:
    """End the workers, and read those in their place under the same load, for a fifth of the minutes."""
    for one in read(server.process.pid, server.data, record.begin).processes:
        if one.role in REPLACED:
            os.kill(one.pid, signal.SIGTERM)
    clients = Clients(server.url, record, folder, tuple(chosen), seed=len(chosen) + 1)
    readings: list[Reading] = []
    begin = time.monotonic()
    try:
        while time.monotonic() - begin < 60 * minutes * _FRESH:
            time.sleep(min(_EVERY_S, 60 * minutes / 20))
            readings.append(read(server.process.pid, server.data, record.begin))
    finally:
        clients.stop()
    # At first their caches are empty.
    return readings[len(readings) // 2 :]


def _server(folder: Path, model_url: str) -> RunningServer:
    for name, shipped in (("ontology", SHIPPED_ONTOLOGY), ("shapes", SHIPPED_SHAPES)):
        shutil.copytree(shipped, folder / name)
    config = folder / "urbankg.toml"
    config.write_text('log_level = "warning"\nmax_body_bytes = 3000000\n')
    flags = [f"--{name}={folder / name}" for name in ("ontology", "shapes")]
    server = RunningServer(folder / "data", "--config", str(config), *flags, model_url=model_url)
    answer = httpx.post(server.url + "/loads", json={"sample": True}, timeout=300, trust_env=False)
    answer.raise_for_status()
    return server


def _statements(url: str) -> int:
    answer = httpx.get(url + "/sparql", params={"query": _SIZE}, timeout=60, trust_env=False)
    answer.raise_for_status()
    return int(answer.json()["results"]["bindings"][0]["n"]["value"])


def _show(readings: Sequence[Reading], record: Record) -> None:
    """A line for the last reading, once a minute."""
    last = readings[-1]
    if len(readings) > 1 and int(last.at / 60) == int(readings[-2].at / 60):
        return
    memory = " ".join(f"{one.role} {one.rss_mb:.0f}/{one.descriptors}" for one in last.processes)
    disk = last.disk
    print(
        f"{last.at:6.0f} s  {record.requests} requests, {record.failed} failed; MB/descriptors: {memory}; "
        f"store {disk.store_mb:.1f} MB, checkpoints {disk.checkpoints_mb:.1f}, log {disk.log_mb:.1f}; "
        f"load {load_average()}",
        flush=True,
    )


def _report(readings: Sequence[Reading], record: Record, warm_up_s: float, fresh: Sequence[Reading]) -> None:
    for line in record.table():
        print(line)
    warm = [reading for reading in readings if reading.at >= warm_up_s] or readings
    print(
        f"{'process':<10} {'RSS MB':>15} {'PSS MB':>15} {'descriptors':>15} {'new, RSS MB':>12}"
        "   (after the warm-up -> end)"
    )
    for role in roles(warm):
        columns = [
            growth(warm, role, lambda process, name=name: getattr(process, name))  # type: ignore[misc]
            for name in ("rss_mb", "pss_mb", "descriptors")
        ]
        print(
            f"{role:<10} "
            + " ".join(f"{before:>6.1f} -> {after:>5.1f}" for before, after in columns)
            + f" {needed(fresh, role):>12.1f}"
        )


def main() -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--warm-up", type=int, default=_WARM_UP_REQUESTS, help="requests before it counts")
    parser.add_argument(
        "--only", nargs="+", choices=[role.name for role in ROLES], help="these clients alone"
    )
    options = parser.parse_args()
    chosen = [role for role in ROLES if not options.only or role.name in options.only]
    with tempfile.TemporaryDirectory(prefix="urbankg-soak-") as folder:
        found = soak(options.minutes, Path(folder), chosen, options.warm_up)
    for one in found:
        print(f"FAILED: {one}", file=sys.stderr)
    if not found:
        print("nothing grew and nothing failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
