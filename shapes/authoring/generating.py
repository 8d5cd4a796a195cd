"""Shapes generated from the ontology's axioms, to check data.

`contradictions` refuses what no model of the axioms can contain when different names mean different things:
instances of disjoint classes, ends known to be something that a domain or range excludes, values outside of a
datatype, a second value of a functional property or more than a maximum.

`closed` reads OWL under a partly closed world: what it would conclude (a thing with a height must be a
building) is required to be known. It adds enumerations, inverse functional properties, and minimum
cardinalities and fixed values, which only warn, because a text rarely says everything.

Handwritten shapes take precedence: see `Overrides`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from ontology import OntologyProperty, PropertyKind, Schema
from ontology import vocabulary as v
from ontology.graph import Node, properties_apart
from shapes.authoring.demands import Overrides
from shapes.configuration import Generation
from sparql.model.vocabulary import RDF, RDFS, SH, UKG, XSD, Namespace

Spelling = list[tuple[NamedNode, Literal | NamedNode]]

_BOUNDS: dict[str, tuple[int | None, int | None]] = {
    "integer": (None, None),
    "nonNegativeInteger": (0, None),
    "positiveInteger": (1, None),
    "nonPositiveInteger": (None, 0),
    "negativeInteger": (None, -1),
    "long": (-(2**63), 2**63 - 1),
    "int": (-(2**31), 2**31 - 1),
    "short": (-(2**15), 2**15 - 1),
    "byte": (-(2**7), 2**7 - 1),
    "unsignedLong": (0, 2**64 - 1),
    "unsignedInt": (0, 2**32 - 1),
    "unsignedShort": (0, 2**16 - 1),
    "unsignedByte": (0, 2**8 - 1),
}
_FAMILIES = (
    ("string", "normalizedString", "token", "language", "Name", "NCName", "NMTOKEN"),
    ("dateTime", "dateTimeStamp"),
    ("duration", "dayTimeDuration", "yearMonthDuration"),
)
_ALONE = frozenset(
    (
        "boolean",
        "float",
        "double",
        "date",
        "time",
        "gYear",
        "gYearMonth",
        "gMonth",
        "gMonthDay",
        "gDay",
        "hexBinary",
        "base64Binary",
        "anyURI",
    )
)
_WHOLE = r"^\s*[+-]?[0-9]+(\.0*)?\s*$"
_DECIMAL = XSD.term("decimal")
_REAL = frozenset((NamedNode(v.OWL + "real"), NamedNode(v.OWL + "rational")))
_PLAIN = NamedNode(v.RDF + "PlainLiteral")


def spellings(datatype: NamedNode) -> tuple[Sequence[Spelling], Spelling]:
    """The datatypes that values may be written in, each with its conditions; and what holds of all.

    Nothing of a datatype whose values are not known here: see `can_be_any`.
    """
    name = datatype.value.removeprefix(v.XSD)
    if name in _BOUNDS:
        low, high = _BOUNDS[name]
        others = [one for one in _BOUNDS if one != name]
        written: list[Spelling] = [[(SH.datatype, XSD.term(one))] for one in (name, *others)]
        written.append([(SH.datatype, _DECIMAL), (SH.pattern, Literal(_WHOLE))])
        limits = ((SH.minInclusive, low), (SH.maxInclusive, high))
        return written, [(at, _whole(number)) for at, number in limits if number is not None]
    if datatype == _DECIMAL or datatype in _REAL:
        return [[(SH.datatype, one)] for one in (_DECIMAL, *map(XSD.term, _BOUNDS))], []
    for family in _FAMILIES:
        if name in family:
            ordered = (name, *(one for one in family if one != name))
            return [[(SH.datatype, XSD.term(one))] for one in ordered], []
    if datatype == _PLAIN:
        return [[(SH.datatype, one)] for one in (*map(XSD.term, _FAMILIES[0]), v.LANG_STRING)], []
    return [[(SH.datatype, datatype)]], []


def can_be_any(datatype: NamedNode) -> bool:
    """Whether a datatype's values are not known here, so that no literal is surely outside of it."""
    if datatype == v.LANG_STRING or datatype in (_PLAIN, _DECIMAL) or datatype in _REAL:
        return False
    name = datatype.value.removeprefix(v.XSD)
    known = name in _BOUNDS or name in _ALONE or any(name in family for family in _FAMILIES)
    return not (known and datatype.value.startswith(v.XSD))


