"""How long things took, as a histogram for Prometheus that is filled faster than the library's own.

Every update is counted twice and every lookup once: as themselves and as requests. The library's histogram
goes through its buckets one by one and takes two locks; here one lock is held for two additions.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate
from threading import Lock

from prometheus_client import CollectorRegistry
from prometheus_client.core import HistogramMetricFamily, Metric
from prometheus_client.registry import Collector


class Duration:
    """The durations of one kind; `bounds` are the upper ends of the buckets in seconds, but for the last."""

    def __init__(self, bounds: Sequence[float]) -> None:
        self._bounds = bounds
        self._lock = Lock()
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def observe(self, seconds: float, times: int = 1) -> None:
        """Something took so long, or so many things that were done together."""
        bucket = bisect_left(self._bounds, seconds)
        with self._lock:
            self._counts[bucket] += times
            self._sum += seconds * times

    def read(self) -> tuple[list[int], float]:
        """How many were in each bucket or one before it, and the sum of all."""
        with self._lock:
            return [*accumulate(self._counts)], self._sum


class Durations(Collector):
    """A metric with a `Duration` for each of its labels' values."""

    def __init__(
        self,
        name: str,
        help_: str,
        label_names: Sequence[str] = (),
        *,
        bounds: Sequence[float],
        registry: CollectorRegistry,
    ) -> None:
        self._name = name
        self._help = help_
        self._label_names = tuple(label_names)
        self._bounds = tuple(bounds)
        self._kinds: dict[tuple[str, ...], Duration] = {}
        registry.register(self)

    def labels(self, *values: str) -> Duration:
        """The durations with these values of the labels."""
        kind = self._kinds.get(values)
        # Of two threads that come at once, both get the same.
        return self._kinds.setdefault(values, Duration(self._bounds)) if kind is None else kind

    def collect(self) -> Iterator[Metric]:
        """As Prometheus reads them."""
        family = HistogramMetricFamily(self._name, self._help, labels=self._label_names)
        ends = [_written(bound) for bound in (*self._bounds, float("inf"))]
        for values, kind in [*self._kinds.items()]:
            counts, total = kind.read()
            family.add_metric(values, [(end, float(n)) for end, n in zip(ends, counts, strict=True)], total)
        yield family


def _written(bound: float) -> str:
    return "+Inf" if bound == float("inf") else repr(float(bound))
