"""Basic graph patterns, and candidates put in front of them.

A basic graph pattern is all triple patterns of a group between elements other than filters (SPARQL 1.1 Query,
5.1), paths included. Joining it with VALUES keeps those of its solutions that the VALUES name, so a filter
that is true of no others gives the same answer as before. LATERAL makes the engine begin with the candidates:
left to itself it takes quadratic time above 1,000 of them where there is also a type pattern.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, NamedNode, Variable

from sparql.rewriting.geometry_state import Form
from sparql.rewriting.notes import LINKS, SERIALIZATIONS
from sparql.syntax import nodes as n
from sparql.syntax import writing as b
from sparql.syntax.writing import Elements, in_place_of, replace_elements


@dataclass(frozen=True)
class BasicPattern:
    """Statements side by side in `group`, and the filters between them."""

    group: n.Group
    elements: tuple[n.Statement | n.Filter, ...]

    @property
    def statements(self) -> tuple[n.Statement, ...]:
        """Its statements."""
        return tuple(one for one in self.elements if isinstance(one, n.Statement))

    @property
    def filters(self) -> tuple[n.Filter, ...]:
        """The filters between its statements."""
        return tuple(one for one in self.elements if isinstance(one, n.Filter))

    @property
    def triples(self) -> Iterator[n.TriplePattern]:
        """Its triple patterns."""
        for statement in self.statements:
            yield from statement.triples

    @property
    def first(self) -> n.Statement:
        """The statement that it begins with."""
        return self.statements[0]


@dataclass(frozen=True)
class Binding:
    """A triple pattern that gives a variable its geometry literal, at the end of a path or by itself."""

    bgp: BasicPattern
    triple: n.TriplePattern
    variable: str
    through_path: bool


def basic_patterns_of(group: n.Group) -> list[BasicPattern]:
    """The basic graph patterns of a group, in order; each begins and ends with a statement."""
    bgps: list[BasicPattern] = []
    current: list[n.Statement | n.Filter] = []

    def close() -> None:
        while current and isinstance(current[-1], n.Filter):
            current.pop()
        if current:
            bgps.append(BasicPattern(group, tuple(current)))
        current.clear()

    for element in group.elements:
        if isinstance(element, n.Statement):
            current.append(element)
        elif isinstance(element, n.Filter):
            if current:
                current.append(element)
        else:
            close()
    close()
    return bgps


def binding_in(bgp: BasicPattern, variable: str) -> Binding | None:
    """The triple pattern that binds a variable to a geometry literal; a plain one first."""
    found: Binding | None = None
    for triple in bgp.triples:
        if triple.object != Variable(variable) or isinstance(triple.verb, Variable):
            continue
        last = triple.verb
        while isinstance(last, n.PathOperator) and last.operator == "/":
            last = last.parts[-1]
        if _gives_literals(last):
            plain = isinstance(triple.verb, n.Link)
            binding = Binding(bgp, triple, variable, through_path=not plain)
            if not binding.through_path:
                return binding
            found = found or binding
    return found


def _gives_literals(path: n.Path) -> bool:
    if isinstance(path, n.Link):
        return path.iri in SERIALIZATIONS
    return path.operator == "|" and all(_gives_literals(part) for part in path.parts)


def part_of(bgp: BasicPattern, variable_nodes: Iterable[str]) -> list[n.TriplePattern]:
    """The triple patterns that are joined, directly or not, to these variables or blank nodes."""
    reached = set(variable_nodes)
    left = list(bgp.triples)
    found: list[n.TriplePattern] = []
    while True:
        joined = [triple for triple in left if reached.intersection(triple.nodes)]
        if not joined:
            return found
        found += joined
        left = [triple for triple in left if triple not in joined]
        for triple in joined:
            reached.update(triple.nodes)


Split = dict[n.TriplePattern, tuple[n.TriplePattern, n.TriplePattern]]
"""Two patterns in place of one."""


@dataclass
class Plan:
    """What becomes of one basic graph pattern: candidates in front of it, some patterns split.

    `gone` are triple patterns that the candidates replace, `scanned` parts of the pattern that only the
    candidates connect: the engine asks each as a whole and joins them by hashing, as sub-selects make it.
    What is `apart` is evaluated by itself, before it is joined to others; `graph` is the name of the GRAPH
    around it if that is a variable, which the engine binds only where it is projected.
    """

    bgp: BasicPattern
    candidates: n.Values
    split: Split = field(default_factory=dict)
    gone: tuple[n.TriplePattern, ...] = ()
    scanned: tuple[tuple[n.TriplePattern, ...], ...] = ()
    apart: bool = False
    graph: Variable | None = None

    def elements(self, filters: Mapping[n.Filter, n.Filter]) -> Elements:
        """The elements in place of the basic graph pattern; `filters` replace some of its filters."""
        pattern = self._with_candidates()
        names = (
            None if self.graph is None else dict.fromkeys((*sorted(n.names_in(pattern)), self.graph.value))
        )
        first = b.in_braces(b.select(names, pattern)) if self.apart else b.union(pattern)
        return (first, *(filters.get(one, one) for one in self.bgp.filters))

    def _with_candidates(self) -> n.Group:
        kept: list[n.Element] = []
        for statement in self.bgp.statements:
            triples = [one for one in statement.triples if one not in self.gone]
            if len(triples) < len(statement.triples) or any(one in self.split for one in triples):
                triples = [part for one in triples for part in self.split.get(one, (one,))]
                kept += [b.statement(*triples)] if triples else []
            else:
                kept.append(statement)
        if self.scanned:
            scanned = {triple for part in self.scanned for triple in part}
            others = [one for one in self.bgp.triples if one not in scanned and one not in self.gone]
            parts = (b.statement(*part) for part in (*self.scanned, others) if part)
            return b.group(self.candidates, *(b.in_braces(b.select(None, b.group(part))) for part in parts))
        return b.group(self.candidates, b.lateral(*kept)) if kept else b.group(self.candidates)


def with_plans(
    query: n.Query, plans: Mapping[n.Statement, Plan], filters: Mapping[n.Filter, n.Filter]
) -> n.Query:
    """The query with plans, by the first statement of each, and `filters` in place of others."""
    others = {one for plan in plans.values() for one in plan.bgp.elements}

    def replaced(element: n.Element, _place: object) -> Elements | None:
        if isinstance(element, n.Statement) and element in plans:
            plan = plans[element]
            elements = plan.elements(filters)
            places = [one for one in plan.bgp.elements if one.start >= 0]
            return in_place_of(places[0].start, places[-1].end, elements) if places else elements
        if element in others:
            return ()
        return (filters[element],) if isinstance(element, n.Filter) and element in filters else None

    return replace_elements(query, replaced)


def split_path(binding: Binding, fresh: str) -> Split | None:
    """`?f geo:hasGeometry/geo:asWKT ?w` as two patterns; None where it cannot be split.

    By SPARQL 1.1 Query, 18.2.2.4, both give the same solutions.
    """
    triple = binding.triple
    if isinstance(triple.verb, Variable):
        return None
    *steps, last = steps_of(triple.verb)
    if not steps:
        return None
    before = steps[0] if len(steps) == 1 else b.sequence(*steps)
    node = Variable(fresh)
    first = n.TriplePattern(triple.subject, before, node)
    return {triple: (first, n.TriplePattern(node, last, triple.object))}


def steps_of(path: n.Path) -> list[n.Path]:
    """The paths that a path is a sequence of."""
    if isinstance(path, n.PathOperator) and path.operator == "/":
        return [step for part in path.parts for step in steps_of(part)]
    return [path]


@dataclass(frozen=True)
class GeometryPath:
    """The patterns `triples` that lead from `feature` by `links`, maybe over `node`, to the literal.

    `links` and `serializations` are alternatives. Names are those of variables; a node without one is None.
    """

    binding: Binding
    feature: str
    node: str | None
    links: tuple[NamedNode, ...]
    serializations: tuple[NamedNode, ...]
    triples: tuple[n.TriplePattern, ...]

    def solutions(self, form: Form) -> int:
        """How many solutions the patterns have for a feature that has its geometry so."""
        links, serializations = Counter(self.links), Counter(self.serializations)
        return sum(links[one] for one in form.links) * serializations[form.serialization]


def geometry_path_of(binding: Binding) -> GeometryPath | None:
    """The geometry path of a binding; None where its patterns are others."""
    triple, verb = binding.triple, binding.triple.verb
    if isinstance(verb, Variable):
        return None
    if binding.through_path:
        steps = steps_of(verb)
        links, serializations = (_alternatives(one) for one in steps) if len(steps) == 2 else (None, None)
        subject, node = triple.subject, None
        triples: tuple[n.TriplePattern, ...] = (triple,)
    else:
        found = [one for one in binding.bgp.triples if one.object == triple.subject]
        others = [one for one in binding.bgp.triples if one not in (triple, *found)]
        hidden = isinstance(triple.subject, BlankNode)
        if len(found) != 1 or isinstance(found[0].verb, Variable):
            return None
        if hidden and any(triple.subject in (one.subject, one.object) for one in others):
            return None
        links, serializations = _alternatives(found[0].verb), _alternatives(verb)
        subject, triples = found[0].subject, (found[0], triple)
        node = triple.subject.value if isinstance(triple.subject, Variable) else None
    if not links or not serializations or not LINKS.issuperset(links) or not isinstance(subject, Variable):
        return None
    names = [subject.value, binding.variable, *([node] if node else [])]
    if len(set(names)) < len(names):
        return None
    return GeometryPath(binding, subject.value, node, links, serializations, triples)


def _alternatives(path: n.Path) -> tuple[NamedNode, ...] | None:
    """The properties of a step; None for other paths."""
    if isinstance(path, n.Link):
        return (path.iri,)
    if path.operator != "|":
        return None
    parts = [_alternatives(part) for part in path.parts]
    return None if None in parts else tuple(iri for part in parts for iri in part or ())
