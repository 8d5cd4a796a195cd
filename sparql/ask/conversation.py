"""What stands around a question: sentences in which nothing can be looked up, and the question before.

A word that no plan uses is a reason not to answer, since the answer would be to another question ("but only
cheerful ones"). That does not hold for a whole sentence about the person who asks ("I am on foot."), which
asks for nothing, and names nothing that the graph or the ontology has: it is left out, and the answer says
so.

"And in Queens?" is the question before with one of its parts replaced.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from sparql.ask.errors import PlanError
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import ClassName, DateValue, EntityName, PropertyName, TextValue
from sparql.ask.linking.words import english, tokens_of
from sparql.ask.plan.nodes import Node, Plan, Set, parts_of
from sparql.ask.plan.questions import List
from sparql.ask.plan.sets import Kind, Named, Near, Related, SideOf
from sparql.ask.plan.typing import Typing

_CONTENT: Final = (EntityName, ClassName, PropertyName, TextValue, DateValue)
_BREAK: Final = re.compile(r"(?<=[.!?;])\s+")
_BEGINS: Final = re.compile(
    r"^\s*(?:and|what about|how about|and what about|and how about)\b[\s,]*", re.IGNORECASE
)


@dataclass(frozen=True)
class Asides:
    """A question without the sentences of it and of its context that were `left_out`."""

    asked: str
    left_out: tuple[str, ...]

    @property
    def note(self) -> str:
        """What the answer says of them."""
        quoted = ", ".join(f"“{sentence}”" for sentence in self.left_out)
        return f"Not used, since nothing in it can be looked up: {quoted}."


async def without_asides(
    question: str, context: str, link: Callable[[str], Awaitable[LinkedQuestion]]
) -> Asides | None:
    """Leave out such sentences; None where there are none, or nothing else."""
    kept: list[str] = []
    left_out: list[str] = []
    for sentence in (*_sentences(question), *_sentences(context)):
        is_aside = _is_of_the_asker(sentence) and not _names_something(await link(sentence))
        (left_out if is_aside else kept).append(sentence.rstrip(" ?.!;"))
    return Asides(" ".join(kept), tuple(left_out)) if kept and left_out else None


def _sentences(text: str) -> Sequence[str]:
    return [part for part in _BREAK.split(text.strip()) if part]


def _is_of_the_asker(sentence: str) -> bool:
    words = [token.text for token in tokens_of(sentence)]
    asides = english()["asides"]
    begins = any(words[: len(opening)] == opening for opening in map(str.split, asides["openings"]))
    return begins and not sentence.endswith("?") and not set(words) & set(asides["demands"])


def _names_something(linked: LinkedQuestion) -> bool:
    return any(isinstance(reading.meaning, _CONTENT) for reading in linked.readings)


def follow_up_words(question: str) -> str | None:
    """Return what follows "And" or "What about", None where the question does not begin so."""
    match = _BEGINS.match(question)
    rest = question[match.end() :].strip() if match and match[0].strip() else ""
    return rest or None


def replaced(plan: Plan, fragment: Plan, typing: Typing) -> Plan | None:
    """Return a plan with the part replaced that a fragment is of the same kind as; None where there is none.

    A name replaces a name of a common class, a class a class, and a restriction one of the same form.
    """
    if not isinstance(fragment, List):
        return None
    new = fragment.set
    for old in parts_of(plan):
        if isinstance(old, Set) and old != new and _is_alike(old, new, typing):
            made = _with(plan, old, new)
            assert isinstance(made, Plan)
            return made
    return None


def _is_alike(old: Set, new: Set, typing: Typing) -> bool:
    if isinstance(old, Named) and isinstance(new, Named):
        try:
            before, after = typing.of(old), typing.of(new)
        except PlanError:
            return False
        return before is None or after is None or bool(before & after)
    if isinstance(old, Related) and isinstance(new, Related):
        return old.link == new.link
    if isinstance(new, Kind):
        return isinstance(old, Kind)
    return type(old) is type(new) and isinstance(new, SideOf | Near)


def _with(part: Any, old: Set, new: Set) -> Any:
    if part == old:
        return new
    if isinstance(part, tuple):
        return tuple(_with(member, old, new) for member in part)
    if isinstance(part, Node):
        parts = {each.name: getattr(part, each.name) for each in fields(part)}  # type: ignore[arg-type]
        return replace(part, **{name: _with(member, old, new) for name, member in parts.items()})  # type: ignore[type-var]
    return part
