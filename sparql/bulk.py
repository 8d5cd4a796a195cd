"""Bulk loading: at the speed of the database's own loader, past the gate, judged afterwards as a whole.

Only what every route refuses is refused on the way: literals outside their datatype, system graphs. Then
the relations are derived in one sweep, the indexes are rebuilt, and the shapes are run over everything:
what they find is told and stays in the graph.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import DefaultGraph, Quad

from sparql.change import Rejection, Statement
from sparql.errors import WriteError
from sparql.literals import literal_violations
from sparql.triple_store import TripleStore
from sparql.vocabulary import ASSERTED, DEFAULT, DERIVED, EXTRACTED, INFERRED, ONTOLOGY, SYSTEM_GRAPHS
from sparql.writer import Writer


class MalformedLiteral(WriteError):
    """A literal outside its datatype's lexical space in a bulk load; nothing of the load was kept."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(
            f"{rejection.statement.triple}: {rejection.violations[0].message} Nothing was loaded; mend it, "
            "or load what conforms with --partial."
        )


@dataclass(frozen=True)
class BulkOutcome:
    """What a bulk load did: quads read, what was left out or mended, relations kept now, the revision."""

    quads: int
    left_out: tuple[Rejection, ...]
    repaired: tuple[Rejection, ...]
    derived: int
    revision: int


class BulkLoad:
    """Loads quads past the gate. Make one for each load."""

    def __init__(self, store: TripleStore, writer: Writer, *, partial: bool = False) -> None:
        self._store = store
        self._writer = writer
        self._partial = partial
        self._read = 0
        self._left_out: list[Rejection] = []
        self._repaired: list[Rejection] = []

    def run(self, quads: Iterable[Quad]) -> BulkOutcome:
        """Load all quads, or none when reading them fails; quads of system graphs are passed over.

        Raises `MalformedLiteral` without `partial`; with it such statements are left out. Errors of the
        iterable come through.
        """
        revision = self._writer.bulk(self._admitted(quads))
        derived = sum(1 for _ in self._store.match_quads(None, None, None, DERIVED))
        return BulkOutcome(self._read, tuple(self._left_out), tuple(self._repaired), derived, revision)

    def _admitted(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """What goes in, with the support that triples known from elsewhere gain by being asserted."""
        for quad in quads:
            if quad.graph_name in SYSTEM_GRAPHS:
                continue
            violations = literal_violations(quad.triple, self._writer.invalid_geometry)
            rejection = Rejection(Statement(quad.triple), violations)
            if violations and not violations[0].blocking:
                self._repaired.append(rejection)
            elif violations:
                if not self._partial:
                    raise MalformedLiteral(rejection)
                self._left_out.append(rejection)
                continue
            self._read += 1
            if isinstance(quad.graph_name, DefaultGraph) and self._known_otherwise(quad):
                yield Quad(quad.subject, quad.predicate, quad.object, ASSERTED)
            yield quad

    def _known_otherwise(self, quad: Quad) -> bool:
        contains = self._store.contains
        parts = (quad.subject, quad.predicate, quad.object)
        return contains(Quad(*parts, DEFAULT)) and any(
            contains(Quad(*parts, graph)) for graph in (EXTRACTED, DERIVED, INFERRED, ONTOLOGY)
        )
