"""Bulk loading: at the speed of the database's own loader, past the gate, judged afterwards as a whole.

Only what every route refuses is refused on the way: literals outside their datatype, system graphs. Then the
relations are derived in one sweep, the indexes are rebuilt, and the shapes are run over everything: what they
find is reported and stays in the graph.

What is done here for each statement counts: the engine takes some 7 us of processor time for a quad. So files
of lines go to the engine's own parser, past what Python need not see (`sparql.writing.lines`). Other quads
come in portions, literals are judged many at a time, and other origins are looked up only for subjects that
they speak of. Memory does not grow with the load.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from pyoxigraph import DefaultGraph, Quad, Triple

from sparql.model.change import Rejection, Statement, quad_of
from sparql.model.errors import WriteError
from sparql.model.literals import doubtful, literal_violations
from sparql.model.triple_store import TripleStore
from sparql.model.vocabulary import (
    ASSERTED,
    DEFAULT,
    DERIVED,
    EXTRACTED,
    INFERRED,
    ONTOLOGY,
    REPLACED,
    SYSTEM_GRAPHS,
)
from sparql.writing.writer import Writer

if TYPE_CHECKING:
    from sparql.writing.lines import LineFile

_PORTION = 2048
_EXAMPLES = 5
_PLACES = 2**22
_SYSTEM = frozenset(SYSTEM_GRAPHS)
_OTHERS = (EXTRACTED, DERIVED, INFERRED, ONTOLOGY)


class MalformedLiteral(WriteError):
    """A literal outside its datatype's lexical space in a bulk load; nothing of the load was kept."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(
            f"{rejection.statement.triple}: {rejection.violations[0].message} Nothing was loaded; fix it, "
            "or load what conforms with --partial."
        )


@dataclass
class Rejections:
    """How many statements were refused or repaired, and the first of them."""

    count: int = 0
    examples: list[Rejection] = field(default_factory=list)

    def add(self, rejection: Rejection) -> None:
        """Count one more."""
        self.count += 1
        if len(self.examples) < _EXAMPLES:
            self.examples.append(rejection)


@dataclass(frozen=True)
class BulkOutcome:
    """What a bulk load did: quads read, what was left out or repaired, relations kept now, the revision."""

    quads: int
    left_out: Rejections
    repaired: Rejections
    derived: int
    revision: int


class BulkLoad:
    """Loads quads past the gate. Make one for each load."""

    def __init__(self, store: TripleStore, writer: Writer, *, partial: bool = False) -> None:
        self._store = store
        self._writer = writer
        self._partial = partial
        self._read = 0
        self._left_out = Rejections()
        self._repaired = Rejections()

    def run(self, quads: Iterable[Quad], replaced: Callable[[], Iterable[Triple]] = tuple) -> BulkOutcome:
        """Load all quads, or none when reading them fails; quads of system graphs are passed over.

        `replaced`, called once the quads are read, gives triples that go out of the graph with the load: also
        when it ends in a crash, since they are recorded in the same step as the quads.
        Raises `MalformedLiteral` without `partial`; with it such statements are left out. Errors of the
        iterable come through.
        """
        return self._outcome(self._writer.bulk(self._admitted(quads, replaced)))

    def run_lines(self, files: Sequence[LineFile]) -> BulkOutcome:
        """The same for files of N-Triples and N-Quads, at a fraction of the cost, into an embedded store."""
        known = _subjects_known(self._store)
        # Imported here: it needs numpy, which the command line does not load for other commands.
        from sparql.writing.lines import LineScreen, SubjectTails

        tails = SubjectTails(_subjects_elsewhere(self._store))
        screen = LineScreen(files, tails, lambda quads: self._admitted_of(quads, known))
        revision = self._writer.bulk_lines(screen)
        self._read += screen.plain
        return self._outcome(revision)

    def _outcome(self, revision: int) -> BulkOutcome:
        derived = sum(1 for _ in self._store.match_quads(None, None, None, DERIVED))
        return BulkOutcome(self._read, self._left_out, self._repaired, derived, revision)

    def _admitted(self, quads: Iterable[Quad], replaced: Callable[[], Iterable[Triple]]) -> Iterator[Quad]:
        known = _subjects_known(self._store)
        source = iter(quads)
        while portion := list(islice(source, _PORTION)):
            yield from self._admitted_of(portion, known)
        for triple in replaced():
            yield quad_of(triple, REPLACED)

    def _admitted_of(self, portion: list[Quad], known: bytearray) -> Iterator[Quad]:
        """What is loaded, with the support that triples known from elsewhere gain by being asserted."""
        refused = self._refused(portion)
        for position, quad in enumerate(portion):
            graph = quad.graph_name
            if type(graph) is DefaultGraph:
                if known[hash(quad.subject) % _PLACES] and position not in refused and self._known(quad):
                    yield Quad(quad.subject, quad.predicate, quad.object, ASSERTED)
            elif graph in _SYSTEM:
                continue
            if position in refused:
                continue
            self._read += 1
            yield quad

    def _refused(self, portion: list[Quad]) -> set[int]:
        """The positions of the statements to leave out. Raises `MalformedLiteral` without `partial`."""
        refused: set[int] = set()
        for position in doubtful(quad.object for quad in portion):
            quad = portion[position]
            violations = literal_violations(quad.triple, self._writer.invalid_geometry)
            if not violations or quad.graph_name in _SYSTEM:
                continue
            rejection = Rejection(Statement(quad.triple), violations)
            if not violations[0].blocking:
                self._repaired.add(rejection)
                continue
            if not self._partial:
                raise MalformedLiteral(rejection)
            self._left_out.add(rejection)
            refused.add(position)
        return refused

    def _known(self, quad: Quad) -> bool:
        """Whether the graph holds a triple from another origin."""
        contains = self._store.contains
        parts = (quad.subject, quad.predicate, quad.object)
        return contains(Quad(*parts, DEFAULT)) and any(contains(Quad(*parts, graph)) for graph in _OTHERS)


def _subjects_known(store: TripleStore) -> bytearray:
    """Which subjects other origins speak of: 1 at the places of their hashes, and so of some more subjects.

    The table has a fixed size, and asking it costs a tenth of a lookup in the store.
    """
    places = bytearray(_PLACES)
    for subject in _subjects_elsewhere(store):
        places[hash(subject) % _PLACES] = 1
    return places


def _subjects_elsewhere(store: TripleStore) -> Iterator[object]:
    """The subjects of statements of other origins, each as often as it is one."""
    for graph in _OTHERS:
        for quad in store.match_quads(None, None, None, graph):
            yield quad.subject