def _whole(number: int) -> Literal:
    return Literal(str(number), datatype=XSD.integer)


GENERATED = Namespace("https://w3id.org/urbankg/generated#")
_ANYTHING = (v.THING, NamedNode(v.RDFS + "Resource"))
_OTHER_DATATYPES = frozenset(
    (v.LANG_STRING, *(NamedNode(one) for one in (v.RDF + "PlainLiteral", v.OWL + "real", v.OWL + "rational")))
)
_ANY_DATATYPE = frozenset(NamedNode(v.XSD + name) for name in ("anySimpleType", "anyAtomicType"))
_FACETS = {
    XSD.minInclusive: (SH.minInclusive,),
    XSD.maxInclusive: (SH.maxInclusive,),
    XSD.minExclusive: (SH.minExclusive,),
    XSD.maxExclusive: (SH.maxExclusive,),
    XSD.length: (SH.minLength, SH.maxLength),
    XSD.minLength: (SH.minLength,),
    XSD.maxLength: (SH.maxLength,),
    XSD.pattern: (SH.pattern,),
}
_MAXIMA = (v.MAX_CARDINALITY, v.CARDINALITY, v.MAX_QUALIFIED, v.QUALIFIED)
_MINIMA = (v.MIN_CARDINALITY, v.CARDINALITY, v.MIN_QUALIFIED, v.QUALIFIED)
Part = tuple[NamedNode, NamedNode | BlankNode | Literal]
Parts = list[tuple[Part, list[Triple]]]
"""Parameters of a shape, each with the triples of what it refers to."""


def generate_shapes(schema: Schema, overrides: Overrides, mode: Generation) -> list[Triple]:
    """The shapes of a schema, except overridden ones, in stable order."""
    return [] if mode == "off" else list(_Generator(schema, overrides, closed=mode == "closed").triples())


