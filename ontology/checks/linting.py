"""The rules by which ontology files are checked before they are put in force.

They follow reports that ontology engineers know: ROBOT's rules and the pitfalls of OOPS!. They check the
terms that the files define, not those borrowed from other vocabularies. Most are queries, in `rules/`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, Store

from ontology import vocabulary as v
from ontology.checks.axioms import axioms
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
MISSING_ONTOLOGY = Rule("missing_ontology_iri", Level.WARN, "A file declares no owl:Ontology.")
MISSING_VERSION = Rule("missing_version_iri", Level.WARN, "An ontology has no owl:versionIRI.")

_TO_CLASS = (v.SUBCLASS_OF, v.EQUIVALENT_CLASS, v.DISJOINT_WITH, v.DOMAIN, v.SOME_VALUES_FROM)
_TO_PROPERTY = (v.SUBPROPERTY_OF, v.EQUIVALENT_PROPERTY, v.INVERSE_OF, v.ON_PROPERTY)


def lint_ontology(schema: Schema) -> tuple[Finding, ...]:
    """All findings in the files of a schema, the most severe first."""
    context = lint_context(schema)
    found = (*_Linter(context).findings(), *axioms(context), *_queried(context))
    return in_order(found)


@dataclass(frozen=True)
class _QueryRule:
    """A rule that is a query: a finding about `?term` for each solution, whose variables `message` names."""

    rule: Rule
    message: str
    fix: str
    text: str


@cache
def _query_rules() -> tuple[_QueryRule, ...]:
    """The files of `rules/`, each named as its rule; level, summary, message and fix are at the head."""
    found = []
    for file in sorted(Path(__file__).with_name("rules").glob("*.rq")):
        text = file.read_text(encoding="utf-8")
        head = dict(line[2:].split(": ", 1) for line in text.splitlines()[:4])
        rule = Rule(file.stem, Level(head["level"]), head["summary"])
        found.append(_QueryRule(rule, head["message"], head["fix"], text))
    return tuple(found)


def _queried(context: LintContext) -> Iterator[Finding]:
    def as_written(iri: NamedNode) -> Literal:
        return Literal(context.schema.written(iri))

    def shown(value: object) -> str:
        return context.schema.written(value) if isinstance(value, NamedNode) else getattr(value, "value", "")

    store = _rule_store(context)
    for query in _query_rules():
        solutions = store.query(
            query.text, prefixes=_PREFIXES, custom_functions={_fact("written"): as_written}
        )
        assert isinstance(solutions, QuerySolutions)
        names = [variable.value for variable in solutions.variables]
        for solution in solutions:
            term = solution["term"]
            assert isinstance(term, NamedNode)
            message = query.message.format_map({name: shown(solution[name]) for name in names})
            yield context.places.finding(query.rule, term, message, query.fix)


_FACTS = "urn:urbankg:check:"
_PREFIXES = {
    "rdf": v.RDF, "rdfs": v.RDFS, "owl": v.OWL, "xsd": v.XSD, "skos": v.SKOS, "qudt": v.QUDT, "c": _FACTS,
    "dcterms": "http://purl.org/dc/terms/", "dc": "http://purl.org/dc/elements/1.1/",
}  # fmt: skip


def _fact(name: str) -> NamedNode:
    return NamedNode(_FACTS + name)


def _rule_store(context: LintContext) -> Store:
    """The triples of the files, and what the schema makes of them.

    Of every term `c:deprecated`; of every property `c:domain`, `c:range` (the alternatives) and
    `c:annotation`; of every ontology of the files `c:ontology`. Of the own terms `c:kind` (`c:Class` or
    `c:Property`), `c:order`, `c:label`, `c:name` (the label in lower case), `c:equivalent` (terms of other
    vocabularies) and, unless it is deprecated, `c:word` (labels and synonyms in lower case).
    """
    schema, true = context.schema, Literal(True)
    facts: list[tuple[NamedNode, str, NamedNode | Literal]] = []
    facts += [(iri, "ontology", true) for iri in schema.ontologies]
    terms: list[Term] = [*schema.classes.values(), *schema.properties.values()]
    for term in terms:
        if term.deprecated:
            facts.append((term.iri, "deprecated", true))
        if isinstance(term, OntologyProperty):
            facts += [(term.iri, "domain", domain) for domain in term.domains]
            facts += [(term.iri, "range", range_) for range_ in term.ranges]
            if term.kind is PropertyKind.ANNOTATION:
                facts.append((term.iri, "annotation", true))
    own = {term.iri for term in context.own}
    for number, term in enumerate(context.own):
        facts += [
            (term.iri, "kind", _fact("Class" if isinstance(term, OntologyClass) else "Property")),
            (term.iri, "order", Literal(number)),
            (term.iri, "label", Literal(term.label)),
            (term.iri, "name", Literal(term.label.casefold())),
        ]
        facts += [
            (term.iri, "equivalent", value)
            for value in context.graph.objects(term.iri, v.EQUIVALENT_CLASS, v.EQUIVALENT_PROPERTY)
            if isinstance(value, NamedNode) and value not in own and not is_standard(value)
        ]
        words = context.graph.literals(term.iri, v.LABEL, v.PREFERRED_LABEL, v.ALTERNATIVE_LABEL)
        if not term.deprecated:
            facts += [
                (term.iri, "word", Literal(one.value.casefold(), language=one.language)) for one in words
            ]
    store = Store()
    store.extend(Quad(*triple) for triple in schema.triples)
    store.extend(Quad(subject, _fact(name), value) for subject, name, value in facts)
    return store


class _Linter:
    def __init__(self, context: LintContext) -> None:
        self._schema = context.schema
        self._graph = context.graph
        self._places = context.places
        self._own = context.own

    def findings(self) -> Iterator[Finding]:
        rules: tuple[Callable[[], Iterator[Finding]], ...] = (
            self._domains, self._undeclared, self._cycles,
            self._impossible_classes, self._disjointness, self._versions,
        )  # fmt: skip
        for rule in rules:
            yield from rule()

    def _domains(self) -> Iterator[Finding]:
        find = self._places.finding
        for term in self._own:
            if not isinstance(term, OntologyProperty) or term.kind is PropertyKind.ANNOTATION:
                continue
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
