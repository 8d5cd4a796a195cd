"""A small city with everything that can be wrong or unusual about geometry, and queries run both ways."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pyoxigraph
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from geo.functions import FUNCTIONS
from sparql.model.options import Options
from sparql.model.source import NamedGraphSource
from sparql.model.vocabulary import DEFAULT, DERIVED, GEO, RDF, RDFS, Namespace
from sparql.rewriting.rewriter import Preparation, Rewriter
from sparql.rewriting.steps import Probe, Report, Row
from sparql.spatial.relations import SpatialRelations
from tests.support.rewriting import drive

EX = Namespace("http://example.org/")
PREFIXES = """PREFIX geo: <http://www.opengis.net/ont/geosparql#>
PREFIX geof: <http://www.opengis.net/def/function/geosparql/>
PREFIX uom: <http://www.opengis.net/def/uom/OGC/1.0/>
PREFIX ex: <http://example.org/>
PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""
OTHER_GRAPH = EX.graph


class City:
    """A store in memory, its rewriter, and a way to ask it."""

    def __init__(self, quads: list[Quad]) -> None:
        self.store = pyoxigraph.Store()
        self.store.extend(quads)
        self.rewriter = Rewriter(self)
        self.probes: list[str] = []

    def revision(self) -> int:
        return 1

    def match_quads(self, s: Any, p: Any, o: Any, g: Any = None) -> Iterator[Quad]:
        return iter(self.store.quads_for_pattern(s, p, o, g))

    def match(self, s: Any, p: Any, o: Any) -> Iterator[Triple]:
        return (quad.triple for quad in self.store.quads_for_pattern(s, p, o, DefaultGraph()))

    def relate(self) -> City:
        """Keep the relations of all features, as a bulk load does; the city itself."""
        relations = SpatialRelations()
        found = relations.catch_up(self, NamedGraphSource(self, DERIVED)).additions
        marks, _ = relations.marked(self, whole=True)
        self.store.extend(
            Quad(t.subject, t.predicate, t.object, g) for t in found for g in (DERIVED, DEFAULT)
        )
        self.store.extend(marks)
        return self

    def add(self, *quads: Quad) -> None:
        """Add quads as a commit does: the index hears of them first."""
        self.rewriter.geometries.note(1, quads, ())
        self.store.extend(quads)

    def rewritten(self, query: str, **options: Any) -> tuple[str, Report]:
        """The query as it would run, and what became of it."""
        preparation: Preparation | None = self.rewriter.preparation(PREFIXES + query, Options(**options))
        assert preparation is not None
        return drive(self.rewriter.steps(preparation, 1), self._ask), preparation.report

    def answers(self, text: str, **dataset: Any) -> Counter[str]:
        """The solutions of a query as a bag; of an ASK its answer, of a CONSTRUCT its triples."""
        results = self.store.query(text, custom_functions=dict(FUNCTIONS), **dataset)
        if isinstance(results, pyoxigraph.QueryBoolean):
            return Counter([str(bool(results))])
        if isinstance(results, pyoxigraph.QueryTriples):
            return Counter(map(str, results))
        return Counter(str([str(solution[v]) for v in results.variables]) for solution in results)

    def _ask(self, probe: Probe) -> list[Row]:
        self.probes.append(probe.text)
        results = self.store.query(probe.text, custom_functions=dict(FUNCTIONS))
        assert isinstance(results, pyoxigraph.QuerySolutions)
        names = [variable.value for variable in results.variables]
        return [{n: s[n] for n in names if s[n] is not None} for s in results]


def wkt(text: str) -> Literal:
    return Literal(text, datatype=GEO.wktLiteral)


def small_city(seed: int = 7, places: int = 60, *, literals_only: bool = False) -> list[Quad]:
    """Points, lines and areas between 0 and 1 degree, several per feature, in several systems and forms."""
    chance = random.Random(seed)
    quads: list[Quad] = []
    for number in range(places):
        feature = EX.term(f"f{number}")
        quads += _feature(feature, chance, DefaultGraph())
        if number % 9 == 0:
            quads += _feature(feature, chance, OTHER_GRAPH)
    odd: list[NamedNode | Literal] = [
        wkt("POINT(nowhere)"),
        wkt("POINT EMPTY"),
        wkt("POLYGON((0.1 0.1, 0.4 0.4, 0.4 0.1, 0.1 0.4, 0.1 0.1))"),
        Literal("POINT(0.5 0.5)"),
        Literal("", datatype=GEO.wktLiteral),
        *([] if literals_only else [EX.no_literal]),
    ]
    for number, value in enumerate(odd):
        node = BlankNode() if number % 2 else EX.term(f"odd{number}/g")
        quads.append(Quad(EX.term(f"odd{number}"), GEO.hasGeometry, node, DefaultGraph()))
        quads.append(Quad(node, GEO.asWKT, value, DefaultGraph()))
        quads.append(Quad(EX.term(f"odd{number}"), RDF.type, EX.Place, DefaultGraph()))
    return quads


