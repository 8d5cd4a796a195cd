"""The index of geometry literals: which of all those in the graph can a filter be true of.

It holds every statement of a serialization (geo:asWKT and its like) of every graph, and must be complete:
whatever the checkpoint that a query reads holds, the index holds too. So a commit notifies the index of what
it adds before it is done, and what a commit removes stays until no query can read it. More than the
checkpoint holds does no harm: what is not there joins with nothing.

Commits only leave notes; one thread, the rewriter's, builds the index and applies the notes.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from pyoxigraph import Quad

from sparql.rewriting.notes import Note, QuadSource, Side

if TYPE_CHECKING:
    from sparql.rewriting.geometry_state import GeometryState
    from sparql.spatial.geometry_reading import GeometryReading


_MOST_NOTES: Final = 200_000
_MOST_GONE: Final = 10_000
"""So many names of features that are gone do not matter."""
_MOST_CHARACTERS: Final = 64_000_000
"""Notes that take more, while no query asks for the index, are given up with it: it is built anew then."""


class IndexUnavailable(Exception):
    """The index cannot answer for a revision now; `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class GeometryIndex:
    """All geometry statements of a store by place. `note` may be called from any thread, `at` from one.

    Or from several in turns, as what it hands out may be used.
    """

    def __init__(self, source: QuadSource) -> None:
        self._source = source
        self._lock = threading.Lock()
        # Held while the store is read, or the index is built from what was read.
        self._building = threading.Lock()
        # What was read for somebody else, with its revision; how often the index was forgotten.
        self._read: tuple[int, GeometryReading] | None = None
        self._forgotten = 0
        self._notes: list[Note] = []
        self._count = self._characters = 0
        self._recording = False
        self._loading = False
        self._state: GeometryState | None = None
        # Whose classes are noted: the features of the index and those in its notes. None: everything's.
        self._featured: set[str] | None = None
        self._most_featured = 0

    def note(self, revision: int, additions: Iterable[Quad], removals: Iterable[Quad]) -> None:
        """Take note of a commit before it is done."""
        added, removed = Side(additions), Side(removals)
        begins, ends = added.bulk, removed.bulk
        touched = added.touched + removed.touched
        classed = added.classed + removed.classed
        if not (added.keys or removed.keys or touched or classed or added.others or begins or ends):
            return
        with self._lock:
            if begins or ends:
                # What a bulk load adds is not noted: the index is rebuilt after it.
                self._loading = begins
                self._forget()
            elif self._recording:
                if self._featured is not None:
                    self._featured.update(touched)
                    classed = [node for node in classed if node in self._featured]
                touched += classed
                self._notes.append(Note(revision, added.keys, removed.keys, added.others, touched))
                self._count += len(added.keys) + len(removed.keys) + len(touched)
                self._characters += added.characters + removed.characters
                if self._count > _MOST_NOTES or self._characters > _MOST_CHARACTERS:
                    self._forget()

    def at(self, revision: int, oldest: int | None = None) -> GeometryState:
        """The index, complete for a checkpoint of this revision. Raises IndexUnavailable.

        Builds it when first asked, or when too much has changed unasked. `oldest` is the oldest revision that
        may still be asked for, this one if not given; the index says so where it cannot look back.
        """
        with self._lock:
            state = self._begin()
        if state is None:
            with self._building:
                state = self._build()
        else:
            self._take_notes(state)
        oldest = revision if oldest is None else oldest
        if state.features.refresh(self._source, oldest):
            # What was committed while it was read has left a note by now.
            self._take_notes(state)
        if revision < state.since:
            raise IndexUnavailable("the index of geometries was built after the graph that the query reads")
        swept = state.removed_before(self._source, oldest)
        if swept:
            # A commit that removed one of these since, from another graph, has left a note by now.
            self._take_notes(state)
            state.drop(swept, oldest)
            if state.wasted > len(state):
                # Unused places are dropped when it is rebuilt.
                with self._lock:
                    self._forget()
        return state

    def read(self) -> GeometryReading:
        """What the store says of geometries now, for somebody else; the index need not read it again.

        From any thread. It counts what is committed when it is called.
        """
        from sparql.spatial.geometry_reading import read_geometries

        with self._building:
            with self._lock:
                shared = not self._loading and self._begin() is None
                forgotten = self._forgotten
            revision = self._source.revision()
            reading = read_geometries(self._source)
            with self._lock:
                if shared and forgotten == self._forgotten:
                    self._read = revision, reading
            return reading

    def _begin(self) -> GeometryState | None:
        """Take notes from now on; the index, if it is there. Raises IndexUnavailable."""
        if self._loading:
            raise IndexUnavailable("a bulk load is under way and the index of geometries waits for its end")
        state = self._state if self._recording else None
        self._recording = True
        return state

    def _build(self) -> GeometryState:
        # Imported here, in the rewriter's thread: the server starts without it.
        from sparql.rewriting.geometry_state import GeometryState

        with self._lock:
            (revision, reading), self._read = self._read or (self._source.revision(), None), None
        state = GeometryState(revision)
        state.fill(self._source, reading)
        self._take_notes(state)
        return state

    def _take_notes(self, state: GeometryState) -> None:
        with self._lock:
            if not self._recording:
                raise IndexUnavailable("a bulk load began while the index of geometries was read")
            self._state, notes, self._notes = state, self._notes, []
            self._count = self._characters = 0
            if self._featured is None or len(self._featured) > self._most_featured:
                self._featured = state.features.concerned
                self._featured.update(node for note in notes for node in note.touched)
                self._most_featured = 2 * len(self._featured) + _MOST_GONE
        for note in notes:
            state.take(note)

    def _forget(self) -> None:
        self._recording, self._state, self._notes = False, None, []
        self._count = self._characters = 0
        self._featured = self._read = None
        self._forgotten += 1
