"""Looking at all focus nodes of a shape while others write, so that little is left to judge under the lock.

A survey reads the graph as it changes. Whoever uses one adds what was committed meanwhile
(`brought_up_to_date`): a node whose verdict such a commit may turn to the worse is judged again with the
change, and of every other node nothing changed that could do so.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from pyoxigraph import Triple

from shapes.gate.affected import Beyond
from shapes.gate.gate import ShapesGate
from sparql.model.change import Survey
from sparql.model.source import Overlay, Term, TripleSource

_CHUNK = 500
"""So many focus nodes are judged between two looks whether to stop."""
_MOST = 1_000
"""So many that fail are enough: the change does not come in as it is."""


def survey(
    gate: ShapesGate,
    source: TripleSource,
    additions: Collection[Triple],
    shapes: Collection[str],
    *,
    earlier: Survey | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Survey | None:
    """Which targets of these shapes may fail once the additions are there; None when `stopped`.

    `earlier` looked at more of the same change: its shapes are looked at again, its suspects stay suspects.
    """
    after = Overlay(source, additions)
    known = {} if earlier is None else earlier.suspects
    suspects: dict[str, frozenset[Term]] = {}
    for name in sorted({*shapes, *known}):
        shape = gate.pairs.shapes.get(name)
        if shape is None:
            continue
        failing: set[Term] = set()
        for chunk in _chunks(gate.pairs.targets(shape, after)):
            if stopped():
                return None
            doubtful = gate.suspects(after, {name: set(chunk)})
            failing |= gate.failing(after, doubtful).get(name, set())
            if len(failing) > _MOST:
                break
        suspects[name] = known.get(name, frozenset()) | failing
    return Survey(frozenset(additions), suspects)


def brought_up_to_date(
    found: Survey, gate: ShapesGate, source: TripleSource, came: Collection[Triple], went: Collection[Triple]
) -> Survey | None:
    """The survey with the nodes that commits since its begin may have turned to the worse.

    None where these are too many: then a new survey is needed. `source` is the graph as it is now.
    """
    if not came and not went:
        return found
    after = Overlay(source, found.additions)
    beyond: list[Beyond] = []
    affected = gate.pairs.of(came, went, Overlay(after, went), after, beyond)
    if any(one.shape.name in found.suspects for one in beyond):
        return None
    suspects = {name: nodes | affected.get(name, set()) for name, nodes in found.suspects.items()}
    return replace(found, suspects=suspects)


def _chunks(nodes: Iterable[Term]) -> Iterator[list[Term]]:
    rest = iter(sorted(nodes, key=str))
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk
