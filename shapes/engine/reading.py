"""Lookups in a source during one judgment, cached, for one node and for many at once."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pyoxigraph import Literal, NamedNode, Triple

from shapes import paths
from shapes.paths import Alternative, Path, Repeat, Step, walk
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import RDF, RDFS

_TYPE = RDF.type
_UP = Repeat(Step(RDFS.subClassOf))


class Unsure(Exception):
    """A case that only the reference engine can decide. It never leaves this package."""


class Reading:
    """A source as the reference engine sees it, without RDF 1.2 triple terms, with its answers cached.

    Valid only while the source does not change.
    """

    def __init__(self, source: TripleSource) -> None:
        self.source = source
        # What a source has in memory anyway need not be kept here once more.
        self._stated: Callable[[Term], Mapping[NamedNode, list[Term]] | None] = getattr(
            source, "stated_of", lambda node: None
        )
        self._objects: dict[tuple[Term, NamedNode], Sequence[Term]] = {}
        self._classes: dict[tuple[Term, ...], set[Term]] = {}
        self._superclasses: dict[Term, set[Term]] = {}

    def objects(self, node: Term, predicate: NamedNode) -> Sequence[Term]:
        """The values of a property."""
        stated = self._stated(node)
        if stated is not None:
            return stated.get(predicate, ())
        key = (node, predicate)
        found = self._objects.get(key)
        if found is None:
            found = ()
            if not isinstance(node, Literal):
                triples = self.source.match(node, predicate, None)
                found = tuple([t.object for t in triples if not isinstance(t.object, Triple)])
            self._objects[key] = found
        return found

    def values_of(self, nodes: Iterable[Term], path: Path) -> list[Sequence[Term]]:
        """The value nodes at the end of a path for each of some nodes, each once."""
        if isinstance(path, Step) and path.forward and path.predicate is not None:
            predicate, stated = path.predicate, self._stated
            return [
                self.objects(node, predicate) if (about := stated(node)) is None else about.get(predicate, ())
                for node in nodes
            ]
        return [self.values(node, path) for node in nodes]

    def values(self, node: Term, path: Path) -> Sequence[Term]:
        """The value nodes at the end of a path, each once."""
        if isinstance(path, Step) and path.forward and path.predicate is not None:
            return self.objects(node, path.predicate)
        if isinstance(path, Step) and not path.forward and path.predicate is not None:
            return [triple.subject for triple in self.source.match(None, path.predicate, node)]
        if isinstance(path, paths.Sequence) and len(path.parts) == 2:
            middle = self.values(node, path.parts[0])
            return tuple({end for one in middle for end in self.values(one, path.parts[1])})
        if isinstance(path, Alternative):
            stated, steps = self._stated(node), _predicates(path)
            if stated is not None and steps is not None:
                # Hardly any node has a statement with each.
                return tuple({end for one in steps & stated.keys() for end in self.objects(node, one)})
            return tuple({end for part in path.parts for end in self.values(node, part)})
        return tuple(end for end in walk(self.source, node, path) if not isinstance(end, Triple))

    def classes(self, node: Term) -> set[Term]:
        """The classes that a node is a SHACL instance of (SHACL, 1.1)."""
        types = tuple(self.objects(node, _TYPE))
        found = self._classes.get(types)
        if found is None:
            found = self._classes[types] = set().union(*map(self._above, types))
        return found

    def _above(self, class_: Term) -> set[Term]:
        found = self._superclasses.get(class_)
        if found is None:
            found = self._superclasses[class_] = walk(self.source, class_, _UP)
        return found


@lru_cache(maxsize=256)
def _predicates(path: Alternative) -> frozenset[NamedNode] | None:
    """The predicates of which a path takes any one; None where it is not of that kind."""
    found = {
        part.predicate
        for part in path.parts
        if isinstance(part, Step) and part.forward and part.predicate is not None
    }
    return frozenset(found) if len(found) == len(set(path.parts)) else None


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
