"""What the server counts and measures, for Prometheus.

Names follow its conventions: base units, `_total` for counters. A `Metrics` has a registry of its own,
so that two servers in one process do not mix.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from sparql.model.change import Verdict

if TYPE_CHECKING:
    from extractors.models.accounting import Call, Prices

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)


class Metrics:
    """The instruments of one server."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Histogram(
            "urbankg_request_seconds",
            "Time from a request's head to the end of its answer.",
            ("method", "route", "status"),
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.in_flight = Gauge(
            "urbankg_requests_in_flight", "Requests being answered.", registry=self.registry
        )
        self.statements = Counter(
            "urbankg_gate_statements",
            "Statements that the gate judged, by verdict; without dry runs.",
            ("verdict",),
            registry=self.registry,
        )
        self.changes = Counter(
            "urbankg_gate_changes",
            "Changes that the gate judged: accepted, in part, or refused whole.",
            ("verdict",),
            registry=self.registry,
        )
        self.commits = Histogram(
            "urbankg_commit_seconds",
            "Time from the writer's lock to the acknowledgement: capture, derivation, gate, commit, disk.",
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.model_calls = Histogram(
            "urbankg_model_call_seconds",
            "Time of the model's replies, with waiting and retries, by how they ended.",
            ("outcome",),
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.model_retries = Counter(
            "urbankg_model_retries", "Requests to the model that were sent again.", registry=self.registry
        )
        self.model_tokens = Counter(
            "urbankg_model_tokens",
            "Tokens to (in) and from (out) the model.",
            ("way",),
            registry=self.registry,
        )
        self.model_cost = Counter(
            "urbankg_model_cost",
            "What the model's tokens cost by the configured prices.",
            ("currency",),
            registry=self.registry,
        )
        self.extractions = Histogram(
            "urbankg_extraction_seconds",
            "Time from a text to its verdict.",
            registry=self.registry,
            buckets=_SECONDS,
        )
        self.job_documents = Counter(
            "urbankg_job_documents",
            "Finished documents of jobs, by state.",
            ("state",),
            registry=self.registry,
        )
        for state in (
            "committed",
            "nothing found",
            "waits for review",
            "duplicate",
            "rejected",
            "failed",
        ):
            self.job_documents.labels(state)
        # Kept, since a look-up takes longer than counting.
        self._accepted, self._refused, self._warned = (
            self.statements.labels(verdict) for verdict in ("accepted", "refused", "warned")
        )
        self._changes = {
            verdict: self.changes.labels(verdict) for verdict in ("accepted", "partly", "refused")
        }

    def judged(self, verdicts: Sequence[Verdict], seconds: float) -> None:
        """Count the verdicts of changes that were committed together; called by the writer."""
        counts: dict[Counter, int] = {}
        committed = 0
        for verdict in verdicts:
            for statements, counter in (
                (verdict.accepted, self._accepted),
                (verdict.rejected, self._refused),
                (verdict.warnings, self._warned),
            ):
                if statements:
                    counts[counter] = counts.get(counter, 0) + len(statements)
            kind = "accepted" if verdict.conforms else "partly" if verdict.accepted else "refused"
            counts[self._changes[kind]] = counts.get(self._changes[kind], 0) + 1
            committed += verdict.revision is not None
        for _ in range(committed):
            self.commits.observe(seconds)
        for counter, number in counts.items():
            counter.inc(number)

    def expect_model(self) -> None:
        """Export the model's counters from now on, also while they are 0."""
        from extractors.models.accounting import Outcome

        for outcome in Outcome:
            self.model_calls.labels(outcome.value)
        for way in ("in", "out"):
            self.model_tokens.labels(way)

    def count_call(self, call: Call, prices: Prices) -> None:
        """Count a call of the model."""
        self.model_calls.labels(call.outcome.value).observe(call.seconds)
        self.model_retries.inc(call.attempts - 1)
        self.model_tokens.labels("in").inc(call.prompt_tokens)
        self.model_tokens.labels("out").inc(call.completion_tokens)
        cost = prices.cost(call.prompt_tokens, call.completion_tokens)
        if cost is not None:
            self.model_cost.labels(prices.currency).inc(cost)

    def watch(self, *readings: Reading) -> None:
        """Add values that are read at each request for the metrics."""
        self.registry.register(_Readings(readings))

    def text(self) -> bytes:
        """All values in Prometheus' text format."""
        return generate_latest(self.registry)


@dataclass(frozen=True)
class Reading:
    """A value that is kept elsewhere. `counter`: it only grows; its name then ends in `_total`."""

    name: str
    help: str
    value: Callable[[], float]
    counter: bool = False


class _Readings(Collector):
    def __init__(self, readings: tuple[Reading, ...]) -> None:
        self._readings = readings

    def collect(self) -> Iterator[Metric]:
        for reading in self._readings:
            family = CounterMetricFamily if reading.counter else GaugeMetricFamily
            yield family(reading.name, reading.help, value=reading.value())


def folder_bytes(folder: Path) -> int:
    """The size of the files in a folder, without those in folders below it; 0 when there is none."""
    try:
        with os.scandir(folder) as entries:
            return sum(entry.stat().st_size for entry in entries if entry.is_file())
    except FileNotFoundError:
        # A file or the folder was deleted since the listing; the next reading is correct.
        return 0
