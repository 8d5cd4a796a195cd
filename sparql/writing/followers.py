"""The indexes that follow the default graph commit by commit."""

from collections.abc import Collection, Iterator, Sequence
from itertools import chain

from pyoxigraph import Quad

from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import DEFAULT
from sparql.storage.change_log import Observer


class Followers:
    """Everything that is notified of a commit. Called under the writer's lock."""

    def __init__(self, store: TripleStore, observers: Sequence[Observer]) -> None:
        self._store = store
        self._observers = tuple(observers)

    def begin(self, observers: Sequence[Observer]) -> list[tuple[Observer, Iterator[Quad]]]:
        """Follow with these from now on; each is to be rebuilt from the snapshot that comes with it."""
        self._observers = tuple(observers)
        for observer in self._observers:
            observer.expect_rebuild()
        return [(observer, self._read_for(observer)) for observer in self._observers]

    def rebuild(self) -> None:
        """Rebuild the indexes from the graph."""
        for observer in self._observers:
            observer.rebuild(self._read_for(observer))

    def notify(self, additions: Collection[Quad], removals: Collection[Quad]) -> None:
        """Report a commit."""
        added = [quad for quad in additions if quad.graph_name == DEFAULT]
        removed = [quad for quad in removals if quad.graph_name == DEFAULT]
        if added or removed:
            for observer in self._observers:
                observer.apply(added, removed)

    def _read_for(self, observer: Observer) -> Iterator[Quad]:
        """A snapshot of what an observer is rebuilt from; to be read in one thread."""
        found = [self._store.match_quads(None, one, None, DEFAULT) for one in observer.predicates]
        return chain.from_iterable(found)
