"""The deriver of RCC8 before its index is there: what says nothing of geometry need not wait for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import Lock
from typing import TYPE_CHECKING

from pyoxigraph import Quad, Triple

from sparql.change import Delta
from sparql.geometry_terms import states_geometry
from sparql.relation_basis import Quads
from sparql.source import TripleSource

if TYPE_CHECKING:
    from sparql.relations import SpatialRelations


class PendingRelations:
    """Stands for `SpatialRelations`, which `build` reads from the graph when they are first needed.

    No change that may concern them is committed before, so what is read then holds all that was.
    """

    def __init__(self, build: Callable[[], SpatialRelations]) -> None:
        self._build = build
        self._building = Lock()
        self._built: SpatialRelations | None = None

    def wait(self) -> SpatialRelations:
        """The relations, as soon as they are there; builds them if nobody has begun."""
        with self._building:
            if self._built is None:
                self._built = self._build()
            return self._built

    @staticmethod
    def derives_from(triple: Triple) -> bool:
        """Whether a change with this triple may change a relation."""
        return states_geometry(triple)

    def plan(
        self,
        before: TripleSource,
        derived: TripleSource,
        additions: Collection[Triple],
        removals: Collection[Triple],
    ) -> Delta:
        """The relations that come and go with a change."""
        return self.wait().plan(before, derived, additions, removals)

    def catch_up(self, source: TripleSource, derived: TripleSource) -> Delta:
        """All relations anew, against those that are stored."""
        return self.wait().catch_up(source, derived)

    def marked(self, store: Quads, *, whole: bool = False) -> tuple[list[Quad], list[Quad]]:
        """The quads that tell what relations rest on; none come or go without a plan."""
        return ([], []) if self._built is None and not whole else self.wait().marked(store, whole=whole)

    def undo(self) -> None:
        """Forget the plan, if there is one."""
        if self._built is not None:
            self._built.undo()

    def keep(self) -> None:
        """The plan, if there is one, was committed."""
        if self._built is not None:
            self._built.keep()

    def rebuild(self, source: TripleSource) -> None:
        """Read all geometries from the graph; what was not read yet will be."""
        with self._building:
            if self._built is not None:
                self._built.rebuild(source)
