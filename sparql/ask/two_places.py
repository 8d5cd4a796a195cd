"""Questions about two named places: "How far is ... from ...?", "Is ... in ...?", "in ... near ...".

They are recognized by English words; a small model tends to omit one of the two.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from sparql.ask.naming import FoundName
from sparql.ask.plan import Choice, Choices, Measure, Op, Plan, Step

__all__ = ["read_two_places", "with_regions"]


def _words(pattern: str) -> re.Pattern[str]:
    """The text in front of a name; it may end with an article of the name."""
    return re.compile(rf"\W*(?:{pattern})(?:\s+the)?\s*", re.IGNORECASE)


_IS: Final = _words("is|are|was|were")
# The text before the first name, the text between the two, and the request.
_QUESTIONS: Final = (
    (
        _words(
            r"how\s+far\s+(?:away\s+)?(?:is|are|is\s+it)(?:\s+from)?|"
            r"(?:what\s+is\s+the\s+)?distance\s+(?:between|from|of)"
        ),
        _words(r"(?:away\s+)?(?:from|to|and)"),
        Step(Op.MEASURE, measure=Measure.DISTANCE),
    ),
    (_IS, _words(r"(?:(?:located|situated)\s+)?(?:in|inside|within)"), Step(Op.WITHIN)),
    (_IS, _words(r"(?:right\s+)?(?:next\s+to|adjacent\s+to|bordering)"), Step(Op.TOUCHES)),
    (_words("does|do"), _words("border|touch|adjoin"), Step(Op.TOUCHES)),
    (_IS, _words(r"near|close\s+to"), Step(Op.NEAR, km=0.0)),
)
_IN: Final = re.compile(r"\b(?:in|inside|within)\s+(?:the\s+)?$", re.IGNORECASE)
_END: Final = re.compile(r"[\s?.!]*")


def read_two_places(question: str, names: Sequence[FoundName], choices: Choices) -> Plan | None:
    """Read the request about two names; None where there are not two, or it is another request."""
    if len(names) != 2:
        return None
    first, second = names
    before, between = question[: first.start], question[first.end : second.start]
    one, other = (_choice(name, choices) for name in names)
    if one is None or other is None or not _END.fullmatch(question[second.end :]):
        return None
    for begins, joins, step in _QUESTIONS:
        if begins.fullmatch(before) and joins.fullmatch(between):
            asked = Step(step.op, entity=other, km=step.km, measure=step.measure)
            return Plan((Step(Op.ENTITY, entity=one), asked))
    return None


def with_regions(plan: Plan, question: str, names: Sequence[FoundName], choices: Choices) -> Plan:
    """The plan, where it finds a kind of thing, with the regions that the question gives for them."""
    used = {step.entity.iri for step in plan.steps if step.entity is not None}
    regions = [
        Step(Op.WITHIN, entity=region)
        for name in names
        if _IN.search(question[: name.start])
        and (region := _choice(name, choices)) is not None
        and region.iri not in used
    ]
    first, *rest = plan.steps
    return Plan((first, *regions, *rest)) if first.op is Op.FIND else plan


def _choice(name: FoundName, choices: Choices) -> Choice | None:
    found = (one for one in choices.names.values() if one.iri is not None and one.iri == name.link.iri)
    return next(found, None)
