"""Features by class, in pages: what OGC API - Features (17-069r4) is answered from.

A class is a collection when something with a geometry is an instance of it or of a class below it; a class of
another vocabulary only when it is stated of a feature. The geometries come from the index of relations, the
classes from the index of names, so that a page costs one small query for the properties of its features.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, Final

from pyoxigraph import NamedNode

from ontology.schema import Schema
from sparql.model.vocabulary import GEO, OWL, RDF, XSD
from sparql.names.label_state import MAIN_LABELS
from sparql.names.labels import LabelIndex
from sparql.spatial.relations import SpatialRelations

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray
    from shapely.geometry.base import BaseGeometry

Box = tuple[float, float, float, float]
"""West, south, east, north in degrees. The first may be over the third (RFC 7946, 5.2)."""
RunQuery = Callable[[str], Awaitable[Mapping[str, Any]]]

_NUMBERS: Final = frozenset(
    XSD.term(name).value
    for name in (
        *("integer", "int", "long", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("unsignedInt", "unsignedLong", "unsignedShort", "decimal", "double", "float"),
    )
)
_DATES: Final = " ".join(str(one) for one in (XSD.date, XSD.dateTime, XSD.gYear, XSD.gYearMonth))
_EVERYTHING: Final = frozenset({OWL.Thing, OWL.NamedIndividual})
_EARLIEST, _LATEST = "0000-01-01T00:00:00", "9999-12-31T23:59:60"


@dataclass(frozen=True)
class FeatureClass:
    """One collection. `rows` are its members in the features of its `Collections`."""

    identifier: str
    iri: NamedNode
    title: str
    description: str
    rows: NDArray[numpy.intp]


@dataclass(frozen=True)
class Collections:
    """All features at one revision, in the order of their IRIs, and the classes that they are in."""

    revision: int
    version: str
    iris: Sequence[NamedNode]
    shapes: NDArray[numpy.object_]
    bounds: NDArray[numpy.float64]
    classes: Mapping[str, FeatureClass]

    def extent(self, rows: NDArray[numpy.intp]) -> list[float]:
        """The box around features."""
        boxes = self.bounds[rows]
        return [*boxes[:, :2].min(axis=0).tolist(), *boxes[:, 2:].max(axis=0).tolist()]

    def within(self, rows: NDArray[numpy.intp], box: Box) -> NDArray[numpy.intp]:
        """Those of the features that meet a box."""
        import numpy
        import shapely

        west, south, east, north = box
        parts = [box] if west <= east else [(west, south, 180.0, north), (-180.0, south, east, north)]
        met = numpy.zeros(len(rows), dtype=bool)
        for part in parts:
            low, high = self.bounds[rows, :2], self.bounds[rows, 2:]
            near = numpy.flatnonzero(((low <= part[2:]) & (high >= part[:2])).all(axis=1))
            met[near[shapely.intersects(self.shapes[rows[near]], shapely.box(*part))]] = True
        return rows[met]


class FeatureCatalog:
    """Makes the collections of the current revision, and keeps the last; blocks."""

    def __init__(self, relations: SpatialRelations, labels: LabelIndex) -> None:
        self._relations = relations
        self._labels = labels
        self._lock = Lock()
        self._kept: Collections | None = None

    def at(self, revision: int, schema: Schema) -> Collections:
        """The collections at this revision or a later one."""
        with self._lock:
            kept = self._kept
            if kept is None or (kept.revision, kept.version) != (revision, schema.version):
                kept = self._kept = self._made(revision, schema)
            return kept

    def _made(self, revision: int, schema: Schema) -> Collections:
        import numpy
        import shapely

        located: dict[NamedNode, list[BaseGeometry]] = defaultdict(list)
        for node, shape in self._relations.located():
            if isinstance(node, NamedNode):
                located[node].append(shape)
        iris = sorted(located, key=lambda iri: iri.value)
        shapes = numpy.empty(len(iris), dtype=object)
        members: dict[NamedNode, list[int]] = defaultdict(list)
        for row, iri in enumerate(iris):
            found = located[iri]
            shapes[row] = found[0] if len(found) == 1 else shapely.GeometryCollection(found)
            for one in _with_superclasses(self._labels.classes_of(iri), schema):
                members[one].append(row)
        names = _identifiers(members, schema)
        classes = [
            FeatureClass(names[iri], iri, *_described(iri, schema), numpy.array(rows, dtype=numpy.intp))
            for iri, rows in members.items()
        ]
        classes.sort(key=lambda one: one.identifier)
        bounds = shapely.bounds(shapes)
        return Collections(
            revision, schema.version, iris, shapes, bounds, {one.identifier: one for one in classes}
        )


def _with_superclasses(stated: Iterable[NamedNode], schema: Schema) -> frozenset[NamedNode]:
    above = {one for kind in stated for one in schema.superclasses(kind)}
    own = {one for one in above if one in schema.classes and not schema.classes[one].borrowed}
    return frozenset(own.union(stated)) - _EVERYTHING


def _identifiers(classes: Iterable[NamedNode], schema: Schema) -> dict[NamedNode, str]:
    """A short name for each class, to be a part of a path: the local name where no other has the same."""
    often = Counter(map(_local_name, classes))
    named = [(namespace, prefix) for prefix, namespace in schema.prefixes.items() if prefix]
    names = {}
    for iri in classes:
        name = _local_name(iri)
        if often[name] > 1:
            prefixes = (f"{prefix}_{name}" for space, prefix in named if space + name == iri.value)
            digest = hashlib.blake2b(iri.value.encode(), digest_size=4).hexdigest()
            name = next(prefixes, f"{name}_{digest}")
        names[iri] = re.sub(r"[/?#%\s]", "-", name)
    return names


def _local_name(iri: NamedNode) -> str:
    return (
        iri.value[max(iri.value.rfind("#"), iri.value.rstrip("/").rfind("/")) + 1 :].strip("/") or iri.value
    )


def _described(iri: NamedNode, schema: Schema) -> tuple[str, str]:
    known = schema.classes.get(iri)
    return (known.label or _local_name(iri), known.definition) if known else (_local_name(iri), "")


async def properties_of(
    iris: Sequence[NamedNode], schema: Schema, run_query: RunQuery
) -> dict[str, dict[str, Any]]:
    """What the graph says of features, by IRI and by name of the property.

    Without what GeoSPARQL's terms say, which the geometry says already. A property with several values gives
    a list.
    """
    if not iris:
        return {}
    listed = " ".join(map(str, iris))
    rows = await run_query(
        f"SELECT ?f ?p ?v WHERE {{ VALUES ?f {{ {listed} }} ?f ?p ?v FILTER(!ISBLANK(?v) && ?p != {RDF.type} "
        f'&& !STRSTARTS(STR(?p), "{GEO.iri}")) }} ORDER BY ?f ?p ?v'
    )
    names = _property_names(schema)
    found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
    for row in rows["results"]["bindings"]:
        if row["v"]["type"] in ("uri", "literal"):
            name = names(NamedNode(row["p"]["value"]))
            found[row["f"]["value"]][name].append(_value(row["v"]))
    return {
        iri: {name: values[0] if len(values) == 1 else values for name, values in members.items()}
        for iri, members in found.items()
    }


def _property_names(schema: Schema) -> Callable[[NamedNode], str]:
    """The local name where the ontology has one such property, else with its prefix, else the IRI."""
    often = Counter(map(_local_name, schema.properties))
    named = [(namespace, prefix) for prefix, namespace in schema.prefixes.items() if prefix]

    def name(iri: NamedNode) -> str:
        local = _local_name(iri)
        if iri in MAIN_LABELS or (iri in schema.properties and often[local] == 1):
            return local
        return next((f"{prefix}_{local}" for space, prefix in named if space + local == iri.value), iri.value)

    return name


def _value(term: Mapping[str, str]) -> Any:
    """A term as JSON has it; what JSON has no form for, such as a date, as text."""
    datatype, text = term.get("datatype"), term["value"]
    if datatype == XSD.boolean.value:
        return text in ("true", "1")
    if datatype in _NUMBERS:
        try:
            return int(text)
        except ValueError:
            number = float(text)
            return number if number - number == 0 else text
    return text


def interval_of(text: str) -> tuple[str, str] | None:
    """The first and last second of a date, a year, a month or a moment; None for what is none.

    Time zones are not compared, and years have four digits.
    """
    moment = text.strip().upper().removesuffix("Z")
    known = len(moment.partition(".")[0])
    if known not in (4, 7, 10, 19) or not all(
        part.isdigit() for part in moment.replace("T", "-").replace(":", "-").partition(".")[0].split("-")
    ):
        return None
    return moment + _EARLIEST[known:], moment + _LATEST[known:]


async def during(
    iris: Sequence[NamedNode], first: str, last: str, run_query: RunQuery, *, at_once: int = 1000
) -> frozenset[NamedNode]:
    """Those of the features that have a date between two moments, whatever it is the date of."""
    found = set()
    for start in range(0, len(iris), at_once):
        listed = " ".join(map(str, iris[start : start + at_once]))
        rows = await run_query(
            f"SELECT DISTINCT ?f ?v WHERE {{ VALUES ?f {{ {listed} }} ?f ?p ?v "
            f"FILTER(DATATYPE(?v) IN ({_DATES.replace(' ', ', ')})) }}"
        )
        for row in rows["results"]["bindings"]:
            of = interval_of(row["v"]["value"])
            if of is not None and of[0] <= last and of[1] >= first:
                found.add(NamedNode(row["f"]["value"]))
    return frozenset(found)
