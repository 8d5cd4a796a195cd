"""The sets of plans, and the links between them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal, NamedNode

from sparql.ask.errors import PlanError
from sparql.ask.places import StatedPlaces
from sparql.ask.plan.nodes import (
    UNKNOWN,
    Compiler,
    Lines,
    Link,
    Node,
    Quantity,
    Ranked,
    Set,
    Shown,
    claim_words,
    per_member,
)
from sparql.ask.plan.quantities import (
    CENTROID,
    DATE_WORDS,
    SIDES,
    CountOf,
    DistanceTo,
    EarliestOf,
    ValueOf,
    geometry_of,
)
from sparql.ask.plan.sparql import NAMES, Patterns, block
from sparql.ask.plan.terms import (
    Op,
    Place,
    QuantityKind,
    Side,
    Term,
    inverse_words,
    is_dated,
    kilometers,
    link_words,
    ordinal,
    plural,
)
from sparql.ask.plan.typing import Types, Typing, both
from sparql.model.vocabulary import RDFS

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
_SIGNS: Final = {Op.LESS: "<", Op.AT_MOST: "<=", Op.EQUAL: "=", Op.AT_LEAST: ">=", Op.MORE: ">"}
# Dates are compared as ISO 8601 text, which works for any precision: a date in 1900 starts with "1900".
_DATE_TESTS: Final = {
    Op.LESS: "{left} < {right}",
    Op.AT_MOST: "({left} < {right} || STRSTARTS({left}, {right}))",
    Op.EQUAL: "STRSTARTS({left}, {right})",
    Op.AT_LEAST: "{left} >= {right}",
    Op.MORE: "({left} > {right} && !STRSTARTS({left}, {right}))",
}
_NUMBER: Final = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
_DATE_TYPES: Final = ("gYear", "gYearMonth", "date")


@dataclass(frozen=True)
class PropertyLink(Link):
    """A statement with a property; `inverse`: from its object to its subject."""

    property: Term
    inverse: bool = False

    def types(self, typing: Typing, to: Types) -> Types:
        return typing.linked(self.property, to, inverse=self.inverse)

    def path(self, patterns: Patterns) -> str:
        return patterns.property_path(self.property.iri, inverse=self.inverse)

    def related(self, patterns: Patterns, to: Set, var: str) -> Lines:
        path = self.path(patterns)
        lines, target = _end(patterns, to, self.property.words)
        pattern = f"{var} {path} {target} ."
        return _walked([*lines, pattern], path, var)

    def restriction(self, to: Set, *, singular: bool) -> str:
        if self.inverse:
            return inverse_words(self.property.words, to.phrase(), singular=to.single)
        return f"{link_words(self.property.words, singular=singular)} {to.phrase()}"

    def counting(self, counted: str, *, singular: bool = False) -> str:
        if self.inverse:
            return f"with {counted} ({self.property.words} {'it' if singular else 'them'})"
        words = link_words(self.property.words, singular=singular)
        return f"{words}: {counted}" if words.startswith("with ") else f"{words} {counted}"

    def missing(self, to: Set, before: str) -> tuple[str, str, str, str]:
        relation = self.property.words
        if not self.inverse:
            return before or UNKNOWN, relation, to.phrase(), ""
        what = inverse_words(relation, to.phrase()).removeprefix("that ")
        return to.phrase(), relation, UNKNOWN, "" if before else f"Not recorded: what {what}."

    def is_inside(self, places: StatedPlaces) -> bool:
        return not self.inverse and self.property.iri in places.inside


@dataclass(frozen=True)
class PlaceLink(Link):
    """Where things lie to each other, computed from geometry or stated."""

    place: Place

    def types(self, typing: Typing, to: Types) -> Types:
        typing.need(to, typing.located, "has no place on the map")
        return typing.located

    def path(self, patterns: Patterns) -> str:
        return patterns.place_path(self.place)

    def related(self, patterns: Patterns, to: Set, var: str) -> Lines:
        apart = self.place is Place.DISJOINT
        path = self.path(patterns)
        if apart:
            path = "|".join(patterns.place_path(place) for place in (Place.TOUCHES, Place.OVERLAPS))
        lines, target = _end(patterns, to, "place")
        pattern = f"{var} {path} {target} ."
        if not apart:
            return _walked([*lines, pattern], path, var)
        here = f"{var} {patterns.geometry()} {patterns.variable('here wkt')} ."
        return [*lines, here, f"FILTER NOT EXISTS {{ {pattern} }}", f"FILTER({var} != {target})"]

    def restriction(self, to: Set, *, singular: bool) -> str:
        if self.place is Place.CONTAINS and isinstance(to, Kind):
            return f"with {to.phrase()}"
        return f"{_PLACES[self.place]} {to.phrase()}"

    def claim(self, to: Set, *, holds: bool) -> str:
        if self.place in _CLAIMS:
            return f"{_CLAIMS[self.place][not holds]} {to.phrase()}"
        return f"is {'' if holds else 'not '}{_PLACES[self.place]} {to.phrase()}"

    def counting(self, counted: str, *, singular: bool = False) -> str:
        return f"with {counted}"

    def missing(self, to: Set, before: str) -> tuple[str, str, str, str]:
        return before or UNKNOWN, str(self.place), to.phrase(), ""

    def is_inside(self, places: StatedPlaces) -> bool:
        return self.place is Place.WITHIN


@dataclass(frozen=True)
class Named(Set):
    """One entity."""

    head = True
    single = True

    entity: Term

    def types(self, typing: Typing) -> Types:
        return typing.classes_of(self.entity.iri) or None

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        return [f"VALUES {var} {{ {patterns.iri(self.entity.iri)} }}"]

    def phrase(self, *, singular: bool = False) -> str:
        return self.entity.words

    def restriction(self, *, singular: bool = False) -> str:
        return f"being {self.phrase()}"

    def name(self) -> Term | None:
        return self.entity

    def heads(self) -> Iterator[NamedNode | None]:
        return iter(())

    def order(self, places: StatedPlaces) -> int:
        return 0


@dataclass(frozen=True)
class Kind(Set):
    """The instances of a class and of its subclasses."""

    head = True

    of: Term

    def types(self, typing: Typing) -> Types:
        # A class without members fits everywhere, and gives nothing.
        return typing.instances(self.of)

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        patterns.iri(RDFS.subClassOf)
        line = f"{var} a/rdfs:subClassOf* {patterns.iri(self.of.iri)} ."
        return [f"FILTER EXISTS {{ {line} }}"] if few else [line]

    def phrase(self, *, singular: bool = False) -> str:
        return self.of.words if singular else plural(self.of.words)

    def restriction(self, *, singular: bool = False) -> str:
        return f"being {self.phrase()}"

    def claim(self, shown: Shown, *, holds: bool) -> str:
        words = self.phrase(singular=True)
        return f"is {'' if holds else 'not '}a{'n' if words[:1] in 'aeiou' else ''} {words}"

    def missing(self, before: str) -> tuple[str, str, str, str]:
        return UNKNOWN, "is a", self.of.words, ""

    def noun(self) -> str:
        return self.of.words

    def heads(self) -> Iterator[NamedNode | None]:
        yield self.of.iri

    def has_kind(self) -> bool:
        return True


@dataclass(frozen=True)
class Related(Set):
    """What a link leads from, to any member of `to`."""

    link: Link
    to: Set

    def types(self, typing: Typing) -> Types:
        return self.link.types(typing, typing.of(self.to))

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        return self.link.related(patterns, self.to, var)

    def restriction(self, *, singular: bool = False) -> str:
        return self.link.restriction(self.to, singular=singular)

    def claim(self, shown: Shown, *, holds: bool) -> str:
        return self.link.claim(self.to, holds=holds)

    def found_by(self) -> str:
        if isinstance(self.link, PropertyLink):
            name = self.link.property.words
            if self.link.inverse and isinstance(self.to, Named):
                return f"{self.to.phrase()}, {name.removeprefix('has ')}"
            if link_words(name).startswith("that "):
                return self.phrase()
        return super().found_by()

    def missing(self, before: str) -> tuple[str, str, str, str]:
        return self.link.missing(self.to, before)

    def recorded(self, head: Set, compiler: Compiler, typing: Typing) -> Sequence[Sequence[str]]:
        if not isinstance(self.link, PlaceLink):
            return ((compiler.has_link(head, self.link, typing),),)
        link = PlaceLink(Place.WITHIN) if self.link.place is Place.DISJOINT else self.link
        return _have_geometry(head, self.to, compiler, typing), (compiler.has_link(head, link, typing),)

    def is_few(self, places: StatedPlaces) -> bool:
        inside = isinstance(self.link, PropertyLink | PlaceLink) and self.link.is_inside(places)
        return inside and (isinstance(self.to, Named) or self.to.is_few(places))


@dataclass(frozen=True)
class And(Set):
    """What is in every set."""

    sets: tuple[Set, ...]

    def types(self, typing: Typing) -> Types:
        if len(self.sets) == 2 and isinstance(self.sets[0], Named) and isinstance(self.sets[1], Kind):
            # Whether it is one may be asked of everything.
            return typing.of(self.sets[0])
        found: Types = None
        for types in [typing.of(part) for part in self.sets]:
            typing.need(found, types, f"cannot be {typing.named(types)}")
            found = both(found, types)
        return found

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        few, lines = False, []
        for part in sorted(self.sets, key=lambda part: part.order(patterns.places)):
            lines += part.lines(patterns, var, few=few)
            few = few or part.is_few(patterns.places)
        if any(isinstance(part, Near) for part in self.sets):
            # Side by side, the patterns of both ends are found by an index of geometries.
            lines.sort(key=lambda line: not line.startswith("{ SELECT"))
        return lines

    def class_lines(self, patterns: Patterns, var: str) -> Lines:
        return [line for part in self.sets if isinstance(part, Kind) for line in part.lines(patterns, var)]

    def phrase(self, *, singular: bool = False) -> str:
        head, *rest = sorted(self.sets, key=lambda part: not part.head)
        if not head.head:
            words = ["thing" if singular else "things", *_restrictions([head, *rest], singular=singular)]
        else:
            words = [head.phrase(singular=singular), *_restrictions(rest, singular=singular)]
        return " ".join(words)

    def restriction(self, *, singular: bool = False) -> str:
        return " and ".join(_restrictions(self.sets, singular=singular))

    def steps(self) -> list[tuple[Node, str]]:
        head, *rest = sorted(self.sets, key=lambda part: not isinstance(part, Named | Kind | Top | Minus))
        return [*head.steps(), *((part, f"Keep those {part.restriction()}.") for part in rest)]

    def deciding(self) -> tuple[Quantity, Set] | None:
        for part in self.sets:
            if isinstance(part, Top):
                return part.deciding()
            if isinstance(part, _Compared):
                rest = [
                    other
                    for other in self.sets
                    if not (isinstance(other, _Compared) and other.quantity == part.quantity)
                ]
                if rest:
                    return part.quantity, conjunction(rest)
        return None

    def noun(self) -> str:
        return _first_noun(self.sets)

    def heads(self) -> Iterator[NamedNode | None]:
        found = {head for part in self.sets for head in part.heads()}
        yield from (found - {None} or found)

    def has_kind(self) -> bool:
        return any(part.has_kind() for part in self.sets)

    def is_few(self, places: StatedPlaces) -> bool:
        return any(part.is_few(places) for part in self.sets)


@dataclass(frozen=True)
class Or(Set):
    """What is in any of the sets."""

    head = True

    sets: tuple[Set, ...]

    def types(self, typing: Typing) -> Types:
        found = [typing.of(part) for part in self.sets]
        return None if None in found else frozenset().union(*(types for types in found if types is not None))

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        if all(isinstance(part, Named) for part in self.sets):
            named = " ".join(patterns.iri(part.entity.iri) for part in self.sets if isinstance(part, Named))
            return [f"VALUES {var} {{ {named} }}"]
        return [" UNION ".join(block(part.lines(patterns, var)) for part in self.sets)]

    def phrase(self, *, singular: bool = False) -> str:
        return " or ".join(part.phrase(singular=singular) for part in self.sets)

    def restriction(self, *, singular: bool = False) -> str:
        if all(isinstance(part, Named) for part in self.sets):
            return f"one of {self.phrase()}"
        return " or ".join(part.restriction(singular=singular) for part in self.sets)

    def noun(self) -> str:
        return _first_noun(self.sets)

    def heads(self) -> Iterator[NamedNode | None]:
        return (head for part in self.sets for head in part.heads())

    def is_few(self, places: StatedPlaces) -> bool:
        return all(part.is_few(places) for part in self.sets)


class _Chosen(Set):
    """What is chosen from another set."""

    head = True

    set: Set

    def noun(self) -> str:
        return self.set.noun()

    def heads(self) -> Iterator[NamedNode | None]:
        return self.set.heads()

    def is_few(self, places: StatedPlaces) -> bool:
        return self.set.is_few(places)


@dataclass(frozen=True)
class Minus(_Chosen):
    """What is in a set and not in another."""

    set: Set
    without: Set

    def types(self, typing: Typing) -> Types:
        kept = typing.of(self.set)
        typing.need(kept, typing.of(self.without), "cannot be what is left out")
        return kept

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        kept = self.set.lines(patterns, var, few=few)
        return [*kept, f"MINUS {block(self.without.lines(patterns, var))}"]

    def phrase(self, *, singular: bool = False) -> str:
        kept, without = self.set.phrase(singular=singular), self.without
        if isinstance(without, Named | Kind):
            return f"{kept} other than {without.phrase()}"
        if (
            isinstance(without, Related)
            and without.link == PlaceLink(Place.CONTAINS)
            and isinstance(without.to, Kind)
        ):
            return f"{kept} without {without.to.phrase()}"
        return f"{kept} not {without.restriction(singular=singular)}"

    def has_kind(self) -> bool:
        return self.set.has_kind()

    def steps(self) -> list[tuple[Node, str]]:
        return [*self.set.steps(), (self, f"Leave out those {self.without.restriction()}.")]


@dataclass(frozen=True)
class Lacking(_Chosen):
    """What is in a set and for which no value or thing of a property is recorded."""

    set: Set
    property: Term

    def types(self, typing: Typing) -> Types:
        kept = typing.of(self.set)
        typing.need(kept, typing.with_value(self.property), f'never has "{self.property.words}"')
        return kept

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        value = patterns.variable(self.property.words)
        pattern = f"{var} {patterns.property_path(self.property.iri)} {value}"
        return [*self.set.lines(patterns, var, few=few), f"FILTER NOT EXISTS {{ {pattern} }}"]

    def phrase(self, *, singular: bool = False) -> str:
        return f'{self.set.phrase(singular=singular)} without a recorded "{self.property.words}"'

    def steps(self) -> list[tuple[Node, str]]:
        return [
            *self.set.steps(),
            (self, f'Keep those for which no "{self.property.words}" is recorded.'),
        ]


class _Compared(Set):
    """What has a quantity that relates so to another value."""

    quantity: Quantity
    test: Op

    def missing(self, before: str) -> tuple[str, str, str, str]:
        return before or UNKNOWN, self.quantity.words, UNKNOWN, ""

    def order(self, places: StatedPlaces) -> int:
        # Counts are worked out last.
        return 5 if isinstance(self.quantity, CountOf) else 3


@dataclass(frozen=True)
class Compare(_Compared):
    """What has a quantity that relates so to a value."""

    quantity: Quantity
    test: Op
    value: Literal

    def types(self, typing: Typing) -> Types:
        types, kind, value = self.quantity.types(typing), self.quantity.kind(typing), self.value.value
        if kind is QuantityKind.NUMBER and _NUMBER.fullmatch(value) is None:
            raise PlanError(f'"{value}" is no number.')
        if kind is QuantityKind.DATE and not value[:4].isdigit():
            raise PlanError(f'"{value}" is no date: write the year, or year-month-day.')
        return types

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        quantity, value = self.quantity, self.value.value
        lines, expression = quantity.single(patterns, var, few=few)
        kind = quantity.kind(patterns.typing)
        if kind is QuantityKind.DATE:
            test = _DATE_TESTS[self.test].format(left=expression, right=str(Literal(value)))
        elif kind is QuantityKind.TEXT:
            if self.test is Op.EQUAL and isinstance(quantity, ValueOf) and len(quantity.path) == 1:
                return [f"{var} {patterns.chain(quantity.path)} {self.value} ."]
            test = f"LCASE(STR({expression})) = {Literal(value.lower())}"
        else:
            test = f"{expression} {_SIGNS[self.test]} {value}"
        return [*lines, f"FILTER({test})"]

    def restriction(self, *, singular: bool = False) -> str:
        text = self.written()
        if self.is_dated():
            return f"{self.quantity.before_bound(dated=True)} {DATE_WORDS[self.test]} {text}"
        if self.value.datatype.value.endswith(("string", "langString")):
            return f"with {self.quantity.words} {text}"
        return self.quantity.bounded(self.test, text)

    def written(self) -> str:
        """Return the value in words."""
        return self.value.value if self.is_dated() else self.quantity.written(self.value.value)

    def is_dated(self) -> bool:
        """Return whether the value is a date."""
        value = self.value
        return (
            isinstance(self.quantity, ValueOf | EarliestOf)
            and len(value.value) > 3
            and value.value[:4].isdigit()
            and value.datatype.value.endswith(_DATE_TYPES)
        )

    def recorded(self, head: Set, compiler: Compiler, typing: Typing) -> Sequence[Sequence[str]]:
        if isinstance(self.quantity, CountOf):
            return ((),)
        return ((compiler.has_value(head, self.quantity, typing),),)


@dataclass(frozen=True)
class CompareTo(_Compared):
    """What has a quantity that relates so to the same quantity of an entity."""

    quantity: Quantity
    test: Op
    to: Set

    def types(self, typing: Typing) -> Types:
        to, types = typing.of(self.to), self.quantity.types(typing)
        typing.need(to, types, "has nothing to compare with")
        return types

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        quantity, test = self.quantity, self.test
        other = patterns.variable("other")
        left, mine = quantity.single(patterns, var, few=few)
        right, theirs = quantity.value(patterns, other)
        value = patterns.variable("other value")
        body = " ".join([*self.to.lines(patterns, other), *right])
        dated = quantity.kind(patterns.typing) is QuantityKind.DATE
        inner = f"{{ SELECT ({'MIN' if dated else 'MAX'}({theirs}) AS {value}) WHERE {{ {body} }} }}"
        tested = f"{mine} {_SIGNS[test]} {value}"
        if dated and test is Op.EQUAL:
            # The same year: one of the two may be less exact.
            tested = f"SUBSTR({mine}, 1, 4) = SUBSTR({value}, 1, 4)"
        elif dated:
            tested = _DATE_TESTS[test].format(left=mine, right=value)
        return [inner, *left, f"FILTER({tested})", *_is_other(patterns, var, self.to)]

    def restriction(self, *, singular: bool = False) -> str:
        return self.quantity.compared(self.test, self.to.phrase())

    def claim(self, shown: Shown, *, holds: bool) -> str:
        return claim_words(self.quantity.compared(self.test, shown.named(self.to)), holds=holds)

    def recorded(self, head: Set, compiler: Compiler, typing: Typing) -> Sequence[Sequence[str]]:
        return ([compiler.has_value(node, self.quantity, typing) for node in (head, self.to)],)


@dataclass(frozen=True)
class TextMatch(Set):
    """What has a text with these words; of a property, or (None) of any name."""

    words: str
    property: Term | None = None

    def types(self, typing: Typing) -> Types:
        return None

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        text = patterns.variable("text")
        if self.property is None:
            path = "|".join(map(patterns.iri, NAMES))
        else:
            path = patterns.property_path(self.property.iri)
        test = f"CONTAINS(LCASE(STR({text})), {Literal(self.words.lower())})"
        return [f"{var} {path} {text} .", f"FILTER({test})"]

    def restriction(self, *, singular: bool = False) -> str:
        return f'with the words "{self.words}"'


@dataclass(frozen=True)
class Top(_Chosen):
    """The members of a set with the most or least of a quantity, `count` of them from the `first` on.

    With `first` and `count` 1, all that are equally far ahead.
    """

    single = True

    set: Set
    quantity: Quantity
    most: bool
    count: int = 1
    first: int = 1

    def types(self, typing: Typing) -> Types:
        kept, having = typing.of(self.set), self.quantity.types(typing)
        typing.need(kept, having, "has nothing to be ranked by")
        return both(kept, having)

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        if self.count == 1 and self.first == 1 and not self.quantity.geometric:
            return [f"{{ SELECT DISTINCT {var} WHERE {block(self._ahead(patterns, var))} }}"]
        value = patterns.variable("value")
        inner = per_member(patterns, self.set, self.quantity, var, value, most=self.most)
        order = f"DESC({value})" if self.most else value
        offset = f" OFFSET {self.first - 1}" if self.first > 1 else ""
        return [f"{{ {inner} ORDER BY {order} {var} LIMIT {self.count}{offset} }}"]

    def _ahead(self, patterns: Patterns, var: str) -> Lines:
        """Return lines for all members of the set whose value is the most, or the least."""
        best, function = patterns.variable("best"), "MAX" if self.most else "MIN"
        if isinstance(self.quantity, ValueOf) and self.quantity.measured is None:
            few = self.set.is_few(patterns.places)
            lines, value = self.quantity.value(patterns, var, few=few)
            members = self.set.lines(patterns, var)
            first = f"{{ SELECT ({function}({value}) AS {best}) WHERE {block([*members, *lines])} }}"
            if few:
                return [first, *members, *lines, f"FILTER({value} = {best})"]
            # The things with the value are few: what they are is looked up for these alone. A subquery makes
            # sure of that, since a store is free to order filters.
            found = block([first, *lines, f"FILTER({value} = {best})"])
            return [
                f"{{ SELECT DISTINCT {var} WHERE {found} }}",
                *self.set.lines(patterns, var, few=True),
            ]
        value = patterns.variable("value")
        inner = per_member(patterns, self.set, self.quantity, var, value, most=self.most)
        return [
            f"{{ SELECT ({function}({value}) AS {best}) WHERE {{ {{ {inner} }} }} }}",
            f"{{ {inner} }}",
            f"FILTER({value} = {best})",
        ]

    def phrase(self, *, singular: bool = False) -> str:
        return self.quantity.ranked(
            Ranked(
                self.set.phrase(singular=self.count == 1),
                "" if self.count == 1 else f"{self.count} ",
                f"{ordinal(self.first)} " if self.first > 1 else "",
                self.most,
                self.count == 1,
                isinstance(self.set, Or | Named),
            )
        )

    def steps(self) -> list[tuple[Node, str]]:
        extreme = "greatest" if self.most else "least"
        if is_dated(self.quantity.words) or isinstance(self.quantity, EarliestOf):
            extreme = "latest" if self.most else "earliest"
        which = "the one" if self.count == 1 else f"the {self.count}"
        if self.first > 1:
            which = f"number {self.first}"
        return [*self.set.steps(), (self, f"Keep {which} with the {extreme} {self.quantity.words}.")]

    def missing(self, before: str) -> tuple[str, str, str, str]:
        subject = self.set.phrase()
        message = f"Not recorded: {self.quantity.unknown(subject)}."
        return subject, self.quantity.words, UNKNOWN, message

    def deciding(self) -> tuple[Quantity, Set] | None:
        return self.quantity, self.set

    def is_few(self, places: StatedPlaces) -> bool:
        return True

    def order(self, places: StatedPlaces) -> int:
        return 0


class _Beside(Set):
    """What is near or on a side of the members of a set."""

    of: Set

    def types(self, typing: Typing) -> Types:
        typing.need(typing.of(self.of), typing.shaped, "has no geometry")
        return typing.shaped

    def recorded(self, head: Set, compiler: Compiler, typing: Typing) -> Sequence[Sequence[str]]:
        return (_have_geometry(head, self.of, compiler, typing),)

    def order(self, places: StatedPlaces) -> int:
        return 4


@dataclass(frozen=True)
class SideOf(_Beside):
    """What is on a side of the members of a set."""

    side: Side
    of: Set

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        lines, there = geometry_of(patterns, self.of)
        here = patterns.variable("here wkt")
        lines += [f"{var} {patterns.geometry()} {here} .", *_is_other(patterns, var, self.of)]
        for name, (of_here, sign, of_there) in SIDES.items():
            if name in self.side:
                center = f"{patterns.iri(of_here)}({patterns.iri(CENTROID)}({here}))"
                lines.append(f"FILTER({center} {sign} {patterns.iri(of_there)}({there}))")
        return lines

    def restriction(self, *, singular: bool = False) -> str:
        return f"{self.side} of {self.of.phrase()}"


@dataclass(frozen=True)
class Near(_Beside):
    """What is at most so many meters from any member of a set; `assumed`: the question gives no distance."""

    of: Set
    meters: int
    assumed: bool = False

    def lines(self, patterns: Patterns, var: str, *, few: bool = False) -> Lines:
        lines, distance = DistanceTo(self.of).value(patterns, var)
        return [*lines, f"FILTER({distance} <= {self.meters})"]

    def restriction(self, *, singular: bool = False) -> str:
        return f"within {kilometers(self.meters / 1000)} of {self.of.phrase()}"


def conjunction(parts: Sequence[Set]) -> Set:
    """Return what is in all sets: the set itself where it is alone."""
    return And(tuple(parts)) if len(parts) > 1 else parts[0]


def parts_of_set(node: Set) -> tuple[Set, ...]:
    """Return the sets that a set is in, all of them."""
    return node.sets if isinstance(node, And) else (node,)


def _restrictions(parts: Sequence[Set], *, singular: bool) -> list[str]:
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
            before = part.quantity.before_bound(dated=part.is_dated())
            words.append(f"{before} from {part.written()} to {following.written()}")
            continue
        words.append(part.restriction(singular=singular))
        while rest and _has_same_link(part, rest[0], words[-1]):
            following = rest.pop(0)
            assert isinstance(following, Related)
            words[-1] += f" and {following.to.phrase()}"
    return words


def _has_same_link(part: Set, following: Set, words: str) -> bool:
    """Whether the end of the next restriction can be added: "crossing Elm Street and Oak Street"."""
    return (
        isinstance(part, Related)
        and isinstance(following, Related)
        and part.link == following.link
        and isinstance(following.to, Named)
        and words.endswith(part.to.phrase())
    )


def _end(patterns: Patterns, to: Set, words: str) -> tuple[Lines, str]:
    """Return lines for the end of a link, and its IRI or variable."""
    if isinstance(to, Named):
        return [], patterns.iri(to.entity.iri)
    target = patterns.variable(words)
    return to.lines(patterns, target), target


def _walked(lines: Lines, path: str, var: str) -> Lines:
    # A repeated path goes into a subquery: joined in place, the store would walk it again for every row
    # (19 s instead of .2 s for 6,000 rows).
    return [f"{{ SELECT DISTINCT {var} WHERE {block(lines)} }}"] if path.endswith("+") else lines


def _is_other(patterns: Patterns, var: str, node: Set) -> Lines:
    return [f"FILTER({var} != {patterns.iri(node.entity.iri)})"] if isinstance(node, Named) else []


def _have_geometry(head: Set, to: Set, compiler: Compiler, typing: Typing) -> Sequence[str]:
    ends = [entity for node in (head, to) if (entity := node.name()) is not None]
    return [compiler.has_geometry(entity, typing) for entity in ends]


def _first_noun(sets: Sequence[Set]) -> str:
    return next((found for part in sets if (found := part.noun()) != "thing"), "thing")
