"""What the index of geometries holds (see `sparql.rewriting.index`): shapes by place, and whose they are.

A geometry is a number here, its place in the columns `nodes` and `literals`: terms of their own would take
half a kilobyte more each, and thousands are looked up by arrays. Nodes are texts, as in
`sparql.model.geometry`.

Most features have one geometry node, and it has one literal and no other owner. Of these the way from the
literal to the feature is known here, so that candidates can be named as features at once. What is known must
hold in the very checkpoint that a query reads: whatever a commit touches is read anew from the store, and is
not answered for at revisions before that commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy
import shapely
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode
from shapely import Point

from geo.errors import GeometryError
from geo.formats.literals import parse_geometry, parse_many
from geo.relate.index import FeatureIndex
from sparql.model.geometry import Text, literal_of, literal_text, node_of, text_of
from sparql.model.vocabulary import DEFAULT, RDF
from sparql.rewriting.notes import LINKS, SERIALIZATIONS, Key, Named, Node, Note, QuadSource
from sparql.spatial.geometry_reading import GeometryReading, literal_columns, node_columns, read_geometries
from sparql.storage.gil_yield import with_pauses

Places = NDArray[numpy.intp]

_MOST_TOUCHED: Final = 10_000
_FEWEST_FORMS: Final = 1000
_NONE: Final = -1
_NOBODY: Final = ""


@dataclass(frozen=True)
class Form:
    """How a feature has its geometry: by which properties its node, by which one its literal; its classes.

    There are few of them, however many features there are: what depends on a form is worked out once.
    """

    links: frozenset[NamedNode]
    serialization: NamedNode
    classes: frozenset[Node] = frozenset()


@dataclass(frozen=True)
class Located:
    """A feature with its one literal."""

    feature: Node
    literal: Literal
    form: Form


class FeatureMap:
    """The features of the default graph with one geometry each; `odd` have several, or share one.

    `nodes` and `literals` are the columns of the index. `place` returns the row of a node and a literal that
    has a shape to search for, or None: features without one are neither, since no relation and no filter is
    ever true of them. `places` returns the rows of all literals of a node.
    """

    def __init__(
        self,
        nodes: Sequence[str],
        literals: Sequence[Text],
        place: Callable[[str, Text], int | None],
        places: Callable[[str], tuple[int, ...]],
    ) -> None:
        self._nodes, self._literals, self._place, self._places = nodes, literals, place, places
        # The feature of each geometry; empty where it has none, or one that has more.
        self._owners: list[str] = []
        # Each form once, and by its number which one a geometry is of.
        self._forms: list[Form] = []
        self._number_of: dict[Form, int] = {}
        self._numbers = numpy.zeros(0, dtype=numpy.int32)
        self._most_forms = _FEWEST_FORMS
        self.odd: set[str] = set()
        # The geometry nodes of the odd ones, and of how many each is.
        self._stranded: dict[str, set[str]] = {}
        self._strays: Counter[str] = Counter()
        self._pending: dict[str, int] = {}
        self._touched: dict[str, int] = {}
        self._newest = self._floor = 0

    def fill(self, source: QuadSource, reading: GeometryReading, shaped: Sequence[bool]) -> None:
        """Take in the whole default graph; the rows of the reading are the first of the index.

        `shaped` says of each row whether it has a shape to search for.
        """
        self.extend(len(self._nodes))
        node_by: dict[str, str] = {}
        # By which of the links, as bits.
        links: dict[str, int] = {}
        more: dict[str, set[str]] = {}
        owners: dict[str, int] = {}
        for bit, link in enumerate(reading.links):
            features, led = reading.links[link]
            for feature, node in with_pauses(zip(features, led, strict=True)):
                if node is None:
                    self.odd.add(feature)
                elif node_by.setdefault(feature, node) != node:
                    self.odd.add(feature)
                    more.setdefault(feature, set()).add(node)
                    owners[node] = owners.get(node, 0) + 1
                else:
                    if feature not in links:
                        owners[node] = owners.get(node, 0) + 1
                    links[feature] = links.get(feature, 0) | 1 << bit
        rows, several = _rows(reading)
        classes = _Classes(source, node_by)
        forms: dict[tuple[int, NamedNode, int], int] = {}
        for feature, node in with_pauses(node_by.items()):
            if feature in self.odd or node in several or owners[node] > 1:
                self._strand(feature, {node, *more.get(feature, ())})
            elif (row := rows.get(node)) is not None and shaped[row]:
                described = links[feature], reading.serializations[row], classes.of.get(feature, 0)
                if described not in forms:
                    bits, serialization, number = described
                    by = frozenset(link for bit, link in enumerate(reading.links) if bits >> bit & 1)
                    forms[described] = self._number(Form(by, serialization, classes.sets[number]))
                self._owners[row] = feature
                self._numbers[row] = forms[described]

    @property
    def concerned(self) -> set[str]:
        """The features that it holds something of, or may: what classes these have is asked of it."""
        return ({*self._owners} - {_NOBODY}) | self.odd | self._pending.keys()

    def extend(self, count: int) -> None:
        """There are so many geometries in the index now."""
        if count > len(self._numbers):
            numbers = numpy.full(max(count, len(self._numbers) * 5 // 4), _NONE, dtype=numpy.int32)
            numbers[: len(self._numbers)] = self._numbers
            self._numbers = numbers
        self._owners += [_NOBODY] * (count - len(self._owners))

    def touch(self, nodes: Iterable[str], revision: int) -> None:
        """A commit says something of these features and geometry nodes."""
        for node in nodes:
            self._pending[node] = self._touched[node] = revision
            self._newest = max(self._newest, revision)

    def refresh(self, source: QuadSource, revision: int) -> bool:
        """Read anew what commits have touched, as far as they are done; whether there was anything.

        `revision` is the oldest one that is asked for from now on.
        """
        if not self._pending:
            return False
        committed = source.revision()
        for node, touched in list(self._pending.items()):
            if touched > committed:
                continue
            del self._pending[node]
            features = {node, *_bearers_of(source, node)}
            if (owner := self._leave(node)) is not None:
                features.add(owner)
            for feature in features:
                self._touched[feature] = max(self._touched.get(feature, 0), touched)
                self._read(source, feature)
        if len(self._touched) > _MOST_TOUCHED:
            self._floor = max(self._floor, revision)
            self._touched = {node: one for node, one in self._touched.items() if one > revision}
        if len(self._forms) > self._most_forms:
            self._drop_forms()
        return True

    def settled(self, revision: int) -> bool:
        """Whether no commit after this revision has touched anything."""
        return not self._pending and self._newest <= revision and self._floor <= revision

    def located(self, node: Node, revision: int) -> Located | None:
        """The feature whose only geometry a node is, if that is known of this revision."""
        place = self._entry(text_of(node))
        if place is None or not self._is_known(place, revision):
            return None
        return Located(
            node_of(self._owners[place]),
            literal_of(self._literals[place]),
            self._forms[self._numbers[place]],
        )

    def _is_known(self, place: int, revision: int) -> bool:
        """Whether what is held of a geometry was so at a revision."""
        return revision >= self._floor and not any(
            one in self._pending or self._touched.get(one, 0) > revision
            for one in (self._nodes[place], self._owners[place])
        )

    def solutions(self, places: Places, revision: int, times: Callable[[Form], int]) -> Places | None:
        """Which of some geometries have a feature that is a solution; None where it is not known of all.

        `times` says of a form how many solutions it has; those with none are left out, and so is what is not
        the geometry of a feature at this revision. Several are not known: whether alternatives of a path that
        lead to the same are one or more is for the engine to say.
        """
        if not self.settled(revision) and not all(self._is_known(one, revision) for one in places.tolist()):
            return None
        repeated = self._repeated(times)[self._numbers[places]]
        if (repeated > 1).any():
            return None
        if self._strays:
            free = places[self._numbers[places] == _NONE].tolist()
            if any(self._strays[self._nodes[one]] for one in free):
                return None
        kept: Places = places[repeated == 1]
        return kept

    def count(self, times: Callable[[Form], int]) -> int | None:
        """How many features have a solution; None where one has several."""
        bearers, repeated = self._bearers(), self._repeated(times)[:-1]
        if bearers[repeated > 1].any():
            return None
        return int(bearers[repeated > 0].sum())

    def bearing(self, times: Callable[[Form], int]) -> Places:
        """All geometries whose features have a solution.

        Only what is `settled` may be asked, and only where there are no odd ones is it all.
        """
        return numpy.flatnonzero(self._repeated(times)[self._numbers[: len(self._owners)]])

    def bears(self, places: Places, times: Callable[[Form], int]) -> NDArray[numpy.bool_]:
        """Of which of some geometries the features have a solution; asked as `bearing`."""
        repeated: NDArray[numpy.bool_] = self._repeated(times)[self._numbers[places]] > 0
        return repeated

    def forms(self) -> Iterator[Form]:
        """The forms that there are features of."""
        return (form for form, many in zip(self._forms, self._bearers().tolist(), strict=True) if many)

    def owners_of(self, places: list[int]) -> list[str]:
        """The features of geometries that have one."""
        return list(map(self._owners.__getitem__, places))

    def _repeated(self, times: Callable[[Form], int]) -> NDArray[numpy.intp]:
        """How many solutions each form has, by its number; none for what has no feature, which comes last."""
        return numpy.array([*(times(form) for form in self._forms), 0], dtype=numpy.intp)

    def _bearers(self) -> NDArray[numpy.intp]:
        """How many features are of each form."""
        numbers = self._numbers[: len(self._owners)]
        return numpy.bincount(numbers[numbers != _NONE], minlength=len(self._forms))

    def _number(self, form: Form) -> int:
        number = self._number_of.get(form)
        if number is None:
            number = self._number_of[form] = len(self._forms)
            self._forms.append(form)
        return number

    def _drop_forms(self) -> None:
        """Forget the forms that no feature is of any more."""
        kept = numpy.flatnonzero(self._bearers())
        renumbered = numpy.full(len(self._forms), _NONE, dtype=numpy.int32)
        renumbered[kept] = numpy.arange(len(kept))
        numbered = self._numbers != _NONE
        self._numbers[numbered] = renumbered[self._numbers[numbered]]
        self._forms = [self._forms[number] for number in kept.tolist()]
        self._number_of = {form: number for number, form in enumerate(self._forms)}
        self._most_forms = max(_FEWEST_FORMS, 2 * len(kept))

    def _entry(self, node: str) -> int | None:
        """The geometry of a node that is a feature's."""
        return next((one for one in self._places(node) if self._numbers[one] != _NONE), None)

    def _strand(self, feature: str, nodes: set[str]) -> None:
        self.odd.add(feature)
        self._strays.update(nodes)
        self._stranded[feature] = nodes

    def _leave(self, node: str) -> str | None:
        """Know no more whose geometry a node is; whose it was."""
        place = self._entry(node)
        if place is None:
            return None
        owner, self._owners[place], self._numbers[place] = self._owners[place], _NOBODY, _NONE
        return owner

    def _read(self, source: QuadSource, feature: str) -> None:
        """What the store says of one feature now."""
        links = [(link, node) for link in LINKS for _, node in _pairs(source, feature, link, None)]
        self.odd.discard(feature)
        for node in self._stranded.pop(feature, ()):
            self._strays[node] -= 1
            if not self._strays[node]:
                del self._strays[node]
        nodes = {node for _, node in links}
        own = {text_of(node) for node in nodes if not isinstance(node, Literal)}
        for one in own:
            self._leave(one)
        if not nodes:
            return
        only = next(iter(own), None)
        if len(nodes) > 1 or only is None or _bearers_of(source, only) != {feature}:
            self._strand(feature, own)
            return
        literals = [
            (one, literal) for one in SERIALIZATIONS for _, literal in _pairs(source, only, one, None)
        ]
        if len(literals) > 1 or any(not isinstance(literal, Literal) for _, literal in literals):
            self._strand(feature, own)
            return
        for serialization, literal in literals:
            place = self._place(only, literal_text(literal)) if isinstance(literal, Literal) else None
            if place is not None:
                classes = _nodes(_pairs(source, feature, RDF.type, None))
                self._owners[place] = feature
                self._numbers[place] = self._number(
                    Form(frozenset(link for link, _ in links), serialization, classes)
                )


