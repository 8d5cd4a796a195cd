"""The planner that needs no model: every plan that the words and the data allow, the cheapest first."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from sparql.ask.budget import current_budget
from sparql.ask.errors import PlanError, QuestionTooInvolved
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.words import Token
from sparql.ask.plan.nodes import Plan
from sparql.ask.plan.quantities import DistanceTo
from sparql.ask.plan.questions import Exists, List
from sparql.ask.plan.sets import Top
from sparql.ask.plan.typing import Typing
from sparql.ask.planning.chart import parse
from sparql.ask.planning.grammar import (
    answers,
    bounds,
    comparisons,
    counts,
    distances,
    exclusions,
    ranks,
    sets,
    values,
)
from sparql.ask.planning.lexical import lexical_items
from sparql.ask.planning.planner import Candidate, Trace
from sparql.ask.planning.rules import Context, grammar_of
from sparql.ask.planning.use import skipped_words, unused_words

__all__ = ["EnumerationPlanner", "enumerate_plans", "unplanned_words"]

_GRAMMAR = grammar_of(
    *(
        part.RULES
        for part in (sets, exclusions, bounds, distances, counts, comparisons, ranks, values, answers)
    )
)
_KEPT = 8
_SEARCH_S = 0.25
_SKIPPED, _SURE = 0.3, 0.2


class EnumerationPlanner:
    """Plans without a model (a `Planner`)."""

    async def plan(self, linked: LinkedQuestion, context: Context, trace: Trace) -> Sequence[Candidate]:
        """Return the plans that use every word, cheapest first."""
        found = enumerate_plans(linked, context)
        trace.note(
            "Plans are built of what the words may mean and of what the data links.",
            "enumerate",
            "; ".join(f"{one.cost:.2f}: {' '.join(one.plan.sentences())}" for one in found[:3])
            or "No plan uses every word.",
        )
        return found


def enumerate_plans(linked: LinkedQuestion, context: Context) -> Sequence[Candidate]:
    """Return the type-correct plans that use every word of a question, cheapest first.

    Raises `QuestionTooInvolved` when the time of the question is over.
    """
    with current_budget().computing():
        return _enumerate(linked, context)


def _enumerate(linked: LinkedQuestion, context: Context) -> Sequence[Candidate]:
    typing = context.typing
    idle = [token.text in linked.idle for token in linked.tokens]
    items = parse(len(linked.tokens), idle, lexical_items(linked, typing), _GRAMMAR, context)
    found: dict[Plan, float] = {}
    for item in items:
        current_budget().check()
        finished = answers.finish(item.category, item.meaning)
        if finished is None:
            continue
        plan, more = finished
        if linked.lists and isinstance(plan, Exists):
            plan = List(plan.set)
        if _is_single(linked) and isinstance(plan, List) and isinstance(plan.set, Top):
            plan = List(_nearest(plan.set))
        if item.cost + more < found.get(plan, 99.0) and _is_sound(plan, linked, typing):
            found[plan] = item.cost + more + _SKIPPED * skipped_words(plan, linked)
    ranked = sorted((Candidate(plan, cost) for plan, cost in found.items()), key=lambda one: one.cost)
    return ranked[:_KEPT]


def _is_single(linked: LinkedQuestion) -> bool:
    """Whether one thing is asked for: "which is", "which one is"."""
    texts = [token.text for token in linked.tokens if token.text != "one"]
    return texts[:2] in (["which", "is"], ["which", "lies"], ["what", "is"])


def _nearest(node: Top) -> Top:
    """Return the nearest thing alone, where several were assumed to be wanted."""
    several = node.count == ranks.ASSUMED_NEAREST and isinstance(node.quantity, DistanceTo)
    return replace(node, count=1) if several else node


def _is_sound(plan: Plan, linked: LinkedQuestion, typing: Typing) -> bool:
    try:
        plan.check(typing)
    except PlanError:
        return False
    return not unused_words(plan, linked)


def unplanned_words(linked: LinkedQuestion, context: Context) -> list[Token]:
    """Return the words that keep a question from being planned: without them it has a plan.

    Where no single word explains it within the time limit, all words that are not idle.
    """
    if linked.unread:
        return linked.unread
    named = {n for one in linked.names if one.cost < _SURE for n in range(one.start, one.end)}
    content = [t for n, t in enumerate(linked.tokens) if t.text not in linked.idle and n not in named]
    with suppress(QuestionTooInvolved), current_budget().computing(_SEARCH_S):
        for token in sorted(content, key=lambda one: one.raw[:1].isupper()):
            if enumerate_plans(replace(linked, idle=linked.idle | {token.text}), context):
                return [token]
    return content or [token for token in linked.tokens if token.text not in linked.idle]
