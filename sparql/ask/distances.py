"""Spatial requests relative to a place that are not properties: "the two nearest museums to", "north of".

A large model writes them in its plan (`nearest`, `direction`). A small one that was trained without these
steps gets a question about "near" instead, and that step of its plan is then replaced. They are recognized by
English words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sparql.ask.naming import FoundName
from sparql.ask.plan import Op, Plan, Side, Step
from sparql.ask.wording import plural

__all__ = ["SIDE_OF", "NearReplacement", "read_direction", "read_nearest"]

_NUMBERS: Final = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)  # noqa: SIM905
}
_NUMBER = rf"(?:{'|'.join(_NUMBERS)}|\d{{1,3}})"
_SUPERLATIVE = re.compile(r"\b(?:the\s+)?(?:nearest|closest)\b", re.IGNORECASE)
_COUNTED = re.compile(rf"\b({_NUMBER})\b\s*", re.IGNORECASE)
# Between the superlative and the name: "museum to the", "museums from", "to".
_LEADS_TO = re.compile(r"^(?P<things>(?:\s+[\w-]+){0,6}?)\s+(?:to|from)(?:\s+the)?\s*$", re.IGNORECASE)
_NOTHING = re.compile(r"^(?:\s+the)?\s*$", re.IGNORECASE)
_SEVERAL = re.compile(r"\b(?:are|were)\b", re.IGNORECASE)
SIDE_OF: Final = re.compile(
    r"\b(?:to\s+the\s+)?(?P<side>(?:north|south)(?:[\s-]?(?:east|west))?|east|west)(?:ern)?\s+of\s+(?:the\s+)?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class NearReplacement:
    """The step that a question asks for, and a `question` about "near" for a model that does not know it.

    In the model's plan, the near step is replaced by `step`.
    """

    question: str
    name: FoundName
    step: Step

    def in_plan(self, plan: Plan) -> Plan:
        """The plan of the question about "near", with its near step replaced."""
        return Plan(tuple(self._of(step) for step in plan.steps))

    def _of(self, step: Step) -> Step:
        same = step.entity is not None and step.entity.iri == self.name.link.iri
        return replace(self.step, entity=step.entity) if step.op is Op.NEAR and same else step


def read_direction(question: str, names: Sequence[FoundName]) -> NearReplacement | None:
    """Read the name and side, such as north, that a question asks for; None where it asks for none."""
    for match in SIDE_OF.finditer(question):
        name = next((name for name in names if name.start == match.end()), None)
        if name is not None:
            asked = f"{question[: match.start()]} near {question[name.start :]}"
            step = Step(Op.DIRECTION, side=Side(re.sub(r"[\s-]|ern", "", match["side"].casefold())))
            return NearReplacement(" ".join(asked.split()), name, step)
    return None


def read_nearest(question: str, names: Sequence[FoundName]) -> NearReplacement | None:
    """Read the name that a question asks the nearest things to; None where it asks for none."""
    found = next(
        (m for m in _SUPERLATIVE.finditer(question) if not any(n.start <= m.start() < n.end for n in names)),
        None,
    )
    if found is None:
        return None
    for name in names:
        between = question[found.end() : name.start]
        if name.start >= found.end() and (led := _LEADS_TO.match(between) or _NOTHING.match(between)):
            return _nearest(
                question, question[: found.start()], led.groupdict().get("things", ""), name, names
            )
    return None


def _nearest(
    question: str, before: str, things: str, name: FoundName, names: Sequence[FoundName]
) -> NearReplacement:
    before, k = _counted(before, names)
    things, other = _counted(things.strip())
    kind, joint, place = things.partition(" in ")
    several = kind.endswith("s") or _SEVERAL.search(before) is not None
    if things:
        before = f"Which {kind if kind.endswith('s') else plural(kind)}{joint}{place} are"
    asked = f"{before} near {question[name.start :]}"
    step = Step(Op.NEAREST, k=k or other or (0 if several else 1))
    return NearReplacement(" ".join(asked.split()), name, step)


def _counted(words: str, names: Sequence[FoundName] = ()) -> tuple[str, int]:
    """The words without the requested number of things, and that number; 0 where there is none."""
    for match in _COUNTED.finditer(words):
        if not any(name.start <= match.start() < name.end for name in names):
            return words[: match.start()] + words[match.end() :], _number(match[1])
    return words, 0


def _number(word: str) -> int:
    return _NUMBERS.get(word.casefold()) or int(word)
