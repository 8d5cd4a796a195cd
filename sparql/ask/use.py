"""Whether a plan uses what the question says; one that drops a name or a number answers another question."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isclose
from typing import Final

from pyoxigraph import NamedNode

from sparql.ask.comparisons import superlatives
from sparql.ask.errors import PlanError
from sparql.ask.naming import FoundName
from sparql.ask.plan import Op, Plan

__all__ = ["check_use"]

_NUMBER = re.compile(r"(?<![\w.])\d+(?:,\d{3})*(?:\.\d+)?")
_KILOMETRES: Final = (1.0, 0.001, 1.609344, 0.0003048, 0.0009144)
"""A kilometre, metre, mile, foot and yard, in kilometres: the units that a distance may be given in."""


def check_use(plan: Plan, question: str, names: Sequence[FoundName]) -> None:
    """Raise `PlanError` when a name or a number of the question is used by no step."""
    used = {step.entity.iri for step in plan.steps if step.entity is not None}
    for name in names:
        if not used & _meanings(name):
            raise PlanError(f'The question names "{name.words}", but no step uses it.')
    if not any(step.op is Op.RANK for step in plan.steps):
        for word in superlatives(question, names):
            raise PlanError(f'The question asks for the "{word}", but no step ranks what was found.')
    distances = [step.km for step in plan.steps if step.km]
    values = [step.value for step in plan.steps if step.value]
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
