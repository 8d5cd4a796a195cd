"""Rules on hierarchies, domains, ranges and declarations, and the pitfalls that OOPS! lists."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator

from pyoxigraph import BlankNode, Literal, NamedNode

from ontology import vocabulary as v
from ontology.checks.axioms import axioms
from ontology.checks.documentation import documentation
from ontology.checks.findings import (
    Finding,
    Level,
    LintContext,
    Rule,
    Term,
    in_order,
    is_standard,
    lint_context,
)
from ontology.graph import Node
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind

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


MISSING_LABEL = Rule("missing_label", Level.WARN, "A term has no rdfs:label, so no text can name it.")
MISSING_DEFINITION = Rule("missing_definition", Level.WARN, "A term has no skos:definition or rdfs:comment.")
MULTIPLE_LABELS = Rule("multiple_labels", Level.WARN, "A term has two rdfs:label of one language.")
DUPLICATE_LABEL = Rule("duplicate_label", Level.WARN, "Two classes, or two properties, have one label.")
MISSING_DOMAIN = Rule("missing_domain", Level.INFO, "A property has no domain.")
MISSING_RANGE = Rule("missing_range", Level.INFO, "A property has no range.")
INTERSECTING_DOMAINS = Rule(
    "intersecting_domains",
    Level.WARN,
    "A property has several rdfs:domain or rdfs:range, which all hold at once.",
)
IMPOSSIBLE_DOMAIN = Rule(
    "impossible_domain", Level.ERROR, "A property's domains or ranges are disjoint, so it can never be used."
)
UNDECLARED_TERM = Rule("undeclared_term", Level.WARN, "An axiom uses a term that no file declares.")
CYCLE = Rule(
    "cycle",
    Level.WARN,
    "Terms are subclasses or subproperties of each other in a cycle, so they all mean the same.",
)
IMPOSSIBLE_CLASS = Rule(
    "impossible_class", Level.ERROR, "A class has two disjoint superclasses, so it can have no instance."
)
NO_DISJOINTNESS = Rule(
    "no_disjointness",
    Level.WARN,
    "No two classes are stated to be disjoint, so wrong classes are never noticed.",
)
DEPRECATED_IN_USE = Rule("deprecated_in_use", Level.WARN, "An axiom of a current term uses a deprecated one.")
MISSING_REPLACEMENT = Rule("missing_replacement", Level.INFO, "A deprecated term names no replacement.")
MISSING_ONTOLOGY = Rule("missing_ontology_iri", Level.WARN, "A file declares no owl:Ontology.")
MISSING_VERSION = Rule("missing_version_iri", Level.WARN, "An ontology has no owl:versionIRI.")

_TO_CLASS = (v.SUBCLASS_OF, v.EQUIVALENT_CLASS, v.DISJOINT_WITH, v.DOMAIN, v.SOME_VALUES_FROM)
_TO_PROPERTY = (v.SUBPROPERTY_OF, v.EQUIVALENT_PROPERTY, v.INVERSE_OF, v.ON_PROPERTY)


def lint_ontology(schema: Schema) -> tuple[Finding, ...]:
    """All findings in the files of a schema, the most severe first."""
    context = lint_context(schema)
    found = (*_Linter(context).findings(), *axioms(context), *pitfalls(context), *documentation(context))
    return in_order(found)


class _Linter:
    def __init__(self, context: LintContext) -> None:
        self._schema = context.schema
        self._graph = context.graph
        self._places = context.places
        self._own = context.own

    def findings(self) -> Iterator[Finding]:
        rules: tuple[Callable[[], Iterator[Finding]], ...] = (
            self._labels, self._definitions, self._domains, self._undeclared, self._cycles,
            self._impossible_classes, self._disjointness, self._deprecated, self._versions,
        )  # fmt: skip
        for rule in rules:
            yield from rule()

    def _labels(self) -> Iterator[Finding]:
        find = self._places.finding
        kinds: dict[tuple[bool, str], list[Term]] = defaultdict(list)
        for term in self._own:
            labels = self._graph.literals(term.iri, v.LABEL)
            if not labels and not self._graph.literals(term.iri, v.PREFERRED_LABEL):
                yield find(MISSING_LABEL, term.iri, "has no label.", 'Add rdfs:label "..."@en.')
            for language in {label.language for label in labels}:
                same = [label.value for label in labels if label.language == language]
                if len(same) > 1:
                    said = ", ".join(f'"{value}"' for value in same)
                    yield find(
                        MULTIPLE_LABELS,
                        term.iri,
                        f"has {len(same)} labels of one language: {said}.",
                        "Keep one and make the others skos:altLabel.",
                    )
            if not term.deprecated:
                kinds[isinstance(term, OntologyClass), term.label.casefold()].append(term)
        for (_, _), terms in kinds.items():
            for term in terms[1:]:
                yield find(
                    DUPLICATE_LABEL,
                    term.iri,
                    f'has the label "{term.label}", as {self._schema.written(terms[0].iri)} has.',
                    "Give one of them another label, or merge the two terms.",
                )

    def _definitions(self) -> Iterator[Finding]:
        for term in self._own:
            if not term.definition:
                yield self._places.finding(
                    MISSING_DEFINITION, term.iri, "has no definition.", 'Add skos:definition "..."@en.'
                )

    def _domains(self) -> Iterator[Finding]:
        find = self._places.finding
        for term in self._own:
            if not isinstance(term, OntologyProperty) or term.kind is PropertyKind.ANNOTATION:
                continue
            if not term.domains:
                yield find(MISSING_DOMAIN, term.iri, "has no domain.", "Add rdfs:domain with its class.")
            if not term.ranges:
                yield find(MISSING_RANGE, term.iri, "has no range.", "Add rdfs:range with its class or type.")
            for predicate, word in ((v.DOMAIN, "domain"), (v.RANGE, "range")):
                written = list(dict.fromkeys(self._graph.objects(term.iri, predicate)))
                if len(written) < 2:
                    continue
                apart = self._apart(written)
                if apart is not None:
                    yield find(
                        IMPOSSIBLE_DOMAIN,
                        term.iri,
                        f"has the {word}s {apart[0]} and {apart[1]}, which are disjoint.",
                        "Keep one of them, or write both as members of one owl:unionOf.",
                    )
                else:
                    yield find(
                        INTERSECTING_DOMAINS,
                        term.iri,
                        f"has {len(written)} {word}s; by OWL each {word} holds, so a thing must be in all.",
                        "Write alternatives as one owl:unionOf.",
                    )

    def _apart(self, written: list[Node]) -> tuple[NamedNode, NamedNode] | None:
        named = [node for node in written if isinstance(node, NamedNode)]
        for number, one in enumerate(named):
            for other in named[number + 1 :]:
                if self._schema.are_disjoint(one, other):
                    return one, other
        return None

    def _undeclared(self) -> Iterator[Finding]:
        schema = self._schema
        datatypes = set(self._graph.instances(v.DATATYPE))
        reported: set[NamedNode] = set()
        for predicates, known, kind in (
            (_TO_CLASS, schema.classes, "a class (owl:Class)"),
            (_TO_PROPERTY, schema.properties, "a property (owl:ObjectProperty or owl:DatatypeProperty)"),
            ((v.RANGE,), {**schema.classes, **dict.fromkeys(datatypes)}, "a class or a datatype"),
        ):
            for predicate in predicates:
                for subject, value in self._graph.pairs(predicate):
                    if (
                        not isinstance(value, NamedNode)
                        or value in known
                        or value in datatypes
                        or value in reported
                        or is_standard(value)
                    ):
                        continue
                    reported.add(value)
                    by = self._schema.written(subject) if isinstance(subject, NamedNode) else "an expression"
                    yield self._places.finding(
                        UNDECLARED_TERM,
                        value,
                        f"is used by {by} ({_local(predicate)}) and not declared.",
                        f"Declare it as {kind}, import the file that does, or correct its spelling.",
                    )

    def _cycles(self) -> Iterator[Finding]:
        for predicate, word in ((v.SUBCLASS_OF, "subclass"), (v.SUBPROPERTY_OF, "subproperty")):
            up: dict[NamedNode, set[NamedNode]] = defaultdict(set)
            for low, high in self._graph.pairs(predicate):
                if isinstance(low, NamedNode) and isinstance(high, NamedNode):
                    up[low].add(high)
            for members in _circles(up):
                names = ", ".join(map(self._schema.written, members))
                yield self._places.finding(
                    CYCLE,
                    members[0],
                    f"is a {word} of itself, through {names}.",
                    "Remove one of these axioms; if they mean the same, state it with owl:equivalentClass.",
                )

    def _impossible_classes(self) -> Iterator[Finding]:
        schema = self._schema
        for term in self._own:
            if isinstance(term, OntologyClass) and schema.are_disjoint(term.iri, term.iri):
                yield self._places.finding(
                    IMPOSSIBLE_CLASS,
                    term.iri,
                    "has two disjoint superclasses: it can have no instance.",
                    "Remove a superclass or the disjointness; `check --reason pellet` explains it.",
                )

    def _disjointness(self) -> Iterator[Finding]:
        own = [term for term in self._own if isinstance(term, OntologyClass)]
        if len(own) > 1 and not self._schema.disjointness_stated:
            yield self._places.finding(
                NO_DISJOINTNESS,
                own[0].iri,
                f"and {len(own) - 1} more classes: no two are stated to be disjoint.",
                "State with owl:AllDisjointClasses which classes exclude each other.",
            )

    def _deprecated(self) -> Iterator[Finding]:
        schema = self._schema
        terms: list[Term] = [*schema.classes.values(), *schema.properties.values()]
        old = {term.iri for term in terms if term.deprecated}
        for iri in sorted(old, key=lambda one: one.value):
            if not self._graph.objects(iri, v.REPLACED_BY, *_SEE_ALSO):
                yield self._places.finding(
                    MISSING_REPLACEMENT,
                    iri,
                    "is deprecated and names no successor.",
                    "Add dcterms:isReplacedBy with the term to use instead.",
                )
        for predicate in (*_TO_CLASS, *_TO_PROPERTY, v.RANGE):
            for subject, value in self._graph.pairs(predicate):
                if value in old and isinstance(subject, NamedNode) and subject not in old:
                    yield self._places.finding(
                        DEPRECATED_IN_USE,
                        subject,
                        f"has {value} as its {_local(predicate)}, which is deprecated.",
                        "Use its successor.",
                    )

    def _versions(self) -> Iterator[Finding]:
        for file in self._schema.files:
            ontologies = dict.fromkeys(
                t.subject
                for t in file.triples
                if t.predicate == v.TYPE and t.object == v.ONTOLOGY and isinstance(t.subject, NamedNode)
            )
            with_version = {t.subject for t in file.triples if t.predicate == v.VERSION_IRI}
            if not ontologies and file.triples:
                yield Finding(
                    MISSING_ONTOLOGY,
                    "The file declares no ontology.",
                    "Add <IRI> a owl:Ontology ; owl:versionIRI <IRI/1.0.0> .",
                    file=file.path,
                    line=1,
                )
            for iri in ontologies:
                if iri not in with_version:
                    yield self._places.finding(
                        MISSING_VERSION,
                        iri,
                        "has no owl:versionIRI, so the version by which a statement was judged is unknown.",
                        "Add an owl:versionIRI, and change it with each release.",
                    )


_SEE_ALSO = (NamedNode(v.RDFS + "seeAlso"), NamedNode("http://purl.obolibrary.org/obo/IAO_0100001"))


def _circles(up: dict[NamedNode, set[NamedNode]]) -> Iterator[list[NamedNode]]:
    """Each cycle of terms, its members in order."""
    above = {term: _reach(term, up) for term in up}
    seen: set[NamedNode] = set()
    for term in sorted(above, key=lambda one: one.value):
        if term in above[term] and term not in seen:
            circle = [other for other in above[term] if term in above.get(other, ())]
            seen.update(circle)
            yield sorted(circle, key=lambda one: one.value)


def _reach(start: NamedNode, up: dict[NamedNode, set[NamedNode]]) -> set[NamedNode]:
    found: set[NamedNode] = set()
    waiting = list(up.get(start, ()))
    while waiting:
        term = waiting.pop()
        if term not in found:
            found.add(term)
            waiting += up.get(term, ())
    return found


def _local(node: NamedNode | BlankNode | Literal) -> str:
    return node.value.replace("#", "/").rpartition("/")[2]
