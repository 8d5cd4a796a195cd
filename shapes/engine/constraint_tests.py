"""The SHACL core constraints on values (SHACL, 4.1 to 4.5 and 4.8) as tests that confirm conformance.

A constraint is one function with `@constraint`, from the shape to its test. Constraints that refer to other
shapes or to a query are in `shapes.engine.compiled_engine`. Those that hardly any published shapes use
(sh:languageIn, sh:equals, sh:closed, sh:flags) are left to the reference engine.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import TypeVar

import rdflib
import regex
from pyoxigraph import BlankNode, Literal, NamedNode
from rdflib.collection import Collection
from rdflib.namespace import SH

from geo.remembered import remembered
from shapes.engine.functions import RegularExpression
from shapes.engine.reading import Reading, Unsure, ValuesTest, ValueTest
from shapes.graph import to_oxigraph, to_rdflib
from shapes.paths import Path
from sparql.model.literals import in_lexical_space
from sparql.model.source import Term
from sparql.model.vocabulary import RDF, RDFS, XSD

_ANY_LITERAL = frozenset((RDFS.Literal.value, RDFS.Datatype.value))
_STRING, _LANG_STRING = XSD.string.value, RDF.langString.value
_VALUE_TYPES: dict[str, type | tuple[type, ...]] = {
    XSD.integer.value: int,
    XSD.float.value: float,
    XSD.decimal.value: Decimal,
    XSD.boolean.value: bool,
    XSD.date.value: date,
    XSD.time.value: time,
    XSD.dateTime.value: datetime,
}
_DATE = "[1-9][0-9]{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])"
_PLAIN_FORMS = {
    XSD.integer.value: re.compile(r"[+-]?[0-9]{1,18}").fullmatch,
    XSD.nonNegativeInteger.value: re.compile(r"[0-9]{1,18}").fullmatch,
    XSD.decimal.value: re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?").fullmatch,
    XSD.gYear.value: re.compile(r"[1-9][0-9]{3}").fullmatch,
    XSD.date.value: re.compile(_DATE).fullmatch,
    XSD.dateTime.value: re.compile(_DATE + "T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z?").fullmatch,
}


def has_datatype(value: Term, datatypes: frozenset[str]) -> bool:
    """Whether a value conforms to `sh:datatype` (SHACL, 4.1.2) with one of these."""
    if not isinstance(value, Literal):
        return False
    own = value.datatype.value
    return (own in datatypes and _is_of_its_datatype(value, own)) or not datatypes.isdisjoint(
        _ANY_LITERAL - {own}
    )


def _is_of_its_datatype(value: Literal, own: str) -> bool:
    if own in (_STRING, _LANG_STRING):
        return True
    plain = _PLAIN_FORMS.get(own)
    if plain is not None and plain(value.value) is not None:
        return True
    return not _is_recognized(own) or _is_well_typed(value)


@lru_cache(maxsize=256)
def _is_recognized(datatype: str) -> bool:
    """Whether the reference engine recognizes a datatype (RDF 1.1, 5.4), which those of geometries it does
    not; of an unrecognized datatype every text is well-typed."""
    return rdflib.URIRef(datatype) in rdflib.term.XSDToPython


@remembered((200, 4096))
def _is_well_typed(literal: Literal) -> bool:
    node = to_rdflib(literal)
    kind = _VALUE_TYPES.get(literal.datatype.value)
    ill_typed = getattr(node, "ill_typed", None) is True
    return not ill_typed and (kind is None or isinstance(getattr(node, "value", None), kind))


_INTEGERS = frozenset(
    XSD.term(name).value
    for name in (
        *("integer", "decimal", "long", "int", "short", "byte", "nonNegativeInteger", "positiveInteger"),
        *("unsignedLong", "unsignedInt", "unsignedShort", "unsignedByte"),
    )
)
_is_number = re.compile(r"[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?").fullmatch
_DAY = "[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}"
# In these forms, texts sort in the order of their values.
_ORDERED = {
    XSD.date.value: re.compile(r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}").fullmatch,
    XSD.dateTime.value: re.compile(
        r"[1-9][0-9]{3}-[0-9]{2}-[0-9]{2}T[0-2][0-9]:[0-9]{2}:[0-9]{2}Z"
    ).fullmatch,
    XSD.gYear.value: re.compile(r"[1-9][0-9]{3}").fullmatch,
}


def order(first: Term, second: Term) -> int:
    """-1, 0 or 1 for the order of two literals. Raises `Unsure` except for plain numbers and dates."""
    if isinstance(first, Literal) and isinstance(second, Literal):
        one, other = first.datatype.value, second.datatype.value
        if one in _INTEGERS and other in _INTEGERS:
            if _is_number(first.value) and _is_number(second.value):
                return _sign(Decimal(first.value), Decimal(second.value))
        elif one == other and one in _ORDERED:
            is_plain = _ORDERED[one]
            name = one.removeprefix(XSD.iri)
            if all(is_plain(text) and in_lexical_space(name, text) for text in (first.value, second.value)):
                return _sign(first.value, second.value)
    raise Unsure


def _sign(first: Decimal | str, second: Decimal | str) -> int:
    return (first > second) - (first < second)  # type: ignore[operator]


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
    if (node, SH.flags, None) in graph:
        raise NotCompiled
    try:
        search = RegularExpression(str(value)).search
    except regex.error as error:
        raise NotCompiled from error
    return _each(lambda v: _has_text(v) and search(v.value) is not None)  # type: ignore[union-attr]


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


def _range(holds: Callable[[int], bool]) -> Build:
    def build(graph: rdflib.Graph, node: object, value: rdflib.term.Node, path: Path | None) -> ValuesTest:
        bound = to_oxigraph(value)
        return _each(lambda v: isinstance(v, Literal) and holds(order(v, bound)))

    return build


constraint(SH.minInclusive)(_range(lambda sign: sign >= 0))
constraint(SH.minExclusive)(_range(lambda sign: sign > 0))
constraint(SH.maxInclusive)(_range(lambda sign: sign <= 0))
constraint(SH.maxExclusive)(_range(lambda sign: sign < 0))


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
