"""Plans as text: a phrase for an answer, and numbered sentences for a reader."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from pyoxigraph import Literal

from sparql.ask.plan.nodes import (
    Aggregation,
    And,
    Arithmetic,
    Compare,
    CompareTo,
    Count,
    CountOf,
    Difference,
    DistanceTo,
    EarliestOf,
    Exists,
    Group,
    Kind,
    Lacking,
    Link,
    List,
    Minus,
    Named,
    Near,
    Node,
    Op,
    Or,
    Place,
    PlaceLink,
    Plan,
    PropertyLink,
    Quantity,
    Related,
    Set,
    SideOf,
    Size,
    SizeOf,
    Table,
    TextMatch,
    Top,
    ValueOf,
    Values,
)

__all__ = [
    "enumerate_labels",
    "kilometers",
    "phrase",
    "plural",
    "quantity_words",
    "restriction_words",
    "sentences",
    "steps",
]

_LISTED: Final = 10
_DATES: Final = {
    Op.LESS: "before",
    Op.AT_MOST: "not after",
    Op.EQUAL: "in",
    Op.AT_LEAST: "not before",
    Op.MORE: "after",
}
_NUMBERS: Final = {
    Op.LESS: "less than",
    Op.AT_MOST: "at most",
    Op.EQUAL: "exactly",
    Op.AT_LEAST: "at least",
    Op.MORE: "more than",
}
_PLACES: Final = {
    Place.WITHIN: "in",
    Place.CONTAINS: "containing",
    Place.TOUCHES: "bordering",
    Place.OVERLAPS: "crossing",
    Place.DISJOINT: "apart from",
}
_IRREGULAR: Final = {"person": "people", "child": "children", "man": "men", "woman": "women"}
_KILOMETER: Final = 1000.0
_DATE_TYPES: Final = ("gYear", "gYearMonth", "date")


def phrase(node: Set, *, one: bool = False) -> str:
    """Return a set as a noun phrase, such as "museums in Manhattan"."""
    match node:
        case Named(entity):
            return entity.words
        case Kind(of):
            return of.words if one else plural(of.words)
        case And(sets):
            head, *rest = sorted(sets, key=lambda part: not isinstance(part, Named | Kind | Top | Minus | Or))
            return " ".join([phrase(head, one=one), *(restriction_words(part) for part in rest)])
        case Or(sets):
            return " or ".join(phrase(part, one=one) for part in sets)
        case Minus(kept, without):
            return f"{phrase(kept, one=one)} not {restriction_words(without)}"
        case Lacking(kept, term):
            return f'{phrase(kept, one=one)} without a recorded "{term.words}"'
        case Top(kept, quantity, most, count, first):
            extreme = "greatest" if most else "least"
            nth = f"number {first} in " if first > 1 else ""
            kind = phrase(kept, one=count == 1)
            number = "" if count == 1 else f"{count} "
            return f"the {number}{kind} with {nth}the {extreme} {quantity_words(quantity)}"
        case Related(PropertyLink(term, inverse), to):
            return f'"{term.words}" of {phrase(to)}' if inverse else f'what is "{term.words}" {phrase(to)}'
        case _:
            return f"what is {restriction_words(node)}"


def restriction_words(node: Set) -> str:
    """Return a set as words behind a noun: "in Manhattan", "with height more than 300"."""
    match node:
        case Related(link, to):
            return f"{_link_words(link)} {phrase(to)}"
        case Compare(quantity, op, value):
            dated = (
                len(value.value) > 3
                and value.value[:4].isdigit()
                and isinstance(quantity, ValueOf | EarliestOf)
            )
            words = (
                _DATES
                if dated and value.datatype.value.endswith(("gYear", "gYearMonth", "date"))
                else _NUMBERS
            )[op]
            text = _measured(quantity, value.value)
            is_text = value.datatype.value.endswith(("string", "langString"))
            return f"with {quantity_words(quantity)} {'' if is_text else words + ' '}{text}"
        case CompareTo(quantity, op, to):
            than = _NUMBERS[op].removesuffix(" than")
            return f"with {quantity_words(quantity)} {than} than that of {phrase(to)}"
        case Near(of, meters):
            return f"within {kilometers(meters / _KILOMETER)} of {phrase(of)}"
        case SideOf(side, of):
            return f"{side} of {phrase(of)}"
        case TextMatch(words):
            return f'with the words "{words}"'
        case And(sets):
            return " and ".join(restriction_words(part) for part in sets)
        case Or(sets) if all(isinstance(part, Named) for part in sets):
            return f"one of {phrase(node)}"
        case Or(sets):
            return " or ".join(restriction_words(part) for part in sets)
        case Kind() | Named():
            return f"being {phrase(node)}"
        case _:
            return f"among {phrase(node)}"


def quantity_words(quantity: Quantity) -> str:
    """Return a quantity as a noun: "height", "distance to Central Park"."""
    match quantity:
        case ValueOf(path):
            return " ".join(term.words for term in path)
        case EarliestOf(properties):
            return f"first date ({', '.join(term.words for term in properties)})"
        case DistanceTo(to):
            return f"distance to {phrase(to)}"
        case SizeOf(size):
            return f"measured {size}"
        case CountOf(_, counted):
            return f"number of {phrase(counted)}"
        case Arithmetic(operation, left, right):
            return f"{quantity_words(left)} {operation} {quantity_words(right)}"
    raise AssertionError(quantity)


def sentences(plan: Plan) -> list[str]:
    """Return a plan as numbered sentences."""
    return [f"{number}. {words}" for number, (_, words) in enumerate(steps(plan), 1)]


def steps(plan: Plan) -> list[tuple[Node, str]]:
    """Return a plan as steps: the node that each is about, and a sentence."""
    found: list[tuple[Node, str]] = []
    match plan:
        case List(node):
            _take(node, found)
            last = "List them."
        case Count(node):
            _take(node, found)
            last = "Count them."
        case Exists(node):
            _take(node, found)
            last = "Say whether there is any."
        case Values(quantity, node):
            _take(node, found)
            last = f"Give the {quantity_words(quantity)}."
        case Table(node, columns):
            _take(node, found)
            last = f"List them with {', '.join(map(quantity_words, columns))}."
        case Aggregation(aggregate, quantity, node):
            _take(node, found)
            last = f"Give the {aggregate} of their {quantity_words(quantity)}."
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
            which = f"number {first}" if first > 1 else ("the one" if count == 1 else f"the {count}")
            found.append((node, f"Keep {which} with the {extreme} {quantity_words(quantity)}."))
        case Named() | Kind() | Or():
            found.append((node, f"Take {phrase(node)}."))
        case _:
            found.append((node, f"Find {phrase(node)}."))


def _link_words(link: Link) -> str:
    if isinstance(link, PlaceLink):
        return _PLACES[link.place]
    assert isinstance(link, PropertyLink)
    return f'being "{link.property.words}" of' if link.inverse else f'with "{link.property.words}"'


def _is_date(quantity: Quantity, value: Literal) -> bool:
    return isinstance(quantity, ValueOf | EarliestOf) and value.datatype.value.endswith(_DATE_TYPES)


def _measured(quantity: Quantity, value: str) -> str:
    if isinstance(quantity, DistanceTo) or (isinstance(quantity, SizeOf) and quantity.size is Size.LENGTH):
        return kilometers(float(value) / _KILOMETER)
    if isinstance(quantity, SizeOf):
        return f"{float(value) / 1e6:,.3g} km²"
    return value


def enumerate_labels(labels: Sequence[str]) -> str:
    """Return "A, B and C", at most ten of them."""
    if len(labels) > _LISTED:
        return f"{', '.join(labels[:_LISTED])} and {len(labels) - _LISTED:,} more"
    if len(labels) < 2:
        return "".join(labels)
    return f"{', '.join(labels[:-1])} and {labels[-1]}"


def kilometers(km: float) -> str:
    """Return a distance in words: "1.5 km"."""
    return f"{km:,.3f}".rstrip("0").rstrip(".") + " km"


def plural(words: str) -> str:
    """Return the English plural of a class label: "place of worship" becomes "places of worship"."""
    head, joint, rest = words.partition(" of ")
    before, _, last = head.rpartition(" ")
    return f"{before} {_plural_word(last)}{joint}{rest}".strip()


def _plural_word(word: str) -> str:
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}s"
