"""Type-checks the steps of a plan: classes, domains, ranges, geometry.

The check also decides what the plan language leaves open: the direction in which a property is read. "What
did X design?" and "Who designed X?" both relate by "designed by"; X's class decides which end it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from pyoxigraph import Literal, NamedNode

from extractors.english.dates import read_date
from extractors.english.unreadable import Unreadable
from extractors.english.values import is_dated, is_measured, read_value
from ontology import OntologyProperty, PropertyKind, Schema
from sparql.ask.errors import PlanError
from sparql.ask.places import StatedPlaces
from sparql.ask.plan import Choice, Op, Plan, Step
from sparql.model.vocabulary import XSD

__all__ = ["CheckedPlan", "CheckedStep", "Result", "check_plan"]

_SPATIAL: Final = frozenset({Op.WITHIN, Op.NEAR, Op.NEAREST, Op.DIRECTION, Op.TOUCHES, Op.MEASURE})
_COMPARING: Final = frozenset({Op.COMPARE, Op.RANK})


class Result(StrEnum):
    """The kind of a step's result; measures are entities with a number of kilometers each."""

    ENTITIES = "entities"
    VALUES = "values"
    MEASURES = "measures"
    NUMBER = "number"


@dataclass(frozen=True)
class CheckedStep:
    """A step with what the check found: the direction of its property and the kind of its result.

    `classes` are the alternatives for the result's members; each is a set of classes that hold together;
    empty means any. `value` is the value of a comparison, in the property's datatype and unit; `dated`: dates
    are compared.
    """

    step: Step
    inverse: bool
    result: Result
    classes: tuple[frozenset[NamedNode], ...]
    value: Literal | None = None
    dated: bool = False


@dataclass(frozen=True)
class CheckedPlan:
    """A plan that can be compiled."""

    steps: tuple[CheckedStep, ...]

    @property
    def plan(self) -> Plan:
        return Plan(tuple(checked.step for checked in self.steps))

    @property
    def result(self) -> Result:
        return self.steps[-1].result

    def prefixes(self) -> Sequence[CheckedPlan]:
        """Return the plan's prefixes, shortest first, the plan itself last."""
        return [CheckedPlan(self.steps[:size]) for size in range(1, len(self.steps) + 1)]


def check_plan(plan: Plan, schema: Schema, places: StatedPlaces | None = None) -> CheckedPlan:
    """Check a plan without NONE against the ontology. Raises `PlanError` with what does not fit.

    `places` is `StatedPlaces.of(schema)`, for callers that check many plans.
    """
    places = places or StatedPlaces.of(schema)
    checked: list[CheckedStep] = []
    for number, step in enumerate(plan.steps, 1):
        checker = _Checker(schema, places, number, step, checked[-1] if checked else None)
        checked.append(checker.check())
    return CheckedPlan(tuple(checked))


