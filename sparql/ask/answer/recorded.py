"""Whether the graph knows enough to say no: of what is computed, or stated for the subject."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sparql.ask.answer.gaps import KindOf
from sparql.ask.compile.compiler import Compiler
from sparql.ask.linking.summary import RunQuery
from sparql.ask.plan.nodes import (
    And,
    Compare,
    CompareTo,
    CountOf,
    Kind,
    Minus,
    Named,
    Near,
    Or,
    Place,
    PlaceLink,
    Related,
    Set,
    SideOf,
)

__all__ = ["first_unrecorded"]


async def first_unrecorded(node: Set, compiler: Compiler, kind: KindOf, run_query: RunQuery) -> Set | None:
    """Return the first condition that the graph records nothing about for the subject, None for none.

    A class is closed, and so is what is computed from geometry that both ends have. A property is known for
    a subject that has any value of it.
    """
    parts = (
        node.sets
        if isinstance(node, And)
        else (node.set, node.without)
        if isinstance(node, Minus)
        else (node,)
    )
    head, *rest = parts
    for part in rest:
        for one in part.sets if isinstance(part, And | Or) else (part,):
            if not await _is_recorded(head, one, compiler, kind, run_query):
                return one
    return None


async def _is_recorded(head: Set, part: Set, compiler: Compiler, kind: KindOf, run_query: RunQuery) -> bool:
    match part:
        case Related(PlaceLink(place), to):
            ends = [end.entity for end in (head, to) if isinstance(end, Named)]
            shaped = [_true(await run_query(compiler.has_geometry(entity))) for entity in ends]
            if all(shaped):
                return True
            link = PlaceLink(Place.WITHIN if place is Place.DISJOINT else place)
            return _true(await run_query(compiler.has_link(head, link, kind)))
        case Related(link):
            return _true(await run_query(compiler.has_link(head, link, kind)))
        case Compare(quantity) if not isinstance(quantity, CountOf):
            return _true(await run_query(compiler.has_value(head, quantity, kind)))
        case CompareTo(quantity, _, to):
            both = [compiler.has_value(one, quantity, kind) for one in (head, to)]
            return all([_true(await run_query(query)) for query in both])
        case Near(of) | SideOf(_, of):
            ends = [end.entity for end in (head, of) if isinstance(end, Named)]
            return all([_true(await run_query(compiler.has_geometry(entity))) for entity in ends])
        case Kind() | Named():
            return True
    return True


def _true(results: Mapping[str, Any]) -> bool:
    return bool(results.get("boolean"))
