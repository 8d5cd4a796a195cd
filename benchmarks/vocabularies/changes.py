"""Random data about what shapes look at: their classes, properties, values and numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from rdflib.namespace import OWL, RDF, RDFS, SH

from shapes.graph import to_oxigraph
from shapes.paths import parse_path, uses
from sparql.model import vocabulary as v

__all__ = ["RandomData"]

_VALUES = ("1", "-3", "7.5", "2026-11-26", "2026-11-26T08:00:00Z", "true", "AB1234", "2020")
_XSD = "http://www.w3.org/2001/XMLSchema#"


class RandomData:
    """Draws triples in which shapes find much to judge."""

    def __init__(self, shapes: rdflib.Graph, rng: random.Random, nodes: int = 14) -> None:
        self._rng = rng
        classes = set(shapes.objects(None, SH.targetClass)) | set(shapes.objects(None, SH["class"]))
        shape_nodes = set(shapes.subjects(RDF.type, SH.NodeShape))
        for kind in (OWL.Class, RDFS.Class):
            classes |= set(shapes.subjects(RDF.type, kind)) & shape_nodes
        self._classes = self._some(classes, 30)
        properties: set[rdflib.term.Node] = set()
        for path in set(shapes.objects(None, SH.path)):
            steps = (step.predicate for _, step in uses(parse_path(shapes, path)))
            properties |= {rdflib.URIRef(one.value) for one in steps if one is not None}
        for predicate in (SH.targetSubjectsOf, SH.targetObjectsOf, SH.equals, SH.disjoint, SH.lessThan):
            properties |= set(shapes.objects(None, predicate))
        properties -= {RDF.type}
        self._properties = self._some(properties, 40)
        wanted = set(shapes.objects(None, SH.hasValue))
        for head in shapes.objects(None, SH["in"]):
            wanted |= set(rdflib.collection.Collection(shapes, head))
        self._wanted = [
            term
            for term in map(to_oxigraph, sorted(wanted, key=str))
            if isinstance(term, NamedNode | Literal)
        ]
        named = [NamedNode(f"http://example.org/data/{number}") for number in range(nodes)]
        self._nodes: list[NamedNode | BlankNode] = [*named, BlankNode("data1"), BlankNode("data2")]

    def draw(self, count: int) -> list[Triple]:
        """So many triples, some of them alike."""
        return [self._triple() for _ in range(count)]

    def _triple(self) -> Triple:
        rng = self._rng
        subject = rng.choice(self._nodes)
        if rng.random() < 0.3 and self._classes:
            return Triple(subject, v.RDF.type, rng.choice(self._classes))
        return Triple(subject, rng.choice(self._properties), self._value())

    def _value(self) -> NamedNode | BlankNode | Literal:
        rng = self._rng
        chance = rng.random()
        if chance < 0.5:
            return rng.choice(self._nodes)
        if chance < 0.7 and self._wanted:
            return rng.choice(self._wanted)
        if chance < 0.8:
            return Literal(rng.choice(("name", "Name", "")), language=rng.choice(("en", "de", "fr")))
        number = rng.randrange(len(_VALUES))
        if rng.random() < 0.7:
            return Literal(_VALUES[number], datatype=NamedNode(_XSD + _fitting(_VALUES[number])))
        return Literal(_VALUES[number])

    def _some(self, terms: set[rdflib.term.Node], count: int) -> Sequence[NamedNode]:
        iris = sorted(str(term) for term in terms if isinstance(term, rdflib.URIRef))
        return [NamedNode(iri) for iri in self._rng.sample(iris, min(count, len(iris)))]


def _fitting(value: str) -> str:
    kinds = {"1": "integer", "-3": "integer", "7.5": "decimal", "true": "boolean", "2020": "gYear"}
    if "T" in value:
        return "dateTime"
    return kinds.get(value, "date" if value.count("-") == 2 else "string")
