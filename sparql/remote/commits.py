"""One update request that takes a remote store from one commit to the next, or does nothing.

A marker triple identifies the commit that the store holds. The update replaces the expected marker and
changes the data in the same operation, so it can be sent twice without harm, an update that was lost can be
distinguished from one that arrived, and another writer is noticed.

Long data, or terms that the store does not support in a template, are put into staging graphs first, which
nobody reads; one operation then moves them. A single operation is atomic in the stores that matter; several
in one request are not (Virtuoso 7).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import DefaultGraph, NamedNode, Quad

from sparql.model.errors import RemoteUnreachable
from sparql.model.vocabulary import GRAPH, STATE, UKG
from sparql.remote.endpoint import ConnectionLost, Endpoint
from sparql.remote.store_capabilities import STAGING, StoreCapabilities
from sparql.remote.terms import Terms

_PIECE_QUADS = 500
_PIECE_CHARACTERS = 200_000
_INLINE_QUADS = 500
_INLINE_CHARACTERS = 200_000
_ATTEMPTS = 3
_LONGEST_BY_GRAPH_STORE = 10_000
"""Longer triples are sent as an update: Virtuoso 7 does not recognize a body with long literals as RDF."""


def marker(commit: NamedNode) -> str:
    """The triple, in its graph, that identifies the commit of a store."""
    return f"GRAPH {STATE} {{ {UKG.store} {UKG.commit} {commit} }}"


def read_marker(endpoint: Endpoint) -> NamedNode | None:
    """The commit that the store holds; None in a store that no server has written to."""
    rows = endpoint.solutions(f"SELECT ?commit WHERE {{ {marker_pattern()} }}")
    names = sorted(str(row["commit"]) for row in rows)
    return NamedNode(names[0][1:-1]) if names else None


def marker_pattern() -> str:
    """The pattern that finds the marker."""
    return f"GRAPH {STATE} {{ {UKG.store} {UKG.commit} ?commit }}"


@dataclass(frozen=True)
class _Move:
    """A staging graph, and the graph that its content is added to (`adding`) or removed from."""

    staging: NamedNode
    target: NamedNode | DefaultGraph
    adding: bool


class Delta:
    """The changes of one commit of a remote store."""

    def __init__(
        self,
        endpoint: Endpoint,
        terms: Terms,
        capabilities: StoreCapabilities,
        default_graph: NamedNode | None,
        commit: NamedNode,
    ) -> None:
        self._endpoint = endpoint
        self._terms = terms
        self._capabilities = capabilities
        self._default = default_graph
        self._name = commit.value.rpartition(":")[2]
        self._moves: dict[tuple[NamedNode | DefaultGraph, bool], _Move] = {}
        self._inline: dict[bool, list[str]] = {True: [], False: []}

    def take(self, additions: Collection[Quad], removals: Collection[Quad]) -> None:
        """Prepare exactly these quads. Raises RemoteUnsupported, RemoteRefused, RemoteUnreachable."""
        written = {
            True: [self._written(quad) for quad in additions],
            False: [self._written(quad) for quad in removals],
        }
        every = [*written[True], *written[False]]
        small = len(every) <= _INLINE_QUADS and sum(len(one) for one, _ in every) <= _INLINE_CHARACTERS
        if small and self._capabilities.inline:
            for adding, quads in written.items():
                self._inline[adding] = [self._in_graph(one, graph) for one, graph in quads]
            return
        for adding, quads in written.items():
            self._stage(quads, adding=adding)

    def add(self, additions: Iterable[Quad]) -> None:
        """Stage any number of quads; none is visible until the delta is applied."""
        self._stage((self._written(quad) for quad in additions), adding=True)

    def text(self, before: NamedNode, after: NamedNode) -> str:
        """The update. Where the marker is not `before` it does nothing."""
        deleted, inserted = [marker(before), *self._inline[False]], [*self._inline[True], marker(after)]
        branches = []
        for number, move in enumerate(self._moves.values()):
            triple = f"?s{number} ?p{number} ?o{number} ."
            branches.append(f"{{ GRAPH {move.staging} {{ {triple} }} }}")
            (inserted if move.adding else deleted).append(self._in_graph(triple, move.target))
        # The first branch is the marker: even with nothing staged there is one solution.
        staged = " ".join((f"{{ {marker(before)} }}", *(f"UNION {branch}" for branch in branches)))
        return (
            f"DELETE {{ {' '.join(deleted)} }} INSERT {{ {' '.join(inserted)} }} "
            f"WHERE {{ {marker(before)} {staged} }}"
        )

    def clear(self) -> None:
        """Drop the staging graphs; what a failure leaves is dropped at the next start."""
        for move in self._moves.values():
            try:
                self._endpoint.update(f"DROP SILENT GRAPH {move.staging}")
            except (RemoteUnreachable, ConnectionLost):
                return
        self._moves.clear()

    def _stage(self, quads: Iterable[tuple[str, NamedNode | DefaultGraph]], *, adding: bool) -> None:
        for graph, triples in _pieces(quads):
            key = (graph, adding)
            if key not in self._moves:
                name = f"{GRAPH.iri}{STAGING}{self._name}/{len(self._moves)}"
                self._moves[key] = _Move(NamedNode(name), graph, adding)
            self._send(self._moves[key].staging, triples)

    def _send(self, staging: NamedNode, triples: list[str]) -> None:
        short = max(map(len, triples)) <= _LONGEST_BY_GRAPH_STORE
        if short and self._endpoint.address.graph_url is not None:
            self._endpoint.add_to_graph(staging, "".join(f"{one} .\n" for one in triples).encode())
            return
        text = f"INSERT DATA {{ GRAPH {staging} {{ {' '.join(f'{one} .' for one in triples)} }} }}"
        for attempt in range(_ATTEMPTS):
            try:
                self._endpoint.update(text)
                return
            except ConnectionLost as error:
                # A set of triples without blank nodes, so sending it again does no harm.
                if attempt == _ATTEMPTS - 1:
                    raise RemoteUnreachable(self._endpoint.address.update_url, str(error)) from error

    def _written(self, quad: Quad) -> tuple[str, NamedNode | DefaultGraph]:
        return self._terms.written(quad)

    def _in_graph(self, triple: str, graph: NamedNode | DefaultGraph) -> str:
        name = self._default if isinstance(graph, DefaultGraph) else graph
        triple = triple if triple.endswith(" .") else f"{triple} ."
        return triple if name is None else f"GRAPH {name} {{ {triple} }}"


def _pieces(
    quads: Iterable[tuple[str, NamedNode | DefaultGraph]],
) -> Iterator[tuple[NamedNode | DefaultGraph, list[str]]]:
    """The triples by graph, in pieces that stores accept."""
    waiting: dict[NamedNode | DefaultGraph, list[str]] = {}
    sizes: dict[NamedNode | DefaultGraph, int] = {}
    for triple, graph in quads:
        some = waiting.setdefault(graph, [])
        some.append(triple)
        sizes[graph] = sizes.get(graph, 0) + len(triple)
        if len(some) >= _PIECE_QUADS or sizes[graph] >= _PIECE_CHARACTERS:
            yield graph, waiting.pop(graph)
            del sizes[graph]
    yield from waiting.items()
