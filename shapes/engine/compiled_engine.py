"""Shapes compiled to plain tests over the store's own terms: whether a node surely conforms.

It gives a yes or nothing. What does not surely conform, and every shape that is not known here in full, goes
to the reference engine, which has the last word and writes the reports; so the two cannot disagree on a
refusal, and the tests compare them on what is accepted. Where pySHACL reads SHACL its own way, so does this.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import rdflib
from pyshacl.constraints import ALL_CONSTRAINT_PARAMETERS
from rdflib.collection import Collection
from rdflib.namespace import SH

from shapes.engine.constraint_tests import (
    BUILDERS,
    SINGLE,
    NotCompiled,
    of_any_class,
    of_any_datatype,
)
from shapes.engine.query_tests import query_test
from shapes.engine.reading import NodeTable, Reading, Unsure, ValuesTest, ValueTest
from shapes.errors import UNEXPECTED, ShapeMalformed, in_words
from shapes.gate.affected import Pairs
from shapes.graph import to_oxigraph
from shapes.model import custom_components, is_deactivated, siblings
from shapes.paths import Path, parse_path
from shapes.results import Engine, Found
from shapes.time_limit import check_time
from sparql.model.source import Term, TripleSource

_PARAMETERS = frozenset(ALL_CONSTRAINT_PARAMETERS)
_DEEPEST = 8
"""Well below the depth at which the reference engine gives up."""
_FEW = 8
"""So many nodes are tested one by one."""


@dataclass(frozen=True, slots=True)
class Test:
    """A shape's constraints on the values of its path, or on the focus node itself."""

    path: Path | None
    constraints: tuple[ValuesTest, ...]

    def __call__(self, reading: Reading, focus: Term) -> bool:
        """Whether a node conforms. Raises `Unsure`."""
        values = (focus,) if self.path is None else reading.values(focus, self.path)
        # A loop: this is run for every node and shape, and a generator takes twice as long.
        for test in self.constraints:  # noqa: SIM110
            if not test(reading, focus, values):
                return False
        return True

    @property
    def is_by_types(self) -> bool:
        """Whether only the types of a node matter."""
        return self.path is None and all(isinstance(c, ValueTest) and c.by_types for c in self.constraints)


class CompiledEngine:
    """Lets through at once what surely conforms; everything else is judged by `reference`.

    `shapes` maps the names of targeted shapes to their nodes.
    """

    def __init__(
        self, graph: rdflib.Graph, shapes: Mapping[str, rdflib.term.Node], reference: Engine
    ) -> None:
        self._reference = reference
        compiler = _Compiler(graph)
        self._tests: dict[str, Test] = {}
        self._blocking = frozenset(name for name, node in shapes.items() if _only_blocks(graph, node))
        self.not_compiled: tuple[str, ...] = ()
        """Names of the shapes that the reference engine runs alone."""
        for name, node in shapes.items():
            try:
                self._tests[name] = compiler.shape(node)
            except NotCompiled:
                self.not_compiled += (name,)
            except UNEXPECTED as error:
                raise ShapeMalformed(name, f"it cannot be read: {in_words(error)}") from error

    def check(self, source: TripleSource, pairs: Pairs) -> Found:
        """Violations of these pairs."""
        doubtful = self.doubtful(source, pairs)
        return self._reference.check(source, doubtful) if doubtful else {}

    def breaks(self, after: TripleSource, before: TripleSource, pairs: Pairs) -> bool | None:
        """Whether a pair that surely conformed before surely has a violation that blocks."""
        now, then = Reading(after), Reading(before)
        sure = True
        for name, nodes in pairs.items():
            test = self._tests.get(name)
            check_time(name)
            for node in nodes:
                try:
                    if test is None:
                        sure = False
                    elif not test(now, node):
                        if name in self._blocking and _holds(test, then, node):
                            return True
                        sure = False
                except Unsure:
                    sure = False
        return False if sure else None

    def doubtful(self, source: TripleSource, pairs: Pairs) -> Pairs:
        """The pairs that do not surely conform."""
        reading = Reading(source)
        found: Pairs = {}
        tables: dict[int, NodeTable] = {}
        for name, nodes in pairs.items():
            test = self._tests.get(name)
            check_time(name)
            if test is None:
                left = set(nodes)
            elif len(nodes) <= _FEW:
                left = {node for node in nodes if not _holds(test, reading, node)}
            else:
                # Shapes with the same targets come with the same set.
                if id(nodes) not in tables:
                    tables[id(nodes)] = NodeTable(reading, nodes)
                left = tables[id(nodes)].doubtful(test.path, test.constraints)
            if left:
                found[name] = left
        return found


def _holds(test: Test, reading: Reading, node: Term) -> bool:
    try:
        return test(reading, node)
    except Unsure:
        return False


