"""Triple patterns that stand together, and candidates put in front of them.

A run is all triple patterns of a group between elements of other kinds, filters apart: one basic graph
pattern with its paths. Joining it with VALUES keeps of its solutions those that the VALUES name, so a filter
that is true of no others gives the same answer as before. The engine is made to begin with the candidates by
LATERAL: left to itself it takes quadratic time above 1,000 of them where the run also has a type pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pyoxigraph import Literal, NamedNode, Variable

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.edits import Edit, apply_edits
from sparql.rewriting.ast.writing import path_text, triple_text
from sparql.rewriting.index.notes import SERIALIZATIONS
from sparql.syntax.tokens import TokenKind, read_tokens


@dataclass(frozen=True)
class Run:
    """Statements, and the filters between them, that stand together in `group`."""

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
    def start(self) -> int:
        """Where it begins in the text."""
        return self.elements[0].start

    @property
    def end(self) -> int:
        """Where it ends in the text."""
        return self.elements[-1].end


@dataclass(frozen=True)
class Binding:
    """A triple pattern that gives a variable its geometry literal, at the end of a path or by itself."""

    run: Run
    triple: n.TriplePattern
    variable: str
    through_path: bool


def runs_of(group: n.Group) -> list[Run]:
    """The runs of a group, in order; each begins and ends with a statement."""
    runs: list[Run] = []
    current: list[n.Statement | n.Filter] = []

    def close() -> None:
        while current and isinstance(current[-1], n.Filter):
            current.pop()
        if current:
            runs.append(Run(group, tuple(current)))
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
    return runs


def binding_in(run: Run, variable: str) -> Binding | None:
    """The triple pattern of a run that binds a variable to a geometry literal; a plain one first."""
    found: Binding | None = None
    for triple in run.triples:
        if triple.object != Variable(variable) or isinstance(triple.verb, Variable):
            continue
        last = triple.verb
        while isinstance(last, n.PathOperator) and last.operator == "/":
            last = last.parts[-1]
        if _gives_literals(last):
            plain = isinstance(triple.verb, n.Link)
            binding = Binding(run, triple, variable, through_path=not plain)
            if not binding.through_path:
                return binding
            found = found or binding
    return found


def _gives_literals(path: n.Path) -> bool:
    if isinstance(path, n.Link):
        return path.iri in SERIALIZATIONS
    return path.operator == "|" and all(_gives_literals(part) for part in path.parts)


def part_of(run: Run, variable_nodes: Iterable[str]) -> list[n.TriplePattern]:
    """The triple patterns of a run that are joined, one by another, to these variables or blank nodes."""
    reached = set(variable_nodes)
    left = list(run.triples)
    found: list[n.TriplePattern] = []
    while True:
        joined = [triple for triple in left if reached.intersection(triple.nodes)]
        if not joined:
            return found
        found += joined
        left = [triple for triple in left if triple not in joined]
        for triple in joined:
            reached.update(triple.nodes)


def values(variables: Sequence[str], rows: Iterable[Sequence[NamedNode | Literal]]) -> str:
    """A VALUES block."""
    if len(variables) == 1:
        return f"VALUES ?{variables[0]} {{ {' '.join(str(row[0]) for row in rows)} }}"
    head = " ".join(f"?{name}" for name in variables)
    return f"VALUES ({head}) {{ {' '.join('(' + ' '.join(map(str, row)) + ')' for row in rows)} }}"


@dataclass
class Plan:
    """What becomes of one run: candidates in front, statements edited, statements added.

    `gone` are triple patterns that the candidates stand for; `pattern` stands for the whole run. A run that
    is `apart` is evaluated by itself, before it is joined to others; `graph` is the name of the GRAPH around
    it, if that is a variable, which the engine tells only where it is projected.
    """

    run: Run
    candidates: str
    edits: list[Edit] = field(default_factory=list)
    added: list[str] = field(default_factory=list)
    gone: tuple[n.TriplePattern, ...] = ()
    pattern: str | None = None
    apart: bool = False
    graph: Variable | None = None


def edit_of(text: str, plan: Plan, filters: dict[n.Filter, str]) -> Edit:
    """The edit that puts a plan's candidates in front of its run; `filters` are written as given there."""
    run = plan.run
    written = [filters.get(one, text[one.start : one.end]) for one in run.filters]
    pattern = plan.pattern or _with_candidates(text, plan)
    if plan.apart:
        pattern = f"{{ SELECT {_projected(pattern, plan.graph)} {pattern} }}"
    return Edit(run.start, run.end, " ".join([pattern, *(one for one in written if one)]))


def _projected(pattern: str, graph: Variable | None) -> str:
    if graph is None:
        return "*"
    found = (token.text for token in read_tokens(pattern) if token.kind is TokenKind.VARIABLE)
    return " ".join(dict.fromkeys((*found, str(graph))))


def _with_candidates(text: str, plan: Plan) -> str:
    run = plan.run
    if plan.gone:
        left = " . ".join(triple_text(triple) for triple in run.triples if triple not in plan.gone)
        return f"{{ {plan.candidates} LATERAL {{ {left} }} }}" if left else f"{{ {plan.candidates} }}"
    inner = [
        apply_edits(
            text,
            [edit for edit in plan.edits if statement.start <= edit.start and edit.end <= statement.end],
            statement.start,
            statement.end,
        )
        for statement in run.statements
    ]
    body = " . ".join([*inner, *plan.added])
    return f"{{ {plan.candidates} LATERAL {{ {body} }} }}"


def split_path(binding: Binding, fresh: str) -> tuple[Edit, str] | None:
    """`?f geo:hasGeometry/geo:asWKT ?w` as two patterns: the edit of the first and the text of the second.

    None where it cannot be cut. By SPARQL 1.1 Query, 18.2.2.4, both give the same solutions.
    """
    triple, verb = binding.triple, binding.triple.verb
    if not triple.alone or not isinstance(verb, n.PathOperator) or verb.operator != "/":
        return None
    *steps, last = verb.parts
    if not isinstance(last, n.Link):
        return None
    before = path_text(steps[0] if len(steps) == 1 else n.PathOperator("/", tuple(steps)))
    edit = Edit(triple.verb_start, triple.object_end, f"{before} ?{fresh}")
    return edit, f"?{fresh} {last.iri} ?{binding.variable}"
