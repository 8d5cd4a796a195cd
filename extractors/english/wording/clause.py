"""A sentence around an object, and the words in it that say a relation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from extractors.english.wording.phrases import Occurrence, Phrases
from extractors.english.wording.units import Unit
from ontology.terms import OntologyProperty

__all__ = ["Clause", "Governor", "is_glued"]


@dataclass(frozen=True)
class Clause:
    """A sentence around an object: its units, where the object and the subject are, and the labels in it.

    `value` and `others` are indexes of units; `others` those of the subject, if the sentence has it.
    """

    units: Sequence[Unit]
    value: int
    others: frozenset[int]
    occurrences: Sequence[Occurrence]
    term: OntologyProperty
    phrases: Phrases


@dataclass(frozen=True)
class Governor:
    """The words that say the relation, at `units[first:last]`. `converse`: the object is their subject.

    `subject`: the unit of which they say it, where the construction itself says so.
    """

    first: int
    last: int
    converse: bool = False
    subject: int | None = None


def is_glued(units: Sequence[Unit], at: int) -> bool:
    """Whether a mark joins two words without a blank: "St. Mary's-in-the-Fields"."""
    before, after = units[at - 1] if at else None, units[at + 1] if at + 1 < len(units) else None
    return (
        before is not None
        and after is not None
        and (before.end, units[at].end) == (units[at].start, after.start)
    )
