"""Spatial filters, joins and nearest-k over the index of geometries: the same answer, found sooner.

The triple pattern that gives the variable of a filter its geometry literal gets candidates in front of it
(`sparql.rewriting.basic_patterns`). What is not understood or would not pay stays as it is, and the
report says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from pyoxigraph import Literal, NamedNode, Variable
from shapely import GEOSException

from geo.errors import GeoError
from sparql.rewriting.basic_patterns import (
    BasicPattern,
    Binding,
    GeometryPath,
    Plan,
    geometry_path_of,
    with_plans,
)
from sparql.rewriting.candidates import (
    TooMuchText,
    VariableCandidates,
    class_patterns,
    column_for,
    feature_rows,
    find,
    with_nearest,
    written_length,
)
from sparql.rewriting.filter_sites import (
    DroppedFilters,
    FilterSite,
    FilterSites,
    Scope,
    SemiJoin,
    SemiJoins,
    scopes_of,
    with_joins,
)
from sparql.rewriting.geometry_state import GeometryState
from sparql.rewriting.joins import JoinContext, join_plan
from sparql.rewriting.spatial_filters import local_name
from sparql.rewriting.steps import FILTER, UNLIMITED, Report, Steps, Stop
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.parser import ParsedQuery

Counter = Callable[[n.TriplePattern, int], int]
"""How many statements fit a triple pattern, counted no further than to a limit; from any revision."""

EXISTS = "exists"
_FEWEST_TO_COMPARE = 50
_MOST_COUNTED = 2000
_EMPTY_EQUAL = "empty geometries equal each other, and the graph has some"


@dataclass(frozen=True)
class AccelerationContext:
    """What a query runs over: the index, the revision and the graph.

    `plain_dataset` means that neither request nor query names graphs.
    """

    state: GeometryState
    revision: int
    count: Counter
    plain_dataset: bool = False
    stop: Stop = UNLIMITED

    @property
    def knows_features(self) -> bool:
        """Whether the one geometry of every feature is known of the revision."""
        features = self.state.features
        return features.settled(self.revision) and not features.odd

    def few(self, triple: n.TriplePattern, most: int) -> bool:
        """Whether no more than so many statements fit a pattern."""
        return self.count(triple, most + 1) <= most


def is_spatial(query: n.Query) -> bool:
    """Whether a query calls a function of geometries."""
    return any(local_name(call) is not None for call in n.calls_in(query))


def accelerated(parsed: ParsedQuery, around: AccelerationContext, report: Report) -> Steps[ParsedQuery]:
    """The query with candidates in it, or as it was."""
    try:
        joined = yield from _with_semijoins(parsed, around, report)
        return parsed.with_query(joined or (yield from Accelerator(parsed, around, report).work()))
    except (GeoError, GEOSException) as error:
        report.leave(FILTER, parsed.text, f"the search in the index failed: {error}")
        return parsed


def _with_semijoins(
    parsed: ParsedQuery, around: AccelerationContext, report: Report
) -> Steps[n.Query | None]:
    """The query with those EXISTS as joins whose geometry is then searched for; None where there is none."""
    single = around.plain_dataset and around.knows_features
    chosen: list[SemiJoin] = []
    left: dict[n.Exists, str] = {}
    for exists, join in SemiJoins(parsed.query, around.few, single=single).found():
        if isinstance(join, str):
            left[exists] = join
        else:
            chosen.append(join)
    while chosen:
        attempt = Report()
        accelerator = Accelerator(parsed.with_query(with_joins(parsed.query, chosen)), around, attempt)
        rewritten = yield from accelerator.work()
        searched = [one for one in chosen if accelerator.plans_within(one.element)]
        if searched == chosen:
            for one in chosen:
                attempt.did(EXISTS, parsed.text_of(one.conjunct), "asked once for all solutions, as a join")
            break
        for one in chosen:
            if one not in searched and (exists := one.exists) not in left:
                left[exists] = "nothing in it is searched for in the index"
        chosen = searched
    else:
        attempt, rewritten = Report(), None
    for exists, reason in left.items():
        attempt.leave(EXISTS, parsed.text_of(exists), f"asked for each solution, since {reason}")
    report.add(attempt)
    return rewritten


class Accelerator:
    """Makes one query faster; `work` returns the new query, or the old one."""

    def __init__(self, parsed: ParsedQuery, around: AccelerationContext, report: Report) -> None:
        self._parsed = parsed
        self._around = around
        self._state = around.state
        self._count = around.count
        self._report = report
        self._names = n.names_in(parsed.query)
        self._sites = FilterSites(parsed, report)
        self._plans: dict[n.Statement, Plan] = {}
        self._dropped = DroppedFilters()
        where = parsed.query.where
        self._scopes = {one.group: one for one in scopes_of(where)} if where is not None else {}

    def work(self) -> Steps[n.Query]:
        """The query with candidates in it."""
        query = self._parsed.query
        if query.where is None:
            return query
        if any(_is_lateral(group) for group in n.groups_in(query.where)):
            self._report.leave(FILTER, "LATERAL", "a query with LATERAL of its own is left alone")
            return query
        self._report_skipped_groups(query.where)
        for scope in self._scopes.values():
            yield from self._plan_group(scope)
        for plan in self._plans.values():
            around = self._scopes[plan.bgp.group]
            if isinstance(around.graph, Variable):
                plan.graph = around.graph
            plan.apart = around.surrounds(plan.bgp) and (plan.graph is None or around.graph_shown)
        filters = self._dropped.filters()
        nearest = yield from with_nearest(
            self._parsed, self._state, self._plans, filters, self._report, self.fresh, self._more_selective
        )
        return nearest or with_plans(query, self._plans, filters)

    def plans_within(self, element: n.Element) -> bool:
        """Whether candidates were found for something in an element, after `work`."""
        groups = set(n.groups_in(element))
        return any(plan.bgp.group in groups for plan in self._plans.values())

    def fresh(self) -> str | None:
        """A new variable's name; None where it would show up in a `SELECT *`."""
        if _has_star(self._parsed.query):
            return None
        number = next(number for number in range(10_000) if f"node{number}" not in self._names)
        self._names.add(f"node{number}")
        return f"node{number}"

    def _report_skipped_groups(self, where: n.Group) -> None:
        for group in n.groups_in(where):
            if group in self._scopes:
                continue
            for filter_ in group.elements:
                if isinstance(filter_, n.Filter) and _mentions_geometry(filter_.expression):
                    self._leave(
                        filter_,
                        "it is in EXISTS or SERVICE, which is evaluated solution by solution",
                    )

    def _plan_group(self, scope: Scope) -> Steps[None]:
        sites = list(self._sites.within(scope))
        singles: dict[n.TriplePattern, VariableCandidates] = {}
        for one in sites:
            if len(one.spatial.operands) != 1:
                continue
            found = find(one.spatial, one.spatial.operands[0], self._state)
            for binding in one.bindings[0]:
                single, earlier = VariableCandidates.of(one, binding, found), singles.get(binding.triple)
                singles[binding.triple] = single if earlier is None else earlier.and_also(single)
        for one in sites:
            if len(one.spatial.operands) == 2:
                yield from self._plan_join(one, singles, scope)
        by_pattern: dict[n.Statement, list[VariableCandidates]] = {}
        for single in singles.values():
            by_pattern.setdefault(single.binding.bgp.first, []).append(single)
        for first, of_pattern in by_pattern.items():
            if first not in self._plans:
                self._plan_single(min(of_pattern, key=lambda single: len(single.places)))

    def _plan_single(self, single: VariableCandidates) -> None:
        places, binding = single.places, single.binding
        # The filter may be in a group further out than the patterns.
        around = self._scopes[binding.bgp.group]
        geometry_path = None
        if self._around.plain_dataset and around.graph is None:
            geometry_path = geometry_path_of(binding)
        # Classes are known of the features in the index, so patterns of them are no rivals.
        known = class_patterns(geometry_path) if geometry_path is not None else ()
        if around.repeated:
            self._leave_single(
                single,
                "it is in an OPTIONAL of a group that is joined to others, which would look through all "
                "candidates with each solution of these",
            )
            return
        rival = self._more_selective(binding, len(places), around.triples_beside, known)
        if rival is not None:
            self._leave_single(single, rival)
            return
        if geometry_path is not None and self._plan_features(single, geometry_path):
            return
        keys = self._state.keys(places.tolist())
        try:
            column = column_for(binding, keys, written_length(keys), fresh=self.fresh())
        except TooMuchText:
            self._leave_single(single, "its candidates would make the query too long")
            return
        rows = dict.fromkeys((column.term(key),) for key in keys)
        self._plans[binding.bgp.first] = Plan(binding.bgp, b.values([column.variable], rows), column.split)
        exact = column.exact(keys, self._state)
        self._did_single(single, f"?{column.variable} from the index", len(rows), exact=exact)

    def _plan_features(self, single: VariableCandidates, geometry_path: GeometryPath) -> bool:
        """Name the candidates as features, where it is known which feature each geometry is of."""
        needed = self._needed(geometry_path.binding.bgp, [one.conjunct for one in single.decided])
        rows = feature_rows(geometry_path, single.places, self._state, self._around.revision, needed)
        if rows is None:
            return False
        bgp = geometry_path.binding.bgp
        self._plans[bgp.first] = Plan(bgp, rows.values, gone=rows.gone)
        names = " and ".join(f"?{name}" for name in rows.variables)
        self._did_single(single, f"{names} from the index", rows.count, exact=True)
        return True

    def _did_single(self, single: VariableCandidates, what: str, candidates: int, *, exact: bool) -> None:
        """Report its filters, and drop those that are decided if the candidates are `exact`."""
        for one in single.sites:
            decided = exact and one in single.decided
            if decided:
                self._dropped.drop(one.filter_, one.conjunct)
            self._did(one, what, candidates, exact=decided)

    def _leave_single(self, single: VariableCandidates, why: str) -> None:
        for one in single.sites:
            self._leave(one.conjunct, why)

    def _needed(self, bgp: BasicPattern, dropped: Sequence[n.Expression]) -> Callable[..., bool]:
        """Whether a variable is used outside some patterns and the dropped filters."""
        star = _has_star(self._parsed.query)
        outside = n.names_in(self._parsed.query, besides={*bgp.statements, *dropped})

        def needed(name: str, besides: Collection[n.TriplePattern]) -> bool:
            inside = (triple for triple in bgp.triples if triple not in besides)
            return star or name in outside or any(name in triple.variables for triple in inside)

        return needed

    def _plan_join(
        self, one: FilterSite, singles: dict[n.TriplePattern, VariableCandidates], scope: Scope
    ) -> Steps[None]:
        left, right = (found[0] for found in one.bindings)
        if left.bgp != right.bgp or not one.own_pattern:
            self._leave(one.conjunct, "its two geometries are not in patterns side by side")
            return
        if self._parsed.query.dataset_clause:
            self._leave(one.conjunct, "joins are not searched for in a query with FROM")
            return
        if left.bgp.first in self._plans:
            self._leave(one.conjunct, "another join of these patterns was searched for already")
            return
        if one.spatial.of_empty and self._state.empty:
            self._leave(one.conjunct, _EMPTY_EQUAL)
            return
        searched = [singles[side.triple] for side in (left, right) if side.triple in singles]
        known = {single.binding.variable: single.places for single in searched}
        context = JoinContext(
            self._state,
            self._around.plain_dataset and scope.graph is None and self._around.knows_features,
            self._needed(left.bgp, [one.conjunct] if one.spatial.exact else []),
            self.fresh,
            self._around.stop,
            scope.graph,
        )
        plan = yield from join_plan(one.spatial, (left, right), known, context)
        if isinstance(plan, str):
            self._leave(one.conjunct, plan)
            return
        self._plans[left.bgp.first] = Plan(left.bgp, plan.values, plan.split, plan.gone, plan.scanned)
        if plan.exact:
            self._dropped.drop(one.filter_, one.conjunct)
        for single in searched:
            names = f"?{single.binding.variable} from the index, for the pairs"
            self._did_single(single, names, len(single.places), exact=plan.by_literal)
        self._did(one, plan.what, plan.rows, exact=plan.exact)

    def _more_selective(
        self,
        binding: Binding,
        candidates: int,
        beside: Sequence[n.TriplePattern] = (),
        known: Collection[n.TriplePattern] = (),
    ) -> str | None:
        """Why the engine is faster without candidates: a pattern that few statements match.

        It may be one of those `beside` the binding's group. Patterns `known` beforehand are not counted.
        """
        if candidates <= _FEWEST_TO_COMPARE:
            return None
        limit = min(candidates // 4, _MOST_COUNTED)
        for triple in (*binding.bgp.triples, *beside):
            fixed = [
                term for term in (triple.subject, triple.object) if isinstance(term, NamedNode | Literal)
            ]
            if triple in known:
                continue
            if fixed and triple is not binding.triple and triple.predicate is not None:
                count = self._count(triple, limit + 1)
                if count <= limit:
                    return (
                        f"{candidates} geometries come into question, and only {count} statements fit "
                        f"another pattern, {triple.predicate} {fixed[0]}, which is tried first"
                    )
        return None

    def _written(self, part: n.Expression | n.Filter) -> str:
        return self._parsed.text_of(part)

    def _leave(self, part: n.Expression | n.Filter, why: str) -> None:
        self._report.leave(FILTER, self._written(part), why)

    def _did(self, one: FilterSite, what: str, candidates: int, *, exact: bool) -> None:
        kept = "the filter is not needed any more" if exact else "the filter stays"
        self._report.did(FILTER, self._written(one.conjunct), f"{what}; {kept}", candidates=candidates)


def _is_lateral(group: n.Group) -> bool:
    return any(isinstance(one, n.Nested) and one.keyword == "LATERAL" for one in group.elements)


def _mentions_geometry(expression: n.Expression) -> bool:
    return any(local_name(part) is not None for part in n.walk_expressions(expression))


def _has_star(query: n.Query) -> bool:
    if query.projection is None:
        return True
    return query.where is not None and any(
        isinstance(element, n.SubSelect) and _has_star(element.query)
        for group in n.groups_in(query.where)
        for element in group.elements
    )
