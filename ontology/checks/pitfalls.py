"""Rules on axioms that are allowed and most likely not meant, after the pitfalls that OOPS! lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pyoxigraph import NamedNode

from ontology import vocabulary as v
from ontology.checks.findings import Finding, Level, Rule
from ontology.checks.lint_context import LintContext
from ontology.terms import OntologyClass, OntologyProperty

__all__ = ["pitfalls"]

SELF_INVERSE = Rule(
    "self_inverse_ends", Level.WARN, "A property is its own inverse, and its domain is not its range."
)
INVERSE_ENDS = Rule(
    "inverse_ends", Level.WARN, "Of two inverse properties, the domain of one is not the range of the other."
)
SYMMETRIC_ENDS = Rule(
    "symmetric_ends", Level.WARN, "A property is symmetric, and its domain is not its range."
)
SELF_EQUIVALENCE = Rule("self_equivalence", Level.WARN, "A term is stated to be equivalent to itself.")
TRANSITIVE_FUNCTIONAL = Rule(
    "transitive_functional", Level.WARN, "A property is transitive and functional, which OWL 2 DL forbids."
)
MERGED_CONCEPTS = Rule("merged_concepts", Level.INFO, "The label of a class names two concepts.")
NO_FILLER = Rule(
    "restriction_without_filler",
    Level.WARN,
    "A restriction lacks its property, or what it demands of the values.",
)
FUNCTIONAL_VALUE = Rule(
    "functional_value", Level.INFO, "A date or a measure is functional, where sources differ."
)

_TWO_CONCEPTS = re.compile(r"\w\s*(?:/|&|\b(?:and|or)\b)\s*\w", re.IGNORECASE)
_ON_PROPERTY = (v.ON_PROPERTY, NamedNode(v.OWL + "onProperties"))
_FILLERS = (
    v.SOME_VALUES_FROM, v.ALL_VALUES_FROM, v.HAS_VALUE, v.MIN_CARDINALITY, v.MAX_CARDINALITY, v.CARDINALITY,
    v.MIN_QUALIFIED, v.MAX_QUALIFIED, v.QUALIFIED, NamedNode(v.OWL + "hasSelf"),
)  # fmt: skip
_RESTRICTION = NamedNode(v.OWL + "Restriction")
_DATES = frozenset(NamedNode(v.XSD + name) for name in ("date", "gYear", "gYearMonth", "dateTime"))


def pitfalls(context: LintContext) -> Iterator[Finding]:
    """All findings of these rules."""
    for term in context.own:
        if isinstance(term, OntologyProperty):
            yield from _ends(context, term)
            yield from _functional(context, term)
        else:
            yield from _merged(context, term)
    yield from _self_equivalent(context)
    yield from _restrictions(context)


def _ends(context: LintContext, term: OntologyProperty) -> Iterator[Finding]:
    find = context.places.finding
    apart = bool(term.domains and term.ranges) and term.domains != term.ranges
    both = "Make domain and range the same, "
    if apart and term.symmetric:
        yield find(
            SYMMETRIC_ENDS,
            term.iri,
            "is symmetric, but its domain is not its range: each end is then in both.",
            both + "or remove owl:SymmetricProperty.",
        )
    own_inverse = [one for one in context.graph.objects(term.iri, v.INVERSE_OF) if one == term.iri]
    if apart and own_inverse:
        yield find(
            SELF_INVERSE,
            term.iri,
            "is its own inverse, but its domain is not its range.",
            both + "or name another property with owl:inverseOf.",
        )
    for other in _inverses(context, term):
        inverse = context.schema.written(other.iri)
        for here, there, words in (
            (term.domains, other.ranges, ("domain", "range")),
            (term.ranges, other.domains, ("range", "domain")),
        ):
            if here and there and here != there:
                yield find(
                    INVERSE_ENDS,
                    term.iri,
                    f"has another {words[0]} than its inverse {inverse} has as {words[1]}.",
                    "Make them the same, or remove owl:inverseOf.",
                )


def _inverses(context: LintContext, term: OntologyProperty) -> Iterator[OntologyProperty]:
    """The other properties that are stated as inverses, each pair from one end only."""
    for node in context.graph.objects(term.iri, v.INVERSE_OF):
        other = context.schema.properties.get(node) if isinstance(node, NamedNode) else None
        if other is None or other.iri == term.iri:
            continue
        if term.iri in context.graph.objects(other.iri, v.INVERSE_OF) and other.iri.value < term.iri.value:
            continue
        yield other


def _functional(context: LintContext, term: OntologyProperty) -> Iterator[Finding]:
    if term.functional and term.transitive:
        yield context.places.finding(
            TRANSITIVE_FUNCTIONAL,
            term.iri,
            "is transitive and functional: all that follows on a chain would be one thing.",
            "Remove one of the two; a functional part of it can be a subproperty.",
        )
    if term.functional and (term.unit is not None or term.ranges & _DATES):
        yield context.places.finding(
            FUNCTIONAL_VALUE,
            term.iri,
            "is functional, but sources differ in dates and measures, and then contradict each other.",
            "Remove owl:FunctionalProperty; a shape with sh:maxCount 1 keeps one value in the graph.",
        )


def _merged(context: LintContext, term: OntologyClass) -> Iterator[Finding]:
    if _TWO_CONCEPTS.search(term.label):
        yield context.places.finding(
            MERGED_CONCEPTS,
            term.iri,
            f'has the label "{term.label}", which names two concepts.',
            "Make a class of each, below a common one.",
        )


def _self_equivalent(context: LintContext) -> Iterator[Finding]:
    for predicate in (v.EQUIVALENT_CLASS, v.EQUIVALENT_PROPERTY):
        for one, other in context.graph.pairs(predicate):
            if one == other and isinstance(one, NamedNode):
                yield context.places.finding(
                    SELF_EQUIVALENCE,
                    one,
                    "is stated to be equivalent to itself.",
                    "Remove the axiom, or name the term that was meant.",
                )


def _restrictions(context: LintContext) -> Iterator[Finding]:
    graph = context.graph
    owners = {
        node: subject
        for predicate in (v.SUBCLASS_OF, v.EQUIVALENT_CLASS)
        for subject, node in graph.pairs(predicate)
    }
    for node, kind in graph.pairs(v.TYPE):
        if kind != _RESTRICTION:
            continue
        lacks = [
            words
            for words, predicates in (("owl:onProperty", _ON_PROPERTY), ("a filler", _FILLERS))
            if not graph.objects(node, *predicates)
        ]
        if lacks:
            owner = owners.get(node)
            named = owner if isinstance(owner, NamedNode) else _RESTRICTION
            yield context.places.finding(
                NO_FILLER,
                named,
                f"has a restriction without {' and '.join(lacks)}: it demands nothing.",
                "Complete it, for example with owl:someValuesFrom, or remove it.",
            )
