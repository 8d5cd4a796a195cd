"""The support of a triple: each origin has its own graph, and a triple stays while any of them holds it."""

from collections.abc import Collection, Iterator
from typing import Protocol

from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from sparql.model.change import Change, Delta
from sparql.model.errors import ProtectedGraph
from sparql.model.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, ONTOLOGY, SYSTEM_GRAPHS

_ORIGINS = (ASSERTED, EXTRACTED, DERIVED, ONTOLOGY)


class View(Protocol):
    """The graph as it is, or as the pending changes of a group leave it."""

    def contains(self, quad: Quad) -> bool: ...


def quad_of(triple: Triple, graph: NamedNode | DefaultGraph) -> Quad:
    """The triple in a graph."""
    if graph == DEFAULT:
        # The same quad, created in a quarter of the time.
        return Quad(triple.subject, triple.predicate, triple.object)
    return Quad(triple.subject, triple.predicate, triple.object, graph)


def only_asserted(view: View, triple: Triple, origins: Collection[NamedNode]) -> bool:
    """Whether the graph holds it and no graph of these origins does: then it was asserted."""
    return view.contains(quad_of(triple, DEFAULT)) and not any(
        view.contains(quad_of(triple, graph)) for graph in origins
    )


def is_supported(view: View, triple: Triple, *, besides: NamedNode) -> bool:
    """Whether another origin states or derives it."""
    return any(view.contains(quad_of(triple, graph)) for graph in _ORIGINS if graph != besides)


def withdrawn(change: Change) -> frozenset[Triple]:
    """The triples that no text supports any longer, except those that the change itself states."""
    return change.withdrawals - {statement.triple for statement in change.additions}


def unsupported(view: View, change: Change) -> frozenset[Triple]:
    """The withdrawn triples that only texts supported: they are removed from the graph."""
    return frozenset(
        triple
        for triple in withdrawn(change)
        if view.contains(quad_of(triple, EXTRACTED)) and not is_supported(view, triple, besides=EXTRACTED)
    )


def withdrawn_quads(view: View, change: Change, derived: Delta) -> Iterator[Quad]:
    """The quads to remove for withdrawn triples that another origin supports too."""
    for triple in withdrawn(change):
        if not view.contains(quad_of(triple, EXTRACTED)):
            continue
        yield quad_of(triple, EXTRACTED)
        asserted = view.contains(quad_of(triple, ASSERTED))
        explained = view.contains(quad_of(triple, ONTOLOGY)) or (
            view.contains(quad_of(triple, DERIVED)) and triple not in derived.removals
        )
        if asserted and not explained:
            yield quad_of(triple, ASSERTED)
        elif not asserted and not explained:
            yield quad_of(triple, DEFAULT)


def refuse_system_graphs(change: Change) -> None:
    """Raise `ProtectedGraph` where a client's change affects system graphs."""
    for quad in (*change.graph_additions, *change.graph_removals):
        if quad.graph_name in SYSTEM_GRAPHS:
            raise ProtectedGraph(quad.graph_name)
    for graph in (*change.graphs_created, *change.graphs_dropped):
        if graph in SYSTEM_GRAPHS:
            raise ProtectedGraph(graph)
