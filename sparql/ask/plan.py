"""The plan language: a chain of at most eight steps, each working on the result of the one before.

A model fills a plan under a JSON schema whose choices are the names, classes and properties that were
linked before, plus NONE. So it never writes an identifier, and its words are mapped back to IRIs through
the same choices.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from math import isfinite
from typing import Any, Final

from pyoxigraph import NamedNode

from sparql.ask.errors import PlanError

__all__ = [
    "ASSUMED_NEAREST",
    "MAX_STEPS",
    "NONE",
    "Bound",
    "Choice",
    "Choices",
    "Extreme",
    "Measure",
    "Op",
    "Plan",
    "Side",
    "Step",
    "plan_schema",
    "read_plan",
]

NONE: Final = "NONE"
MAX_STEPS: Final = 8
_FARTHEST_KM: Final = 20_100.0
_LONGEST_VALUE: Final = 100
_MOST_NEAREST: Final = 1000
ASSUMED_NEAREST: Final = 5
"""The number of "the nearest", where the question gives none."""


class Op(StrEnum):
    """What a step does to the result of the step before."""

    ENTITY = "entity"
    FIND = "find"
    RELATE = "relate"
    WITHIN = "within"
    NEAR = "near"
    NEAREST = "nearest"
    DIRECTION = "direction"
    TOUCHES = "touches"
    COMPARE = "compare"
    RANK = "rank"
    MEASURE = "measure"
    COUNT = "count"


class Bound(StrEnum):
    """The relation of a value to the given one; for dates, less is before."""

    LESS = "less"
    AT_MOST = "at most"
    EQUAL = "equal"
    AT_LEAST = "at least"
    MORE = "more"


class Extreme(StrEnum):
    """Which results a ranking keeps: those with the least value, or the greatest."""

    LEAST = "least"
    MOST = "most"


class Measure(StrEnum):
    """What is measured of a geometry: its distance from another, its area or its length."""

    DISTANCE = "distance"
    AREA = "area"
    LENGTH = "length"


class Side(StrEnum):
    """On which side of a place something is."""

    NORTH = "north"
    NORTHEAST = "northeast"
    EAST = "east"
    SOUTHEAST = "southeast"
    SOUTH = "south"
    SOUTHWEST = "southwest"
    WEST = "west"
    NORTHWEST = "northwest"


@dataclass(frozen=True)
class Choice:
    """One thing that a plan may name: words for the model, and an IRI; `iri` is None for NONE.

    `classes` are those of an entity; they are empty for classes and properties.
    """

    words: str
    iri: NamedNode | None
    classes: frozenset[NamedNode] = frozenset()


@dataclass(frozen=True)
class Choices:
    """Everything linked for a question, by its words in the plan."""

    names: Mapping[str, Choice] = field(default_factory=dict)
    classes: Mapping[str, Choice] = field(default_factory=dict)
    properties: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(frozen=True)
class Step:
    """One step; which fields are set depends on `op` (see `_FIELDS`).

    `km` is 0 where none was given, and so is `k`, the number of nearest things; `value` is the value of a
    comparison, in the question's words.
    """

    op: Op
    entity: Choice | None = None
    class_: Choice | None = None
    property_: Choice | None = None
    km: float | None = None
    bound: Bound | None = None
    value: str | None = None
    extreme: Extreme | None = None
    k: int | None = None
    measure: Measure | None = None
    side: Side | None = None

    @property
    def chosen(self) -> dict[str, Choice]:
        """Return what the step names, by the field of the plan language."""
        pairs = (
            (_ENTITY_FIELD.get(self.op, "of"), self.entity),
            ("class", self.class_),
            ("property", self.property_),
        )
        return {name: choice for name, choice in pairs if choice is not None}

    def as_json(self) -> dict[str, Any]:
        """Return the step in the plan language, with the IRI behind each word under "iris"."""
        chosen = self.chosen
        order = ("name", "class", "property", "to", "of")
        words: dict[str, Any] = {name: chosen[name].words for name in order if name in chosen}
        if self.km is not None:
            words["km"] = self.km
        if self.k is not None:
            words["k"] = self.k
        said: dict[str, str | None] = {"is": self.bound, "value": self.value, "by": self.extreme}
        said |= {"what": self.measure, "side": self.side}
        words |= {name: str(value) for name, value in said.items() if value is not None}
        iris = {name: choice.iri.value for name, choice in chosen.items() if choice.iri is not None}
        return {"op": self.op.value, **words, **({"iris": iris} if iris else {})}


@dataclass(frozen=True)
class Plan:
    """A plan as read; `sparql.ask.checking` decides whether its steps fit each other."""

    steps: tuple[Step, ...]

    def as_json(self) -> list[dict[str, Any]]:
        """Return the steps as JSON objects."""
        return [step.as_json() for step in self.steps]


_ENTITY_FIELD: Final = {Op.ENTITY: "name", Op.RELATE: "to"}
_FIELDS: Final[Mapping[Op, tuple[frozenset[str], ...]]] = {
    Op.ENTITY: (frozenset({"name"}),),
    Op.FIND: (frozenset({"class"}),),
    Op.RELATE: (frozenset({"property"}), frozenset({"property", "to"})),
    Op.WITHIN: (frozenset({"of"}),),
    Op.NEAR: (frozenset({"of", "km"}),),
    Op.NEAREST: (frozenset({"of", "k"}),),
    Op.DIRECTION: (frozenset({"of", "side"}),),
    Op.TOUCHES: (frozenset({"of"}),),
    Op.COMPARE: (frozenset({"property", "is", "value"}),),
    Op.RANK: (frozenset({"property", "by"}),),
    Op.MEASURE: (frozenset({"what"}), frozenset({"what", "of"})),
    Op.COUNT: (frozenset(),),
}


def plan_schema(choices: Choices, *, measuring: bool = True) -> dict[str, Any]:
    """Return the JSON schema of a plan over these choices, in the dialect that TGI supports.

    That means `properties` everywhere, no type lists, no allOf, and small flat objects. `measuring`: include
    the steps that compare values and distances, which a model trained without them does not know.
    """
    names, classes, properties = (
        {"type": "string", "enum": [*mapping, NONE]}
        for mapping in (choices.names, choices.classes, choices.properties)
    )
    steps = [
        _object(op="entity", name=names),
        _object(op="find", **{"class": classes}),
        _object(op="relate", property=properties, to=names),
        _object(op="relate", property=properties),
        _object(op="within", of=names),
        _object(op="near", of=names, km={"type": "number"}),
        _object(op="touches", of=names),
        _object(op="count"),
    ]
    if measuring:
        bounds, extremes, sides = (
            {"type": "string", "enum": [str(one) for one in kind]} for kind in (Bound, Extreme, Side)
        )
        steps += [
            _object(op="compare", property=properties, value={"type": "string"}, **{"is": bounds}),
            _object(op="rank", property=properties, by=extremes),
            _object(op="nearest", of=names, k={"type": "integer"}),
            _object(op="direction", of=names, side=sides),
            _object(op="measure", what={"const": Measure.DISTANCE.value}, of=names),
            _object(
                op="measure", what={"type": "string", "enum": [Measure.AREA.value, Measure.LENGTH.value]}
            ),
        ]
    items = {"anyOf": steps}
    array = {"type": "array", "items": items, "minItems": 1, "maxItems": MAX_STEPS}
    return {
        "type": "object",
        "properties": {"steps": array},
        "required": ["steps"],
        "additionalProperties": False,
    }


def _object(*, op: str, **fields: Mapping[str, Any]) -> dict[str, Any]:
    properties: dict[str, Any] = {"op": {"const": op}, **fields}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def read_plan(text: str, choices: Choices) -> Plan:
    """Read a model's reply as a plan. Raises `PlanError`, whose message tells the model what to fix."""
    try:
        reply = json.loads(text)
    except json.JSONDecodeError as error:
        raise PlanError(f"The plan is not JSON ({error.msg} at character {error.pos}).") from error
    steps = reply.get("steps") if isinstance(reply, dict) else None
    if not isinstance(steps, list) or not 1 <= len(steps) <= MAX_STEPS:
        raise PlanError(f'The plan must be {{"steps": [...]}} with one to {MAX_STEPS} steps.')
    return Plan(tuple(_read_step(number, step, choices) for number, step in enumerate(steps, 1)))


