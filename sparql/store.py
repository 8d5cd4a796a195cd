"""The embedded store: one Oxigraph database in a folder, one writer, checkpoints for readers.

Layout: the default graph holds all that is accepted; system graphs beside it record where each
triple came from (`sparql.vocabulary`). The revision is a quad of the state graph, committed with the
data, so a restart knows exactly what was acknowledged.
"""

import os
import shutil
import threading
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from sparql.errors import StoreLocked, StoreUnreadable
from sparql.readers.checkpoints import Checkpoint as LentCheckpoint
from sparql.source import Term
from sparql.vocabulary import DEFAULT, STATE, UKG, XSD

_BLANK_NODE = NamedNode("urn:x-urbankg:blank-node")
_STORE = UKG.store
_REVISION = UKG.revision


@dataclass(frozen=True)
class Checkpoint:
    """A frozen copy of the store in a folder of hard links, openable read-only."""

    path: Path
    revision: int


class Observer(Protocol):
    """Something kept in step with the default graph: the label index, for one.

    `rebuild` is called once at start with the whole default graph, `apply` after each commit, under
    the writer's lock.
    """

    def rebuild(self, quads: Iterable[Quad]) -> None: ...

    def apply(self, additions: Iterable[Quad], removals: Iterable[Quad]) -> None: ...


class EmbeddedStore:
    """An Oxigraph database in `folder`, or in memory when `folder` is None (then without checkpoints).

    Raises `StoreLocked` when another process holds the folder and `StoreUnreadable` when its files
    cannot be opened.
    """

    def __init__(self, folder: Path | None = None, *, sync: bool = False) -> None:
        self.folder = folder
        self._sync = sync
        self._lock = threading.RLock()
        self._checkpoint: Checkpoint | None = None
        self._users: dict[Path, int] = {}
        self._made = 0
        if folder is None:
            self.graph = pyoxigraph.Store()
        else:
            folder.mkdir(parents=True, exist_ok=True)
            self.graph = _open(folder / "graph")
            self._checkpoints = folder / "checkpoints"
            shutil.rmtree(self._checkpoints, ignore_errors=True)
            self._checkpoints.mkdir()
        self._revision = self._stored_revision()

    def revision(self) -> int:
        """The number of the last committed change; it only grows."""
        return self._revision

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the default graph that fit the pattern; `None` is a wildcard."""
        for quad in self.match_quads(subject, predicate, object_, DEFAULT):
            yield quad.triple

    def match_quads(
        self,
        subject: Term | None,
        predicate: NamedNode | None,
        object_: Term | None,
        graph: NamedNode | BlankNode | DefaultGraph | None = None,
    ) -> Iterator[Quad]:
        """Quads that fit the pattern, of one graph or (None) of all."""
        if isinstance(subject, Literal | Triple):
            return iter(())
        return iter(self.graph.quads_for_pattern(subject, predicate, object_, graph))

    def named(self, graph: NamedNode) -> "NamedGraphSource":
        """One named graph as a source of triples."""
        return NamedGraphSource(self, graph)

    def contains(self, quad: Quad) -> bool:
        return quad in self.graph

    def commit(self, additions: Collection[Quad], removals: Collection[Quad] = ()) -> int:
        """Apply exactly these quads in one atomic step and return the new revision.

        Removals that are also added stay. A crash leaves either all of it or none.
        """
        with self._lock:
            revision = self._revision + 1
            stamp = Quad(_STORE, _REVISION, Literal(str(revision), datatype=XSD.integer), STATE)
            kept = set(additions)
            gone = [quad for quad in removals if quad not in kept]
            if gone:
                self.graph.update(
                    _update_text([*additions, stamp], gone),
                    custom_functions={_BLANK_NODE: _blank_node},
                )
            else:
                self.graph.extend([*additions, stamp])
            previous, self._revision = self._revision, revision
            # The older stamp is only litter: the newest one counts, so this needs no atomicity.
            self.graph.remove(Quad(_STORE, _REVISION, Literal(str(previous), datatype=XSD.integer), STATE))
            if self._sync:
                self._sync_log()
            return revision

    def acquire(self) -> Checkpoint:
        """Lend a checkpoint at least as new as every change acknowledged before this call.

        Blocks for about 20 ms when a new one is needed. Give it back with `release`.
        """
        with self._lock:
            current = self._checkpoint
            if current is None or current.revision != self._revision:
                self._made += 1
                path = self._checkpoints / f"{self._revision}-{self._made}"
                self.graph.backup(str(path))
                self._checkpoint = Checkpoint(path, self._revision)
                if current is not None:
                    self._drop_if_unused(current.path)
                current = self._checkpoint
            self._users[current.path] = self._users.get(current.path, 0) + 1
            return current

    def release(self, checkpoint: LentCheckpoint) -> None:
        """Give back a checkpoint; its files go when nobody uses it and it is no longer the newest."""
        with self._lock:
            self._users[checkpoint.path] -= 1
            self._drop_if_unused(checkpoint.path)

    def close(self) -> None:
        """Flush and let go of the folder's lock."""
        with self._lock:
            if self.folder is not None:
                self.graph.flush()
            # pyoxigraph has no close: the lock goes with the last reference.
            self.graph = pyoxigraph.Store()

    def _drop_if_unused(self, path: Path) -> None:
        newest = self._checkpoint is not None and self._checkpoint.path == path
        if not newest and self._users.get(path, 0) <= 0:
            self._users.pop(path, None)
            shutil.rmtree(path, ignore_errors=True)

    def _stored_revision(self) -> int:
        stamps = self.match_quads(_STORE, _REVISION, None, STATE)
        return max((int(quad.object.value) for quad in stamps if isinstance(quad.object, Literal)), default=0)

    def _sync_log(self) -> None:
        if self.folder is None:
            return
        logs = sorted((self.folder / "graph").glob("*.log"), key=lambda path: path.stat().st_mtime)
        if logs:
            handle = os.open(logs[-1], os.O_RDONLY)
            try:
                os.fdatasync(handle)
            finally:
                os.close(handle)


