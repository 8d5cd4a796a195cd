"""A query as a tree whose nodes know where they stand in the text (SPARQL 1.1 Query, 19.8).

Only as much as rewriting needs: groups and their elements, triple patterns with their paths, expressions.
`start` and `end` are offsets in characters into the query's text.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.syntax.request_facts import QueryForm

Term = NamedNode | Literal | BlankNode | Variable
"""What can stand in a triple pattern; a blank node is a variable that nobody can name."""


@dataclass(frozen=True)
class Link:
    """A property path of one step forward: an IRI."""

    iri: NamedNode


@dataclass(frozen=True)
class PathOperator:
    """A property path made of others: `/`, `|`, `^`, `*`, `+`, `?` or `!` (9.1)."""

    operator: str
    parts: tuple[Path, ...]


Path = Link | PathOperator


def links_of(path: Path) -> Iterator[NamedNode]:
    """The IRIs in a path."""
    if isinstance(path, Link):
        yield path.iri
    else:
        for part in path.parts:
            yield from links_of(part)


@dataclass(frozen=True)
class TriplePattern:
    """One triple pattern; `verb_start` and `object_end` bound its verb and object in the text.

    `alone` tells that the verb has this one object, so that the two can be replaced together.
    """

    subject: Term
    verb: Variable | Path
    object: Term
    verb_start: int
    verb_end: int
    object_end: int
    alone: bool = True

    @property
    def predicate(self) -> NamedNode | None:
        """The predicate where the verb is a single IRI."""
        return self.verb.iri if isinstance(self.verb, Link) else None

    @property
    def variables(self) -> Iterator[str]:
        """The names of its variables; blank nodes are none."""
        for term in (self.subject, self.verb, self.object):
            if isinstance(term, Variable):
                yield term.value

    @property
    def nodes(self) -> Iterator[str]:
        """What joins it to other patterns: its variables and its blank nodes."""
        yield from self.variables
        for term in (self.subject, self.object):
            if isinstance(term, BlankNode):
                yield str(term)


@dataclass(frozen=True)
class Statement:
    """The triple patterns of one subject (TriplesSameSubjectPath), without the full stop.

    `plain` tells that it has neither collections nor blank node property lists, so that its triples can
    be taken out one by one.
    """

    start: int
    end: int
    triples: tuple[TriplePattern, ...]
    plain: bool = True


@dataclass(frozen=True)
class Call:
    """A call of a function by IRI."""

    iri: NamedNode
    arguments: tuple[Expression, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Operation:
    """Operators and built-in functions; `name` is the sign or the upper-case word."""

    name: str
    arguments: tuple[Expression, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Constant:
    """An IRI or a literal."""

    term: NamedNode | Literal
    start: int
    end: int


@dataclass(frozen=True)
class VariableUse:
    """A variable in an expression."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class Exists:
    """EXISTS or NOT EXISTS with its group."""

    group: Group
    negated: bool
    start: int
    end: int


Expression = Call | Operation | Constant | VariableUse | Exists


@dataclass(frozen=True)
class Filter:
    """FILTER; `start` is at the keyword."""

    expression: Expression
    start: int
    end: int


@dataclass(frozen=True)
class Bind:
    """BIND(expression AS variable)."""

    expression: Expression
    variable: str
    start: int
    end: int


@dataclass(frozen=True)
class Values:
    """VALUES: rows of terms, None for UNDEF."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]
    start: int
    end: int


@dataclass(frozen=True)
class Nested:
    """OPTIONAL, MINUS, GRAPH, SERVICE, LATERAL, or (keyword UNION) groups with UNION between or one alone."""

    keyword: str
    groups: tuple[Group, ...]
    start: int
    end: int
    name: Term | None = None


@dataclass(frozen=True)
class SubSelect:
    """A SELECT in a group of its own."""

    query: Query
    start: int
    end: int


Element = Statement | Filter | Bind | Values | Nested | SubSelect


@dataclass(frozen=True)
class Group:
    """A group graph pattern; `start` is at its brace, `end` behind the closing one."""

    elements: tuple[Element, ...]
    start: int
    end: int


@dataclass(frozen=True)
class Projection:
    """One column of a SELECT: a variable, with the expression it names if there is one."""

    variable: str
    expression: Expression | None = None


@dataclass(frozen=True)
class OrderKey:
    """One key of ORDER BY."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True)
class Query:
    """A SELECT, ASK, CONSTRUCT or DESCRIBE, or a SELECT within another query.

    `projection` is None for `SELECT *`; `where` is None for a DESCRIBE without pattern. `head_end` is
    where the prologue ends. `described` are the resources that a DESCRIBE names.
    """

    form: QueryForm
    where: Group | None
    start: int
    end: int
    projection: tuple[Projection, ...] | None = ()
    projection_span: tuple[int, int] = (0, 0)
    distinct: bool = False
    dataset_clause: bool = False
    grouped: bool = False
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    values: Values | None = None
    short_construct: bool = False
    labels: frozenset[str] = field(default_factory=frozenset)
    conditions: tuple[Expression, ...] = ()
    """The expressions of GROUP BY and HAVING."""

    @property
    def expressions(self) -> Iterator[Expression]:
        """Those beside its group: what it selects, groups by, keeps of the groups and orders by."""
        yield from (one.expression for one in self.projection or () if one.expression is not None)
        yield from self.conditions
        yield from (one.expression for one in self.order)


def walk_expressions(expression: Expression) -> Iterator[Expression]:
    """An expression and all its parts, without going into EXISTS."""
    yield expression
    if isinstance(expression, Call | Operation):
        for argument in expression.arguments:
            yield from walk_expressions(argument)


def exists_of(expression: Expression) -> Iterator[Group]:
    """The groups of EXISTS in an expression."""
    return (part.group for part in walk_expressions(expression) if isinstance(part, Exists))


def variables_of(expression: Expression) -> set[str]:
    """The variables that an expression uses, outside EXISTS."""
    return {one.name for one in walk_expressions(expression) if isinstance(one, VariableUse)}


def groups_of(group: Group) -> Iterator[Group]:
    """A group and all groups in it: of elements, of sub-selects, of EXISTS."""
    yield group
    for element in group.elements:
        if isinstance(element, Nested):
            for inner in element.groups:
                yield from groups_of(inner)
        elif isinstance(element, SubSelect) and element.query.where is not None:
            yield from groups_of(element.query.where)
        elif isinstance(element, Filter | Bind):
            for inner in exists_of(element.expression):
                yield from groups_of(inner)


def groups_in(query: Query) -> Iterator[Group]:
    """All groups of a query, those of EXISTS beside a WHERE (in SELECT, ORDER BY ...) too."""
    outermost = [group for expression in query.expressions for group in exists_of(expression)]
    for top in outermost if query.where is None else (query.where, *outermost):
        yield from _groups_with_heads(top)


def _groups_with_heads(top: Group) -> Iterator[Group]:
    for group in groups_of(top):
        yield group
        for element in group.elements:
            if isinstance(element, SubSelect):
                for expression in element.query.expressions:
                    for inner in exists_of(expression):
                        yield from _groups_with_heads(inner)


def calls_in(query: Query) -> Iterator[Call]:
    """The calls of functions by IRI, wherever in the query."""
    expressions = list(query.expressions)
    for group in groups_in(query):
        for element in group.elements:
            if isinstance(element, Filter | Bind):
                expressions.append(element.expression)
            elif isinstance(element, SubSelect):
                expressions += element.query.expressions
    for expression in expressions:
        yield from (part for part in walk_expressions(expression) if isinstance(part, Call))
