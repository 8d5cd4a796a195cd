"""What follows from a set of triples, by the rules as written, round after round until nothing is new.

Made apart from the code under test: it knows no deltas, no deletion and no order, only whole sets.
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
    while new := {t for t in _round(known) if _is_sound(t)} - known:
        known |= new
    return known


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


def _is_node(term: object) -> bool:
    return isinstance(term, NamedNode | BlankNode)


def _is_sound(triple: Triple) -> bool:
    """Not trivial: nothing is said of a class or property and itself."""
    return not (triple.predicate in (SUB, SUBP) and triple.subject == triple.object)
