"""The triples of ontology files by subject and predicate; hierarchies and disjointness as written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from ontology import vocabulary as v

Node = NamedNode | BlankNode | Literal | Triple


class Graph:
    """An index of triples by subject and predicate, in the order written."""

    def __init__(self, triples: Iterable[Triple]) -> None:
        self._objects: dict[tuple[Node, NamedNode], list[Node]] = defaultdict(list)
        self._pairs: dict[NamedNode, list[tuple[Node, Node]]] = defaultdict(list)
        for subject, predicate, value in triples:
            self._objects[subject, predicate].append(value)
            self._pairs[predicate].append((subject, value))

    def objects(self, subject: Node, *predicates: NamedNode) -> list[Node]:
        """The values of a subject's predicates, in the order written."""
        return [value for predicate in predicates for value in self._objects.get((subject, predicate), ())]

    def statements(self, subject: Node) -> list[tuple[NamedNode, Node]]:
        """All (predicate, value) of a subject, by predicate."""
        return [
            (predicate, value)
            for predicate in self._pairs
            for value in self._objects.get((subject, predicate), ())
        ]

    def pairs(self, predicate: NamedNode) -> list[tuple[Node, Node]]:
        """All (subject, object) of a predicate, in the order written."""
        return self._pairs.get(predicate, [])

    def instances(self, *kinds: NamedNode) -> Iterator[NamedNode]:
        """The IRIs with one of the given types, in the order written, each once."""
        found = dict.fromkeys(
            subject
            for subject, kind in self.pairs(v.TYPE)
            if kind in kinds and isinstance(subject, NamedNode)
        )
        return iter(found)

    def literals(self, subject: Node, *predicates: NamedNode) -> list[Literal]:
        """The literal values of a subject's predicates."""
        return [value for value in self.objects(subject, *predicates) if isinstance(value, Literal)]

    def is_true(self, subject: Node, predicate: NamedNode) -> bool:
        """Whether a subject has a predicate with the value true."""
        return any(value.value in ("true", "1") for value in self.literals(subject, predicate))

    def members(self, head: Node) -> list[Node]:
        """The members of an RDF list; a broken or circular list ends where it breaks."""
        found: list[Node] = []
        seen: set[Node] = set()
        while head != v.NIL and head not in seen:
            seen.add(head)
            found += self.objects(head, v.FIRST)[:1]
            rest = self.objects(head, v.REST)
            if not rest:
                break
            head = rest[0]
        return found

    def alternatives(self, expression: Node) -> tuple[NamedNode, ...]:
        """The named classes of a class expression in order: itself, or the members of its (nested) unions."""
        if isinstance(expression, NamedNode):
            return (expression,)
        found: dict[NamedNode, None] = {}
        for union in self.objects(expression, v.UNION_OF):
            for member in self.members(union):
                found |= dict.fromkeys(self.alternatives(member))
        return tuple(found)


class Hierarchy:
    """A reflexive, transitive order of terms; equivalent terms are above and below each other."""

    def __init__(self, edges: set[tuple[NamedNode, NamedNode]]) -> None:
        self._up: dict[NamedNode, set[NamedNode]] = defaultdict(set)
        self._down: dict[NamedNode, set[NamedNode]] = defaultdict(set)
        for lower, upper in edges:
            self._up[lower].add(upper)
            self._down[upper].add(lower)
        self._above: dict[NamedNode, frozenset[NamedNode]] = {}
        self._below: dict[NamedNode, frozenset[NamedNode]] = {}

    def above(self, iri: NamedNode) -> frozenset[NamedNode]:
        """The term itself and everything above it."""
        # Data may have any number of terms that no order knows.
        if iri not in self._up:
            return frozenset((iri,))
        if iri not in self._above:
            self._above[iri] = _reach(iri, self._up)
        return self._above[iri]

    def below(self, iri: NamedNode) -> frozenset[NamedNode]:
        """The term itself and everything below it."""
        if iri not in self._down:
            return frozenset((iri,))
        if iri not in self._below:
            self._below[iri] = _reach(iri, self._down)
        return self._below[iri]


