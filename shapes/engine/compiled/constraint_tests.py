"""The SHACL core constraints on values (SHACL, 4.1 to 4.5 and 4.8) as tests that confirm conformance.

A constraint is one function with `@constraint`, from the shape to its test. Constraints that refer to other
shapes or to a query are in `shapes.engine.compiled.compiled_engine`.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import rdflib
import regex
from pyoxigraph import BlankNode, Literal, NamedNode
from rdflib.collection import Collection
from rdflib.namespace import SH

from shapes.engine.compiled.literal_tests import Unsure, has_datatype, order
from shapes.engine.compiled.node_table import ValuesTest, ValueTest
from shapes.engine.compiled.source_reading import Reading
from shapes.engine.regular_expressions import RegularExpression
from shapes.paths import Path
from shapes.terms import to_oxigraph
from sparql.model.source import Term
from sparql.model.vocabulary import RDF, RDFS

Kept = TypeVar("Kept")

Build = Callable[[rdflib.Graph, rdflib.term.Node, rdflib.term.Node, Path | None], ValuesTest]
"""Makes the test of a constraint from the shapes graph, the shape, the parameter's value and the path."""


class NotCompiled(Exception):
    """Part of a shape is not supported here: the reference engine runs it. It never leaves this package."""


BUILDERS: dict[rdflib.URIRef, Build] = {}
"""The builder of each constraint on values, by its parameter."""
SINGLE: set[rdflib.URIRef] = {SH.qualifiedValueShape, SH.qualifiedMinCount, SH.qualifiedMaxCount}
"""Parameters of which a shape may have one value."""


def constraint(parameter: rdflib.URIRef, *, single: bool = False) -> Callable[[Build], Build]:
    """Register the builder of a constraint; with `single`, a shape may have one value of its parameter."""

    def register(build: Build) -> Build:
        BUILDERS[parameter] = build
        if single:
            SINGLE.add(parameter)
        return build

    return register


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


def _each(holds: Callable[[Term], bool]) -> ValueTest:
    return ValueTest(lambda reading, value: holds(value))


def of_any_class(classes: frozenset[Term]) -> ValueTest:
    """Whether a value is a SHACL instance of at least one of these classes."""
    return ValueTest(
        lambda reading, v: not isinstance(v, Literal) and not classes.isdisjoint(reading.classes(v)),
        by_types=True,
    )


def of_any_datatype(datatypes: frozenset[Term]) -> ValueTest:
    """Whether a value is a well-formed literal of at least one of these datatypes."""
    names = frozenset(one.value for one in datatypes if isinstance(one, NamedNode))
    return _each(lambda v: has_datatype(v, names))


