"""Matches the blank nodes of an incoming graph with those of the stored graph.

Blank node labels are local to a document (RDF 1.1 Concepts, 3.5), so a graph that is read and sent back has
new ones. Triples connected by blank nodes are compared as one piece: a piece that is isomorphic to a stored
piece (RDF 1.1 Concepts, 3.6) is that piece, any other is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Triple

from sparql.model.source import Term

_ROUNDS = 3
"""How many steps around a node count for its color."""
_STEPS_PER_NODE = 50
"""A piece that needs more steps than this, being highly symmetric, counts as new."""


def with_known_blank_nodes(incoming: Iterable[Triple], held: Iterable[Triple]) -> frozenset[Triple]:
    """The incoming triples, with the stored blank nodes wherever both graphs have the same piece."""
    triples = frozenset(incoming)
    anonymous = [triple for triple in triples if any(_blank_nodes(triple))]
    if not anonymous:
        return triples
    known: dict[tuple[int, ...], list[_Piece]] = {}
    for piece in _pieces([triple for triple in held if any(_blank_nodes(triple))]):
        known.setdefault(piece.signature, []).append(piece)
    names: dict[BlankNode, BlankNode] = {}
    for piece in _pieces(anonymous):
        alike = known.get(piece.signature, [])
        for number, other in enumerate(alike):
            found = _bijection(piece, other)
            if found is not None:
                names.update(found)
                del alike[number]
                break
    return frozenset(_renamed(triple, names) for triple in triples)


@dataclass
class _Piece:
    """Triples connected by blank nodes; `colors` distinguish nodes by their surroundings."""

    triples: set[Triple] = field(default_factory=set)
    of: dict[BlankNode, list[Triple]] = field(default_factory=dict)
    colors: dict[BlankNode, int] = field(default_factory=dict)
    neighbors: dict[BlankNode, dict[int, dict[BlankNode, None]]] = field(default_factory=dict)
    """The neighbors of a node, by color."""

    @property
    def signature(self) -> tuple[int, ...]:
        """Equal for isomorphic pieces, and rarely for others."""
        return len(self.triples), len(self.of), sum(self.colors.values())

    def paint(self) -> None:
        """Compute the colors, then the neighbors."""
        colors = dict.fromkeys(self.of, 0)
        for _ in range(_ROUNDS):
            colors = {
                node: hash((colors[node], sum(_painted(triple, node, colors) for triple in triples)))
                for node, triples in self.of.items()
            }
        self.colors = colors
        for node, triples in self.of.items():
            near = self.neighbors[node] = {}
            for triple in triples:
                for other in _blank_nodes(triple):
                    near.setdefault(colors[other], {})[other] = None

    def walk(self) -> Iterator[tuple[BlankNode, BlankNode | None]]:
        """Each node after a neighbor of it, with that neighbor; the rarest color first."""
        often = Counter(self.colors.values())
        first = min(self.of, key=lambda node: (often[self.colors[node]], node.value))
        met: dict[BlankNode, BlankNode | None] = {first: None}
        left = [first]
        for node in left:
            for near in self.neighbors[node].values():
                for other in near:
                    if other not in met:
                        met[other] = node
                        left.append(other)
        return iter(met.items())


def _pieces(triples: Collection[Triple]) -> list[_Piece]:
    """Triples with blank nodes as pieces, in stable order."""
    around: dict[BlankNode, list[Triple]] = {}
    for triple in triples:
        for node in dict.fromkeys(_blank_nodes(triple)):
            around.setdefault(node, []).append(triple)
    pieces: list[_Piece] = []
    placed: set[BlankNode] = set()
    for start in sorted(around, key=lambda node: node.value):
        if start in placed:
            continue
        piece, left = _Piece(), [start]
        placed.add(start)
        while left:
            node = left.pop()
            piece.of[node] = around[node]
            piece.triples.update(around[node])
            for triple in around[node]:
                for other in _blank_nodes(triple):
                    if other not in placed:
                        placed.add(other)
                        left.append(other)
        piece.paint()
        pieces.append(piece)
    return pieces


def _bijection(ours: _Piece, theirs: _Piece) -> dict[BlankNode, BlankNode] | None:
    """A mapping of our nodes to theirs under which both have the same triples; None if there is none."""
    order = list(ours.walk())
    names: dict[BlankNode, BlankNode] = {}
    used: set[BlankNode] = set()
    tried = [_candidates(order[0], names, ours, theirs)]
    steps = _STEPS_PER_NODE * len(order)
    while tried:
        node, _ = order[len(tried) - 1]
        if node in names:
            used.discard(names.pop(node))
        for candidate in tried[-1]:
            steps -= 1
            if steps < 0:
                return None
            if candidate not in used:
                names[node] = candidate
                if all(_fits(triple, names, theirs) for triple in ours.of[node]):
                    used.add(candidate)
                    break
                del names[node]
        else:
            tried.pop()
            continue
        if len(names) == len(order):
            return names
        tried.append(_candidates(order[len(tried)], names, ours, theirs))
    return None


def _candidates(
    step: tuple[BlankNode, BlankNode | None],
    names: Mapping[BlankNode, BlankNode],
    ours: _Piece,
    theirs: _Piece,
) -> Iterator[BlankNode]:
    """Candidates for one of our nodes: of its color, next to the node that its neighbor is mapped to."""
    node, neighbor = step
    color = ours.colors[node]
    if neighbor is None:
        return (other for other, painted in theirs.colors.items() if painted == color)
    return iter(theirs.neighbors[names[neighbor]].get(color, ()))


def _fits(triple: Triple, names: Mapping[BlankNode, BlankNode], theirs: _Piece) -> bool:
    """Whether the other piece has the triple too, as far as its nodes are mapped."""
    return (
        any(node not in names for node in _blank_nodes(triple)) or _renamed(triple, names) in theirs.triples
    )


def _painted(term: Term, self: BlankNode, colors: Mapping[BlankNode, int]) -> int:
    """The hash of a term in which colors replace blank nodes."""
    if isinstance(term, Triple):
        parts = (term.subject, term.predicate, term.object)
        return hash(tuple(_painted(part, self, colors) for part in parts))
    if isinstance(term, BlankNode):
        return hash(("self",) if term == self else ("other", colors[term]))
    return hash(term)


def _blank_nodes(term: Term) -> Iterator[BlankNode]:
    """The blank nodes of a term, including those inside triple terms."""
    if isinstance(term, BlankNode):
        yield term
    elif isinstance(term, Triple):
        yield from _blank_nodes(term.subject)
        yield from _blank_nodes(term.object)


def _renamed(triple: Triple, names: Mapping[BlankNode, BlankNode]) -> Triple:
    def named(term: Term) -> Term:
        if isinstance(term, BlankNode):
            return names.get(term, term)
        return _renamed(term, names) if isinstance(term, Triple) else term

    if not any(node in names for node in _blank_nodes(triple)):
        return triple
    return Triple(named(triple.subject), triple.predicate, named(triple.object))  # type: ignore[arg-type]
