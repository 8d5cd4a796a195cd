"""Nodes that a rewriting makes: elements and expressions that are not in the client's text.

An element must be in a tree once only, since elements are compared by identity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pyoxigraph import Literal, NamedNode, Variable

from sparql.rewriting.ast import nodes as n
from sparql.syntax.request_facts import QueryForm


def statement(*triples: n.TriplePattern) -> n.Statement:
    """Triple patterns side by side."""
    return n.Statement(triples, made=True)


def triple(subject: n.Term, verb: Variable | NamedNode | n.Path, value: n.Term) -> n.Statement:
    """One triple pattern."""
    return statement(n.TriplePattern(subject, n.Link(verb) if isinstance(verb, NamedNode) else verb, value))


def alternatives(*iris: NamedNode) -> n.Path:
    """The path of any of these properties."""
    return any_of([n.Link(iri) for iri in iris])


def any_of(paths: Sequence[n.Path]) -> n.Path:
    """The path of any of these paths."""
    return paths[0] if len(paths) == 1 else n.PathOperator("|", tuple(paths))


def sequence(*paths: n.Path) -> n.Path:
    """The path of these paths, one behind the other."""
    return n.PathOperator("/", paths)


def group(*elements: n.Element) -> n.Group:
    """A group of elements."""
    return n.Group(elements)


def union(*groups: n.Group) -> n.Nested:
    """Groups with UNION between them, or one alone."""
    return n.Nested("UNION", groups, made=True)


def lateral(*elements: n.Element) -> n.Nested:
    """Elements that the engine evaluates for each solution before them."""
    return n.Nested("LATERAL", (group(*elements),), made=True)


def graph(name: n.Term, *elements: n.Element) -> n.Nested:
    """Elements of a named graph."""
    return n.Nested("GRAPH", (group(*elements),), name=name, made=True)


def in_braces(*elements: n.Element) -> n.Nested:
    """Elements in a group of their own."""
    return union(group(*elements))


def minus(*elements: n.Element) -> n.Nested:
    """MINUS of elements."""
    return n.Nested("MINUS", (group(*elements),), made=True)


def select(
    columns: Iterable[str | n.Projection] | None,
    where: n.Group,
    *,
    distinct: bool = False,
    by: Sequence[n.Expression] = (),
) -> n.SubSelect:
    """A sub-select; None selects all variables. `by` are keys of GROUP BY."""
    shown = [n.Projection(one) if isinstance(one, str) else one for one in columns or ()]
    query = n.Query(
        QueryForm.SELECT,
        where,
        projection=None if columns is None else tuple(shown),
        distinct=distinct,
        grouped=bool(by),
        conditions=tuple(by),
    )
    return n.SubSelect(query, made=True)


def values(names: Sequence[str], rows: Iterable[Sequence[n.Term]]) -> n.Values:
    """VALUES."""
    return n.Values(tuple(names), tuple(map(tuple, rows)), made=True)


def filtered(expression: n.Expression) -> n.Filter:
    """FILTER."""
    return n.Filter(expression, made=True)


def bound(expression: n.Expression, name: str) -> n.Bind:
    """BIND."""
    return n.Bind(expression, name, made=True)


def exists(*elements: n.Element) -> n.Exists:
    """EXISTS of elements."""
    return n.Exists(group(*elements), negated=False)


def not_exists(*elements: n.Element) -> n.Exists:
    """NOT EXISTS of elements."""
    return n.Exists(group(*elements), negated=True)


def call(function: NamedNode, *arguments: n.Expression) -> n.Call:
    """A call of a function by IRI."""
    return n.Call(function, arguments)


def operation(name: str, *arguments: n.Expression) -> n.Operation:
    """An operator or a built-in function."""
    return n.Operation(name, arguments)


def use(term: n.Term | str) -> n.Expression:
    """A term, or a variable by its name, in an expression."""
    if isinstance(term, str):
        return n.VariableUse(term)
    if isinstance(term, Variable):
        return n.VariableUse(term.value)
    assert isinstance(term, NamedNode | Literal)
    return n.Constant(term)


def all_true(conditions: Sequence[n.Expression]) -> n.Expression:
    """The condition that all of these are true."""
    if not conditions:
        return n.Constant(Literal(True))
    return conditions[0] if len(conditions) == 1 else n.Operation("&&", tuple(conditions))
