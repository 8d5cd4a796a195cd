"""What follows from a set of triples, by the rules as written, round after round until nothing is new.

Made apart from the code under test: it knows no deltas, no deletion and no order, only whole sets. The
rules are those of the tables of OWL 2 Profiles, 4.3, under the names that they have there. Types that are
blank nodes take part in the rounds, as there, and are left out of the result: membership in a class without
a name is not stored.
"""

from __future__ import annotations

from itertools import product
from typing import Any

from pyoxigraph import BlankNode, NamedNode, Triple

from sparql.model.vocabulary import OWL, RDF, RDFS

A, SUB, SUBP = RDF.type, RDFS.subClassOf, RDFS.subPropertyOf


def closure(stated: set[Triple]) -> set[Triple]:
    """The triples and all that follows."""
    known = set(stated)
    while new := {t for t in _round(known) | _expressions(known) | _equality(known) if _is_sound(t)} - known:
        known |= new
    return {t for t in known if t.predicate != A or not isinstance(t.object, BlankNode) or t in stated}


def _round(known: set[Triple]) -> set[Triple]:
    def pairs(predicate: NamedNode) -> list[tuple[Any, Any]]:
        return [(t.subject, t.object) for t in known if t.predicate == predicate]

    def both_named(predicate: NamedNode) -> list[tuple[Any, Any]]:
        return [(a, b) for a, b in pairs(predicate) if isinstance(a, NamedNode) and isinstance(b, NamedNode)]

    found: set[Triple] = set()
    for order, same in ((SUB, OWL.equivalentClass), (SUBP, OWL.equivalentProperty)):
        for a, b in both_named(same):
            found |= {Triple(a, order, b), Triple(b, order, a)}
        for (a, b), (c, d) in product(both_named(order), repeat=2):
            if b == c:
                found.add(Triple(a, order, d))
    for (x, c), (low, up) in product(pairs(A), both_named(SUB)):
        if c == low:
            found.add(Triple(x, A, up))
    for low, up in both_named(SUBP):
        found |= {Triple(x, up, y) for x, y in pairs(low)}
    for p, q in both_named(OWL.inverseOf):
        found |= {Triple(y, q, x) for x, y in pairs(p) if _is_node(y)}
        found |= {Triple(y, p, x) for x, y in pairs(q) if _is_node(y)}
    for p, kind in pairs(A):
        if kind == OWL.SymmetricProperty and isinstance(p, NamedNode):
            found |= {Triple(y, p, x) for x, y in pairs(p) if _is_node(y)}
        if kind == OWL.TransitiveProperty and isinstance(p, NamedNode):
            found |= {Triple(x, p, z) for (x, y), (w, z) in product(pairs(p), repeat=2) if y == w}
    return found


def _expressions(known: set[Triple]) -> set[Triple]:
    """Table 5's rules of chains, table 6's of restrictions, table 7's of the classes that these are."""

    def pairs(predicate: NamedNode) -> list[tuple[Any, Any]]:
        return [(t.subject, t.object) for t in known if t.predicate == predicate]

    types = set(pairs(A))
    found: set[Triple] = set()
    for x, p in pairs(OWL.onProperty):
        if not isinstance(p, NamedNode):
            continue
        for y in (y for other, y in pairs(OWL.someValuesFrom) if other == x):  # cls-svf1, cls-svf2
            found |= {Triple(u, A, x) for u, v in pairs(p) if y == OWL.Thing or (v, y) in types}
        for y in (y for other, y in pairs(OWL.hasValue) if other == x):  # cls-hv1, cls-hv2
            found |= {Triple(u, p, y) for u, kind in types if kind == x}
            found |= {Triple(u, A, x) for u, v in pairs(p) if v == y}
    orders = pairs(SUB) + pairs(OWL.equivalentClass) + [(b, a) for a, b in pairs(OWL.equivalentClass)]
    for low, up in orders:  # cax-sco, cax-eqc1, cax-eqc2
        if _is_node(up) and BlankNode in (type(low), type(up)):
            found |= {Triple(x, A, up) for x, kind in types if kind == low}
    for p, head in pairs(OWL.propertyChainAxiom):  # prp-spo2
        for steps in filter(None, _lists(known, head, ())):
            ways = {(t.subject, t.object) for t in known if t.predicate == steps[0]}
            for step in steps[1:]:
                ways = {(x, z) for (x, y), (w, z) in product(ways, pairs(step)) if y == w}
            found |= {Triple(x, p, y) for x, y in ways if isinstance(p, NamedNode)}
    return found


def _equality(known: set[Triple]) -> set[Triple]:
    """Table 4's rules but for eq-ref, and table 5's prp-ifp."""
    found: set[Triple] = set()
    for one in known:
        if one.predicate == OWL.sameAs and _is_node(one.object):
            x: Any = one.subject
            y: Any = one.object
            found.add(Triple(y, OWL.sameAs, x))  # eq-sym; eq-trans is eq-rep-o
            found |= {Triple(y, t.predicate, t.object) for t in known if t.subject == x}  # eq-rep-s
            found |= {Triple(t.subject, t.predicate, y) for t in known if t.object == x}  # eq-rep-o
            if isinstance(y, NamedNode):
                found |= {Triple(t.subject, y, t.object) for t in known if t.predicate == x}  # eq-rep-p
        if one.predicate == A and one.object == OWL.InverseFunctionalProperty:  # prp-ifp
            uses = [t for t in known if t.predicate == one.subject]
            found |= {
                Triple(t.subject, OWL.sameAs, u.subject) for t in uses for u in uses if t.object == u.object
            }
    return found


def _lists(known: set[Triple], head: Any, before: tuple[Any, ...]) -> list[list[Any]]:
    """The members of a list of names: of a malformed one with several ends, of each way through it."""
    if head == RDF.nil:
        return [[]]
    if head in before:
        return []
    firsts = [t.object for t in known if t.subject == head and t.predicate == RDF.first]
    rests = [t.object for t in known if t.subject == head and t.predicate == RDF.rest]
    others = [members for rest in rests for members in _lists(known, rest, (*before, head))]
    return [[first, *members] for first in firsts if isinstance(first, NamedNode) for members in others]


def _is_node(term: object) -> bool:
    return isinstance(term, NamedNode | BlankNode)


def _is_sound(triple: Triple) -> bool:
    """Not trivial: nothing is said of a class or property and itself, and nothing is the same as itself."""
    return not (triple.predicate in (SUB, SUBP, OWL.sameAs) and triple.subject == triple.object)
