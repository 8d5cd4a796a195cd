"""Follow-up questions: "And in Queens?" is the question before with one of its parts replaced."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from typing import Any, Final

from sparql.ask.errors import PlanError
from sparql.ask.plan.nodes import Kind, List, Named, Near, Node, Plan, Related, Set, SideOf
from sparql.ask.plan.typing import Typing

__all__ = ["follow_up_words", "replaced"]

_BEGINS: Final = re.compile(
    r"^\s*(?:and|what about|how about|and what about|and how about)\b[\s,]*", re.IGNORECASE
)


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
    for old in _sets(plan):
        if old != new and _is_alike(old, new, typing):
            made = _with(plan, old, new)
            assert isinstance(made, Plan)
            return made
    return None


def _is_alike(old: Set, new: Set, typing: Typing) -> bool:
    if isinstance(old, Named) and isinstance(new, Named):
        try:
            one, other = typing.of(old), typing.of(new)
        except PlanError:
            return False
        return one is None or other is None or bool(one & other)
    if isinstance(old, Related) and isinstance(new, Related):
        return old.link == new.link
    if isinstance(new, Kind):
        return isinstance(old, Kind)
    return type(old) is type(new) and isinstance(new, SideOf | Near)


def _sets(part: Any) -> Iterator[Set]:
    if isinstance(part, Set):
        yield part
    parts: Sequence[Any] = part if isinstance(part, tuple) else ()
    if isinstance(part, Node):
        parts = [getattr(part, one.name) for one in fields(part)]  # type: ignore[arg-type]
    for one in parts:
        yield from _sets(one)


def _with(part: Any, old: Set, new: Set) -> Any:
    if part == old:
        return new
    if isinstance(part, tuple):
        return tuple(_with(one, old, new) for one in part)
    if isinstance(part, Node):
        parts = {one.name: getattr(part, one.name) for one in fields(part)}  # type: ignore[arg-type]
        return replace(part, **{name: _with(one, old, new) for name, one in parts.items()})  # type: ignore[type-var]
    return part
