"""Runs plans, cheapest first, and chooses the one whose result is the answer."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pyoxigraph import NamedNode

from sparql.ask.answer.closed import is_settled
from sparql.ask.answer.gaps import nodes_of
from sparql.ask.answer.sentence import count_of, rows_of
from sparql.ask.compile.compiler import Compiler, Query
from sparql.ask.linking.summary import RunQuery
from sparql.ask.plan.nodes import Every, Exists, Named, Plan, Term
from sparql.ask.plan.typing import Typing
from sparql.ask.planning.planner import Candidate, Trace
from sparql.ask.planning.rules import Context

__all__ = ["Outcome", "PlanRunner"]

_TRIED: Final = 4
_MUCH_DEARER: Final = 0.6
_AS_CHEAP: Final = 0.02
_NEARLY_AS_CHEAP: Final = 0.06


@dataclass(frozen=True)
class Outcome:
    """A plan that was run, its query and results."""

    plan: Plan
    query: Query
    results: Mapping[str, Any]

    @property
    def found(self) -> Hashable:
        """What identifies the result: the things and values found."""
        if "boolean" in self.results:
            return bool(self.results["boolean"])
        names = (self.query.variable, *self.query.columns)
        return frozenset(tuple(row.get(n, {}).get("value") for n in names) for row in rows_of(self.results))


@dataclass(frozen=True)
class PlanRunner:
    """Compiles plans and runs their queries."""

    compiler: Compiler
    run_query: RunQuery

    async def best(
        self, plans: Sequence[Candidate], typing: Typing, trace: Trace
    ) -> tuple[Outcome, Outcome | None]:
        """Run the best plans: the first with a result, and another that is as good and has another result.

        Behind a plan without a result come only those with the same classes and properties.
        """
        first: Outcome | None = None
        chosen: tuple[Outcome, float] | None = None
        for candidate in plans[:_TRIED]:
            if candidate.cost > plans[0].cost + _MUCH_DEARER:
                break
            if chosen is not None and candidate.cost > chosen[1] + _AS_CHEAP:
                break
            if chosen is None and first is not None and _terms_of(candidate.plan) != _terms_of(first.plan):
                continue
            query = self.compiler.compile(candidate.plan, typing.kind)
            outcome = Outcome(candidate.plan, query, await self.run_query(query.text))
            found = count_of(query, outcome.results)
            trace.note("The compiled query is run.", "query", f"Found: {found}.")
            first = first or outcome
            if chosen is not None and found and outcome.found != chosen[0].found:
                return chosen[0], outcome
            alone = len(plans) < 2 or plans[1].cost > candidate.cost + _NEARLY_AS_CHEAP
            settled = isinstance(candidate.plan, Exists | Every) or (
                candidate is plans[0] and alone and is_settled(candidate.plan, typing)
            )
            if chosen is None and (found or settled):
                chosen = outcome, candidate.cost
        assert first is not None
        return (chosen[0] if chosen else first), None

    async def found(self, plan: Plan, context: Context) -> Hashable:
        """Run a plan and return what identifies its answer."""
        query = self.compiler.compile(plan, context.typing.kind)
        return Outcome(plan, query, await self.run_query(query.text)).found


def _terms_of(plan: Plan) -> frozenset[NamedNode]:
    """The classes and properties of a plan: a reading of the same words in another order has the same."""
    terms = [part for node in nodes_of(plan) if not isinstance(node, Named) for part in vars(node).values()]
    links = [part for one in terms if isinstance(one, tuple) for part in one]
    return frozenset(term.iri for term in (*terms, *links) if isinstance(term, Term))
