"""PostGIS in a cluster of its own: temporary folder, free port, unprivileged user, ended afterwards."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy
import shapely

from benchmarks.peers.answer import Counts, Missing, Unfinished, by_matrix

_BINARIES = "/usr/lib/postgresql/*/bin/initdb"
_ACCOUNT = "postgres"
_SETTINGS = {
    "shared_buffers": "1GB",
    "work_mem": "256MB",
    "jit": "off",
    "max_parallel_workers_per_gather": "0",
    "fsync": "off",
}


class PostGIS:
    """A connection to a running cluster; CPU time is that of its one backend."""

    def __init__(self, connection: Any) -> None:
        self.connection = connection
        self.limit_s = 100
        """After how many CPU seconds the relations of all pairs are given up."""
        connection.execute("CREATE EXTENSION IF NOT EXISTS postgis")
        [(version, geos)] = self.rows("SELECT postgis_lib_version(), postgis_geos_version()")
        self.title = f"PostGIS {version} with GEOS {geos.partition('-')[0]}"
        [(self._pid,)] = self.rows("SELECT pg_backend_pid()")

    def relate_all(self, shapes: numpy.ndarray) -> tuple[Counts, float]:
        self.fill("features", shapes)
        before = self.cpu_seconds()
        query = (
            "SELECT ST_Relate(a.g, b.g), COUNT(*) FROM features a JOIN features b ON a.g && b.g "
            "WHERE a.id < b.id GROUP BY 1"
        )
        rows = self._rows_in_time(query)
        return by_matrix(rows), self.cpu_seconds() - before

    def _rows_in_time(self, query: str) -> list[tuple[Any, ...]]:
        import psycopg

        done = threading.Event()
        watcher = threading.Thread(target=self._cancel_late, args=(self.cpu_seconds(), done))
        watcher.start()
        try:
            return self.rows(query)
        except psycopg.errors.QueryCanceled as error:
            raise Unfinished(self.limit_s) from error
        finally:
            done.set()
            watcher.join()

    def _cancel_late(self, before: float, done: threading.Event) -> None:
        while not done.wait(0.2):
            if self.cpu_seconds() - before >= self.limit_s:
                self.connection.cancel()
                return

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        found: list[tuple[Any, ...]] = self.connection.execute(query).fetchall()
        return found

    def fill(self, table: str, shapes: Sequence[Any] | numpy.ndarray) -> None:
        """Make a table of numbered geometries with an index."""
        run = self.connection.execute
        run(f"DROP TABLE IF EXISTS {table}")
        run(f"CREATE TABLE {table} (id integer PRIMARY KEY, g geometry)")
        with self.connection.cursor().copy(f"COPY {table} FROM STDIN") as copy:
            for number, binary in enumerate(shapely.to_wkb(numpy.asarray(shapes, dtype=object), hex=True)):
                copy.write_row((number, binary))
        run(f"CREATE INDEX ON {table} USING gist (g)")
        run(f"VACUUM ANALYZE {table}")

    def cpu_seconds(self) -> float:
        """User and system time of the backend."""
        fields = Path(f"/proc/{self._pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running_postgis() -> Iterator[PostGIS]:
    """A cluster for the time being. Raises Missing when PostgreSQL, PostGIS or psycopg is not there."""
    if importlib.util.find_spec("psycopg") is None:
        raise Missing("PostGIS is left out: psycopg is not installed")
    found = sorted(Path("/").glob(_BINARIES.lstrip("/")))
    if not found:
        raise Missing("PostGIS is left out: PostgreSQL is not installed (Debian: postgresql-15-postgis-3)")
    account = _account()
    folder = Path(tempfile.mkdtemp(prefix="postgis-"))
    try:
        if account is not None:
            os.chown(folder, account.pw_uid, account.pw_gid)
        with _cluster(found[-1].parent, folder, account) as address:
            import psycopg

            try:
                with psycopg.connect(address, autocommit=True) as connection:
                    yield PostGIS(connection)
            except psycopg.errors.UndefinedFile as error:
                raise Missing("PostGIS is left out: the extension postgis is not installed") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _cluster(binaries: Path, folder: Path, account: pwd.struct_passwd | None) -> Iterator[str]:
    options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder}
    if account is not None:
        options |= {"user": account.pw_uid, "group": account.pw_gid}
    data = folder / "data"
    subprocess.run(
        [binaries / "initdb", "-D", data, "-U", "bench", "--auth=trust", "--no-sync", "--encoding=UTF8"],
        check=True, **options,
    )  # fmt: skip
    port = _free_port()
    settings = [part for name, value in _SETTINGS.items() for part in ("-c", f"{name}={value}")]
    command = [binaries / "postgres", "-D", data, "-p", port, "-h", "127.0.0.1", "-k", folder, *settings]
    server: subprocess.Popen[bytes] = subprocess.Popen([str(part) for part in command], **options)
    try:
        _wait_for(port, server)
        yield f"host=127.0.0.1 port={port} user=bench dbname=postgres"
    finally:
        # Fast shutdown: it waits for no client.
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)


def _account() -> pwd.struct_passwd | None:
    """Whom the server runs as: PostgreSQL refuses root."""
    if os.getuid() != 0:
        return None
    try:
        return pwd.getpwnam(_ACCOUNT)
    except KeyError as error:
        raise Missing(
            f"PostGIS is left out: it does not run as root, and there is no user {_ACCOUNT}"
        ) from error


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                # It listens a moment before it answers.
                time.sleep(1)
                return
        time.sleep(0.1)
    raise Missing("PostGIS is left out: the server did not start")
