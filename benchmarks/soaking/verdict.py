"""Whether a soak's readings show growth: what is compared, and with which bounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import quantiles

from benchmarks.soaking.readings import Process, Reading
from benchmarks.soaking.record import Record

MEMORY_GROWTH = 0.05
REPLACED = ("reader",)
"""Roles whose processes others take the place of at the end."""
_CHECKPOINTS_PER_STORE = 2.0
_MORE_DESCRIPTORS = 8
"""Connections and checkpoints come and go between two readings; a leak with each request exceeds this."""
_WINDOW = 0.2
"""Of the readings after the warm-up, so much at the beginning is compared with so much at the end."""


def problems(
    readings: Sequence[Reading], record: Record, warm_up_s: float, fresh: Sequence[Reading] = ()
) -> list[str]:
    """All that is wrong, in words; empty when nothing grew and nothing failed.

    `fresh` are readings of workers that replaced those of `readings`, with the same data and load.
    """
    found = (
        [f"{record.failed} requests failed, the first with: {record.failures[0]}"] if record.failed else []
    )
    warm = [reading for reading in readings if reading.at >= warm_up_s]
    if len(warm) < 5:
        return [*found, f"{len(warm)} readings after the warm-up are too few to judge by"]
    found += _growth(warm, fresh)
    worst = max(warm, key=lambda reading: reading.disk.checkpoints_mb)
    if worst.disk.checkpoints_mb > _CHECKPOINTS_PER_STORE * worst.disk.store_mb:
        disk = worst.disk
        found.append(
            f"checkpoints take {disk.checkpoints_mb:.1f} MB beside a store of {disk.store_mb:.1f} MB"
        )
    return found


def growth(warm: Sequence[Reading], role: str, measure: Callable[[Process], float]) -> tuple[float, float]:
    """What a role's processes keep at the beginning of the readings, and at their end.

    The lower quartile: a process that runs large queries right now has more, and how often it does depends on
    the load of the machine.
    """
    size = max(1, int(len(warm) * _WINDOW))
    first, last = (
        _lower_quartile([_total(reading, role, measure) for reading in part])
        for part in (warm[:size], warm[-size:])
    )
    return first, last


def _lower_quartile(values: Sequence[float]) -> float:
    return quantiles(values, n=4, method="inclusive")[0] if len(values) > 1 else values[0]


def roles(readings: Sequence[Reading]) -> list[str]:
    """Which kinds of processes there were."""
    return sorted({process.role for reading in readings for process in reading.processes})


def needed(fresh: Sequence[Reading], role: str) -> float:
    """What new processes of this role hold in MB; 0 where none is new."""
    if role not in REPLACED or not fresh:
        return 0.0
    return _lower_quartile([_total(reading, role, lambda process: process.rss_mb) for reading in fresh])


def _growth(warm: Sequence[Reading], fresh: Sequence[Reading]) -> Iterator[str]:
    for role in roles(warm):
        before, after = growth(warm, role, lambda process: process.rss_mb)
        # The store keeps what was removed and decided: an engine holds more of a larger store.
        if after > max(before, needed(fresh, role)) * (1 + MEMORY_GROWTH):
            yield f"the memory of the {role} grew from {before:.0f} to {after:.0f} MB"
        before, after = growth(warm, role, lambda process: process.descriptors)
        if after > before + _MORE_DESCRIPTORS:
            yield f"the descriptors of the {role} grew from {before:.0f} to {after:.0f}"


def _total(reading: Reading, role: str, measure: Callable[[Process], float]) -> float:
    """Readers are replaced now and then: the mean of those there are."""
    values = [measure(process) for process in reading.processes if process.role == role]
    return sum(values) / len(values) if values else 0.0
