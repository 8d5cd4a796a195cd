"""The spatial filters of a query, where they are and what binds their variables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.parser import ParsedQuery
from sparql.rewriting.report import FILTER, Report
from sparql.rewriting.spatial.basic_patterns import Binding
from sparql.rewriting.spatial.constants import UnreadableConstant, constants_in
from sparql.rewriting.spatial.scopes import Elsewhere, Scope, bindings_below, bindings_in
from sparql.rewriting.spatial.spatial_filters import SpatialFilter, conjuncts_of, recognize


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
        return n.Operation(conjunct.name, arguments, conjunct.start, conjunct.end)

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
