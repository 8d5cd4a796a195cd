"""RCC8 between all features, kept up to date with every change to a geometry.

A feature's default geometry counts, else each of its geometries. All relations except DC are stored, in both
directions (GeoSPARQL 1.1, 10.4). A change of a geometry removes every relation of its feature and relates it
anew against the index: the cost depends on the feature's neighbors, not the graph.
"""

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from time import monotonic

import numpy
import shapely
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Triple
from shapely.geometry.base import BaseGeometry

from geo.errors import GeometryError
from geo.formats.literals import parse_geometry, parse_many
from geo.measure.measures import crossings
from geo.relate.index import FeatureIndex
from geo.relate.rcc8 import PROPERTIES, RCC8
from sparql.model.change import Delta
from sparql.model.errors import RelatingTooInvolved, RelationTooInvolved
from sparql.model.geometry import (
    DEFAULT_GEOMETRY,
    EXACT,
    HAS_GEOMETRY,
    SERIALIZATIONS,
    Tolerances,
    is_marked,
    marked,
    node_of,
    states_geometry,
)
from sparql.model.source import KnownAbsent, Overlay, QuadSource, Term, TripleIndex, TripleSource
from sparql.spatial.geometry_reading import (
    GeometryReading,
    literals_in_portions,
    node_columns,
    read_geometries,
    subject_column,
)
from sparql.storage.gil_yield import with_pauses

Node = NamedNode | BlankNode
Key = tuple[Node, Node]
"""A feature and one of its geometry nodes."""
_Standing = tuple[dict[Key, BaseGeometry], float | None]
"""The geometries of a feature, and its tolerance where it is in a layer."""

_BULK_SHARE = 4
"""From this many changed features on, their pairs are related in one sweep instead of one by one."""
_MOST_CROSSINGS = 1_000_000
"""Of the edges of two geometries that are related while other writers wait: some seconds."""
_MOST_PAIRS = 250_000
_PAIRS_A_FEATURE = 20
"""Features whose boxes meet those of a changed one, in memory together with two relations each."""
_FEW_VERTICES = 10
_RELATION = {name: PROPERTIES[name] for name in RCC8}
_RELATIONS = frozenset(_RELATION.values())


