"""What an update would change, found out without changing anything.

``capture`` runs each operation's WHERE once, fills its templates from the solutions, and keeps account of
what comes and goes. The delta is exactly what is judged and committed afterwards; the request's text never
runs, since UUID(), RAND() and NOW() would give something else the second time. An operation that reads after
an earlier one of the same request has changed something reads a scratch clone of the store with that change.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, Self, cast

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode, Quad

from sparql.change import Change, Statement
from sparql.errors import GraphExists, GraphMissing, MalformedRequest, ProtectedGraph, RemoteAccessRefused
from sparql.operations import (
    Clear,
    Create,
    GraphReference,
    GraphSet,
    Load,
    Modify,
    Operation,
    Transfer,
    read_operations,
)
from sparql.syntax import Kind, facts_of, syntax_problem
from sparql.templates import GraphName, Solution
from sparql.triple_store import Readable
from sparql.unknown_functions import tolerating
from sparql.vocabulary import DEFAULT, DERIVED, GRAPH, INFERRED, ONTOLOGY

Functions = dict[NamedNode, Callable[..., Any]]

_REMEMBERED_LENGTH = 4096


@dataclass(frozen=True)
class QuadDelta:
    """What an update would change.

    ``additions`` are the quads it inserts and leaves, also those that the store holds already; ``removals``
    are quads of the store that it takes away. The two are disjoint. ``graphs_created`` and ``graphs_dropped``
    are named graphs that come and go as such, which quads alone do not tell of empty ones.
    """

    additions: frozenset[Quad] = frozenset()
    removals: frozenset[Quad] = frozenset()
    graphs_created: frozenset[NamedNode] = frozenset()
    graphs_dropped: frozenset[NamedNode] = frozenset()


def read_update(text: str, base: str | None = None) -> tuple[Operation, ...]:
    """The operations of an update; ``base`` resolves relative IRIs where the text has no BASE.

    Texts that repeat are remembered. Raises RequestError for a text that is no update, or that would reach
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
    # Only parsed so far, so that a mistake in the text is told first.
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
) -> QuadDelta:
    """The delta of a SPARQL 1.1 update on ``store``, which is only read and must not change meanwhile.

    ``update`` is its text, or what ``read_update`` made of it.
    ``using`` and ``using_named`` are the dataset of the request (SPARQL 1.1 Protocol, 2.2.3). Scratch clones
    are made in ``scratch``; on the store's own file system they cost hard links only. A ``writable`` store is
    a clone itself: it is written to instead, and left as it was (when that fails, OSError). Everything runs
    in the calling thread. Raises RequestError and WriteError.
    """
    operations = read_update(update, base) if isinstance(update, str) else update
    request_dataset = (tuple(using), tuple(using_named))
    with _Account(store, scratch, writable=writable) as account:
        for operation in operations:
            _Step(account, functions, aggregates, request_dataset).carry_out(operation)
        return account.delta()


def stated(operations: Sequence[Operation]) -> QuadDelta | None:
    """The delta of INSERT DATA and DELETE DATA, which follows from their text alone; None for others.

    Its removals are all that the text removes, be it in the store or not. Raises WriteError.
    """
    if not all(isinstance(one, Modify) and one.where is None for one in operations):
        return None
    with _Account(_EVERYTHING, None, writable=False) as account:
        for operation in operations:
            _Step(account, None, None, ((), ())).carry_out(operation)
        return account.delta()


class _Everything:
    """What cannot be asked about anything but what it holds, which is every quad."""

    def __contains__(self, quad: object) -> bool:
        return True


_EVERYTHING = cast("Readable", _Everything())


def needs_reader(operations: Sequence[Operation]) -> bool:
    """Whether an update evaluates a pattern, which may take any time: then it belongs in a reader process.

    INSERT DATA, DELETE DATA and graph management take time in proportion to what they change.
    """
    return any(isinstance(one, Modify) and one.where is not None for one in operations)


def change_of(delta: QuadDelta, *, partial: bool = False) -> Change:
    """The delta as the writer takes it: the default graph's part is judged, clients' graphs are theirs."""
    default = [quad for quad in delta.additions if isinstance(quad.graph_name, DefaultGraph)]
    gone = frozenset(quad for quad in delta.removals if isinstance(quad.graph_name, DefaultGraph))
    return Change(
        additions=tuple(Statement(quad.triple) for quad in default),
        removals=frozenset(quad.triple for quad in gone),
        graph_additions=delta.additions - frozenset(default),
        graph_removals=delta.removals - gone,
        graphs_created=delta.graphs_created,
        graphs_dropped=delta.graphs_dropped,
        partial=partial,
    )


def is_system_graph(graph: object) -> bool:
    """Whether a graph is one of the system's, which clients may read by name and not write."""
    return isinstance(graph, NamedNode) and graph.value.startswith(GRAPH.iri)


