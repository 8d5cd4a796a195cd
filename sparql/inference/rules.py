"""The rules of inference as a table, and the joins that draw conclusions from them.

They are 25 rules of OWL 2 RL (OWL 2 Profiles, 4.3), under the names that they have there; of those left out,
`tests/support/profile_tables.py` says why. Axioms are triples of the graph like all others, so a change of
them is an ordinary change. Domains and ranges are left out: a type that follows from using a property would
satisfy any shape that requires it.

Membership in a class without a name takes part in the rules. Where it only follows it is kept beside the
graph (`is_membership`), so that no thing gets a blank node as its type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from sparql.model.source import Term, TripleSource
from sparql.model.vocabulary import OWL, RDF, RDFS

Pattern = tuple[Any, Any, Any]
"""A triple with terms, or variables as texts."""
Binding = Mapping[str, Term]

_RULES = """
eq-sym    ?x owl:sameAs ?n => ?n owl:sameAs ?x
eq-rep-s  ?x owl:sameAs ?n . ?x ?p ?o => ?n ?p ?o
eq-rep-p  ?p owl:sameAs ?Q . ?x ?p ?y => ?x ?Q ?y
eq-rep-o  ?x owl:sameAs ?n . ?s ?p ?x => ?s ?p ?n
prp-ifp   ?p rdf:type owl:InverseFunctionalProperty . ?x ?p ?v . ?y ?p ?v => ?x owl:sameAs ?y
prp-symp  ?P rdf:type owl:SymmetricProperty . ?x ?P ?n => ?n ?P ?x
prp-trp   ?P rdf:type owl:TransitiveProperty . ?x ?P ?y . ?y ?P ?z => ?x ?P ?z
prp-spo1  ?P rdfs:subPropertyOf ?Q . ?x ?P ?y => ?x ?Q ?y
prp-inv1  ?P owl:inverseOf ?Q . ?x ?P ?n => ?n ?Q ?x
prp-inv2  ?P owl:inverseOf ?Q . ?x ?Q ?n => ?n ?P ?x
cls-svf1  ?r owl:onProperty ?P . ?r owl:someValuesFrom ?c . ?x ?P ?v . ?v rdf:type ?c => ?x rdf:type ?r
cls-svf2  ?r owl:onProperty ?P . ?r owl:someValuesFrom owl:Thing . ?x ?P ?v => ?x rdf:type ?r
cls-hv1   ?r owl:onProperty ?P . ?r owl:hasValue ?v . ?x rdf:type ?r => ?x ?P ?v
cls-hv2   ?r owl:onProperty ?P . ?r owl:hasValue ?v . ?x ?P ?v => ?x rdf:type ?r
cax-sco   ?c rdfs:subClassOf ?n . ?x rdf:type ?c => ?x rdf:type ?n
cax-eqc1  ?c owl:equivalentClass ?n . ?x rdf:type ?c => ?x rdf:type ?n
cax-eqc2  ?c owl:equivalentClass ?n . ?x rdf:type ?n => ?x rdf:type ?c
scm-sco   ?A rdfs:subClassOf ?B . ?B rdfs:subClassOf ?C => ?A rdfs:subClassOf ?C
scm-eqc1  ?A owl:equivalentClass ?B => ?A rdfs:subClassOf ?B
scm-eqc1  ?A owl:equivalentClass ?B => ?B rdfs:subClassOf ?A
scm-spo   ?A rdfs:subPropertyOf ?B . ?B rdfs:subPropertyOf ?C => ?A rdfs:subPropertyOf ?C
scm-eqp1  ?A owl:equivalentProperty ?B => ?A rdfs:subPropertyOf ?B
scm-eqp1  ?A owl:equivalentProperty ?B => ?B rdfs:subPropertyOf ?A
"""
"""Name, premises and conclusion. A variable in capitals stands for an IRI, `?n` for an IRI or a blank node.

