"""Checks that a plan uses everything in the question; otherwise it would answer another question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isclose
from typing import Final

from pyoxigraph import NamedNode

from sparql.ask.checking import CheckedPlan, Result
from sparql.ask.comparisons import superlatives
from sparql.ask.distances import SIDE_OF
from sparql.ask.errors import PlanError
from sparql.ask.naming import FoundName
from sparql.ask.plan import Op

__all__ = ["check_use"]

_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")
_KILOMETRES: Final = (1.0, 0.001, 1.609344, 0.0003048, 0.0009144)
"""A kilometer, meter, mile, foot and yard in kilometers: the units of distances in questions."""


_WHEN = re.compile(r"\W*(?:when|how (?:tall|high|long|large|big|old|wide|deep|far))\b", re.IGNORECASE)
_WHO_DID = re.compile(r"\W*(?:who|whom)\s+(?!is\b|are\b|was\b|were\b)", re.IGNORECASE)


def check_use(checked: CheckedPlan, question: str, names: Sequence[FoundName]) -> None:
    """Raise `PlanError` when no step uses a name, a number or the question word."""
    plan = checked.plan
    if _WHEN.match(question) and checked.result not in (Result.VALUES, Result.MEASURES):
        raise PlanError("The question asks for a date or a measure, but the last step gives none.")
    if _WHO_DID.match(question) and not any(step.op is Op.RELATE for step in plan.steps):
        raise PlanError("The question asks who did something, but no step leads to who did it.")
    used = {step.entity.iri for step in plan.steps if step.entity is not None}
    for name in names:
        if not used & _meanings(name):
            raise PlanError(f'The question names "{name.words}", but no step uses it.')
    if not any(step.op in (Op.RANK, Op.NEAREST) for step in plan.steps):
        for word in superlatives(question, names):
            raise PlanError(f'The question asks for the "{word}", but no step ranks what was found.')
    if not any(step.op is Op.DIRECTION for step in plan.steps):
        for match in SIDE_OF.finditer(question):
            if not any(name.start <= match.start() < name.end for name in names):
                raise PlanError(f'The question says "{match[0].strip()}", but no step uses it.')
    distances = [step.km for step in plan.steps if step.km]
    values = [step.value or str(step.k) for step in plan.steps if step.value or step.k]
    for match in _NUMBER.finditer(question):
        inside = any(name.start <= match.start() < name.end for name in names)
        number = float(match.group().replace(",", ""))
        if any(match.group() in _NUMBER.findall(value) for value in values):
            continue
        if not inside and not any(
            isclose(number * unit, km, rel_tol=0.02) for unit in _KILOMETRES for km in distances
        ):
            raise PlanError(f"The question says {match.group()}, but no step uses it.")


def _meanings(name: FoundName) -> set[NamedNode | None]:
    if name.link.iri is not None:
        return {name.link.iri}
    return {entry.iri for entry in name.link.alternatives}
