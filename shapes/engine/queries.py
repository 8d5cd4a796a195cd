"""Which triples a SHACL-SPARQL constraint depends on (SHACL 5 and 6): read from its query's algebra.

Every triple pattern is reached from a pre-bound variable along patterns that are certainly joined with it;
that route is the dependency's path. What an OPTIONAL, a branch of a UNION or a sub-select binds does not lead
out of it: outside, the variable may be unbound and the pattern may match anywhere. A pattern that no route
reaches may concern any focus node.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import pyoxigraph
import rdflib
from pyoxigraph import NamedNode
from pyparsing import ParseBaseException
from pyshacl.errors import ValidationFailure
from pyshacl.helper.sparql_query_helper import SPARQLQueryHelper
from rdflib.namespace import OWL, RDF, RDFS, SH
from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue, Expr

from shapes.engine.functions import extension_functions, unusable_call
from shapes.errors import ShapeMalformed, in_words
from shapes.paths import (
    ADDED,
    ANY,
    HERE,
    REMOVED,
    Alternative,
    Dependency,
    Path,
    Repeat,
    Step,
    invert,
    join,
    sparql_text,
    uses,
)
from sparql.syntax.nesting import size_of

_DEFAULT_PREFIXES = {"rdf": str(RDF), "rdfs": str(RDFS), "owl": str(OWL)}
_THIS = rdflib.Variable("this")
_VALUE = rdflib.Variable("value")
_DEEPEST = 30
"""Brackets: the parser takes time that doubles with each parenthesis that nests, and a stack of a megabyte
holds some hundred."""
_MOST_OPERATORS = 1000
Pattern = tuple[Any, Path, Any]
"""A triple pattern with rdflib terms."""

_GROWING = frozenset(
    [
        "SelectQuery",
        "AskQuery",
        "Project",
        "Distinct",
        "Reduced",
        "OrderBy",
        "BGP",
        "Join",
        "Union",
        "Filter",
        "Extend",
        "ToMultiSet",
        "values",
    ]
)
"""Parts of a query for which more triples give more solutions, never fewer."""


def query_dependencies(
    graph: rdflib.Graph, constraint: rdflib.term.Node, at: Path, path: Path | None
) -> Iterator[Dependency]:
    """Dependencies of a `sh:sparql` constraint or a custom validator on a shape applied at `at`.

    `path` is the path of a property shape. Effects are those of a constraint that must hold. Raises
    `ShapeMalformed`.
    """
    select, ask = graph.value(constraint, SH.select), graph.value(constraint, SH.ask)
    text = select if select is not None else ask
    if text is None:
        raise ShapeMalformed(str(constraint), "it has neither sh:select nor sh:ask")
    algebra = parsed(constraint, query_text(graph, constraint, str(text), path))
    if algebra.name != ("AskQuery" if select is None else "SelectQuery"):
        form = "sh:ask is no ASK" if select is None else "sh:select is no SELECT"
        raise ShapeMalformed(str(constraint), f"its {form}")
    roots: dict[Any, Path] = {_THIS: HERE}
    if ask is not None:
        roots[_VALUE] = HERE if path is None else path
    effect = ANY if not only_grows(algebra) else ADDED if ask is None else REMOVED
    for pattern, scope in _placed(algebra, _Scope(outermost=True)):
        yield from _dependencies(pattern, scope, roots, at, effect)


def query_text(
    graph: rdflib.Graph, constraint: rdflib.term.Node, query: str, path: Path | None = None
) -> str:
    """The query with its declared prefixes, and the shape's path in place of `$PATH`."""
    if path is not None:
        query = query.replace("$PATH", sparql_text(path)).replace("?PATH", sparql_text(path))
    declared = _DEFAULT_PREFIXES | dict(_prefixes(graph, constraint))
    prefixes = "".join(f"PREFIX {prefix}: <{namespace}>\n" for prefix, namespace in declared.items())
    return prefixes + query


