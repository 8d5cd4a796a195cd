"""What the parameters `inference` and `derived` mean: triple patterns replaced one by one, wherever they are.

The rules of RDFS are those about the data: subclasses and subproperties, transitive, with
domains and ranges (RDF 1.1 Semantics, 9.2: rdfs2, 3, 5, 7, 9, 11). With `owl` come inverse, symmetric and
transitive properties and equivalent classes and properties (OWL 2 Profiles, 4.3: prp-inv1, prp-inv2,
prp-symp, prp-trp, scm-eqc1, scm-eqp1). A property then becomes a property path: what is below it, some
of it the other way round, and transitive parts with a plus. The axioms are those of the default graph, the
ontology's and any others; they are asked for by probes, so they are of the revision that the query reads.

`derived=false`: a statement of a kept relation is hidden where the graph of derived statements has it and no
graph of another origin does. Only the properties that are derived need a look, and variables in their place.
Where inferences are kept in the graph too, any statement may be one: it is where the graph of inferences has
it, which holds only what nothing else supports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Iterator
from dataclasses import dataclass, field, replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.model.errors import MalformedRequest
from sparql.model.options import Inference
from sparql.model.vocabulary import ASSERTED, DERIVED, EXTRACTED, INFERRED, ONTOLOGY, OWL, RDF, RDFS
from sparql.rewriting.steps import Probe, Report, Steps
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.request_facts import QueryForm
from sparql.syntax.writing import Elements, Place, path_text, replace_elements, triple_text

ReplacePattern = Callable[[n.TriplePattern, Place], Elements | None]
"""The elements in place of a triple pattern; None keeps it."""


def replace_patterns(query: n.Query, replaced: ReplacePattern) -> n.Query:
    """The query with triple patterns replaced. Raises MalformedRequest where one cannot be."""

    def elements(element: n.Element, place: Place) -> Elements | None:
        if isinstance(element, n.Statement):
            return _in_place_of(element, place, replaced)
        return (element,) if isinstance(element, n.Nested) and element.keyword == "SERVICE" else None

    return replace_elements(query, elements)


def with_template(query: n.Query) -> n.Query:
    """A `CONSTRUCT WHERE { … }` with its template written out, so that only its pattern changes."""
    return replace(query, template=query.where) if query.short else query


def binds(place: Place, variable: str, besides: n.TriplePattern) -> bool:
    """Whether another pattern, VALUES or BIND of the group gives a variable its value."""
    for element in place.group.elements:
        if isinstance(element, n.Statement):
            others = (triple for triple in element.triples if triple is not besides)
            if any(variable in triple.variables for triple in others):
                return True
        elif isinstance(element, n.Values | n.Bind):
            named = element.variables if isinstance(element, n.Values) else (element.variable,)
            if variable in named:
                return True
    return False


def _in_place_of(statement: n.Statement, place: Place, replaced: ReplacePattern) -> Elements | None:
    kept: list[n.TriplePattern] = []
    added: list[n.Element] = []
    for triple in statement.triples:
        elements = replaced(triple, place)
        if elements is None:
            kept.append(triple)
        else:
            added += elements
    if len(kept) == len(statement.triples):
        return None
    blank = {term for triple in statement.triples for term in _blank_nodes(triple)}
    shared = {
        term
        for other in place.group.elements
        if isinstance(other, n.Statement) and other is not statement
        for triple in other.triples
        for term in _blank_nodes(triple)
    }
    if blank & shared:
        raise MalformedRequest(
            "A labeled blank node joins this pattern to others, and rewriting would separate them. "
            "Write a variable instead of the blank node."
        )
    return (*([b.statement(*kept)] if kept else []), *added)


def _blank_nodes(triple: n.TriplePattern) -> Iterator[BlankNode]:
    for term in (triple.subject, triple.object):
        if isinstance(term, BlankNode):
            yield term


def ends_of(triple: n.TriplePattern, what: str) -> tuple[n.Term, n.Term]:
    """Subject and object, none a blank node. Raises MalformedRequest."""
    for term in (triple.subject, triple.object):
        if isinstance(term, BlankNode):
            raise MalformedRequest(f"{what} is not rewritten beside a blank node; write a variable instead.")
    return triple.subject, triple.object


def distinct(ends: tuple[n.Term, ...], *body: n.Element) -> n.Element:
    """An element whose solutions are the different values of the variables among `ends` in `body`."""
    names = dict.fromkeys(term.value for term in ends if isinstance(term, Variable))
    if not names:
        return b.filtered(b.exists(*body))
    return b.in_braces(b.select(names, b.group(*body), distinct=True))


def with_links(path: n.Path, replace: Callable[[n.Link], n.Path]) -> n.Path:
    """A path with its steps replaced, those of `!` apart, which must stay single."""
    if isinstance(path, n.Link):
        return replace(path)
    if path.operator == "!":
        return path
    return n.PathOperator(path.operator, tuple(with_links(part, replace) for part in path.parts))


_MOST_AXIOMS = 200_000
_MOST_PROPERTIES = 300
"""A pattern of any predicate asks once for each property that follows from others; at most for so many."""
_ORDERS = (RDFS.subClassOf, RDFS.subPropertyOf)
_RDFS = (*_ORDERS, RDFS.domain, RDFS.range)
_OWL = (OWL.equivalentClass, OWL.equivalentProperty, OWL.inverseOf)
_CHARACTERISTICS = (OWL.SymmetricProperty, OWL.TransitiveProperty)
Member = tuple[NamedNode, bool]
"""A property whose statements are also those of another, and whether in the same direction."""


@dataclass
class Axioms:
    """The axioms: which classes and properties lie under each, and which properties imply a class."""

    subclasses: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    subproperties: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    domains: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    ranges: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    inverses: dict[NamedNode, set[NamedNode]] = field(default_factory=dict)
    symmetric: set[NamedNode] = field(default_factory=set)
    transitive: set[NamedNode] = field(default_factory=set)

    def add(self, subject: NamedNode, predicate: NamedNode, value: NamedNode) -> None:
        """Take in an axiom."""
        if predicate in _RDFS:
            tables = (self.subclasses, self.subproperties, self.domains, self.ranges)
            tables[_RDFS.index(predicate)].setdefault(value, set()).add(subject)
        elif predicate in _OWL:
            table = (self.subclasses, self.subproperties, self.inverses)[_OWL.index(predicate)]
            table.setdefault(value, set()).add(subject)
            table.setdefault(subject, set()).add(value)
        else:
            (self.symmetric if value == _CHARACTERISTICS[0] else self.transitive).add(subject)

    def classes_under(self, class_: NamedNode) -> set[NamedNode]:
        """A class and all its subclasses."""
        found, waiting = {class_}, [class_]
        while waiting:
            for one in self.subclasses.get(waiting.pop(), ()):
                if one not in found:
                    found.add(one)
                    waiting.append(one)
        return found

    def members(self, property_: NamedNode) -> set[Member]:
        """A property and all others of which single statements are also statements of it."""
        found, waiting = {(property_, True)}, [(property_, True)]
        while waiting:
            one, forward = waiting.pop()
            more = {(below, forward) for below in self.subproperties.get(one, ())}
            more |= {(inverse, not forward) for inverse in self.inverses.get(one, ())}
            if one in self.symmetric:
                more.add((one, not forward))
            waiting += more - found
            found |= more
        return found

    def path(self, property_: NamedNode) -> n.Path | None:
        """The path in place of a property; None where only its own statements are its."""
        members = self.members(property_)
        if property_ in self.transitive:
            return n.PathOperator("+", (_alternatives(members),))
        if len(members) == 1:
            return None
        parts = [_alternatives(members)]
        for one, forward in sorted(members, key=str):
            if one in self.transitive:
                chain = n.PathOperator("+", (_alternatives(self.members(one)),))
                parts.append(chain if forward else n.PathOperator("^", (chain,)))
        return b.any_of(parts)

    def implying(self, class_: NamedNode) -> tuple[set[NamedNode], set[NamedNode]]:
        """The properties whose subjects, and those whose objects, are of a class."""
        subjects: set[NamedNode] = set()
        objects: set[NamedNode] = set()
        for under in self.classes_under(class_):
            for one, forward in self._ends(under):
                (subjects if forward else objects).add(one)
        return subjects, objects

    def ends(self) -> Iterator[tuple[Member, NamedNode]]:
        """Each property with a class that its subjects (or, the other way round, its objects) are of."""
        for class_ in {*self.domains, *self.ranges}:
            for member in self._ends(class_):
                yield member, class_

    def _ends(self, class_: NamedNode) -> Iterator[Member]:
        for one in self.domains.get(class_, ()):
            yield from self.members(one)
        for one in self.ranges.get(class_, ()):
            yield from ((member, not forward) for member, forward in self.members(one))

    @property
    def composed(self) -> list[NamedNode]:
        """The properties that more than their own statements are of."""
        named = {*self.subproperties, *self.inverses, *self.symmetric, *self.transitive}
        return sorted((one for one in named if self.path(one) is not None), key=str)


def infer(query: n.Query, report: Report, regime: Inference) -> Steps[n.Query]:
    """The query over what follows. Raises MalformedRequest for what cannot be asked so."""
    name = f"inference={regime}"
    if query.form is QueryForm.DESCRIBE:
        raise MalformedRequest(f"DESCRIBE returns what is stated; with {name} use CONSTRUCT instead.")
    owl = regime is Inference.OWL
    axioms = Axioms()
    predicates = " ".join(map(str, (*_RDFS, *_OWL) if owl else _RDFS))
    asked = f"{{ VALUES ?p {{ {predicates} }} ?s ?p ?o }}"
    if owl:
        kinds = " ".join(map(str, _CHARACTERISTICS))
        asked += f" UNION {{ VALUES ?o {{ {kinds} }} ?s ?p ?o FILTER(?p = {RDF.type}) }}"
    rows = yield Probe(
        f"SELECT ?s ?p ?o WHERE {{ {asked} FILTER(isIRI(?s) && isIRI(?o)) }} LIMIT {_MOST_AXIOMS + 1}"
    )
    if len(rows) > _MOST_AXIOMS:
        raise MalformedRequest(f"The graph has more than {_MOST_AXIOMS} axioms; {name} takes fewer.")
    for row in rows:
        terms = (row["s"], row["p"], row["o"])
        if all(isinstance(term, NamedNode) for term in terms):
            axioms.add(*terms)  # type: ignore[arg-type]
    return replace_patterns(query, _Entailment(axioms, n.names_in(query), report, name, owl=owl).replace)


class _Entailment:
    def __init__(
        self, axioms: Axioms, names: Container[str], report: Report, name: str, *, owl: bool
    ) -> None:
        self._axioms = axioms
        self._names = names
        self._report = report
        self._name = name
        self._owl = owl
        self._count = 0

    def replace(self, triple: n.TriplePattern, place: Place) -> Elements | None:
        """The elements in place of one triple pattern; None where nothing follows."""
        if place.in_graph:
            return None
        verb = triple.verb
        if isinstance(verb, Variable):
            return self._entailed(triple, self._any_predicate(triple, verb))
        if isinstance(verb, n.Link):
            branches = self._predicate(triple, verb.iri)
            return None if branches is None else self._entailed(triple, branches)
        changed = with_links(verb, self._step)
        if changed == verb:
            return None
        left, right = ends_of(triple, self._name)
        return self._entailed(triple, [(b.triple(left, changed, right),)])

    def _entailed(self, triple: n.TriplePattern, branches: list[Elements]) -> Elements:
        ends: tuple[n.Term, ...] = ends_of(triple, self._name)
        if isinstance(triple.verb, Variable):
            ends = (*ends, triple.verb)
        self._report.did(
            self._name, triple_text(triple), "with what the axioms entail", branches=len(branches)
        )
        return (distinct(ends, b.union(*(b.group(*branch) for branch in branches))),)

    def _predicate(self, triple: n.TriplePattern, predicate: NamedNode) -> list[Elements] | None:
        left, right = triple.subject, triple.object
        if predicate == RDF.type:
            return self._types(left, right)
        if predicate in _ORDERS:
            return [(b.triple(left, self._above(predicate, "+"), right),)]
        path = self._axioms.path(predicate)
        return None if path is None else [(b.triple(left, path, right),)]

    def _types(self, left: n.Term, class_: n.Term) -> list[Elements] | None:
        if not isinstance(class_, NamedNode):
            return self._types_of_any_class(left, class_)
        found: list[Elements] = []
        under = self._axioms.classes_under(class_)
        if under != {class_}:
            below = self._fresh()
            rows = [(one,) for one in sorted(under, key=str)]
            found.append((b.values([below.value], rows), b.triple(left, RDF.type, below)))
        subjects, objects = self._axioms.implying(class_)
        if subjects:
            found.append((b.triple(left, _any_of(subjects), self._fresh()),))
        if objects:
            found.append((b.triple(self._fresh(), _any_of(objects), left), _no_literal(left)))
        return [(b.triple(left, RDF.type, class_),), *found] if found else None

    def _types_of_any_class(self, left: n.Term, right: n.Term) -> list[Elements]:
        typed = b.sequence(n.Link(RDF.type), self._above(RDFS.subClassOf, "*"))
        found: list[Elements] = [(b.triple(left, typed, right),)]
        for forward in (True, False):
            rows = [(one, class_) for (one, direction), class_ in self._axioms.ends() if direction is forward]
            if rows:
                property_, value, class_ = self._fresh(), self._fresh(), self._fresh()
                given = b.values([property_.value, class_.value], sorted(rows, key=str))
                pattern = b.triple(*((left, property_, value) if forward else (value, property_, left)))
                above = b.triple(class_, self._above(RDFS.subClassOf, "*"), right)
                found.append((given, pattern, *(() if forward else (_no_literal(left),)), above))
        return found

    def _any_predicate(self, triple: n.TriplePattern, verb: Variable) -> list[Elements]:
        left, right, name = triple.subject, triple.object, verb.value
        found: list[Elements] = [(b.triple(left, verb, right),)]
        if self._owl:
            composed = [one for one in self._axioms.composed if one not in (*_ORDERS, RDF.type)]
            if len(composed) > _MOST_PROPERTIES:
                raise MalformedRequest(
                    f"More than {_MOST_PROPERTIES} properties follow from others, which {self._name} cannot "
                    "ask for at once. Write the property instead of a variable."
                )
            for one in composed:
                path = self._axioms.path(one)
                assert path is not None
                found.append((b.triple(left, path, right), b.bound(b.use(one), name)))
        else:
            below = self._fresh()
            above = n.PathOperator("+", (n.Link(RDFS.subPropertyOf),))
            found.append((b.triple(left, below, right), b.triple(below, above, verb)))
        found += [
            (b.triple(left, self._above(one, "+"), right), b.bound(b.use(one), name)) for one in _ORDERS
        ]
        types = self._types_of_any_class(left, right)
        found += [(*one, b.bound(b.use(RDF.type), name)) for one in types]
        return found

    def _step(self, link: n.Link) -> n.Path:
        if link.iri == RDF.type:
            if self._axioms.domains or self._axioms.ranges:
                self._report.leave(self._name, str(link.iri), "domains and ranges do not count within a path")
            return b.sequence(link, self._above(RDFS.subClassOf, "*"))
        if link.iri in _ORDERS:
            return self._above(link.iri, "+")
        return self._axioms.path(link.iri) or link

    def _order_path(self, order: NamedNode) -> n.Path:
        """A step up in the order of classes or properties; equivalent ones are above each other."""
        if not self._owl:
            return n.Link(order)
        same = n.Link(_OWL[_ORDERS.index(order)])
        return n.PathOperator("|", (n.Link(order), same, n.PathOperator("^", (same,))))

    def _above(self, order: NamedNode, repeated: str) -> n.Path:
        return n.PathOperator(repeated, (self._order_path(order),))

    def _fresh(self) -> Variable:
        while True:
            self._count += 1
            name = f"entailed{self._count}"
            if name not in self._names:
                return Variable(name)


def _no_literal(term: n.Term) -> n.Filter:
    return b.filtered(b.operation("unary !", b.operation("ISLITERAL", b.use(term))))


def _alternatives(members: Iterable[Member]) -> n.Path:
    return b.any_of(
        [
            n.Link(one) if forward else n.PathOperator("^", (n.Link(one),))
            for one, forward in sorted(members, key=lambda member: (not member[1], str(member[0])))
        ]
    )


def _any_of(iris: Iterable[NamedNode]) -> n.Path:
    return b.alternatives(*sorted(iris, key=str))


DERIVED_HIDDEN = "derived=false"


def hide_derived(
    query: n.Query, properties: Collection[NamedNode], report: Report, *, inferring: bool = False
) -> n.Query:
    """The query without derived statements; `properties` are those that derivation states.

    `inferring` means that inferences are kept as well.

    Raises MalformedRequest for what cannot be asked so.
    """
    if query.form is QueryForm.DESCRIBE:
        raise MalformedRequest(
            "DESCRIBE returns all of a resource; with derived=false use CONSTRUCT instead."
        )

    def replace(triple: n.TriplePattern, place: Place) -> Elements | None:
        if place.in_graph:
            return None
        verb = triple.verb
        if isinstance(verb, Variable):
            related = True
        elif isinstance(verb, n.Link):
            related = verb.iri in properties
        else:
            _refuse_path(verb, properties, inferring=inferring)
            return None
        if not (related or inferring) or isinstance(triple.subject, Literal):
            return None
        if any(isinstance(term, BlankNode) for term in (triple.subject, triple.object)):
            raise MalformedRequest(
                "derived=false is not kept beside a blank node; write a variable instead of it."
            )
        report.did(DERIVED_HIDDEN, triple_text(triple), "statements that are only derived are left out")

        def unless_in(graph: NamedNode, *but: n.Element) -> n.Filter:
            return b.filtered(b.not_exists(b.graph(graph, b.statement(triple), *but)))

        elements: list[n.Element] = [b.statement(triple)]
        if inferring:
            elements.append(unless_in(INFERRED))
        if related:
            elements.append(unless_in(DERIVED, *map(unless_in, (ASSERTED, EXTRACTED, ONTOLOGY))))
        return tuple(elements)

    return replace_patterns(query, replace)


def _refuse_path(path: n.Path, properties: Collection[NamedNode], *, inferring: bool) -> None:
    """A path whose steps could be derived statements cannot be followed without them."""
    reaches = any(iri in properties for iri in _positive(path)) or _has_negation(path)
    if reaches or inferring:
        raise MalformedRequest(
            f"With derived=false the path {path_text(path)} cannot be followed, since its steps may be "
            "derived. Write it as triple patterns."
        )


def _positive(path: n.Path) -> list[NamedNode]:
    if isinstance(path, n.Link):
        return [path.iri]
    return [] if path.operator == "!" else [iri for part in path.parts for iri in _positive(part)]


def _has_negation(path: n.Path) -> bool:
    return isinstance(path, n.PathOperator) and (
        path.operator == "!" or any(_has_negation(part) for part in path.parts)
    )
