"""Spatial joins of two variables: the pairs come from the index instead of from every with every.

The patterns of a join fall into two sides that only the filter connects. What a side has is known from the
index where its patterns are but the way to the geometry and classes, else a probe asks for it. Around the
geometries of the smaller side the index names the others, and the pairs go into VALUES: as features where the
index knows which feature each geometry is of, else by literal or geometry node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import BlankNode, NamedNode, Variable
from shapely import GEOSException

from sparql.model.geometry import text_of
from sparql.rewriting.basic_patterns import (
    Binding,
    GeometryPath,
    Split,
    geometry_path_of,
    part_of,
    split_path,
)
from sparql.rewriting.candidates import (
    TooMuchText,
    around,
    class_patterns,
    column_for,
    times_of,
    written_length,
)
from sparql.rewriting.geometry_state import Form, GeometryState, Places
from sparql.rewriting.spatial_filters import SpatialFilter
from sparql.rewriting.steps import Probe, Steps, Stop
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.writing import triples_text

_ROUNDS: Final = (20, 500, 5000, 20_000)
_MOST_DRIVING: Final = _ROUNDS[-1]
_SELECTIVE: Final = 500
"""A side that has more is taken as it is known from the index, whatever its other patterns leave of it."""
_MOST_PAIRS: Final = 200_000
_FEW_PAIRS: Final = 1000
"""Of more it is looked whether they are fewer than the patterns have."""
_LEAST_GAIN: Final = 2
"""A pair that is named costs about as much as one more filter."""
_TOGETHER: Final = 128
"""Geometries of the smaller side that are searched around between two looks at the deadline."""
_MOST_TEXT: Final = 16_000_000
"""How many characters of pairs a query may gain."""
_MOST_LOOKED_UP: Final = 5_000
"""For more pairs each side's other patterns are asked as a whole: a lookup costs ten times a scan."""
_PROBED: Final = "probed"


@dataclass(frozen=True)
class JoinPlan:
    """Pairs as VALUES, the patterns that they replace (`gone`) or split, and what to report.

    `by_literal` means that they name the literals that were searched for, and no others. `scanned` are the
    patterns of each side that are asked as a whole; empty where all are looked up for each pair.
    """

    values: n.Values
    rows: int
    exact: bool
    by_literal: bool
    what: str
    split: Split = field(default_factory=dict)
    gone: tuple[n.TriplePattern, ...] = ()
    scanned: tuple[tuple[n.TriplePattern, ...], ...] = ()


@dataclass(frozen=True)
class JoinContext:
    """What a join runs over.

    `by_feature` means that the index knows the one geometry of every feature at the revision. `needed` says
    whether a variable is used outside some patterns, `fresh` gives a new one, or none; `graph` is the GRAPH
    around the join.
    """

    state: GeometryState
    by_feature: bool
    needed: Callable[[str, Collection[n.TriplePattern]], bool]
    fresh: Callable[[], str | None]
    stop: Stop
    graph: n.Term | None = None


@dataclass
class _Side:
    """One side: its patterns, the places of its geometries where known, and all that are possible."""

    binding: Binding
    part: list[n.TriplePattern]
    path: GeometryPath | None
    times: Callable[[Form], int] | None
    places: Places | None = None
    possible: Places | None = None

    @classmethod
    def of(cls, binding: Binding, context: JoinContext, known: Places | None) -> _Side:
        part = part_of(binding.bgp, binding.triple.nodes)
        path = geometry_path_of(binding) if context.by_feature else None
        if path is None:
            return cls(binding, part, None, None, known)
        classes = class_patterns(path)
        times = times_of(path, classes)
        possible = context.state.features.bearing(times)
        if known is None and all(one in path.triples or one in classes for one in part):
            known = possible
        return cls(binding, part, path, times, known, possible)


