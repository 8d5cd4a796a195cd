"""The review graph property by property, in memory: what a search of the queue reads of all its items.

The store takes about 50 ms to read one property of 10,000 items. A column is read when it is first needed,
and every commit is applied to it from then on.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock

from pyoxigraph import NamedNode, Quad

from sparql.model.source import Term
from sparql.model.triple_store import CommittedQuads, TripleStore
from sparql.model.vocabulary import REVIEW

Column = dict[NamedNode, Term]
"""The values of one property by their subjects: items, or violations of items."""


@dataclass(eq=False)
class _Reading:
    """A column that is being read, and what was committed meanwhile."""

    missed: list[CommittedQuads] = field(default_factory=list)
    is_void: bool = False
    """Whether the store was changed without a report of the quads."""


class ReviewColumns:
    """Follows a store. Only for properties of which a subject has at most one value."""

    def __init__(self, store: TripleStore) -> None:
        self._store = store
        self._lock = Lock()
        self._columns: dict[NamedNode, Column] = {}
        self._readings: set[_Reading] = set()
        self._nodes: dict[NamedNode, NamedNode] = {}
        """One object for each IRI: the columns share most of theirs."""
        store.local.follow(self)

    def of(self, predicate: NamedNode) -> Column:
        """A copy of the column of a property, with all that was committed before this call."""
        while True:
            with self._lock:
                if predicate in self._columns:
                    return self._columns[predicate].copy()
                reading = _Reading()
                self._readings.add(reading)
            column = dict(self._read(predicate))
            with self._lock:
                self._readings.discard(reading)
                if not reading.is_void:
                    for commit in reading.missed:
                        _apply(commit, {predicate: column})
                    self._columns[predicate] = column

    def committed(self, commit: CommittedQuads, _since: int) -> None:
        """Apply a commit of the store."""
        with self._lock:
            for reading in self._readings:
                reading.missed.append(commit)
            if self._columns:
                _apply(commit, self._columns)

    def lost_track(self) -> None:
        """Read everything again when it is next needed."""
        with self._lock:
            self._columns.clear()
            self._nodes.clear()
            for reading in self._readings:
                reading.is_void = True

    def _read(self, predicate: NamedNode) -> Iterator[tuple[NamedNode, Term]]:
        one = self._nodes.setdefault
        for quad in self._store.match_quads(None, predicate, None, REVIEW):
            subject, value = quad.subject, quad.object
            if isinstance(subject, NamedNode):
                yield one(subject, subject), one(value, value) if isinstance(value, NamedNode) else value


def item_of(result: NamedNode) -> NamedNode:
    """The item that a violation belongs to."""
    return NamedNode(result.value.rpartition("/")[0])


def _apply(commit: CommittedQuads, columns: Mapping[NamedNode, Column]) -> None:
    for column, subject, value in _entries(commit.removals, columns):
        if column.get(subject) == value:
            del column[subject]
    for column, subject, value in _entries(commit.additions, columns):
        column[subject] = value


def _entries(
    quads: Collection[Quad], columns: Mapping[NamedNode, Column]
) -> Iterator[tuple[Column, NamedNode, Term]]:
    """The quads of these columns."""
    for quad in quads:
        if quad.graph_name == REVIEW and quad.predicate in columns and isinstance(quad.subject, NamedNode):
            yield columns[quad.predicate], quad.subject, quad.object
