"""Records changes of the graph while it is read beside the writer."""

from collections.abc import Iterable

from pyoxigraph import Quad, Triple


class ConcurrentChanges:
    """The additions and removals of the default graph since recording began; read it under the lock.

    `lost` means that there was a change without a report of its triples.
    """

    def __init__(self) -> None:
        self.lost = False
        self.additions: set[Triple] = set()
        self.removals: set[Triple] = set()

    def note(self, added: Iterable[Quad], removed: Iterable[Quad]) -> None:
        """Add one commit. What was added and removed again is in both: either may affect what was read."""
        self.additions.update(quad.triple for quad in added)
        self.removals.update(quad.triple for quad in removed)
