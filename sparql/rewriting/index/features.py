"""Which feature has a geometry node, and no other: so that candidates can be named as features at once.

Most features have one geometry node, and it has one literal and no other owner. Of these the way from the
literal to the feature is known here and need not be looked up again for each of thousands of candidates. What
is known must hold in the very checkpoint that a query reads: whatever a commit touches is read anew from the
store, and is not answered for at revisions before that commit.

A geometry is its place in the columns of the index (`sparql.rewriting.index.geometry_state`), so that
thousands are looked up by arrays. Nodes are texts, as in `sparql.model.geometry`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode

from sparql.model.geometry import Text, literal_of, literal_text, node_of, text_of
from sparql.model.vocabulary import DEFAULT, RDF
from sparql.rewriting.index.notes import LINKS, SERIALIZATIONS, Node, QuadSource
from sparql.spatial.geometry_reading import GeometryReading, node_columns
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

    @property
    def at_rest(self) -> bool:
        """Whether nothing is to be read anew."""
        return not self._pending

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