def _prefixes(graph: rdflib.Graph, constraint: rdflib.term.Node) -> Iterator[tuple[str, str]]:
    """The prefixes that `sh:prefixes` names (SHACL, 5.2.1); where it names no declarations, those of any
    ontology of the graph."""
    ontologies = sorted(graph.subjects(RDF.type, OWL.Ontology), key=str)
    for source in graph.objects(constraint, SH.prefixes):
        imported = graph.transitive_objects(source, OWL.imports)
        for declaring in imported if source in ontologies else (*ontologies, *imported):
            for declared in graph.objects(declaring, SH.declare):
                yield str(graph.value(declared, SH.prefix)), str(graph.value(declared, SH.namespace))


def parsed(constraint: rdflib.term.Node, query: str) -> CompValue:
    """The algebra of a query. Raises `ShapeMalformed`."""
    try:
        return _algebra(query)
    except (SyntaxError, ParseBaseException) as error:
        raise ShapeMalformed(str(constraint), f"its SPARQL does not parse: {error}") from error
    except ValidationFailure as error:
        raise ShapeMalformed(str(constraint), f"SHACL does not allow its query: {error}") from error
    except Exception as error:  # rdflib raises bare exceptions, for unknown prefixes for instance
        raise ShapeMalformed(str(constraint), f"its query cannot be run: {in_words(error)}") from error


@lru_cache(maxsize=512)
def _algebra(query: str) -> CompValue:
    """Cached, so read-only: many shapes share one query, and each is needed several times."""
    check_size(query)
    SPARQLQueryHelper(None, None, query).check_invalid_sparql(query)  # type: ignore[no-untyped-call]
    algebra: CompValue = translateQuery(parseQuery(query)).algebra
    reason = unusable_call(algebra)
    if reason is not None:
        raise QueryUnusable(reason)
    pyoxigraph.Store().query(query, custom_functions=extension_functions(algebra))
    return algebra


class QueryUnusable(ValueError):
    """A query that is well-formed, and that no engine here can run."""


def check_size(query: str) -> None:
    """Raises `QueryUnusable` for a query that would overflow the stack of the parsers."""
    size = size_of(query, depth_limit=_DEEPEST, operator_limit=_MOST_OPERATORS)
    if size.depth > _DEEPEST:
        raise QueryUnusable(f"its brackets nest deeper than {_DEEPEST} levels")
    if size.operators > _MOST_OPERATORS:
        raise QueryUnusable(f"it has more than {_MOST_OPERATORS} operators")


def certain_from_this(algebra: CompValue) -> tuple[Path, ...]:
    """Paths from `$this` without whose values the query has no solutions."""
    found = []
    for subject, path, object_ in _certain(_inside(algebra)):
        if subject == _THIS:
            found.append(path)
        elif object_ == _THIS:
            found.append(invert(path))
    return tuple(found)


def plain_parts(algebra: CompValue) -> tuple[tuple[Pattern, ...], tuple[Any, ...]] | None:
    """Triple patterns and filters of a query that has nothing else; None of any other.

    A predicate that a filter leaves only some IRIs becomes an alternative, and that filter is gone.
    """
    node, filters = _inside(algebra), list[Any]()
    while isinstance(node, CompValue) and node.name == "Filter":
        filters += _conjuncts(node.expr)
        node = node.p
    if not isinstance(node, CompValue) or node.name != "BGP":
        return None
    ends = {end for subject, _, object_ in node.triples for end in (subject, object_)}
    free = [triple[1] for triple in node.triples if isinstance(triple[1], rdflib.Variable)]
    narrowed: dict[Any, tuple[rdflib.URIRef, ...]] = {}
    for variable in free:
        named = next((one for one in filters if variable in _narrowed(one)), None)
        if named is None or variable in ends or free.count(variable) > 1:
            return None
        narrowed |= _narrowed(named)
        filters.remove(named)
    return tuple(_patterns(node, _Scope(predicates=narrowed))), tuple(filters)


def _conjuncts(expression: Any) -> list[Any]:
    if isinstance(expression, CompValue) and expression.name == "ConditionalAndExpression":
        return [one for part in (expression.expr, *expression.other) for one in _conjuncts(part)]
    return [expression]


