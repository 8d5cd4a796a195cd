"""Whether an empty result is an answer, or only not recorded."""

from __future__ import annotations

from typing import Any

from sparql.ask.answer.gaps import nodes_of
from sparql.ask.plan.nodes import (
    And,
    Compare,
    Count,
    Kind,
    Minus,
    Named,
    Place,
    PlaceLink,
    Plan,
    PropertyLink,
    Related,
    Top,
    ValueOf,
)
from sparql.ask.plan.typing import Typing
from sparql.model.vocabulary import XSD

__all__ = ["is_closed", "is_settled"]


def is_settled(plan: Plan, typing: Typing) -> bool:
    """Whether an empty result is the answer: where things are is computed, and all dates are recorded."""
    return is_closed(plan, typing) and not any(isinstance(n, PropertyLink) for n in nodes_of(plan))


def is_closed(plan: Plan, typing: Typing) -> bool:
    """Whether the graph records the properties of an empty result at all, so that "none" may be said."""
    nodes = list(nodes_of(plan))
    kinds = [node for node in nodes if isinstance(node, Kind)]
    if not kinds and not isinstance(plan, Count):
        return False
    if any(isinstance(node, Top) for node in nodes):
        return False
    # A date with a month may be missed only because the graph has years.
    if any(isinstance(node, Compare) and node.value.datatype == XSD.gYearMonth for node in nodes):
        return False
    # "In Queens and in Brooklyn" may mean either of them: that nothing is in both is no answer.
    inside = [n.to for n in nodes if isinstance(n, Related) and n.link == PlaceLink(Place.WITHIN)]
    if sum(isinstance(to, Named) for to in inside) > 1 and not any(isinstance(n, Minus) for n in nodes):
        return False
    # A point has no border: that none touches or crosses is not known.
    if any(not _has_extent(node, typing) for node in nodes):
        return False
    links = [node.property.iri for node in nodes if isinstance(node, PropertyLink)]
    # Of a class without members nothing is known.
    if any(typing.of(kind) is None for kind in kinds):
        return False
    values = [term.iri for node in nodes if isinstance(node, ValueOf) for term in node.path]
    return all(typing.edges(iri) for iri in links) and all(
        typing.is_recorded(iri, typing.of(kind)) for iri in values for kind in kinds[:1]
    )


def _has_extent(node: Any, typing: Typing) -> bool:
    """Whether things of the kinds that are to touch or cross others have shapes that can."""
    if not isinstance(node, And):
        return True
    kinds = [typing.of(one) for one in node.sets if isinstance(one, Kind)]
    for one in node.sets:
        link = one.link if isinstance(one, Related) else None
        if isinstance(one, Related) and link in (PlaceLink(Place.TOUCHES), PlaceLink(Place.OVERLAPS)):
            meets = typing.touching if link == PlaceLink(Place.TOUCHES) else typing.crossing
            if not all(meets(kind, typing.of(one.to)) for kind in kinds):
                return False
    return True
