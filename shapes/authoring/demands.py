"""What handwritten shapes demand: of the values of one path, and what need not be generated beside them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations

import rdflib
from pyoxigraph import NamedNode
from rdflib.collection import Collection
from rdflib.namespace import SH

from ontology import Schema
from shapes.graph import to_oxigraph
from shapes.paths import parse_path, text

PARAMETERS = frozenset(
    SH[name]
    for name in (
        *("class", "datatype", "nodeKind", "minCount", "maxCount", "minExclusive", "minInclusive"),
        *("maxExclusive", "maxInclusive", "minLength", "maxLength", "pattern", "languageIn", "uniqueLang"),
        *("equals", "disjoint", "lessThan", "lessThanOrEquals", "not", "and", "or", "xone", "node"),
        *("property", "qualifiedValueShape", "closed", "hasValue", "in", "sparql"),
    )
)
"""The parameters of constraints (SHACL, 4 and 5)."""


@dataclass
class Demands:
    """What one or several shapes require of the values of one path."""

    values: dict[rdflib.term.Node, list[rdflib.term.Node]] = field(default_factory=lambda: defaultdict(list))

    def numbers(self, predicate: rdflib.term.Node) -> list[float]:
        """The numbers that a parameter has."""
        found = []
        for value in self.values.get(predicate, ()):
            try:
                found.append(float(str(value)))
            except ValueError:
                continue
        return found


def all_of(several: Iterable[Demands]) -> Demands:
    """What all of them require."""
    found = Demands()
    for demands in several:
        for parameter, values in demands.values.items():
            found.values[parameter] += values
    return found


def demands_of(graph: rdflib.Graph, shape: rdflib.term.Node) -> dict[str, Demands]:
    """By path ("" for the focus node itself), what a shape and its property shapes require."""
    found: dict[str, Demands] = {}
    for node in (shape, *graph.objects(shape, SH.property)):
        if graph.value(node, SH.deactivated) == rdflib.Literal(True):
            continue
        path_node = graph.value(node, SH.path)
        path = "" if path_node is None else text(parse_path(graph, path_node))
        demands = found.setdefault(path, Demands())
        for predicate, value in graph.predicate_objects(node):
            if predicate in PARAMETERS:
                demands.values[predicate].append(value)
    return found


def contradictions(demands: Demands, graph: rdflib.Graph, schema: Schema) -> Iterator[str]:
    """Why no value can meet all of these demands."""
    for low, high, exclusive in (
        (SH.minCount, SH.maxCount, False),
        (SH.minLength, SH.maxLength, False),
        (SH.minInclusive, SH.maxInclusive, False),
        (SH.minExclusive, SH.maxInclusive, True),
        (SH.minInclusive, SH.maxExclusive, True),
        (SH.minExclusive, SH.maxExclusive, True),
    ):
        lows, highs = demands.numbers(low), demands.numbers(high)
        if lows and highs and (max(lows) >= min(highs) if exclusive else max(lows) > min(highs)):
            yield f"requires {_name(low)} {max(lows):g} and {_name(high)} {min(highs):g}"
    values = demands.values
    datatypes = set(values.get(SH.datatype, ()))
    if len(datatypes) > 1:
        yield "requires two datatypes at once: " + " and ".join(sorted(map(str, datatypes)))
    kinds = set(values.get(SH.nodeKind, ()))
    if datatypes and (values.get(SH["class"]) or kinds & {SH.IRI, SH.BlankNode, SH.BlankNodeOrIRI}):
        yield "requires a literal and a thing at once"
    classes = [to_oxigraph(node) for node in dict.fromkeys(values.get(SH["class"], ()))]
    for a, b in combinations([c for c in classes if isinstance(c, NamedNode)], 2):
        if schema.are_disjoint(a, b):
            yield f"requires {a} and {b}, which are disjoint"
    lists = [set(Collection(graph, head)) for head in values.get(SH["in"], ())]
    if lists and not set.intersection(*lists):
        yield "allows no value by sh:in"
    elif lists and any(value not in set.intersection(*lists) for value in values.get(SH.hasValue, ())):
        yield "requires a value by sh:hasValue that sh:in does not allow"


def _name(predicate: rdflib.URIRef) -> str:
    return "sh:" + str(predicate).rpartition("#")[2]


_VALUES = tuple(
    SH[name]
    for name in ("class", "datatype", "nodeKind", "node", "or", "xone", "in", "pattern", "not", "deactivated")
)
_COUNTS = (SH.maxCount, SH.minCount, SH.deactivated)


class Overrides:
    """The handwritten shapes of a graph, looked up once per generated shape."""

    def __init__(self, graph: rdflib.Graph) -> None:
        self._graph = graph
        self._disjoint = {
            frozenset((str(target), str(other)))
            for shape, target in graph.subject_objects(SH.targetClass)
            if (shape, SH.path, None) not in graph
            for negated in graph.objects(shape, SH["not"])
            for other in self._classes(negated)
        }

    def domain(self, property_: NamedNode) -> bool:
        """A shape on what has the property, about the thing itself."""
        shapes = self._graph.subjects(SH.targetSubjectsOf, _node(property_))
        return any((shape, SH.path, None) not in self._graph for shape in shapes)

    def reflexive(self, property_: NamedNode) -> bool:
        """A shape on what has the property that compares it with its values, or does so by a query."""
        shapes = self._graph.subjects(SH.targetSubjectsOf, _node(property_))
        compares = ((SH.disjoint, _node(property_)), (SH.sparql, None), (SH.deactivated, None))
        return any((shape, *one) in self._graph for shape in shapes for one in compares)

    def disjoint_values(self, one: NamedNode, other: NamedNode) -> bool:
        """A shape on a path of one property, or the other way through it, with sh:disjoint of the other."""
        for first, second in ((one, other), (other, one)):
            for shape in self._graph.subjects(SH.disjoint, _node(second)):
                path = self._graph.value(shape, SH.path)
                if _node(first) in (path, None if path is None else self._graph.value(path, SH.inversePath)):
                    return True
        return False

    def values(self, property_: NamedNode) -> bool:
        """A shape on the property's values."""
        objects = self._graph.subjects(SH.targetObjectsOf, _node(property_))
        if any((shape, SH.path, None) not in self._graph for shape in objects):
            return True
        return self._on_path(property_, _VALUES)

    def counts(self, property_: NamedNode) -> bool:
        """A shape on how many values the property has."""
        return self._on_path(property_, _COUNTS)

    def restriction(self, class_: NamedNode, property_: NamedNode) -> bool:
        """A shape on the property of the instances of the class."""
        for shape in self._graph.subjects(SH.targetClass, _node(class_)):
            inner = (shape, *self._graph.objects(shape, SH.property))
            if any((node, SH.path, _node(property_)) in self._graph for node in inner):
                return True
        return False

    def enumeration(self, class_: NamedNode) -> bool:
        """A shape that lists the instances of the class."""
        shapes = self._graph.subjects(SH.targetClass, _node(class_))
        wanted = (SH["in"], SH.deactivated)
        return any((shape, predicate, None) in self._graph for shape in shapes for predicate in wanted)

    def disjoint(self, one: NamedNode, other: NamedNode) -> bool:
        """A shape that keeps the two classes apart."""
        return frozenset((one.value, other.value)) in self._disjoint

    def _on_path(self, property_: NamedNode, parameters: tuple[rdflib.URIRef, ...]) -> bool:
        shapes = self._graph.subjects(SH.path, _node(property_))
        return any((shape, parameter, None) in self._graph for shape in shapes for parameter in parameters)

    def _classes(self, node: rdflib.term.Node) -> list[rdflib.term.Node]:
        found = list(self._graph.objects(node, SH["class"]))
        for head in self._graph.objects(node, SH["or"]):
            for member in Collection(self._graph, head):
                found += self._classes(member)
        return found


def _node(iri: NamedNode) -> rdflib.URIRef:
    return rdflib.URIRef(iri.value)