class _Generator:
    def __init__(self, schema: Schema, overrides: Overrides, *, closed: bool) -> None:
        self._schema = schema
        self._closed = closed
        self._overrides = overrides
        self._graph = schema.graph
        self._datatypes = set(self._graph.instances(v.DATATYPE))
        self._properties_apart = properties_apart(schema.graph)
        self._blank = 0

    def triples(self) -> Iterator[Triple]:
        for term in self._schema.properties.values():
            if not term.borrowed and not self._is_switched_off(term.iri):
                yield from self._of_property(term)
        for class_ in self._schema.classes.values():
            if not class_.borrowed and not self._is_switched_off(class_.iri):
                yield from self._of_class(class_.iri, class_.label)

    def _is_switched_off(self, iri: NamedNode) -> bool:
        """Whether the ontology states `ukg:generateShapes false` about a term."""
        return any(value.value in ("false", "0") for value in self._graph.literals(iri, UKG.generateShapes))

    def _of_property(self, term: OntologyProperty) -> Iterator[Triple]:
        iri = term.iri
        if term.kind is PropertyKind.ANNOTATION:
            return
        domains = self._named(term.domains)
        what = [] if self._overrides.domain(iri) else self._any_class(domains)
        if what:
            said = f'By the ontology what has "{term.label}" is {self._words(domains)}; {self._lacking()}.'
            parts: list[Part] = [(SH.targetSubjectsOf, iri)]
            yield from self._shape(iri, "domain", SH.NodeShape, parts, said, what)
        if term.ranges and not self._overrides.values(iri):
            words = self._words(sorted(term.ranges, key=lambda one: one.value))
            said = f'By the ontology the value of "{term.label}" is {words}; {self._lacking()}.'
            yield from self._on_path(iri, "range", said, self._range(term.ranges))
        if term.functional and not self._overrides.counts(iri):
            said = f'By the ontology there is one "{term.label}" only; more are stated.'
            yield from self._on_path(iri, "functional", said, [((SH.maxCount, _number(1)), [])])
        inverse = v.INVERSE_FUNCTIONAL in self._graph.objects(iri, v.TYPE)
        if inverse and self._closed and not self._overrides.counts(iri):
            node = self._new()
            path = Triple(node, SH.inversePath, iri)
            said = f'By the ontology "{term.label}" belongs to one thing only; several are stated.'
            parts = [(SH.targetObjectsOf, iri), (SH.path, node), (SH.maxCount, _number(1))]
            yield from self._shape(iri, "inverse-functional", SH.PropertyShape, parts, said, [])
            yield path
        yield from self._of_relation(term)

    def _of_relation(self, term: OntologyProperty) -> Iterator[Triple]:
        """What a property excludes about the ends of its statements, or together with other properties."""
        iri, label = term.iri, term.label
        kinds = self._graph.objects(iri, v.TYPE)
        subjects: Part = (SH.targetSubjectsOf, iri)
        if v.IRREFLEXIVE in kinds and not self._overrides.reflexive(iri):
            # The value node of a node shape is the focus node itself.
            said = f'By the ontology nothing has "{label}" to itself.'
            parts: list[Part] = [subjects, (SH.disjoint, iri)]
            yield from self._shape(iri, "irreflexive", SH.NodeShape, parts, said, [])
        if v.ASYMMETRIC in kinds and not self._overrides.disjoint_values(iri, iri):
            node = self._new()
            said = f'By the ontology "{label}" holds one way only; both ways are stated.'
            parts = [subjects, (SH.path, node), (SH.disjoint, iri)]
            yield from self._shape(iri, "asymmetric", SH.PropertyShape, parts, said, [])
            yield Triple(node, SH.inversePath, iri)
        for other in self._properties_apart.get(iri, ()):
            if not self._overrides.disjoint_values(iri, other):
                known = self._schema.properties.get(other)
                name = known.label if known is not None else other.value
                said = f'By the ontology nothing is a value of both "{label}" and "{name}".'
                parts = [subjects, (SH.path, iri), (SH.disjoint, other)]
                yield from self._shape(iri, "disjoint", SH.PropertyShape, parts, said, [], of=other)

    def _of_class(self, iri: NamedNode, label: str) -> Iterator[Triple]:
        apart = [
            other
            for other in self._schema.disjoint_with(iri)
            if iri.value < other.value and not self._overrides.disjoint(iri, other)
        ]
        if apart:
            said = f"By the ontology {_article(label)} cannot also be {self._words(apart)}."
            inner = self._new()
            parts: list[Part] = [(SH.targetClass, iri), (_NOT, inner)]
            yield from self._shape(iri, "disjoint", SH.NodeShape, parts, said, [])
            for part, more in self._either([[((_CLASS, other), [])] for other in apart]):
                yield from (Triple(inner, *part), *more)
        for expression in self._graph.objects(iri, v.EQUIVALENT_CLASS):
            members = [
                m for head in self._graph.objects(expression, v.ONE_OF) for m in self._graph.members(head)
            ]
            if members and self._closed and not self._overrides.enumeration(iri):
                head, cells = self._list(members)
                said = f"By the ontology this is none of those that are {_article(label)}."
                target: list[Part] = [(SH.targetClass, iri), (_IN, head)]
                yield from self._shape(iri, "enumeration", SH.NodeShape, target, said, [])
                yield from cells
        for above in (
            *self._graph.objects(iri, v.SUBCLASS_OF),
            *self._graph.objects(iri, v.EQUIVALENT_CLASS),
        ):
            for restriction in self._restrictions(above):
                yield from self._of_restriction(iri, label, restriction)

    def _restrictions(self, expression: Node) -> Iterator[Node]:
        """The restrictions of an expression: itself, or those in its intersections."""
        if self._graph.objects(expression, v.ON_PROPERTY):
            yield expression
        for head in self._graph.objects(expression, v.INTERSECTION_OF):
            for member in self._graph.members(head):
                yield from self._restrictions(member)

    def _of_restriction(self, class_: NamedNode, label: str, restriction: Node) -> Iterator[Triple]:
        for on in self._graph.objects(restriction, v.ON_PROPERTY):
            if not isinstance(on, NamedNode) or self._overrides.restriction(class_, on):
                continue
            known = self._schema.properties.get(on)
            name = known.label if known is not None else on.value
            start = f'By the ontology {_article(label)} has "{name}"'
            for kind, predicates, parameter, words in (
                ("max", _MAXIMA, SH.maxCount, "at most"),
                ("min", _MINIMA, SH.minCount, "at least"),
            ):
                numbers = [int(n.value) for n in self._graph.literals(restriction, *predicates)]
                qualified = self._graph.objects(restriction, v.ON_CLASS, v.ON_DATA_RANGE)
                if not numbers or (qualified and not set(qualified) <= {*_ANYTHING, v.LITERAL}):
                    continue
                count = min(numbers) if kind == "max" else max(numbers)
                if kind == "min" and (count == 0 or not self._closed):
                    continue
                yield from self._restricted(
                    class_, on, kind, f"{start} {words} {count} times.", [((parameter, _number(count)), [])]
                )
            for value in self._graph.objects(restriction, v.ALL_VALUES_FROM):
                kinds = self._graph.alternatives(value)
                what = self._range(kinds or ())
                if what:
                    words = self._words(sorted(kinds, key=lambda one: one.value))
                    said = f"{start} only with values that are {words}; {self._lacking()}."
                    yield from self._restricted(class_, on, "only", said, what)
            for value in self._graph.objects(restriction, v.HAS_VALUE):
                if self._closed and isinstance(value, NamedNode | Literal):
                    yield from self._restricted(
                        class_, on, "value", f"{start} with the value {value}.", [((SH.hasValue, value), [])]
                    )

    def _restricted(
        self, class_: NamedNode, on: NamedNode, kind: str, said: str, what: Parts
    ) -> Iterator[Triple]:
        parts: list[Part] = [(SH.targetClass, class_), (SH.path, on)]
        warns = kind in ("min", "value")
        name = f"{_local(on)}-{kind}"
        yield from self._shape(class_, name, SH.PropertyShape, parts, said, what, warns=warns, of=on)

    def _on_path(self, iri: NamedNode, kind: str, said: str, what: Parts) -> Iterator[Triple]:
        if what:
            parts: list[Part] = [(SH.targetSubjectsOf, iri), (SH.path, iri)]
            yield from self._shape(iri, kind, SH.PropertyShape, parts, said, what)

    def _shape(
        self,
        iri: NamedNode,
        kind: str,
        type_: NamedNode,
        parts: Sequence[Part],
        said: str,
        what: Parts,
        *,
        warns: bool = False,
        of: NamedNode | None = None,
    ) -> Iterator[Triple]:
        digest = hashlib.sha256((iri.value + (of.value if of else "")).encode()).hexdigest()[:6]
        shape = GENERATED.term(f"{_local(iri)}-{kind}-{digest}")
        yield Triple(shape, RDF.type, type_)
        for part in (*parts, *(part for part, _ in what)):
            yield Triple(shape, *part)
        yield Triple(shape, SH.severity, SH.Warning if warns else SH.Violation)
        yield Triple(shape, SH.message, Literal(said, language="en"))
        yield Triple(shape, RDFS.isDefinedBy, iri)
        for _, more in what:
            yield from more

    def _range(self, ranges: Iterable[NamedNode]) -> Parts:
        """Shape parameters that require values of these classes and datatypes."""
        kinds = sorted(ranges, key=lambda one: one.value)
        if any(kind in _ANYTHING for kind in kinds):
            return []
        alternatives = [self._kind(kind) for kind in kinds]
        return self._either(alternatives)

    def _kind(self, kind: NamedNode) -> Parts:
        if kind == v.LITERAL:
            return [_LITERAL]
        for expression in self._graph.objects(kind, v.EQUIVALENT_CLASS) if kind in self._datatypes else ():
            for head in self._graph.objects(expression, v.ONE_OF):
                start, cells = self._list(self._graph.members(head))
                return [((_IN, start), cells)]
            bases = [n for n in self._graph.objects(expression, v.ON_DATATYPE) if isinstance(n, NamedNode)]
            if bases:
                found = self._literals(bases[0])
                for head in self._graph.objects(expression, v.WITH_RESTRICTIONS):
                    for facet in self._graph.members(head):
                        for source, targets in _FACETS.items():
                            values = self._graph.literals(facet, source)[:1]
                            found += [((target, value), []) for value in values for target in targets]
                return found
        if kind.value.startswith(v.XSD) or kind in self._datatypes or kind in _OTHER_DATATYPES:
            return self._literals(kind)
        return self._instances(kind, [_THING])

    def _literals(self, datatype: NamedNode) -> Parts:
        """Parameters for the literals of a datatype, in whichever datatype they are written."""
        if can_be_any(datatype):
            stated = self._closed and datatype not in _ANY_DATATYPE
            return [((SH.datatype, datatype), [])] if stated else [_LITERAL]
        written, limits = spellings(datatype)
        alternatives: list[Parts] = [[(part, []) for part in parts] for parts in written]
        return [*self._either(alternatives), *((part, []) for part in limits)]

    def _instances(self, class_: NamedNode, otherwise: Parts) -> Parts:
        """Parameters for instances of a class: known to be, or, not closed, not known to be anything else."""
        if self._closed:
            return [((_CLASS, class_), [])]
        if not self._schema.disjointness_stated:
            return otherwise
        apart = {
            other
            for above in self._schema.superclasses(class_)
            for other in self._schema.disjoint_with(above)
        }
        if not apart:
            return otherwise
        inner = self._new()
        ordered = sorted(apart, key=lambda one: one.value)
        unwanted = self._either([[((_CLASS, other), [])] for other in ordered])
        triples = [triple for part, more in unwanted for triple in (Triple(inner, *part), *more)]
        return [((_NOT, inner), triples), *otherwise]

    def _any_class(self, classes: Sequence[NamedNode]) -> Parts:
        """Parameters for instances of any of the classes; none where no thing is surely another."""
        return self._either([self._instances(class_, []) for class_ in classes])

    def _lacking(self) -> str:
        return "this is not known to be one" if self._closed else "this cannot be one"

    def _either(self, alternatives: list[Parts]) -> Parts:
        """One alternative as it is, several as sh:or; nothing where one of them excludes nothing."""
        if not alternatives or not all(alternatives):
            return []
        if len(alternatives) == 1:
            return alternatives[0]
        nodes: list[Node] = []
        triples: list[Triple] = []
        for parts in alternatives:
            node = self._new()
            nodes.append(node)
            for part, more in parts:
                triples += [Triple(node, *part), *more]
        head, cells = self._list(nodes)
        return [((_OR, head), [*cells, *triples])]

    def _list(self, members: Sequence[Node]) -> tuple[NamedNode | BlankNode, list[Triple]]:
        cells = [self._new() for _ in members]
        triples = []
        for place, (cell, member) in enumerate(zip(cells, members, strict=True)):
            rest = cells[place + 1] if place + 1 < len(cells) else v.NIL
            triples += [Triple(cell, RDF.first, member), Triple(cell, RDF.rest, rest)]
        return (cells[0] if cells else v.NIL), triples

    def _new(self) -> BlankNode:
        self._blank += 1
        return BlankNode(f"generated{self._blank}")

    def _named(self, classes: Iterable[NamedNode]) -> list[NamedNode]:
        found = sorted(classes, key=lambda one: one.value)
        return [] if any(one in _ANYTHING for one in found) else found

    def _words(self, classes: Iterable[NamedNode]) -> str:
        known = self._schema.classes
        return " or ".join(_article(known[one].label if one in known else _local(one)) for one in classes)


_LITERAL: tuple[Part, list[Triple]] = ((SH.nodeKind, SH.Literal), [])
_THING: tuple[Part, list[Triple]] = ((SH.nodeKind, SH.BlankNodeOrIRI), [])
_CLASS, _OR, _NOT, _IN = (SH.term(name) for name in ("class", "or", "not", "in"))


def _number(value: int) -> Literal:
    return Literal(str(value), datatype=XSD.integer)


def _article(label: str) -> str:
    return f"an {label}" if label[:1].lower() in "aeiou" else f"a {label}"


def _local(iri: NamedNode) -> str:
    name = iri.value.replace("#", "/").rstrip("/").rpartition("/")[2]
    return "".join(character if character.isalnum() else "_" for character in name) or "term"