def plain_city(seed: int = 7, places: int = 40) -> list[Quad]:
    """Features with one geometry each, which often touch or cover each other; some cannot be read."""
    chance = random.Random(seed)
    quads: list[Quad] = []
    both = chance.random() < 0.5
    for number in range(places):
        feature = EX.term(f"f{number}") if chance.random() < 0.9 else BlankNode()
        node = EX.term(f"f{number}/g") if chance.random() < 0.8 else BlankNode()
        quads.append(Quad(feature, RDF.type, chance.choice([EX.Place, EX.Shop, EX.Park]), DEFAULT))
        if chance.random() < 0.2:
            quads.append(Quad(feature, RDF.type, EX.Place, DEFAULT))
        quads.append(Quad(feature, RDFS.label, Literal(f"name {chance.randrange(20)}"), DEFAULT))
        quads.append(Quad(feature, GEO.hasGeometry, node, DEFAULT))
        if both:
            quads.append(Quad(feature, GEO.hasDefaultGeometry, node, DEFAULT))
        quads.append(Quad(node, GEO.asWKT, _on_a_grid(chance), DEFAULT))
    return quads


def _on_a_grid(chance: random.Random) -> Literal:
    x, y = chance.randrange(4) / 10, chance.randrange(4) / 10
    east, north = x + chance.randrange(1, 3) / 10, y + chance.randrange(1, 3) / 10
    ring = f"{x} {y}, {east} {y}, {east} {north}, {x} {north}, {x} {y}"
    return wkt(
        chance.choice(
            [
                *(
                    f"POLYGON(({ring}))",
                    f"POLYGON(({ring}))",
                    f"POINT({x} {y})",
                    f"LINESTRING({x} {y}, {east} {y})",
                ),
                *(f"POINT({x + 0.05} {y + 0.05})", f"LINESTRING({x} {y}, {east} {north})", "POINT EMPTY"),
                *(f"POLYGON(({x} {y}, {east} {north}, {east} {y}, {x} {north}, {x} {y}))", "POINT(nowhere)"),
                f"<http://www.opengis.net/def/crs/EPSG/0/4326> POINT({y} {x})",
            ]
        )
    )


def _feature(feature: NamedNode, chance: random.Random, graph: Any) -> list[Quad]:
    quads = [
        Quad(feature, RDF.type, chance.choice([EX.Place, EX.Shop, EX.Park]), graph),
        Quad(feature, RDFS.label, Literal(f"name {chance.randrange(20)}"), graph),
    ]
    for number in range(chance.choice([1, 1, 1, 2])):
        node = BlankNode() if chance.random() < 0.2 else NamedNode(f"{feature.value}/g{number}")
        link = chance.choice([GEO.hasGeometry, GEO.hasGeometry, GEO.hasDefaultGeometry])
        quads.append(Quad(feature, link, node, graph))
        quads += [Quad(node, p, value, graph) for p, value in _serializations(chance)]
    return quads


def _serializations(chance: random.Random) -> list[tuple[NamedNode, Literal]]:
    x, y = round(chance.random(), 2), round(chance.random(), 2)
    point = [
        (GEO.asWKT, wkt(f"POINT({x} {y})")),
        (GEO.asWKT, wkt(f"<http://www.opengis.net/def/crs/EPSG/0/4326> POINT({y} {x})")),
        (GEO.asGeoJSON, Literal(f'{{"type":"Point","coordinates":[{x},{y}]}}', datatype=GEO.geoJSONLiteral)),
    ]
    size = round(chance.random() / 3, 2) + 0.01
    corners = f"{x} {y}, {x + size} {y}, {x + size} {y + size}, {x} {y + size}, {x} {y}"
    other = [
        (GEO.asWKT, wkt(f"POLYGON(({corners}))")),
        (GEO.asWKT, wkt(f"LINESTRING({x} {y}, {x + size} {y + size / 2})")),
        (GEO.asWKT, wkt(f"MULTIPOINT(({x} {y}), ({y} {x}))")),
    ]
    if chance.random() < 0.15:
        return [point[0], other[0]]
    return [chance.choice(point if chance.random() < 0.5 else other)]
