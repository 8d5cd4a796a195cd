"""One update request that takes a remote store from one commit to the next, or does nothing.

A marker triple identifies the commit that the store holds. The update replaces the expected marker and
changes the data in the same operation, so it can be sent twice without harm, an update that was lost can be
distinguished from one that arrived, and another writer is noticed. The commit in progress is saved before it
is sent, to be settled after a crash or a lost connection.

Long data, or terms that the store does not support in a template, are put into staging graphs first, which
nobody reads; one operation then moves them. A single operation is atomic in the stores that matter; several
in one request are not (Virtuoso 7).
"""

from __future__ import annotations

import json
import logging
import os
import time
import uuid
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pyoxigraph import DefaultGraph, NamedNode, Quad, RdfFormat, parse, serialize

from sparql.model.errors import RemoteConflict, RemoteError, RemoteRefused, RemoteUndecided, RemoteUnreachable
from sparql.model.vocabulary import GRAPH, STATE, UKG
from sparql.remote.capabilities import STAGING, StoreCapabilities, Terms
from sparql.remote.endpoint import ATTEMPTS, ConnectionLost, Endpoint, RemoteAddress
from sparql.storage.embedded_store import EmbeddedStore

_FILE = "remote-commit.json"


@dataclass(frozen=True)
class PendingCommit:
    """A commit from marker `before` to `after`.

    `additions` and `removals` are those in the remote store (not listed when `complete` is False), the
    `local_` ones belong to the local store.
    """

    before: NamedNode
    after: NamedNode
    origin: str
    additions: Collection[Quad]
    removals: Collection[Quad]
    local_additions: Collection[Quad]
    local_removals: Collection[Quad]
    complete: bool = True