class SpatialRelations:
    """The deriver of RCC8 relations; `index` holds every feature's geometry.

    `tolerances` are how far borders may be off. A change may be related for `limit_s`, since others wait.
    """

    def __init__(self, tolerances: Tolerances = EXACT, limit_s: float = math.inf) -> None:
        self._tolerances = tolerances
        self._limit_s = limit_s
        self._deadline = math.inf
        self._keys: dict[Node, dict[Key, BaseGeometry]] = {}
        # The tolerance of the features with a geometry that are in a layer.
        self._own: dict[Node, float] = {}
        self.index = self._index_of(())
        self._undo: dict[Node, _Standing] = {}
        self._first = False
        # The last store that has the right mark: only this object changes it.
        self._marked: QuadSource | None = None

    def derives_from(self, triple: Triple) -> bool:
        """Whether a change with this triple may change a relation."""
        return states_geometry(triple) or self._tolerances.concerns(triple)

    def rebuild(self, source: TripleSource, reading: GeometryReading | None = None) -> None:
        """Read all geometries from the graph; the relations themselves are stored already.

        `reading` is the current content of the graph, if it was read already.
        """
        self._keys = dict(_all_geometries(source, reading))
        own = self._tolerances.all_own(source)
        self._own = {feature: meters for feature, meters in own.items() if feature in self._keys}
        self.index = self._index_of(item for geometries in self._keys.values() for item in geometries.items())
        self._undo = {}
        self._marked = None

    def plan(
        self,
        before: TripleSource,
        derived: TripleSource,
        additions: Collection[Triple],
        removals: Collection[Triple],
    ) -> Delta:
        """The relations to add and remove with a change; the index reflects it at once, until `undo`.

        Raises `RelationTooInvolved` and `RelatingTooInvolved`; then nothing is planned.
        """
        self._undo = {}
        self._deadline = monotonic() + self._limit_s
        self.index.watch = self._check_time
        try:
            return self._planned(before, derived, additions, removals)
        except BaseException:
            self.undo()
            raise
        finally:
            self.index.watch = None

    def _planned(
        self,
        before: TripleSource,
        derived: TripleSource,
        additions: Collection[Triple],
        removals: Collection[Triple],
    ) -> Delta:
        before = before if isinstance(before, KnownAbsent) else KnownAbsent(before)
        added = TripleIndex(additions)
        after = Overlay(before, added, removals)
        changed: dict[Node, _Standing] = {}
        for feature in self._affected(Overlay(before, added), (*additions, *removals)):
            self._check_time()
            geometries = _geometries(after, feature)
            found = geometries, self._tolerances.own(after, feature) if geometries else None
            if found != self._standing(feature):
                changed[feature] = found
        if not changed:
            return Delta()
        self._first = not self._keys
        self._undo = {feature: self._standing(feature) for feature in changed}
        self._set_all(changed)
        self._refuse_too_involved(changed)
        # A feature without geometry has no relations.
        had = [feature for feature, (geometries, _) in self._undo.items() if geometries]
        most = 2 * self._most_pairs(changed)
        old: set[Triple] = set()
        for feature in had:
            self._check_time()
            old.update(islice(_stored_relations(derived, feature), most + 1))
            if len(old) > most:
                raise RelatingTooInvolved(f"are more than {most:,}")
        bulk = len(changed) * _BULK_SHARE >= len(self._keys)
        new = set(self._all_relations(changed) if bulk else self._relations_of(changed))
        return Delta(frozenset(new - old), frozenset(old - new))

    def catch_up(self, source: TripleSource, derived: TripleSource) -> Delta:
        """All relations again, compared with those stored; the index reflects the current graph."""
        self.rebuild(source)
        return self.differing(derived)

    def differing(self, derived: TripleSource) -> Delta:
        """All relations anew, against those that are stored, of the geometries that were read last."""
        old = {triple for predicate in _RELATION.values() for triple in derived.match(None, predicate, None)}
        new = set(self._all_relations(self._keys))
        return Delta(frozenset(new - old), frozenset(old - new))

    def marked(self, store: QuadSource, *, whole: bool = False) -> tuple[list[Quad], list[Quad]]:
        """The quads to add and remove so that the store records the basis of its relations.

        For the current plan, or (`whole`) for all relations again.
        """
        if not (whole or self._undo) or store is self._marked:
            return [], []
        if is_marked(store, self._tolerances):
            self._marked = store
            return [], []
        return marked(store, self._tolerances, whole=whole, first=self._first)

    def undo(self) -> None:
        """Remove the last plan from the index."""
        if self._undo:
            self._set_all(self._undo)
            self._undo = {}

    def keep(self) -> None:
        """The last plan was committed."""
        self._undo = {}

    def geometry_of(self, feature: NamedNode) -> tuple[BaseGeometry, ...]:
        """The geometries that count for a feature, in CRS84."""
        return tuple(self._keys.get(feature, {}).values())

    def located(self) -> list[tuple[Node, BaseGeometry]]:
        """Every feature with each of its geometries that count, in CRS84. May be called on any thread."""
        # The copy is one step of the interpreter, so the writer's thread changes nothing meanwhile.
        features = list(self._keys.items())
        return [(node, shape) for node, shapes in features for shape in list(shapes.values())]

    def geometry_with(self, source: TripleSource, feature: Node) -> tuple[BaseGeometry, ...]:
        """Like `geometry_of`, or what a source beside the graph says about a feature it lacks."""
        return tuple((self._keys.get(feature) or _geometries(source, feature)).values())

    def tolerance_with(self, source: TripleSource, feature: Node) -> float:
        """How inaccurate a feature's borders may be, by the graph and by a source beside it, in meters."""
        known = (self._own.get(feature), self._tolerances.own(source, feature))
        return max((meters for meters in known if meters is not None), default=self._tolerances.default_m)

    def _index_of(self, located: Iterable[tuple[Key, BaseGeometry]]) -> FeatureIndex[Key]:
        tolerances = self._tolerances
        if not tolerances.layers:
            return FeatureIndex(located, tolerance_m=tolerances.default_m)
        return FeatureIndex(
            located,
            tolerance_m=tolerances.largest_m,
            tolerance_of=lambda key: self._own.get(key[0], tolerances.default_m),
        )

    def _standing(self, feature: Node) -> _Standing:
        return self._keys.get(feature, {}), self._own.get(feature)

    def _affected(self, either: TripleSource, triples: Iterable[Triple]) -> dict[Node, None]:
        """The features whose geometry or layer these triples may change; `either` is before and after."""
        features: dict[Node, None] = {}
        for triple in triples:
            if triple.predicate in HAS_GEOMETRY:
                features[_node(triple.subject)] = None
            elif triple.predicate in SERIALIZATIONS:
                for predicate in HAS_GEOMETRY:
                    for owner in either.match(None, predicate, triple.subject):
                        features[_node(owner.subject)] = None
            elif self._tolerances.concerns(triple):
                features[_node(triple.subject)] = None
        return features

    def _set_all(self, changed: Mapping[Node, _Standing]) -> None:
        for feature in changed:
            for key in self._keys.pop(feature, {}):
                self.index.remove(key)
            self._own.pop(feature, None)
        self.index.insert_all([item for geometries, _ in changed.values() for item in geometries.items()])
        for feature, (geometries, own) in changed.items():
            if geometries:
                self._keys[feature] = geometries
            if own is not None:
                self._own[feature] = own

    def _relations_of(self, features: Iterable[Node]) -> Iterator[Triple]:
        keys = [key for feature in features for key in self._keys.get(feature, {})]
        for (feature, _), (other, _), relation in self.index.relations_among(keys):
            yield from both_ways(feature, relation, other)

    def _check_time(self) -> None:
        if monotonic() > self._deadline:
            raise RelatingTooInvolved(f"took more than {self._limit_s:g} s to compute")

    def _most_pairs(self, changed: Mapping[Node, _Standing]) -> int:
        """How many pairs a change may relate: some features of each, and very many of a few."""
        return _MOST_PAIRS + _PAIRS_A_FEATURE * len(changed)

    def _refuse_too_involved(self, changed: Mapping[Node, _Standing]) -> None:
        """Raises `RelatingTooInvolved` for too many pairs, `RelationTooInvolved` where one takes seconds."""
        left = self._most_pairs(changed)
        for feature, (geometries, _) in changed.items():
            for shape in geometries.values():
                self._check_time()
                left -= self.index.count(shape)
                if left < 0:
                    raise RelatingTooInvolved(f"are of more than {self._most_pairs(changed):,} pairs")
                vertices = int(shapely.get_num_coordinates(shape))
                if vertices < _FEW_VERTICES:
                    continue
                keys, near = self.index.search(shape)
                many = shapely.get_num_coordinates(near) >= _MOST_CROSSINGS / vertices
                for place in numpy.flatnonzero(many).tolist():
                    self._check_time()
                    other = keys[place][0]
                    if other != feature and crossings(shape, near[place]) > _MOST_CROSSINGS:
                        raise RelationTooInvolved(feature, other, _MOST_CROSSINGS)

    def _all_relations(self, features: Collection[Node]) -> Iterator[Triple]:
        """The same for many features together: every pair with one of them is related once."""
        keys = [key for feature in features for key in self._keys.get(feature, {})]
        for (first, _), (second, _), relation in self.index.relate_all(keys):
            yield from both_ways(first, relation, second)


