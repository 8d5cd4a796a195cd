"""Validates all focus nodes of a shape while others write, so that little is left to judge under the lock.

The graph may change while it is read. So the caller adds what was committed meanwhile
(`brought_up_to_date`): nodes whose verdict such a commit may worsen are judged again with the change; no
commit can have worsened the verdict of any other node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from pyoxigraph import Triple

from shapes.gate.affected import OverFanIn
from shapes.gate.gate import ShapesGate
from sparql.model.change import BackgroundValidation
from sparql.model.source import Overlay, Term, TripleSource

_CHUNK = 500
"""Focus nodes judged between two checks of `stopped`."""
_MOST = 1_000
"""With more failing nodes than this, the change is refused anyway."""


def validate_in_background(
    gate: ShapesGate,
    source: TripleSource,
    additions: Collection[Triple],
    shapes: Collection[str],
    *,
    earlier: BackgroundValidation | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> BackgroundValidation | None:
    """Which targets of these shapes may fail once the additions are made; None when `stopped`.

    `earlier` covered more of the same change: its shapes are validated again, its suspects stay suspects.
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
    return BackgroundValidation(frozenset(additions), suspects)


def brought_up_to_date(
    found: BackgroundValidation,
    gate: ShapesGate,
    source: TripleSource,
    came: Collection[Triple],
    went: Collection[Triple],
) -> BackgroundValidation | None:
    """The validation with the nodes whose verdict commits since its start may have worsened.

    None where these are too many: then it must be repeated. `source` is the current graph.
    """
    if not came and not went:
        return found
    after = Overlay(source, found.additions)
    beyond: list[OverFanIn] = []
    affected = gate.pairs.of(came, went, Overlay(after, went), after, beyond)
    if any(one.shape.name in found.suspects for one in beyond):
        return None
    suspects = {name: nodes | affected.get(name, set()) for name, nodes in found.suspects.items()}
    return replace(found, suspects=suspects)


def _chunks(nodes: Iterable[Term]) -> Iterator[list[Term]]:
    rest = iter(sorted(nodes, key=str))
    while chunk := list(islice(rest, _CHUNK)):
        yield chunk
