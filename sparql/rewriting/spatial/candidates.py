"""From geometries that a filter can be true of to rows of VALUES, by literal or by geometry node."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import Literal, NamedNode, Variable
from shapely import GEOSException, Point
from shapely.geometry.base import BaseGeometry

from geo.measure.measures import distances_m, may_be_near
from sparql.rewriting.index.features import Places
from sparql.rewriting.index.geometry_state import GeometryState
from sparql.rewriting.index.notes import Key
from sparql.rewriting.spatial.basic_patterns import Binding, Split, split_path
from sparql.rewriting.spatial.filter_sites import FilterSite
from sparql.rewriting.spatial.spatial_filters import Operand, SpatialFilter

_SHORT_LITERAL = 200
MOST_TEXT = 8_000_000
"""How many characters of candidates a query may gain."""


class TooMuchText(Exception):
    """The candidates would make the query too long."""


@dataclass(frozen=True)
class Found:
    """The candidates of one variable, by their places in the index.

    `exact` means that the filter is true of each and of no other.
    """

    places: Places
    exact: bool

    def __len__(self) -> int:
        return len(self.places)


@dataclass(frozen=True)
class VariableCandidates:
    """Candidates for a variable of one basic graph pattern; the filters `decided` are true of each."""

    sites: tuple[FilterSite, ...]
    binding: Binding
    places: Places
    decided: tuple[FilterSite, ...]

    @classmethod
    def of(cls, site: FilterSite, binding: Binding, found: Found) -> VariableCandidates:
        """Of one filter."""
        decided = (site,) if found.exact and site.own_pattern else ()
        return cls((site,), binding, found.places, decided)

    def and_also(self, other: VariableCandidates) -> VariableCandidates:
        """With those of another filter of the same variable."""
        places = numpy.intersect1d(self.places, other.places, assume_unique=True)
        sites, decided = (*self.sites, *other.sites), (*self.decided, *other.decided)
        return VariableCandidates(sites, self.binding, places, decided)


def find(filter_: SpatialFilter, operand: Operand, state: GeometryState) -> Found:
    """What a filter with one constant side can be true of."""
    return around(filter_, filter_.constant, operand, state, constant_left=filter_.left is filter_.constant)


def around(
    filter_: SpatialFilter,
    constant: BaseGeometry,
    operand: Operand,
    state: GeometryState,
    *,
    constant_left: bool,
) -> Found:
    """What a filter can be true of when its other side is `constant`."""
    area = filter_.area(constant, operand)
    places = state.shapes.numbers(area)
    if not len(places):
        return Found(places, exact=filter_.exact)
    try:
        if filter_.exact:
            holds = _holds(filter_, _copy(constant), places, state, constant_left=constant_left)
            return Found(places[holds], exact=True)
        if filter_.function == "distance" and all(one.plain for one in filter_.operands):
            places = places[_may_be_near(constant, places, filter_.slack.meters, state)]
    except GEOSException:
        pass
    return Found(places, exact=False)


def _may_be_near(
    constant: BaseGeometry, places: Places, meters: float, state: GeometryState
) -> NDArray[numpy.bool_]:
    shapes = state.shapes_at(places)
    if isinstance(constant, Point) and (shapely.get_type_id(shapes) == 0).all():
        return distances_m(constant, shapes) <= meters
    return may_be_near(constant, shapes, meters)


def _holds(
    filter_: SpatialFilter,
    constant: BaseGeometry,
    places: Places,
    state: GeometryState,
    *,
    constant_left: bool,
) -> NDArray[numpy.bool_]:
    """Which of some geometries an exact filter is true of, the other side being `constant`."""
    if not filter_.covers_points(constant_left=constant_left):
        # Whatever it is, it is not true of what does not even meet, which is several times faster to check.
        meeting = replace(filter_, function="sfIntersects", patterns=())
        holds = _holds(meeting, constant, places, state, constant_left=constant_left)
        shapes = state.shapes_at(places[holds])
        holds[holds] = filter_.holds(constant, shapes, constant_left=constant_left)
        return holds
    points = state.points_at(places)
    pointed = ~numpy.isnan(points[:, 0])
    holds = numpy.zeros(len(places), dtype=bool)
    holds[pointed] = filter_.holds_at(constant, points[pointed], constant_left=constant_left)
    if not pointed.all():
        shapes = state.shapes_at(places[~pointed])
        holds[~pointed] = filter_.holds(constant, shapes, constant_left=constant_left)
    return holds


@dataclass
class Column:
    """How one variable's candidates are written: the variable of VALUES and the term of each key."""

    variable: str
    by_node: bool
    split: Split = field(default_factory=dict)

    def term(self, key: Key) -> NamedNode | Literal:
        """The term of a key in VALUES."""
        node, literal = key
        return node if self.by_node and isinstance(node, NamedNode) else literal

    def exact(self, keys: Iterable[Key], state: GeometryState) -> bool:
        """Whether the candidates are these literals and no others."""
        return not self.by_node or all(len(state.literals_of(node)) == 1 for node, _ in keys)


def written_length(keys: Iterable[Key]) -> int:
    """How many characters the literals of some keys take in a query, each as often as it occurs."""
    return sum(len(literal.value) + 64 for _, literal in keys)


def column_for(binding: Binding, keys: Sequence[Key], length: int, *, fresh: str | None) -> Column:
    """By literal where they are short or must be, else by geometry node.

    `length` are the characters of all literals that would be written; `fresh` names a variable that may be
    made for a node hidden in a path, None where none may. Raises TooMuchText.
    """
    if all(isinstance(node, NamedNode) for node, _ in keys) and length > _SHORT_LITERAL * len(keys):
        if not binding.through_path and isinstance(binding.triple.subject, Variable):
            return Column(binding.triple.subject.value, by_node=True)
        if binding.through_path and fresh is not None and (split := split_path(binding, fresh)) is not None:
            return Column(fresh, by_node=True, split=split)
    if length > MOST_TEXT:
        raise TooMuchText
    return Column(binding.variable, by_node=False)


def _copy(shape: BaseGeometry) -> BaseGeometry:
    copy: BaseGeometry = shapely.from_wkb(shapely.to_wkb(shape))
    return copy
