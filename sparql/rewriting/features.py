"""Which feature has a geometry node, and no other: so that candidates can be named as features at once.

Most features have one geometry node, and it has one literal and no other owner. Of these the way from the
literal to the feature is known here and need not be looked up again for each of thousands of candidates. What
is known must hold in the very checkpoint that a query reads: whatever a commit touches is read anew from the
store, and is not answered for at revisions before that commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pyoxigraph import BlankNode, Literal, NamedNode

from sparql.rewriting.geometries import LINKS, SERIALIZATIONS, Key, Node, QuadSource
from sparql.vocabulary import DEFAULT, RDF

_MOST_TOUCHED: Final = 10_000


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


_Entry = tuple[Node, Literal, int]


class FeatureMap:
    """The features of the default graph with one geometry each; `odd` have several, or share one.

    `readable` tells of a node and its literal whether there is a shape to search for: features without one
    are neither, since no relation and no filter is ever true of them.
    """

    def __init__(self, readable: Callable[[Node, Literal], bool]) -> None:
        self._readable = readable
        self._entries: dict[Node, _Entry] = {}
        # Each form once, by its number in the entries.
        self._forms: list[Form] = []
        self._number_of: dict[Form, int] = {}
        self._bearers: Counter[int] = Counter()
        self.odd: set[Node] = set()
        # The geometry nodes of the odd ones, and of how many each is.
        self._stranded: dict[Node, set[Node]] = {}
        self._strays: Counter[Node] = Counter()
        self._pending: dict[Node, int] = {}
        self._touched: dict[Node, int] = {}
        self._newest = self._floor = 0

    def fill(self, source: QuadSource, stated: Iterable[tuple[Node, NamedNode, Literal | None]]) -> None:
        """Read the whole default graph. `stated` are its serialisations; None for what is no literal."""
        links: dict[Node, set[NamedNode]] = {}
        node_of: dict[Node, Node] = {}
        more: dict[Node, set[Node]] = {}
        owners: Counter[Node] = Counter()
        for link in LINKS:
            for feature, node in _pairs(source, None, link, None):
                if isinstance(node, Literal):
                    self.odd.add(feature)
                elif node_of.setdefault(feature, node) != node:
                    self.odd.add(feature)
                    more.setdefault(feature, set()).add(node)
                    owners[node] += 1
                else:
                    if feature not in links:
                        owners[node] += 1
                    links.setdefault(feature, set()).add(link)
        literals: dict[Node, tuple[NamedNode, Literal]] = {}
        several: set[Node] = set()
        for node, serialization, literal in stated:
            if node in literals or literal is None:
                several.add(node)
            else:
                literals[node] = (serialization, literal)
        classes = _classes(source)
        for feature, node in node_of.items():
            if feature in self.odd or node in several or owners[node] > 1:
                self._strand(feature, {node, *more.get(feature, ())})
            elif node in literals and self._readable(node, literals[node][1]):
                serialization, literal = literals[node]
                form = Form(frozenset(links[feature]), serialization, frozenset(classes.get(feature, ())))
                self._enter(node, feature, literal, form)

    @property
    def concerned(self) -> set[Node]:
        """The features that it holds something of: what classes these have is asked of it."""
        return {entry[0] for entry in self._entries.values()} | self.odd

    def touch(self, nodes: Iterable[Node], revision: int) -> None:
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
            features = {node, *self._owners(source, node)}
            if (entry := self._leave(node)) is not None:
                features.add(entry[0])
            for feature in features:
                self._touched[feature] = max(self._touched.get(feature, 0), touched)
                self._read(source, feature)
        if len(self._touched) > _MOST_TOUCHED:
            self._floor = max(self._floor, revision)
            self._touched = {node: one for node, one in self._touched.items() if one > revision}
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
        entry = self._entries.get(node)
        if entry is None or not self._is_known(node, entry, revision):
            return None
        feature, literal, number = entry
        return Located(feature, literal, self._forms[number])

    def _is_known(self, node: Node, entry: _Entry | None, revision: int) -> bool:
        """Whether what is held of a node was so at a revision."""
        return revision >= self._floor and not any(
            one in self._pending or self._touched.get(one, 0) > revision
            for one in ((node,) if entry is None else (node, entry[0]))
        )

    def solutions(
        self, keys: Sequence[Key], revision: int, times: Callable[[Form], int]
    ) -> tuple[list[Key], list[Node]] | None:
        """The features of geometries beside the keys that are theirs; None where not all are known.

        `times` says of a form how many solutions it has; those with none are left out, and so is a key whose
        literal is not the one at this revision. Several are not known: whether alternatives of a path that
        lead to the same are one or more is for the engine to say. (Two lists and not one of pairs: thousands
        of new tuples would wake the collector.)
        """
        repeated = [times(form) for form in self._forms]
        settled, entries = self.settled(revision), self._entries
        kept: list[Key] = []
        features: list[Node] = []
        for key in keys:
            node, literal = key
            entry = entries.get(node)
            if not settled and not self._is_known(node, entry, revision):
                return None
            if entry is None:
                if self._strays[node]:
                    return None
                # No feature of this graph has it, or not any more.
                continue
            feature, known, number = entry
            if repeated[number] > 1:
                return None
            if repeated[number] and (known is literal or known == literal):
                kept.append(key)
                features.append(feature)
        return kept, features

    def count(self, times: Callable[[Form], int]) -> int | None:
        """How many features have a solution; None where one has several."""
        repeated = [times(form) for form in self._forms]
        if any(many > 1 and self._bearers[number] for number, many in enumerate(repeated)):
            return None
        return sum(self._bearers[number] for number, many in enumerate(repeated) if many)

    def bearing(self, times: Callable[[Form], int]) -> tuple[list[Key], list[Node]]:
        """All geometries whose features have a solution, and these.

        Only what is `settled` may be asked, and only where there are no odd ones is it all.
        """
        repeated = [times(form) for form in self._forms]
        found = [(node, entry) for node, entry in self._entries.items() if repeated[entry[2]]]
        return [(node, entry[1]) for node, entry in found], [entry[0] for _, entry in found]

    def owners(self, keys: Iterable[Key], times: Callable[[Form], int]) -> list[Node | None]:
        """The feature of each geometry; None where it has no solution, or another literal by now."""
        repeated, entries = [times(form) for form in self._forms], self._entries
        owners: list[Node | None] = []
        for node, literal in keys:
            entry = entries.get(node)
            if entry is None or not repeated[entry[2]]:
                owners.append(None)
            else:
                owners.append(entry[0] if entry[1] is literal or entry[1] == literal else None)
        return owners

    def forms(self) -> Iterator[Form]:
        """The forms that there are features of."""
        return (form for number, form in enumerate(self._forms) if self._bearers[number])

    def _enter(self, node: Node, feature: Node, literal: Literal, form: Form) -> None:
        number = self._number_of.get(form)
        if number is None:
            number = self._number_of[form] = len(self._forms)
            self._forms.append(form)
        self._leave(node)
        self._entries[node] = feature, literal, number
        self._bearers[number] += 1

    def _strand(self, feature: Node, nodes: set[Node]) -> None:
        self.odd.add(feature)
        self._strays.update(nodes)
        self._stranded[feature] = nodes

    def _leave(self, node: Node) -> _Entry | None:
        entry = self._entries.pop(node, None)
        if entry is not None:
            self._bearers[entry[2]] -= 1
        return entry

    def _owners(self, source: QuadSource, node: Node) -> set[Node]:
        return {feature for link in LINKS for feature, _ in _pairs(source, None, link, node)}

    def _read(self, source: QuadSource, feature: Node) -> None:
        """What the store says of one feature now."""
        links = [(link, node) for link in LINKS for _, node in _pairs(source, feature, link, None)]
        self.odd.discard(feature)
        self._strays.subtract(self._stranded.pop(feature, ()))
        nodes = {node for _, node in links}
        for node in nodes:
            if not isinstance(node, Literal):
                self._leave(node)
        if not nodes:
            return
        node = next(iter(nodes))
        own = {one for one in nodes if not isinstance(one, Literal)}
        if len(nodes) > 1 or isinstance(node, Literal) or self._owners(source, node) != {feature}:
            self._strand(feature, own)
            return
        literals = [
            (one, literal) for one in SERIALIZATIONS for _, literal in _pairs(source, node, one, None)
        ]
        if len(literals) > 1 or any(not isinstance(literal, Literal) for _, literal in literals):
            self._strand(feature, own)
        for serialization, literal in literals[:1]:
            if feature not in self.odd and isinstance(literal, Literal) and self._readable(node, literal):
                classes = _nodes(_pairs(source, feature, RDF.type, None))
                form = Form(frozenset(link for link, _ in links), serialization, classes)
                self._enter(node, feature, literal, form)


def _classes(source: QuadSource) -> dict[Node, list[Node]]:
    """The classes of everything that has some."""
    classes: dict[Node, list[Node]] = {}
    for subject, class_ in _pairs(source, None, RDF.type, None):
        if not isinstance(class_, Literal):
            classes.setdefault(subject, []).append(class_)
    return classes


def _nodes(pairs: Iterable[tuple[Node, Node | Literal]]) -> frozenset[Node]:
    return frozenset(node for _, node in pairs if not isinstance(node, Literal))


def _pairs(
    source: QuadSource, subject: Node | None, predicate: NamedNode, object_: Node | None
) -> Iterator[tuple[Node, Node | Literal]]:
    """Subjects and objects of the default graph's statements; what is no node or literal is passed over."""
    for quad in source.match_quads(subject, predicate, object_, DEFAULT):
        if isinstance(quad.subject, NamedNode | BlankNode) and isinstance(
            quad.object, NamedNode | BlankNode | Literal
        ):
            yield quad.subject, quad.object
