"""Real SPARQL stores as processes on free ports: the oxigraph server, and Virtuoso 7."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from pyoxigraph import NamedNode

from sparql.remote.endpoint import RemoteAddress
from tests.support.tgi_stand_in import free_port

OXIGRAPH = Path(sysconfig.get_path("scripts")) / "oxigraph"
VIRTUOSO_DEFAULT_GRAPH = NamedNode("http://e.org/default")
_ASK = {"query": "ASK {}"}
_INI = """
[Database]
DatabaseFile = {folder}/virtuoso.db
ErrorLogFile = {folder}/virtuoso.log
LockFile = {folder}/virtuoso.lck
TransactionFile = {folder}/virtuoso.trx
xa_persistent_file = {folder}/virtuoso.pxa
FileExtend = 200
TempStorage = TempDatabase
[TempDatabase]
DatabaseFile = {folder}/temporary.db
TransactionFile = {folder}/temporary.trx
[Parameters]
ServerPort = 127.0.0.1:{sql_port}
DisableUnixSocket = 1
ServerThreads = 10
CheckpointInterval = 0
NumberOfBuffers = 4000
MaxDirtyBuffers = 2000
DirsAllowed = {folder}
[HTTPServer]
ServerPort = 127.0.0.1:{port}
ServerRoot = {folder}
ServerThreads = 10
[SPARQL]
ResultSetMaxRows = {row_limit}
"""


@contextmanager
def oxigraph_server() -> Iterator[RemoteAddress]:
    """`oxigraph serve`, in memory: a store with a default graph of its own, and no authentication."""
    assert OXIGRAPH.exists(), "the oxigraph server is not installed; run `make setup`"
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with _running([str(OXIGRAPH), "serve", "--bind", f"127.0.0.1:{port}"], f"{url}/query"):
        yield RemoteAddress(f"{url}/query", f"{url}/update")


@contextmanager
def virtuoso(folder: Path, *, row_limit: int = 100_000) -> Iterator[RemoteAddress]:
    """Virtuoso with a database of its own in `folder`: no default graph of its own, Digest authentication."""
    program = shutil.which("virtuoso-t")
    assert program is not None, (
        "virtuoso-t is not installed, so the remote store cannot be tested against it: "
        "apt-get install virtuoso-opensource-7-bin"
    )
    port, sql_port = free_port(), free_port()
    ini = folder / "virtuoso.ini"
    ini.write_text(_INI.format(folder=folder, port=port, sql_port=sql_port, row_limit=row_limit))
    url = f"http://127.0.0.1:{port}"
    with _running([program, "+foreground", "+configfile", str(ini)], f"{url}/sparql"):
        yield RemoteAddress(
            f"{url}/sparql-auth",
            f"{url}/sparql-auth",
            graph_url=f"{url}/sparql-graph-crud-auth",
            user="dba",
            password="dba",
            digest=True,
            default_graph=VIRTUOSO_DEFAULT_GRAPH,
        )


@contextmanager
def _running(command: list[str], url: str) -> Iterator[None]:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            assert process.poll() is None, f"{command[0]} ended with status {process.returncode}"
            try:
                if httpx.get(url, params=_ASK).is_success:
                    break
            except httpx.HTTPError:
                time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(timeout=60)


def clear(address: RemoteAddress) -> None:
    """Take everything out of a store but what it needs for itself."""
    with httpx.Client(auth=address.authentication(), timeout=60) as client:
        found = client.post(
            address.query_url,
            data={"query": "SELECT DISTINCT ?g { GRAPH ?g { ?s ?p ?o } }"},
            headers={"Accept": "application/sparql-results+json"},
        )
        names = [row["g"]["value"] for row in found.json()["results"]["bindings"]]
        ours = [name for name in names if "openlinksw" not in name and "localuriqa" not in name]
        ours = [name for name in ours if name != "http://www.w3.org/ns/ldp#"]
        texts = [f"CLEAR GRAPH <{name}>" for name in ours]
        if address.default_graph is None:
            texts.append("CLEAR DEFAULT")
        for text in texts:
            client.post(
                address.update_url, content=text, headers={"Content-Type": "application/sparql-update"}
            ).raise_for_status()


def direct(address: RemoteAddress, update: str) -> None:
    """Write to the store past us, as another program would."""
    with httpx.Client(auth=address.authentication(), timeout=60) as client:
        headers = {"Content-Type": "application/sparql-update"}
        client.post(address.update_url, content=update, headers=headers).raise_for_status()
