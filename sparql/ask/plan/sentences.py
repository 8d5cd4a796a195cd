"""Plans as numbered sentences for a reader."""

from __future__ import annotations

from sparql.ask.plan.nodes import (
    Aggregation,
    And,
    Count,
    Difference,
    EarliestOf,
    Every,
    Exists,
    Group,
    Kind,
    Lacking,
    Link,
    List,
    Minus,
    Named,
    Node,
    Operation,
    Or,
    PlaceLink,
    Plan,
    Set,
    Table,
    Top,
    Values,
)
from sparql.ask.plan.wording import phrase, quantity_words, restriction_words
from sparql.ask.plan.words import is_dated

__all__ = ["sentences", "steps"]


def sentences(plan: Plan) -> list[str]:
    """Return a plan as numbered sentences."""
    return [f"{number}. {words}" for number, (_, words) in enumerate(steps(plan), 1)]


def steps(plan: Plan) -> list[tuple[Node, str]]:
    """Return a plan as steps: the node that each is about, and a sentence."""
    found: list[tuple[Node, str]] = []
    match plan:
        case List(node, limit):
            _take(node, found)
            last = "List them." if limit is None else f"List {limit:,} of them."
        case Count(node):
            _take(node, found)
            last = "Count them."
        case Exists(node):
            _take(node, found)
            last = "Say whether there is any."
        case Every(node, within):
            _take(node, found)
            last = f"Say whether all of them are {restriction_words(within)}."
        case Values(quantity, node):
            _take(node, found)
            last = f"Give the {quantity_words(quantity)}."
        case Table(node, columns):
            _take(node, found)
            last = f"List them with {', '.join(map(quantity_words, columns))}."
        case Aggregation(aggregate, quantity, node):
            _take(node, found)
            last = f"Give the {aggregate} of their {quantity_words(quantity)}."
        case Difference(quantity, left, right, Operation.PER):
            last = f"Divide the {quantity_words(quantity)} of {phrase(left)} by that of {phrase(right)}."
        case Difference(quantity, left, right):
            last = f"Subtract the {quantity_words(quantity)} of {phrase(right)} from that of {phrase(left)}."
        case Group(each, link, node, aggregate, measured):
            _take(each, found)
            what = f"the {aggregate} of the {quantity_words(measured)}" if measured else "the number"
            last = f"For each, give {what} of the {phrase(node)} {_grouped(link)}."
        case _:
            raise AssertionError(plan)
    return [*found, (plan, last)]


def _grouped(link: Link) -> str:
    return "in it" if isinstance(link, PlaceLink) else "of it"


def _take(node: Set, found: list[tuple[Node, str]]) -> None:
    match node:
        case And(sets):
            head, *rest = sorted(sets, key=lambda part: not isinstance(part, Named | Kind | Top | Minus))
            _take(head, found)
            found += [(part, f"Keep those {restriction_words(part)}.") for part in rest]
        case Minus(kept, without):
            _take(kept, found)
            found.append((node, f"Leave out those {restriction_words(without)}."))
        case Lacking(kept, term):
            _take(kept, found)
            found.append((node, f'Keep those for which no "{term.words}" is recorded.'))
        case Top(kept, quantity, most, count, first):
            _take(kept, found)
            extreme = "greatest" if most else "least"
            if is_dated(quantity_words(quantity)) or isinstance(quantity, EarliestOf):
                extreme = "latest" if most else "earliest"
            which = f"number {first}" if first > 1 else ("the one" if count == 1 else f"the {count}")
            found.append((node, f"Keep {which} with the {extreme} {quantity_words(quantity)}."))
        case Named() | Kind() | Or():
            found.append((node, f"Take {phrase(node)}."))
        case _:
            found.append((node, f"Find {phrase(node)}."))