def _read_step(number: int, step: Any, choices: Choices) -> Step:
    if not isinstance(step, dict) or step.get("op") not in {op.value for op in Op}:
        raise PlanError(f'Step {number} needs an "op": one of {", ".join(Op)}.', number)
    op = Op(step["op"])
    if frozenset(step) - {"op"} not in _FIELDS[op]:
        wanted = " or ".join(", ".join(sorted(fields)) or "nothing" for fields in _FIELDS[op])
        raise PlanError(f'Step {number} ("{op}") takes {wanted} beside "op".', number)
    return Step(
        op,
        entity=_read_choice(number, step, _ENTITY_FIELD.get(op, "of"), choices.names),
        class_=_read_choice(number, step, "class", choices.classes),
        property_=_read_choice(number, step, "property", choices.properties),
        km=_read_km(number, step),
        bound=Bound(_read_word(number, step, "is", Bound)) if op is Op.COMPARE else None,
        value=_read_value(number, step) if op is Op.COMPARE else None,
        extreme=Extreme(_read_word(number, step, "by", Extreme)) if op is Op.RANK else None,
        k=_read_k(number, step),
        measure=_read_measure(number, step) if op is Op.MEASURE else None,
        side=Side(_read_word(number, step, "side", Side)) if op is Op.DIRECTION else None,
    )


