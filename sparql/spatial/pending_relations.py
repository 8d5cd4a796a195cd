"""The deriver of RCC8 before its index exists: changes without geometry need not wait for it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from threading import Lock
from typing import TYPE_CHECKING

from pyoxigraph import Quad, Triple

from sparql.model.change import Delta
from sparql.model.geometry import HAS_GEOMETRY, Tolerances, marked, states_geometry
from sparql.model.source import QuadSource, TripleSource

if TYPE_CHECKING:
    from sparql.spatial.relations import SpatialRelations


class PendingRelations:
    """Stands in for `SpatialRelations`, which `build` reads from the graph on first use.

    No change that may affect relations is committed before that, so the index then covers all commits. If the
    graph has no geometry, deriving all relations again does not need it either: after a crash in a bulk
    load no writer waits for the geometry libraries.
    """

    def __init__(self, build: Callable[[], SpatialRelations], tolerances: Tolerances) -> None:
        self._build = build
        self._tolerances = tolerances
        self._building = Lock()
        self._built: SpatialRelations | None = None

    def wait(self) -> SpatialRelations:
        """The relations, once they are ready; builds them if nobody has begun."""
        with self._building:
            if self._built is None:
                self._built = self._build()
            return self._built

    def derives_from(self, triple: Triple) -> bool:
        """Whether a change with this triple may change a relation."""
        return states_geometry(triple) or self._tolerances.concerns(triple)

    def plan(
        self,
        before: TripleSource,
        derived: TripleSource,
        additions: Collection[Triple],
        removals: Collection[Triple],
    ) -> Delta:
        """The relations to add and remove with a change."""
        return self.wait().plan(before, derived, additions, removals)

    def catch_up(self, source: TripleSource, derived: TripleSource) -> Delta:
        """All relations again, compared with those stored."""
        if self._built is None and not _any_place(source) and _is_empty(derived):
            return Delta()
        with self._building:
            if self._built is None:
                # What it is built from is the graph as it is.
                self._built = self._build()
                return self._built.differing(derived)
        return self._built.catch_up(source, derived)

    def marked(self, store: QuadSource, *, whole: bool = False) -> tuple[list[Quad], list[Quad]]:
        """The quads that record the basis of the relations; none change without a plan."""
        if self._built is not None:
            return self._built.marked(store, whole=whole)
        return marked(store, self._tolerances, whole=True, first=False) if whole else ([], [])

    def undo(self) -> None:
        """Discard the plan, if there is one."""
        if self._built is not None:
            self._built.undo()

    def keep(self) -> None:
        """The plan, if there is one, was committed."""
        if self._built is not None:
            self._built.keep()

    def rebuild(self, source: TripleSource) -> None:
        """Read all geometries from the graph; if nothing has been read yet, do that later."""
        with self._building:
            if self._built is not None:
                self._built.rebuild(source)


def _any_place(source: TripleSource) -> bool:
    """Whether anything in the graph has a geometry."""
    return any(next(source.match(None, one, None), None) is not None for one in HAS_GEOMETRY)


def _is_empty(source: TripleSource) -> bool:
    return next(source.match(None, None, None), None) is None