@dataclass(frozen=True)
class _Checker:
    schema: Schema
    places: StatedPlaces
    number: int
    step: Step
    before: CheckedStep | None

    def check(self) -> CheckedStep:
        if any(choice.iri is None for choice in self.step.chosen.values()):
            raise self._error("NONE cannot be looked up")
        if self.before is None:
            return self._start()
        if self.before.result is Result.NUMBER:
            raise self._error('nothing can follow "count"')
        op = self.step.op
        if op is Op.ENTITY:
            raise self._error('only the first step can be an "entity"')
        if op is Op.COUNT:
            return CheckedStep(self.step, False, Result.NUMBER, ())
        if self.before.result in (Result.VALUES, Result.MEASURES):
            raise self._error("the step before gives numbers, dates or text; they can only be counted")
        if op in _COMPARING:
            return self._compare()
        if op is Op.FIND:
            return self._narrow()
        if op is Op.RELATE:
            return self._relate()
        return self._place()

    def _start(self) -> CheckedStep:
        if self.step.op is Op.ENTITY and self.step.entity is not None:
            classes = self.step.entity.classes
            return CheckedStep(self.step, False, Result.ENTITIES, (classes,) if classes else ())
        if self.step.op is Op.FIND and self.step.class_ is not None and self.step.class_.iri is not None:
            return CheckedStep(self.step, False, Result.ENTITIES, (frozenset({self.step.class_.iri}),))
        raise self._error('the first step must be "find" or "entity"')

    def _narrow(self) -> CheckedStep:
        assert self.before is not None
        assert self.step.class_ is not None
        assert self.step.class_.iri is not None
        wanted = frozenset({self.step.class_.iri})
        if not self._possible(self.before.classes, wanted):
            raise self._error(f'the step before cannot give anything that is a "{self.step.class_.words}"')
        return CheckedStep(self.step, False, Result.ENTITIES, (wanted,))

    def _place(self) -> CheckedStep:
        assert self.before is not None
        assert self.step.op in _SPATIAL
        shaped = self.places.shaped
        wanted = self.places.placed if self.step.op is Op.WITHIN else shaped
        if not self._possible(self.before.classes, wanted):
            raise self._error(f"{self._named(self.before.classes)} has no place on the map")
        reference = self.step.entity
        if reference is not None and not self._possible(_of(reference), shaped):
            raise self._error(f'"{reference.words}" has no place on the map')
        result = Result.MEASURES if self.step.op is Op.MEASURE else Result.ENTITIES
        return CheckedStep(self.step, False, result, self.before.classes)

    def _relate(self) -> CheckedStep:
        assert self.before is not None
        assert self.step.property_ is not None
        assert self.step.property_.iri is not None
        known = self.schema.properties.get(self.step.property_.iri)
        if known is None:
            raise self._error(f'the ontology has no property "{self.step.property_.words}"')
        have = self.before.classes
        if known.kind is not PropertyKind.OBJECT:
            return self._value(known, have)
        there = _of(self.step.entity) if self.step.entity is not None else ()
        forward = self._possible(have, known.domains) and self._possible(there, known.ranges)
        backward = self._possible(have, known.ranges) and self._possible(there, known.domains)
        if not forward and not backward:
            raise self._error(self._misfit(known))
        certain_forward = self._certain(have, known.domains) or self._certain(there, known.ranges)
        certain_backward = self._certain(have, known.ranges) or self._certain(there, known.domains)
        inverse = not forward or (backward and certain_backward and not certain_forward)
        if self.step.entity is not None:
            return CheckedStep(self.step, inverse, Result.ENTITIES, have)
        far = known.domains if inverse else known.ranges
        return CheckedStep(
            self.step, inverse, Result.ENTITIES, tuple(frozenset({c}) for c in sorted_iris(far))
        )

    def _compare(self) -> CheckedStep:
        assert self.before is not None
        assert self.step.property_ is not None
        assert self.step.property_.iri is not None
        known = self.schema.properties.get(self.step.property_.iri)
        if known is None or not (is_dated(known.ranges) or is_measured(known.ranges, known.unit)):
            raise self._error(f'the values of "{self.step.property_.words}" are no dates and no numbers')
        have = self.before.classes
        if not self._possible(have, known.domains):
            raise self._error(self._misfit(known))
        value = None
        if self.step.value is not None:
            read = _compared_value(self.step.value, known)
            if isinstance(read, Unreadable):
                raise self._error(
                    f'"{self.step.value}" cannot be compared with "{known.label}": {read.reason}'
                )
            value = read
        return CheckedStep(self.step, False, Result.ENTITIES, have, value, is_dated(known.ranges))

    def _value(self, known: OntologyProperty, have: tuple[frozenset[NamedNode], ...]) -> CheckedStep:
        if self.step.entity is not None:
            raise self._error(f'the values of "{known.label}" are no entities, so it takes no "to"')
        if not self._possible(have, known.domains):
            raise self._error(self._misfit(known))
        return CheckedStep(self.step, False, Result.VALUES, ())

    def _possible(self, have: tuple[frozenset[NamedNode], ...], wanted: frozenset[NamedNode]) -> bool:
        if not have or not wanted:
            return True
        return any(
            not any(self.schema.are_disjoint(c, w) for c in together) for together in have for w in wanted
        )

    def _certain(self, have: tuple[frozenset[NamedNode], ...], wanted: frozenset[NamedNode]) -> bool:
        return bool(have and wanted) and all(
            any(self.schema.superclasses(c) & wanted for c in together) for together in have
        )

    def _misfit(self, known: OntologyProperty) -> str:
        assert self.before is not None
        ends = f"it leads from {self._labels(known.domains)} to {self._labels(known.ranges)}"
        there = f' and "{self.step.entity.words}"' if self.step.entity is not None else ""
        return f'"{known.label}" does not fit {self._named(self.before.classes)}{there}: {ends}'

    def _named(self, classes: tuple[frozenset[NamedNode], ...]) -> str:
        return self._labels(frozenset(c for together in classes for c in together))

    def _labels(self, classes: frozenset[NamedNode]) -> str:
        known = [self.schema.classes[c].label for c in sorted_iris(classes) if c in self.schema.classes]
        return " or ".join(f'"{label}"' for label in known) or "anything"

    def _error(self, message: str) -> PlanError:
        return PlanError(f'Step {self.number} ("{self.step.op}") does not work: {message}.', self.number)


def _compared_value(words: str, known: OntologyProperty) -> Literal | Unreadable:
    """The value that a property is compared with.

    A date may be less precise than the property's; a number without a unit is in the property's unit.
    """
    if is_dated(known.ranges):
        return read_date(words)
    read = read_value(words, known.ranges, known.unit)
    bare = read_value(words, known.ranges | {XSD.decimal}, None)
    return bare if isinstance(read, Unreadable) and isinstance(bare, Literal) else read


def _of(choice: Choice) -> tuple[frozenset[NamedNode], ...]:
    return (choice.classes,) if choice.classes else ()


def sorted_iris(iris: frozenset[NamedNode]) -> list[NamedNode]:
    """Return IRIs in alphabetical order."""
    return sorted(iris, key=lambda iri: iri.value)
