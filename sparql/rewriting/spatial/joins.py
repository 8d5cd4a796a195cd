"""Spatial joins of two variables: the pairs come from the index instead of from every with every.

The patterns of a join fall into two parts that only the filter connects. The part with fewer geometries is
asked first (a probe); around each of its geometries the index names the others; the pairs go into VALUES.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.writing import triples_text
from sparql.rewriting.index.features import Places
from sparql.rewriting.index.geometry_state import GeometryState
from sparql.rewriting.index.notes import Key, Node
from sparql.rewriting.index.stopping import Stop
from sparql.rewriting.meaning.probes import Probe, Steps
from sparql.rewriting.spatial.basic_patterns import Binding, Split, part_of
from sparql.rewriting.spatial.candidates import TooMuchText, around, column_for, written_length
from sparql.rewriting.spatial.spatial_filters import SpatialFilter

_ROUNDS = (20, 500, 5000, 20_000)
_MANY = _ROUNDS[-1]
_MOST_PAIRS = 200_000
_FEW_PAIRS = 1000
"""Of more it is looked whether they are fewer than the patterns have."""
_LEAST_GAIN = 2
"""A pair that is named costs about as much as one more filter."""


@dataclass(frozen=True)
class JoinPlan:
    """Pairs as VALUES, the patterns to split for them, and what to report.

    `by_literal` means that they name these literals and no others.
    """

    values: n.Values
    rows: int
    exact: bool
    by_literal: bool
    what: str
    split: Split = field(default_factory=dict)


def join_plan(
    spatial: SpatialFilter,
    bindings: tuple[Binding, Binding],
    known: Mapping[str, Places],
    state: GeometryState,
    fresh: Callable[[], str | None],
    stop: Stop,
    graph: n.Term | None = None,
) -> Steps[JoinPlan | str]:
    """The pairs of a join, or why there are none.

    `known` are candidates of one side by other filters; `graph` is the GRAPH around the join.
    Raises `Stopped`.
    """
    parts = [part_of(binding.bgp, binding.triple.nodes) for binding in bindings]
    if any(binding.triple in part for binding, part in zip(bindings, reversed(parts), strict=True)):
        return "other patterns join its two sides already"
    sides: list[list[Key] | None] = [
        state.keys(known[one.variable].tolist()) if one.variable in known else None for one in bindings
    ]
    for most in _ROUNDS:
        for position, (binding, part) in enumerate(zip(bindings, parts, strict=True)):
            if sides[position] is None and all(side is None or len(side) > most for side in sides):
                sides[position] = yield from _asked(binding, _pattern(part, graph), most, state)
    sizes = [_MANY + 1 if side is None else len(side) for side in sides]
    if min(sizes) > _MANY:
        return f"both its sides have more than {_MANY} geometries"
    driving = 0 if sizes[0] <= sizes[1] else 1
    chosen = sides[driving]
    assert chosen is not None
    pairs = _pairs(spatial, chosen, driving, sides[1 - driving], state, stop)
    if pairs is None:
        return f"more than {_MOST_PAIRS} pairs come into question"
    found, exact = pairs
    if len(found) > _FEW_PAIRS:
        other = sides[1 - driving]
        if other is None:
            # A filter is asked of each pair, before it is known whether the patterns have it.
            part, most = parts[1 - driving], _LEAST_GAIN * len(found) // len(chosen)
            other = yield from _asked(bindings[1 - driving], _pattern(part, graph), most, state)
            found = found if other is None else _among(found, other, 1 - driving)
        if other is not None and len(found) * _LEAST_GAIN > len(chosen) * len(other):
            return f"{len(found)} of {len(chosen)} times {len(other)} pairs come into question"
    keys = [list(dict.fromkeys(pair[side] for pair in found)) for side in (0, 1)]
    try:
        columns = [
            column_for(binding, keys[side], written_length(pair[side] for pair in found), fresh=fresh())
            for side, binding in enumerate(bindings)
        ]
    except TooMuchText:
        return "its pairs would make the query too long"
    rows = list(dict.fromkeys((columns[0].term(left), columns[1].term(right)) for left, right in found))
    by_literal = all(column.exact(keys[side], state) for side, column in enumerate(columns))
    return JoinPlan(
        b.values([column.variable for column in columns], rows),
        len(rows),
        exact and by_literal,
        by_literal,
        f"pairs of ?{columns[0].variable} and ?{columns[1].variable} from the index, "
        f"around {len(chosen)} geometries of ?{bindings[driving].variable}",
        {**columns[0].split, **columns[1].split},
    )


def _pattern(part: Sequence[n.TriplePattern], graph: n.Term | None) -> str:
    text = triples_text(part)
    return text if graph is None else f"GRAPH {graph} {{ {text} }}"


def _among(found: list[tuple[Key, Key]], side: list[Key], position: int) -> list[tuple[Key, Key]]:
    """The pairs whose literal at a position is one of a side's."""
    allowed = {literal for _, literal in side}
    return [pair for pair in found if pair[position][1] in allowed]


def _asked(binding: Binding, part: str, most: int, state: GeometryState) -> Steps[list[Key] | None]:
    """The geometries that one part has by itself; None where they are more than `most`."""
    subject = binding.triple.subject
    by_node = not binding.through_path and isinstance(subject, Variable)
    name = subject.value if by_node and isinstance(subject, Variable) else binding.variable
    rows = yield Probe(f"SELECT DISTINCT ?{name} WHERE {{ {part} }} LIMIT {most + 1}")
    if len(rows) > most:
        return None
    terms = [row[name] for row in rows if name in row]
    if not by_node:
        # The node does not matter to what follows from here, the literal does.
        return [(_NO_NODE, term) for term in terms if isinstance(term, Literal)]
    nodes: list[Node] = [term for term in terms if isinstance(term, NamedNode | BlankNode)]
    return [(node, literal) for node in nodes for literal in state.literals_of(node)]


_NO_NODE = BlankNode("none")


def _pairs(
    spatial: SpatialFilter,
    chosen: list[Key],
    driving: int,
    other: list[Key] | None,
    state: GeometryState,
    stop: Stop,
) -> tuple[list[tuple[Key, Key]], bool] | None:
    """Pairs (left, right) that the filter may be true of; None where they are too many."""
    driver, searched = spatial.operands[driving], spatial.operands[1 - driving]
    allowed = None if other is None else {literal for _, literal in other}
    exact = True
    found: list[tuple[Key, Key]] = []
    keys: dict[int, Key] = {}
    widened = SpatialFilter(
        spatial.expression, spatial.function, spatial.left, spatial.right, spatial.slack + driver.slack
    )
    for key in chosen:
        stop.check()
        shape = state.shape_of(key)
        if shape is None:
            continue
        near = around(widened, shape, searched, state, constant_left=driving == 0)
        exact = exact and near.exact
        places = near.places.tolist()
        new = [place for place in places if place not in keys]
        keys.update(zip(new, state.keys(new), strict=True))
        for place in places:
            one = keys[place]
            if allowed is None or one[1] in allowed:
                found.append((key, one) if driving == 0 else (one, key))
        if len(found) > _MOST_PAIRS:
            return None
    return found, exact
