"""The groups of a query that are evaluated as a whole, so that candidates in them save work.

The patterns of a group are joined to what surrounds it only after they were found: of an OPTIONAL by
hashing, once there are candidates in it. EXISTS is asked solution by solution
(`sparql.rewriting.spatial.semijoins` makes joins of some), LATERAL too, and SERVICE is another store's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.spatial.basic_patterns import BasicPattern, Binding, basic_patterns_of, binding_in

_NESTED = ("UNION", "GRAPH", "MINUS", "OPTIONAL")

Elsewhere = Callable[[str, n.Nested], bool]
"""Whether a variable could get a value outside an element, or has another use than in filters."""


@dataclass(frozen=True)
class Scope:
    """A group with what is around it.

    `graph` is the name of the innermost GRAPH; `outer` are the groups whose solutions an OPTIONAL extends,
    and `before` the elements before it in the nearest of them. `beside` are the elements that its
    solutions are joined to or that it extends, in all groups up to the pattern of its SELECT or its MINUS.
    `repeated` means that the engine evaluates it again for each solution further out: an OPTIONAL in a group
    that is itself joined to others. `graph_shown` means that no sub-select is between the GRAPH and here: one
    hides the name of the graph where it does not project it.
    """

    group: n.Group
    graph: n.Term | None = None
    outer: tuple[n.Group, ...] = ()
    before: tuple[n.Element, ...] = ()
    beside: tuple[n.Element, ...] = ()
    repeated: bool = False
    graph_shown: bool = True

    @property
    def triples_beside(self) -> tuple[n.TriplePattern, ...]:
        """The triple patterns among what is beside it."""
        statements = (one for one in self.beside if isinstance(one, n.Statement))
        return tuple(triple for statement in statements for triple in statement.triples)

    def surrounds(self, bgp: BasicPattern) -> bool:
        """Whether the solutions of one of its basic graph patterns are joined to others, or extend others."""
        here = (one for one in self.group.elements if one not in bgp.elements)
        return any(map(_gives_solutions, (*here, *self.beside)))


def scopes_of(group: n.Group, graph: n.Term | None = None) -> Iterator[Scope]:
    """The open groups of a query's pattern, itself first."""
    yield from _within(Scope(group, graph))


def _within(scope: Scope) -> Iterator[Scope]:
    yield scope
    group = scope.group
    for position, element in enumerate(group.elements):
        if isinstance(element, n.Nested) and element.keyword in _NESTED:
            graph = element.name if element.keyword == "GRAPH" else scope.graph
            optional = element.keyword == "OPTIONAL"
            # What a UNION or a GRAPH holds is joined to what an OPTIONAL around it extends.
            outer = (group, *scope.outer) if optional else scope.outer
            before = group.elements[:position] if optional else ()
            beside: tuple[n.Element, ...] = ()
            repeated = False
            shown = scope.graph_shown or element.keyword == "GRAPH"
            if element.keyword != "MINUS":
                beside = (*group.elements[:position], *group.elements[position + 1 :], *scope.beside)
                repeated = scope.repeated or (optional and any(map(_gives_solutions, scope.beside)))
            for inner in element.groups:
                yield from _within(Scope(inner, graph, outer, before, beside, repeated, shown))
        elif isinstance(element, n.SubSelect) and element.query.where is not None:
            yield from _within(Scope(element.query.where, scope.graph, graph_shown=False))


def _gives_solutions(element: n.Element) -> bool:
    if isinstance(element, n.Nested):
        return element.keyword != "MINUS"
    return not isinstance(element, n.Filter | n.Bind)


def bindings_in(group: n.Group, variable: str) -> Iterator[Binding]:
    """The patterns of a group's own basic graph patterns that give a variable its geometry."""
    for bgp in basic_patterns_of(group):
        binding = binding_in(bgp, variable)
        if binding is not None:
            yield binding


def bindings_below(group: n.Group, variable: str, elsewhere: Elsewhere) -> Iterator[Binding]:
    """In what is joined to a group: solutions of it that the group's filter is not true of go anyway.

    An OPTIONAL counts as joined where nothing else could give the variable a value: without one the filter
    is an error. A sub-select does where its solutions are neither counted nor cut off.
    """
    for element in group.elements:
        if isinstance(element, n.Nested) and element.keyword in ("UNION", "GRAPH", "OPTIONAL"):
            if element.keyword == "OPTIONAL" and elsewhere(variable, element):
                continue
            for inner in element.groups:
                yield from _first_in(inner, variable, elsewhere)
        elif isinstance(element, n.SubSelect) and _hands_on(element.query, variable):
            assert element.query.where is not None
            yield from _first_in(element.query.where, variable, elsewhere)


def _first_in(group: n.Group, variable: str, elsewhere: Elsewhere) -> Iterator[Binding]:
    found = next(bindings_in(group, variable), None)
    if found is not None:
        yield found
    else:
        yield from bindings_below(group, variable, elsewhere)


def _hands_on(query: n.Query, variable: str) -> bool:
    if query.where is None or query.grouped or query.limit is not None or query.offset:
        return False
    if query.projection is None:
        return True
    return any(one.variable == variable and one.expression is None for one in query.projection)
