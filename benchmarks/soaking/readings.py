"""Readings of a running server: memory and descriptors of each of its processes, and its files."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tests.support.processes import family

_ROLES = {
    "sparql.workers.worker": "reader",
    "extractors.models": "model",
}


@dataclass(frozen=True)
class Process:
    """One process: resident memory, its share of it where it is shared (PSS), and open descriptors."""

    role: str
    pid: int
    rss_mb: float
    pss_mb: float
    descriptors: int


@dataclass(frozen=True)
class Disk:
    """The graph's files, those of checkpoints that are not also the graph's, and the log of changes."""

    store_mb: float
    checkpoints_mb: float
    log_mb: float


@dataclass(frozen=True)
class Reading:
    """A server at a moment, in seconds since the start of the soak."""

    at: float
    processes: tuple[Process, ...]
    disk: Disk


def read(pid: int, data: Path, begin: float) -> Reading:
    """The server with this process id and data folder, now."""
    return Reading(time.monotonic() - begin, tuple(_processes(pid)), _disk(data))


def memory_and_descriptors(pid: int) -> str:
    """Resident memory and open descriptors of a server's own process, in words."""
    own = next(one for one in _processes(pid) if one.pid == pid)
    return f"{own.rss_mb:.0f} MB, {own.descriptors} descriptors"


def _processes(pid: int) -> Iterator[Process]:
    for one in family(pid):
        folder = Path(f"/proc/{one}")
        try:
            command = (folder / "cmdline").read_bytes().decode(errors="replace")
            role = next((role for module, role in _ROLES.items() if module in command), "helper")
            memory = dict(
                line.split(":", 1)
                for line in (folder / "smaps_rollup").read_text().splitlines()
                if ":" in line
            )
            rss, pss = (int(memory[name].split()[0]) / 1024 for name in ("Rss", "Pss"))
            descriptors = sum(1 for _ in (folder / "fd").iterdir())
        except (OSError, KeyError):
            # It ended meanwhile.
            continue
        yield Process("server" if one == pid else role, one, rss, pss, descriptors)


def _disk(data: Path) -> Disk:
    store = _sizes(data / "graph")
    checkpoints = _sizes(data / "checkpoints")
    alone = {inode: size for inode, size in checkpoints.items() if inode not in store}
    return Disk(*(sum(sizes.values()) / 2**20 for sizes in (store, alone, _sizes(data / "changes"))))


def _sizes(folder: Path) -> dict[int, int]:
    """Bytes by inode: a file with several hard links counts once."""
    found = {}
    # Passes by what goes while it looks.
    for root, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                state = os.stat(os.path.join(root, name))
                found[state.st_ino] = state.st_size
    return found
