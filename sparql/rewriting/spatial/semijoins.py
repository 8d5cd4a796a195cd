"""EXISTS as a join: what it asks of each solution is asked once for all of them, where that is the same.

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

from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.replacing import Elements, replace_elements
from sparql.rewriting.spatial.basic_patterns import basic_patterns_of, binding_in
from sparql.rewriting.spatial.dropped_filters import without
from sparql.rewriting.spatial.geometry_paths import geometry_path_of
from sparql.rewriting.spatial.scopes import Scope, scopes_of
from sparql.rewriting.spatial.spatial_filters import conjuncts_of, local_name

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