class _Account:
    """What has come and gone so far, and the store as it then is."""

    def __init__(self, store: Readable, scratch: Path | None, *, writable: bool) -> None:
        self._store = store
        self._scratch = scratch
        self._writable = writable
        self._clone: pyoxigraph.Store | None = None
        # What a writable store held, of all that is written to it.
        self._held: dict[Quad, bool] = {}
        self._had: dict[NamedNode, bool] = {}
        self._exit = ExitStack()
        self._added: set[Quad] = set()
        self._removed: set[Quad] = set()
        self._created: set[NamedNode] = set()
        self._dropped: set[NamedNode] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._clone is self._store:
            self._restore()
        self._clone = None
        self._exit.close()

    def delta(self) -> QuadDelta:
        return QuadDelta(
            frozenset(self._added),
            frozenset(self._removed),
            frozenset(self._created),
            frozenset(self._dropped),
        )

    def current(self) -> Readable:
        """A store that shows what has come and gone; the original while nothing has."""
        if self._clone is not None:
            return self._clone
        if not (self._added or self._removed or self._created or self._dropped):
            return self._store
        if self._writable:
            self._clone = cast("pyoxigraph.Store", self._store)
        else:
            self._clone = self._exit.enter_context(_Scratch(self._store, self._scratch)).store
        self._write_through(self._removed, self._added)
        for graph in self._created:
            self._add_graph(graph)
        for graph in self._dropped:
            self._remove_graph(graph)
        return self._clone

    def has_graph(self, graph: NamedNode) -> bool:
        if graph in self._dropped:
            return False
        return (
            graph in self._created
            or self._had_graph(graph)
            or any(quad.graph_name == graph for quad in self._added)
        )

    def apply(self, removals: Iterable[Quad], additions: Iterable[Quad]) -> None:
        """Removals first, then additions (3.1.3). Raises ProtectedGraph."""
        gone, come = set(removals), set(additions)
        for quad in (*gone, *come):
            if is_system_graph(quad.graph_name):
                raise ProtectedGraph(quad.graph_name)
        gone -= come
        for quad in gone:
            self._added.discard(quad)
            if self._held_before(quad):
                self._removed.add(quad)
        self._removed -= come
        self._added |= come
        if self._dropped:
            self._dropped -= {quad.graph_name for quad in come if isinstance(quad.graph_name, NamedNode)}
        self._write_through(gone, come)

    def create(self, graph: NamedNode) -> None:
        if graph in self._dropped:
            self._dropped.discard(graph)
        elif not self._had_graph(graph):
            self._created.add(graph)
        if self._clone is not None:
            self._add_graph(graph)

    def drop(self, graph: NamedNode) -> None:
        """The graph is empty already; now it is no more."""
        self._created.discard(graph)
        if self._had_graph(graph):
            self._dropped.add(graph)
        if self._clone is not None:
            self._remove_graph(graph)

    def _held_before(self, quad: Quad) -> bool:
        """Whether the store held it before the update."""
        held = self._held.get(quad)
        return quad in self._store if held is None else held

    def _had_graph(self, graph: NamedNode) -> bool:
        """Whether the store had it before the update."""
        had = self._had.get(graph)
        return self._store.contains_named_graph(graph) if had is None else had

    def _write_through(self, removals: Iterable[Quad], additions: Iterable[Quad]) -> None:
        if self._clone is None:
            return
        removals, additions = tuple(removals), tuple(additions)
        for quad in (*removals, *additions):
            self._note(quad)
        for quad in removals:
            self._clone.remove(quad)
        self._clone.extend(additions)

    def _add_graph(self, graph: NamedNode) -> None:
        assert self._clone is not None
        self._note_graph(graph)
        self._clone.add_graph(graph)

    def _remove_graph(self, graph: NamedNode) -> None:
        assert self._clone is not None
        self._note_graph(graph)
        self._clone.remove_graph(graph)

    def _note(self, quad: Quad) -> None:
        if self._clone is self._store and quad not in self._held:
            self._held[quad] = quad in self._store
            if isinstance(quad.graph_name, NamedNode):
                self._note_graph(quad.graph_name)

    def _note_graph(self, graph: NamedNode) -> None:
        if self._clone is self._store and graph not in self._had:
            self._had[graph] = self._store.contains_named_graph(graph)

    def _restore(self) -> None:
        """Make a writable store what it was."""
        store = self._clone
        assert store is not None
        for quad, held in self._held.items():
            if not held:
                store.remove(quad)
        store.extend(quad for quad, held in self._held.items() if held)
        for graph, had in self._had.items():
            if had:
                store.add_graph(graph)
            else:
                store.remove_graph(graph)


class _Step:
    """One operation carried out on an account."""

    def __init__(
        self,
        account: _Account,
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
                    "The update has USING or WITH already; leave the using-*-uri parameters out."
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
        """The quads of a graph that emptying it takes away.

        The default graph keeps what the system put there: the ontology, and what is derived, which goes when
        that which it follows from does.
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


class _Scratch:
    """A throw-away clone of a store that can be written to."""

    def __init__(self, original: Readable, folder: Path | None) -> None:
        self._original = original
        self._folder = folder
        self._made: Path | None = None
        self.store: pyoxigraph.Store

    def __enter__(self) -> Self:
        self._made = Path(tempfile.mkdtemp(prefix="scratch-", dir=self._folder))
        path = self._made / "clone"
        try:
            self._original.backup(os.fspath(path))
        except RuntimeError:
            # In memory: there are no files to link.
            self.store = pyoxigraph.Store()
            self.store.bulk_extend(cast("pyoxigraph.Store", self._original))
            for graph in self._original.named_graphs():
                self.store.add_graph(graph)
        else:
            self.store = pyoxigraph.Store(os.fspath(path))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        del self.store
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)


def _one_graph(reference: GraphReference) -> GraphName:
    return reference if isinstance(reference, NamedNode) else DEFAULT


def _refuse_system(graph: GraphName) -> None:
    if is_system_graph(graph):
        raise ProtectedGraph(graph)


def _check_empty(text: str) -> None:
    """An update of no operations is valid; anything else that begins no operation is not."""
    try:
        pyoxigraph.Store().update(text)
    except SyntaxError as error:
        raise syntax_problem("update", str(error)) from error