def join_plan(
    spatial: SpatialFilter,
    bindings: tuple[Binding, Binding],
    known: Mapping[str, Places],
    context: JoinContext,
) -> Steps[JoinPlan | str]:
    """The pairs of a join, or why there are none. `known` are candidates of a side by other filters.

    Raises `Stopped`.
    """
    sides = [_Side.of(one, context, known.get(one.variable)) for one in bindings]
    for side, other in zip(sides, reversed(sides), strict=True):
        if side.binding.triple in other.part:
            return "other patterns join its two sides already"
    for most in _ROUNDS:
        for side in sides:
            if side.places is None and all(one.places is None or len(one.places) > most for one in sides):
                side.places = yield from _asked(side, most, context)
                if side.places is None and most >= _SELECTIVE:
                    side.places = side.possible
    sizes = [_MOST_DRIVING + 1 if side.places is None else len(side.places) for side in sides]
    if min(sizes) > _MOST_DRIVING:
        return f"both its sides have more than {_MOST_DRIVING} geometries"
    driving = 0 if sizes[0] <= sizes[1] else 1
    smaller, larger = sides[driving], sides[1 - driving]
    assert smaller.places is not None
    found = yield from _pairs_of(spatial, smaller, larger, driving, context)
    if isinstance(found, str):
        return found
    try:
        plan = _by_feature(found, sides, context) or _by_column(found, sides, context)
    except TooMuchText:
        return "its pairs would make the query too long"
    names = " and ".join(f"?{name}" for name in plan.values.variables)
    around_what = f"{len(smaller.places)} geometries of ?{smaller.binding.variable}"
    return replace(plan, what=f"pairs of {names} from the index, around {around_what}")


def _pairs_of(
    spatial: SpatialFilter, smaller: _Side, larger: _Side, driving: int, context: JoinContext
) -> Steps[Pairs | str]:
    """The pairs of two sides, or why they are not worth naming."""
    assert smaller.places is not None
    found = pairs_of(spatial, smaller.places, driving, larger.places, context.state, context.stop)
    if found is None:
        return f"more than {_MOST_PAIRS} pairs come into question"
    if len(found) <= _FEW_PAIRS:
        return found
    if larger.places is None:
        # A filter is asked of each pair, before it is known whether the patterns have it.
        most = _LEAST_GAIN * len(found) // len(smaller.places)
        larger.places = yield from _asked(larger, most, context)
        if larger.places is None:
            return found
        found = found.where(numpy.isin(found.sides[1 - driving], larger.places))
    possible = len(smaller.places) * len(larger.places)
    if len(found) * _LEAST_GAIN > possible:
        return f"{len(found)} of {possible} pairs come into question"
    return found


@dataclass(frozen=True)
class Pairs:
    """The places of n pairs by side, of shape (n,) each; `exact`: the filter is true of each and no other."""

    sides: tuple[Places, Places]
    exact: bool

    def __len__(self) -> int:
        return len(self.sides[0])

    def where(self, kept: NDArray[numpy.bool_]) -> Pairs:
        """Some of them."""
        return Pairs((self.sides[0][kept], self.sides[1][kept]), self.exact)


def pairs_of(
    spatial: SpatialFilter,
    places: Places,
    driving: int,
    others: Places | None,
    state: GeometryState,
    stop: Stop,
) -> Pairs | None:
    """The pairs that a filter may be true of, with these on its side `driving`; None where they are too many.

    `others` are all that the other side may be; None for any. Raises `Stopped`.
    """
    allowed = None
    if others is not None:
        allowed = numpy.zeros(len(state.nodes), dtype=bool)
        allowed[others] = True
    found: tuple[list[Places], list[Places]] = ([], [])
    exact, count = True, 0
    places = places[[place in state.shapes for place in places.tolist()]]
    for start in range(0, len(places), _TOGETHER):
        stop.check()
        together = places[start : start + _TOGETHER]
        search = _holding if spatial.exact else _near
        for some, joined, sure in search(spatial, together, driving, allowed, state):
            found[driving].append(some)
            found[1 - driving].append(joined)
            exact, count = exact and sure, count + len(some)
        if count > _MOST_PAIRS:
            return None
    nothing = numpy.zeros(0, dtype=numpy.intp)
    left, right = (numpy.concatenate([nothing, *some]) for some in found)
    return Pairs((left, right), exact)


Searched = Iterator[tuple[Places, Places, bool]]
"""Places of the one side, and of the other, in parts, and whether the filter is true of each pair."""


def _holding(
    spatial: SpatialFilter,
    places: Places,
    driving: int,
    allowed: NDArray[numpy.bool_] | None,
    state: GeometryState,
) -> Searched:
    # Copies, since they are prepared.
    shapes = shapely.from_wkb(shapely.to_wkb(state.shapes_at(places)))
    shapely.prepare(shapes)
    for left, others, there in state.shapes.search_all(shapes):
        joined, sure = numpy.array(others, dtype=numpy.intp), True
        if allowed is not None:
            kept = allowed[joined]
            left, joined, there = left[kept], joined[kept], there[kept]
        try:
            holds = spatial.holds_of(shapes[left], there, prepared_left=driving == 0)
        except GEOSException:
            # The engine reports the pair, as an error of the function.
            holds, sure = numpy.ones(len(left), dtype=bool), False
        yield places[left[holds]], joined[holds], sure


