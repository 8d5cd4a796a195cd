"""Readings of a process and its children from /proc: CPU time and resident memory."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

_TICKS = os.sysconf("SC_CLK_TCK")


def family(pid: int) -> list[int]:
    """The process and everything it started that still runs."""
    found = [pid]
    for one in found:
        for children in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += [int(child) for child in children.read_text().split()]
            except OSError:
                continue
    return found


def cpu_seconds(pid: int) -> float:
    """User and system time of the family so far, with those of it that ended."""
    total = 0
    for one in family(pid):
        try:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / _TICKS


def resident_mb(pid: int) -> float:
    """Memory of the family; what processes share counts once, in proportion (PSS)."""
    total = 0
    for one in family(pid):
        try:
            for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
                if line.startswith("Pss_Anon:"):
                    total += int(line.split()[1])
        except OSError:
            continue
    return total / 1024


class PeakMemory:
    """The most memory that a family held while this was open, in MB (`peak`), and before (`idle`)."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self.idle = self.peak = resident_mb(pid)

    def _watch(self) -> None:
        while not self._over.wait(0.05):
            self.peak = max(self.peak, resident_mb(self._pid))

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()


def load_average() -> str:
    """How busy the machine is, in the kernel's words."""
    return " ".join(Path("/proc/loadavg").read_text().split()[:3])
