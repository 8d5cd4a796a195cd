"""The planner that needs no model: a chart parser builds every plan that the words and the data allow.

The chart has the cheapest items of every span, built from the items of its parts. Idle words are passed over:
an item that ends before one also ends behind it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Final, Protocol

from sparql.ask import penalties
from sparql.ask.budget import current_budget
from sparql.ask.errors import PlanError, QuestionTooInvolved
from sparql.ask.grammar import (
    answers,
    bounds,
    comparisons,
    ranks,
    sets,
    values,
)
from sparql.ask.grammar.items import Category, Context, Grammar, Head, Item, Noun, Ranking, grammar_of
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import (
    Adjective,
    ClassName,
    Comparator,
    DateValue,
    Derived,
    EntityName,
    HowMuch,
    Measure,
    More,
    Near,
    Neighbor,
    Number,
    On,
    Ordinal,
    PropertyName,
    Question,
    Reading,
    Superlative,
    TextValue,
    UnitName,
    Word,
)
from sparql.ask.linking.words import Token
from sparql.ask.plan.nodes import Plan
from sparql.ask.plan.quantities import DistanceTo, ValueOf
from sparql.ask.plan.questions import Exists, List
from sparql.ask.plan.sets import Compare, Kind, Named, PropertyLink, Related, Top
from sparql.ask.plan.terms import Aggregate, Op, Place, Side
from sparql.ask.plan.typing import Typing
from sparql.ask.use import skipped_words, unused_words


@dataclass
class Trace:
    """The steps that led to an answer, in order; `watch` is called with each as it is made."""

    steps: list[dict[str, str]] = field(default_factory=list)
    watch: Callable[[dict[str, str]], None] | None = None

    def note(self, thought: str, action: str, observation: str) -> None:
        self.steps.append({"thought": thought, "action": action, "observation": observation})
        if self.watch is not None:
            self.watch(self.steps[-1])


@dataclass(frozen=True)
class Candidate:
    """A plan and what it costs to believe that it is meant."""

    plan: Plan
    cost: float


class Planner(Protocol):
    """Makes plans of a linked question. What it returns fits the types and uses every word."""

    async def plan(self, linked: LinkedQuestion, context: Context, trace: Trace) -> Sequence[Candidate]:
        """Return plans, the most believable first; none where the question cannot be planned."""


_CATEGORIES = {
    PropertyName: Category.PROPERTY,
    Place: Category.PLACE,
    Side: Category.SIDE,
    Near: Category.NEAR,
    Neighbor: Category.NEIGHBOR,
    On: Category.ON,
    Comparator: Category.COMPARATOR,
    Number: Category.VALUE,
    DateValue: Category.VALUE,
    Ordinal: Category.ORDINAL,
    Measure: Category.MEASURE,
    More: Category.MORE,
    Derived: Category.DERIVED,
    HowMuch: Category.HOW,
    Adjective: Category.ADJECTIVE,
    Aggregate: Category.AGGREGATE,
    UnitName: Category.UNIT,
    Word: Category.WORD,
    Question: Category.QUESTION,
}


def lexical_items(linked: LinkedQuestion, typing: Typing) -> Iterator[tuple[int, int, Item]]:
    """Yield the items of all readings, with their spans."""
    for reading in linked.readings:
        for item in _items(reading, linked, typing):
            yield reading.start, reading.end, item


def _items(reading: Reading, linked: LinkedQuestion, typing: Typing) -> Iterator[Item]:
    meaning, cost = reading.meaning, reading.cost
    match meaning:
        case EntityName(term, classes):
            yield Item(Category.NOUN, Noun(Named(term), classes or None, Head.NAME), cost)
            yield from _things_of(meaning, cost, linked.tokens[reading.end - 1].text, typing)
        case ClassName(term):
            plural = linked.tokens[reading.end - 1].text.endswith("s")
            node = Kind(term)
            yield Item(Category.NOUN, Noun(node, typing.of(node), Head.KIND, plural=plural), cost)
        case TextValue(term, value):
            stated = Compare(ValueOf((term,)), Op.EQUAL, value)
            types = stated.quantity.types(typing)
            yield Item(Category.NOUN, Noun(stated, types, Head.RESTRICTION), cost)
        case Superlative() if reading.start and linked.tokens[reading.start - 1].text == "at":
            return
        case Superlative():
            yield Item(Category.RANK, Ranking(meaning.most, superlative=meaning), cost)
        case Question.LIST if not linked.opens(reading):
            return
        case PropertyName():
            after = linked.tokens[reading.end].text if reading.end < len(linked.tokens) else ""
            before = linked.tokens[reading.start - 1].text if reading.start else ""
            noun = meaning.active or after == "of" or before in ("the", "a", "an", "their", "its", "s")
            yield Item(Category.PROPERTY, (meaning, noun), cost)
        case UnitName(asked=True):
            yield Item(Category.MANY_UNITS, meaning, cost)
        case Comparator(behind=True):
            yield Item(Category.BEHIND, meaning, cost)
        case _:
            yield Item(_CATEGORIES[type(meaning)], meaning, cost)


def _things_of(name: EntityName, cost: float, last: str, typing: Typing) -> Iterator[Item]:
    """A category stands for its things: "the cheapest oscillator" is one of the category Oscillator."""
    if not name.classes or name.classes & typing.located:
        return
    for term, share in typing.categorizing(name.classes):
        node = Related(PropertyLink(term), Named(name.term))
        yield Item(
            Category.NOUN,
            Noun(node, typing.of(node), Head.KIND, plural=last.endswith("s")),
            cost + penalties.CATEGORY_FOR_THINGS + share,
        )


MOST_WORDS: Final = 40
"""Of a longer question nothing is planned: the work grows with the third power of the words."""
_BEAM: Final = 6


class _Cell:
    """The items of one span: the cheapest few of each category."""

    __slots__ = ("by_category",)

    def __init__(self) -> None:
        self.by_category: dict[Category, dict[object, Item]] = defaultdict(dict)

    def add(self, item: Item) -> None:
        items = self.by_category[item.category]
        known = items.get(item.meaning)
        if known is not None and known.cost <= item.cost:
            return
        items[item.meaning] = item
        if len(items) > 3 * _BEAM:
            self._prune(item.category)

    def _prune(self, category: Category) -> None:
        kept = sorted(self.by_category[category].values(), key=lambda item: item.cost)[:_BEAM]
        self.by_category[category] = {item.meaning: item for item in kept}

    def close(self) -> _Closed:
        """Return the items by category, when the cell is complete."""
        for category in self.by_category:
            self._prune(category)
        return {category: list(items.values()) for category, items in self.by_category.items()}


_Closed = dict[Category, list[Item]]


def parse(
    size: int,
    idle: Sequence[bool],
    lexical: Iterable[tuple[int, int, Item]],
    grammar: Grammar,
    context: Context,
) -> list[Item]:
    """Return the items of the whole question, cheapest first; `idle[n]`: the n-th word may be passed over.

    Raises `QuestionTooInvolved` when the time of the question is over.
    """
    if not 0 < size <= MOST_WORDS:
        return []
    budget = current_budget()
    cells: dict[tuple[int, int], _Cell] = defaultdict(_Cell)
    first = next((n for n in range(size) if not idle[n]), 0)
    for start, end, item in lexical:
        budget.tick()
        for begin in _begins(start, first):
            for finish in _ends(end, size, idle):
                cells[begin, finish].add(item)
    closed: dict[tuple[int, int], _Closed] = {}
    for width in range(1, size + 1):
        for start in range(size - width + 1):
            end = start + width
            for middle in range(start + 1, end):
                left, right = closed.get((start, middle)), closed.get((middle, end))
                if left and right:
                    for made in _combined(left, right, grammar, context):
                        budget.tick()
                        cells[start, end].add(made)
                budget.tick()
            if (start, end) in cells:
                closed[start, end] = cells[start, end].close()
    whole = closed.get((0, size), {})
    return sorted((item for items in whole.values() for item in items), key=lambda item: item.cost)


def _combined(left: _Closed, right: _Closed, grammar: Grammar, context: Context) -> Iterator[Item]:
    for category, items in left.items():
        found = [
            (rules, others) for other, others in right.items() if (rules := grammar.get((category, other)))
        ]
        for item in items if found else ():
            for rules, others in found:
                for other in others:
                    for rule in rules:
                        for made, meaning, cost in rule(context, item.meaning, other.meaning):
                            yield Item(made, meaning, item.cost + other.cost + cost)


def _begins(start: int, first: int) -> Iterator[int]:
    yield start
    if start <= first and start > 0:
        yield 0


def _ends(end: int, size: int, idle: Sequence[bool]) -> Iterator[int]:
    yield end
    while end < size and idle[end]:
        end += 1
        yield end


_GRAMMAR = grammar_of(*(part.RULES for part in (sets, bounds, comparisons, ranks, values, answers)))
_KEPT = 8
_SEARCH_S = 0.25
_SURE = 0.2


class EnumerationPlanner:
    """Plans without a model (a `Planner`)."""

    async def plan(self, linked: LinkedQuestion, context: Context, trace: Trace) -> Sequence[Candidate]:
        """Return the plans that use every word, cheapest first."""
        found = enumerate_plans(linked, context)
        trace.note(
            "Plans are built of what the words may mean and of what the data links.",
            "enumerate",
            "; ".join(f"{best.cost:.2f}: {' '.join(best.plan.sentences())}" for best in found[:3])
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
            found[plan] = item.cost + more + penalties.SKIPPED_WORD * skipped_words(plan, linked)
    candidates = [Candidate(plan, cost) for plan, cost in found.items()]
    ranked = sorted(candidates, key=lambda candidate: candidate.cost)
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
    named = {n for reading in linked.names if reading.cost < _SURE for n in range(reading.start, reading.end)}
    content = [t for n, t in enumerate(linked.tokens) if t.text not in linked.idle and n not in named]
    with suppress(QuestionTooInvolved), current_budget().computing(_SEARCH_S):
        for token in sorted(content, key=lambda word: word.raw[:1].isupper()):
            if enumerate_plans(replace(linked, idle=linked.idle | {token.text}), context):
                return [token]
    return content or [token for token in linked.tokens if token.text not in linked.idle]
