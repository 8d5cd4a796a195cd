"""Sets and quantities of plans in words: a phrase for an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from sparql.ask.plan.nodes import (
    And,
    Arithmetic,
    ClassOf,
    Compare,
    CompareTo,
    Converted,
    CountOf,
    DistanceTo,
    EarliestOf,
    Kind,
    Lacking,
    Link,
    Minus,
    Named,
    Near,
    Op,
    Or,
    Place,
    PlaceLink,
    Position,
    PropertyLink,
    Quantity,
    Related,
    Set,
    Side,
    SideOf,
    Size,
    SizeOf,
    TextMatch,
    Top,
    ValueOf,
)
from sparql.ask.plan.words import (
    inverse_words,
    is_dated,
    is_participle,
    kilometers,
    link_words,
    number_words,
    ordinal,
    plural,
    with_article,
)

__all__ = [
    "compared_words",
    "phrase",
    "place_words",
    "quantity_words",
    "restriction_words",
]

_DATES: Final = {
    Op.LESS: "before",
    Op.AT_MOST: "until",
    Op.EQUAL: "in",
    Op.AT_LEAST: "since",
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
_CLAIMS: Final = {
    Place.CONTAINS: ("contains", "does not contain"),
    Place.TOUCHES: ("borders", "does not border"),
    Place.OVERLAPS: ("crosses", "does not cross"),
}
_HEADS: Final = Named | Kind | Top | Minus | Lacking | Or
_KILOMETER: Final = 1000.0
_DATE_TYPES: Final = ("gYear", "gYearMonth", "date")
_COMPARED: Final = {Size.AREA: ("smaller", "larger"), Size.LENGTH: ("shorter", "longer")}
_EXTREMES: Final = {Size.AREA: ("smallest", "largest"), Size.LENGTH: ("shortest", "longest")}


def phrase(node: Set, *, one: bool = False) -> str:
    """Return a set as a noun phrase, such as "museums in Manhattan"."""
    match node:
        case Named(entity):
            return entity.words
        case Kind(of):
            return of.words if one else plural(of.words)
        case And(sets):
            ordered = sorted(sets, key=lambda part: not isinstance(part, _HEADS))
            if not isinstance(ordered[0], _HEADS):
                return " ".join(["thing" if one else "things", *_restrictions(ordered, one=one)])
            head, *rest = ordered
            return " ".join([phrase(head, one=one), *_restrictions(rest, one=one)])
        case Or(sets):
            return " or ".join(phrase(part, one=one) for part in sets)
        case Minus(kept, Named() | Kind() as without):
            return f"{phrase(kept, one=one)} other than {phrase(without)}"
        case Minus(kept, Related(PlaceLink(Place.CONTAINS), Kind() as missing)):
            return f"{phrase(kept, one=one)} without {phrase(missing)}"
        case Minus(kept, without):
            return f"{phrase(kept, one=one)} not {restriction_words(without, one=one)}"
        case Lacking(kept, term):
            return f'{phrase(kept, one=one)} without a recorded "{term.words}"'
        case Top():
            return _top(node)
        case _:
            return f"{'thing' if one else 'things'} {restriction_words(node, one=one)}"


def restriction_words(node: Set, *, one: bool = False) -> str:
    """Return a set as words behind a noun: "in Manhattan", "opened after 1900"."""
    match node:
        case Related(PropertyLink(term, inverse), to):
            if inverse:
                return inverse_words(term, phrase(to), one=isinstance(to, Named | Top))
            return f"{link_words(term, one=one)} {phrase(to)}"
        case Related(PlaceLink(Place.CONTAINS), Kind() as to):
            return f"with {phrase(to)}"
        case Related(PlaceLink(place), to):
            return f"{_PLACES[place]} {phrase(to)}"
        case Compare():
            return _compared(node)
        case CompareTo(quantity, op, to):
            return compared_words(quantity, op, phrase(to))
        case Near(of, meters):
            return f"within {kilometers(meters / _KILOMETER)} of {phrase(of)}"
        case SideOf(side, of):
            return f"{side} of {phrase(of)}"
        case TextMatch(words):
            return f'with the words "{words}"'
        case And(sets):
            return " and ".join(_restrictions(sets, one=one))
        case Or(sets) if all(isinstance(part, Named) for part in sets):
            return f"one of {phrase(node)}"
        case Or(sets):
            return " or ".join(restriction_words(part, one=one) for part in sets)
        case Kind() | Named():
            return f"being {phrase(node)}"
        case _:
            return f"among {phrase(node)}"


def _restrictions(parts: Sequence[Set], *, one: bool) -> list[str]:
    """The words of restrictions; two bounds of one quantity become a range, two ends of one link a list."""
    words: list[str] = []
    rest = list(parts)
    while rest:
        part = rest.pop(0)
        following = rest[0] if rest else None
        if (
            isinstance(part, Compare)
            and isinstance(following, Compare)
            and part.quantity == following.quantity
            and (part.test, following.test) == (Op.AT_LEAST, Op.AT_MOST)
        ):
            rest.pop(0)
            low, high = (_bound(one) for one in (part, following))
            words.append(f"{_before_bound(part.quantity, dated=_is_date(part))} from {low} to {high}")
            continue
        words.append(restriction_words(part, one=one))
        while rest and _continues(part, rest[0], words[-1]):
            following = rest.pop(0)
            assert isinstance(following, Related)
            words[-1] += f" and {phrase(following.to)}"
    return words


def _continues(part: Set, following: Set, words: str) -> bool:
    """Whether a restriction's words go on with the end of the next: "crossing Elm Street and Oak Street"."""
    return (
        isinstance(part, Related)
        and isinstance(following, Related)
        and part.link == following.link
        and isinstance(following.to, Named)
        and words.endswith(phrase(part.to))
    )


