"""A query as a tree (SPARQL 1.1 Query, 19.8): groups and their elements, triple patterns, paths, expressions.

Nodes are never changed: a rewriting builds new ones. `start` and `end` are offsets in characters into the
client's text, and -1 for a node that is not from there. An element that is `made` is not from there either,
but replaces what is between its offsets (`sparql.syntax.writing`). Nodes with offsets are compared by
identity: the same words may occur twice.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.syntax.request_facts import QueryForm

NOWHERE = -1
"""The offset of what is not in the client's text."""


@dataclass(frozen=True)
class TripleTerm:
    """A triple term (RDF 1.2), which may hold variables."""

    subject: Term
    predicate: NamedNode | Variable
    object: Term


Term = NamedNode | Literal | BlankNode | Variable | TripleTerm
"""A term of a triple pattern; a blank node is a variable without a name."""


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


def links_of(path: Path | Variable) -> Iterator[NamedNode]:
    """The IRIs in a path."""
    if isinstance(path, Link):
        yield path.iri
    elif isinstance(path, PathOperator):
        for part in path.parts:
            yield from links_of(part)


def nodes_of(*terms: Term | Path) -> Iterator[Variable | BlankNode]:
    """The variables and blank nodes among terms, and in triple terms."""
    for term in terms:
        if isinstance(term, Variable | BlankNode):
            yield term
        elif isinstance(term, TripleTerm):
            yield from nodes_of(term.subject, term.predicate, term.object)


@dataclass(frozen=True, eq=False)
class TriplePattern:
    """One triple pattern."""

    subject: Term
    verb: Variable | Path
    object: Term

    @property
    def predicate(self) -> NamedNode | None:
        """The predicate where the verb is a single IRI."""
        return self.verb.iri if isinstance(self.verb, Link) else None

    @property
    def variables(self) -> Iterator[str]:
        """The names of its variables, without blank nodes."""
        found = nodes_of(self.subject, self.verb, self.object)
        return (one.value for one in found if isinstance(one, Variable))

    @property
    def nodes(self) -> Iterator[str]:
        """What joins it to other patterns: its variables and its blank nodes."""
        found = nodes_of(self.subject, self.verb, self.object)
        return (one.value if isinstance(one, Variable) else str(one) for one in found)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Placed:
    """What a part of the client's text is read as."""

    start: int = NOWHERE
    end: int = NOWHERE

    @property
    def parts(self) -> tuple[Node, ...]:
        """The nodes that it is made of."""
        return ()


@dataclass(frozen=True, eq=False, kw_only=True)
class _Element(_Placed):
    made: bool = False


@dataclass(frozen=True, eq=False)
class Statement(_Element):
    """The triple patterns of one subject (TriplesSameSubjectPath), without the full stop."""

    triples: tuple[TriplePattern, ...]


@dataclass(frozen=True, eq=False)
class Call(_Placed):
    """A call of a function by IRI."""

    iri: NamedNode
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(frozen=True, eq=False)
class Operation(_Placed):
    """Operators and built-in functions; `name` is the sign or the upper-case word."""

    name: str
    arguments: tuple[Expression, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.arguments


@dataclass(frozen=True, eq=False)
class Constant(_Placed):
    """An IRI, a literal or a triple term."""

    term: NamedNode | Literal | TripleTerm


@dataclass(frozen=True, eq=False)
class VariableUse(_Placed):
    """A variable in an expression."""

    name: str


@dataclass(frozen=True, eq=False)
class Exists(_Placed):
    """EXISTS or NOT EXISTS with its group."""

    group: Group
    negated: bool

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.group,)


Expression = Call | Operation | Constant | VariableUse | Exists


@dataclass(frozen=True, eq=False)
class Filter(_Element):
    """FILTER; `start` is at the keyword."""

    expression: Expression

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.expression,)


@dataclass(frozen=True, eq=False)
class Bind(_Element):
    """BIND(expression AS variable)."""

    expression: Expression
    variable: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.expression,)


@dataclass(frozen=True, eq=False)
class Values(_Element):
    """VALUES: rows of terms, None for UNDEF; or `written`, where the rows are too many to be terms."""

    variables: tuple[str, ...]
    rows: tuple[tuple[Term | None, ...], ...]
    written: str = ""


@dataclass(frozen=True, eq=False)
class Nested(_Element):
    """OPTIONAL, MINUS, GRAPH, SERVICE, LATERAL, or (keyword UNION) groups with UNION between or one alone.

    `name` is that of a GRAPH or SERVICE, `silent` of a SERVICE SILENT.
    """

    keyword: str
    groups: tuple[Group, ...]
    name: Term | None = None
    silent: bool = False

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.groups


@dataclass(frozen=True, eq=False)
class SubSelect(_Element):
    """A SELECT in a group of its own."""

    query: Query

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.query,)


