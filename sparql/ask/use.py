"""Checks that a plan uses every word of the question, whichever planner made it.

A word is used when it is idle, or when one of its readings is found in the plan: the entity, class, property,
value or number, or the construction that a function word stands for. Otherwise the plan answers another
question.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import isclose
from typing import Any, Final

from pyoxigraph import Literal, NamedNode

from geo.measure.units import UNITS
from sparql.ask.linking.linker import LinkedQuestion
from sparql.ask.linking.readings import (
    Adjective,
    ClassName,
    Comparator,
    DateValue,
    Derived,
    EntityName,
    HowMuch,
    Meaning,
    Measure,
    More,
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
from sparql.ask.linking.readings import Near as NearWord
from sparql.ask.linking.words import BEFORE, Token
from sparql.ask.plan.nodes import Node, Plan, Quantity, parts_of
from sparql.ask.plan.quantities import (
    Arithmetic,
    CountOf,
    DistanceTo,
    EarliestOf,
    Position,
    SizeOf,
    ValueOf,
)
from sparql.ask.plan.questions import (
    Aggregation,
    Count,
    Difference,
    Every,
    Exists,
    Group,
    List,
    Table,
    Values,
)
from sparql.ask.plan.sets import (
    And,
    Compare,
    CompareTo,
    Lacking,
    Minus,
    Near,
    Or,
    PlaceLink,
    PropertyLink,
    Related,
    SideOf,
    Top,
)
from sparql.ask.plan.terms import Aggregate, Op, Place, Side, Term

_SURE: Final = 0.3
_CONSTRUCTIONS: Final[Mapping[Question | Word, tuple[type[Node], ...]]] = {
    Question.HOW_MANY: (Count, Group, Values, Difference),
    Question.HOW_MANY_YEARS: (Difference,),
    Question.HOW_MANY_TIMES: (Difference,),
    Question.WHERE: (Related,),
    Question.WHEN: (Values,),
    Question.HOW_FAR: (DistanceTo,),
    **dict.fromkeys((Question.HOW_MUCH, Question.HOW_LONG, Question.HOW), (Values, Difference, Aggregation)),
    **dict.fromkeys(
        (Question.YES_NO, Question.IS, Question.THERE),
        (Exists, Every, List, Count, Values, Group, Aggregation, Difference),
    ),
    Word.OUTSIDE: (Minus,),
    Word.DATE: (ValueOf, EarliestOf),
    Word.DIFFERENCE: (Difference,),
    Word.OTHERS: (Top,),
    Word.SAME: (CompareTo,),
    Word.NOT: (Minus, Lacking),
    Word.EXCEPT: (Minus,),
    Word.WITHOUT: (Minus, Lacking),
    Word.OR: (Or,),
    Word.PER: (Group, Every, Values, Table),
    Word.THAN_TO: (Arithmetic,),
    Word.THAN: (Compare, CompareTo, Difference),
    Word.BETWEEN: (DistanceTo, Difference, Or),
    Word.AND: (And, Or, DistanceTo, Minus, Difference),
}
"""The nodes of which a plan needs one for a function word; words without an entry need none."""
_SEVERAL: Final[Mapping[Question | Word, type[Node]]] = {
    Word.SAME: Related,
    Word.BETWEEN: Compare,
    Word.AND: Compare,
}
"""The nodes of which several do as well."""


def unused_words(plan: Plan, linked: LinkedQuestion) -> list[Token]:
    """Return the words of a question that a plan does not use, in order."""
    facts = _Facts(tuple(parts_of(plan)))
    used: set[int] = set()
    for reading in linked.readings:
        if facts.support(reading, linked):
            used.update(range(reading.start, reading.end))
    if linked.tokens[0].text in ("who", "whom") and isinstance(plan, Values | Aggregation):
        return [linked.tokens[0]]
    if linked.asks_whether and not (facts.has(Exists, Every) or _is_choice(plan)):
        return [linked.tokens[0]]
    missed = _other_things(plan, linked)
    if missed:
        return missed
    return [t for n, t in enumerate(linked.tokens) if n not in used and t.text not in linked.idle]


def _is_choice(plan: Plan) -> bool:
    """Whether a plan chooses of several named things: "Is X or Y older?" is answered by one of them."""
    return isinstance(plan, List) and isinstance(plan.set, Top) and isinstance(plan.set.set, Or)


def _other_things(plan: Plan, linked: LinkedQuestion) -> list[Token]:
    """Return the words of "which museums", where a plan lists things of another kind."""
    if isinstance(plan, Count):
        asking = [r for r in linked.readings if r.meaning is Question.HOW_MANY]
    elif isinstance(plan, List | Values):
        opening = 1 if linked.tokens[0].text in BEFORE else 0
        wanted = (Question.WHICH, Question.IN_WHICH)
        # Later in the question, "which" before a kind asks as well: "where is it, which borough?"
        kinds = {reading.start for reading in linked.readings if isinstance(reading.meaning, ClassName)}
        asking = [
            r for r in linked.readings if r.meaning in wanted and (r.start <= opening or r.end in kinds)
        ]
    else:
        return []
    start = max((reading.end for reading in asking), default=0)
    there = [reading for reading in linked.readings if reading.start == start]
    named = [reading for reading in there if reading.cost <= min(other.cost for other in there)]
    classes = {reading.meaning.term.iri for reading in named if isinstance(reading.meaning, ClassName)}
    if not start or not classes or not all(isinstance(reading.meaning, ClassName) for reading in named):
        return []
    heads = set(plan.set.heads())
    return [] if not heads or (heads & classes and None not in heads) else [linked.tokens[start]]


def skipped_words(plan: Plan, linked: LinkedQuestion) -> int:
    """Return how many idle words name something that the plan does not use: "the name of"."""
    facts = _Facts(tuple(parts_of(plan)))
    named: set[int] = set()
    used: set[int] = set()
    for reading in linked.readings:
        span = [n for n in range(reading.start, reading.end) if linked.tokens[n].text in linked.idle]
        if span and facts.support(reading, linked):
            used.update(span)
        elif isinstance(reading.meaning, PropertyName | ClassName | EntityName) and reading.cost <= _SURE:
            named.update(span)
    return len(named - used)


@dataclass(frozen=True)
class _Facts:
    parts: tuple[Any, ...]

    def has(self, *kinds: type) -> bool:
        return any(isinstance(part, kinds) for part in self.parts)

    def support(self, reading: Reading, linked: LinkedQuestion) -> bool:
        """Whether a reading is found in the plan."""
        meaning = reading.meaning
        match meaning:
            case EntityName(term) | ClassName(term) | PropertyName(term):
                return self._names(term.iri)
            case TextValue(_, value):
                return any(isinstance(part, Compare) and part.value == value for part in self.parts)
            case Number() | DateValue() | Ordinal():
                return self._value(meaning, linked)
            case Question() | Word():
                return self._function_word(meaning, first=linked.opens(reading))
            case _:
                return self._construction(meaning, linked.words(reading))

    def _names(self, iri: NamedNode) -> bool:
        return any(isinstance(part, Term) and part.iri == iri for part in self.parts)

    def _value(self, meaning: Number | DateValue | Ordinal, linked: LinkedQuestion) -> bool:
        if isinstance(meaning, Ordinal):
            return any(isinstance(part, Top) and part.first == meaning.number for part in self.parts)
        if isinstance(meaning, DateValue):
            wanted = {meaning.value.value, meaning.last.value if meaning.last else meaning.value.value}
            return any(isinstance(part, Literal) and part.value in wanted for part in self.parts)
        # In "between 1 and 2 km" the unit is that of both.
        others = [reading.meaning for reading in linked.readings if isinstance(reading.meaning, Number)]
        units = {meaning.unit} if meaning.unit else {other.unit for other in others}
        factors = [1.0, *(float(UNITS[unit].factor) for unit in units if unit in UNITS)]
        wanted_numbers = [float(meaning.value) * factor for factor in factors]
        numbers = [float(n) for n in map(_number, self.parts) if n is not None]
        return any(isclose(a, b, rel_tol=0.02) for a in wanted_numbers for b in numbers)

    def _function_word(self, meaning: Question | Word, *, first: bool) -> bool:
        """Whether the plan has the construction that a function word stands for."""
        if meaning is Question.LIST:
            return first
        if meaning is Word.ALL:
            return not self.has(Exists)
        if meaning is Word.BOTH:
            return self.has(And) and not self.has(Or)
        if meaning is Word.NOT and Place.DISJOINT in self.parts:
            return True
        several = _SEVERAL.get(meaning)
        if several is not None and sum(isinstance(part, several) for part in self.parts) > 1:
            return True
        return meaning not in _CONSTRUCTIONS or self.has(*_CONSTRUCTIONS[meaning])

    def _is_preposition(self, words: str) -> bool:
        """Whether "in" may be that of a property: "expertise in", "in France" as a text."""
        return words.lower() == "in" and self.has(PropertyLink, ValueOf)

    def _construction(self, meaning: Meaning, words: str) -> bool:
        match meaning:
            case Place():
                if meaning is Place.WITHIN and (self.has(Near, Group) or self._is_preposition(words)):
                    return True
                links = {part.place for part in self.parts if isinstance(part, PlaceLink)}
                return bool(links & {meaning, meaning.inverse})
            case Side():
                return any(isinstance(part, SideOf) and part.side is meaning for part in self.parts)
            case UnitName(unit):
                return any(isinstance(p, Quantity) and p.answer_unit == unit for p in self.parts)
            case Neighbor():
                return PlaceLink(Place.TOUCHES) in self.parts
            case On():
                return PlaceLink(Place.WITHIN) in self.parts
            case NearWord():
                return any(isinstance(part, Near) for part in self.parts)
            case Comparator(op):
                if meaning.distant and not self.has(DistanceTo):
                    return False
                ranks = meaning.distant or meaning.adjective is not None or meaning.dated
                return self._compares(op, ranks=ranks)
            case More(op):
                return any(isinstance(p, CountOf) for p in self.parts) and self._compares(op, ranks=True)
            case Superlative(most, side=Side() as side):
                return any(isinstance(p, Position) and p.side is side for p in self.parts)
            case Superlative(dated=True, most=False) if self.has(Values):
                return self.has(ValueOf, EarliestOf)
            case Superlative(most):
                if meaning.adjective is None and any(isinstance(p, Top) and p.count > 1 for p in self.parts):
                    return True
                return any(isinstance(p, Top) and p.most is most for p in self.parts) or self.has(Aggregation)
            case Measure(size):
                sizes = {part.measures for part in self.parts if isinstance(part, Quantity)}
                return size in sizes if size is not None else self.has(DistanceTo)
            case Derived():
                return self.has(Arithmetic)
            case HowMuch() | Adjective():
                return self.has(ValueOf, SizeOf, EarliestOf)
            case Aggregate.SUM if self.has(Count):
                return True
            case Aggregate():
                return any(isinstance(p, Aggregation | Group) and p.aggregate is meaning for p in self.parts)
        return False

    def _compares(self, op: Op, *, ranks: bool) -> bool:
        ops = {part.test for part in self.parts if isinstance(part, Compare | CompareTo)}
        if op in ops or (op is Op.EQUAL and Op.AT_LEAST in ops):
            return True
        if op in (Op.LESS, Op.AT_MOST) and self.has(Near):
            return True
        return ranks and (
            self.has(Difference) or any(isinstance(p, Top) and isinstance(p.set, Or) for p in self.parts)
        )


def _number(part: Any) -> Decimal | None:
    if isinstance(part, bool):
        return None
    if isinstance(part, int):
        return Decimal(part)
    if isinstance(part, Literal):
        try:
            return Decimal(part.value)
        except InvalidOperation:
            return None
    return None
