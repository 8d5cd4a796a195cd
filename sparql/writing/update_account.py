"""Keeps account of an update in progress: additions and removals, and the resulting store."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, cast

import pyoxigraph
from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat

from sparql.model.change import Change, Statement
from sparql.model.errors import ProtectedGraph
from sparql.model.triple_store import Readable
from sparql.model.vocabulary import DEFAULT, GRAPH
from sparql.storage.database import WriteBuffer, literal_characters


@dataclass(frozen=True)
class QuadDelta:
    """The changes of an update.

    ``additions`` are the quads it inserts and keeps, including those that the store already holds;
    ``removals`` are quads of the store that it removes. The two are disjoint. ``graphs_created`` and
    ``graphs_dropped`` are named graphs created and dropped as such, which quads do not show for empty graphs.
    """

    additions: frozenset[Quad] = frozenset()
    removals: frozenset[Quad] = frozenset()
    graphs_created: frozenset[NamedNode] = frozenset()
    graphs_dropped: frozenset[NamedNode] = frozenset()

    @property
    def only_states(self) -> bool:
        """Whether it only adds to the default graph."""
        return not (self.removals or self.graphs_created or self.graphs_dropped) and all(
            quad.graph_name == DEFAULT for quad in self.additions
        )


def change_of(delta: QuadDelta, *, partial: bool = False) -> Change:
    """The delta as a change for the writer: only the default graph's part is judged."""
    if delta.only_states:
        stated = tuple(Statement.of(quad) for quad in delta.additions)
        return Change.stating(stated, partial=partial)
    default = [quad for quad in delta.additions if isinstance(quad.graph_name, DefaultGraph)]
    default_removals = frozenset(quad for quad in delta.removals if isinstance(quad.graph_name, DefaultGraph))
    return Change(
        additions=tuple(Statement.of(quad) for quad in default),
        removals=frozenset(quad.triple for quad in default_removals),
        graph_additions=delta.additions - frozenset(default),
        graph_removals=delta.removals - default_removals,
        graphs_created=delta.graphs_created,
        graphs_dropped=delta.graphs_dropped,
        partial=partial,
    )


def is_system_graph(graph: object) -> bool:
    """Whether a graph is a system graph, which clients may read by name and not write."""
    return isinstance(graph, NamedNode) and graph.value.startswith(GRAPH.iri)


class Account:
    """The additions and removals so far, and the resulting store.

    What is written to a writable store counts in its `buffer`.
    """

    def __init__(
        self, store: Readable, scratch: Path | None, *, writable: bool, buffer: WriteBuffer | None = None
    ) -> None:
        self._store = store
        self._scratch = scratch
        self._writable = writable
        self._buffer = buffer
        self._clone: pyoxigraph.Store | None = None
        # The original state, in a writable store, of everything that is written to it.
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
        """A store with the changes so far; the original while there are none."""
        if self._clone is not None:
            return self._clone
        if not (self._added or self._removed or self._created or self._dropped):
            return self._store
        if self._writable:
            self._clone = cast("pyoxigraph.Store", self._store)
        else:
            self._clone = self._exit.enter_context(Scratch(self._store, self._scratch)).store
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
        removed, added = set(removals), set(additions)
        for quad in (*removed, *added):
            if is_system_graph(quad.graph_name):
                raise ProtectedGraph(quad.graph_name)
        removed -= added
        for quad in removed:
            self._added.discard(quad)
            if self._held_before(quad):
                self._removed.add(quad)
        self._removed -= added
        self._added |= added
        if self._dropped:
            self._dropped -= {quad.graph_name for quad in added if isinstance(quad.graph_name, NamedNode)}
        self._write_through(removed, added)

    def create(self, graph: NamedNode) -> None:
        if graph in self._dropped:
            self._dropped.discard(graph)
        elif not self._had_graph(graph):
            self._created.add(graph)
        if self._clone is not None:
            self._add_graph(graph)

    def drop(self, graph: NamedNode) -> None:
        """The graph is already empty; now it is dropped."""
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
        self._wrote(len(removals) + len(additions), literal_characters(additions))

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
        """Restore a writable store."""
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
        self._wrote(len(self._held), literal_characters(quad for quad, held in self._held.items() if held))

    def _wrote(self, quads: int, characters: int) -> None:
        if self._buffer is not None and self._clone is self._store:
            self._buffer.wrote(quads, characters)


class Scratch:
    """A temporary clone of a store that can be written to."""

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


_PREFIXES = r"(?P<prefixes>\s*(?:PREFIX\s+[^\s:<>{}#]*:\s*<[^<>{}\s]*>\s*)*)"
# One pair of braces means no other operation, no GRAPH and no pattern.
_FORM = re.compile(rf"{_PREFIXES}INSERT\s+DATA\s*\{{(?P<data>[^{{}}]*)\}}\s*;?\s*\Z", re.IGNORECASE)

_IRI = r"""<[^<>"{}|^`\\\x00-\x20]*+>"""
_NAME = r"(?:[A-Za-z][A-Za-z0-9_-]*+)?:[A-Za-z0-9_][A-Za-z0-9_-]*+"
_CHARACTERS = r"(?:[^%s\\\r\n]++|\\[tbnrf\"'\\])*+"
_STRING = rf"""(?:"{_CHARACTERS % '"'}"|'{_CHARACTERS % "'"}')"""
_LANGUAGE = r"(?:@[A-Za-z]++(?:-[A-Za-z0-9]++)*+)?+(?!\^)"
_INTEGER = r"(?:0|-?[1-9][0-9]{0,17})(?!\.?[0-9eE])"
# The syntax that SPARQL (19.8) and Turtle (6.5) share. It excludes blank nodes, comments and other escapes,
# and literals that a store normalizes: it writes 1.50 as 1.5.
_WORDS = re.compile(
    rf"(?>\s++|{_IRI}|{_STRING}{_LANGUAGE}|{_NAME}|{_INTEGER}|[.;,]|(?:a|true|false)(?![\w:-]))*+\Z", re.ASCII
)


def inserted(text: str, base: str | None = None) -> QuadDelta | None:
    """The inserted triples, with new blank nodes each time; None when it is no such update, or invalid."""
    found = _FORM.match(text)
    if found is None:
        return None
    quads = _as_turtle(found["prefixes"], found["data"], base)
    if quads is not None:
        return QuadDelta(additions=quads)
    store = pyoxigraph.Store()
    try:
        store.update(text, base_iri=base)
    except (SyntaxError, ValueError):
        return None
    return QuadDelta(additions=frozenset(store))


def _as_turtle(prefixes: str, data: str, base: str | None) -> frozenset[Quad] | None:
    """The triples, if the data is valid Turtle; None where only the engine can decide."""
    if "\\" in prefixes or _WORDS.match(data) is None:
        return None
    # SPARQL may omit the last full stop (rule 52), Turtle may not.
    end = "" if data.rstrip().endswith(".") else " ."
    try:
        return frozenset(pyoxigraph.parse(f"{prefixes}{data}{end}", format=RdfFormat.TURTLE, base_iri=base))
    except (SyntaxError, ValueError):
        return None
