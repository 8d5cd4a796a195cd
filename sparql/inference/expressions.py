"""Restrictions and property chains, as the rules of materialized inference need them.

The rules are those of OWL 2 Profiles, 4.3: cls-svf1, cls-svf2, cls-hv1, cls-hv2 and prp-spo2, with cax-sco
and cax-eqc1/2 for classes without a name. Membership in such a class is computed where it is needed and is
never stored, so that no thing gets a blank node as its type.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import OWL, RDF, RDFS

Class = NamedNode | BlankNode
Seen = set[tuple[Term, Class]]
_ABOVE = (RDFS.subClassOf, OWL.equivalentClass)
_ON_PROPERTY = OWL.onProperty
_HAS_VALUE = OWL.hasValue
_SOME_VALUES = OWL.someValuesFrom
_CHAIN = OWL.propertyChainAxiom
_LIST = (RDF.first, RDF.rest)
AXIOMS = frozenset((_ON_PROPERTY, _HAS_VALUE, _SOME_VALUES, _CHAIN, *_LIST))
"""The predicates of which restrictions and chains are made."""


@dataclass(frozen=True)
class _Restriction:
    """What a class says about the values of one property; a value must be in one of `fillers`."""

    property: NamedNode
    values: tuple[Term, ...]
    fillers: tuple[Class, ...]


@dataclass(frozen=True)
class _Chain:
    """Steps that lead from a thing to a value of the property."""

    property: NamedNode
    steps: tuple[NamedNode, ...]


class Expressions:
    """The restrictions and chains of one graph. They are cached: call `forget` when an axiom changes."""

    def __init__(self, source: TripleSource) -> None:
        self._source = source
        self.forget()

    def forget(self) -> None:
        """Clear the cache."""
        self._restrictions: dict[Class, tuple[_Restriction, ...]] = {}
        self._about: dict[NamedNode, tuple[Class, ...]] = {}
        self._with_filler: dict[Class, tuple[Class, ...]] = {}
        self._chains: dict[NamedNode, tuple[_Chain, ...]] = {}
        self._chains_to: dict[NamedNode, tuple[_Chain, ...]] = {}
        self._above: dict[Class, tuple[Class, ...]] = {}
        self._below: dict[Class, tuple[Class, ...]] = {}

    def concern_property(self, predicate: NamedNode) -> bool:
        """Whether a restriction or a chain is about a property."""
        return bool(self.about(predicate) or self.chains_with(predicate))

    def concern_class(self, class_: Class) -> bool:
        """Whether anything follows from membership in a class besides membership in classes with names."""
        return bool(self.restrictions(class_) or self.with_filler(class_) or self.above(class_))

    def of_statement(self, triple: Triple) -> Iterator[Triple]:
        """What follows from a statement with a property that restrictions or chains are about."""
        for chain in self.chains_with(triple.predicate):
            yield from self._through(chain, triple)
        seen: Seen = set()
        for class_ in self.about(triple.predicate):
            for one in self.restrictions(class_):
                if one.property == triple.predicate and self._fulfills(triple.object, one, set()):
                    yield from self._entering(triple.subject, class_, seen)

    def of_membership(self, thing: Term, class_: Class) -> Iterator[Triple]:
        """What follows from a thing's type besides its types with names above."""
        yield from self._of_member(thing, class_, {(thing, class_)})

    def of_axiom(self, triple: Triple) -> Iterator[Triple]:
        """What follows from a triple as a part of a restriction or chain, for all that it concerns."""
        subject, predicate, value = triple.subject, triple.predicate, triple.object
        if predicate in _LIST:
            for head in self._heads(subject):
                for axiom in self._source.match(None, _CHAIN, head):
                    yield from self.of_axiom(axiom)
        elif predicate == _CHAIN:
            for chain in self._read_chains(subject, value):
                for first in self._source.match(None, chain.steps[0], None):
                    for end in self._ahead({first.object}, chain.steps[1:]):
                        yield Triple(first.subject, chain.property, end)
        elif isinstance(subject, NamedNode | BlankNode):
            yield from self._of_members(subject)
            if predicate in _ABOVE and isinstance(value, BlankNode):
                yield from self._of_members(value)

    def follows(self, triple: Triple) -> bool:
        """Whether a triple that the graph lacks follows by a restriction or chain."""
        subject, predicate, value = triple.subject, triple.predicate, triple.object
        if predicate == RDF.type and isinstance(value, NamedNode) and self._is_member(subject, value, set()):
            return True
        for class_ in self.about(predicate):
            hits = any(one.property == predicate and value in one.values for one in self.restrictions(class_))
            if hits and self._is_member(subject, class_, set()):
                return True
        return any(value in self._ahead({subject}, chain.steps) for chain in self.chains_to(predicate))

    # Membership in classes, with and without names.

    def _of_members(self, class_: Class) -> Iterator[Triple]:
        for thing in self._members(class_, set()):
            if isinstance(class_, NamedNode) and isinstance(thing, NamedNode | BlankNode):
                yield Triple(thing, RDF.type, class_)
            yield from self._of_member(thing, class_, {(thing, class_)})

    def _of_member(self, thing: Term, class_: Class, seen: Seen) -> Iterator[Triple]:
        for one in self.restrictions(class_):
            for value in one.values:
                if isinstance(thing, NamedNode | BlankNode):
                    yield Triple(thing, one.property, value)
        for upper in self.above(class_):
            yield from self._entering(thing, upper, seen)
        for holder in self.with_filler(class_):
            for one in self.restrictions(holder):
                if class_ in one.fillers:
                    for use in self._source.match(None, one.property, thing):
                        yield from self._entering(use.subject, holder, seen)

    def _entering(self, thing: Term, class_: Class, seen: Seen) -> Iterator[Triple]:
        """What follows when a thing is found to be in a class."""
        if not isinstance(thing, NamedNode | BlankNode):
            return
        if isinstance(class_, NamedNode):
            yield Triple(thing, RDF.type, class_)
        elif (thing, class_) not in seen:
            seen.add((thing, class_))
            yield from self._of_member(thing, class_, seen)

    def _is_member(self, thing: Term, class_: Class, seen: Seen) -> bool:
        if (thing, class_) in seen:
            return False
        if class_ == OWL.Thing or self._has(thing, RDF.type, class_):
            return True
        seen.add((thing, class_))
        for one in self.restrictions(class_):
            uses = self._source.match(thing, one.property, None)
            if any(self._fulfills(use.object, one, seen) for use in uses):
                return True
        return any(self._is_member(thing, lower, seen) for lower in self.below(class_))

    def _fulfills(self, value: Term, restriction: _Restriction, seen: Seen) -> bool:
        if value in restriction.values:
            return True
        return any(
            filler == OWL.Thing or self._is_member(value, filler, seen) for filler in restriction.fillers
        )

    def _members(self, class_: Class, seen: set[Class]) -> Iterator[Term]:
        seen.add(class_)
        for typed in self._source.match(None, RDF.type, class_):
            yield typed.subject
        for one in self.restrictions(class_):
            for use in self._source.match(None, one.property, None):
                if self._fulfills(use.object, one, set()):
                    yield use.subject
        for lower in self.below(class_):
            if lower not in seen:
                yield from self._members(lower, seen)

    # Chains.

    def _through(self, chain: _Chain, triple: Triple) -> Iterator[Triple]:
        for place, step in enumerate(chain.steps):
            if step != triple.predicate:
                continue
            starts = self._back({triple.subject}, chain.steps[:place])
            ends = self._ahead({triple.object}, chain.steps[place + 1 :])
            for start in starts:
                for end in ends:
                    yield Triple(start, chain.property, end)  # type: ignore[arg-type]

    def _ahead(self, nodes: set[Term], steps: tuple[NamedNode, ...]) -> set[Term]:
        for step in steps:
            nodes = {one.object for node in nodes for one in self._source.match(node, step, None)}
        return nodes

    def _back(self, nodes: set[Term], steps: tuple[NamedNode, ...]) -> set[Term]:
        for step in reversed(steps):
            nodes = {one.subject for node in nodes for one in self._source.match(None, step, node)}
        return nodes

    # The axioms, read where they are first needed.

    def about(self, predicate: NamedNode) -> tuple[Class, ...]:
        """The restrictions of a property."""
        found = self._about.get(predicate)
        if found is None:
            found = self._about[predicate] = self._classes(None, _ON_PROPERTY, predicate)
        return found

    def with_filler(self, class_: Class) -> tuple[Class, ...]:
        """The restrictions that want a value of a class."""
        found = self._with_filler.get(class_)
        if found is None:
            found = self._with_filler[class_] = self._classes(None, _SOME_VALUES, class_)
        return found

    def restrictions(self, class_: Class) -> tuple[_Restriction, ...]:
        """What a class says as a restriction."""
        found = self._restrictions.get(class_)
        if found is None:
            properties = self._classes(class_, _ON_PROPERTY, None)
            values: tuple[Term, ...] = ()
            fillers: tuple[Class, ...] = ()
            if properties:
                values = tuple(one.object for one in self._source.match(class_, _HAS_VALUE, None))
                fillers = self._classes(class_, _SOME_VALUES, None)
            found = self._restrictions[class_] = tuple(
                _Restriction(one, values, fillers) for one in properties if isinstance(one, NamedNode)
            )
        return found

    def above(self, class_: Class) -> tuple[Class, ...]:
        """The classes stated to lie above one, but for those with names above one with a name."""
        found = self._above.get(class_)
        if found is None:
            ends = [end for order in _ABOVE for end in self._classes(class_, order, None)]
            found = self._above[class_] = _unnamed(class_, [*ends, *self._classes(None, _ABOVE[1], class_)])
        return found

    def below(self, class_: Class) -> tuple[Class, ...]:
        """The classes stated to lie below one, but for those with names below one with a name."""
        found = self._below.get(class_)
        if found is None:
            ends = [end for order in _ABOVE for end in self._classes(None, order, class_)]
            found = self._below[class_] = _unnamed(class_, [*ends, *self._classes(class_, _ABOVE[1], None)])
        return found

    def chains_with(self, predicate: NamedNode) -> tuple[_Chain, ...]:
        """The chains that a property is a step of."""
        found = self._chains.get(predicate)
        if found is None:
            cells = [one.subject for one in self._source.match(None, RDF.first, predicate)]
            heads = dict.fromkeys(head for cell in cells for head in self._heads(cell))
            found = self._chains[predicate] = tuple(
                chain
                for head in heads
                for axiom in self._source.match(None, _CHAIN, head)
                for chain in self._read_chains(axiom.subject, head)
            )
        return found

    def chains_to(self, predicate: NamedNode) -> tuple[_Chain, ...]:
        """The chains from which a property follows."""
        found = self._chains_to.get(predicate)
        if found is None:
            axioms = self._source.match(predicate, _CHAIN, None)
            found = self._chains_to[predicate] = tuple(
                chain for axiom in axioms for chain in self._read_chains(predicate, axiom.object)
            )
        return found

    def _read_chains(self, property_: Term, head: Term) -> Iterator[_Chain]:
        """The chain of a list of names; of a malformed list with several ends, each way through it."""
        if isinstance(property_, NamedNode):
            for steps in self._lists(head, frozenset()):
                if steps:
                    yield _Chain(property_, steps)

    def _lists(self, cell: Term, seen: frozenset[Term]) -> Iterator[tuple[NamedNode, ...]]:
        if cell == RDF.nil:
            yield ()
        if cell in seen or not isinstance(cell, NamedNode | BlankNode):
            return
        for first in (one.object for one in self._source.match(cell, RDF.first, None)):
            if isinstance(first, NamedNode):
                for rest in self._source.match(cell, RDF.rest, None):
                    for steps in self._lists(rest.object, seen | {cell}):
                        yield (first, *steps)

    def _heads(self, cell: Term) -> Iterator[Term]:
        """A cell of a list and those from which it is reached."""
        seen, waiting = {cell}, [cell]
        while waiting:
            one = waiting.pop()
            yield one
            before = {link.subject for link in self._source.match(None, RDF.rest, one)} - seen
            seen |= before
            waiting += before

    def _classes(self, subject: Term | None, predicate: NamedNode, value: Term | None) -> tuple[Class, ...]:
        """The IRIs and blank nodes at the open end of a pattern."""
        triples = self._source.match(subject, predicate, value)
        ends = [one.subject if subject is None else one.object for one in triples]
        return tuple(end for end in ends if isinstance(end, NamedNode | BlankNode))

    def _has(self, subject: Term, predicate: NamedNode, value: Term) -> bool:
        if isinstance(subject, Literal):
            return False
        return next(self._source.match(subject, predicate, value), None) is not None


def _unnamed(class_: Class, others: list[Class]) -> tuple[Class, ...]:
    """Those of which at least one of the two has no name: the order of names is in the graph itself."""
    wanted = (one for one in others if isinstance(class_, BlankNode) or isinstance(one, BlankNode))
    return tuple(one for one in dict.fromkeys(wanted) if one != class_)
