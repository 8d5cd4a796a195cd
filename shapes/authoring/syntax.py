"""Which shapes are ill-formed, and which terms of SHACL have an effect here.

The first are the syntax rules of SHACL (https://www.w3.org/TR/shacl/, 2 to 5), one entry of a table for each
parameter. pySHACL's `meta_shacl` finds the same in 150 times the time, and does not say what to write
instead.

The tables of terms name every one of the vocabulary of SHACL, SHACL Advanced Features and the SHACL
JavaScript Extensions, so that none is ignored in silence: a term that is in none of them is one that SHACL
does not define.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import rdflib
from rdflib.namespace import RDF, SH, XSD
from rdflib.term import BNode, Literal, Node, URIRef

from shapes.errors import ShapeMalformed
from shapes.paths import parse_path

_NODE_KINDS = frozenset(
    (SH.IRI, SH.BlankNode, SH.Literal, SH.BlankNodeOrIRI, SH.BlankNodeOrLiteral, SH.IRIOrLiteral)
)


@dataclass(frozen=True)
class _Syntax:
    """What the values of a parameter have to be, in words and as a test; `once`: at most one value."""

    needed: str
    test: Callable[[rdflib.Graph, Node], bool]
    once: bool = False
    paths_only: bool = False
    """Whether it may only stand at a property shape."""


def _is_iri(_graph: rdflib.Graph, value: Node) -> bool:
    return isinstance(value, URIRef)


def _is_node(_graph: rdflib.Graph, value: Node) -> bool:
    return not isinstance(value, Literal)


def _is_literal(_graph: rdflib.Graph, value: Node) -> bool:
    return isinstance(value, Literal)


def _has(*datatypes: URIRef) -> Callable[[rdflib.Graph, Node], bool]:
    def test(_graph: rdflib.Graph, value: Node) -> bool:
        if not isinstance(value, Literal):
            return False
        datatype = value.datatype or (RDF.langString if value.language else XSD.string)
        return datatype in datatypes and value.ill_typed is not True

    return test


def _is_count(graph: rdflib.Graph, value: Node) -> bool:
    return _has(XSD.integer)(graph, value) and int(str(value)) >= 0


def _is_kind(_graph: rdflib.Graph, value: Node) -> bool:
    return value in _NODE_KINDS


def _is_pattern(graph: rdflib.Graph, value: Node) -> bool:
    if not _has(XSD.string)(graph, value):
        return False
    try:
        re.compile(str(value))
    except RecursionError:
        return False
    except re.error:
        # XPath has more than Python's expressions: \p{L}, \i, \c. What is left is judged by the engine.
        return bool(re.search(r"\\[pPicIC]|-\[", str(value)))
    return True


def _list_of(test: Callable[[rdflib.Graph, Node], bool]) -> Callable[[rdflib.Graph, Node], bool]:
    def of_all(graph: rdflib.Graph, head: Node) -> bool:
        members = _members(graph, head)
        return members is not None and all(test(graph, member) for member in members)

    return of_all


def _members(graph: rdflib.Graph, head: Node) -> list[Node] | None:
    """The members of a well-formed SHACL list (SHACL, 1.2); None for any other node."""
    found: list[Node] = []
    seen: set[Node] = set()
    while head != RDF.nil:
        first, rest = list(graph.objects(head, RDF.first)), list(graph.objects(head, RDF.rest))
        if head in seen or len(first) != 1 or len(rest) != 1:
            return None
        seen.add(head)
        found.append(first[0])
        head = rest[0]
    return found


_COUNT = "a whole number of type xsd:integer, from 0"
_FLAG = _Syntax("true or false", _has(XSD.boolean), once=True)
_SHAPES = _Syntax("a list of shapes", _list_of(_is_node))
_PROPERTY = _Syntax("the IRI of a property", _is_iri)
_ORDERED = _Syntax("the IRI of a property", _is_iri, paths_only=True)
_LIMIT = _Syntax("a literal", _is_literal, once=True)
_TEXTS = _Syntax("a text, with or without a language", _has(XSD.string, RDF.langString))

_SYNTAX: dict[URIRef, _Syntax] = {
    SH.targetClass: _Syntax("the IRI of a class", _is_iri),
    SH.targetNode: _Syntax("an IRI or a literal", lambda graph, value: not isinstance(value, BNode)),
    SH.targetSubjectsOf: _PROPERTY,
    SH.targetObjectsOf: _PROPERTY,
    SH.severity: _Syntax("the IRI of a severity", _is_iri, once=True),
    SH.message: _TEXTS,
    SH.deactivated: _FLAG,
    SH["class"]: _Syntax("the IRI of a class", _is_iri),
    SH.datatype: _Syntax("the IRI of a datatype", _is_iri, once=True),
    SH.nodeKind: _Syntax("one of sh:IRI, sh:BlankNode, sh:Literal and their pairs", _is_kind, once=True),
    SH.minCount: _Syntax(_COUNT, _is_count, once=True, paths_only=True),
    SH.maxCount: _Syntax(_COUNT, _is_count, once=True, paths_only=True),
    SH.minExclusive: _LIMIT,
    SH.minInclusive: _LIMIT,
    SH.maxExclusive: _LIMIT,
    SH.maxInclusive: _LIMIT,
    SH.minLength: _Syntax(_COUNT, _is_count, once=True),
    SH.maxLength: _Syntax(_COUNT, _is_count, once=True),
    SH.pattern: _Syntax("a regular expression", _is_pattern, once=True),
    SH.flags: _Syntax("a text", _has(XSD.string), once=True),
    SH.languageIn: _Syntax("a list of language tags", _list_of(_has(XSD.string)), once=True),
    SH.uniqueLang: _Syntax("true or false", _has(XSD.boolean), once=True, paths_only=True),
    SH.equals: _PROPERTY,
    SH.disjoint: _PROPERTY,
    SH.lessThan: _ORDERED,
    SH.lessThanOrEquals: _ORDERED,
    SH["not"]: _Syntax("a shape", _is_node),
    SH["and"]: _SHAPES,
    SH["or"]: _SHAPES,
    SH.xone: _SHAPES,
    SH.node: _Syntax("a shape", _is_node),
    SH.property: _Syntax("a shape with sh:path", lambda graph, value: (value, SH.path, None) in graph),
    SH.qualifiedValueShape: _Syntax("a shape", _is_node, once=True, paths_only=True),
    SH.qualifiedMinCount: _Syntax(_COUNT, _is_count, once=True),
    SH.qualifiedMaxCount: _Syntax(_COUNT, _is_count, once=True),
    SH.qualifiedValueShapesDisjoint: _FLAG,
    SH.closed: _FLAG,
    SH.ignoredProperties: _Syntax("a list of IRIs of properties", _list_of(_is_iri), once=True),
    SH["in"]: _Syntax("a list", _list_of(lambda graph, value: True), once=True),
    SH.select: _Syntax("a text with a query", _has(XSD.string), once=True),
}


@dataclass(frozen=True)
class IllFormed:
    """What is ill-formed at a node, and the property whose values are, where it is that of one."""

    node: Node
    message: str
    predicate: URIRef | None = None


def ill_formed(graph: rdflib.Graph) -> Iterator[IllFormed]:
    """What SHACL does not allow in shapes."""
    for predicate, syntax in _SYNTAX.items():
        for node in _subjects(graph, predicate):
            for problem in _problems(graph, node, predicate, syntax):
                yield IllFormed(node, problem, predicate)
    yield from _ill_formed_paths(graph)
    for node in _subjects(graph, SH.qualifiedValueShape):
        if not any((node, count, None) in graph for count in (SH.qualifiedMinCount, SH.qualifiedMaxCount)):
            message = "has sh:qualifiedValueShape without sh:qualifiedMinCount or sh:qualifiedMaxCount."
            yield IllFormed(node, message)
    for node in sorted(set(graph.objects(None, SH.sparql)), key=str):
        if not any((node, query, None) in graph for query in (SH.select, SH.ask)):
            yield IllFormed(node, "is a constraint of sh:sparql without sh:select.")


def _ill_formed_paths(graph: rdflib.Graph) -> Iterator[IllFormed]:
    for node in _subjects(graph, RDF.type, SH.PropertyShape):
        if (node, SH.path, None) not in graph:
            yield IllFormed(node, "is a property shape without sh:path.")
    for node in _subjects(graph, SH.path):
        if (node, RDF.type, SH.NodeShape) in graph:
            yield IllFormed(node, "is a node shape and has sh:path; only a property shape has.")
        paths = list(graph.objects(node, SH.path))
        if len(paths) > 1:
            message = "has several sh:path; it takes it once. Write a list for a sequence."
            yield IllFormed(node, message, SH.path)
        elif not _is_path(graph, paths[0]):
            message = "has a sh:path that is neither an IRI, a list nor a path expression."
            yield IllFormed(node, message, SH.path)


def _subjects(graph: rdflib.Graph, predicate: URIRef, value: Node | None = None) -> list[Node]:
    return sorted(set(graph.subjects(predicate, value)), key=str)


def _is_path(graph: rdflib.Graph, path: Node) -> bool:
    try:
        parse_path(graph, path)
    except ShapeMalformed:
        return False
    return True


def _problems(graph: rdflib.Graph, node: Node, predicate: URIRef, syntax: _Syntax) -> Iterator[str]:
    name = "sh:" + str(predicate).removeprefix(str(SH))
    values = sorted(graph.objects(node, predicate), key=str)
    for value in values:
        if not syntax.test(graph, value):
            yield f"has {name} {_written(value)}; it takes {syntax.needed}."
    if syntax.once and len(values) > 1:
        yield f"has {name} {len(values)} times; it takes it once."
    if syntax.paths_only and (node, SH.path, None) not in graph:
        yield f"has {name}, but no sh:path; only a property shape takes it."


def _written(value: Node) -> str:
    if isinstance(value, BNode):
        return "[...]"
    return value.n3()


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
    Rules""".split()
)
_DESCRIBING = frozenset(
    """name description order group PropertyGroup labelTemplate suggestedShapesGraph shapesGraph""".split()
)
"""Without an effect on any verdict, by SHACL itself."""
_RESULTS = frozenset(
    """AbstractResult ValidationReport ValidationResult conforms detail focusNode result resultMessage
    resultPath resultSeverity shapesGraphWellFormed sourceConstraint sourceConstraintComponent sourceShape
    value""".split()
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
