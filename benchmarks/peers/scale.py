"""Ten million points in five thousand areas, a million features among themselves: time, peak memory."""

from __future__ import annotations

import multiprocessing
import os
import resource
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy
import shapely

from geo.relate.bulk import box_pairs, classify_pairs
from geo.relate.rcc8 import CODES, RCC8, code_of
from sparql.spatial.tiled_run import TiledRun

_POINTS, _AREAS, _FEATURES = 10_000_000, 5_000, 1_000_000
_CHUNK = 250_000
_SEED = 11
_CORNER = numpy.array([-74.2, 40.5])


def measure_scale() -> None:
    """Run both, each under a watch on the memory of this process and its children."""
    with _Watch() as watch:
        counts = points_in_areas()
        print(f"\n{_POINTS:,} points x {_AREAS:,} areas: {watch}; {_described(counts)}")
    with _Watch() as watch:
        strips, counts = features_among_themselves()
        print(
            f"\n{_FEATURES:,} features among themselves, {strips} strips on {os.cpu_count()} processes: "
            f"{watch}"
        )
        print(f"  {_described(counts)}")


def points_in_areas() -> Counter[str]:
    """Relate points, a chunk at a time, to a coverage of areas of 200 vertices."""
    random = numpy.random.default_rng(_SEED)
    side = round(_AREAS**0.5)
    areas = _areas(random, side)
    tree = shapely.STRtree(areas)
    shapely.prepare(areas)
    counts: Counter[str] = Counter()
    for _ in range(0, _POINTS, _CHUNK):
        points: numpy.ndarray = numpy.asarray(shapely.points(random.uniform(0, side, (_CHUNK, 2)) / 100))
        left, right = box_pairs(tree, points)
        codes, numbers = numpy.unique(classify_pairs(points, areas, left, right), return_counts=True)
        counts.update({CODES[code]: int(number) for code, number in zip(codes, numbers, strict=True)})
    counts.pop(CODES[code_of(RCC8.DC)], None)
    return counts


def features_among_themselves() -> tuple[int, Counter[str]]:
    """Buildings, streets and points of a city that grows with their number, over strips."""
    counts: Counter[str] = Counter()
    with TemporaryDirectory(prefix="scale-") as folder:
        run = TiledRun(Path(folder), _features())
        workers = os.cpu_count() or 1
        with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
            run.run(pool, at_once=2 * workers)
        for _, _, codes in run.arrays():
            found, numbers = numpy.unique(codes, return_counts=True)
            counts.update({CODES[code]: int(number) for code, number in zip(found, numbers, strict=True)})
        return len(run), counts


def _areas(random: numpy.random.Generator, side: int) -> numpy.ndarray:
    """Discs of fifty vertices a quarter, one in each cell of a grid, a hundredth of a degree wide."""
    corners = numpy.array([(x, y) for x in range(side) for y in range(side)][:_AREAS])
    centers = shapely.points((corners + random.uniform(0.3, 0.7, (len(corners), 2))) / 100)
    return numpy.asarray(shapely.buffer(centers, 0.006, quad_segs=50))


def _features() -> Iterator[tuple[str, Any]]:
    random = numpy.random.default_rng(_SEED)
    side = 0.4 * (_FEATURES / 100_000) ** 0.5
    for start in range(0, _FEATURES, _CHUNK):
        places = random.uniform(0, side, (_CHUNK, 2)) + _CORNER
        points = shapely.points(places)
        for number, point in enumerate(points):
            kind = number % 4
            shape = point if kind == 0 else shapely.buffer(point, 0.0004 * kind, quad_segs=4)
            yield f"<http://example.org/{start + number}>", shape


def _described(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {relation}" for relation, number in sorted(counts.items()))


class _Watch:
    """Wall time, and the largest resident memory of this process and its children together."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._peak = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._done.set()
        self._thread.join()

    def __str__(self) -> str:
        used = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = sum(one.ru_utime + one.ru_stime for one in used)
        return (
            f"{time.perf_counter() - self._start:.0f} s ({seconds:.0f} CPU seconds so far), "
            f"peak memory {self._peak / 2**20:,.0f} MB"
        )

    def _look(self) -> None:
        while not self._done.wait(0.5):
            self._peak = max(self._peak, sum(map(_resident_bytes, [os.getpid(), *_children()])))


def _children() -> list[int]:
    tasks = Path("/proc/self/task").glob("*/children")
    return [int(number) for task in tasks for number in task.read_text().split()]


def _resident_bytes(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text().split()[1]) * resource.getpagesize()
    except OSError:
        return 0