class PendingFile:
    """The file for it; at most one commit is in progress."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / _FILE

    def write(self, commit: PendingCommit) -> None:
        """Save it. Raises OSError."""
        members = {
            "before": commit.before.value,
            "after": commit.after.value,
            "origin": commit.origin,
            "complete": commit.complete,
            "additions": _written(commit.additions),
            "removals": _written(commit.removals),
            "local_additions": _written(commit.local_additions),
            "local_removals": _written(commit.local_removals),
        }
        partial = self._path.with_suffix(".partial")
        with partial.open("w", encoding="utf-8") as file:
            json.dump(members, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(self._path)

    def read(self) -> PendingCommit | None:
        """The commit in progress, if there is one."""
        try:
            members = json.loads(self._path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        return PendingCommit(
            NamedNode(members["before"]),
            NamedNode(members["after"]),
            members["origin"],
            _read(members["additions"]),
            _read(members["removals"]),
            _read(members["local_additions"]),
            _read(members["local_removals"]),
            members["complete"],
        )

    def forget(self) -> None:
        """It is settled."""
        self._path.unlink(missing_ok=True)


def _written(quads: Collection[Quad]) -> str:
    return (serialize(quads, format=RdfFormat.N_QUADS) or b"").decode()


def _read(text: str) -> list[Quad]:
    return list(parse(text, format=RdfFormat.N_QUADS))


_PIECE_QUADS = 500
_PIECE_CHARACTERS = 200_000
_INLINE_QUADS = 500
_INLINE_CHARACTERS = 200_000
_LONGEST_BY_GRAPH_STORE = 10_000
"""Longer triples are sent as an update: Virtuoso 7 does not recognize a body with long literals as RDF."""


def marker(commit: NamedNode | str) -> str:
    """The triple, in its graph, that identifies the commit of a store; also as a pattern."""
    return f"GRAPH {STATE} {{ {UKG.store} {UKG.commit} {commit} }}"


def read_marker(endpoint: Endpoint) -> NamedNode | None:
    """The commit that the store holds; None in a store that no server has written to."""
    rows = endpoint.solutions(f"SELECT ?commit WHERE {{ {marker('?commit')} }}")
    names = sorted(str(row["commit"]) for row in rows)
    return NamedNode(names[0][1:-1]) if names else None


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
            True: [self._terms.written(quad) for quad in additions],
            False: [self._terms.written(quad) for quad in removals],
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
        self._stage((self._terms.written(quad) for quad in additions), adding=True)

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
        for attempt in range(ATTEMPTS):
            try:
                self._endpoint.update(text)
                return
            except ConnectionLost as error:
                # A set of triples without blank nodes, so sending it again does no harm.
                if attempt == ATTEMPTS - 1:
                    raise RemoteUnreachable(self._endpoint.address.update_url, str(error)) from error

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


_log = logging.getLogger("urbankg.store")


class CommitMarker:
    """`commit` is the current commit of the store at `address`; it is remembered in `local`.

    After an update whose response was lost, the store is asked for its state after each of
    `settling_pauses_s`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        address: RemoteAddress,
        local: EmbeddedStore,
        settling_pauses_s: Sequence[float],
    ) -> None:
        self._endpoint = endpoint
        self._address = address
        self._local = local
        self._settling_pauses_s = settling_pauses_s
        self.commit = new_commit()

    def begin(self, *, undecided: bool) -> None:
        """Find out the store's commit; a store without a marker gets one.

        `undecided` means that the result of the last commit is unknown.
        """
        held, known = read_marker(self._endpoint), self._known()
        if undecided and known is not None:
            self.commit = known
            return
        if held is None:
            held = new_commit()
            try:
                self._endpoint.update(f"INSERT DATA {{ {marker(held)} }}")
            except ConnectionLost as error:
                raise RemoteUnreachable(self._address.update_url, str(error)) from error
        if held != known:
            if known is not None:
                _log.warning(
                    "The store at %s is not at the commit that this folder knows: another server wrote to "
                    "it, or the folder was restored. Its current state is used.",
                    self._address.query_url,
                )
            self._know(held)
        self.commit = held

    def held(self) -> NamedNode | None:
        """The commit whose marker the store holds now."""
        return read_marker(self._endpoint)

    def apply(self, text: str, pending: PendingCommit) -> None:
        """Send the update until the marker shows that it is applied."""
        url = self._address.update_url
        problem: Exception | None = None
        for pause in (0.0, *self._settling_pauses_s):
            time.sleep(pause)
            try:
                self._endpoint.update(text)
                problem = None
            except ConnectionLost as error:
                problem = error
            except RemoteUnreachable as error:
                if problem is None:
                    raise
                problem = error
                continue
            except RemoteRefused as error:
                if self._held_after(error) == pending.before:
                    raise
                problem = error
            try:
                held = read_marker(self._endpoint)
            except RemoteError as error:
                problem = error
                continue
            if held == pending.after:
                return
            if held != pending.before:
                raise RemoteConflict(url)
            if problem is None:
                raise RemoteRefused(url, 200, "it reported success, but did not carry out the update")
        raise RemoteUndecided(url, str(problem))

    def _held_after(self, refusal: RemoteRefused) -> NamedNode | None:
        try:
            return read_marker(self._endpoint)
        except RemoteError as error:
            raise RemoteUndecided(self._address.update_url, f"{refusal.reply}; then {error}") from error

    def rule_out(self, pending: PendingCommit) -> NamedNode | None:
        """Move the marker on, so that a late update does nothing; returns the marker afterwards."""
        fence = new_commit()
        text = (
            f"DELETE {{ {marker(pending.before)} }} INSERT {{ {marker(fence)} }} "
            f"WHERE {{ {marker(pending.before)} }}"
        )
        try:
            self._endpoint.update(text)
        except ConnectionLost as error:
            raise RemoteUndecided(self._address.update_url, str(error)) from error
        held = read_marker(self._endpoint)
        if held == fence:
            self._know(fence)
            self.commit = fence
        return held

    def _known(self) -> NamedNode | None:
        found = next(self._local.match_quads(UKG.store, UKG.commit, None, STATE), None)
        return found.object if found is not None and isinstance(found.object, NamedNode) else None

    def _know(self, commit: NamedNode) -> None:
        """Remember the store's commit, without a new revision."""
        known = list(self._local.match_quads(UKG.store, UKG.commit, None, STATE))
        self._local.graph.extend([self.stamp(commit)])
        for quad in known:
            if quad.object != commit:
                self._local.graph.remove(quad)

    @staticmethod
    def stamp(commit: NamedNode) -> Quad:
        """The quad of the local store that records a commit."""
        return Quad(UKG.store, UKG.commit, commit, STATE)


def new_commit() -> NamedNode:
    """A unique name for a commit."""
    return NamedNode(f"urn:uuid:{uuid.uuid4()}")
