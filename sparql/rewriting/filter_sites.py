"""Where the spatial filters of a query are, and EXISTS with such a filter as a join.

The patterns of a group are joined to what surrounds it only after they were found: of an OPTIONAL by
hashing, once there are candidates in it. EXISTS is asked solution by solution, LATERAL too, and SERVICE is
another store's.

The engine works an EXISTS out anew for every solution, at about a millisecond each. A FILTER EXISTS whose
pattern shares with its group only variables that both always bind is a join with the different values of
these, and FILTER NOT EXISTS is their MINUS (SPARQL 1.1 Query, 18.6 and 8.3). The pattern may compare a
geometry of its own with one of the group's: then what gives the group's variable its geometry is asked within
it too, which is true of every solution, and what else these patterns name may be compared as well. Either
pays only where the index finds candidates in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.rewriting.basic_patterns import (
    BasicPattern,
    Binding,
    basic_patterns_of,
    binding_in,
    geometry_path_of,
)
from sparql.rewriting.spatial_filters import (
    SpatialFilter,
    UnreadableConstant,
    conjuncts_of,
    constants_in,
    local_name,
    recognize,
)
from sparql.rewriting.steps import FILTER, Report
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.parser import ParsedQuery
from sparql.syntax.writing import Elements, replace_elements

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


@dataclass(frozen=True)
class FilterSite:
    """A spatial filter, where it is and what binds its variables."""

    filter_: n.Filter
    conjunct: n.Expression
    spatial: SpatialFilter
    bindings: tuple[tuple[Binding, ...], ...]
    own_pattern: bool


class FilterSites:
    """Finds them in a query, and reports those that cannot be searched for."""

    def __init__(self, parsed: ParsedQuery, report: Report) -> None:
        self._parsed = parsed
        self._report = report

    def within(self, scope: Scope) -> Iterator[FilterSite]:
        """Those of a group; none where one of its filters is true of nothing, which the engine asks first."""
        group, fruitless = scope.group, False
        known = {**constants_in(scope.before), **constants_in(group.elements)}
        found: list[tuple[n.Filter, n.Expression, SpatialFilter]] = []
        for filter_ in group.elements:
            if not isinstance(filter_, n.Filter):
                continue
            for conjunct in conjuncts_of(filter_.expression):
                try:
                    spatial = recognize(self._unfolded(conjunct, group), known)
                except UnreadableConstant as error:
                    self._report.warn(f"{self._written(conjunct)} is true of nothing: {error.reason}")
                    self._leave(conjunct, f"a geometry in it cannot be read: {error.reason}")
                    fruitless = True
                    continue
                if isinstance(spatial, str):
                    self._leave(conjunct, spatial)
                elif spatial is not None:
                    found.append((filter_, conjunct, spatial))
        for filter_, conjunct, spatial in found:
            if fruitless:
                self._leave(conjunct, "another filter beside it is true of nothing")
            else:
                yield from self._with_bindings(filter_, conjunct, spatial, group)

    def _with_bindings(
        self, filter_: n.Filter, conjunct: n.Expression, spatial: SpatialFilter, group: n.Group
    ) -> Iterator[FilterSite]:
        found: list[tuple[Binding, ...]] = []
        own = True
        for operand in spatial.operands:
            bindings = tuple(bindings_in(group, operand.name))
            if not bindings:
                own = False
                bindings = tuple(bindings_below(group, operand.name, self._elsewhere_in(group)))
            if not bindings:
                self._leave(
                    conjunct,
                    f"no triple pattern beside it gives ?{operand.name} a geometry by geo:asWKT, asGML, "
                    "asGeoJSON or asKML",
                )
                return
            found.append(bindings if not own else bindings[:1])
        yield FilterSite(filter_, conjunct, spatial, tuple(found), own)

    def _elsewhere_in(self, group: n.Group) -> Elsewhere:
        filters = [one for one in group.elements if isinstance(one, n.Filter)]

        def elsewhere(name: str, element: n.Nested) -> bool:
            return name in n.names_in(group, besides={element, *filters})

        return elsewhere

    def _unfolded(self, conjunct: n.Expression, group: n.Group) -> n.Expression:
        """`?d < 500` with the distance that BIND named ?d in its place, where ?d can be nothing else."""
        if not isinstance(conjunct, n.Operation) or conjunct.name not in ("<", "<=", ">", ">="):
            return conjunct
        arguments = tuple(self._named(argument, group) for argument in conjunct.arguments)
        return n.Operation(conjunct.name, arguments, start=conjunct.start, end=conjunct.end)

    def _named(self, expression: n.Expression, group: n.Group) -> n.Expression:
        if not isinstance(expression, n.VariableUse):
            return expression
        bind: n.Expression | None = None
        for element in group.elements:
            if isinstance(element, n.Bind) and element.variable == expression.name:
                bind = element.expression
            elif not isinstance(element, n.Filter | n.Bind) and (expression.name in n.names_in(element)):
                return expression
        return bind or expression

    def _written(self, part: n.Expression) -> str:
        return self._parsed.text_of(part)

    def _leave(self, part: n.Expression, why: str) -> None:
        self._report.leave(FILTER, self._written(part), why)


class DroppedFilters:
    """The conjuncts to leave out, by the filter that they are part of."""

    def __init__(self) -> None:
        self._dropped: dict[n.Filter, set[n.Expression]] = {}

    def drop(self, filter_: n.Filter, conjunct: n.Expression) -> None:
        """Leave this one out."""
        self._dropped.setdefault(filter_, set()).add(conjunct)

    def filters(self) -> dict[n.Filter, n.Filter]:
        """What is left of each filter."""
        return {filter_: without(filter_, dropped) for filter_, dropped in self._dropped.items()}


def without(filter_: n.Filter, dropped: set[n.Expression]) -> n.Filter:
    """A filter without some of its conjuncts; a condition stays, since a full stop may follow."""
    kept = [part for part in conjuncts_of(filter_.expression) if part not in dropped]
    return b.filtered(b.all_true(kept))


_FEW_SOLUTIONS = 20
"""So many are asked one by one."""

Few = Callable[[n.TriplePattern, int], bool]


@dataclass(frozen=True)
class SemiJoin:
    """An EXISTS, the conjunct of a filter that it is, and the elements at its group's end that replace it."""

    filter_: n.Filter
    conjunct: n.Expression
    exists: n.Exists
    group: n.Group
    element: n.Element


