"""Spatial filters, joins and nearest-k over the index of geometries: the same answer, found sooner.

Each filter is looked at where it stands; the triple pattern that gives its variable a geometry literal gets
candidates put in front (`sparql.rewriting.spatial.runs`). What is not understood, or would not pay, is left
alone and the report says why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy
from pyoxigraph import Literal, NamedNode, Variable
from shapely import GEOSException

from geo.errors import GeoError
from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.parser import ParsedQuery
from sparql.rewriting.index.features import Places
from sparql.rewriting.index.geometry_state import GeometryState
from sparql.rewriting.meaning.probes import Steps
from sparql.rewriting.report import FILTER, Report
from sparql.rewriting.spatial.by_feature import class_patterns, feature_rows
from sparql.rewriting.spatial.candidates import Found, TooMuchText, column_for, find
from sparql.rewriting.spatial.dropped import DroppedFilters
from sparql.rewriting.spatial.filter_sites import Sought, SoughtFilters
from sparql.rewriting.spatial.geometry_paths import Anchor, anchor_of
from sparql.rewriting.spatial.joins import join_plan
from sparql.rewriting.spatial.nearest import with_nearest
from sparql.rewriting.spatial.related import KEPT, RelatedPlan, related_plan
from sparql.rewriting.spatial.runs import Binding, Plan, Run, with_plans
from sparql.rewriting.spatial.scopes import Opening, openings_of
from sparql.rewriting.spatial.semijoins import SemiJoin, SemiJoins, with_joins
from sparql.rewriting.spatial.spatial_filters import local_name

Counter = Callable[[n.TriplePattern, int], int]
"""How many statements fit a triple pattern, counted no further than to a limit; from any revision."""

EXISTS = "exists"
_FEWEST_TO_COMPARE = 50
_MOST_COUNTED = 2000
_EMPTY_EQUAL = "empty geometries equal each other, and the graph has some"


@dataclass(frozen=True)
class _Single:
    """The candidates of filters of one variable for one run; those `decided` are true of each."""

    sought: tuple[Sought, ...]
    binding: Binding
    places: Places
    decided: tuple[Sought, ...]

    @classmethod
    def of(cls, sought: Sought, binding: Binding, found: Found) -> _Single:
        """Of one filter."""
        decided = (sought,) if found.exact and sought.own_run else ()
        return cls((sought,), binding, found.places, decided)

    def and_also(self, other: _Single) -> _Single:
        """With those of another filter of the same variable."""
        places = numpy.intersect1d(self.places, other.places, assume_unique=True)
        sought, decided = (*self.sought, *other.sought), (*self.decided, *other.decided)
        return _Single(sought, self.binding, places, decided)


@dataclass(frozen=True)
class Surroundings:
    """What a query meets: the index and the revision that it is asked of, and the graph.

    `plain_dataset` tells that neither request nor query names graphs, `exact_relations` that a kept relation
    says just what a function would.
    """

    state: GeometryState
    revision: int
    count: Counter
    plain_dataset: bool = False
    exact_relations: bool = False

    def few(self, triple: n.TriplePattern, most: int) -> bool:
        """Whether no more than so many statements fit a pattern."""
        return self.count(triple, most + 1) <= most


def is_spatial(query: n.Query) -> bool:
    """Whether a query calls a function of geometries."""
    return any(local_name(call) is not None for call in n.calls_in(query))


def accelerated(parsed: ParsedQuery, around: Surroundings, report: Report) -> Steps[ParsedQuery]:
    """The query with candidates in it, or as it was."""
    try:
        joined = yield from _with_semijoins(parsed, around, report)
        return parsed.with_query(joined or (yield from Accelerator(parsed, around, report).work()))
    except (GeoError, GEOSException) as error:
        report.leave(FILTER, parsed.text, f"the search in the index failed: {error}")
        return parsed


def _with_semijoins(parsed: ParsedQuery, around: Surroundings, report: Report) -> Steps[n.Query | None]:
    """The query with those EXISTS as joins whose geometry is then searched for; None where there is none."""
    features = around.state.features
    single = around.plain_dataset and features.settled(around.revision) and not features.odd
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

    def __init__(self, parsed: ParsedQuery, around: Surroundings, report: Report) -> None:
        self._parsed = parsed
        self._around = around
        self._state = around.state
        self._count = around.count
        self._report = report
        self._names = n.names_in(parsed.query)
        self._sought = SoughtFilters(parsed, report)
        self._plans: dict[n.Statement, Plan] = {}
        self._dropped = DroppedFilters()
        where = parsed.query.where
        self._openings = {one.group: one for one in openings_of(where)} if where is not None else {}

    def work(self) -> Steps[n.Query]:
        """The query with candidates in it."""
        query = self._parsed.query
        if query.where is None:
            return query
        if any(_is_lateral(group) for group in n.groups_in(query.where)):
            self._report.leave(FILTER, "LATERAL", "a query with LATERAL of its own is left alone")
            return query
        self._tell_of_left_groups(query.where)
        for opening in self._openings.values():
            yield from self._plan_group(opening)
        for plan in self._plans.values():
            around = self._openings[plan.run.group]
            if isinstance(around.graph, Variable):
                plan.graph = around.graph
            plan.apart = around.surrounds(plan.run) and (plan.graph is None or around.graph_shown)
        filters = self._dropped.filters()
        nearest = yield from with_nearest(
            self._parsed, self._state, self._plans, filters, self._report, self.fresh, self._more_selective
        )
        return nearest or with_plans(query, self._plans, filters)

    def plans_within(self, element: n.Element) -> bool:
        """Whether candidates were found for something in an element, after `work`."""
        groups = set(n.groups_in(element))
        return any(plan.run.group in groups for plan in self._plans.values())

    def fresh(self) -> str | None:
        """A new variable's name; None where it would show up in a `SELECT *`."""
        if _has_star(self._parsed.query):
            return None
        number = next(number for number in range(10_000) if f"node{number}" not in self._names)
        self._names.add(f"node{number}")
        return f"node{number}"

    def _tell_of_left_groups(self, where: n.Group) -> None:
        for group in n.groups_in(where):
            if group in self._openings:
                continue
            for filter_ in group.elements:
                if isinstance(filter_, n.Filter) and _mentions_geometry(filter_.expression):
                    self._leave(
                        filter_,
                        "it stands in EXISTS or SERVICE, which is asked solution by solution",
                    )

    def _plan_group(self, opening: Opening) -> Steps[None]:
        sought = list(self._sought.within(opening))
        singles: dict[n.TriplePattern, _Single] = {}
        for one in sought:
            if len(one.spatial.operands) != 1:
                continue
            found = find(one.spatial, one.spatial.operands[0], self._state)
            for binding in one.bindings[0]:
                single, earlier = _Single.of(one, binding, found), singles.get(binding.triple)
                singles[binding.triple] = single if earlier is None else earlier.and_also(single)
        for one in sought:
            if len(one.spatial.operands) == 2:
                yield from self._plan_join(one, singles, opening)
        by_run: dict[n.Statement, list[_Single]] = {}
        for single in singles.values():
            by_run.setdefault(single.binding.run.first, []).append(single)
        for first, of_run in by_run.items():
            if first not in self._plans:
                self._plan_single(min(of_run, key=lambda single: len(single.places)))

    def _plan_single(self, single: _Single) -> None:
        places, binding = single.places, single.binding
        # The filter may stand further out than the patterns.
        around = self._openings[binding.run.group]
        anchor = None
        if self._around.plain_dataset and around.graph is None:
            anchor = anchor_of(binding)
        # Classes are known of the features in the index, so patterns of them are no rivals.
        known = class_patterns(anchor) if anchor is not None else ()
        if around.repeated:
            self._leave_single(
                single,
                "it stands in an OPTIONAL of a group that is joined to others, which would look through all "
                "candidates with each solution of these",
            )
            return
        rival = self._more_selective(binding, len(places), around.triples_beside, known)
        if rival is not None:
            self._leave_single(single, rival)
            return
        if anchor is not None and self._plan_features(single, anchor):
            return
        keys = self._state.keys(places.tolist())
        try:
            column = column_for(binding, keys, repeated=0, fresh=self.fresh())
        except TooMuchText:
            self._leave_single(single, "its candidates would make the query too long")
            return
        rows = dict.fromkeys((column.term(key),) for key in keys)
        self._plans[binding.run.first] = Plan(binding.run, b.values([column.variable], rows), column.split)
        exact = column.exact(keys, self._state)
        self._did_single(single, f"?{column.variable} from the index", len(rows), exact=exact)

    def _plan_features(self, single: _Single, anchor: Anchor) -> bool:
        """Name the candidates as features, where it is known which feature each geometry is of."""
        needed = self._needed(anchor.binding.run, [one.conjunct for one in single.decided])
        rows = feature_rows(anchor, single.places, self._state, self._around.revision, needed)
        if rows is None:
            return False
        run = anchor.binding.run
        self._plans[run.first] = Plan(run, rows.values, gone=rows.gone)
        names = " and ".join(f"?{name}" for name in rows.variables)
        self._did_single(single, f"{names} from the index", rows.count, exact=True)
        return True

    def _did_single(self, single: _Single, what: str, candidates: int, *, exact: bool) -> None:
        """Tell of its filters, and leave those out that are decided if the candidates are `exact`."""
        for one in single.sought:
            decided = exact and one in single.decided
            if decided:
                self._dropped.drop(one.filter_, one.conjunct)
            self._did(one, what, candidates, exact=decided)

    def _leave_single(self, single: _Single, why: str) -> None:
        for one in single.sought:
            self._leave(one.conjunct, why)

    def _needed(self, run: Run, dropped: Sequence[n.Expression]) -> Callable[..., bool]:
        """Whether a variable is used anywhere but in given patterns of a run and in filters that go."""
        star = _has_star(self._parsed.query)
        outside = n.names_in(self._parsed.query, besides={*run.statements, *dropped})

        def needed(name: str, besides: Collection[n.TriplePattern]) -> bool:
            inside = (triple for triple in run.triples if triple not in besides)
            return star or name in outside or any(name in triple.variables for triple in inside)

        return needed

    def _related(self, one: Sought, bindings: tuple[Binding, Binding]) -> RelatedPlan | str:
        """The join from the kept relations, or why not."""
        spatial, features = one.spatial, self._state.features
        if spatial.function not in KEPT or not all(side.plain for side in spatial.operands):
            return "it asks for more than a topological relation between its variables"
        if not self._around.exact_relations:
            return "the kept relations are not known to be exact"
        groups = n.groups_in(self._parsed.query.where) if self._parsed.query.where else ()
        keywords = {e.keyword for group in groups for e in group.elements if isinstance(e, n.Nested)}
        if not self._around.plain_dataset or "GRAPH" in keywords:
            return "the kept relations are those of the default graph"
        if not features.settled(self._around.revision):
            return "a change of geometry is under way"
        if features.odd:
            return f"{len(features.odd)} features have several geometries, or share one"
        anchors = tuple(map(anchor_of, bindings))
        if anchors[0] is None or anchors[1] is None:
            return "its patterns do not lead straight from features to their geometry"
        needed = self._needed(bindings[0].run, [one.conjunct] if KEPT[spatial.function].exact else [])
        both = (anchors[0], anchors[1])
        return related_plan(
            spatial.function, one.conjunct, both, features, needed, self._has_few_solutions, self.fresh
        )

    def _has_few_solutions(self, triples: Sequence[n.TriplePattern]) -> bool:
        return any(
            triple.predicate is not None and self._count(triple, _MOST_COUNTED + 1) <= _MOST_COUNTED
            for triple in triples
            if isinstance(triple.subject, NamedNode) or isinstance(triple.object, NamedNode | Literal)
        )

    def _plan_join(
        self, one: Sought, singles: dict[n.TriplePattern, _Single], opening: Opening
    ) -> Steps[None]:
        left, right = (found[0] for found in one.bindings)
        if left.run != right.run or not one.own_run:
            self._leave(one.conjunct, "its two geometries do not stand in patterns side by side")
            return
        if self._parsed.query.dataset_clause:
            self._leave(one.conjunct, "joins are not searched for in a query with FROM")
            return
        if left.run.first in self._plans:
            self._leave(one.conjunct, "another join of these patterns was searched for already")
            return
        if one.spatial.of_empty and self._state.empty:
            self._leave(one.conjunct, _EMPTY_EQUAL)
            return
        searched = [singles[side.triple] for side in (left, right) if side.triple in singles]
        related = "another filter is searched for" if searched else self._related(one, (left, right))
        if isinstance(related, RelatedPlan):
            self._plans[left.run.first] = Plan(left.run, pattern=related.pattern)
            if related.exact:
                self._dropped.drop(one.filter_, one.conjunct)
            kept = "the filter is not needed any more" if related.exact else "the filter stays"
            self._report.did(FILTER, self._written(one.conjunct), f"{related.what}; {kept}")
            return
        known = {single.binding.variable: single.places for single in searched}
        plan = yield from join_plan(one.spatial, (left, right), known, self._state, self.fresh, opening.graph)
        if isinstance(plan, str):
            self._leave(one.conjunct, f"not from the kept relations, since {related}; {plan}")
            return
        self._plans[left.run.first] = Plan(left.run, plan.values, plan.split)
        if plan.exact:
            self._dropped.drop(one.filter_, one.conjunct)
        for single in searched:
            names = f"?{single.binding.variable} from the index, for the pairs"
            self._did_single(single, names, len(single.places), exact=plan.by_literal)
        what = f"{plan.what} (not from the kept relations, since {related})"
        self._did(one, what, plan.rows, exact=plan.exact)

    def _more_selective(
        self,
        binding: Binding,
        candidates: int,
        beside: Sequence[n.TriplePattern] = (),
        known: Collection[n.TriplePattern] = (),
    ) -> str | None:
        """Why the engine does better without candidates: a pattern that few statements fit.

        It may be one of those `beside` the binding's group. Patterns `known` beforehand are not counted.
        """
        if candidates <= _FEWEST_TO_COMPARE:
            return None
        limit = min(candidates // 4, _MOST_COUNTED)
        for triple in (*binding.run.triples, *beside):
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

    def _did(self, one: Sought, what: str, candidates: int, *, exact: bool) -> None:
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