def _before_bound(quantity: Quantity, *, dated: bool) -> str:
    """What stands before "after 1900" or "of more than 300 m"."""
    if isinstance(quantity, EarliestOf):
        return "that began"
    if isinstance(quantity, ValueOf) and dated and is_participle(quantity.path[-1].words):
        return quantity_words(quantity)
    if dated:
        return f"with {with_article(quantity_words(quantity))}"
    return f"with {with_article(quantity_words(quantity))} of"


def _bound(node: Compare) -> str:
    value, quantity = node.value.value, node.quantity
    if _is_date(node):
        return value
    if isinstance(quantity, DistanceTo) or quantity == SizeOf(Size.LENGTH):
        return kilometers(float(value) / _KILOMETER)
    if isinstance(quantity, SizeOf):
        return f"{float(value) / 1e6:,.3g} km²"
    return number_words(value, quantity.path[-1].unit if isinstance(quantity, ValueOf) else "")


def _compared(node: Compare) -> str:
    quantity, op, text = node.quantity, node.test, _bound(node)
    if isinstance(quantity, Arithmetic) and isinstance(quantity.left, DistanceTo) and text == "0":
        assert isinstance(quantity.right, DistanceTo)
        nearer = "farther from" if op is Op.MORE else "nearer to"
        return f"{nearer} {phrase(quantity.left.to)} than to {phrase(quantity.right.to)}"
    if _is_date(node):
        return f"{_before_bound(quantity, dated=True)} {_DATES[op]} {text}"
    if node.value.datatype.value.endswith(("string", "langString")):
        return f"with {quantity_words(quantity)} {text}"
    if isinstance(quantity, DistanceTo):
        return f"{_NUMBERS[op]} {text} from {phrase(quantity.to)}"
    if isinstance(quantity, CountOf):
        counted = phrase(quantity.set, one=node.value.value == "1")
        return _counting(quantity.link, f"{_NUMBERS[op]} {text} {counted}")
    size = _size(quantity)
    if size is not None and op in (Op.LESS, Op.MORE):
        return f"{_COMPARED[size][op is Op.MORE]} than {text}"
    return f"{_before_bound(quantity, dated=False)} {_NUMBERS[op]} {text}"


def _counting(link: Link, counted: str, *, one: bool = False) -> str:
    """Return how counted things belong to a thing: "with two museums", "designed by two architects"."""
    if not isinstance(link, PropertyLink):
        return f"with {counted}"
    if not link.inverse:
        words = link_words(link.property, one=one)
        return f"{words} {counted}" if not words.startswith("with ") else f"{words}: {counted}"
    return f"with {counted} ({link.property.words} {'it' if one else 'them'})"


