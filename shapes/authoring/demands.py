"""What shapes demand of the values of one path, and whether any value can meet it."""

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
from shapes.paths import parse_path, text
from shapes.terms import to_oxigraph

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
