"""SHACL-SPARQL constraints (SHACL, 5) as tests that give a yes or nothing.

Most focus nodes lack what the query joins for sure, and then it has no solutions in any engine. A plain query
is answered here; of others the triples that they can see are copied into a small store of their own, where
the store's own engine answers, if the query says nothing on which two engines may differ.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any

import pyoxigraph
import rdflib
from pyoxigraph import Literal, NamedNode, Quad, Variable
from rdflib.namespace import SH
from rdflib.plugins.sparql.parserutils import CompValue, Expr

from shapes.engine.compiled.constraint_tests import NotCompiled
from shapes.engine.compiled.literal_tests import Unsure
from shapes.engine.compiled.node_table import ValuesTest
from shapes.engine.compiled.solutions import has_solution
from shapes.engine.compiled.source_reading import Reading
from shapes.engine.queries import certain_from_this, parsed, query_dependencies, query_text
from shapes.paths import HERE, Dependency, Path, walk
from sparql.model.source import Term

_THIS = rdflib.Variable("this")
_TEXTS = frozenset(f"Builtin_{name}" for name in ("STR", "LCASE", "UCASE", "LANG"))
_ALIKE = _TEXTS | {
    *("ConditionalAndExpression", "ConditionalOrExpression", "UnaryNot", "Builtin_BOUND", "Builtin_sameTerm"),
    *("Builtin_STRSTARTS", "Builtin_STRENDS", "Builtin_CONTAINS", "Builtin_isIRI", "Builtin_isURI"),
    *("Builtin_isLITERAL", "Builtin_isBLANK", "Builtin_EXISTS", "Builtin_NOTEXISTS"),
}
_MOST_ROWS = 1_000_000
"""A query that may join more rows is left to the engine that can be stopped; the store's own cannot be."""
_PLAIN = frozenset(
    "SelectQuery Project Distinct BGP Join LeftJoin Union Filter".split()  # noqa: SIM905
)


def query_test(graph: rdflib.Graph, constraint: rdflib.term.Node, path: Path | None) -> ValuesTest:
    """The test of a `sh:sparql` constraint. Raises `NotCompiled` for one that no focus node bounds."""
    select = graph.value(constraint, SH.select)
    if select is None:
        raise NotCompiled
    text = query_text(graph, constraint, str(select), path)
    algebra = parsed(constraint, text)
    needed = certain_from_this(algebra)
    dependencies = tuple(query_dependencies(graph, constraint, HERE, path))
    bounded = all(dependency.path is not None for dependency in dependencies)
    alike = bounded and _THIS in algebra.PV and _is_alike(algebra)
    try:
        found = has_solution(algebra)
    except NotCompiled:
        found = _asked(text, dependencies) if alike else _unsure
    else:
        return lambda reading, focus, values: not found(reading, focus)

    def test(reading: Reading, focus: Term, values: Sequence[Term]) -> bool:
        return any(not reading.values(focus, path) for path in needed) or not found(reading, focus)

    return test


def _unsure(reading: Reading, focus: Term) -> bool:
    raise Unsure


def _asked(text: str, dependencies: Iterable[Dependency]) -> Callable[[Reading, Term], bool]:
    reached = tuple(dependencies)
    this = Variable("this")

    def found(reading: Reading, focus: Term) -> bool:
        if not isinstance(focus, NamedNode):
            raise Unsure
        triples = {triple for dependency in reached for triple in _seen(reading, focus, dependency)}
        if _rows(triples, reached) > _MOST_ROWS:
            raise Unsure
        seen = pyoxigraph.Store()
        seen.extend(Quad(*triple) for triple in triples)
        solutions: Any = seen.query(text, substitutions={this: focus})
        return next(iter(solutions), None) is not None

    return found


def _rows(triples: Collection[pyoxigraph.Triple], dependencies: Iterable[Dependency]) -> int:
    """At most so many rows come of joining everything that a query can see with everything else."""
    by_predicate = Counter(triple.predicate for triple in triples)
    found = 1
    for dependency in dependencies:
        predicate = dependency.step.predicate
        found *= 1 + (len(triples) if predicate is None else by_predicate[predicate])
    return found


def _seen(reading: Reading, focus: Term, dependency: Dependency) -> Iterable[pyoxigraph.Triple]:
    assert dependency.path is not None
    step = dependency.step
    for node in walk(reading.source, focus, dependency.path):
        if not step.forward:
            yield from reading.source.match(None, step.predicate, node)
        elif not isinstance(node, Literal):
            yield from reading.source.match(node, step.predicate, None)


def _is_alike(node: Any) -> bool:
    """Whether a query has only parts that every engine evaluates alike, whatever the values."""
    if isinstance(node, CompValue):
        if node.name == "RelationalExpression":
            sides = [node.expr, *(node.other if isinstance(node.other, list) else [node.other])]
            return all(_is_alike(side) for side in sides) and _compares_alike(node.op, sides)
        if node.name not in (_ALIKE if isinstance(node, Expr) else _PLAIN):
            return False
        return all(_is_alike(value) for key, value in node.items() if key != "_vars")
    if isinstance(node, list | tuple | set):
        return all(_is_alike(value) for value in node)
    return True


def _compares_alike(operator: str, sides: list[Any]) -> bool:
    """Texts in any way; anything with an IRI or `$this` for equality."""
    if all(_is_text(side) for side in sides):
        return True
    by_identity = any(isinstance(side, rdflib.URIRef) or side == _THIS for side in sides)
    if operator == "IN":
        by_identity = all(isinstance(side, rdflib.URIRef) for side in sides[1:])
    return operator in ("=", "!=", "IN") and by_identity


def _is_text(node: Any) -> bool:
    if isinstance(node, rdflib.Literal):
        return node.datatype is None and not node.language
    return isinstance(node, CompValue) and node.name in _TEXTS