class SemiJoins:
    """Finds what can be written as joins in one query. `few` says whether few statements match a pattern.

    `single` means that every feature of the default graph has one literal at most.
    """

    def __init__(self, query: n.Query, few: Few, *, single: bool) -> None:
        self._where = query.where
        self._few = few
        self._single = single

    def found(self) -> Iterator[tuple[n.Exists, SemiJoin | str]]:
        """Each EXISTS with a spatial filter that is a conjunct of a filter: as a join, or why not."""
        for scope in scopes_of(self._where) if self._where is not None else ():
            for filter_ in scope.group.elements:
                if isinstance(filter_, n.Filter):
                    for conjunct in conjuncts_of(filter_.expression):
                        exists, negated = _exists(conjunct)
                        if exists is not None and _is_spatial(exists.group):
                            yield exists, self._join(scope, filter_, conjunct, exists, negated=negated)

    def _join(
        self, scope: Scope, filter_: n.Filter, conjunct: n.Expression, exists: n.Exists, *, negated: bool
    ) -> SemiJoin | str:
        group, asked = scope.group, exists.group
        if (reason := _unfit(asked)) is not None:
            return reason
        if self._has_few_solutions(group):
            return "few solutions come to it, which are asked one by one"
        inside = n.names_in(asked)
        if isinstance(scope.graph, Variable) and scope.graph.value in inside:
            return "it asks for the name of the graph around it"
        patterns = _certain(asked.elements)
        outer = (group, *scope.outer)
        visible = {name for one in outer for name in n.names_in(one, besides=_exists_in(one))}
        shared = inside & visible
        outside = shared - patterns
        if not shared:
            return "it shares no variable with its group"
        if not shared <= _certain(group.elements):
            return "a variable that it shares may be unbound beside it, or is bound further out"
        copies = {name: self._copied(group, name, scope.graph) for name in sorted(outside)}
        keys = set(shared)
        elements: list[n.Element] = []
        given: set[str] = set()
        for name, copied in copies.items():
            if copied is not None:
                keys = (keys - {name}) | {copied.key}
                elements.append(b.statement(*copied.triples))
                given |= copied.variables
        for name in (name for name, copied in copies.items() if copied is None and name not in given):
            return f"no triple pattern beside it gives ?{name} a geometry, and it compares ?{name}"
        select = b.select(sorted(keys), b.group(*elements, *asked.elements), distinct=True)
        return SemiJoin(filter_, conjunct, exists, group, b.minus(select) if negated else b.in_braces(select))

    def _has_few_solutions(self, group: n.Group) -> bool:
        for element in group.elements:
            if isinstance(element, n.Values) and len(element.rows) <= _FEW_SOLUTIONS:
                return True
            for triple in element.triples if isinstance(element, n.Statement) else ():
                fixed = isinstance(triple.subject, NamedNode) or isinstance(
                    triple.object, NamedNode | Literal
                )
                if fixed and triple.predicate is not None and self._few(triple, _FEW_SOLUTIONS):
                    return True
        return False

    def _copied(self, group: n.Group, name: str, graph: n.Term | None) -> _Copied | None:
        """The patterns that give a variable its geometry, to be asked once more."""
        for bgp in basic_patterns_of(group):
            binding = binding_in(bgp, name)
            if binding is None:
                continue
            geometry_path = geometry_path_of(binding)
            triples = geometry_path.triples if geometry_path is not None else (binding.triple,)
            if any(isinstance(end, BlankNode) for one in triples for end in (one.subject, one.object)):
                return None
            by_feature = geometry_path is not None and self._single and graph is None
            key = geometry_path.feature if geometry_path is not None and by_feature else name
            variables = frozenset(name for one in triples for name in one.variables)
            return _Copied(tuple(map(replace, triples)), key, variables)
        return None


