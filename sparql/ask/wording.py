"""Plans and counts as text, for the answer, the trace and the gaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from sparql.ask.checking import CheckedPlan, CheckedStep
from sparql.ask.plan import Bound, Extreme, Measure, Op, Step

__all__ = [
    "bound_words",
    "describe",
    "enumerate_labels",
    "is_about_one",
    "kilometers",
    "measured_words",
    "plural",
    "step_words",
]

_LISTED: Final = 10
_OF_DATES: Final = {
    Bound.LESS: "before",
    Bound.AT_MOST: "not after",
    Bound.EQUAL: "in",
    Bound.AT_LEAST: "not before",
    Bound.MORE: "after",
}
_OF_NUMBERS: Final = {
    Bound.LESS: "less than",
    Bound.AT_MOST: "at most",
    Bound.EQUAL: "of exactly",
    Bound.AT_LEAST: "at least",
    Bound.MORE: "more than",
}
_IRREGULAR: Final = {"person": "people", "child": "children", "man": "men", "woman": "women"}


def describe(plan: CheckedPlan, assumed_km: Mapping[int, float], *, one: bool = False) -> str:
    """Return the plan as a noun phrase, such as "museums in Manhattan"."""
    words = ""
    for number, checked in enumerate(plan.steps, 1):
        words = _extend(words, checked, assumed_km.get(number), one=one)
    return words


def _extend(words: str, checked: CheckedStep, assumed_km: float | None, *, one: bool) -> str:
    step = checked.step
    entity = step.entity.words if step.entity else ""
    match step.op:
        case Op.ENTITY:
            return entity
        case Op.FIND:
            class_ = step.class_.words if step.class_ else ""
            found = class_ if one else plural(class_)
            return f"{words}, only {found}" if words else found
        case Op.WITHIN:
            return f"{words} in {entity}"
        case Op.TOUCHES:
            return f"{words} bordering {entity}"
        case Op.NEAR:
            return f"{words} within {kilometers(assumed_km or step.km or 0)} of {entity}"
        case Op.DIRECTION:
            return f"{words} {step.side} of {entity}"
        case Op.NEAREST:
            return f"{words} nearest to {entity}"
        case Op.MEASURE:
            return f"{step.measure} {f'from {entity} ' if entity else ''}of {words}"
        case Op.RELATE:
            relation = step.property_.words if step.property_ else ""
            if step.entity is not None:
                end = f"{entity} has them as" if checked.inverse else ""
                return f"{words} ({end} {relation})" if checked.inverse else f"{words} ({relation}: {entity})"
            return f'what has {words} as "{relation}"' if checked.inverse else f'"{relation}" of {words}'
        case Op.COMPARE:
            return (
                f"{words} {bound_words(checked)}" if checked.dated else f"{words} with {bound_words(checked)}"
            )
        case Op.RANK:
            relation = step.property_.words if step.property_ else ""
            if checked.dated:
                return f"{words} {relation} {'first' if step.extreme is Extreme.LEAST else 'last'}"
            return f"{words} with the {step.extreme} {relation}"
        case Op.COUNT:
            return words


def bound_words(checked: CheckedStep) -> str:
    """Return a comparison in words: "height more than 300 feet", "established before 1900"."""
    step = checked.step
    joint = (_OF_DATES if checked.dated else _OF_NUMBERS)[step.bound or Bound.EQUAL]
    return f"{step.property_.words if step.property_ else ''} {joint} {step.value}"


def measured_words(measure: Measure | None, size: float) -> str:
    """Return a measure in words: "2.5 km" for a distance or a length, "3.4 km²" for an area."""
    return kilometers(size) + ("²" if measure is Measure.AREA else "")


def is_about_one(plan: CheckedPlan) -> bool:
    """Return whether a plan asks if one named thing meets conditions: its answer is yes or no."""
    first, *rest = plan.steps
    keeps = all(
        c.step.op in {Op.FIND, Op.WITHIN, Op.NEAR, Op.DIRECTION, Op.TOUCHES, Op.COMPARE}
        or (c.step.op is Op.RELATE and c.step.entity is not None)
        for c in rest
    )
    return first.step.op is Op.ENTITY and bool(rest) and keeps


def step_words(step: Step) -> str:
    """Return a step as text, in the model's words."""
    chosen = " ".join(f"{choice.words}" for choice in step.chosen.values())
    km = f" {kilometers(step.km)}" if step.km else ""
    details = (step.bound, step.value, step.extreme, step.k, step.measure, step.side)
    said = "".join(f" {word}" for word in details if word is not None)
    return f"{step.op} {chosen}{km}{said}".strip()


def enumerate_labels(labels: Sequence[str]) -> str:
    """Return "A, B and C", at most ten of them."""
    if len(labels) > _LISTED:
        return f"{', '.join(labels[:_LISTED])} and {len(labels) - _LISTED:,} more"
    if len(labels) < 2:
        return "".join(labels)
    return f"{', '.join(labels[:-1])} and {labels[-1]}"


def kilometers(km: float) -> str:
    """Return a distance in words: "1.5 km"."""
    return f"{km:,.3f}".rstrip("0").rstrip(".") + " km"


def plural(words: str) -> str:
    """Return the English plural of a class label: "place of worship" becomes "places of worship"."""
    head, joint, rest = words.partition(" of ")
    before, _, last = head.rpartition(" ")
    return f"{before} {_plural_word(last)}{joint}{rest}".strip()


def _plural_word(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
