"""The query rewriting extension of GeoSPARQL 1.1 (requirements 28 to 30) over the stored relations.

Between two features every topological property is answered from the RCC8 relations that the graph keeps:
sfWithin is EQ, TPP or NTPP. Where RCC8 is coarser than the property (crosses and overlaps are both PO) the
function decides between the geometries. Disjoint and DC are what is not related at all, so one side must be
known. Geometry nodes take part beside features where one side of the pattern is an IRI.

Without derived statements (`derived=false`) the rules of the standard are applied as they stand: a property
holds where it is stated, or where the function of its name is true of the geometries of features or of
geometry nodes. RCC8 is then a matter of areas alone (table 7: applicable to A/A), while the kept relations
are of points and lines too.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from pyoxigraph import Literal, NamedNode, Variable

from sparql.model.errors import MalformedRequest
from sparql.model.vocabulary import GEO, UKG
from sparql.rewriting.patterns import binds, distinct, ends_of, replace_patterns, with_links
from sparql.rewriting.steps import Report
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.writing import Elements, Place, triple_text

TOPOLOGY: Final = "topology"
DERIVED_PROPERTIES: Final = frozenset(
    GEO.term(f"rcc8{name}") for name in ("ec", "po", "eq", "tpp", "ntpp", "tppi", "ntppi")
)
"""The properties that the relations of features are stated with."""
_GEOF: Final = "http://www.opengis.net/def/function/geosparql/"
_DIMENSION: Final = NamedNode(f"{_GEOF}dimension")
_ALL: Final = ("ec", "po", "eq", "tpp", "ntpp", "tppi", "ntppi")


@dataclass(frozen=True)
class Property:
    """A topological property: the RCC8 relations it comes to (none: it is disjoint), whether the function
    must decide among them, and whether everything has it to itself.
    """

    relations: tuple[str, ...]
    check: bool = False
    reflexive: bool = False


PROPERTIES: Final[dict[NamedNode, Property]] = {
    GEO.sfEquals: Property(("eq",), reflexive=True),
    GEO.sfDisjoint: Property(()),
    GEO.sfIntersects: Property(_ALL, reflexive=True),
    GEO.sfTouches: Property(("ec",)),
    GEO.sfCrosses: Property(("po",), check=True),
    GEO.sfWithin: Property(("eq", "tpp", "ntpp"), reflexive=True),
    GEO.sfContains: Property(("eq", "tppi", "ntppi"), reflexive=True),
    GEO.sfOverlaps: Property(("po",), check=True),
    GEO.ehEquals: Property(("eq",), reflexive=True),
    GEO.ehDisjoint: Property(()),
    GEO.ehMeet: Property(("ec",)),
    GEO.ehOverlap: Property(("po",), check=True),
    GEO.ehCovers: Property(("tppi",), check=True),
    GEO.ehCoveredBy: Property(("tpp",), check=True),
    GEO.ehInside: Property(("ntpp",), check=True),
    GEO.ehContains: Property(("ntppi",), check=True),
    GEO.rcc8eq: Property(("eq",), reflexive=True),
    GEO.rcc8dc: Property(()),
    **{GEO.term(f"rcc8{name}"): Property((name,)) for name in _ALL if name != "eq"},
    # UrbanKGent's five classes, and the inverse of its IN.
    UKG.rcc5dc: Property(()),
    UKG.rcc5ec: Property(("ec",)),
    UKG.rcc5po: Property(("po",)),
    UKG.rcc5eq: Property(("eq",)),
    UKG.rcc5in: Property(("tpp", "ntpp")),
    UKG.rcc5ini: Property(("tppi", "ntppi")),
}

_STORED: Final = b.alternatives(*(GEO.term(f"rcc8{name}") for name in _ALL))
_DEFAULT: Final = b.alternatives(GEO.hasDefaultGeometry, GEO.defaultGeometry)
_GEOMETRY: Final = b.alternatives(GEO.hasDefaultGeometry, GEO.defaultGeometry, GEO.hasGeometry)
_LITERAL: Final = b.alternatives(GEO.asWKT, GEO.asGeoJSON, GEO.asGML, GEO.asKML)
_HAS_LITERAL: Final = b.sequence(_GEOMETRY, _LITERAL)


def answer_topology(query: n.Query, report: Report, *, derived: bool = True) -> n.Query:
    """The query with its topological properties answered; `derived`: from the kept relations.

    Raises MalformedRequest for what cannot be.
    """
    return replace_patterns(query, _Topology(n.names_in(query), report, derived=derived).replace)


def unanswered_property(query: n.Query) -> NamedNode | None:
    """A property that the graph states of nothing, asked for where nothing answers it."""
    for group in n.groups_in(query):
        for element in group.elements:
            for triple in element.triples if isinstance(element, n.Statement) else ():
                if triple.predicate in PROPERTIES and triple.predicate not in DERIVED_PROPERTIES:
                    return triple.predicate
    return None


class _Topology:
    def __init__(self, names: Container[str], report: Report, *, derived: bool) -> None:
        self._derived = derived
        self._report = report
        self._names = names
        self._count = 0

    def replace(self, triple: n.TriplePattern, place: Place) -> Elements | None:
        """The elements in place of one triple pattern."""
        if isinstance(triple.verb, Variable):
            return None
        if not any(iri in PROPERTIES for iri in n.links_of(triple.verb)):
            return None
        written = triple_text(triple)
        if place.in_graph:
            self._report.leave(TOPOLOGY, written, "relations are kept in the default graph, not in GRAPH")
            return None
        property_ = triple.predicate
        if not self._derived:
            return self._by_the_rules(triple, place, property_)
        if property_ is None:
            return self._path(triple, triple.verb)
        wanted = PROPERTIES[property_]
        ends = ends_of(triple, str(property_))
        fixed = [term for term in ends if isinstance(term, NamedNode)]
        if not wanted.relations:
            apart = self._disconnected(triple, place, ends)
            if not fixed or property_ in _FIVE:
                return apart
            # Of geometry nodes nothing is kept, so the function must look at each.
            function = GEO.sfDisjoint if property_ == GEO.rcc8dc else property_
            return (distinct(ends, b.union(b.group(*apart), *self._by_function(ends, function))),)
        branches = [b.group(b.statement(triple)), self._between_features(ends, property_, wanted)]
        if wanted.reflexive and (len(fixed) < 2 or len(set(ends)) == 1):
            branches.append(self._itself(ends))
        if fixed and property_ not in _FIVE:
            branches += self._by_function(ends, property_)
        else:
            self._report.leave(TOPOLOGY, written, "geometry nodes take part where one side is an IRI")
        self._report.did(TOPOLOGY, written, f"from the kept relations {', '.join(wanted.relations)}")
        return (distinct(ends, b.union(*branches)),)

    def _by_the_rules(self, triple: n.TriplePattern, place: Place, property_: NamedNode | None) -> Elements:
        written = triple_text(triple)
        if property_ is None or property_ in _FIVE:
            what = "The five classes are" if property_ else "A topological property in a path is"
            raise MalformedRequest(
                f"{what} answered from the derived relations; leave derived=false out for {written}."
            )
        ends = ends_of(triple, str(property_))
        if not PROPERTIES[property_].relations:
            self._one_side_known(triple, place, ends)
        area = property_.value.rpartition("#")[2].startswith("rcc8")
        by_function = self._by_function(ends, property_, features=True, areas=area)
        self._report.did(TOPOLOGY, written, "stated, or by the function of its name")
        return (distinct(ends, b.union(b.group(b.statement(triple)), *by_function)),)

    def _path(self, triple: n.TriplePattern, path: n.Path) -> Elements:
        def kept(link: n.Link) -> n.Path:
            wanted = PROPERTIES.get(link.iri)
            if wanted is None:
                return link
            if wanted.check or not wanted.relations:
                raise MalformedRequest(
                    f"{link.iri} is not answered within a path, since it takes more than the kept relations. "
                    "Write it as a triple pattern of its own."
                )
            relations = dict.fromkeys([link.iri, *(GEO.term(f"rcc8{name}") for name in wanted.relations)])
            return b.alternatives(*relations)

        written = triple_text(triple)
        verb = with_links(path, kept)
        self._report.did(
            TOPOLOGY, written, "its steps take the kept relations, without what is equal to itself"
        )
        return (b.triple(triple.subject, verb, triple.object),)

    def _disconnected(self, triple: n.TriplePattern, place: Place, ends: tuple[n.Term, n.Term]) -> Elements:
        """DC: both have a geometry, they differ, and no relation is kept between them."""
        self._one_side_known(triple, place, ends)
        left, right = ends
        have = (distinct((end,), b.triple(end, _HAS_LITERAL, self._fresh())) for end in ends)
        self._report.did(TOPOLOGY, triple_text(triple), "places that no kept relation joins")
        return (
            *have,
            b.filtered(b.operation("!=", b.use(left), b.use(right))),
            b.filtered(b.not_exists(b.triple(left, _STORED, right))),
        )

    def _one_side_known(self, triple: n.TriplePattern, place: Place, ends: tuple[n.Term, n.Term]) -> None:
        if not any(isinstance(end, NamedNode) or binds(place, _name(end), triple) for end in ends):
            raise MalformedRequest(
                f"Almost all places are disconnected, so {triple_text(triple)} would list nearly every pair. "
                "Give one side: an IRI, or another pattern that says which places are meant."
            )

    def _between_features(
        self, ends: tuple[n.Term, n.Term], property_: NamedNode, wanted: Property
    ) -> n.Group:
        left, right = ends
        related = b.triple(
            left, b.alternatives(*(GEO.term(f"rcc8{name}") for name in wanted.relations)), right
        )
        if not wanted.check:
            return b.group(related)
        first, second = self._fresh(), self._fresh()
        condition = b.call(_function(property_), b.use(first), b.use(second))
        shapes = (*self._shape(left, first), *self._shape(right, second))
        return b.group(related, b.filtered(b.exists(*shapes, b.filtered(condition))))

    def _itself(self, ends: tuple[n.Term, n.Term]) -> n.Group:
        """What has a geometry, and is in itself, equals itself and so on."""
        one, other = ends if isinstance(ends[1], Variable) else (ends[1], ends[0])
        has = b.triple(one, _HAS_LITERAL, self._fresh())
        return b.group(has) if one == other else b.group(has, b.bound(b.use(one), _name(other)))

    def _by_function(
        self,
        ends: tuple[n.Term, n.Term],
        property_: NamedNode,
        *,
        features: bool = False,
        areas: bool = False,
    ) -> list[n.Group]:
        """Where a geometry node is on one side or on both: each by its literal, features by theirs.

        `features` adds pairs of features, `areas` leaves out what is no area.
        """
        pairs = [(self._node, self._node), (self._node, self._shape), (self._shape, self._node)]
        if features:
            pairs.append((self._shape, self._shape))
        groups: list[n.Group] = []
        for one, other in pairs:
            literals = (self._fresh(), self._fresh())
            conditions: list[n.Expression] = [b.call(_function(property_), *map(b.use, literals))]
            if areas:
                dimensions = (b.call(_DIMENSION, b.use(literal)) for literal in literals)
                conditions += [b.operation("=", found, b.use(Literal(2))) for found in dimensions]
            condition = b.filtered(b.all_true(conditions))
            groups.append(b.group(*one(ends[0], literals[0]), *other(ends[1], literals[1]), condition))
        return groups

    def _node(self, node: n.Term, literal: Variable) -> Elements:
        """The pattern of a geometry node."""
        return (b.triple(node, _LITERAL, literal),)

    def _shape(self, feature: n.Term, literal: Variable) -> Elements:
        """The patterns of a feature's geometries that count: its default ones, else each."""
        node = self._fresh()
        is_default = b.exists(b.triple(feature, _DEFAULT, node))
        has_none = b.not_exists(b.triple(feature, _DEFAULT, self._fresh()))
        return (
            b.triple(feature, _GEOMETRY, node),
            b.triple(node, _LITERAL, literal),
            b.filtered(b.operation("||", is_default, has_none)),
        )

    def _fresh(self) -> Variable:
        while True:
            self._count += 1
            name = f"related{self._count}"
            if name not in self._names:
                return Variable(name)


def _function(property_: NamedNode) -> NamedNode:
    """The function of a property's name."""
    return NamedNode(_GEOF + property_.value.rpartition("#")[2])


_FIVE: Final = frozenset(iri for iri in PROPERTIES if iri.value.startswith(UKG.iri))


def _name(term: n.Term) -> str:
    return term.value if isinstance(term, Variable) else ""
