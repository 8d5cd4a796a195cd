"""What a question asks of distances and sides: "the two nearest museums to", "how far is", "north of".

A large model says it in its plan (`nearest`, `direction`, `measure`). A small one that was trained without
these steps is asked for what is near instead, and what it says of that becomes what was meant; how far two
named things are from each other needs no model. Both are read by English words.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from sparql.ask.naming import FoundName
from sparql.ask.plan import Choice, Choices, Measure, Op, Plan, Side, Step
from sparql.ask.wording import plural

__all__ = ["SIDE_OF", "Instead", "read_direction", "read_distance", "read_nearest"]

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
_HOW_FAR = re.compile(
    r"^\W*(?:how\s+far\s+(?:away\s+)?(?:is|are|is\s+it)(?:\s+from)?|"
    r"what\s+is\s+the\s+distance\s+(?:between|from|of)|distance\s+(?:between|from))(?:\s+the)?\s*$",
    re.IGNORECASE,
)
SIDE_OF: Final = re.compile(
    r"\b(?:to\s+the\s+)?(?P<side>(?:north|south)(?:[\s-]?(?:east|west))?|east|west)(?:ern)?\s+of\s+(?:the\s+)?",
    re.IGNORECASE,
)
_FROM = re.compile(r"^,?\s*(?:away\s+)?(?:from|to|and)(?:\s+the)?\s*$", re.IGNORECASE)
_END = re.compile(r"^\s*[?.!]*\s*$")


@dataclass(frozen=True)
class Instead:
    """What a question asks of a name, and the question of what is near it in its place.

    A model that knows no other way is asked that `question`; in its plan `step` is then what it is near.
    """

    question: str
    name: FoundName
    step: Step

    def in_plan(self, plan: Plan) -> Plan:
        """The plan of the question of what is near, with the step that was meant."""
        return Plan(tuple(self._of(step) for step in plan.steps))

    def _of(self, step: Step) -> Step:
        same = step.entity is not None and step.entity.iri == self.name.link.iri
        return replace(self.step, entity=step.entity) if step.op is Op.NEAR and same else step


def read_direction(question: str, names: Sequence[FoundName]) -> Instead | None:
    """Read which name a question asks for a side of, such as the north; None where it does not ask that."""
    for match in SIDE_OF.finditer(question):
        name = next((name for name in names if name.start == match.end()), None)
        if name is not None:
            asked = f"{question[: match.start()]} near {question[name.start :]}"
            step = Step(Op.DIRECTION, side=Side(re.sub(r"[\s-]|ern", "", match["side"].casefold())))
            return Instead(" ".join(asked.split()), name, step)
    return None


def read_nearest(question: str, names: Sequence[FoundName]) -> Instead | None:
    """Read which name a question asks the nearest to, or None where it does not ask that."""
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


def _nearest(question: str, before: str, things: str, name: FoundName, names: Sequence[FoundName]) -> Instead:
    before, k = _counted(before, names)
    things, other = _counted(things.strip())
    kind, joint, place = things.partition(" in ")
    several = kind.endswith("s") or _SEVERAL.search(before) is not None
    if things:
        before = f"Which {kind if kind.endswith('s') else plural(kind)}{joint}{place} are"
    asked = f"{before} near {question[name.start :]}"
    step = Step(Op.NEAREST, k=k or other or (0 if several else 1))
    return Instead(" ".join(asked.split()), name, step)


def _counted(words: str, names: Sequence[FoundName] = ()) -> tuple[str, int]:
    """The words without the number of things asked for, and that number; 0 where there is none."""
    for match in _COUNTED.finditer(words):
        if not any(name.start <= match.start() < name.end for name in names):
            return words[: match.start()] + words[match.end() :], _number(match[1])
    return words, 0


def _number(word: str) -> int:
    return _NUMBERS.get(word.casefold()) or int(word)


def read_distance(question: str, names: Sequence[FoundName], choices: Choices) -> Plan | None:
    """Read how far one named thing is from another; None where the question asks for something else."""
    if len(names) != 2:
        return None
    first, second = names
    parts = (
        (_HOW_FAR, question[: first.start]),
        (_FROM, question[first.end : second.start]),
        (_END, question[second.end :]),
    )
    ends = [_choice(name, choices) for name in names]
    if not all(pattern.match(text) for pattern, text in parts) or None in ends:
        return None
    return Plan((Step(Op.ENTITY, entity=ends[0]), Step(Op.MEASURE, entity=ends[1], measure=Measure.DISTANCE)))


def _choice(name: FoundName, choices: Choices) -> Choice | None:
    return next(
        (one for one in choices.names.values() if one.iri is not None and one.iri == name.link.iri), None
    )
