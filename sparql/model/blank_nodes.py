"""Which blank nodes of a graph that comes in are those of the graph that is there.

A blank node has no name that outlives a document (RDF 1.1 Concepts, 3.5), so a graph that is read and sent
back comes with new ones. What hangs together by blank nodes is compared as one piece: a piece that is
isomorphic to one that is there (RDF 1.1 Concepts, 3.6) *is* that one, every other is new.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Triple

from sparql.model.source import Term

_ROUNDS = 3
"""How far around a node one looks before pieces are compared."""
_STEPS_PER_NODE = 50
"""A piece that takes longer, being full of symmetries, counts as another one."""


def recognised(incoming: Iterable[Triple], held: Iterable[Triple]) -> frozenset[Triple]:
    """The incoming triples, with the blank nodes of what is held wherever both have the same piece."""
    triples = frozenset(incoming)
    anonymous = [triple for triple in triples if any(_blank_nodes(triple))]
    if not anonymous:
        return triples
    known: dict[tuple[int, ...], list[_Piece]] = {}
    for piece in _pieces([triple for triple in held if any(_blank_nodes(triple))]):
        known.setdefault(piece.likeness, []).append(piece)
    names: dict[BlankNode, BlankNode] = {}
    for piece in _pieces(anonymous):
        alike = known.get(piece.likeness, [])
        for number, other in enumerate(alike):
            found = _bijection(piece, other)
            if found is not None:
                names.update(found)
                del alike[number]
                break
    return frozenset(_renamed(triple, names) for triple in triples)


@dataclass
class _Piece:
    """Triples that hang together by blank nodes; `colours` tell nodes apart by what is around them."""

    triples: set[Triple] = field(default_factory=set)
    of: dict[BlankNode, list[Triple]] = field(default_factory=dict)
    colours: dict[BlankNode, int] = field(default_factory=dict)
    beside: dict[BlankNode, dict[int, dict[BlankNode, None]]] = field(default_factory=dict)
    """The neighbours of a node, by colour."""

    @property
    def likeness(self) -> tuple[int, ...]:
        """The same for isomorphic pieces, and seldom for others."""
        return len(self.triples), len(self.of), sum(self.colours.values())

    def paint(self) -> None:
        """Find the colours, and then the neighbours."""
        colours = dict.fromkeys(self.of, 0)
        for _ in range(_ROUNDS):
            colours = {
                node: hash((colours[node], sum(_painted(triple, node, colours) for triple in triples)))
                for node, triples in self.of.items()
            }
        self.colours = colours
        for node, triples in self.of.items():
            near = self.beside[node] = {}
            for triple in triples:
                for other in _blank_nodes(triple):
                    near.setdefault(colours[other], {})[other] = None

    def walk(self) -> Iterator[tuple[BlankNode, BlankNode | None]]:
        """Each node after one that it is beside of, which comes with it; the rarest colour first."""
        often = Counter(self.colours.values())
        first = min(self.of, key=lambda node: (often[self.colours[node]], node.value))
        met: dict[BlankNode, BlankNode | None] = {first: None}
        left = [first]
        for node in left:
            for near in self.beside[node].values():
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
    """Names of theirs for the nodes of ours by which both have the same triples; None if there are none."""
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
    """Which nodes of theirs a node of ours may be: of its colour, beside what its neighbour is."""
    node, neighbour = step
    colour = ours.colours[node]
    if neighbour is None:
        return (other for other, painted in theirs.colours.items() if painted == colour)
    return iter(theirs.beside[names[neighbour]].get(colour, ()))


def _fits(triple: Triple, names: Mapping[BlankNode, BlankNode], theirs: _Piece) -> bool:
    """Whether theirs has the triple too, as far as its nodes have names."""
    return (
        any(node not in names for node in _blank_nodes(triple)) or _renamed(triple, names) in theirs.triples
    )


def _painted(term: Term, self: BlankNode, colours: Mapping[BlankNode, int]) -> int:
    """A term as a number in which colours stand for blank nodes."""
    if isinstance(term, Triple):
        parts = (term.subject, term.predicate, term.object)
        return hash(tuple(_painted(part, self, colours) for part in parts))
    if isinstance(term, BlankNode):
        return hash(("self",) if term == self else ("other", colours[term]))
    return hash(term)


def _blank_nodes(term: Term) -> Iterator[BlankNode]:
    """The blank nodes of a term, those of triple terms in it included."""
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