@dataclass(frozen=True)
class _Copied:
    """Patterns with their variables, and the one whose value determines the geometry."""

    triples: tuple[n.TriplePattern, ...]
    key: str
    variables: frozenset[str]


def with_joins(query: n.Query, joins: Sequence[SemiJoin]) -> n.Query:
    """The query with joins in place of EXISTS: each at the end of its group, where a filter is applied."""
    added: dict[n.Group, Elements] = {}
    gone: dict[n.Filter, set[n.Expression]] = {}
    for one in joins:
        added[one.group] = (*added.get(one.group, ()), one.element)
        gone.setdefault(one.filter_, set()).add(one.conjunct)

    def replaced(element: n.Element, _place: object) -> Elements | None:
        return (
            (without(element, gone[element]),) if isinstance(element, n.Filter) and element in gone else None
        )

    return replace_elements(query, replaced, added)


def _exists(expression: n.Expression) -> tuple[n.Exists | None, bool]:
    if isinstance(expression, n.Exists):
        return expression, expression.negated
    if isinstance(expression, n.Operation) and expression.name == "unary !":
        inner, negated = _exists(expression.arguments[0])
        return inner, not negated
    return None, False


def _exists_in(group: n.Group) -> list[n.Group]:
    """The groups of the EXISTS in a group's own filters: what they name is theirs."""
    return [
        part.group
        for element in group.elements
        if isinstance(element, n.Filter)
        for part in n.walk_expressions(element.expression)
        if isinstance(part, n.Exists)
    ]


def _is_spatial(group: n.Group) -> bool:
    return any(
        isinstance(element, n.Filter)
        and any(local_name(part) is not None for part in n.walk_expressions(element.expression))
        for inner in n.groups_in(group)
        for element in inner.elements
    )


def _unfit(group: n.Group) -> str | None:
    """Why a pattern may say more of a solution than by the values that it binds; None where it does not."""
    more = "it holds more than patterns and filters"
    for element in group.elements:
        if isinstance(element, n.Statement):
            paths = (one.verb for one in element.triples if not isinstance(one.verb, Variable))
            if any(map(_can_be_empty, paths)):
                return "it has a path that may be empty"
        elif isinstance(element, n.Filter):
            if any(isinstance(part, n.Exists) for part in n.walk_expressions(element.expression)):
                return more
        elif isinstance(element, n.Nested) and element.keyword in ("UNION", "GRAPH"):
            for inner in element.groups:
                if (reason := _unfit(inner)) is not None:
                    return reason
                filters = (one for one in inner.elements if isinstance(one, n.Filter))
                used = {name for one in filters for name in n.variables_of(one.expression)}
                if not used <= _certain(inner.elements):
                    return "a filter in a group of it compares what the group does not bind"
        else:
            return more
    return None


def _can_be_empty(path: n.Path) -> bool:
    if isinstance(path, n.Link) or path.operator == "!":
        return False
    if path.operator in ("*", "?"):
        return True
    return (any if path.operator == "|" else all)(map(_can_be_empty, path.parts))


def _certain(elements: Sequence[n.Element]) -> set[str]:
    """The variables that every solution of these elements binds."""
    found: set[str] = set()
    for element in elements:
        if isinstance(element, n.Statement):
            found.update(name for triple in element.triples for name in triple.variables)
        elif isinstance(element, n.Values):
            columns = zip(element.variables, zip(*element.rows, strict=True), strict=False)
            found.update(name for name, column in columns if None not in column)
        elif isinstance(element, n.Nested) and element.keyword in ("UNION", "GRAPH"):
            found.update(set.intersection(*(_certain(inner.elements) for inner in element.groups)))
            if isinstance(element.name, Variable):
                found.add(element.name.value)
        elif isinstance(element, n.SubSelect):
            found.update(_projected(element.query))
    return found


def _projected(query: n.Query) -> set[str]:
    if query.where is None or query.grouped:
        return set()
    certain = _certain(query.where.elements)
    if query.projection is None:
        return certain
    return certain & {one.variable for one in query.projection if one.expression is None}