def _inside(algebra: CompValue) -> Any:
    node: Any = algebra
    while isinstance(node, CompValue) and node.name in ("SelectQuery", "Project", "Distinct", "Reduced"):
        node = node.p
    return node


@dataclass(frozen=True)
class _Scope:
    """What certainly holds for every solution that includes a pattern."""

    patterns: tuple[Pattern, ...] = ()
    predicates: Mapping[Any, tuple[rdflib.URIRef, ...]] = field(default_factory=dict)
    """The IRIs that a FILTER allows for a variable."""
    bound: bool = True
    """Whether the pre-bound variables are bound: not in a sub-select that does not project them."""
    outermost: bool = False

    def with_patterns(self, more: Iterable[Pattern]) -> "_Scope":
        return _Scope((*self.patterns, *more), self.predicates, self.bound, self.outermost)


def _dependencies(
    pattern: Pattern, scope: _Scope, roots: Mapping[Any, Path], at: Path, effect: Any
) -> Iterator[Dependency]:
    subject, path, object_ = pattern
    routes = _routes(scope.patterns, roots if scope.bound else {})
    ends = [(routes[end], via) for end, via in ((subject, path), (object_, invert(path))) if end in routes]
    if not ends:
        for _, step in uses(path):
            yield Dependency(None, step, effect)
        return
    start, via = min(ends, key=lambda end: len(getattr(end[0], "parts", " ")))
    for prefix, step in uses(via):
        yield Dependency(join(at, start, prefix), step, effect)


def _placed(node: Any, scope: _Scope) -> Iterator[tuple[Pattern, _Scope]]:
    """Every triple pattern of the algebra, with what it is certainly joined with."""
    if not isinstance(node, CompValue):
        return
    match node.name:
        case "BGP":
            patterns = tuple(_patterns(node, scope))
            for pattern in patterns:
                yield pattern, scope.with_patterns(patterns)
        case "Join":
            yield from _placed(node.p1, scope.with_patterns(_certain(node.p2)))
            yield from _placed(node.p2, scope.with_patterns(_certain(node.p1)))
        case "LeftJoin":
            yield from _placed(node.p1, scope)
            inside = _Scope(tuple(_certain(node.p1)), bound=scope.bound)
            yield from _placed(node.p2, inside)
            yield from _tested(node.expr, inside.with_patterns(_certain(node.p2)))
        case "Minus":
            yield from _placed(node.p1, scope)
            yield from _placed(node.p2, _Scope(tuple(_certain(node.p1)), bound=scope.bound))
        case "Filter":
            narrowed = {**scope.predicates, **_narrowed(node.expr)}
            yield from _placed(node.p, _Scope(scope.patterns, narrowed, scope.bound))
            yield from _tested(node.expr, _Scope(tuple(_certain(node.p)), bound=scope.bound))
        case "Union":
            yield from _placed(node.p1, scope)
            yield from _placed(node.p2, scope)
        case "Project":
            # Only what a sub-select projects is joined with the rest; $this must be (SHACL, 5.2.1).
            bound = scope.outermost or (scope.bound and _THIS in (node.PV or ()))
            yield from _placed(node.p, _Scope(bound=bound))
        case "SelectQuery" | "AskQuery" | "Distinct" | "Reduced" | "Slice":
            yield from _placed(node.p, scope)
        case "ToMultiSet":
            yield from _placed(node.get("p"), replace(scope, outermost=False))
        case "Extend" | "OrderBy":
            yield from _placed(node.p, scope)
            yield from _tested(node.expr, _Scope(tuple(_certain(node.p)), bound=scope.bound))
        case "Graph" | "ServiceGraphPattern":
            yield from _placed(node.get("p") or node.get("graph"), _Scope(bound=False))
        case _:
            for key, value in node.items():
                if key != "_vars":
                    yield from _tested(value, _Scope(bound=scope.bound))


def _tested(expression: Any, scope: _Scope) -> Iterator[tuple[Pattern, _Scope]]:
    """The patterns of the EXISTS and NOT EXISTS in an expression."""
    if isinstance(expression, CompValue):
        if expression.name in ("Builtin_EXISTS", "Builtin_NOTEXISTS"):
            yield from _placed(expression.graph, scope)
        elif isinstance(expression, Expr):
            for value in expression.values():
                yield from _tested(value, scope)
        else:
            yield from _placed(expression, scope)
    elif isinstance(expression, list | tuple):
        for value in expression:
            yield from _tested(value, scope)


