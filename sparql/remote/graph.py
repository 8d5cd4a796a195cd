"""A remote store's dataset, read pattern by pattern over SPARQL by the gate and by captures.

Within `remember_reads`, answers are cached: the writer holds its lock, and repeats many reads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from sparql.model.errors import RemoteUnsupported
from sparql.model.source import Term
from sparql.model.vocabulary import DEFAULT, GRAPH
from sparql.remote.capabilities import STAGING, Terms, with_kept_apart, without_system_graphs
from sparql.remote.endpoint import Endpoint, Row

_AT_ONCE = 100
_LONG = 1000
"""Longer literals are compared here: some stores do not find them by value."""
_HIDDEN = (GRAPH.iri + STAGING, "http://www.openlinksw.com/", "http://localuriqaserver/")
_OWN_GRAPHS = frozenset({"http://www.w3.org/ns/ldp#", "urn:activitystreams-owl:map"})
"""Together with the two above, the system graphs of a fresh Virtuoso."""
NO_GRAPH = NamedNode("urn:x-urbankg:no-graph")
"""A dataset without named graphs names one that does not exist: without any, some stores use all."""
Pair = tuple[NamedNode, NamedNode]
"""Subject and predicate as the store holds them."""


class RemoteGraph:
    """The dataset behind an endpoint, with the default graph at `default_graph`.

    `deadline` (of `time.monotonic`) ends its queries.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        terms: Terms,
        default_graph: NamedNode | None = None,
        *,
        deadline: float | None = None,
    ) -> None:
        self._endpoint = endpoint
        self._terms = terms
        self._default = default_graph
        self._deadline = deadline
        self._remembered: dict[object, Any] | None = None

    def until(self, timeout_s: float) -> RemoteGraph:
        """The same, with a time limit for one piece of work."""
        moment = time.monotonic() + timeout_s
        return RemoteGraph(self._endpoint, self._terms, self._default, deadline=moment)

    @contextmanager
    def remember_reads(self) -> Iterator[None]:
        """Cache answers while the block runs."""
        self._remembered = {}
        try:
            yield
        finally:
            self._remembered = None

    def prefetch(self, triples: Sequence[Triple]) -> None:
        """Fetch the state of these triples in one query, for `__contains__` to remember."""
        if self._remembered is None:
            return
        pairs = dict.fromkeys(
            self._pair(triple.subject, triple.predicate)
            for triple in triples
            if not isinstance(triple.subject, Triple)
        )
        missing = [pair for pair in pairs if pair not in self._remembered]
        for start in range(0, len(missing), _AT_ONCE):
            self._fetch(missing[start : start + _AT_ONCE])

    def quads_for_pattern(
        self, subject: Any, predicate: Any, object_: Any, graph_name: Any = None, /
    ) -> Iterator[Quad]:
        """Matching quads; None is a wildcard. Without a graph, of all graphs: the default graph first."""
        if isinstance(subject, Literal | Triple) or isinstance(object_, Triple):
            return iter(())
        if graph_name is None:
            graphs = chain((DEFAULT,), self.named_graphs())
            return chain.from_iterable(
                self.quads_for_pattern(subject, predicate, object_, graph) for graph in graphs
            )
        if isinstance(graph_name, BlankNode):
            return iter(())
        if subject is not None and predicate is not None:
            objects = self._objects(self._pair(subject, predicate)).get(graph_name, ())
            return iter(
                [Quad(subject, predicate, one, graph_name) for one in objects if object_ in (None, one)]
            )
        key = (subject, predicate, object_, graph_name)
        if self._remembered is None:
            return iter(self._matching(*key))
        if key not in self._remembered:
            self._remembered[key] = self._matching(*key)
        return iter(self._remembered[key])

    def __contains__(self, quad: Any, /) -> bool:
        if isinstance(quad.subject, Triple) or isinstance(quad.object, Triple):
            return False
        found = self._objects(self._pair(quad.subject, quad.predicate)).get(quad.graph_name, ())
        return quad.object in found

    def contains_named_graph(self, graph_name: Any, /) -> bool:
        """Whether a graph contains anything: a remote store may not support empty graphs."""
        if isinstance(graph_name, BlankNode) or graph_name == self._default:
            return False
        rows = self._ask(f"SELECT (1 AS ?found) WHERE {{ GRAPH {graph_name} {{ ?s ?p ?o }} }} LIMIT 1")
        return bool(rows)

    def named_graphs(self) -> Iterator[NamedNode | BlankNode]:
        """The named graphs that contain anything, including system graphs."""
        for row in self._ask("SELECT DISTINCT ?g WHERE { GRAPH ?g { ?s ?p ?o } }"):
            name = row["g"]
            if isinstance(name, NamedNode) and name != self._default and not _is_hidden(name):
                yield name

    def client_graphs(self) -> list[NamedNode]:
        """The named graphs that are not the system's."""
        return [
            name
            for name in self.named_graphs()
            if isinstance(name, NamedNode) and not name.value.startswith(GRAPH.iri)
        ]

    def visible_graphs(self, more: Iterable[NamedNode] = ()) -> tuple[NamedNode, ...]:
        """The graphs that GRAPH may range over: clients' graphs and `more`."""
        return (*self.client_graphs(), *more) or (NO_GRAPH,)

    def query(
        self,
        query: str,
        /,
        *,
        custom_functions: dict[NamedNode, Callable[..., Any]] | None = None,
        custom_aggregate_functions: dict[NamedNode, Callable[..., Any]] | None = None,
        default_graph: Any = None,
        named_graphs: Any = None,
    ) -> list[Solution]:
        """The solutions of a SELECT; the functions are the store's, not ours."""
        text = with_kept_apart(query, self._terms)
        if default_graph is None and self._default is None:
            # The store's own default graph has no name, so no dataset can be made with it.
            return self._solved(without_system_graphs(text), (), ())
        default = (self._default,) if default_graph is None else tuple(default_graph)
        named: tuple[NamedNode, ...] = tuple(named_graphs or ())
        if named_graphs is None and "graph" in query.lower():
            named = self.visible_graphs()
        return self._solved(text, tuple(one for one in default if isinstance(one, NamedNode)), named)

    def _solved(
        self, text: str, default: tuple[NamedNode, ...], named: tuple[NamedNode, ...]
    ) -> list[Solution]:
        return [Solution(row, self._terms) for row in self._ask(text, default, named)]

    def backup(self, target_directory: Any, /) -> None:
        """Refused: there is no copy of a remote store to try operations on."""
        raise RemoteUnsupported(
            self._endpoint.address.query_url,
            "an operation that reads the changes of an earlier one in its request; send it by itself",
        )

    def _matching(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None, graph: Any
    ) -> list[Quad]:
        parts, where = [], ""
        compared = isinstance(object_, Literal) and len(object_.value) > _LONG
        for name, term in (("s", subject), ("p", predicate), ("o", object_)):
            bound = term is not None and not (name == "o" and compared)
            parts.append(str(self._terms.outgoing(term)) if bound and term is not None else f"?{name}")
        if compared and isinstance(object_, Literal):
            where = f" FILTER(isLiteral(?o) && STRLEN(STR(?o)) = {len(object_.value)})"
        pattern = f"{' '.join(parts)} ."
        home = self._default if isinstance(graph, DefaultGraph) else graph
        inner = pattern if home is None else f"GRAPH {home} {{ {pattern} }}"
        wanted = [part for part in parts if part.startswith("?")]
        rows = self._ask(f"SELECT {' '.join(wanted) or '(1 AS ?found)'} WHERE {{ {inner}{where} }}")
        found = []
        for row in rows:
            # Terms that are not in the row were constants.
            quad = Quad(
                subject or self._terms.incoming(row["s"]),  # type: ignore[arg-type]
                predicate or row["p"],  # type: ignore[arg-type]
                self._terms.incoming(row["o"]) if "o" in row else object_,  # type: ignore[arg-type]
                graph,
            )
            if not compared or quad.object == object_:
                found.append(quad)
        return found

    def _objects(self, pair: Pair) -> dict[Any, set[Term]]:
        if self._remembered is None:
            return self._fetched((pair,))[pair]
        if pair not in self._remembered:
            self._fetch((pair,))
        return self._remembered[pair]  # type: ignore[no-any-return]

    def _fetch(self, pairs: Sequence[Pair]) -> None:
        assert self._remembered is not None
        self._remembered.update(self._fetched(pairs))

    def _fetched(self, pairs: Sequence[Pair]) -> dict[Pair, dict[Any, set[Term]]]:
        """The objects of each pair by graph, in one query."""
        found: dict[Pair, dict[Any, set[Term]]] = {pair: {} for pair in pairs}
        if len(pairs) == 1:
            subject, predicate = pairs[0]
            values, triple = "", f"{subject} {predicate} ?o"
        else:
            rows = " ".join(f"({number} {one[0]} {one[1]})" for number, one in enumerate(pairs))
            values, triple = f"VALUES (?i ?s ?p) {{ {rows} }} ", "?s ?p ?o"
        branches = [f"{{ {values}GRAPH ?g {{ {triple} }} }}"]
        if self._default is None:
            branches.append(f"{{ {values}{triple} }}")
        for row in self._ask(f"SELECT * WHERE {{ {' UNION '.join(branches)} }}"):
            number = row.get("i")
            pair = pairs[int(number.value) if isinstance(number, Literal) else 0]
            name = row.get("g", DEFAULT)
            if name == self._default:
                name = DEFAULT
            found[pair].setdefault(name, set()).add(self._terms.incoming(row["o"]))
        return found

    def _pair(self, subject: Term, predicate: NamedNode) -> Pair:
        written = self._terms.outgoing(subject)
        assert isinstance(written, NamedNode)
        return written, predicate

    def _ask(
        self, text: str, default: Iterable[NamedNode] = (), named: Iterable[NamedNode] = ()
    ) -> list[Row]:
        with self._endpoint.deadline(self._deadline):
            return self._endpoint.solutions(text, tuple(default), tuple(named))


class Solution:
    """One solution, with its blank nodes restored."""

    def __init__(self, row: Row, terms: Terms) -> None:
        self._row = row
        self._terms = terms

    def __getitem__(self, name: str) -> Term | None:
        term = self._row.get(name)
        return None if term is None else self._terms.incoming(term)


def _is_hidden(name: NamedNode) -> bool:
    return name.value.startswith(_HIDDEN) or name.value in _OWN_GRAPHS