def _near(
    spatial: SpatialFilter,
    places: Places,
    driving: int,
    allowed: NDArray[numpy.bool_] | None,
    state: GeometryState,
) -> Searched:
    driver, searched = spatial.operands[driving], spatial.operands[1 - driving]
    widened = replace(spatial, slack=spatial.slack + driver.slack)
    for place, shape in zip(places, state.shapes_at(places), strict=True):
        joined = around(widened, shape, searched, state, constant_left=driving == 0).places
        joined = joined if allowed is None else joined[allowed[joined]]
        yield numpy.full(len(joined), place), joined, False


def _asked(side: _Side, most: int, context: JoinContext) -> Steps[Places | None]:
    """The geometries that the patterns of a side have by themselves; None where they are more than `most`."""
    split = split_path(side.binding, _PROBED)
    last = split[side.binding.triple][1] if split is not None else side.binding.triple
    part = [two for one in side.part for two in (split or {}).get(one, (one,))]
    node = last.subject
    if isinstance(node, NamedNode):
        return numpy.array(context.state.places_of(text_of(node)), dtype=numpy.intp)
    if isinstance(node, BlankNode):
        part = [_named(one, node) for one in part]
    name = node.value if isinstance(node, Variable) else _PROBED
    text = triples_text(part)
    if context.graph is not None:
        text = f"GRAPH {context.graph} {{ {text} }}"
    rows = yield Probe(f"SELECT DISTINCT ?{name} WHERE {{ {text} }} LIMIT {most + 1}")
    if len(rows) > most:
        return None
    places: list[int] = []
    for row in rows:
        found = row.get(name)
        if isinstance(found, NamedNode | BlankNode):
            places += context.state.places_of(text_of(found))
    return numpy.array(places, dtype=numpy.intp)


def _named(triple: n.TriplePattern, node: BlankNode) -> n.TriplePattern:
    """A pattern with a variable instead of a blank node, so that a probe can ask for it."""
    subject, value = (Variable(_PROBED) if one == node else one for one in (triple.subject, triple.object))
    return n.TriplePattern(subject, triple.verb, value)


def _by_feature(found: Pairs, sides: Sequence[_Side], context: JoinContext) -> JoinPlan | None:
    """Pairs of features: the ways to their geometries go where nothing else needs what is on them."""
    features = context.state.features
    paths, kept, gone = [], numpy.ones(len(found), dtype=bool), []
    for side, places in zip(sides, found.sides, strict=True):
        if side.path is None or side.times is None or features.count(side.times) is None:
            return None
        kept &= features.bears(places, side.times)
        names = {name for one in side.path.triples for name in one.variables} - {side.path.feature}
        if found.exact and not any(context.needed(name, side.path.triples) for name in names):
            gone += [*side.path.triples, *class_patterns(side.path)]
        paths.append(side.path)
    found = found.where(kept)
    owners = [features.owners_of(places.tolist()) for places in found.sides]
    if any(one.startswith(("_", "<")) for column in owners for one in column):
        # A blank node, which VALUES cannot name.
        return None
    rows = " ".join(f"(<{one}> <{other}>)" for one, other in zip(*owners, strict=True))
    if len(rows) > _MOST_TEXT:
        raise TooMuchText
    values = n.Values(tuple(path.feature for path in paths), (), rows, made=True)
    scanned: tuple[tuple[n.TriplePattern, ...], ...] = ()
    if len(found) > _MOST_LOOKED_UP:
        scanned = tuple(tuple(one for one in side.part if one not in gone) for side in sides)
    return JoinPlan(values, len(found), found.exact, True, "", gone=tuple(gone), scanned=scanned)


def _by_column(found: Pairs, sides: Sequence[_Side], context: JoinContext) -> JoinPlan:
    """Pairs of literals or geometry nodes. Raises TooMuchText."""
    state = context.state
    columns, terms, by_literal = [], [], True
    for side, places in zip(sides, found.sides, strict=True):
        different, position = numpy.unique(places, return_inverse=True)
        keys = state.keys(different.tolist())
        length = written_length(keys[one] for one in position.tolist())
        column = column_for(side.binding, keys, length, fresh=context.fresh())
        by_literal = by_literal and column.exact(keys, state)
        written = [column.term(key) for key in keys]
        columns.append(column)
        terms.append([written[one] for one in position.tolist()])
    rows: list[tuple[n.Term, ...]] = list(dict.fromkeys(zip(*terms, strict=True)))
    values = b.values([column.variable for column in columns], rows)
    split = {**columns[0].split, **columns[1].split}
    return JoinPlan(values, len(rows), found.exact and by_literal, by_literal, "", split)