def _certain(node: Any) -> Iterator[Pattern]:
    """Patterns that every solution of this part matches."""
    if not isinstance(node, CompValue):
        return
    match node.name:
        case "BGP":
            yield from _patterns(node, _Scope())
        case "Join":
            yield from _certain(node.p1)
            yield from _certain(node.p2)
        case "LeftJoin" | "Minus":
            yield from _certain(node.p1)
        case "Filter" | "Extend" | "Distinct" | "Reduced" | "OrderBy":
            yield from _certain(node.p)


def _patterns(node: CompValue, scope: _Scope) -> Iterator[Pattern]:
    for subject, predicate, object_ in node.get("triples") or ():
        allowed = scope.predicates.get(predicate)
        if allowed is None:
            yield subject, _path(predicate), object_
        else:
            yield subject, Alternative(tuple(Step(NamedNode(str(iri))) for iri in allowed)), object_


def _narrowed(expression: Any) -> dict[Any, tuple[rdflib.URIRef, ...]]:
    """Variables that a filter restricts to some IRIs: `?p IN (...)`, `?p = ...`, and such joined by &&."""
    if not isinstance(expression, CompValue):
        return {}
    if expression.name == "ConditionalAndExpression":
        found: dict[Any, tuple[rdflib.URIRef, ...]] = {}
        for part in (expression.expr, *expression.other):
            found |= _narrowed(part)
        return found
    if expression.name == "RelationalExpression" and expression.op in ("IN", "="):
        other = expression.other if isinstance(expression.other, list) else [expression.other]
        if isinstance(expression.expr, rdflib.Variable) and all(isinstance(o, rdflib.URIRef) for o in other):
            return {expression.expr: tuple(other)}
    return {}


def pattern_dependencies(pattern: Any) -> Iterator[Dependency]:
    """Which triples the solutions of a graph pattern depend on, from `$this`; of effect ANY."""
    inside = _inside(pattern)
    for found, scope in _placed(inside, _Scope()):
        yield from _dependencies(found, scope, {_THIS: HERE}, HERE, ANY)


def only_grows(node: Any) -> bool:
    """Whether more triples can only give more solutions."""
    if isinstance(node, CompValue):
        if isinstance(node, Expr):
            if node.name in ("Builtin_EXISTS", "Builtin_NOTEXISTS") or node.name.startswith("Aggregate"):
                return False
        elif node.name not in _GROWING:
            return False
        return all(only_grows(value) for key, value in node.items() if key != "_vars")
    if isinstance(node, list | tuple):
        return all(only_grows(value) for value in node)
    return True


def _path(predicate: Any) -> Path:
    match predicate:
        case rdflib.URIRef():
            return Step(NamedNode(str(predicate)))
        case SequencePath():
            return join(*(_path(part) for part in predicate.args))
        case AlternativePath():
            return Alternative(tuple(_path(part) for part in predicate.args))
        case InvPath():
            return invert(_path(predicate.arg))
        case MulPath():
            return Repeat(_path(predicate.path), predicate.mod == "+", predicate.mod == "?")
        case NegatedPath():
            return Alternative((Step(None), Step(None, forward=False)))
        case _:
            return Step(None)


def _routes(patterns: Iterable[Pattern], roots: Mapping[Any, Path]) -> dict[Any, Path]:
    """For every variable, a path that leads to it from a root; breadth first, so the shortest."""
    routes = dict(roots)
    frontier = list(roots)
    while frontier:
        following = []
        for node in frontier:
            for subject, path, object_ in patterns:
                for start, via, end in ((subject, path, object_), (object_, invert(path), subject)):
                    joins = isinstance(end, rdflib.Variable | rdflib.BNode)
                    if start == node and joins and end not in routes:
                        routes[end] = join(routes[node], via)
                        following.append(end)
        frontier = following
    return routes
