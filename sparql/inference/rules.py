"""The rules of materialized inference, one step at a time, forwards and backwards.

They are the rules of OWL 2 RL (OWL 2 Profiles, 4.3) about subclasses (cax-sco, scm-sco), subproperties
(prp-spo1, scm-spo), inverses (prp-inv1, prp-inv2), symmetric (prp-symp) and transitive properties (prp-trp),
equivalent classes and properties (scm-eqc1, scm-eqp1), and those of `sparql.inference.expressions`
and `sparql.inference.equality`. Axioms are triples of the graph like all others, so a change of them is an
ordinary change.

Domains and ranges are left out: a type that follows from using a property would satisfy any shape that
requires it. Trivial conclusions, such as a class below itself, are not drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, NamedNode, Triple

from sparql.inference import expressions
from sparql.inference.equality import INVERSE_FUNCTIONAL, SAME, Equality
from sparql.inference.expressions import Expressions
from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import OWL, RDF, RDFS

_TYPE = RDF.type
_SUBCLASS = RDFS.subClassOf
_SUBPROPERTY = RDFS.subPropertyOf
_SAME_CLASS = OWL.equivalentClass
_SAME_PROPERTY = OWL.equivalentProperty
_INVERSE = OWL.inverseOf
_SYMMETRIC = OWL.SymmetricProperty
_TRANSITIVE = OWL.TransitiveProperty
_ORDERS = {_SAME_CLASS: _SUBCLASS, _SAME_PROPERTY: _SUBPROPERTY}
AXIOMS = frozenset((_SUBCLASS, _SUBPROPERTY, _SAME_CLASS, _SAME_PROPERTY, _INVERSE))
"""The predicates of axioms; all other axioms are types of properties."""


def is_axiom(triple: Triple) -> bool:
    """Whether rules treat a triple as an axiom."""
    if triple.predicate == _TYPE:
        return triple.object in (_SYMMETRIC, _TRANSITIVE, INVERSE_FUNCTIONAL)
    return triple.predicate in AXIOMS or triple.predicate in expressions.AXIOMS


@dataclass(frozen=True)
class _Property:
    """What the axioms say about one property."""

    above: tuple[NamedNode, ...]
    inverses: tuple[NamedNode, ...]
    symmetric: bool
    transitive: bool
    identifying: bool
    in_expressions: bool


@dataclass(frozen=True)
class _Class:
    """What the axioms say about one class; `in_expressions`: restrictions do as well."""

    above: tuple[NamedNode, ...]
    in_expressions: bool


class Rules:
    """The rules over one graph. Axioms are cached: call `forget` when one is added or removed."""

    def __init__(self, source: TripleSource) -> None:
        self._source = source
        self._expressions = Expressions(source)
        self._equality = Equality(source)
        self._properties: dict[NamedNode, _Property] = {}
        self._classes: dict[NamedNode | BlankNode, _Class] = {}

    def notice(self, triple: Triple) -> None:
        """Take in a triple that has been added to the graph."""
        if is_axiom(triple):
            self.forget()
        self._equality.notice(triple)

    def forget(self) -> None:
        """Clear the cache of axioms."""
        self._expressions.forget()
        self._equality.forget()
        self._properties.clear()
        self._classes.clear()

    def conclusions(self, triple: Triple) -> Iterator[Triple]:
        """What follows in one step from a triple together with others of the graph."""
        return (one for one in self._all_conclusions(triple) if not _is_trivial(one))

    def _all_conclusions(self, triple: Triple) -> Iterator[Triple]:
        subject, predicate, value = triple.subject, triple.predicate, triple.object
        if predicate in AXIOMS or predicate == _TYPE:
            yield from self._of_axiom(triple)
        if predicate in expressions.AXIOMS:
            yield from self._expressions.of_axiom(triple)
        said = self._property(predicate)
        if said.in_expressions:
            yield from self._expressions.of_statement(triple)
        if self._equality.in_use:
            yield from self._equality.of_statement(triple)
        if said.identifying:
            yield from self._equality.of_identifying(triple)
        for upper in said.above:
            yield Triple(subject, upper, value)
        if said.transitive:
            for before in self._source.match(None, predicate, subject):
                yield Triple(before.subject, predicate, value)
        if not isinstance(value, NamedNode | BlankNode):
            return
        for other in said.inverses:
            yield Triple(value, other, subject)
        if said.symmetric:
            yield Triple(value, predicate, subject)
        if said.transitive:
            for after in self._source.match(value, predicate, None):
                yield Triple(subject, predicate, after.object)

    def settles(self, triple: Triple, conclusion: Triple) -> bool:
        """Whether everything that follows from a conclusion also follows from its triple as directly.

        This holds for classes and properties further up: the graph contains the complete order of both, and a
        later axiom is applied to all triples that exist by then.
        """
        predicate = conclusion.predicate
        if self._equality.in_use or predicate == SAME:
            return False
        if triple.subject != conclusion.subject or (is_axiom(conclusion) and predicate != _TYPE):
            return False
        said = self._property(predicate)
        if said.inverses or said.symmetric or said.transitive or said.identifying or said.in_expressions:
            return False
        if predicate == _TYPE:
            return self._settles_type(triple, conclusion) and not said.above
        return triple.object == conclusion.object and predicate in self._property(triple.predicate).above

    def _settles_type(self, triple: Triple, conclusion: Triple) -> bool:
        lower, upper = triple.object, conclusion.object
        if triple.predicate != _TYPE or not isinstance(lower, NamedNode) or not isinstance(upper, NamedNode):
            return False
        above = self._class(lower).above
        return upper in above and not self._class(upper).in_expressions and not is_axiom(conclusion)

    def follows(self, triple: Triple) -> bool:
        """Whether a triple that the graph lacks follows in one step from the graph."""
        subject, predicate, value = triple.subject, triple.predicate, triple.object
        if _is_trivial(triple):
            return False
        for lower in self._named(None, _SUBPROPERTY, predicate):
            if lower != predicate and self._has(subject, lower, value):
                return True
        if predicate in _ORDERS.values() and self._orders(triple):
            return True
        if predicate == _TYPE and isinstance(value, NamedNode):
            types = self._source.match(subject, _TYPE, None)
            if any(isinstance(t.object, NamedNode) and self._has(t.object, _SUBCLASS, value) for t in types):
                return True
        if self._expressions.follows(triple) or self._equality.follows(triple):
            return True
        said = self._property(predicate)
        if said.transitive and self._linked(subject, predicate, value):
            return True
        if not isinstance(value, NamedNode | BlankNode):
            return False
        turned = (*said.inverses, predicate) if said.symmetric else said.inverses
        return any(self._has(value, other, subject) for other in turned)

    def _of_axiom(self, triple: Triple) -> Iterator[Triple]:
        """What follows from a triple as an axiom, or as a type."""
        subject, predicate, value = triple.subject, triple.predicate, triple.object
        if predicate == _TYPE and isinstance(value, NamedNode | BlankNode):
            class_ = self._class(value)
            for upper in class_.above:
                yield Triple(subject, _TYPE, upper)
            if class_.in_expressions:
                yield from self._expressions.of_membership(subject, value)
        if predicate in (_SUBCLASS, _SAME_CLASS) and BlankNode in (type(subject), type(value)):
            yield from self._expressions.of_axiom(triple)
        if not isinstance(subject, NamedNode):
            return
        if predicate == _TYPE:
            yield from self._of_characteristic(subject, value)
            return
        if not isinstance(value, NamedNode) or subject == value:
            if predicate == _INVERSE and subject == value:
                yield from self._turned(subject, subject)
            return
        if predicate in _ORDERS:
            yield Triple(subject, _ORDERS[predicate], value)
            yield Triple(value, _ORDERS[predicate], subject)
        elif predicate == _INVERSE:
            yield from self._turned(subject, value)
            yield from self._turned(value, subject)
        else:
            for upper in self._named(value, predicate, None):
                yield Triple(subject, predicate, upper)
            for lower in self._named(None, predicate, subject):
                yield Triple(lower, predicate, value)
            if predicate == _SUBCLASS:
                for one in self._source.match(None, _TYPE, subject):
                    yield Triple(one.subject, _TYPE, value)
            else:
                for one in self._source.match(None, subject, None):
                    yield Triple(one.subject, value, one.object)

    def _of_characteristic(self, property_: NamedNode, kind: Term) -> Iterator[Triple]:
        if kind == INVERSE_FUNCTIONAL:
            yield from self._equality.of_axiom(property_)
        elif kind == _SYMMETRIC:
            yield from self._turned(property_, property_)
        elif kind == _TRANSITIVE:
            for one in self._source.match(None, property_, None):
                for after in self._source.match(one.object, property_, None):
                    yield Triple(one.subject, property_, after.object)

    def _turned(self, property_: NamedNode, other: NamedNode) -> Iterator[Triple]:
        for one in self._source.match(None, property_, None):
            if isinstance(one.object, NamedNode | BlankNode):
                yield Triple(one.object, other, one.subject)

    def _orders(self, triple: Triple) -> bool:
        """Whether a class or property lies below another by equivalence or through one between them."""
        lower, order, upper = triple.subject, triple.predicate, triple.object
        if not isinstance(lower, NamedNode) or not isinstance(upper, NamedNode) or lower == upper:
            return False
        same = _SAME_CLASS if order == _SUBCLASS else _SAME_PROPERTY
        if self._has(lower, same, upper) or self._has(upper, same, lower):
            return True
        between = self._named(lower, order, None)
        return any(one not in (lower, upper) and self._has(one, order, upper) for one in between)

    def _linked(self, subject: Term, predicate: NamedNode, value: Term) -> bool:
        steps = (step.object for step in self._source.match(subject, predicate, None))
        return any(self._has(step, predicate, value) for step in steps)

    def _property(self, predicate: NamedNode) -> _Property:
        found = self._properties.get(predicate)
        if found is None:
            inverses = {*self._named(predicate, _INVERSE, None), *self._named(None, _INVERSE, predicate)}
            found = self._properties[predicate] = _Property(
                tuple(one for one in self._named(predicate, _SUBPROPERTY, None) if one != predicate),
                tuple(inverses),
                self._has(predicate, _TYPE, _SYMMETRIC),
                self._has(predicate, _TYPE, _TRANSITIVE),
                self._equality.identifies(predicate),
                self._expressions.concern_property(predicate),
            )
        return found

    def _class(self, class_: NamedNode | BlankNode) -> _Class:
        found = self._classes.get(class_)
        if found is None:
            named = isinstance(class_, NamedNode)
            above = [one for one in self._named(class_, _SUBCLASS, None) if one != class_] if named else []
            found = _Class(tuple(above), self._expressions.concern_class(class_))
            self._classes[class_] = found
        return found

    def _named(self, subject: Term | None, predicate: NamedNode, value: Term | None) -> list[NamedNode]:
        """The IRIs at the open end of a pattern."""
        triples = self._source.match(subject, predicate, value)
        ends: Iterator[Term] = (one.subject if subject is None else one.object for one in triples)
        return [end for end in ends if isinstance(end, NamedNode)]

    def _has(self, subject: Term, predicate: NamedNode, value: Term) -> bool:
        return next(self._source.match(subject, predicate, value), None) is not None


def _is_trivial(triple: Triple) -> bool:
    """Whether it says that a class or property lies below itself, or that a thing is itself."""
    return triple.predicate in (*_ORDERS.values(), SAME) and triple.subject == triple.object
