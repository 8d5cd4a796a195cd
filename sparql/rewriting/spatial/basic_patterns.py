"""Basic graph patterns, and candidates put in front of them.

A basic graph pattern is all triple patterns of a group between elements other than filters (SPARQL 1.1 Query,
5.1), paths included. Joining it with VALUES keeps those of its solutions that the VALUES name, so a filter
that is true of no others gives the same answer as before. LATERAL makes the engine begin with the candidates:
left to itself it takes quadratic time above 1,000 of them where there is also a type pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import Variable

from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.replacing import Elements, in_place_of, replace_elements
from sparql.rewriting.index.notes import SERIALIZATIONS


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

    `gone` are triple patterns that the candidates replace; `pattern` replaces all. What is `apart` is
    evaluated by itself, before it is joined to others; `graph` is the name of the GRAPH around it if that is
    a variable, which the engine binds only where it is projected.
    """

    bgp: BasicPattern
    candidates: n.Values | None = None
    split: Split = field(default_factory=dict)
    gone: tuple[n.TriplePattern, ...] = ()
    pattern: n.Group | None = None
    apart: bool = False
    graph: Variable | None = None

    def elements(self, filters: Mapping[n.Filter, n.Filter]) -> Elements:
        """The elements in place of the basic graph pattern; `filters` replace some of its filters."""
        pattern = self.pattern or self._with_candidates()
        names = (
            None if self.graph is None else dict.fromkeys((*sorted(n.names_in(pattern)), self.graph.value))
        )
        first = b.in_braces(b.select(names, pattern)) if self.apart else b.union(pattern)
        return (first, *(filters.get(one, one) for one in self.bgp.filters))

    def _with_candidates(self) -> n.Group:
        assert self.candidates is not None
        kept: list[n.Element] = []
        for statement in self.bgp.statements:
            triples = [one for one in statement.triples if one not in self.gone]
            if len(triples) < len(statement.triples) or any(one in self.split for one in triples):
                triples = [part for one in triples for part in self.split.get(one, (one,))]
                kept += [b.statement(*triples)] if triples else []
            else:
                kept.append(statement)
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
    triple, verb = binding.triple, binding.triple.verb
    if not isinstance(verb, n.PathOperator) or verb.operator != "/":
        return None
    *steps, last = verb.parts
    if not isinstance(last, n.Link):
        return None
    before = steps[0] if len(steps) == 1 else b.sequence(*steps)
    node = Variable(fresh)
    first = n.TriplePattern(triple.subject, before, node)
    return {triple: (first, n.TriplePattern(node, last, triple.object))}
