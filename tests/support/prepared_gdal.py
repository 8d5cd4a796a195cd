"""GDAL in processes that need not import NumPy, half of their start.

`tests/server/data/test_feature_reach.py` starts each as a server does: what a file can reach depends on it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO

from server.data import feature_files, gdal_worker
from sparql.workers.forking import ForkedProcess, Forking

start_anew = feature_files.start
_FORKING = Forking(environment={"PYTHONPATH": str(Path(__file__).parents[2])})


def fork_gdal() -> None:
    """Fork all processes for GDAL that this process starts."""
    feature_files.start = _forked


def begin_forking() -> None:
    """Have them forked from one process also for processes that are forked from this one."""
    fork_gdal()
    feature_files._others(())


def _forked(
    arguments: Sequence[str], errors: IO[bytes], environment: Mapping[str, str]
) -> tuple[ForkedProcess, IO[bytes]]:
    read, write = os.pipe()
    try:
        process = _FORKING.start(
            __name__,
            [write, errors.fileno()],
            [json.dumps(dict(environment)), *arguments],
            imports=["numpy"],
        )
    finally:
        os.close(write)
    return process, open(read, "rb")


def main(arguments: Sequence[str]) -> int:
    """The forked process."""
    out, errors, environment, *command = arguments
    for number, descriptor in enumerate((out, errors), 1):
        os.dup2(int(descriptor), number)
        os.close(int(descriptor))
    os.environ.clear()
    os.environ.update(json.loads(environment))
    return gdal_worker.main(command)
