"""What the SPARQL of a plan is written with, and what its query finds.

The text contains only IRIs of linked things, numbers, literals, and fixed words; nothing from the question
or a label is copied into it, except letters and digits into variable names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from pyoxigraph import NamedNode

from ontology import Schema
from ontology.labels import local_name
from sparql.ask.places import StatedPlaces
from sparql.ask.plan.terms import Place, Term
from sparql.ask.plan.typing import Typing
from sparql.model.vocabulary import GEO, RDFS, SKOS

NAMES: Final = (RDFS.label, SKOS.prefLabel, NamedNode("https://schema.org/name"))
_STANDARD_PREFIXES: Final[Mapping[str, str]] = {
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "geof": "http://www.opengis.net/def/function/geosparql/",
    "uom": "http://www.opengis.net/def/uom/OGC/1.0/",
}
_PREFIX: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LOCAL: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")
_TAKEN: Final = ("label", "name", "place", "geometry", "wkt", "count", "size", "result", "of", "number")
Row = Mapping[str, Mapping[str, str]]


class Result(StrEnum):
    """What a query returns: entities (perhaps with values), values alone, or a truth value."""

    ENTITIES = "entities"
    VALUES = "values"
    TRUTH = "truth"


@dataclass(frozen=True)
class Query:
    """A compiled plan: the text, and the columns of its rows.

    `variable` is the column of the result (without its question mark); entities also have `label` and `wkt`.
    `columns` are further columns with values, such as a measure.
    """

    text: str
    variable: str
    result: Result
    limit: int
    columns: tuple[str, ...] = ()

    def first(self, count: int) -> Query:
        """Return the query for the first rows alone."""
        least = min(count, self.limit)
        return replace(self, text=self.text.removesuffix(f"LIMIT {self.limit}\n") + f"LIMIT {least}\n")


def rows_of(results: Mapping[str, Any]) -> Sequence[Row]:
    """Return the rows with a result; the row of an aggregate over nothing has none."""
    rows: Sequence[Row] = results.get("results", {}).get("bindings", ())
    return [row for row in rows if row]


@dataclass(frozen=True)
class Outcome:
    """The query of a plan and its SPARQL JSON results."""

    query: Query
    results: Mapping[str, Any]

    @property
    def holds(self) -> bool:
        """The truth value of an ASK query."""
        return bool(self.results.get("boolean"))

    @property
    def rows(self) -> Sequence[Row]:
        return rows_of(self.results)

    @property
    def count(self) -> int:
        """How many things were found: the count, 1 for yes, else the number of rows."""
        query, rows = self.query, self.rows
        if query.result is Result.TRUTH:
            return int(self.holds)
        if query.variable == "count":
            return int(rows[0]["count"]["value"]) if rows and "count" in rows[0] else 0
        if query.columns == ("of",):
            return int(rows[0]["of"]["value"]) if rows else 0
        return sum(query.variable in row for row in rows)

    @property
    def labels(self) -> list[str]:
        """A name for each row: its label, else the literal, else the end of the IRI."""
        labels = []
        for row in self.rows:
            term = row.get(self.query.variable)
            if term is not None:
                name = local_name(term["value"]) if term["type"] == "uri" else term["value"]
                labels.append(row["label"]["value"] if "label" in row else name)
        return labels

    @property
    def found(self) -> Hashable:
        """What identifies the result: the things and values found."""
        if "boolean" in self.results:
            return self.holds
        names = (self.query.variable, *self.query.columns)
        return frozenset(tuple(row.get(n, {}).get("value") for n in names) for row in self.rows)


class Patterns:
    """Writes the text of one query: records the prefixes that it uses, and names its variables.

    `used` says whether the graph has statements of a property. Of the properties that state a location only
    those are written that it has: a repeated path looks each of them up at every step.
    """

    def __init__(
        self,
        schema: Schema,
        places: StatedPlaces,
        typing: Typing,
        used: Callable[[NamedNode], bool],
        limit: int,
    ) -> None:
        usable = {
            prefix: space
            for prefix, space in schema.prefixes.items()
            if _PREFIX.fullmatch(prefix) and prefix not in _STANDARD_PREFIXES and _is_iri(space)
        }
        everything = {**usable, **_STANDARD_PREFIXES}
        self._by_length = sorted(everything.items(), key=lambda pair: (-len(pair[1]), pair[0]))
        self._prefixes: dict[str, str] = {}
        self._taken = set(_TAKEN)
        self._schema = schema
        self.places = places
        self.typing = typing
        self._used = used
        self.limit = limit

    def iri(self, iri: NamedNode) -> str:
        """Return `prefix:local`, or `<iri>` where the local part would need escapes."""
        for prefix, space in self._by_length:
            if iri.value.startswith(space) and _LOCAL.fullmatch(iri.value[len(space) :]):
                self._prefixes[prefix] = space
                return f"{prefix}:{iri.value[len(space) :]}"
        return str(iri)

    def variable(self, words: str) -> str:
        """Return a new variable named after words: "subway station" is `?subwayStation`."""
        plain = unicodedata.normalize("NFKD", words).encode("ascii", "ignore").decode()
        parts = re.findall(r"[A-Za-z0-9]+", plain)[:4]
        stem = "".join([part.lower() if i == 0 else part.capitalize() for i, part in enumerate(parts)])
        stem = stem if stem[:1].isalpha() else f"item{stem.capitalize()}"
        found, number = stem, 2
        while found in self._taken:
            found, number = f"{stem}{number}", number + 1
        self._taken.add(found)
        return f"?{found}"

    def property_path(self, iri: NamedNode, *, inverse: bool = False) -> str:
        """Return the path of a property, with its subproperties and declared inverses.

        One that means containment or touching includes what is computed; one of regions is transitive.
        """
        for place, properties in (
            (Place.WITHIN, self.places.inside),
            (Place.CONTAINS, self.places.around),
            (Place.TOUCHES, self.places.touches),
            (Place.OVERLAPS, self.places.crosses),
        ):
            if iri in properties:
                return self.place_path(place.inverse if inverse else place)
        known = self._schema.properties.get(iri)
        forward = {iri} | (self._schema.subproperties(iri) & self._schema.properties.keys())
        backward = {p.inverse for sub in forward if (p := self._schema.properties.get(sub)) and p.inverse}
        if known is not None and known.symmetric:
            backward |= forward
        if inverse:
            forward, backward = backward, forward
        first = [iri] if iri in forward else []
        steps = [self.iri(step) for step in (*first, *_sorted(forward - {iri}))]
        steps += [f"^{self.iri(step)}" for step in _sorted(backward)]
        return _path(steps, repeated=known is not None and known.transitive)

    def chain(self, terms: Iterable[Term]) -> str:
        """Return the path along several properties."""
        return "/".join(self.property_path(term.iri) for term in terms)

    def place_path(self, place: Place) -> str:
        """Return the path of a place link: what is computed from geometry, and what is stated."""
        if place in (Place.WITHIN, Place.CONTAINS):
            # Computed containment or stated location, mixed in any order.
            mark, unmark = ("", "^") if place is Place.WITHIN else ("^", "")
            inside = [GEO.rcc8tpp, GEO.rcc8ntpp, *filter(self._used, self.places.within)]
            steps = [mark + self.iri(iri) for iri in inside]
            steps += [unmark + self.iri(iri) for iri in filter(self._used, self.places.contains)]
            return _path(steps, repeated=True)
        computed: tuple[NamedNode, ...] = (GEO.rcc8ec,)
        properties = self.places.touches
        if place is not Place.TOUCHES:
            # A line that ends inside of an area overlaps it; one that is all inside runs through it as well.
            computed = (GEO.rcc8po, GEO.rcc8tpp, GEO.rcc8ntpp, GEO.rcc8tppi, GEO.rcc8ntppi)
            properties = self.places.crosses
        stated = [self.iri(iri) for iri in properties]
        return _path([*map(self.iri, computed), *stated, *(f"^{name}" for name in stated)])

    def geometry(self) -> str:
        """Return the path from a thing to the text of its geometry."""
        default, any_, wkt = map(self.iri, (GEO.hasDefaultGeometry, GEO.hasGeometry, GEO.asWKT))
        return f"({default}|{any_})/{wkt}"

    def placed(self, var: str) -> str:
        """Return a line for the text of a geometry to draw, if there is any."""
        default, any_, wkt = map(self.iri, (GEO.hasDefaultGeometry, GEO.hasGeometry, GEO.asWKT))
        # As one path, a store would join it with the geometries of all things.
        return f"OPTIONAL {{ {var} ({default}|{any_}) ?place . OPTIONAL {{ ?place {wkt} ?geometry }} }}"

    def query(self, text: str, variable: str, result: Result, columns: tuple[str, ...] = ()) -> Query:
        """Return the query of a text, with its prefixes."""
        header = "".join(f"PREFIX {name}: <{space}>\n" for name, space in sorted(self._prefixes.items()))
        return Query(header + text, variable, result, self.limit, columns)

    def ask(self, lines: Sequence[str]) -> Query:
        """Return the query whether there is anything."""
        return self.query(f"ASK {where(lines)[6:]}", "", Result.TRUTH)

    def labeled(
        self, var: str, lines: Sequence[str], selected: str, order: str, columns: tuple[str, ...]
    ) -> Query:
        """Return the query for things with their names and geometries, and with columns of values."""
        names = _path(self.iri(iri) for iri in NAMES)
        body = where([*lines, f"OPTIONAL {{ {var} {names} ?name }}", self.placed(var)])
        text = (
            f"SELECT {var} (MIN(?name) AS ?label) (SAMPLE(?geometry) AS ?wkt){selected}\n{body}"
            f"GROUP BY {var}\nORDER BY {order} {var}\nLIMIT {self.limit}\n"
        )
        return self.query(text, var[1:], Result.ENTITIES, columns)


def where(lines: Iterable[str]) -> str:
    """Return the WHERE clause of lines."""
    return "WHERE {\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


def block(lines: Iterable[str]) -> str:
    """Return lines as one group graph pattern."""
    return f"{{ {' '.join(lines)} }}"


def _path(steps: Iterable[str], *, repeated: bool = False) -> str:
    """Return a property path of alternatives, in brackets where SPARQL needs them."""
    alternatives = list(dict.fromkeys(steps))
    joined = "|".join(alternatives)
    if repeated:
        return f"({joined})+"
    plain = len(alternatives) == 1 and not joined.startswith("^")
    return joined if plain else f"({joined})"


def _sorted(iris: set[NamedNode]) -> list[NamedNode]:
    return sorted(iris, key=lambda iri: iri.value)


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True