def compared_words(quantity: Quantity, op: Op, than: str) -> str:
    """Return a comparison of a quantity with that of something: "larger than X", "opened before X"."""
    more = op in (Op.MORE, Op.AT_LEAST)
    size = _size(quantity)
    if op in (Op.LESS, Op.MORE):
        if size is not None:
            return f"{_COMPARED[size][more]} than {than}"
        if isinstance(quantity, EarliestOf):
            return f"{'newer' if more else 'older'} than {than}"
        if isinstance(quantity, CountOf):
            counted = f"{'more' if more else 'fewer'} {phrase(quantity.set)}"
            return f"{_counting(quantity.link, counted)} than {than}"
        if isinstance(quantity, DistanceTo):
            return f"{'farther from' if more else 'nearer to'} {phrase(quantity.to)} than {than}"
    words = quantity_words(quantity)
    if isinstance(quantity, ValueOf) and is_dated(words):
        by = f"the same year as {than}" if op is Op.EQUAL else than
        return f"{words if is_participle(words) else f'with {with_article(words)}'} {_DATES[op]} {by}"
    if op in (Op.LESS, Op.MORE):
        comparative = "greater" if more else "smaller"
        return f"with {with_article(f'{comparative} {words}')} than {than}"
    return f"with {with_article(words)} of {_NUMBERS[op]} that of {than}"


def _top(node: Top) -> str:
    quantity, most, count = node.quantity, node.most, node.count
    kind = phrase(node.set, one=count == 1)
    nth = f"{ordinal(node.first)} " if node.first > 1 else ""
    number = "" if count == 1 else f"{count} "
    size = _size(quantity)
    if size is not None or isinstance(quantity, EarliestOf):
        extreme = _EXTREMES[size][most] if size is not None else "newest" if most else "oldest"
        # "the 3 oldest museums", but "the oldest of A or B"
        return f"the {number}{nth}{extreme} {'of ' if isinstance(node.set, Or | Named) else ''}{kind}"
    if isinstance(quantity, Position):
        return f"the {number}{nth}{quantity.side}ernmost {kind}"
    of = f"the {number}{nth if nth else ''}{kind}"
    words = quantity_words(quantity)
    if isinstance(quantity, DistanceTo):
        return f"the {number}{kind} {nth}{'farthest from' if most else 'nearest to'} {phrase(quantity.to)}"
    if isinstance(quantity, CountOf):
        counted = f"the {nth}{'most' if most else 'fewest'} {phrase(quantity.set)}"
        return f"the {number}{kind} {_counting(quantity.link, counted, one=count == 1)}"
    if isinstance(quantity, ValueOf) and is_participle(words):
        return (
            f"{of} {words} {'last' if most else 'first'}"
            if not nth
            else (f"the {nth}{kind} by the date {words} ({'latest' if most else 'earliest'} first)")
        )
    extreme = ("latest" if most else "earliest") if is_dated(words) else "greatest" if most else "least"
    return f"the {number}{kind} with the {nth}{extreme} {words}"


def place_words(place: Place, of: str, *, holds: bool) -> str:
    """Return a claim of where something lies: "borders X", "is not in X"."""
    if place in _CLAIMS:
        return f"{_CLAIMS[place][not holds]} {of}"
    return f"is {'' if holds else 'not '}{_PLACES[place]} {of}"


def _size(quantity: Quantity) -> Size | None:
    if isinstance(quantity, SizeOf):
        return quantity.size
    return quantity.measured if isinstance(quantity, ValueOf) else None


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
        case Converted(converted):
            return quantity_words(converted)
        case Position(side):
            return "latitude" if side in (Side.NORTH, Side.SOUTH) else "longitude"
        case ClassOf():
            return "class"
        case CountOf(_, counted):
            return f"number of {phrase(counted)}"
        case Arithmetic(operation, left, right):
            return f"{quantity_words(left)} {operation} {quantity_words(right)}"
    raise AssertionError(quantity)


def _is_date(node: Compare) -> bool:
    value = node.value
    return (
        isinstance(node.quantity, ValueOf | EarliestOf)
        and len(value.value) > 3
        and value.value[:4].isdigit()
        and value.datatype.value.endswith(_DATE_TYPES)
    )