def _reach(start: NamedNode, steps: dict[NamedNode, set[NamedNode]]) -> frozenset[NamedNode]:
    found = {start}
    waiting = [start]
    while waiting:
        for other in steps.get(waiting.pop(), ()):
            if other not in found:
                found.add(other)
                waiting.append(other)
    return frozenset(found)


def class_hierarchy(graph: Graph) -> Hierarchy:
    """Subclasses by rdfs:subClassOf, owl:equivalentClass, owl:disjointUnionOf, unions and intersections."""
    edges: set[tuple[NamedNode, NamedNode]] = set()
    for lower, upper in graph.pairs(v.SUBCLASS_OF):
        if isinstance(lower, NamedNode):
            edges |= {(lower, named) for named in _conjuncts(graph, upper)}
        elif isinstance(upper, NamedNode):
            edges |= {(named, upper) for named in graph.alternatives(lower)}
    for one, other in graph.pairs(v.EQUIVALENT_CLASS):
        for named, expression in ((one, other), (other, one)):
            if isinstance(named, NamedNode):
                edges |= {(named, upper) for upper in _conjuncts(graph, expression)}
                edges |= {(lower, named) for lower in graph.alternatives(expression)}
    for whole, members in graph.pairs(v.DISJOINT_UNION_OF):
        if isinstance(whole, NamedNode):
            edges |= {(part, whole) for part in graph.members(members) if isinstance(part, NamedNode)}
    return Hierarchy(edges)


def _conjuncts(graph: Graph, expression: Node) -> set[NamedNode]:
    if isinstance(expression, NamedNode):
        return {expression}
    found: set[NamedNode] = set()
    for intersection in graph.objects(expression, v.INTERSECTION_OF):
        for member in graph.members(intersection):
            found |= _conjuncts(graph, member)
    return found


def property_hierarchy(graph: Graph) -> Hierarchy:
    """Subproperties by rdfs:subPropertyOf and owl:equivalentProperty."""
    written = graph.pairs(v.SUBPROPERTY_OF) + graph.pairs(v.EQUIVALENT_PROPERTY)
    written += [(upper, lower) for lower, upper in graph.pairs(v.EQUIVALENT_PROPERTY)]
    return Hierarchy(
        {(low, up) for low, up in written if isinstance(low, NamedNode) and isinstance(up, NamedNode)}
    )


def disjoint_pairs(graph: Graph) -> frozenset[frozenset[NamedNode]]:
    """The pairs of named classes in owl:disjointWith, AllDisjointClasses and disjointUnionOf."""
    found: set[frozenset[NamedNode]] = set()
    for one, other in graph.pairs(v.DISJOINT_WITH):
        found |= {frozenset({a, b}) for a in graph.alternatives(one) for b in graph.alternatives(other)}
    lists = [members for _, members in graph.pairs(v.DISJOINT_UNION_OF)]
    for subject, kind in graph.pairs(v.TYPE):
        if kind == v.ALL_DISJOINT_CLASSES:
            lists += graph.objects(subject, v.MEMBERS)
    for head in lists:
        for one, other in combinations(graph.members(head), 2):
            found |= {frozenset({a, b}) for a in graph.alternatives(one) for b in graph.alternatives(other)}
    return frozenset(found)


def properties_apart(graph: Graph) -> dict[NamedNode, list[NamedNode]]:
    """By property, those stated to have no value in common with it; each pair once."""
    pairs = list(graph.pairs(v.PROPERTY_DISJOINT_WITH))
    for subject, kind in graph.pairs(v.TYPE):
        if kind == v.ALL_DISJOINT_PROPERTIES:
            for head in graph.objects(subject, v.MEMBERS):
                pairs += combinations(graph.members(head), 2)
    found: dict[NamedNode, list[NamedNode]] = {}
    for pair in dict.fromkeys(tuple(sorted(pair, key=str)) for pair in pairs):
        one, other = pair
        if isinstance(one, NamedNode) and isinstance(other, NamedNode):
            found.setdefault(one, []).append(other)
    return found
