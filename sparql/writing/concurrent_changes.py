"""What changes in the graph while somebody reads it beside those who write."""

from collections.abc import Iterable

from pyoxigraph import Quad, Triple


class ConcurrentChanges:
    """What came and went in the default graph since somebody began to look; to be read under the lock.

    `lost` tells that it changed in a way that is not told triple by triple.
    """

    def __init__(self) -> None:
        self.lost = False
        self.came: set[Triple] = set()
        self.went: set[Triple] = set()

    def note(self, added: Iterable[Quad], gone: Iterable[Quad]) -> None:
        """One commit more. What came and went again is in both: either may matter to what was read."""
        self.came.update(quad.triple for quad in added)
        self.went.update(quad.triple for quad in gone)
