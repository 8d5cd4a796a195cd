"""What the index of geometries holds (see `sparql.rewriting.geometries`): shapes by place."""

from __future__ import annotations

from typing import Final

from pyoxigraph import Literal, NamedNode, Triple
from shapely.geometry.base import BaseGeometry

from geo import FeatureIndex, GeometryError, parse_geometry
from sparql.rewriting.features import FeatureMap
from sparql.rewriting.geometries import SERIALIZATIONS, Key, Node, Note, QuadSource, key_of
from sparql.vocabulary import DEFAULT

_FEWEST_TO_SWEEP: Final = 1000


class GeometryState:
    """What the index holds; complete for every revision from `since` on."""

    def __init__(self, since: int) -> None:
        self.since = since
        self.shapes: FeatureIndex[Key] = FeatureIndex()
        self.unreadable: dict[Key, str] = {}
        self.empty: set[Key] = set()
        self.unlisted = False
        """Whether there are, or were, serialisations that are no literals."""
        self.features = FeatureMap(lambda node, literal: (node, literal) in self.shapes)
        self._literals: dict[Node, tuple[Literal, ...]] = {}
        self._gone: dict[Key, int] = {}

    def __len__(self) -> int:
        return len(self.shapes) + len(self.unreadable) + len(self.empty)

    def __contains__(self, key: object) -> bool:
        return key in self.shapes or key in self.unreadable or key in self.empty

    def fill(self, source: QuadSource) -> None:
        """Read all geometry statements of the store."""
        read: dict[Key, BaseGeometry] = {}
        stated: list[tuple[Node, NamedNode, Literal | None]] = []
        for predicate in SERIALIZATIONS:
            for quad in source.match_quads(None, predicate, None):
                key = key_of(quad)
                if quad.graph_name == DEFAULT and not isinstance(quad.subject, Triple):
                    # The very objects of the key: they are found sooner than equal ones.
                    stated.append(
                        (quad.subject, predicate, None) if key is None else (key[0], predicate, key[1])
                    )
                if key is None:
                    self.unlisted = True
                elif key not in self and key not in read and (shape := self._read(key)) is not None:
                    read[key] = shape
        self.shapes = FeatureIndex(read.items())
        self.features.fill(source, stated)

    def take(self, note: Note) -> None:
        """Take in a commit."""
        self.unlisted = self.unlisted or note.others
        self.features.touch(note.touched, note.revision)
        for key in note.added:
            self._gone.pop(key, None)
            self._insert(key)
        for key in note.removed:
            # Known or not: a checkpoint from before this commit may hold it.
            self._insert(key)
            self._gone[key] = note.revision

    def literals_of(self, node: Node) -> tuple[Literal, ...]:
        """The literals that a geometry node has or has had."""
        return self._literals.get(node, ())

    def shape_of(self, key: Key) -> BaseGeometry | None:
        """The shape of a key's literal, to look at only; None where it has none, or an empty one."""
        found = self.shapes.shape(key)
        if found is None and key not in self.unreadable:
            try:
                found = parse_geometry(key[1])
            except GeometryError:
                return None
        return None if found is None or found.is_empty else found

    def removed_before(self, source: QuadSource, revision: int) -> dict[Key, int]:
        """What no query can read any more that reads `revision` or later, once it is much."""
        if len(self._gone) < max(_FEWEST_TO_SWEEP, len(self) // 10):
            return {}
        old = {key: removed for key, removed in self._gone.items() if removed <= revision}
        for key in list(old):
            if any(quad.predicate in SERIALIZATIONS for quad in source.match_quads(key[0], None, key[1])):
                del self._gone[key], old[key]
        return old

    def drop(self, swept: dict[Key, int], revision: int) -> None:
        """Forget what `removed_before` found, unless a note has come about it."""
        for key, removed in swept.items():
            if self._gone.get(key) == removed:
                del self._gone[key]
                self._drop(key)
        self.since = max(self.since, revision)

    def _insert(self, key: Key) -> None:
        if key not in self:
            shape = self._read(key)
            if shape is not None:
                self.shapes.insert(key, shape)

    def _read(self, key: Key) -> BaseGeometry | None:
        """The shape of a new key; None, and noted elsewhere, where there is none to search for."""
        node, literal = key
        self._literals[node] = (*self._literals.get(node, ()), literal)
        try:
            shape = parse_geometry(literal)
        except GeometryError as error:
            self.unreadable[key] = str(error)
            return None
        if shape.is_empty:
            self.empty.add(key)
            return None
        return shape

    def _drop(self, key: Key) -> None:
        if key in self.shapes:
            self.shapes.remove(key)
        self.unreadable.pop(key, None)
        self.empty.discard(key)
        rest = tuple(literal for literal in self._literals.get(key[0], ()) if literal != key[1])
        if rest:
            self._literals[key[0]] = rest
        else:
            self._literals.pop(key[0], None)
