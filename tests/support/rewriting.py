"""Rewriting without a pool: probes are answered in the same thread."""

from collections.abc import Callable

from sparql.rewriting.steps import Probe, Row, Steps


def drive(steps: Steps[str], ask: Callable[[Probe], list[Row]]) -> str:
    """The rewritten text."""
    try:
        probe = next(steps)
        while True:
            probe = steps.send(ask(probe))
    except StopIteration as end:
        return str(end.value)
