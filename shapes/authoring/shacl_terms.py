"""Which terms of SHACL have an effect here, and which are reported.

The tables name every term of the vocabulary of SHACL, SHACL Advanced Features and the SHACL JavaScript
Extensions, so that none is ignored in silence: a term that is in none of them is one that SHACL does not
define.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import rdflib
from rdflib.namespace import RDF, SH
from rdflib.term import BNode, Literal, Node, URIRef

__all__ = ["Unsupported", "effect", "unsupported"]

_SUPPORTED = frozenset(
    """alternativePath and ask class closed datatype deactivated declare disjoint equals flags hasValue
    ignoredProperties in inversePath languageIn lessThan lessThanOrEquals maxCount maxExclusive maxInclusive
    maxLength message minCount minExclusive minInclusive minLength namespace node nodeKind nodeValidator not
    oneOrMorePath optional or parameter path pattern prefix prefixes property propertyValidator
    qualifiedMaxCount qualifiedMinCount qualifiedValueShape qualifiedValueShapesDisjoint select severity
    sparql targetClass targetNode targetObjectsOf targetSubjectsOf uniqueLang validator xone zeroOrMorePath
    zeroOrOnePath

    ConstraintComponent NodeShape Parameter Parameterizable PrefixDeclaration PropertyShape
    SPARQLAskExecutable SPARQLAskValidator SPARQLConstraint SPARQLExecutable SPARQLSelectExecutable
    SPARQLSelectValidator Severity Shape Validator NodeKind

    BlankNode BlankNodeOrIRI BlankNodeOrLiteral IRI IRIOrLiteral Literal Info Violation Warning
    Rules""".split()  # noqa: SIM905
)
_DESCRIBING = frozenset(
    """name description order group PropertyGroup labelTemplate suggestedShapesGraph shapesGraph""".split()  # noqa: SIM905
)
"""Without an effect on any verdict, by SHACL itself."""
_RESULTS = frozenset(
    """AbstractResult ValidationReport ValidationResult conforms detail focusNode result resultMessage
    resultPath resultSeverity shapesGraphWellFormed sourceConstraint sourceConstraintComponent sourceShape
    value""".split()  # noqa: SIM905
)
"""The vocabulary of reports."""
_JUDGED = {
    "target": "a target by SPARQL, JavaScript or an own type",
    "expression": "a node expression as constraint",
    "js": "a constraint in JavaScript",
    "jsFunctionName": "a function in JavaScript",
    "entailment": "a demand for conclusions that are not drawn for it",
}
"""Features on which a verdict depends, by the property that says them."""
_IGNORED = {
    "rule": "a rule",
    "values": "values by a node expression",
    "defaultValue": "a default value",
    "resultAnnotation": "an annotation of results",
    "update": "an update by SPARQL",
    "returnType": "the type of what a function returns",
}
"""Features without which fewer triples are there, but no verdict is another one."""
_KINDS = {
    "SPARQLFunction": "a function by SPARQL",
    "Function": "a function",
    "JSFunction": "a function in JavaScript",
    "JSExecutable": "a program in JavaScript",
    "JSConstraint": "a constraint in JavaScript",
    "JSValidator": "a validator in JavaScript",
    "JSLibrary": "a library in JavaScript",
    "JSRule": "a rule in JavaScript",
    "JSTarget": "a target by JavaScript",
    "JSTargetType": "a type of targets by JavaScript",
    "Rule": "a rule",
    "TripleRule": "a rule",
    "SPARQLRule": "a rule",
    "Target": "a target of an own type",
    "TargetType": "an own type of targets",
    "SPARQLTarget": "a target by SPARQL",
    "SPARQLTargetType": "an own type of targets by SPARQL",
    "SPARQLConstructExecutable": "a query that makes triples",
    "SPARQLUpdateExecutable": "an update by SPARQL",
    "ResultAnnotation": "an annotation of results",
}
"""Features that are declared by a type; alone they have no effect."""
_PARTS = {
    **dict.fromkeys(("this", "filterShape", "nodes", "intersection", "union"), "a part of a node expression"),
    **dict.fromkeys(("subject", "predicate", "object", "condition", "construct"), "a part of a rule"),
    **dict.fromkeys(
        ("annotationProperty", "annotationValue", "annotationVarName"), "a part of an annotation"
    ),
    **dict.fromkeys(("jsLibrary", "jsLibraryURL"), "a library in JavaScript"),
}
"""Parts of these features: reported where they are not within one that is."""


def effect(name: str) -> str:
    """What a term of SHACL does here, in one word, by its local name; empty where SHACL has no such term."""
    for word, names in (
        *(("supported", _SUPPORTED), ("describing", _DESCRIBING), ("results", _RESULTS)),
        *(("judged", _JUDGED), ("ignored", _IGNORED), ("declared", _KINDS), ("part", _PARTS)),
    ):
        if name in names:
            return word
    owner, _, parameter = name.partition("-")
    if owner.endswith("ConstraintComponent") and owner in SH and (not parameter or effect(parameter)):
        return "supported" if owner not in _COMPONENTS_REPORTED else "part"
    return "part" if name == "JSConstraint-js" else ""


_COMPONENTS_REPORTED = frozenset(("ExpressionConstraintComponent", "JSConstraintComponent"))


@dataclass(frozen=True)
class Unsupported:
    """A feature that a node uses and that has no effect here; `judged`: a verdict depends on it."""

    node: Node
    feature: str
    judged: bool
    why: str = ""


def unsupported(graph: rdflib.Graph, not_run: Mapping[Node, str] | None = None) -> Iterator[Unsupported]:
    """Each node with a feature that is unsupported, once for each feature.

    Where rules are followed, `not_run` are those that are not, with the reasons.
    """
    owned: set[Node] = set()
    reported: set[Node] = set()
    called = _text_of_queries(graph)
    for names, judged in ((_JUDGED, True), (_IGNORED, False)):
        for name, feature in names.items():
            for node in _subjects(graph, _term(name)):
                if not_run is not None and name in ("rule", "entailment"):
                    yield from _of_rules(graph, node, name, not_run)
                else:
                    yield Unsupported(node, f"sh:{name}, {feature}", judged)
                owned |= {node} if name == "jsFunctionName" else set()
                owned |= _within(graph, graph.objects(node, _term(name)))
                reported.add(node)
    for name, feature in _KINDS.items():
        for node in _subjects(graph, RDF.type, _term(name)):
            if node not in owned:
                judged = name.endswith("Function") and _is_called(node, called)
                yield Unsupported(node, f"type sh:{name}, {feature}", judged)
                owned |= _within(graph, [node])
    for name, feature in _PARTS.items():
        term = _term(name)
        used = {*graph.subjects(term, None), *graph.subjects(None, term)}
        for node in sorted(used - owned - reported, key=str):
            yield Unsupported(node, f"sh:{name}, {feature}", judged=False)


def _of_rules(
    graph: rdflib.Graph, node: Node, name: str, not_run: Mapping[Node, str]
) -> Iterator[Unsupported]:
    """What is not followed of a node's rules, and of its sh:entailment, where rules are followed."""
    if name == "entailment" and set(graph.objects(node, _term(name))) != {_term("Rules")}:
        yield Unsupported(node, f"sh:{name}, {_JUDGED[name]}", judged=True)
    for rule in sorted(graph.objects(node, _term(name)), key=str) if name == "rule" else ():
        if rule in not_run:
            yield Unsupported(
                node, f"sh:{name}, {_IGNORED[name]}", judged=False, why=f" (it {not_run[rule]})"
            )


def _within(graph: rdflib.Graph, nodes: Iterator[Node] | list[Node]) -> set[Node]:
    """These nodes, and those without a name that are said of them."""
    found, waiting = set(), list(nodes)
    while waiting:
        node = waiting.pop()
        if node not in found and not isinstance(node, Literal):
            found.add(node)
            waiting += [value for value in graph.objects(node) if isinstance(value, BNode)]
    return found


def _text_of_queries(graph: rdflib.Graph) -> str:
    return "\n".join(
        str(text)
        for predicate in (SH.select, SH.ask, SH.construct)
        for text in graph.objects(None, predicate)
    )


def _is_called(function: Node, queries: str) -> bool:
    """Whether a query names a function, by its IRI or as the end of a prefixed name."""
    name = str(function).replace("#", "/").rpartition("/")[2]
    return f"<{function}>" in queries or f":{name}" in queries


def _term(name: str) -> URIRef:
    return URIRef(str(SH) + name)


def _subjects(graph: rdflib.Graph, predicate: URIRef, value: Node | None = None) -> list[Node]:
    return sorted(set(graph.subjects(predicate, value)), key=str)
