"""Which axioms inference draws conclusions from, which are judged, and which have no effect here.

The tables name every term of OWL 2 (OWL 2 Structural Specification, 13; RDF mapping), so that no axiom is
ignored in silence: a term that is in none of them is one that OWL does not define.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, NamedNode

from ontology import vocabulary as v
from ontology.checks.findings import Finding, Level, LintContext, Rule
from ontology.graph import Graph, Node
from ontology.schema import Schema

NOT_INFERRED = Rule(
    "axiom_not_inferred",
    Level.INFO,
    "Something follows from an axiom in OWL that inference here does not draw.",
)
NOT_JUDGED = Rule(
    "axiom_not_judged", Level.INFO, "No shape is made from an axiom, so data that contradict it are accepted."
)
UNKNOWN = Rule(
    "unknown_owl", Level.WARN, "A term in a namespace of OWL, RDF or RDFS that these do not define."
)

_INFERRED = """equivalentClass equivalentProperty inverseOf SymmetricProperty TransitiveProperty
    InverseFunctionalProperty propertyChainAxiom sameAs someValuesFrom hasValue onProperty""".split()
"""Axioms and their parts from which inference draws conclusions (`sparql.inference`)."""
_JUDGED = """disjointWith AllDisjointClasses members disjointUnionOf FunctionalProperty IrreflexiveProperty
    AsymmetricProperty propertyDisjointWith AllDisjointProperties allValuesFrom oneOf unionOf
    cardinality minCardinality maxCardinality minQualifiedCardinality maxQualifiedCardinality
    qualifiedCardinality onClass onDataRange onDatatype withRestrictions real rational""".split()
"""Those of which shapes are generated (`shapes.authoring.generating`)."""
_DECLARED = """Class ObjectProperty DatatypeProperty AnnotationProperty OntologyProperty Ontology Restriction
    NamedIndividual Thing imports deprecated DeprecatedClass DeprecatedProperty""".split()
"""Those by which terms and files are read."""
_DESCRIBING = """versionIRI versionInfo priorVersion backwardCompatibleWith incompatibleWith Axiom Annotation
    annotatedSource annotatedProperty annotatedTarget""".split()
"""Those that say something to people and nothing of the domain."""
_PARTS = """sourceIndividual assertionProperty targetIndividual targetValue distinctMembers""".split()
"""Parts of axioms that are reported themselves."""
_RDFS = """Resource Class Literal Datatype Container ContainerMembershipProperty subClassOf subPropertyOf
    domain range label comment seeAlso isDefinedBy member""".split()
_RDF = """type Property Statement subject predicate object first rest nil List Bag Seq Alt value langString
    PlainLiteral XMLLiteral HTML JSON dirLangString direction language langRange reifies
    CompoundLiteral""".split()
_FACETS = frozenset(
    NamedNode(v.XSD + name)
    for name in (
        *("minInclusive", "maxInclusive", "minExclusive", "maxExclusive"),
        *("length", "minLength", "maxLength", "pattern"),
    )
)


@dataclass(frozen=True)
class _Expressions:
    """The class expressions that an ontology says something about, and its datatypes."""

    above: frozenset[Node]
    below: frozenset[Node]
    same: frozenset[Node]
    datatypes: frozenset[Node]


def _expressions(graph: Graph) -> _Expressions:
    above, same = graph.pairs(v.SUBCLASS_OF), graph.pairs(v.EQUIVALENT_CLASS)
    return _Expressions(
        frozenset(value for _, value in above),
        frozenset(subject for subject, _ in above),
        frozenset(one for pair in same for one in pair),
        frozenset(graph.instances(v.DATATYPE)),
    )


@dataclass(frozen=True)
class _Use:
    """One use of a term: the subject and the value of the triple that it is in."""

    expressions: _Expressions
    subject: Node
    value: Node


def _in_class_axiom(use: _Use) -> bool:
    """Of a class, or of an expression that is equivalent to a class or below one."""
    if isinstance(use.subject, NamedNode):
        return use.subject not in use.expressions.datatypes
    return use.subject in use.expressions.same or use.subject in use.expressions.below


def _only_above(use: _Use) -> bool:
    return use.subject in use.expressions.above and use.subject not in use.expressions.same


def _without_name(use: _Use) -> bool:
    return isinstance(use.subject, BlankNode)


def _names_a_class(use: _Use) -> bool:
    return use.value not in (v.THING, v.LITERAL, NamedNode(v.RDFS + "Resource"))


@dataclass(frozen=True)
class _Gap:
    """A term of which a use may have no effect: what OWL says by it, and in which uses."""

    rule: Rule
    said: str
    test: Callable[[_Use], bool] = lambda _: True
    profile: str = ""
    """The rules of OWL 2 RL (OWL 2 Profiles, 4.3) that are not followed for it."""


_GAPS = {
    "hasKey": _Gap(NOT_INFERRED, "that two things are the same", profile="prp-key"),
    "hasSelf": _Gap(NOT_INFERRED, "that something is related to itself"),
    "intersectionOf": _Gap(NOT_INFERRED, "types from several types", profile="cls-int1, cls-int2, scm-int"),
    "unionOf": _Gap(
        NOT_INFERRED, "the type of the whole from the type of a member", _in_class_axiom, "cls-uni, scm-uni"
    ),
    "oneOf": _Gap(NOT_INFERRED, "the type of the things that are listed", _in_class_axiom, "cls-oo"),
    "disjointUnionOf": _Gap(NOT_INFERRED, "the type of the whole from the type of a part"),
    "someValuesFrom": _Gap(NOT_INFERRED, "that there is such a value, which has no name", _only_above),
    "inverseOf": _Gap(
        NOT_INFERRED,
        "anything of an inverse property without a name of its own",
        _without_name,
    ),
    "ReflexiveProperty": _Gap(NOT_INFERRED, "that each thing is related to itself"),
    "topObjectProperty": _Gap(NOT_INFERRED, "that each thing is related to each"),
    "topDataProperty": _Gap(NOT_INFERRED, "that each thing has each value"),
    "differentFrom": _Gap(NOT_JUDGED, "that two things are not the same", profile="eq-diff1"),
    "AllDifferent": _Gap(NOT_JUDGED, "that things are not the same", profile="eq-diff2, eq-diff3"),
    "complementOf": _Gap(
        NOT_JUDGED, "that nothing is an instance of a class and of its complement", profile="cls-com"
    ),
    "datatypeComplementOf": _Gap(NOT_JUDGED, "which values are not of a datatype"),
    "NegativePropertyAssertion": _Gap(
        NOT_JUDGED, "that a statement does not hold", profile="prp-npa1, prp-npa2"
    ),
    "bottomObjectProperty": _Gap(NOT_JUDGED, "that a property relates nothing"),
    "bottomDataProperty": _Gap(NOT_JUDGED, "that a property has no value"),
    "Nothing": _Gap(NOT_JUDGED, "that a class has no instance", profile="cls-nothing2"),
    "onClass": _Gap(
        NOT_JUDGED,
        "how many values of one class there may be",
        _names_a_class,
        profile="cls-maxqc1, cls-maxqc3",
    ),
    "onDataRange": _Gap(NOT_JUDGED, "how many values of one datatype there may be", _names_a_class),
    "onProperties": _Gap(NOT_JUDGED, "what the values of several properties are together"),
    "DataRange": _Gap(NOT_JUDGED, "which values are of a datatype (OWL 2 has rdfs:Datatype)"),
}
KNOWN_TERMS = frozenset(
    NamedNode(namespace + name)
    for namespace, names in (
        (v.OWL, (*_INFERRED, *_JUDGED, *_DECLARED, *_DESCRIBING, *_PARTS, *_GAPS)),
        (v.RDFS, _RDFS),
        (v.RDF, _RDF),
    )
    for name in names
)
_MEMBERSHIP = v.RDF + "_"


def effect(name: str) -> str:
    """What a term of OWL does here, in one word, by its local name; empty where OWL has no such term."""
    for word, names in (
        *(("reported", _GAPS), ("part", _PARTS), ("inferred", _INFERRED), ("judged", _JUDGED)),
        *(("declared", _DECLARED), ("describing", _DESCRIBING)),
    ):
        if name in names:
            return word
    return ""


def axioms(context: LintContext) -> Iterator[Finding]:
    """One finding for each kind of axiom without effect, at the first term that has one."""
    uses, unknown = _uses(context)
    expressions = _expressions(context.graph)
    for name, gap in _GAPS.items():
        term = NamedNode(v.OWL + name)
        found = [pair for pair in uses.get(term, ()) if gap.test(_Use(expressions, *pair))]
        if found:
            yield _finding(context, gap.rule, term, found, gap.said, gap.profile)
    for term, pairs in _facets(context.graph).items():
        yield _finding(context, NOT_JUDGED, term, pairs, "which values are of a datatype")
    for term, subject in unknown.items():
        at = subject if isinstance(subject, NamedNode) else term
        file, line = context.places.of(at.value)
        used = _at(context.schema, at, term)
        message = f"is in a namespace of OWL, RDF or RDFS, which do not define it ({used})."
        yield Finding(UNKNOWN, message, "Correct its spelling: it has no effect.", term.value, file, line)


def _at(schema: Schema, at: NamedNode, term: NamedNode) -> str:
    return "used without a name" if at == term else f"used by {schema.written(at)}"


def _finding(
    context: LintContext,
    rule: Rule,
    term: NamedNode,
    found: list[tuple[Node, Node]],
    said: str,
    profile: str = "",
) -> Finding:
    count = "once" if len(found) == 1 else f"{len(found)} times"
    if rule == NOT_INFERRED:
        message = f"is used {count}; inference here does not conclude {said} from it."
        fix = "State what has to be in the graph, or draw it with another program before loading."
    else:
        message = f"is used {count}, to say {said}; no shape is made from it."
        fix = "Write a shape by hand where there is none, so that data cannot contradict it."
    if profile:
        message = f"{message[:-1]} (OWL 2 RL: {profile})."
    named = (subject for subject, _ in found if isinstance(subject, NamedNode))
    file, line = context.places.of(next(named, term).value)
    return Finding(rule, message, fix, term.value, file, line)


def _uses(
    context: LintContext,
) -> tuple[dict[NamedNode, list[tuple[Node, Node]]], dict[NamedNode, Node]]:
    """By term of OWL, the subject and value of its uses; unknown terms, each with a subject."""
    namespaces = (v.OWL, v.RDF, v.RDFS)
    uses: dict[NamedNode, list[tuple[Node, Node]]] = {}
    unknown: dict[NamedNode, Node] = {}
    is_unknown: dict[NamedNode, bool] = {}
    for file in context.schema.files:
        for triple in file.triples:
            for term in (triple.predicate, triple.object):
                if not isinstance(term, NamedNode):
                    continue
                wrong = is_unknown.get(term)
                if wrong is None:
                    of_these = term.value.startswith(namespaces) and not term.value.startswith(_MEMBERSHIP)
                    wrong = is_unknown[term] = of_these and not _is_known(term)
                if wrong:
                    unknown.setdefault(term, triple.subject)
                elif term.value.startswith(v.OWL):
                    uses.setdefault(term, []).append((triple.subject, triple.object))
    return uses, unknown


def _is_known(term: NamedNode) -> bool:
    """Whether OWL, RDF or RDFS defines it; the IRIs of the vocabularies themselves are no terms."""
    return term in KNOWN_TERMS or term.value.rstrip("#") in {
        one.rstrip("#") for one in (v.OWL, v.RDF, v.RDFS)
    }


def _facets(graph: Graph) -> dict[NamedNode, list[tuple[Node, Node]]]:
    """The facets of datatypes that no shape is made of."""
    found: dict[NamedNode, list[tuple[Node, Node]]] = {}
    for datatype, head in graph.pairs(v.WITH_RESTRICTIONS):
        for facet in graph.members(head):
            for predicate, value in graph.statements(facet):
                if predicate not in _FACETS:
                    found.setdefault(predicate, []).append((datatype, value))
    return found