@constraint(SH["class"])
def _class(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    return of_any_class(frozenset((to_oxigraph(value),)))


@constraint(SH.datatype, single=True)
def _datatype(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    return of_any_datatype(frozenset((to_oxigraph(value),)))


@constraint(SH.nodeKind, single=True)
def _node_kind(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    kinds = _KINDS.get(value)
    if kinds is None:
        raise NotCompiled
    return _each(lambda v: isinstance(v, kinds))


@constraint(SH.minCount, single=True)
def _min_count(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    count = _on_property(_count(value), path)
    return lambda reading, focus, values: len(values) >= count


@constraint(SH.maxCount, single=True)
def _max_count(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    count = _on_property(_count(value), path)
    return lambda reading, focus, values: len(values) <= count


@constraint(SH.minLength, single=True)
def _min_length(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    least = _count(value)
    return _each(lambda v: least == 0 or (_has_text(v) and len(v.value) >= least))  # type: ignore[union-attr]


@constraint(SH.maxLength, single=True)
def _max_length(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    most = _count(value)
    return _each(lambda v: _has_text(v) and len(v.value) <= most)  # type: ignore[union-attr]


@constraint(SH.pattern)
def _pattern(
    graph: rdflib.Graph, node: rdflib.term.Node, value: rdflib.term.Node, path: Path | None
) -> ValuesTest:
    given = sorted({str(flag).lower() for flag in graph.objects(node, SH.flags)})
    if len(given) > 1:
        raise NotCompiled
    flags = "".join(letter for letter in "im" if given and letter in given[0])
    try:
        compiled = RegularExpression(str(value), flags)
    except regex.error as error:
        raise NotCompiled from error
    # Equivalent, but a search would try an anchored pattern at every character of a long text.
    search = compiled.match if is_anchored(str(value), flags) else compiled.search
    return _each(lambda v: _has_text(v) and search(v.value) is not None)  # type: ignore[union-attr]


def is_anchored(pattern: str, flags: str = "") -> bool:
    """Whether a pattern matches at the beginning of a text or nowhere, where that is easy to decide."""
    if not pattern.startswith("^") or "m" in flags or "(?" in pattern.replace("(?:", ""):
        return False
    # Alternatives inside brackets share the anchor; one outside would have none.
    bare = _CHARACTER_CLASS.sub("", _ESCAPE.sub("x", pattern))
    while (less := _GROUP.sub("", bare)) != bare:
        bare = less
    return set(bare).isdisjoint("|()[]")


@constraint(SH.languageIn, single=True)
def _language_in(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    languages = {str(language).lower() for language in Collection(graph, value)}

    def holds(v: Term) -> bool:
        tag = v.language if isinstance(v, Literal) else None
        if not tag:
            return False
        low = tag.lower()
        return "*" in languages or low in languages or low.partition("-")[0] in languages

    return _each(holds)


@constraint(SH.uniqueLang, single=True)
def _unique_lang(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    _on_property(0, path)
    if not _is_true(value):
        return _each(lambda v: True)

    def test(reading: Reading, focus: Term, values: Sequence[Term]) -> bool:
        tags = [v.language.lower() for v in values if isinstance(v, Literal) and v.language]
        return len(tags) == len(set(tags))

    return test


@constraint(SH.hasValue)
def _has_value(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    wanted = to_oxigraph(value)
    return lambda reading, focus, values: wanted in values


@constraint(SH["in"], single=True)
def _in(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    allowed = frozenset(to_oxigraph(member) for member in Collection(graph, value))
    return _each(lambda v: v in allowed)


@constraint(SH.closed, single=True)
def _closed(
    graph: rdflib.Graph, node: rdflib.term.Node, value: rdflib.term.Node, path: Path | None
) -> ValuesTest:
    if not _is_true(value):
        return _each(lambda v: True)
    lists = list(graph.objects(node, SH.ignoredProperties))
    allowed = {str(member) for members in lists for member in Collection(graph, members)}
    for inner in graph.objects(node, SH.property):
        allowed |= {str(p) for p in graph.objects(inner, SH.path) if isinstance(p, rdflib.URIRef)}

    return ValueTest(
        lambda reading, v: all(
            predicate.value in allowed or (predicate == RDF.type and object_ == RDFS.Resource)
            for predicate, object_ in reading.outgoing(v)
        )
    )


def _range(holds: Callable[[int], bool]) -> Build:
    def build(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
        bound = to_oxigraph(value)
        return _each(lambda v: isinstance(v, Literal) and holds(order(v, bound)))

    return build


constraint(SH.minInclusive)(_range(lambda sign: sign >= 0))
constraint(SH.minExclusive)(_range(lambda sign: sign > 0))
constraint(SH.maxInclusive)(_range(lambda sign: sign <= 0))
constraint(SH.maxExclusive)(_range(lambda sign: sign < 0))


@constraint(SH.equals)
def _equals(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    other = NamedNode(str(value))
    return lambda reading, focus, values: set(values) == set(reading.objects(focus, other))


@constraint(SH.disjoint)
def _disjoint(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    other = NamedNode(str(value))
    return lambda reading, focus, values: set(values).isdisjoint(reading.objects(focus, other))


def _less(holds: Callable[[int], bool]) -> Build:
    def build(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
        other = _on_property(NamedNode(str(value)), path)

        def test(reading: Reading, focus: Term, values: Sequence[Term]) -> bool:
            if any(isinstance(v, BlankNode) for v in values):
                # The reference engine fails on a blank node, whatever it is compared with.
                raise Unsure
            bounds = reading.objects(focus, other)
            return all(holds(order(v, bound)) for v in values for bound in bounds)

        return test

    return build


constraint(SH.lessThan)(_less(lambda sign: sign < 0))
constraint(SH.lessThanOrEquals)(_less(lambda sign: sign <= 0))


@constraint(SH.ignoredProperties)
def _nothing(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
    """For a parameter that only qualifies another."""
    return _each(lambda v: True)


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