class _Classes:
    """The classes of features: which set of them each has (`of`; 0, none, is left out), and the `sets`."""

    def __init__(self, source: QuadSource, features: dict[str, str]) -> None:
        self.of: dict[str, int] = {}
        self.sets: list[frozenset[Node]] = [frozenset()]
        known: dict[frozenset[Node], int] = {frozenset(): 0}
        # The set that a set becomes with one class more.
        following: dict[tuple[int, str], int] = {}
        for subjects, classes in node_columns(source, RDF.type):
            for subject, class_ in with_pauses(zip(subjects, classes, strict=True)):
                if class_ is None or subject not in features:
                    continue
                before = self.of.get(subject, 0)
                after = following.get((before, class_))
                if after is None:
                    wider = self.sets[before] | {node_of(class_)}
                    after = following[before, class_] = known.setdefault(wider, len(self.sets))
                    if after == len(self.sets):
                        self.sets.append(wider)
                self.of[subject] = after


def _rows(reading: GeometryReading) -> tuple[dict[str, int], set[str]]:
    """The row of each node with one literal, and the nodes that have several, or something else too."""
    rows: dict[str, int] = {}
    several: set[str] = set()
    for row, (node, literal) in with_pauses(enumerate(zip(reading.nodes, reading.literals, strict=True))):
        if literal is None or rows.setdefault(node, row) != row:
            several.add(node)
    return rows, several