@dataclass(frozen=True)
class NamedGraphSource:
    """A named graph of the store, read like the default graph."""

    store: EmbeddedStore
    graph: NamedNode

    def match(
        self, subject: Term | None, predicate: NamedNode | None, object_: Term | None
    ) -> Iterator[Triple]:
        """Triples of the graph that fit the pattern; `None` is a wildcard."""
        for quad in self.store.match_quads(subject, predicate, object_, self.graph):
            yield quad.triple


def _open(path: Path) -> pyoxigraph.Store:
    try:
        return pyoxigraph.Store(str(path))
    except OSError as error:
        if "lock" in str(error).lower():
            raise StoreLocked(path.parent) from error
        raise StoreUnreadable(path.parent, str(error)) from error


def _blank_node(identifier: Term) -> BlankNode:
    return BlankNode(identifier.value if isinstance(identifier, Literal) else "b")


def _update_text(additions: Iterable[Quad], removals: Iterable[Quad]) -> str:
    """One SPARQL update that removes and adds exactly these quads.

    SPARQL cannot name a stored blank node, so quads with blank nodes go through variables bound by
    a custom function that returns the node of that identifier.
    """
    variables: dict[str, str] = {}
    plain: dict[bool, list[str]] = {True: [], False: []}
    bound: dict[bool, list[str]] = {True: [], False: []}
    for adding, quads in ((False, removals), (True, additions)):
        for quad in quads:
            has_blank = _has_blank(quad)
            target = bound if has_blank else plain
            target[adding].append(_pattern(quad, variables) if has_blank else _pattern(quad, {}))
    parts = []
    if plain[False]:
        parts.append("DELETE DATA {\n" + "\n".join(plain[False]) + "\n}")
    if bound[False] or bound[True]:
        binds = "\n".join(
            f'BIND({_BLANK_NODE}("{identifier}") AS {name})' for identifier, name in variables.items()
        )
        parts.append(
            "DELETE {\n" + "\n".join(bound[False]) + "\n}\nINSERT {\n" + "\n".join(bound[True]) + "\n}\n"
            "WHERE {\n" + binds + "\n}"
        )
    if plain[True]:
        parts.append("INSERT DATA {\n" + "\n".join(plain[True]) + "\n}")
    return " ;\n".join(parts)


def _has_blank(quad: Quad) -> bool:
    return any(
        isinstance(term, BlankNode) or (isinstance(term, Triple) and _has_blank_term(term))
        for term in (quad.subject, quad.object, quad.graph_name)
    )


def _has_blank_term(triple: Triple) -> bool:
    return any(
        isinstance(term, BlankNode) or (isinstance(term, Triple) and _has_blank_term(term))
        for term in (triple.subject, triple.object)
    )


def _pattern(quad: Quad, variables: dict[str, str]) -> str:
    triple = " ".join(_text(term, variables) for term in (quad.subject, quad.predicate, quad.object))
    if isinstance(quad.graph_name, DefaultGraph):
        return f"{triple} ."
    return f"GRAPH {_text(quad.graph_name, variables)} {{ {triple} }}"


def _text(term: Term, variables: dict[str, str]) -> str:
    if isinstance(term, BlankNode):
        return variables.setdefault(term.value, f"?b{len(variables)}")
    if isinstance(term, Triple):
        inner = " ".join(_text(part, variables) for part in (term.subject, term.predicate, term.object))
        return f"<<( {inner} )>>"
    return str(term)