def _read_word(number: int, step: Mapping[str, Any], name: str, known: Iterable[str]) -> str:
    word = step[name]
    if word not in list(known):
        raise PlanError(f'Step {number}: "{name}" must be one of: {"; ".join(known)}.', number)
    return str(word)


def _read_measure(number: int, step: Mapping[str, Any]) -> Measure:
    measure = Measure(_read_word(number, step, "what", Measure))
    if (measure is Measure.DISTANCE) is not ("of" in step):
        raise PlanError(
            f'Step {number}: a distance takes "of", its other end; other measures do not.', number
        )
    return measure


def _read_k(number: int, step: Mapping[str, Any]) -> int | None:
    if "k" not in step:
        return None
    k = step["k"]
    if isinstance(k, bool) or not isinstance(k, int) or not 0 <= k <= _MOST_NEAREST:
        raise PlanError(
            f'Step {number}: "k" must be a whole number up to {_MOST_NEAREST:,}; 0 means that none was said.',
            number,
        )
    return k


def _read_value(number: int, step: Mapping[str, Any]) -> str:
    value = step["value"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    if not isinstance(value, str) or not value.strip() or len(value) > _LONGEST_VALUE:
        raise PlanError(f'Step {number}: "value" must be the date or number of the question.', number)
    return " ".join(value.split())


def _read_choice(
    number: int, step: Mapping[str, Any], name: str, offered: Mapping[str, Choice]
) -> Choice | None:
    if name not in step:
        return None
    words = step[name]
    if words == NONE:
        return Choice(NONE, None)
    if not isinstance(words, str) or words not in offered:
        known = "; ".join([*offered, NONE])
        raise PlanError(f'Step {number}: "{name}" must be one of: {known}.', number)
    return offered[words]


def _read_km(number: int, step: Mapping[str, Any]) -> float | None:
    if "km" not in step:
        return None
    km = step["km"]
    if isinstance(km, bool) or not isinstance(km, int | float) or not isfinite(km):
        raise PlanError(f'Step {number}: "km" must be a number; 0 means that none was said.', number)
    if not 0 <= km <= _FARTHEST_KM:
        raise PlanError(f'Step {number}: "km" must lie between 0 and {_FARTHEST_KM:,.0f}.', number)
    return float(km)
