"""The interface of an engine: pairs of shapes and focus nodes in, violations out."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from shapes.gate.affected import Pairs
from sparql.model.change import Violation
from sparql.model.source import Term, TripleSource

Pair = tuple[str, Term]
"""A shape's name and a focus node."""

Found = dict[Pair, list[Violation]]
"""Violations by the pair they were found for; those of a nested shape concern nodes further away."""


class Engine(Protocol):
    """Runs shapes on focus nodes over a source, reading only what they need."""

    def check(self, source: TripleSource, pairs: Pairs) -> Found:
        """Violations of these pairs; pairs without any may be left out."""
        ...

    def breaks(self, after: TripleSource, before: TripleSource, pairs: Pairs) -> bool | None:
        """Whether a pair has a blocking violation that is new; None where only `check` can decide."""
        ...


def in_order(found: Iterable[Sequence[Violation]]) -> list[Violation]:
    """All violations in stable order."""
    return sorted((violation for violations in found for violation in violations), key=_place)


def _place(violation: Violation) -> tuple[str, ...]:
    named = (violation.focus, violation.path or "", violation.component, violation.value, violation.shape)
    return tuple(map(str, named))