def _bearers_of(source: QuadSource, node: str) -> set[str]:
    return {text_of(feature) for link in LINKS for feature, _ in _pairs(source, None, link, node)}


def _nodes(pairs: Iterable[tuple[Node, Node | Literal]]) -> frozenset[Node]:
    return frozenset(node for _, node in pairs if not isinstance(node, Literal))


def _pairs(
    source: QuadSource, subject: str | None, predicate: NamedNode, object_: str | None
) -> Iterator[tuple[Node, Node | Literal]]:
    """Subjects and objects of the default graph's statements; what is no node or literal is passed over."""
    of = None if subject is None else node_of(subject)
    value = None if object_ is None else node_of(object_)
    for quad in source.match_quads(of, predicate, value, DEFAULT):
        if isinstance(quad.subject, NamedNode | BlankNode) and isinstance(
            quad.object, NamedNode | BlankNode | Literal
        ):
            yield quad.subject, quad.object


_FEWEST_TO_SWEEP: Final = 1000


class GeometryState:
    """What the index holds; complete for every revision from `since` on."""

    def __init__(self, since: int) -> None:
        self.since = since
        self.nodes: list[str] = []
        self.literals: list[Text] = []
        self.shapes: FeatureIndex[int] = FeatureIndex()
        self.unreadable: dict[int, str] = {}
        self.empty: set[int] = set()
        self.unlisted = False
        """Whether there are, or were, serializations that are no literals."""
        self.features = FeatureMap(self.nodes, self.literals, self._shaped, self.places_of)
        # Where points are, in degrees (n, 2); NaN for other geometries. There may be rows to spare.
        self._points = numpy.zeros((0, 2))
        # Of most nodes one.
        self._places: dict[str, int | tuple[int, ...]] = {}
        self._gone: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.shapes) + len(self.unreadable) + len(self.empty)

    def fill(self, source: QuadSource, reading: GeometryReading | None = None) -> None:
        """Read all geometry statements of the store, or take those of its default graph as they were read."""
        reading = reading or read_geometries(source)
        self.nodes += reading.nodes
        self.literals += ("" if literal is None else literal for literal in reading.literals)
        shapes = [reading.shapes]
        held = numpy.ones(len(self.nodes), dtype=bool)
        for place, literal in with_pauses(enumerate(reading.literals)):
            if literal is None:
                self.unlisted = True
            held[place] = literal is not None and self._name(place)
        self.unreadable = {place: why for place, why in reading.faults.items() if held[place]}
        for serialization in SERIALIZATIONS:
            for nodes, literals in literal_columns(source, serialization, elsewhere=True):
                self.unlisted = self.unlisted or None in literals
                shapes.append(self._add(nodes, literals))
        found = numpy.concatenate(shapes)
        held = numpy.concatenate([held, numpy.ones(len(found) - len(held), dtype=bool)])
        empty = held & shapely.is_empty(found)
        self.empty.update(numpy.flatnonzero(empty).tolist())
        shaped = held & ~empty & ~shapely.is_missing(found)
        there = numpy.flatnonzero(shaped)
        self.shapes = FeatureIndex.holding(there.tolist(), found[there])
        self._points = numpy.full((len(found), 2), numpy.nan)
        self._points[there] = numpy.column_stack([shapely.get_x(found[there]), shapely.get_y(found[there])])
        self.features.fill(source, reading, shaped.tolist())

    def take(self, note: Note) -> None:
        """Take in a commit."""
        self.unlisted = self.unlisted or note.others
        self.features.touch(note.touched, note.revision)
        for named in note.added:
            self._gone.pop(self._insert(named), None)
        for named in note.removed:
            # Known or not: a checkpoint from before this commit may hold it.
            self._gone[self._insert(named)] = note.revision

    def keys(self, places: Iterable[int]) -> list[Key]:
        """The nodes and literals of geometries."""
        return [(node_of(self.nodes[place]), literal_of(self.literals[place])) for place in places]

    def literals_of(self, node: Node) -> tuple[Literal, ...]:
        """The literals that a geometry node has or has had."""
        return tuple(literal_of(self.literals[place]) for place in self.places_of(text_of(node)))

    def points_at(self, places: Places) -> NDArray[numpy.float64]:
        """Where points are, in degrees (n, 2); NaN for other geometries."""
        points: NDArray[numpy.float64] = self._points[places]
        return points

    def shapes_at(self, places: Places) -> NDArray[numpy.object_]:
        """The shapes of geometries, to look at only; None for what has none to search for."""
        shapes = numpy.empty(len(places), dtype=object)
        shapes[:] = [self.shapes.shape(place) for place in places.tolist()]
        return shapes

    def removed_before(self, source: QuadSource, revision: int) -> dict[int, int]:
        """What no query can read any more that reads `revision` or later, once it is much."""
        if len(self._gone) < max(_FEWEST_TO_SWEEP, len(self) // 10):
            return {}
        old = {place: removed for place, removed in self._gone.items() if removed <= revision}
        for place, (node, literal) in zip(list(old), self.keys(list(old)), strict=True):
            if any(quad.predicate in SERIALIZATIONS for quad in source.match_quads(node, None, literal)):
                del self._gone[place], old[place]
        return old

    def drop(self, swept: dict[int, int], revision: int) -> None:
        """Forget what `removed_before` found, unless a note has come about it."""
        for place, removed in swept.items():
            if self._gone.get(place) == removed:
                del self._gone[place]
                self._drop(place)
        self.since = max(self.since, revision)

    @property
    def wasted(self) -> int:
        """How many places nothing is at any more."""
        return len(self.nodes) - len(self)

    def _insert(self, named: Named) -> int:
        """The place of a geometry, new or not."""
        known = self._place(*named)
        if known is not None:
            return known
        place = len(self.nodes)
        self.nodes.append(named[0])
        self.literals.append(named[1])
        self._name(place)
        self.features.extend(place + 1)
        if place >= len(self._points):
            spare = numpy.full((place * 5 // 4 + 1, 2), numpy.nan)
            spare[: len(self._points)] = self._points
            self._points = spare
        try:
            # The gate has read it already.
            shape = parse_geometry(literal_of(named[1]))
        except GeometryError as error:
            self.unreadable[place] = str(error)
            return place
        if shape.is_empty:
            self.empty.add(place)
        else:
            self.shapes.insert(place, shape)
            if isinstance(shape, Point):
                self._points[place] = shape.x, shape.y
        return place

    def _add(self, nodes: list[str], literals: list[Text | None]) -> NDArray[numpy.object_]:
        """Put what is not here yet at the end of the columns; the shapes of that, None for the unreadable."""
        start = len(self.nodes)
        for node, literal in zip(nodes, literals, strict=True):
            if literal is not None:
                self.nodes.append(node)
                self.literals.append(literal)
                if not self._name(len(self.nodes) - 1):
                    del self.nodes[-1], self.literals[-1]
        read = parse_many(self.literals[start:])
        self.unreadable.update((start + position, why) for position, why in read.faults.items())
        return read.shapes

    def _name(self, place: int) -> bool:
        """Let a place be found by its node; whether there was none with the same literal yet."""
        node = self.nodes[place]
        others = self._places.setdefault(node, place)
        if others == place:
            return True
        others = (others,) if isinstance(others, int) else others
        if any(self.literals[one] == self.literals[place] for one in others):
            return False
        self._places[node] = (*others, place)
        return True

    def places_of(self, node: str) -> tuple[int, ...]:
        """Where the literals are that a geometry node has or has had."""
        found = self._places.get(node, ())
        return (found,) if isinstance(found, int) else found

    def _place(self, node: str, literal: Text) -> int | None:
        return next((one for one in self.places_of(node) if self.literals[one] == literal), None)

    def _shaped(self, node: str, literal: Text) -> int | None:
        """Where a literal of a node is that has a shape to search for."""
        place = self._place(node, literal)
        return place if place is not None and place in self.shapes else None

    def _drop(self, place: int) -> None:
        if place in self.shapes:
            self.shapes.remove(place)
        self.unreadable.pop(place, None)
        self.empty.discard(place)
        node = self.nodes[place]
        rest = tuple(one for one in self.places_of(node) if one != place)
        if rest:
            self._places[node] = rest if len(rest) > 1 else rest[0]
        else:
            self._places.pop(node, None)
