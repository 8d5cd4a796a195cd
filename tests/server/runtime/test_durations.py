"""The histogram of durations says what the library's own says of the same observations."""

import random

from prometheus_client import CollectorRegistry, Histogram, generate_latest

from server.runtime.durations import Durations

BOUNDS = (0.001, 0.01, 1, 300)


def lines_of(registry: CollectorRegistry) -> list[str]:
    """What a monitor reads, but for the moment of creation."""
    return [line for line in generate_latest(registry).decode().splitlines() if "_created" not in line]


def test_monitors_read_the_same_as_of_the_librarys_histogram():
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    names = ("method", "status")
    durations = Durations("x_seconds", "How long.", names, bounds=BOUNDS, registry=ours)
    histogram = Histogram("x_seconds", "How long.", names, buckets=BOUNDS, registry=theirs)
    chance = random.Random(1)
    for _ in range(200):
        labels = chance.choice(("GET", "POST")), chance.choice(("200", "404"))
        # Bounds belong to the bucket that they end.
        seconds = chance.choice((*BOUNDS, 0.0005, 0.5, 400))
        durations.labels(*labels).observe(seconds)
        histogram.labels(*labels).observe(seconds)
    assert sorted(lines_of(ours)) == sorted(lines_of(theirs))


def test_what_was_done_together_counts_as_often():
    registry = CollectorRegistry()
    durations = Durations("x_seconds", "How long.", bounds=BOUNDS, registry=registry)
    durations.labels().observe(0.005, 3)
    assert "x_seconds_count 3.0" in lines_of(registry)
    assert 'x_seconds_bucket{le="0.001"} 0.0' in lines_of(registry)
    assert 'x_seconds_bucket{le="0.01"} 3.0' in lines_of(registry)
