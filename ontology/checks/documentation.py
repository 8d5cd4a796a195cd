"""Rules on what people read: metadata, synonyms, definitions of individuals, examples, alignments."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator

from pyoxigraph import NamedNode

from ontology import vocabulary as v
from ontology.checks.findings import Finding, Level, LintContext, Rule, Term, is_standard
from ontology.graph import Node
from ontology.terms import OntologyClass

MISSING_LICENSE = Rule("missing_license", Level.INFO, "An ontology names no license.")
MISSING_CREATOR = Rule("missing_creator", Level.INFO, "An ontology names nobody who made it.")
MISSING_PRIOR = Rule(
    "missing_prior_version", Level.INFO, "An ontology after its first version has no owl:priorVersion."
)
PRIOR_IS_CURRENT = Rule(
    "prior_version_is_current", Level.WARN, "An ontology names its own version as the prior one."
)
UNDEFINED_INDIVIDUAL = Rule("undefined_individual", Level.INFO, "Individuals of a class have no definition.")
NO_SCHEME = Rule("concept_without_scheme", Level.INFO, "Concepts of a class are in no skos:ConceptScheme.")
SYNONYM_REPEATS = Rule("synonym_repeats_label", Level.INFO, "A synonym of a term is its label as well.")
SHARED_SYNONYM = Rule("shared_synonym", Level.INFO, "A synonym of a term names another term too.")
MISSING_EXAMPLE = Rule(
    "missing_example", Level.INFO, "A term that many axioms use has no skos:example or no skos:scopeNote."
)
SHARED_EQUIVALENCE = Rule(
    "shared_equivalence", Level.WARN, "Two terms are equivalent to the same one, so they are to each other."
)
SEVERAL_EQUIVALENTS = Rule(
    "several_equivalents", Level.WARN, "A term is equivalent to two terms of one other vocabulary."
)
ALIGNED_TWICE = Rule("aligned_twice", Level.INFO, "A term is aligned with another one in two strengths.")

_DCTERMS = "http://purl.org/dc/terms/"
_DC = "http://purl.org/dc/elements/1.1/"
_LICENSE = tuple(
    NamedNode(iri)
    for iri in (
        _DCTERMS + "license", _DCTERMS + "rights", _DC + "rights", "http://creativecommons.org/ns#license",
        *(base + "license" for base in v.SCHEMA_ORG),
    )
)  # fmt: skip
_CREATOR = tuple(
    NamedNode(base + name)
    for base in (_DCTERMS, _DC, *v.SCHEMA_ORG)
    for name in ("creator", "contributor", "publisher", "author")
)
_PRIOR = (NamedNode(v.OWL + "priorVersion"), NamedNode(_DCTERMS + "replaces"))
_VERSION_INFO = NamedNode(v.OWL + "versionInfo")
_NAMED_INDIVIDUAL = NamedNode(v.OWL + "NamedIndividual")
_CONCEPT, _EXAMPLE, _SCOPE_NOTE, _TOP_CONCEPT = (
    NamedNode(v.SKOS + name) for name in ("Concept", "example", "scopeNote", "hasTopConcept")
)
_IN_SCHEME = (NamedNode(v.SKOS + "inScheme"), NamedNode(v.SKOS + "topConceptOf"))
_STRONG = (v.EQUIVALENT_CLASS, v.EQUIVALENT_PROPERTY, v.SUBCLASS_OF, v.SUBPROPERTY_OF)
_WEAK = tuple(
    NamedNode(v.SKOS + name)
    for name in ("exactMatch", "closeMatch", "broadMatch", "narrowMatch", "relatedMatch")
)
_USING = (
    *_STRONG,
    v.DOMAIN,
    v.RANGE,
    v.FIRST,
    v.INVERSE_OF,
    v.ON_PROPERTY,
    *v.DOMAIN_INCLUDES,
    *v.RANGE_INCLUDES,
)
Word = tuple[str, str]
"""A word in lower case and its language."""
MOST_USED, OFTEN = 20, 3
"""How many terms need an example, and how many axioms must use each."""


def documentation(context: LintContext) -> Iterator[Finding]:
    """All findings of these rules."""
    yield from _metadata(context)
    yield from _individuals(context)
    yield from _synonyms(context)
    yield from _examples(context)
    yield from _alignments(context)


def _metadata(context: LintContext) -> Iterator[Finding]:
    graph, find = context.graph, context.places.finding
    for iri in context.schema.ontologies:
        if not graph.objects(iri, *_LICENSE):
            yield find(
                MISSING_LICENSE,
                iri,
                "names no license.",
                "Add dcterms:license, declared as owl:AnnotationProperty.",
            )
        if not graph.objects(iri, *_CREATOR):
            yield find(
                MISSING_CREATOR,
                iri,
                "names nobody who made it.",
                "Add dcterms:creator, declared as owl:AnnotationProperty.",
            )
        versions = graph.objects(iri, v.VERSION_IRI)
        prior = graph.objects(iri, *_PRIOR)
        written = [one.value for one in graph.literals(iri, _VERSION_INFO)]
        written += [one.value for one in versions if isinstance(one, NamedNode)]
        if not prior and written and not any(_is_first(one) for one in written):
            yield find(
                MISSING_PRIOR,
                iri,
                "names no prior version.",
                "Add owl:priorVersion with the version IRI before.",
            )
        if set(prior) & {iri, *versions}:
            yield find(
                PRIOR_IS_CURRENT,
                iri,
                "names its own version as the prior one.",
                "Change owl:versionIRI with each release, and name the one before as owl:priorVersion.",
            )


def _is_first(version: str) -> bool:
    """Whether a version number, or one at the end of an IRI, is a first one: 1, 1.0, 0.1.0."""
    number = re.search(r"(\d+(?:\.\d+)*)[^\d]*$", version)
    return number is None or sum(map(int, number[1].split("."))) <= 1


def _individuals(context: LintContext) -> Iterator[Finding]:
    """One finding a class, at the first individual: files with many individuals are data."""
    graph, schema = context.graph, context.schema
    own = {term.iri for term in context.own if isinstance(term, OntologyClass)}
    top = {value for _, value in graph.pairs(_TOP_CONCEPT)}
    undefined: dict[NamedNode, list[NamedNode]] = defaultdict(list)
    loose: dict[NamedNode, list[NamedNode]] = defaultdict(list)
    for node, kind in graph.pairs(v.TYPE):
        if not isinstance(node, NamedNode) or kind not in own or not isinstance(kind, NamedNode):
            continue
        if _NAMED_INDIVIDUAL in graph.objects(node, v.TYPE) and not graph.literals(
            node, v.DEFINITION, v.COMMENT
        ):
            undefined[kind].append(node)
        if _CONCEPT in schema.superclasses(kind) and node not in top and not graph.objects(node, *_IN_SCHEME):
            loose[kind].append(node)
    for rule, groups, words, fix in (
        (UNDEFINED_INDIVIDUAL, undefined, "no definition", 'Add skos:definition "..."@en to each.'),
        (NO_SCHEME, loose, "no skos:inScheme", "Add a skos:ConceptScheme, and skos:inScheme to each."),
    ):
        for kind, nodes in groups.items():
            more = f"and {len(nodes) - 1} more of {schema.written(kind)} have" if len(nodes) > 1 else "has"
            yield context.places.finding(rule, nodes[0], f"{more} {words}.", fix)


def _synonyms(context: LintContext) -> Iterator[Finding]:
    """Words of one language that are written twice for a term, or for two classes or two properties."""
    named: dict[tuple[bool, Word], list[Term]] = defaultdict(list)
    for term in context.own:
        labels = _words(context, term, v.LABEL, v.PREFERRED_LABEL)
        synonyms = _words(context, term, v.ALTERNATIVE_LABEL)
        for word, _ in sorted(labels & synonyms):
            yield context.places.finding(
                SYNONYM_REPEATS,
                term.iri,
                f'has "{word}" as label and as synonym.',
                "Remove the skos:altLabel.",
            )
        for both in sorted(synonyms | labels) if not term.deprecated else ():
            named[isinstance(term, OntologyClass), both].append(term)
    for (_, (word, _)), terms in named.items():
        holders = [term for term in terms if term.label.casefold() != word]
        if len(terms) > 1 and holders:
            others = ", ".join(context.schema.written(term.iri) for term in terms if term is not holders[-1])
            yield context.places.finding(
                SHARED_SYNONYM,
                holders[-1].iri,
                f'has the synonym "{word}", which names {others} too.',
                "Keep it with one term; make it skos:hiddenLabel, a cue, of the others.",
            )


def _words(context: LintContext, term: Term, *predicates: NamedNode) -> set[Word]:
    found = context.graph.literals(term.iri, *predicates)
    return {(one.value.casefold(), one.language or "") for one in found}


def _examples(context: LintContext) -> Iterator[Finding]:
    uses = Counter(value for predicate in _USING for _, value in context.graph.pairs(predicate))
    often = [term for term in context.own if uses[term.iri] >= OFTEN and not term.deprecated]
    for term in sorted(often, key=lambda one: -uses[one.iri])[:MOST_USED]:
        lacks = [
            words
            for words, predicate in (("skos:example", _EXAMPLE), ("skos:scopeNote", _SCOPE_NOTE))
            if not context.graph.literals(term.iri, predicate)
        ]
        if lacks:
            yield context.places.finding(
                MISSING_EXAMPLE,
                term.iri,
                f"is used by {uses[term.iri]} axioms and has no {' and no '.join(lacks)}.",
                "Say with an example, and with a note of what is not meant, how to use it.",
            )


def _alignments(context: LintContext) -> Iterator[Finding]:
    graph, find = context.graph, context.places.finding
    own = {term.iri for term in context.own}
    equivalents: dict[NamedNode, list[NamedNode]] = defaultdict(list)
    for term in context.own:
        others = dict.fromkeys(
            value
            for value in graph.objects(term.iri, v.EQUIVALENT_CLASS, v.EQUIVALENT_PROPERTY)
            if isinstance(value, NamedNode) and value not in own and not is_standard(value)
        )
        spaces = Counter(_namespace(one) for one in others)
        for space in (one for one, count in spaces.items() if count > 1):
            yield find(
                SEVERAL_EQUIVALENTS,
                term.iri,
                f"is equivalent to {spaces[space]} terms of {space}, so these mean the same.",
                "Keep the one that holds; make the others rdfs:subClassOf or skos:closeMatch.",
            )
        for other in others:
            equivalents[other].append(term.iri)
        for twice in set(graph.objects(term.iri, *_STRONG)) & set(graph.objects(term.iri, *_WEAK)):
            yield find(
                ALIGNED_TWICE,
                term.iri,
                f"is aligned with {_written(context, twice)} by an axiom and by a SKOS match.",
                "Keep the strongest of the two that holds.",
            )
    for shared, terms in equivalents.items():
        for own_term in terms[1:]:
            yield find(
                SHARED_EQUIVALENCE,
                own_term,
                f"is equivalent to {_written(context, shared)}, as {_written(context, terms[0])} is, so both "
                "mean the same.",
                "State rdfs:subClassOf where only one of them has all its members.",
            )


def _namespace(iri: NamedNode) -> str:
    return re.split(r"[^/#]*$", iri.value, maxsplit=1)[0]


def _written(context: LintContext, node: Node) -> str:
    return context.schema.written(node) if isinstance(node, NamedNode) else str(node)
