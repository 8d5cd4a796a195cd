"""The SHACL core constraints on values (SHACL, 4.1 to 4.5 and 4.8) as tests that give a yes or nothing."""

import re
from collections.abc import Callable, Mapping
from typing import TypeVar

import rdflib
from pyoxigraph import BlankNode, Literal, NamedNode
from rdflib.collection import Collection
from rdflib.namespace import SH

from shapes.engine.literal_tests import Unsure, has_datatype, order
from shapes.engine.reading import Reading
from shapes.paths import Path
from shapes.terms import to_oxigraph
from sparql.model.source import Term
from sparql.model.vocabulary import RDF, RDFS

Kept = TypeVar("Kept")

ValuesTest = Callable[[Reading, Term, tuple[Term, ...]], bool]
"""Whether a focus node with these value nodes conforms to one constraint. Raises `Unsure`."""

Build = Callable[[rdflib.Graph, rdflib.term.Node, rdflib.term.Node, Path | None], ValuesTest]
"""Makes the test of a constraint from the shapes graph, the shape, the parameter's value and the path."""


class NotCompiled(Exception):
    """Something of a shape is not known here: the reference engine runs it. It never leaves this room."""


_KINDS: Mapping[rdflib.term.Node, tuple[type, ...]] = {
    SH.IRI: (NamedNode,),
    SH.BlankNode: (BlankNode,),
    SH.Literal: (Literal,),
    SH.BlankNodeOrIRI: (BlankNode, NamedNode),
    SH.BlankNodeOrLiteral: (BlankNode, Literal),
    SH.IRIOrLiteral: (NamedNode, Literal),
}
_ESCAPE = re.compile(r"\\.", re.DOTALL)
_CHARACTER_CLASS = re.compile(r"\[\^?\]?[^\]]*\]")
_GROUP = re.compile(r"\([^()]*\)")


def _each(holds: Callable[[Term], bool]) -> ValuesTest:
    return lambda reading, focus, values: all(map(holds, values))


