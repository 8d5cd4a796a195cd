"""Computes the changes of an update without changing anything (SPARQL 1.1 Update, 3).

``capture`` runs each operation's WHERE once, fills its templates from the solutions, and records additions
and removals. Exactly this delta is judged and committed afterwards; the request itself is never run, since
UUID(), RAND() and NOW() would return other values the second time. An operation that reads after an earlier
one of the same request has changed something reads a scratch clone of the store with that change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode, Quad

from sparql.model.errors import (
    GraphExists,
    GraphMissing,
    MalformedRequest,
    ProtectedGraph,
    RemoteAccessRefused,
)
from sparql.model.triple_store import Readable
from sparql.model.vocabulary import DEFAULT, DERIVED, GRAPH, INFERRED, ONTOLOGY, UKG
from sparql.storage.database import WriteBuffer
from sparql.syntax.problems import syntax_problem, tolerating
from sparql.syntax.request_facts import Kind, facts_of
from sparql.syntax.tokens import names_iri
from sparql.syntax.updates import (
    Clear,
    Create,
    GraphName,
    GraphReference,
    GraphSet,
    Load,
    Modify,
    Operation,
    Solution,
    Transfer,
    read_operations,
)
from sparql.writing.update_account import Account, QuadDelta, is_system_graph

_TEXT_MATCH = UKG.textMatch
Functions = dict[NamedNode, Callable[..., Any]]


class Step:
    """One operation carried out on an account."""

    def __init__(
        self,
        account: Account,
        functions: Functions | None,
        aggregates: Functions | None,
        request_dataset: tuple[tuple[NamedNode, ...], tuple[NamedNode, ...]],
    ) -> None:
        self._account = account
        self._functions = functions
        self._aggregates = aggregates
        self._request_dataset = request_dataset

    def carry_out(self, operation: Operation) -> None:
        match operation:
            case Modify(where=None):
                self._account.apply(operation.delete.instantiate(), operation.insert.instantiate())
            case Modify():
                self._modify(operation)
            case Clear():
                self._clear(operation)
            case Create():
                self._create(operation)
            case Transfer():
                self._transfer(operation)
            case Load(silent=False):
                raise RemoteAccessRefused("LOAD", str(operation.document))

    def _modify(self, operation: Modify) -> None:
        removals: set[Quad] = set()
        additions: set[Quad] = set()
        for solution in self._solutions(operation):
            removals.update(operation.delete.instantiate(solution))
            additions.update(operation.insert.instantiate(solution))
        self._account.apply(removals, additions)

    def _solutions(self, operation: Modify) -> Iterable[Solution]:
        """The solutions of WHERE, projected to the templates' variables, duplicates kept."""
        names = {*operation.delete.variables, *operation.insert.variables}
        projection = " ".join(f"?{name}" for name in sorted(names)) or "*"
        text = f"{operation.prologue.as_text()} SELECT {projection} WHERE {operation.where}"
        _refuse_text_match(text)
        dataset = self._dataset(operation, text)
        results, _ = tolerating(
            lambda functions: self._account.current().query(
                text,
                custom_functions=functions,
                custom_aggregate_functions=self._aggregates,
                **dataset,
            ),
            self._functions,
        )
        return cast("Iterable[Solution]", results)

    def _dataset(self, operation: Modify, text: str) -> dict[str, Any]:
        default, named = self._request_dataset
        if default or named:
            if operation.has_using or operation.with_graph is not None:
                raise MalformedRequest(
                    "The update already has USING or WITH; leave the using-*-uri parameters out."
                )
            return {"default_graph": list(default), "named_graphs": list(named)}
        if operation.has_using:
            return {"default_graph": list(operation.using), "named_graphs": list(operation.using_named)}
        dataset: dict[str, Any] = {}
        if operation.with_graph is not None:
            dataset["default_graph"] = [operation.with_graph]
        facts = facts_of(text)
        if facts.graph_variable:
            named_in_text = [NamedNode(iri) for iri in facts.iris if iri.startswith(GRAPH.iri)]
            dataset["named_graphs"] = [*self._client_graphs(), *named_in_text]
        return dataset

    def _clear(self, operation: Clear) -> None:
        graphs = self._graphs(operation.target, silent=operation.silent)
        self._account.apply([quad for graph in graphs for quad in self._removable(graph)], ())
        for graph in graphs:
            if operation.drop and isinstance(graph, NamedNode):
                self._account.drop(graph)

    def _create(self, operation: Create) -> None:
        _refuse_system(operation.graph)
        if not self._account.has_graph(operation.graph):
            self._account.create(operation.graph)
        elif not operation.silent:
            raise GraphExists(operation.graph.value)

    def _transfer(self, operation: Transfer) -> None:
        source, destination = _one_graph(operation.source), _one_graph(operation.destination)
        _refuse_system(destination)
        if operation.verb == "MOVE":
            _refuse_system(source)
        if source == destination:
            return
        if isinstance(source, NamedNode) and not self._account.has_graph(source):
            if not operation.silent:
                raise GraphMissing(source.value)
            return
        moved = [
            Quad(quad.subject, quad.predicate, quad.object, destination) for quad in self._quads_of(source)
        ]
        replaced = [] if operation.verb == "ADD" else self._removable(destination)
        if operation.verb == "MOVE":
            replaced += self._removable(source)
        self._account.apply(replaced, moved)
        if isinstance(destination, NamedNode) and not self._account.has_graph(destination):
            self._account.create(destination)
        if operation.verb == "MOVE" and isinstance(source, NamedNode):
            self._account.drop(source)

    def _graphs(self, target: GraphReference, *, silent: bool) -> list[GraphName]:
        if isinstance(target, NamedNode):
            _refuse_system(target)
            if self._account.has_graph(target):
                return [target]
            if silent:
                return []
            raise GraphMissing(target.value)
        graphs: list[GraphName] = [] if target is GraphSet.NAMED else [DEFAULT]
        return graphs if target is GraphSet.DEFAULT else [*graphs, *self._client_graphs()]

    def _client_graphs(self) -> list[GraphName]:
        return [graph for graph in self._account.current().named_graphs() if not is_system_graph(graph)]

    def _quads_of(self, graph: GraphName) -> Iterator[Quad]:
        return iter(self._account.current().quads_for_pattern(None, None, None, graph))

    def _removable(self, graph: GraphName) -> list[Quad]:
        """The quads of a graph that clearing it removes.

        The default graph keeps the system's statements: the ontology, and derived ones, which are removed
        with their premises.
        """
        if not isinstance(graph, DefaultGraph):
            return list(self._quads_of(graph))
        store = self._account.current()
        kept = {
            quad.triple
            for system in (ONTOLOGY, DERIVED, INFERRED)
            for quad in store.quads_for_pattern(None, None, None, system)
        }
        return [quad for quad in self._quads_of(graph) if quad.triple not in kept]