class _Compiler:
    """From the shapes graph to tests. Shapes are compiled where they stand, so none refers to itself."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._graph = graph
        self._components = custom_components(graph)

    def shape(self, node: rdflib.term.Node, above: tuple[rdflib.term.Node, ...] = ()) -> Test:
        """The test of one shape that stands in those `above`. Raises `NotCompiled`."""
        graph = self._graph
        if node in above or len(above) > _DEEPEST or not _is_shape(graph, node):
            raise NotCompiled
        if is_deactivated(graph, node):
            return Test(None, ())
        if any(component.applies_to(graph, node) for component in self._components):
            raise NotCompiled
        path_node = graph.value(node, SH.path)
        path = None if path_node is None else parse_path(graph, path_node)
        return Test(path, tuple(self._constraints(node, path, (*above, node))))

    def _constraints(
        self, node: rdflib.term.Node, path: Path | None, above: tuple[rdflib.term.Node, ...]
    ) -> Iterator[ValuesTest]:
        graph = self._graph
        # In an order of their own: first those that look no further than at the values.
        parameters = {rdflib.URIRef(str(p)) for p in graph.predicates(node, None) if p in _PARAMETERS}
        simple = sorted(parameters & BUILDERS.keys())
        for parameter in (*simple, *sorted(parameters - BUILDERS.keys())):
            values = sorted(graph.objects(node, parameter), key=str)
            if len(values) > 1 and parameter in SINGLE:
                raise NotCompiled
            for value in values:
                build = BUILDERS.get(parameter)
                if build is not None:
                    yield build(graph, node, value, path)
                else:
                    yield from self._structural(parameter, node, value, path, above)

    def _structural(
        self,
        parameter: rdflib.URIRef,
        node: rdflib.term.Node,
        value: rdflib.term.Node,
        path: Path | None,
        above: tuple[rdflib.term.Node, ...],
    ) -> Iterator[ValuesTest]:
        """Constraints that refer to other shapes or to a query (SHACL, 4.6, 4.7, 5)."""
        graph = self._graph
        if parameter in (SH.property, SH.node):
            if (parameter == SH.property) != ((value, SH.path, None) in graph):
                raise NotCompiled
            yield _all_conform(self.shape(value, above))
        elif parameter == SH["not"]:
            yield _counted((self.shape(value, above),), lambda conforming: conforming == 0)
        elif parameter == SH["or"] and (classes := _only(SH["class"], graph, value)):
            yield of_any_class(classes)
        elif parameter == SH["or"] and (datatypes := _only(SH.datatype, graph, value)):
            yield of_any_datatype(datatypes)
        elif parameter in (SH["and"], SH["or"], SH.xone):
            members = tuple(self.shape(member, above) for member in Collection(graph, value))
            yield _counted(members, _counts(parameter, len(members)))
        elif parameter == SH.qualifiedValueShape:
            yield self._qualified(node, value, path, above)
        elif parameter == SH.sparql:
            if not is_deactivated(graph, value):
                yield query_test(graph, value, path)
        elif parameter not in (
            SH.qualifiedMinCount,
            SH.qualifiedMaxCount,
            SH.qualifiedValueShapesDisjoint,
        ):
            raise NotCompiled

    def _qualified(
        self,
        node: rdflib.term.Node,
        value: rdflib.term.Node,
        path: Path | None,
        above: tuple[rdflib.term.Node, ...],
    ) -> ValuesTest:
        """SHACL, 4.7.3."""
        graph = self._graph
        if path is None:
            raise NotCompiled
        least, most = (_number(graph.value(node, p)) for p in (SH.qualifiedMinCount, SH.qualifiedMaxCount))
        wanted = self.shape(value, above)
        others: tuple[Test, ...] = ()
        if (node, SH.qualifiedValueShapesDisjoint, rdflib.Literal(True)) in graph:
            others = tuple(self.shape(other, above) for other in sorted(set(siblings(graph, node)), key=str))

        def test(reading: Reading, focus: Term, values: Sequence[Term]) -> bool:
            count = sum(wanted(reading, v) and not any(other(reading, v) for other in others) for v in values)
            return (least is None or count >= least) and (most is None or count <= most)

        return test


def _all_conform(inner: Test) -> ValueTest:
    return ValueTest(inner, inner.is_by_types)


def _only(parameter: rdflib.URIRef, graph: rdflib.Graph, members: rdflib.term.Node) -> frozenset[Term]:
    """What a list of shapes demands by this parameter; nothing where one demands anything else."""
    found: set[Term] = set()
    for member in Collection(graph, members):
        said = list(graph.predicate_objects(member))
        if len(said) != 1 or said[0][0] != parameter:
            return frozenset()
        found.add(to_oxigraph(said[0][1]))
    return frozenset(found)


def _counted(members: tuple[Test, ...], enough: Callable[[int], bool]) -> ValueTest:
    return ValueTest(
        lambda reading, value: enough(sum(member(reading, value) for member in members)),
        by_types=all(member.is_by_types for member in members),
    )


def _counts(parameter: rdflib.URIRef, members: int) -> Callable[[int], bool]:
    if parameter == SH["and"]:
        return lambda conforming: conforming == members
    if parameter == SH["or"]:
        return lambda conforming: conforming > 0
    return lambda conforming: conforming == 1


def _number(value: rdflib.term.Node | None) -> int | None:
    if value is None:
        return None
    if not isinstance(value, rdflib.Literal) or not isinstance(value.value, int):
        raise NotCompiled
    return value.value


def _is_shape(graph: rdflib.Graph, node: rdflib.term.Node) -> bool:
    return (node, None, None) in graph


def _only_blocks(graph: rdflib.Graph, node: rdflib.term.Node) -> bool:
    """Whether all results of a shape, those of its property shapes included, are violations."""
    seen, left = set(), [node]
    while left:
        shape = left.pop()
        if shape not in seen:
            seen.add(shape)
            left += graph.objects(shape, SH.property)
    return all(severity == SH.Violation for shape in seen for severity in graph.objects(shape, SH.severity))
