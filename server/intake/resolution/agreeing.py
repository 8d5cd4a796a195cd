"""Values that agree within their precision are one fact: 1883 and 24 May 1883, 792 feet and 241.4 m.

A text that gives a known value, or the same less exactly, supports the value that the graph has. A date that
is more exact takes the place of the known one, if only texts state that, and gets its evidence: the order of
the texts makes no difference. A less exact date that a client stated stays, and the other waits for a person.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from typing import Final, Protocol

from pyoxigraph import Literal, NamedNode, Quad, Triple

from ontology import Schema
from server.intake.batch import Batch
from sparql.model.change import Violation, quad_of
from sparql.model.vocabulary import ASSERTED, DERIVED, EXTRACTED, ONTOLOGY, UKG, XSD

_DATES: Final = frozenset({XSD.date, XSD.gYearMonth, XSD.gYear})
_MEASURES: Final = frozenset({XSD.decimal, XSD.double, XSD.float})
_COUNTS: Final = frozenset({XSD.integer, XSD.nonNegativeInteger, XSD.positiveInteger})
_ROUNDED: Final = Decimal("0.002")
"""Two measurements this near, as a share, are one in different units: a foot of 500 is .002."""


class Known(Protocol):
    """What is needed of a store."""

    def match(self, subject: NamedNode, predicate: NamedNode, object_: None) -> Iterable[Triple]:
        """The known statements."""

    def contains(self, quad: Quad) -> bool:
        """Whether a graph holds a statement."""


class AgreementAssessor:
    """Takes values that agree with known ones for these."""

    def __init__(self, store: Known) -> None:
        self._store = store

    def prepare(self, batch: Batch, schema: Schema) -> None:
        """Does nothing: what is known is read under the writer's lock."""

    def assess(self, batch: Batch, schema: Schema) -> None:
        """Rename statements to those that they agree with; replace known dates that are less exact."""
        renamed: dict[Triple, Triple] = {}
        for triple in list(batch.statements):
            value = triple.object
            if not isinstance(value, Literal) or not _is_compared(value):
                continue
            if triple in batch.refused or triple.predicate not in schema.properties:
                continue
            known = self._known(triple)
            others = [
                other
                for other in (*known, *batch.added.match(triple.subject, triple.predicate, None))
                if other != triple and other not in batch.refused and other not in renamed
            ]
            finer = [o for o in others if isinstance(o.object, Literal) and agree(value, o.object)]
            if not finer or triple in known:
                continue
            exact = next((o for o in finer if not is_finer(value, o.object)), None)  # type: ignore[arg-type]
            if exact is not None:
                renamed[triple] = exact
                continue
            # All are less exact. Those of the batch alone agree with this one in their turn.
            graphs = [other for other in finer if other in known]
            stated = next((other for other in graphs if not self._rests_on_texts(other)), None)
            if stated is not None:
                batch.refuse(triple, _more_exact(triple, stated))
                continue
            for other in graphs:
                batch.replaces.add((triple, other))
                if other in batch.statements:
                    renamed[other] = triple
        if renamed:
            batch.rename(lambda triple: renamed.get(triple, triple))

    def _rests_on_texts(self, triple: Triple) -> bool:
        return self._store.contains(quad_of(triple, EXTRACTED)) and not any(
            self._store.contains(quad_of(triple, graph)) for graph in (ASSERTED, DERIVED, ONTOLOGY)
        )

    def _known(self, triple: Triple) -> list[Triple]:
        return list(self._store.match(triple.subject, triple.predicate, None))  # type: ignore[arg-type]


def agree(a: Literal, b: Literal) -> bool:
    """Whether two values are one within the precision of the less exact."""
    if a.datatype in _DATES and b.datatype in _DATES:
        short, long = sorted((a.value, b.value), key=len)
        return long == short or long.startswith(f"{short}-")
    kinds = _MEASURES | _COUNTS
    if a.datatype not in kinds or b.datatype not in kinds:
        return False
    try:
        one, other = Decimal(a.value), Decimal(b.value)
    except InvalidOperation:
        return False
    if not (one.is_finite() and other.is_finite()):
        return False
    apart = abs(one - other)
    share = _ROUNDED * max(abs(one), abs(other)) if a.datatype in _MEASURES else Decimal(0)
    return apart <= max(_half_step(a), _half_step(b), share)


def is_finer(a: Literal, b: Literal) -> bool:
    """Whether a date is more exact than another; of numbers none is."""
    return a.datatype in _DATES and len(a.value) > len(b.value)


def _is_compared(value: Literal) -> bool:
    return value.datatype in _DATES | _MEASURES | _COUNTS


def _half_step(value: Literal) -> Decimal:
    """Half of the last digit that is not a rounding zero: 0.5 for 241, 50,000 for 8,400,000."""
    number = Decimal(value.value)
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or number == 0:
        return Decimal(0)
    if exponent >= 0 and value.datatype in _COUNTS:
        text = value.value.lstrip("+-").rstrip("0")
        zeros = len(value.value.lstrip("+-")) - len(text)
        return Decimal(5).scaleb(zeros - 1) if zeros >= _ROUND_ZEROS else Decimal(0)
    return Decimal(5).scaleb(exponent - 1)


_ROUND_ZEROS: Final = 3
"""A count that ends with so many zeros is rounded; 100 floors are not."""


def _more_exact(triple: Triple, known: Triple) -> Violation:
    assert isinstance(known.object, Literal)
    return Violation(
        focus=triple.subject,
        message=f"A client stated {known.object.value}, which this says more exactly: to use it, remove the "
        "other and accept this.",
        component=UKG.MoreExact,
        path=triple.predicate.value,
        value=triple.object,
    )
