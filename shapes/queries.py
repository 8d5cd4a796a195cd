"""Which triples a SHACL-SPARQL constraint depends on (SHACL 5): read from its parsed query.

Every triple pattern is reached from `$this` along other patterns; that route is the dependency's
path. A pattern that no route reaches may concern any focus node.
"""

from collections.abc import Iterator
from typing import Any

import pyoxigraph
import rdflib
from pyoxigraph import NamedNode
from pyparsing import ParseBaseException
from rdflib.namespace import SH
from rdflib.paths import AlternativePath, InvPath, MulPath, NegatedPath, SequencePath
from rdflib.plugins.sparql.algebra import translateQuery
from rdflib.plugins.sparql.parser import parseQuery
from rdflib.plugins.sparql.parserutils import CompValue

from shapes.errors import ShapeMalformed
from shapes.paths import HERE, Alternative, Dependency, Path, Repeat, Step, invert, join, uses

_THIS = rdflib.Variable("this")
_Pattern = tuple[Any, Path, Any]


def query_dependencies(
    graph: rdflib.Graph,
    constraint: rdflib.term.Node,
    query: str,
    at: Path,
    path_node: rdflib.term.Node | None,
) -> Iterator[Dependency]:
    """Dependencies of one `sh:sparql` constraint whose `$this` stands at `at`. Raises `ShapeMalformed`."""
    patterns = list(_patterns(graph, constraint, query, path_node))
    routes = _routes(patterns)
    for subject, path, object_ in patterns:
        if subject in routes:
            start, via = routes[subject], path
        elif object_ in routes:
            start, via = routes[object_], invert(path)
        else:
            for _, step in uses(path):
                yield Dependency(None, step)
            continue
        for prefix, step in uses(via):
            yield Dependency(join(at, start, prefix), step)


def _patterns(
    graph: rdflib.Graph, constraint: rdflib.term.Node, query: str, path_node: rdflib.term.Node | None
) -> Iterator[_Pattern]:
    if path_node is not None:
        path_text = path_node.n3() if isinstance(path_node, rdflib.URIRef) else "?anyPredicate"
        query = query.replace("$PATH", path_text).replace("?PATH", path_text)
    prefixes = "".join(
        f"PREFIX {graph.value(declared, SH.prefix)}: <{graph.value(declared, SH.namespace)}>\n"
        for source in graph.objects(constraint, SH.prefixes)
        for declared in graph.objects(source, SH.declare)
    )
    try:
        pyoxigraph.Store().query(prefixes + query)
        algebra = translateQuery(parseQuery(prefixes + query)).algebra
    except (SyntaxError, ParseBaseException) as error:
        raise ShapeMalformed(str(constraint), f"its SPARQL does not parse: {error}") from error
    for triple in _triples(algebra):
        subject, predicate, object_ = triple
        yield subject, _path(predicate), object_


def _triples(node: Any) -> Iterator[tuple[Any, Any, Any]]:
    if isinstance(node, CompValue):
        if node.name in ("BGP", "TriplesBlock"):
            for triple in node.get("triples") or ():
                yield from _flat(triple)
        for key, value in node.items():
            if key not in ("triples", "_vars"):
                yield from _triples(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _triples(value)


def _flat(triple: Any) -> Iterator[tuple[Any, Any, Any]]:
    terms = list(triple)
    for index in range(0, len(terms) - 2, 3):
        yield terms[index], terms[index + 1], terms[index + 2]


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


def _routes(patterns: list[_Pattern]) -> dict[Any, Path]:
    """For every variable, a path that leads to it from `$this`; breadth first, so the shortest."""
    routes: dict[Any, Path] = {_THIS: HERE}
    frontier = [_THIS]
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