def _class(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    class_ = to_oxigraph(value)

    def test(reading: Reading, focus: Term, values: tuple[Term, ...]) -> bool:
        return all(not isinstance(v, Literal) and class_ in reading.classes(v) for v in values)

    return test


def _datatype(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    datatype = str(value)
    return _each(lambda v: has_datatype(v, datatype))


def _node_kind(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    kinds = _KINDS.get(value)
    if kinds is None:
        raise NotCompiled
    return _each(lambda v: isinstance(v, kinds))


def _min_count(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    count = _on_property(_count(value), path)
    return lambda reading, focus, values: len(values) >= count


def _max_count(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    count = _on_property(_count(value), path)
    return lambda reading, focus, values: len(values) <= count


def _min_length(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    least = _count(value)
    return _each(lambda v: least == 0 or (_has_text(v) and len(v.value) >= least))  # type: ignore[union-attr]


def _max_length(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    most = _count(value)
    return _each(lambda v: _has_text(v) and len(v.value) <= most)  # type: ignore[union-attr]


def _pattern(
    graph: rdflib.Graph, node: rdflib.term.Node, value: rdflib.term.Node, path: Path | None
) -> ValuesTest:
    flags = re.NOFLAG
    given = sorted({str(flag).lower() for flag in graph.objects(node, SH.flags)})
    if len(given) > 1:
        raise NotCompiled
    for letter, flag in (("i", re.IGNORECASE), ("m", re.MULTILINE)):
        if given and letter in given[0]:
            flags |= flag
    try:
        compiled = re.compile(str(value), flags)
    except re.error as error:
        raise NotCompiled from error
    # The same, but a search would try an anchored pattern at every character of a long geometry.
    search = compiled.match if is_anchored(str(value), flags) else compiled.search
    return _each(lambda v: _has_text(v) and search(v.value) is not None)  # type: ignore[union-attr]


def is_anchored(pattern: str, flags: int) -> bool:
    """Whether a pattern matches at the beginning of a text or nowhere, as far as that is plain to see."""
    if not pattern.startswith("^") or flags & re.MULTILINE or "(?" in pattern.replace("(?:", ""):
        return False
    # What stands in brackets belongs to one alternative; another one would need no anchor.
    bare = _CHARACTER_CLASS.sub("", _ESCAPE.sub("x", pattern))
    while (less := _GROUP.sub("", bare)) != bare:
        bare = less
    return set(bare).isdisjoint("|()[]")


def _language_in(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    languages = {str(language).lower() for language in Collection(graph, value)}

    def holds(v: Term) -> bool:
        tag = v.language if isinstance(v, Literal) else None
        if not tag:
            return False
        low = tag.lower()
        return "*" in languages or low in languages or low.partition("-")[0] in languages

    return _each(holds)


def _unique_lang(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    _on_property(0, path)
    if not _is_true(value):
        return _each(lambda v: True)

    def test(reading: Reading, focus: Term, values: tuple[Term, ...]) -> bool:
        tags = [v.language.lower() for v in values if isinstance(v, Literal) and v.language]
        return len(tags) == len(set(tags))

    return test


def _has_value(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    wanted = to_oxigraph(value)
    return lambda reading, focus, values: wanted in values


def _in(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    allowed = frozenset(to_oxigraph(member) for member in Collection(graph, value))
    return _each(lambda v: v in allowed)


def _closed(
    graph: rdflib.Graph, node: rdflib.term.Node, value: rdflib.term.Node, path: Path | None
) -> ValuesTest:
    if not _is_true(value):
        return _each(lambda v: True)
    lists = list(graph.objects(node, SH.ignoredProperties))
    allowed = {str(member) for members in lists for member in Collection(graph, members)}
    for inner in graph.objects(node, SH.property):
        allowed |= {str(p) for p in graph.objects(inner, SH.path) if isinstance(p, rdflib.URIRef)}

    def test(reading: Reading, focus: Term, values: tuple[Term, ...]) -> bool:
        return all(
            predicate.value in allowed or (predicate == RDF.type and object_ == RDFS.Resource)
            for v in values
            for predicate, object_ in reading.outgoing(v)
        )

    return test


def _range(holds: Callable[[int], bool]) -> Build:
    def build(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
        bound = to_oxigraph(value)
        return _each(lambda v: isinstance(v, Literal) and holds(order(v, bound)))

    return build


def _equals(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    other = NamedNode(str(value))
    return lambda reading, focus, values: set(values) == set(reading.objects(focus, other))


def _disjoint(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    other = NamedNode(str(value))
    return lambda reading, focus, values: set(values).isdisjoint(reading.objects(focus, other))


def _less(holds: Callable[[int], bool]) -> Build:
    def build(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
        other = _on_property(NamedNode(str(value)), path)

        def test(reading: Reading, focus: Term, values: tuple[Term, ...]) -> bool:
            if any(isinstance(v, BlankNode) for v in values):
                # The reference engine gives up on one, whatever it is to be compared with.
                raise Unsure
            bounds = reading.objects(focus, other)
            return all(holds(order(v, bound)) for v in values for bound in bounds)

        return test

    return build


def _nothing(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    """For a parameter that only says more of another."""
    return _each(lambda v: True)


BUILDERS: Mapping[rdflib.URIRef, Build] = {
    SH["class"]: _class,
    SH.datatype: _datatype,
    SH.nodeKind: _node_kind,
    SH.minCount: _min_count,
    SH.maxCount: _max_count,
    SH.minLength: _min_length,
    SH.maxLength: _max_length,
    SH.pattern: _pattern,
    SH.languageIn: _language_in,
    SH.uniqueLang: _unique_lang,
    SH.hasValue: _has_value,
    SH["in"]: _in,
    SH.closed: _closed,
    SH.ignoredProperties: _nothing,
    SH.minInclusive: _range(lambda sign: sign >= 0),
    SH.minExclusive: _range(lambda sign: sign > 0),
    SH.maxInclusive: _range(lambda sign: sign <= 0),
    SH.maxExclusive: _range(lambda sign: sign < 0),
    SH.equals: _equals,
    SH.disjoint: _disjoint,
    SH.lessThan: _less(lambda sign: sign < 0),
    SH.lessThanOrEquals: _less(lambda sign: sign <= 0),
}
SINGLE = frozenset(
    (
        *(SH.datatype, SH.nodeKind, SH.minCount, SH.maxCount, SH.minLength, SH.maxLength, SH.languageIn),
        *(SH.uniqueLang, SH["in"], SH.closed, SH.qualifiedValueShape, SH.qualifiedMinCount),
        SH.qualifiedMaxCount,
    )
)
"""Parameters of which a shape may have one value."""


def _has_text(value: Term) -> bool:
    return isinstance(value, NamedNode | Literal)


def _is_true(value: rdflib.term.Node) -> bool:
    return isinstance(value, rdflib.Literal) and value.value is True


def _count(value: rdflib.term.Node) -> int:
    if not isinstance(value, rdflib.Literal) or not isinstance(value.value, int) or value.value < 0:
        raise NotCompiled
    return value.value


def _on_property(kept: Kept, path: Path | None) -> Kept:
    if path is None:
        raise NotCompiled
    return kept