eq-trans follows by eq-rep-o, prp-eqp1 and 2 by scm-eqp1 and prp-spo1. Chains (prp-spo2) are of any length:
`Rules` makes a rule of each.
"""
_NAMESPACES = {"rdf": RDF, "rdfs": RDFS, "owl": OWL}
_CHAIN = OWL.propertyChainAxiom
_LISTS = frozenset((_CHAIN, RDF.first, RDF.rest))
_AXIOMS = _LISTS | {
    *(RDFS.subClassOf, RDFS.subPropertyOf, OWL.equivalentClass, OWL.equivalentProperty, OWL.inverseOf),
    *(OWL.onProperty, OWL.someValuesFrom, OWL.hasValue),
}
_KINDS = frozenset((OWL.SymmetricProperty, OWL.TransitiveProperty, OWL.InverseFunctionalProperty))
_TRIVIAL = frozenset((RDFS.subClassOf, RDFS.subPropertyOf, OWL.sameAs))
"""What everything is to itself, so that it is not concluded."""


@dataclass(frozen=True)
class _Rule:
    """A rule in the order in which its premises are joined."""

    premises: tuple[Pattern, ...]
    conclusion: Pattern
    trigger: Pattern | None = None
    """The premise, or the conclusion, that is known before the others are looked up."""

    def started_by(self, known: Pattern) -> _Rule:
        """The rule with this premise or conclusion known: the others in an order of few lookups."""
        waiting = [one for one in self.premises if one is not known]
        bound = {part for part in known if isinstance(part, str)}
        ordered = []
        while waiting:
            following = min(waiting, key=lambda one: _cost(one, bound))
            waiting.remove(following)
            ordered.append(following)
            bound.update(part for part in following if isinstance(part, str))
        return _Rule(tuple(ordered), self.conclusion, known)


def _cost(pattern: Pattern, bound: set[str]) -> tuple[int, bool]:
    """How much a lookup may find: all known, of a subject, of a value, of a property alone."""
    subject, predicate, value = (not isinstance(part, str) or part in bound for part in pattern)
    if subject and predicate and value:
        rank = 0
    elif predicate and (subject or value):
        rank = 1 if subject else 3 - 1 * (pattern[1] in _AXIOMS)
    else:
        rank = 4 if subject or value else 5
    return rank, pattern[1] not in _AXIOMS


def _read(text: str) -> _Rule:
    def pattern(words: str) -> Pattern:
        subject, predicate, value = (
            word if word.startswith("?") else _NAMESPACES[word.partition(":")[0]].term(word.partition(":")[2])
            for word in words.split()
        )
        return subject, predicate, value

    premises, conclusion = text.split(" => ")
    return _Rule(tuple(map(pattern, premises.split(" . "))), pattern(conclusion))


_TABLE = tuple(_read(line.partition(" ")[2]) for line in _RULES.strip().splitlines())


def is_axiom(triple: Triple) -> bool:
    """Whether rules treat a triple as an axiom."""
    if triple.predicate == RDF.type:
        return triple.object in _KINDS
    return triple.predicate in _AXIOMS


def is_membership(triple: Triple) -> bool:
    """Whether a triple says that a thing is in a class without a name."""
    return triple.predicate == RDF.type and isinstance(triple.object, BlankNode)


class Rules:
    """The rules over one graph. Axioms are cached: `notice` what is added to the graph."""

    def __init__(self, source: TripleSource) -> None:
        self._source = source
        self._used: dict[NamedNode, bool] = {}
        self._forget()

    def _forget(self) -> None:
        self._axioms: dict[Pattern, tuple[Triple, ...]] = {}
        self._chains: tuple[_Chain, ...] | None = None
        self._forwards: dict[tuple[NamedNode, Term | None], tuple[_Rule, ...]] = {}
        self._backwards: dict[NamedNode, tuple[_Rule, ...]] = {}

    def notice(self, triple: Triple) -> None:
        """Take in a triple that has been added to the graph."""
        if is_axiom(triple):
            self._forget()
        if not self._used.get(triple.predicate, True):
            self._used[triple.predicate] = True
            self._forwards.clear()
            self._backwards.clear()

    def conclusions(self, triple: Triple) -> Iterator[Triple]:
        """What follows in one step from a triple together with others of the graph."""
        for rule in self._starting_with(triple):
            start = _extended({}, rule.trigger, triple)
            if start is not None:
                yield from self._drawn(rule, start)
        if triple.predicate in _LISTS:
            for chain in self._all_chains():
                if triple.subject in chain.parts:
                    yield from self._drawn(chain.rule, {})

    def follows(self, triple: Triple) -> bool:
        """Whether a triple follows in one step from the graph."""
        if _is_trivial(triple):
            return False
        for rule in self._ending_with(triple.predicate):
            start = _extended({}, rule.conclusion, triple)
            if start is not None and next(self._solutions(rule.premises, start), None) is not None:
                return True
        return False

    def _drawn(self, rule: _Rule, start: Binding) -> Iterator[Triple]:
        for found in self._solutions(rule.premises, start):
            subject, predicate, value = _filled(rule.conclusion, found)
            if isinstance(predicate, NamedNode) and isinstance(subject, NamedNode | BlankNode):
                conclusion = Triple(subject, predicate, value)
                if not _is_trivial(conclusion):
                    yield conclusion

    def _solutions(self, premises: tuple[Pattern, ...], known: Binding) -> Iterator[Binding]:
        if not premises:
            yield known
            return
        first, rest = premises[0], premises[1:]
        for triple in self._matching(first, known):
            found = _extended(known, first, triple)
            if found is not None:
                yield from self._solutions(rest, found)

    def _matching(self, pattern: Pattern, known: Binding) -> Iterable[Triple]:
        subject, predicate, value = (known.get(part) if isinstance(part, str) else part for part in pattern)
        if isinstance(subject, Literal) or not isinstance(predicate, NamedNode | None):
            return ()
        if predicate not in _AXIOMS and not (predicate == RDF.type and value in _KINDS):
            return self._source.match(subject, predicate, value)
        found = self._axioms.get((subject, predicate, value))
        if found is None:
            found = tuple(self._source.match(subject, predicate, value))
            self._axioms[subject, predicate, value] = found
        return found

    def _starting_with(self, triple: Triple) -> tuple[_Rule, ...]:
        """The rules with a premise that a triple may be, and that the axioms of the graph apply to it."""
        predicate = triple.predicate
        key = predicate, triple.object if predicate == RDF.type else None
        found = self._forwards.get(key)
        if found is None:
            found = self._forwards[key] = tuple(
                rule
                for rule in (*_FORWARDS, *(one for chain in self._all_chains() for one in chain.started))
                if (start := _extended({}, (None, *rule.trigger[1:]), (None, *key))) is not None  # type: ignore[index]
                and self._may_apply(rule, start)
            )
        return found

    def _may_apply(self, rule: _Rule, start: Binding) -> bool:
        """Whether no premise is certainly missing, by what is known of predicate and class."""
        for pattern in rule.premises:
            subject, predicate, value = pattern
            if value in _KINDS or (predicate in _AXIOMS and (subject in start or value in start)):
                if not self._matching(pattern, start):
                    return False
            elif isinstance(predicate, NamedNode) and not self._is_used(predicate):
                return False
        return True

    def _is_used(self, predicate: NamedNode) -> bool:
        used = self._used.get(predicate)
        if used is None:
            used = self._used[predicate] = next(self._source.match(None, predicate, None), None) is not None
        return used

    def _ending_with(self, predicate: NamedNode) -> tuple[_Rule, ...]:
        found = self._backwards.get(predicate)
        if found is None:
            chains = (one.rule.started_by(one.rule.conclusion) for one in self._all_chains())
            found = self._backwards[predicate] = tuple(
                rule
                for rule in (*_BACKWARDS, *chains)
                if rule.conclusion[1] == predicate
                or (
                    isinstance(rule.conclusion[1], str)
                    and self._may_apply(rule, {rule.conclusion[1]: predicate})
                )
            )
        return found

    def _all_chains(self) -> tuple[_Chain, ...]:
        if self._chains is None:
            self._chains = tuple(
                _Chain(axiom.subject, steps, frozenset((axiom.subject, *cells)))
                for axiom in self._source.match(None, _CHAIN, None)
                if isinstance(axiom.subject, NamedNode)
                for steps, cells in self._lists(axiom.object, ())
                if steps
            )
        return self._chains

    def _lists(
        self, cell: Term, above: tuple[Term, ...]
    ) -> Iterator[tuple[tuple[NamedNode, ...], tuple[Term, ...]]]:
        """The members of a list with its cells; of a malformed one with several ends, each way through it."""
        if cell == RDF.nil:
            yield (), above
        if cell in above or not isinstance(cell, NamedNode | BlankNode):
            return
        for first in (one.object for one in self._source.match(cell, RDF.first, None)):
            if isinstance(first, NamedNode):
                for rest in self._source.match(cell, RDF.rest, None):
                    for steps, cells in self._lists(rest.object, (*above, cell)):
                        yield (first, *steps), cells


class _Chain:
    """The rule of a property chain (prp-spo2); `parts` are the property and the cells of its list."""

    def __init__(self, property_: NamedNode, steps: tuple[NamedNode, ...], parts: frozenset[Term]) -> None:
        premises = tuple((f"?{place}", step, f"?{place + 1}") for place, step in enumerate(steps))
        self.parts = parts
        self.rule = _Rule(premises, ("?0", property_, f"?{len(steps)}"))
        self.started = tuple(self.rule.started_by(premise) for premise in premises)


_FORWARDS = tuple(rule.started_by(premise) for rule in _TABLE for premise in rule.premises)
_BACKWARDS = tuple(rule.started_by(rule.conclusion) for rule in _TABLE)


def _extended(known: Binding, pattern: Any, triple: Iterable[Any]) -> Binding | None:
    """The binding with the variables of a pattern as a triple has them; None where it does not fit."""
    found: dict[str, Term] | None = None
    for part, term in zip(pattern, triple, strict=True):
        if not isinstance(part, str):
            if part != term and part is not None and term is not None:
                return None
            continue
        bound = known.get(part) if found is None else found.get(part)
        if bound is not None:
            if bound != term and term is not None:
                return None
        elif term is not None:
            if part[1].isupper() and not isinstance(term, NamedNode):
                return None
            if part[1] == "n" and not isinstance(term, NamedNode | BlankNode):
                return None
            found = found or dict(known)
            found[part] = term
    return known if found is None else found


def _filled(pattern: Pattern, known: Binding) -> Iterator[Any]:
    return (known[part] if isinstance(part, str) else part for part in pattern)


def _is_trivial(triple: Triple) -> bool:
    return triple.predicate in _TRIVIAL and triple.subject == triple.object
