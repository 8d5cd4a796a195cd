"""The registry of grammar rules, and what rules share."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sparql.ask.errors import PlanError
from sparql.ask.plan.nodes import Link, Set
from sparql.ask.plan.sets import And, Minus, Named, PlaceLink, Related, Top
from sparql.ask.plan.terms import Place
from sparql.ask.plan.typing import Types, Typing, both
from sparql.ask.planning.items import Category, Head, Noun
from sparql.ask.planning.quantities import Quantities

__all__ = [
    "Context",
    "Grammar",
    "Made",
    "Rules",
    "conjoin",
    "each_of",
    "grammar_of",
    "has_rank",
    "restriction",
]

Made = tuple[Category, Any, float]
"""A category, a meaning, and what the rule adds to the cost."""
UNSAID_PLACE = 0.7


@dataclass(frozen=True)
class Context:
    """What rules need: types, quantities, and the default distance of "near" by class, in meters."""

    typing: Typing
    quantities: Quantities
    near_meters: Callable[[Types], int]

    def related(self, link: Link, to: Set) -> Noun | None:
        """Return the restriction that a link to a set makes, None where the types do not fit."""
        node = Related(link, to)
        try:
            return Noun(node, self.typing.of(node), Head.RESTRICTION)
        except PlanError:
            return None

    def links(self, here: Types, there: Types) -> Iterator[tuple[Link, float]]:
        """Yield the links that the data has between things, though the question does not name one."""
        located = self.typing.located
        if (here is None or here & located) and (there is None or there & located):
            places = self.typing.containment(here, there)
            for place in places:
                yield PlaceLink(place), UNSAID_PLACE
            if not places and self.typing.crossing(here, there):
                yield PlaceLink(Place.OVERLAPS), UNSAID_PLACE
        yield from self.quantities.links(here, there)


Rule = Callable[[Context, Any, Any], Iterator[Made]]


@dataclass
class Rules:
    """The rules of a grammar, by the categories of their two parts."""

    by_parts: dict[tuple[Category, Category], list[Rule]] = field(default_factory=lambda: defaultdict(list))

    def rule(self, left: Category, right: Category) -> Callable[[Rule], Rule]:
        """Register a function as the rule for two categories."""

        def register(function: Rule) -> Rule:
            self.by_parts[left, right].append(function)
            return function

        return register


Grammar = Mapping[tuple[Category, Category], Sequence[Rule]]


def grammar_of(*parts: Rules) -> Grammar:
    """Return the rules of all parts, by the categories of what they combine."""
    grammar: dict[tuple[Category, Category], list[Rule]] = defaultdict(list)
    for part in parts:
        for categories, rules in part.by_parts.items():
            grammar[categories] += rules
    return dict(grammar)


def restriction(node: Set, types: Types) -> Noun:
    """Return a set phrase that restricts another."""
    return Noun(node, types, Head.RESTRICTION)


def conjoin(head: Noun, *others: Noun) -> Noun | None:
    """Return what is in all sets, headed by the first; None where their types exclude each other."""
    types, parts = head.types, list(head.node.sets if isinstance(head.node, And) else (head.node,))
    for other in others:
        if types is not None and other.types is not None and not types & other.types:
            return None
        types = both(types, other.types)
        parts += other.node.sets if isinstance(other.node, And) else (other.node,)
    if len(set(parts)) < len(parts):
        return None
    node: Set = And(tuple(parts))
    for other in others:
        apart = other.apart
        if apart is not None and (types is None or apart.types is None or types & apart.types):
            node = Minus(node, apart.node)
    return replace(head, node=node, types=types, pair=(), both=False)


def each_of(of: Noun) -> tuple[Set, ...]:
    """Return the things that a restriction is to each of: "near both X and Y"."""
    return of.pair if of.both and of.pair else (of.node,)


def has_rank(node: Set) -> bool:
    """Return whether a set, or a part of it that is not a name, is the top of another."""
    if isinstance(node, Top):
        return True
    return any(
        isinstance(part, Set) and not isinstance(part, Named) and has_rank(part)
        for part in getattr(node, "sets", ())
    )