Element = Statement | Filter | Bind | Values | Nested | SubSelect


@dataclass(frozen=True, eq=False)
class Group(_Placed):
    """A group graph pattern; `start` is at its brace, `end` behind the closing one."""

    elements: tuple[Element, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.elements


@dataclass(frozen=True, eq=False)
class Projection:
    """One column of a SELECT: a variable, with the expression it names if there is one."""

    variable: str
    expression: Expression | None = None


@dataclass(frozen=True, eq=False)
class OrderKey:
    """One key of ORDER BY."""

    expression: Expression
    descending: bool = False


@dataclass(frozen=True, eq=False)
class Query(_Placed):
    """A SELECT, ASK, CONSTRUCT or DESCRIBE, or a SELECT within another query.

    `projection` is None for `SELECT *`, `where` for a DESCRIBE without a pattern. `short` is a CONSTRUCT
    WHERE, `template` what a rewriting adds to one. `conditions` are the expressions of GROUP BY and HAVING,
    `names` the variables of a template, of DESCRIBE and of AS in GROUP BY.
    """

    form: QueryForm
    where: Group | None
    projection: tuple[Projection, ...] | None = ()
    distinct: bool = False
    dataset_clause: bool = False
    grouped: bool = False
    order: tuple[OrderKey, ...] = ()
    limit: int | None = None
    offset: int = 0
    values: Values | None = None
    template: Group | None = None
    short: bool = False
    conditions: tuple[Expression, ...] = ()
    names: tuple[str, ...] = ()

    @property
    def expressions(self) -> Iterator[Expression]:
        """Those beside its group: what it selects, groups by, keeps of the groups and orders by."""
        yield from (one.expression for one in self.projection or () if one.expression is not None)
        yield from self.conditions
        yield from (one.expression for one in self.order)

    @property
    def parts(self) -> tuple[Node, ...]:
        """The nodes that it is made of; not its template."""
        columns = (one.expression for one in self.projection or () if one.expression is not None)
        below = (one for one in (self.where, self.values) if one is not None)
        return (*columns, *below, *self.conditions, *(one.expression for one in self.order))


Node = Query | Group | Element | Expression


def walk(*nodes: Node, besides: Container[Node] = ()) -> Iterator[Node]:
    """Some nodes and all nodes in them, in the order of the text, without those in `besides`."""
    waiting = list(reversed(nodes))
    while waiting:
        node = waiting.pop()
        if node not in besides:
            yield node
            waiting += reversed(node.parts)


def groups_in(*nodes: Node) -> Iterator[Group]:
    """All groups in some nodes, those of EXISTS too."""
    return (node for node in walk(*nodes) if isinstance(node, Group))


def outermost_groups(*nodes: Node) -> Iterator[Group]:
    """The groups in some nodes that are in no other group there."""
    for node in nodes:
        if isinstance(node, Group):
            yield node
        else:
            yield from outermost_groups(*node.parts)


def calls_in(query: Query) -> Iterator[Call]:
    """The calls of functions by IRI, wherever in the query."""
    return (node for node in walk(query) if isinstance(node, Call))


def names_in(*nodes: Node, besides: Container[Node] = ()) -> set[str]:
    """The names of all variables in some nodes, however deep, but for those in the nodes `besides`."""
    found: set[str] = set()
    for node in walk(*nodes, besides=besides):
        if isinstance(node, Statement):
            found.update(name for triple in node.triples for name in triple.variables)
        elif isinstance(node, VariableUse):
            found.add(node.name)
        elif isinstance(node, Bind):
            found.add(node.variable)
        elif isinstance(node, Values):
            found.update(node.variables)
        elif isinstance(node, Nested) and isinstance(node.name, Variable):
            found.add(node.name.value)
        elif isinstance(node, Query):
            found.update(node.names, (one.variable for one in node.projection or ()))
    return found


def literals_in(query: Query) -> Iterator[Literal]:
    """The literals of a query's patterns, VALUES and expressions."""
    for node in walk(query):
        terms: Iterable[Term | None] = ()
        if isinstance(node, Statement):
            terms = (triple.object for triple in node.triples)
        elif isinstance(node, Constant):
            terms = (node.term,)
        elif isinstance(node, Values):
            terms = (term for row in node.rows for term in row)
        yield from (term for term in terms if isinstance(term, Literal))


def walk_expressions(expression: Expression) -> Iterator[Expression]:
    """An expression and all its parts, without going into EXISTS."""
    yield expression
    if isinstance(expression, (Call, Operation)):
        for argument in expression.arguments:
            yield from walk_expressions(argument)


def variables_of(expression: Expression) -> set[str]:
    """The variables that an expression uses, outside EXISTS."""
    return {one.name for one in walk_expressions(expression) if isinstance(one, VariableUse)}
