"""Many focus nodes judged by one shape at once: each distinct value, and each set of types, is tested once.

A full validation judges the same shape on hundreds of nodes, whose values and types largely repeat. Of what
most constraints ask, only the value node matters (`ValueTest`), of class constraints only its types.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal

from shapes.engine.compiled.literal_tests import Unsure
from shapes.engine.compiled.source_reading import Reading
from shapes.paths import Path
from sparql.model.source import Term
from sparql.model.vocabulary import RDF

ValuesTest = Callable[[Reading, Term, Sequence[Term]], bool]
"""Whether a focus node with these value nodes conforms to one constraint. Raises `Unsure`."""


@dataclass(frozen=True, slots=True)
class ValueTest:
    """A `ValuesTest` that each value node passes or fails by itself, whatever the focus node."""

    holds: Callable[[Reading, Term], bool]
    by_types: bool = False
    """Whether it asks only of what types a node is, and whether it is a literal."""

    def __call__(self, reading: Reading, focus: Term, values: Sequence[Term]) -> bool:
        holds = self.holds
        # A loop: this is run for every node and shape, and a generator takes twice as long.
        for value in values:  # noqa: SIM110
            if not holds(reading, value):
                return False
        return True


class NodeTable:
    """Focus nodes of one shape, or of several with the same targets, with their value nodes by path."""

    def __init__(self, reading: Reading, nodes: Collection[Term]) -> None:
        self.nodes = nodes
        self._reading = reading
        self._columns: dict[Path | None, Sequence[Sequence[Term]]] = {}
        self._distinct: dict[Path | None, Collection[Term]] = {None: nodes}
        self._by_types: dict[Path | None, dict[Sequence[Term] | None, list[Term]]] = {}

    def doubtful(self, path: Path | None, tests: Iterable[ValuesTest]) -> set[Term]:
        """The nodes of which not all tests surely hold."""
        found: set[Term] = set()
        for test in tests:
            if isinstance(test, ValueTest):
                failing = self._failing(test, path)
                if failing:
                    found |= failing if path is None else self._with(failing, path)
            else:
                for node, values in zip(self.nodes, self._column(path), strict=True):
                    if node not in found and not self._holds(test, node, values):
                        found.add(node)
        return found

    def _column(self, path: Path | None) -> Sequence[Sequence[Term]]:
        """The value nodes of each node, in order."""
        column = self._columns.get(path)
        if column is None:
            if path is None:
                column = [(node,) for node in self.nodes]
            else:
                column = self._reading.values_of(self.nodes, path)
            self._columns[path] = column
        return column

    def _failing(self, test: ValueTest, path: Path | None) -> set[Term]:
        """The value nodes that do not surely pass."""
        distinct = self._distinct.get(path)
        if distinct is None:
            distinct = self._distinct[path] = set().union(*self._column(path))
        if not test.by_types:
            return {value for value in distinct if not self._passes(test, value)}
        failing: set[Term] = set()
        for values in self._alike(path, distinct):
            if not self._passes(test, values[0]):
                failing.update(values)
        return failing

    def _alike(self, path: Path | None, distinct: Iterable[Term]) -> Collection[list[Term]]:
        """The value nodes in groups with the same types; literals are one."""
        groups = self._by_types.get(path)
        if groups is None:
            groups = self._by_types[path] = {}
            for value in distinct:
                types = None if isinstance(value, Literal) else tuple(self._reading.objects(value, RDF.type))
                groups.setdefault(types, []).append(value)
        return groups.values()

    def _with(self, values: set[Term], path: Path) -> set[Term]:
        """The nodes with any of these values."""
        column = self._column(path)
        return {node for node, own in zip(self.nodes, column, strict=True) if not values.isdisjoint(own)}

    def _passes(self, test: ValueTest, value: Term) -> bool:
        try:
            return test.holds(self._reading, value)
        except Unsure:
            return False

    def _holds(self, test: ValuesTest, node: Term, values: Sequence[Term]) -> bool:
        try:
            return test(self._reading, node, values)
        except Unsure:
            return False
