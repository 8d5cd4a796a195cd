"""Runs GDAL in a process of its own (`gdal_worker`), with only the drivers for one file."""

from __future__ import annotations

import io
import json
import os
import select
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from server.data.features.names import DRIVERS
from sparql.workers.process import Process

# Other environment variables may change how GDAL works, such as which extensions SQLite loads.
_ENVIRONMENT = frozenset(
    [
        "PATH",
        "LANG",
        "LC_ALL",
        "LC_CTYPE",
        "LD_LIBRARY_PATH",
        "PYTHONPATH",
        "PYTHONHOME",
        "VIRTUAL_ENV",
        "TMPDIR",
        "GDAL_DATA",
        "PROJ_DATA",
        "PROJ_LIB",
    ]
)
_SILENCE_S = 120.0
"""How long GDAL may give nothing while its output is waited for: some damaged files are read without end."""
_FIXED = {"GDAL_DRIVER_PATH": "disable", "PROJ_NETWORK": "OFF"}


class GdalError(Exception):
    """GDAL could not read a file; the message is GDAL's, or how its process ended."""


@contextmanager
def gdal(command: str, path: Path, *arguments: str) -> Iterator[IO[bytes]]:
    """The output of the process. Raises GdalError at the end of the block where it failed.

    Leaving the block early ends the process.
    """
    drivers = DRIVERS[path.suffix.lower()]
    with _running(command, str(path.resolve()), *arguments, *drivers, skipped=_others(drivers)) as output:
        yield output


@contextmanager
def _running(*arguments: str, skipped: Sequence[str] = ()) -> Iterator[IO[bytes]]:
    with TemporaryFile() as errors:
        process, output = start(arguments, errors, _environment(skipped))
        try:
            read = io.BufferedReader(_Waiting(output))
            yield read
            read.read()
            status = process.wait()
        finally:
            process.kill()
            process.wait()
            output.close()
        if status != 0:
            errors.seek(0)
            raise GdalError(_reason(errors.read().splitlines(), status))


def start(
    arguments: Sequence[str], errors: IO[bytes], environment: Mapping[str, str]
) -> tuple[Process, IO[bytes]]:
    """The process, and its output."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "server.data.features.gdal_worker", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
    )
    assert process.stdout is not None
    return process, process.stdout


class _Waiting(io.RawIOBase):
    """The output of a process, which is waited for only so long. Raises GdalError."""

    def __init__(self, pipe: IO[bytes]) -> None:
        self._pipe = pipe
        self._poll = select.poll()
        self._poll.register(pipe, select.POLLIN)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        if not self._poll.poll(_SILENCE_S * 1000):
            raise GdalError(f"nothing more was read of it within {_SILENCE_S:g} s")
        piece = os.read(self._pipe.fileno(), len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)


@cache
def _others(drivers: Sequence[str]) -> Sequence[str]:
    """All other drivers of the installed GDAL."""
    with _running("drivers") as output:
        return tuple(name for name in json.loads(output.readline() or b"[]") if name not in drivers)


def _environment(skipped: Sequence[str]) -> Mapping[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in _ENVIRONMENT}
    return {**kept, **_FIXED, "GDAL_SKIP": ",".join(skipped)}


def _reason(lines: Sequence[bytes], status: int) -> str:
    try:
        return str(json.loads(lines[-1]))
    except (ValueError, IndexError):
        ended = f"by signal {-status}" if status < 0 else f"with status {status}"
        return f"the process that read it ended {ended}"
