"""Equality, as the rules of materialized inference need it: owl:sameAs and inverse functional properties.

The rules are those of OWL 2 Profiles, 4.3: eq-sym, eq-trans, eq-rep-s, eq-rep-p, eq-rep-o and prp-ifp. Each
of two equal things gets the statements of the other. No thing is said to be the same as itself (eq-ref).
Functional properties make nothing equal (prp-fp): two values are a contradiction, which shapes judge. No
thing gets a blank node as its type; what membership in it leads to follows for the equal things by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import OWL, RDF

SAME = OWL.sameAs
INVERSE_FUNCTIONAL = OWL.InverseFunctionalProperty


class Equality:
    """The equal things of one graph. Axioms are cached: call `forget` when one is added or removed."""

    def __init__(self, source: TripleSource) -> None:
        self._source = source
        self.forget()

    def forget(self) -> None:
        """Clear the cache of axioms."""
        self._in_use: bool | None = None
        self._identifying: tuple[NamedNode, ...] | None = None

    def notice(self, triple: Triple) -> None:
        """Take in a triple that has been added to the graph."""
        if triple.predicate == SAME:
            self._in_use = True

    @property
    def in_use(self) -> bool:
        """Whether anything is the same as something else."""
        if self._in_use is None:
            self._in_use = next(self._source.match(None, SAME, None), None) is not None
        return self._in_use

    def identifies(self, predicate: NamedNode) -> bool:
        """Whether things with one value of a property are one thing."""
        return predicate in self._identifying_properties()

    def of_statement(self, triple: Triple) -> Iterator[Triple]:
        """What follows from a statement for all that equals its terms, where there are such."""
        return (one for one in self._of_statement(triple) if not _is_membership_in_unnamed(one))

    def _of_statement(self, triple: Triple) -> Iterator[Triple]:
        subject, predicate, value = triple
        for same in self._ends(subject):
            yield Triple(same, predicate, value)
        for same in self._ends(predicate):
            if isinstance(same, NamedNode):
                yield Triple(subject, same, value)
        for same in self._ends(value):
            yield Triple(subject, predicate, same)
        if predicate == SAME and isinstance(value, NamedNode | BlankNode):
            yield from self._of_equality(subject, value)

    def of_identifying(self, triple: Triple) -> Iterator[Triple]:
        """What follows from a statement with an inverse functional property."""
        for other in self._source.match(None, triple.predicate, triple.object):
            if other.subject != triple.subject:
                yield Triple(triple.subject, SAME, other.subject)
                yield Triple(other.subject, SAME, triple.subject)

    def of_axiom(self, property_: NamedNode) -> Iterator[Triple]:
        """What follows when a property becomes inverse functional."""
        for one in self._source.match(None, property_, None):
            yield from self.of_identifying(one)

    def follows(self, triple: Triple) -> bool:
        """Whether a triple that the graph lacks follows from equality."""
        subject, predicate, value = triple
        if predicate == SAME and self._are_identified(subject, value):
            return True
        if not self.in_use or _is_membership_in_unnamed(triple):
            return False
        if predicate == SAME and isinstance(value, NamedNode | BlankNode) and self._has(value, SAME, subject):
            return True
        return (
            any(self._has(one, predicate, value) for one in self._starts(subject))
            or any(self._has(subject, one, value) for one in self._starts(predicate))
            or any(self._has(subject, predicate, one) for one in self._starts(value))
        )

    def _of_equality(self, one: NamedNode | BlankNode, same: NamedNode | BlankNode) -> Iterator[Triple]:
        yield Triple(same, SAME, one)
        for use in self._source.match(one, None, None):
            yield Triple(same, use.predicate, use.object)
        for use in self._source.match(None, None, one):
            yield Triple(use.subject, use.predicate, same)
        if isinstance(one, NamedNode) and isinstance(same, NamedNode):
            for use in self._source.match(None, one, None):
                yield Triple(use.subject, same, use.object)

    def _are_identified(self, one: Term, other: Term) -> bool:
        return any(
            self._has(other, property_, use.object)
            for property_ in self._identifying_properties()
            for use in self._source.match(one, property_, None)
            if one != other
        )

    def _identifying_properties(self) -> tuple[NamedNode, ...]:
        if self._identifying is None:
            found = (one.subject for one in self._source.match(None, RDF.type, INVERSE_FUNCTIONAL))
            self._identifying = tuple(one for one in found if isinstance(one, NamedNode))
        return self._identifying

    def _ends(self, term: Term) -> list[NamedNode | BlankNode]:
        found = () if isinstance(term, Literal) else self._source.match(term, SAME, None)
        return [one.object for one in found if isinstance(one.object, NamedNode | BlankNode)]

    def _starts(self, term: Term) -> list[Term]:
        return (
            [] if isinstance(term, Literal) else [one.subject for one in self._source.match(None, SAME, term)]
        )

    def _has(self, subject: Term, predicate: Term, value: Term) -> bool:
        if isinstance(subject, Literal) or not isinstance(predicate, NamedNode):
            return False
        return next(self._source.match(subject, predicate, value), None) is not None


def _is_membership_in_unnamed(triple: Triple) -> bool:
    return triple.predicate == RDF.type and isinstance(triple.object, BlankNode)
