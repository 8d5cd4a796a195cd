"""The changes of an update of a remote store: patterns are evaluated there, templates filled here."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import NamedNode

from sparql.model.errors import RemoteUnsupported
from sparql.remote.store import LOCAL_GRAPHS, RemoteStore
from sparql.syntax.request_facts import facts_of
from sparql.writing.update_account import QuadDelta
from sparql.writing.updates import capture

_LOCAL = frozenset(graph.value for graph in LOCAL_GRAPHS)


class RemoteCapturer:
    """Captures updates in the calling thread, with a deadline for the store's answers."""

    def __init__(self, store: RemoteStore) -> None:
        self._store = store

    def capture(
        self,
        text: str,
        using: Sequence[NamedNode] = (),
        using_named: Sequence[NamedNode] = (),
        timeout_s: float = 30.0,
        base: str | None = None,
    ) -> QuadDelta:
        """The delta. Raises RequestError, ReadError, WriteError and RemoteError."""
        if _LOCAL & facts_of(text).iris:
            raise RemoteUnsupported(
                self._store.address.query_url,
                "an update that reads a system graph, which is kept in the local store",
            )
        graph = self._store.graph.until(timeout_s)
        return capture(graph, text, using=using, using_named=using_named, base=base)
