"""The servers that are compared, each as a process of its own with the same data."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from tests.support.processes import cpu_seconds
from tests.support.waiting import wait_until


@dataclass
class Server:
    """A running server: where queries and updates go, and its main process."""

    name: str
    process: subprocess.Popen[bytes]
    query_url: str
    update_url: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    """What every query takes along."""

    def answers(self) -> bool:
        """Whether it answers a query."""
        try:
            found = httpx.get(self.query_url, params={"query": "ASK {}", **self.parameters}, timeout=10)
        except httpx.HTTPError:
            return False
        return found.is_success

    def stop(self) -> None:
        """End the process and wait for it."""
        self.process.terminate()
        try:
            self.process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_urbankg(
    folder: Path, data: Path | None, *flags: str, checkout: Path | None = None, name: str = "urbankg"
) -> Server:
    """Our server on a free port; `data` is bulk-loaded first. Its code is that of `checkout` where given."""
    command = [sys.executable, "-m", "server"]
    environment = {**os.environ, "URBANKG_QUERY_TIMEOUT_S": "300"}
    if checkout is not None:
        environment["PYTHONPATH"] = str(checkout)
    if data is not None:
        load = [*command, "load", "--data", str(folder), "--bulk", "--no-report", str(data)]
        subprocess.run(load, check=True, stderr=subprocess.DEVNULL, env=environment, cwd=checkout)
    log = folder.with_suffix(".log").open("ab")
    serve = [*command, "serve", "--data", str(folder), "--port", "0", *flags]
    process = subprocess.Popen(serve, stdout=log, stderr=log, env=environment, cwd=checkout)
    address = folder / "server.json"

    def announced() -> bool:
        if process.poll() is not None:
            raise SystemExit(f"the server ended: see {log.name}")
        return address.exists() and json.loads(address.read_text())["pid"] == process.pid

    wait_until(announced)
    url = json.loads(address.read_text())["url"]
    server = Server(name, process, f"{url}/sparql", f"{url}/update")
    # Also what it opens beside the first answers: indexes, gate.
    wait_until(lambda: server.answers() and httpx.get(f"{url}/healthz", timeout=60).json()["shapes"])
    wait_until(lambda: rests(process.pid))
    return server


def rests(pid: int) -> bool:
    """Whether a server that nobody asks has nothing left to do."""
    before = cpu_seconds(pid)
    time.sleep(1)
    return cpu_seconds(pid) - before < 0.1


def start_oxigraph(folder: Path, data: Path | None) -> Server:
    """The `oxigraph` command line server (PyPI package of that name)."""
    command = shutil.which("oxigraph", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if command is None:
        raise SystemExit("This needs the oxigraph server: pip install oxigraph")
    if data is not None:
        load = [command, "load", "--location", str(folder), "--file", str(data)]
        subprocess.run(load, check=True, stderr=subprocess.DEVNULL)
    port = free_port()
    serve = [command, "serve", "--location", str(folder), "--bind", f"127.0.0.1:{port}"]
    process = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    server = Server("oxigraph", process, f"http://127.0.0.1:{port}/query", f"http://127.0.0.1:{port}/update")
    wait_until(server.answers)
    return server


def start_virtuoso(folder: Path, data: Path) -> Server | None:
    """Virtuoso 7 (Debian package `virtuoso-opensource`) with the data in one graph; None where it is not."""
    command, isql = shutil.which("virtuoso-t"), shutil.which("isql-vt") or shutil.which("isql-v")
    if command is None or isql is None:
        return None
    folder.mkdir(parents=True)
    port, http = free_port(), free_port()
    (folder / "virtuoso.ini").write_text(_VIRTUOSO % {"folder": folder, "port": port, "http": http})
    graph = "http://example.org/graph"
    process = subprocess.Popen(
        [command, "+foreground", "+configfile", "virtuoso.ini"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Server("virtuoso", process, f"http://127.0.0.1:{http}/sparql", "", {"default-graph-uri": graph})
    wait_until(server.answers)
    shutil.copy(data, folder / "data.nt")
    statements = f"ld_dir('{folder}', 'data.nt', '{graph}'); rdf_loader_run(); checkpoint;"
    subprocess.run(
        [isql, f"127.0.0.1:{port}", "dba", "dba", f"exec={statements}"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return server


def free_port() -> int:
    """A port that nobody listens to now."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


_VIRTUOSO = """
[Database]
DatabaseFile = %(folder)s/virtuoso.db
ErrorLogFile = %(folder)s/virtuoso.log
LockFile = %(folder)s/virtuoso.lck
TransactionFile = %(folder)s/virtuoso.trx
[TempDatabase]
DatabaseFile = %(folder)s/temp.db
TransactionFile = %(folder)s/temp.trx
[Parameters]
ServerPort = 127.0.0.1:%(port)d
DirsAllowed = %(folder)s
NumberOfBuffers = 200000
MaxDirtyBuffers = 150000
[HTTPServer]
ServerPort = 127.0.0.1:%(http)d
ServerThreads = 20
[SPARQL]
ResultSetMaxRows = 2000000
MaxQueryCostEstimationTime = 0
MaxQueryExecutionTime = 0
"""