def geometries_in(source: TripleSource, feature: Node) -> tuple[BaseGeometry, ...]:
    """The geometries that count for a feature, in CRS84."""
    return tuple(_geometries(source, feature).values())


def located_features(source: TripleSource) -> Iterator[tuple[Node, BaseGeometry]]:
    """Every feature of a graph with each of its geometries that count, in CRS84.

    Names are kept in memory, geometries are not.
    """
    links = (columns for link in HAS_GEOMETRY for columns in node_columns(source, link))
    only = _only_nodes(links)
    literals = Counter(
        node for one in SERIALIZATIONS for subjects in subject_column(source, one) for node in subjects
    )
    owners: dict[str, str] = {}
    left: list[str] = []
    for feature, node in only.items():
        if node is None or literals[node] > 1 or owners.setdefault(node, feature) != feature:
            left.append(feature)
    del only, literals
    for serialization in SERIALIZATIONS:
        for portion in literals_in_portions(source, serialization):
            plain = [(owners[node], literal) for node, literal in portion if node in owners]
            shapes = parse_many([literal for _, literal in plain]).shapes
            for (feature, _), shape in zip(plain, shapes, strict=True):
                if shape is not None and not shape.is_empty:
                    yield node_of(feature), shape
    for feature in left:
        for shape in _geometries(source, node_of(feature)).values():
            yield node_of(feature), shape