def _one_graph(reference: GraphReference) -> GraphName:
    return reference if isinstance(reference, NamedNode) else DEFAULT


def _refuse_text_match(text: str) -> None:
    if "textMatch" in text and names_iri(text, _TEXT_MATCH.value):
        raise MalformedRequest(
            "urbankg:textMatch finds labels in queries only, not in the WHERE of an update. Ask for the "
            "places with a query, and name them in the update with VALUES."
        )


def _refuse_system(graph: GraphName) -> None:
    if is_system_graph(graph):
        raise ProtectedGraph(graph)


_REMEMBERED_LENGTH = 4096


def read_update(text: str, base: str | None = None) -> tuple[Operation, ...]:
    """The operations of an update; ``base`` resolves relative IRIs where the text has no BASE.

    Repeated texts are cached. Raises RequestError for a text that is not an update, or that would reach
    another host.
    """
    return _remembered(text, base) if len(text) <= _REMEMBERED_LENGTH else _read(text, base)


@lru_cache(maxsize=256)
def _remembered(text: str, base: str | None) -> tuple[Operation, ...]:
    return _read(text, base)


def _read(text: str, base: str | None) -> tuple[Operation, ...]:
    facts = facts_of(text)
    if facts.kind is Kind.QUERY:
        raise MalformedRequest("This is a query, not an update; send it as a query.")
    if facts.kind is None:
        facts.refuse_remote_access()
        _check_empty(text)
        return ()
    # Only parsed so far, so that syntax errors are reported first.
    operations = tuple(read_operations(text, base))
    if facts.services:
        raise RemoteAccessRefused("SERVICE", facts.services[0])
    for operation in operations:
        if isinstance(operation, Load) and not operation.silent:
            raise RemoteAccessRefused("LOAD", str(operation.document))
    return operations


def capture(
    store: Readable,
    update: str | Sequence[Operation],
    *,
    using: Sequence[NamedNode] = (),
    using_named: Sequence[NamedNode] = (),
    base: str | None = None,
    functions: Functions | None = None,
    aggregates: Functions | None = None,
    scratch: Path | None = None,
    writable: bool = False,
    buffer: WriteBuffer | None = None,
) -> QuadDelta:
    """The delta of a SPARQL 1.1 update on ``store``, which is only read and must not change meanwhile.

    ``update`` is its text, or the result of ``read_update``. ``using`` and ``using_named`` are the dataset of
    the request (SPARQL 1.1 Protocol, 2.2.3). Scratch clones are made in ``scratch``; on the store's own file
    system they only cost hard links. A ``writable`` store is itself a clone: it is written to instead, which
    counts in `buffer`, and restored afterwards (OSError if that fails). Everything runs in the calling
    thread. Raises RequestError and WriteError.
    """
    operations = read_update(update, base) if isinstance(update, str) else update
    request_dataset = (tuple(using), tuple(using_named))
    with Account(store, scratch, writable=writable, buffer=buffer) as account:
        for operation in operations:
            Step(account, functions, aggregates, request_dataset).carry_out(operation)
        return account.delta()


def stated(operations: Sequence[Operation]) -> QuadDelta | None:
    """The delta of INSERT DATA and DELETE DATA, which follows from their text alone; None for others.

    Its removals are all that the text removes, whether in the store or not. Raises WriteError.
    """
    if not all(isinstance(one, Modify) and one.where is None for one in operations):
        return None
    with Account(_EVERYTHING, None, writable=False) as account:
        for operation in operations:
            Step(account, None, None, ((), ())).carry_out(operation)
        return account.delta()


class _Everything:
    """A dataset that supports nothing but containment, and contains every quad."""

    def __contains__(self, quad: object) -> bool:
        return True


_EVERYTHING = cast("Readable", _Everything())


def needs_worker(operations: Sequence[Operation]) -> bool:
    """Whether an update evaluates a pattern, which may take any time: then it must run in a worker process.

    INSERT DATA, DELETE DATA and graph management take time in proportion to their changes.
    """
    return any(isinstance(one, Modify) and one.where is not None for one in operations)


def _check_empty(text: str) -> None:
    """An update of no operations is valid; other text without an operation is not."""
    try:
        pyoxigraph.Store().update(text)
    except SyntaxError as error:
        raise syntax_problem("update", str(error), text) from error
