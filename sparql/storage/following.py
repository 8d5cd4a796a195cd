"""What is kept in step with the store: observers of the default graph, followers of every commit."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Protocol

from pyoxigraph import NamedNode, Quad

from sparql.storage.change_log import Commit


class Observer(Protocol):
    """Something kept in step with the default graph, for example the label index.

    `rebuild` is called at the start with quads of the default graph, `apply` after each commit, under the
    writer's lock.
    """

    @property
    def predicates(self) -> Collection[NamedNode]:
        """The predicates it reads: it is rebuilt from the quads with these alone."""

    def expect_rebuild(self) -> None:
        """A rebuild follows; what is applied before its end is applied again on top of it."""

    def rebuild(self, quads: Iterable[Quad]) -> None: ...

    def apply(self, additions: Iterable[Quad], removals: Iterable[Quad]) -> None: ...


class Follower(Protocol):
    """Receives every commit, in order, before the next may start and before `revision` returns it."""

    def committed(self, commit: Commit, since: int, /) -> None:
        """The store went from revision `since` to that of the commit by exactly these quads."""

    def lost_track(self) -> None:
        """The store was changed without a report of the individual quads."""