def _all_geometries(
    source: TripleSource, reading: GeometryReading | None = None
) -> Iterator[tuple[Node, dict[Key, BaseGeometry]]]:
    """Every feature that has a geometry, with those that count (see `_geometries`), read in one sweep."""
    reading = reading or read_geometries(source)
    nodes = _only_nodes(reading.links.values())
    rows: dict[str, int | None] = {}
    for row, (located, literal) in with_pauses(enumerate(zip(reading.nodes, reading.literals, strict=True))):
        rows[located] = None if literal is None or located in rows else row
    there = (~shapely.is_missing(reading.shapes) & ~shapely.is_empty(reading.shapes)).tolist()
    for name, only in with_pauses(nodes.items()):
        feature, place = node_of(name), None if only is None else rows.get(only)
        if only is None or place is None:
            geometries = _geometries(source, feature)
        else:
            shape: BaseGeometry = reading.shapes[place]
            geometries = {(feature, node_of(only)): shape} if there[place] else {}
        if geometries:
            yield feature, geometries


def _only_nodes(links: Iterable[tuple[list[str], list[str | None]]]) -> dict[str, str | None]:
    """The geometry node of each feature; None for several, or for an object that is no node."""
    nodes: dict[str, str | None] = {}
    for features, led in links:
        for name, node in with_pauses(zip(features, led, strict=True)):
            nodes[name] = node if nodes.setdefault(name, node) == node else None
    return nodes


def both_ways(feature: Node, relation: RCC8, other: Node) -> Iterator[Triple]:
    """A relation and its inverse as statements; none of a feature to itself."""
    if other != feature:
        yield Triple(feature, _RELATION[relation], other)
        yield Triple(other, _RELATION[relation.inverse], feature)


def _stored_relations(source: TripleSource, feature: Node) -> Iterable[Triple]:
    for triple in (*source.match(feature, None, None), *source.match(None, None, feature)):
        if triple.predicate in _RELATIONS:
            yield triple


def _geometries(source: TripleSource, feature: Node) -> dict[Key, BaseGeometry]:
    """The feature's default geometries, else all. Unreadable ones, which only data older than the gate can
    have, are left out.
    """
    for predicates in (DEFAULT_GEOMETRY, HAS_GEOMETRY[len(DEFAULT_GEOMETRY) :]):
        found = {}
        nodes = [t.object for predicate in predicates for t in source.match(feature, predicate, None)]
        for node in nodes:
            if isinstance(node, Literal | Triple):
                continue
            geometry = _geometry(source, node)
            if geometry is not None and not geometry.is_empty:
                found[(feature, node)] = geometry
        if found:
            return found
    return {}


def _geometry(source: TripleSource, node: Node) -> BaseGeometry | None:
    for predicate in SERIALIZATIONS:
        literals = sorted(
            (t.object for t in source.match(node, predicate, None) if isinstance(t.object, Literal)),
            key=lambda literal: literal.value,
        )
        for literal in literals:
            geometry = _read(literal)
            if geometry is not None:
                return geometry
    return None


def _read(literal: Literal) -> BaseGeometry | None:
    try:
        return parse_geometry(literal)
    except GeometryError:
        return None


def _node(term: Term) -> Node:
    if isinstance(term, NamedNode | BlankNode):
        return term
    raise TypeError(f"{term} cannot have a geometry")
