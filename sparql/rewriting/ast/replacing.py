"""Replacing elements of a tree: a new tree that shares all parts in which nothing is replaced."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from sparql.rewriting.ast import nodes as n

Elements = tuple[n.Element, ...]


@dataclass(frozen=True)
class Place:
    """Where an element is: its group, and whether a GRAPH is around it."""

    group: n.Group
    in_graph: bool


Replace = Callable[[n.Element, Place], Elements | None]
"""The elements in place of one; None keeps it, and looks at what is in it."""


def replace_elements(
    query: n.Query, replaced: Replace, added: Mapping[n.Group, Elements] | None = None
) -> n.Query:
    """The query with elements replaced in all its groups, those of EXISTS too; not in a template.

    `added` are elements for the end of groups.
    """
    return _Replacement(replaced, added or {}).query(query, in_graph=False)


def in_place_of(start: int, end: int, elements: Elements) -> Elements:
    """Elements of which the first replaces what is between two offsets of the client's text."""
    first, *others = elements
    return (replace(first, start=start, end=end, made=True), *others)


class _Replacement:
    def __init__(self, replaced: Replace, added: Mapping[n.Group, Elements]) -> None:
        self._replaced = replaced
        self._added = added

    def query(self, query: n.Query, *, in_graph: bool) -> n.Query:
        where = None if query.where is None else self._group(query.where, in_graph=in_graph)
        expressions = list(query.expressions)
        changed = [self._expression(one, in_graph=in_graph) for one in expressions]
        if where is query.where and all(map(_same, expressions, changed)):
            return query
        by_old = dict(zip(expressions, changed, strict=True))
        projection = query.projection and tuple(
            one if one.expression is None else replace(one, expression=by_old[one.expression])
            for one in query.projection
        )
        return replace(
            query,
            where=where,
            projection=projection,
            conditions=tuple(by_old[one] for one in query.conditions),
            order=tuple(replace(one, expression=by_old[one.expression]) for one in query.order),
        )

    def _group(self, group: n.Group, *, in_graph: bool) -> n.Group:
        place = Place(group, in_graph)
        elements: list[n.Element] = []
        for element in group.elements:
            others = self._replaced(element, place)
            if others is None:
                elements.append(self._within(element, in_graph=in_graph))
            elif others and element.start >= 0 and others[0].start < 0:
                elements += in_place_of(element.start, element.end, others)
            else:
                elements += others
        elements += self._added.get(group, ())
        if len(elements) == len(group.elements) and all(map(_same, elements, group.elements)):
            return group
        return replace(group, elements=tuple(elements))

    def _within(self, element: n.Element, *, in_graph: bool) -> n.Element:
        match element:
            case n.Nested():
                inside = in_graph or element.keyword == "GRAPH"
                groups = tuple(self._group(one, in_graph=inside) for one in element.groups)
                return element if all(map(_same, groups, element.groups)) else replace(element, groups=groups)
            case n.SubSelect():
                query = self.query(element.query, in_graph=in_graph)
                return element if query is element.query else replace(element, query=query)
            case n.Filter() | n.Bind():
                expression = self._expression(element.expression, in_graph=in_graph)
                return (
                    element if expression is element.expression else replace(element, expression=expression)
                )
        return element

    def _expression(self, expression: n.Expression, *, in_graph: bool) -> n.Expression:
        match expression:
            case n.Exists():
                group = self._group(expression.group, in_graph=in_graph)
                return expression if group is expression.group else replace(expression, group=group)
            case n.Call() | n.Operation():
                arguments = tuple(self._expression(one, in_graph=in_graph) for one in expression.arguments)
                if all(map(_same, arguments, expression.arguments)):
                    return expression
                return replace(expression, arguments=arguments)
        return expression


def _same(one: object, other: object) -> bool:
    return one is other
