"""Sets and quantities as SPARQL graph patterns.

The text contains only IRIs of linked things, numbers, literals, and fixed words; nothing from the question
or a label is copied into it, except letters and digits into variable names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from pyoxigraph import Literal, NamedNode

from geo.measure.units import UNITS
from geo.vocabulary import UOM
from sparql.ask.compile.conversion import conversion
from sparql.ask.compile.paths import Paths
from sparql.ask.compile.sparql_text import Variables, Writer
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
    Minus,
    Named,
    Near,
    Op,
    Operation,
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
    Term,
    TextMatch,
    Top,
    ValueOf,
)
from sparql.ask.plan.typing import QuantityKind
from sparql.model.vocabulary import GEO, RDFS, SKOS

__all__ = ["NAMES", "Patterns"]

NAMES: Final = (RDFS.label, SKOS.prefLabel, NamedNode("https://schema.org/name"))
_METER: Final = NamedNode(UOM + "metre")
_GEOF: Final = "http://www.opengis.net/def/function/geosparql/"
_DISTANCE: Final = NamedNode(f"{_GEOF}distance")
_SIZES: Final = {
    Size.AREA: NamedNode(f"{_GEOF}metricArea"),
    Size.LENGTH: NamedNode(f"{_GEOF}metricLength"),
}
# A thing is on a side of a place if its center is beyond all of the place: the function of the center, the
# comparison, and the function of the place.
_CENTROID: Final = NamedNode(f"{_GEOF}centroid")
_SIDES: Final = {
    "north": (NamedNode(f"{_GEOF}minY"), ">", NamedNode(f"{_GEOF}maxY")),
    "south": (NamedNode(f"{_GEOF}maxY"), "<", NamedNode(f"{_GEOF}minY")),
    "east": (NamedNode(f"{_GEOF}minX"), ">", NamedNode(f"{_GEOF}maxX")),
    "west": (NamedNode(f"{_GEOF}maxX"), "<", NamedNode(f"{_GEOF}minX")),
}
_SIGNS: Final = {Op.LESS: "<", Op.AT_MOST: "<=", Op.EQUAL: "=", Op.AT_LEAST: ">=", Op.MORE: ">"}
# Measured of geometries, which takes long and is never equal: they are sorted and not compared with the best.
_MEASURED: Final = (DistanceTo, SizeOf, Position)
_OPERATIONS: Final = {
    Operation.PLUS: "+", Operation.MINUS: "-", Operation.TIMES: "*", Operation.PER: "/"
}  # fmt: skip
# Dates are compared as ISO 8601 text, which works for any precision: a date in 1900 starts with "1900".
_DATE_TESTS: Final = {
    Op.LESS: "{left} < {right}",
    Op.AT_MOST: "({left} < {right} || STRSTARTS({left}, {right}))",
    Op.EQUAL: "STRSTARTS({left}, {right})",
    Op.AT_LEAST: "{left} >= {right}",
    Op.MORE: "({left} > {right} && !STRSTARTS({left}, {right}))",
}


@dataclass
class Patterns:
    """Writes sets and quantities; one for each query, since it names the query's variables."""

    writer: Writer
    paths: Paths
    kind: Callable[[Quantity], QuantityKind]
    variables: Variables = field(default_factory=Variables)

    def members(self, node: Set, var: str, *, few: bool = False) -> list[str]:
        """Return lines that bind a variable to the members of a set.

        With `few`, other lines bind it to some things already, and these lines look at each of them: a store
        would join them with all members of a class, and with all values of a property, which may be millions.
        """
        iri = self.writer.iri
        match node:
            case Named(entity):
                return [f"VALUES {var} {{ {iri(entity.iri)} }}"]
            case Kind(of):
                iri(RDFS.subClassOf)
                line = f"{var} a/rdfs:subClassOf* {iri(of.iri)} ."
                return [f"FILTER EXISTS {{ {line} }}"] if few else [line]
            case Related():
                return self._related(node, var)
            case And(sets):
                few, lines = False, []
                for one in sorted(sets, key=self._order):
                    lines += self.members(one, var, few=few)
                    few = few or self.is_few(one)
                if any(isinstance(one, Near) for one in sets):
                    # Side by side, the patterns of both ends are found by an index of geometries.
                    lines.sort(key=lambda line: not line.startswith("{ SELECT"))
                return lines
            case Or(sets):
                if all(isinstance(one, Named) for one in sets):
                    named = " ".join(iri(one.entity.iri) for one in sets if isinstance(one, Named))
                    return [f"VALUES {var} {{ {named} }}"]
                return [" UNION ".join(self._block(self.members(one, var)) for one in sets)]
            case Minus(kept, without):
                return [*self.members(kept, var, few=few), f"MINUS {self._block(self.members(without, var))}"]
            case Lacking(kept, term):
                value = self.variables.name(term.words)
                pattern = f"{var} {self.paths.property(self.writer, term.iri)} {value}"
                return [*self.members(kept, var, few=few), f"FILTER NOT EXISTS {{ {pattern} }}"]
            case Compare(quantity, op, value):
                return self._compare(quantity, op, value, var, few)
            case CompareTo():
                return self._compare_to(node, var, few)
            case TextMatch(words, term):
                text = self.variables.name("text")
                path = self.paths.property(self.writer, term.iri) if term else "|".join(map(iri, NAMES))
                test = f"CONTAINS(LCASE(STR({text})), {Literal(words.lower())})"
                return [f"{var} {path} {text} .", f"FILTER({test})"]
            case Top():
                return self._top(node, var)
            case SideOf(side, of):
                return self._side(side, of, var)
            case Near(of, meters):
                lines, distance = self.value(DistanceTo(of), var)
                return [*lines, f"FILTER({distance} <= {meters})"]
        raise AssertionError(node)

    def value(self, quantity: Quantity, var: str, *, few: bool = False) -> tuple[list[str], str]:
        """Return lines that find a quantity of what a variable is bound to, and its expression.

        A date is text in ISO 8601. `few` as with `members`.
        """
        iri = self.writer.iri
        match quantity:
            case ValueOf(path, Size() as measured):
                return self._stated_or_measured(path[-1], measured, var)
            case ValueOf(path):
                value = self.variables.name(path[-1].words)
                steps = self.paths.chain(self.writer, [term.iri for term in path])
                return self._dated(quantity, [f"{var} {steps} {value} ."], value, few)
            case EarliestOf(properties):
                value = self.variables.name("date")
                steps = "|".join(self.paths.property(self.writer, term.iri) for term in properties)
                return self._dated(quantity, [f"{var} {steps} {value} ."], value, few)
            case DistanceTo(to):
                lines, there = self._geometry_of(to)
                here = self.variables.name("here wkt")
                lines.append(f"{var} {self.geometry()} {here} .")
                if isinstance(to, Named):
                    lines.append(f"FILTER({var} != {iri(to.entity.iri)})")
                return lines, f"{iri(_DISTANCE)}({here}, {there}, {iri(_METER)})"
            case SizeOf(size):
                here, sized = self.variables.name("here wkt"), self.variables.name(f"measured {size}")
                # A point has no size.
                bound = f"BIND({iri(_SIZES[size])}({here}) AS {sized})"
                return [f"{var} {self.geometry()} {here} .", bound, f"FILTER({sized} > 0)"], sized
            case Position(side):
                here = self.variables.name("here wkt")
                axis = iri(_SIDES[side][0])
                return [f"{var} {self.geometry()} {here} ."], f"{axis}({iri(_CENTROID)}({here}))"
            case ClassOf():
                class_, narrower = self.variables.name("class"), self.variables.name("narrower class")
                below = f"{narrower} {iri(RDFS.subClassOf)}+ {class_}"
                inner = f"{var} a {narrower} . {below} . FILTER({narrower} != {class_})"
                return [f"{var} a {class_} .", f"FILTER NOT EXISTS {{ {inner} }}"], class_
            case Converted(converted, unit):
                lines, expression = self.value(converted, var)
                return lines, f"({expression} * {conversion(converted, unit):.12g})"
            case CountOf():
                counted = self.variables.name("counted")
                return [self._counting(quantity, var, counted)], f"COALESCE({counted}, 0)"
            case Arithmetic(operation, left, right):
                (some, one), (more, other) = self.value(left, var), self.value(right, var)
                return [*some, *more], f"({one} {_OPERATIONS[operation]} {other})"
        raise AssertionError(quantity)

    def geometry(self) -> str:
        """Return the path from a thing to the text of its geometry."""
        default, any_, wkt = map(self.writer.iri, (GEO.hasDefaultGeometry, GEO.hasGeometry, GEO.asWKT))
        return f"({default}|{any_})/{wkt}"

    def placed(self, var: str) -> str:
        """Return a line that finds the text of a geometry to draw, if there is any."""
        default, any_, wkt = map(self.writer.iri, (GEO.hasDefaultGeometry, GEO.hasGeometry, GEO.asWKT))
        # As one path, a store would join it with the geometries of all things.
        return f"OPTIONAL {{ {var} ({default}|{any_}) ?place . OPTIONAL {{ ?place {wkt} ?geometry }} }}"

    def per_member(self, node: Set, quantity: Quantity, var: str, value: str, *, most: bool) -> str:
        """Return a subquery of each member of a set and its value: of several the greatest, or the least."""
        lines = self.members(node, var)
        found, expression = self.value(quantity, var, few=self.is_few(node))
        function = "MAX" if most and not isinstance(quantity, EarliestOf | DistanceTo) else "MIN"
        body = " ".join([*lines, *found])
        return f"SELECT {var} ({function}({expression}) AS {value}) WHERE {{ {body} }} GROUP BY {var}"

    def _stated_or_measured(self, term: Term, size: Size, var: str) -> tuple[list[str], str]:
        iri, name = self.writer.iri, self.variables.name
        stated, here, value = name(f"stated {term.words}"), name("here wkt"), name(term.words)
        steps = self.paths.chain(self.writer, [term.iri])
        default, any_ = map(iri, (GEO.hasDefaultGeometry, GEO.hasGeometry))
        factor = UNITS[term.unit].factor if term.unit in UNITS else 1
        measured = f"{iri(_SIZES[size])}({here}) / {factor:f}"
        lines = [
            # Without it, both optional parts would be joined with everything where nothing else binds it.
            f"{var} {steps}|{default}|{any_} {name('given')} .",
            f"OPTIONAL {{ {var} {steps} {stated} }}",
            f"OPTIONAL {{ {var} {self.geometry()} {here} }}",
            f"BIND(COALESCE({stated}, {measured}) AS {value})",
            f"FILTER({value} > 0)",
        ]
        return lines, value

    def _dated(self, quantity: Quantity, lines: list[str], value: str, few: bool) -> tuple[list[str], str]:
        if few:
            # What is optional is looked up for each thing; without BOUND, what has no value would stay.
            lines = [f"OPTIONAL {{ {' '.join(lines)} }}", f"FILTER(BOUND({value}))"]
        if self.kind(quantity) is not QuantityKind.DATE:
            return lines, value
        # Other than a day, month or year (a period, a year before the year 0) is left out.
        return [*lines, f'FILTER(REGEX(STR({value}), "^[0-9]{{4}}(-|$)"))'], f"STR({value})"

    def _related(self, node: Related, var: str) -> list[str]:
        link, to = node.link, node.to
        path = self.paths.link(self.writer, link)
        if isinstance(link, PlaceLink) and link.place is Place.DISJOINT:
            overlapping = [self.paths.place(self.writer, p) for p in (Place.TOUCHES, Place.OVERLAPS)]
            path = "|".join(overlapping)
        if isinstance(to, Named):
            lines, target = [], self.writer.iri(to.entity.iri)
        else:
            target = self.variables.name("place" if isinstance(link, PlaceLink) else link.property.words)  # type: ignore[attr-defined]
            lines = self.members(to, target)
        pattern = f"{var} {path} {target} ."
        if isinstance(link, PlaceLink) and link.place is Place.DISJOINT:
            here = f"{var} {self.geometry()} {self.variables.name('here wkt')} ."
            return [*lines, here, f"FILTER NOT EXISTS {{ {pattern} }}", f"FILTER({var} != {target})"]
        if not path.endswith("+") and lines == []:
            return [pattern]
        if not path.endswith("+"):
            return [*lines, pattern]
        # A repeated path goes into a subquery: joined in place, the store would walk it again for every row
        # (19 s instead of .2 s for 6,000 rows).
        return [f"{{ SELECT DISTINCT {var} WHERE {{ {' '.join([*lines, pattern])} }} }}"]

    def _compare(self, quantity: Quantity, op: Op, value: Literal, var: str, few: bool) -> list[str]:
        lines, expression = self.value(quantity, var, few=few and not isinstance(quantity, EarliestOf))
        lines, expression = self._earliest(quantity, lines, expression, var)
        kind = self.kind(quantity)
        if kind is QuantityKind.DATE:
            test = _DATE_TESTS[op].format(left=expression, right=str(Literal(value.value)))
        elif kind is QuantityKind.TEXT:
            test = f"LCASE(STR({expression})) = {Literal(value.value.lower())}"
            if op is Op.EQUAL and isinstance(quantity, ValueOf) and len(quantity.path) == 1:
                path = self.paths.chain(self.writer, [quantity.path[0].iri])
                return [f"{var} {path} {value} ."]
        else:
            test = f"{expression} {_SIGNS[op]} {value.value}"
        return [*lines, f"FILTER({test})"]

    def _earliest(
        self, quantity: Quantity, lines: list[str], expression: str, var: str
    ) -> tuple[list[str], str]:
        """Return lines for one date of each thing, where it may have several."""
        if not isinstance(quantity, EarliestOf):
            return lines, expression
        date = self.variables.name("earliest")
        body = " ".join(lines)
        return [f"{{ SELECT {var} (MIN({expression}) AS {date}) WHERE {{ {body} }} GROUP BY {var} }}"], date

    def _compare_to(self, node: CompareTo, var: str, few: bool) -> list[str]:
        quantity, op, to = node.quantity, node.test, node.to
        other = self.variables.name("other")
        own = self.value(quantity, var, few=few and not isinstance(quantity, EarliestOf))
        left, mine = self._earliest(quantity, *own, var)
        right, theirs = self.value(quantity, other)
        value = self.variables.name("other value")
        body = " ".join([*self.members(to, other), *right])
        function = "MIN" if self.kind(quantity) is QuantityKind.DATE else "MAX"
        inner = f"{{ SELECT ({function}({theirs}) AS {value}) WHERE {{ {body} }} }}"
        dated = self.kind(quantity) is QuantityKind.DATE
        test = _DATE_TESTS[op].format(left=mine, right=value) if dated else f"{mine} {_SIGNS[op]} {value}"
        if dated and op is Op.EQUAL:
            # The same year: one of the two may be less exact.
            test = f"SUBSTR({mine}, 1, 4) = SUBSTR({value}, 1, 4)"
        different = [f"FILTER({var} != {self.writer.iri(to.entity.iri)})"] if isinstance(to, Named) else []
        return [inner, *left, f"FILTER({test})", *different]

    def _top(self, node: Top, var: str) -> list[str]:
        if node.count == 1 and node.first == 1 and not isinstance(node.quantity, _MEASURED):
            return [f"{{ SELECT DISTINCT {var} WHERE {self._block(self._ahead(node, var))} }}"]
        value = self.variables.name("value")
        inner = self.per_member(node.set, node.quantity, var, value, most=node.most)
        order = f"DESC({value})" if node.most else value
        offset = f" OFFSET {node.first - 1}" if node.first > 1 else ""
        return [f"{{ {inner} ORDER BY {order} {var} LIMIT {node.count}{offset} }}"]

    def _ahead(self, node: Top, var: str) -> list[str]:
        """Return lines for all members of a set whose value is the most, or the least."""
        best, function = self.variables.name("best"), "MAX" if node.most else "MIN"
        if isinstance(node.quantity, ValueOf) and node.quantity.measured is None:
            few = self.is_few(node.set)
            lines, value = self.value(node.quantity, var, few=few)
            members = self.members(node.set, var)
            first = f"{{ SELECT ({function}({value}) AS {best}) WHERE {self._block([*members, *lines])} }}"
            if few:
                return [first, *members, *lines, f"FILTER({value} = {best})"]
            # The things with the value are few: what they are is looked up for these alone. A subquery makes
            # sure of that, since a store is free to order filters.
            found = (
                f"{{ SELECT DISTINCT {var} WHERE {{ {first} {' '.join(lines)} FILTER({value} = {best}) }} }}"
            )
            return [found, *self.members(node.set, var, few=True)]
        value = self.variables.name("value")
        inner = self.per_member(node.set, node.quantity, var, value, most=node.most)
        return [
            f"{{ SELECT ({function}({value}) AS {best}) WHERE {{ {{ {inner} }} }} }}",
            f"{{ {inner} }}",
            f"FILTER({value} = {best})",
        ]

    def _counting(self, quantity: CountOf, var: str, counted: str) -> str:
        member = self.variables.name("member")
        body = [
            *self.members(quantity.set, member),
            f"{var} {self.paths.link(self.writer, quantity.link)} {member} .",
        ]
        return (
            f"OPTIONAL {{ SELECT {var} (COUNT(DISTINCT {member}) AS {counted}) "
            f"WHERE {{ {' '.join(body)} }} GROUP BY {var} }}"
        )

    def _side(self, side: Side, of: Set, var: str) -> list[str]:
        iri = self.writer.iri
        lines, there = self._geometry_of(of)
        here = self.variables.name("here wkt")
        lines.append(f"{var} {self.geometry()} {here} .")
        if isinstance(of, Named):
            lines.append(f"FILTER({var} != {iri(of.entity.iri)})")
        for name, (of_here, sign, of_there) in _SIDES.items():
            if name in side:
                center = f"{iri(of_here)}({iri(_CENTROID)}({here}))"
                lines.append(f"FILTER({center} {sign} {iri(of_there)}({there}))")
        return lines

    def _geometry_of(self, node: Set) -> tuple[list[str], str]:
        there = self.variables.name("there wkt")
        if isinstance(node, Named):
            return [f"{self.writer.iri(node.entity.iri)} {self.geometry()} {there} ."], there
        thing = self.variables.name("there")
        lines = self.members(node, thing)
        if any(line.startswith(("{", "FILTER")) for line in lines):
            # Joined in place, what restricts these things would be worked out again for each of the others.
            # Their class is repeated beside their geometry, where an index of geometries looks for it.
            kinds = node.sets if isinstance(node, And) else ()
            lines = [f"{{ SELECT DISTINCT {thing} WHERE {self._block(lines)} }}"] + [
                line for one in kinds if isinstance(one, Kind) for line in self.members(one, thing)
            ]
        return [*lines, f"{thing} {self.geometry()} {there} ."], there

    def is_few(self, node: Set) -> bool:
        """Whether a set is found from a place, and not by its class or values; a name needs no search."""
        match node:
            case Top():
                return True
            case And(sets):
                return any(map(self.is_few, sets))
            case Or(sets):
                return all(map(self.is_few, sets))
            case Minus(kept, _) | Lacking(kept, _):
                return self.is_few(kept)
            case Related(PlaceLink(Place.WITHIN), to):
                return isinstance(to, Named) or self.is_few(to)
            case Related(PropertyLink(term, False), to) if term.iri in self.paths.places.inside:
                return isinstance(to, Named) or self.is_few(to)
        return False

    def _order(self, node: Set) -> int:
        """Names first, then what is in a place, then classes; what only filters last."""
        if isinstance(node, Named | Top):
            return 0
        if isinstance(node, Compare | CompareTo):
            return 5 if isinstance(node.quantity, CountOf) else 3
        if isinstance(node, Near | SideOf):
            return 4
        return 1 if self.is_few(node) else 2

    @staticmethod
    def _block(lines: list[str]) -> str:
        return f"{{ {' '.join(lines)} }}"
