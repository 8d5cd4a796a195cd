"""New trees from old ones, and trees as text: what is from the client's text stays byte for byte.

An element must be in a tree once only, since elements are compared by identity.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.syntax import nodes as n
from sparql.syntax.request_facts import QueryForm
from sparql.syntax.tokens import LABELED

_TRUE = Literal(True)
_SIGNS = frozenset({"||", "&&", "=", "!=", "<", ">", "<=", ">=", "+", "-", "*", "/"})


def write(node: n.Node, source: str) -> str:
    """A node as text; `source` is the client's text."""
    return _Writer(source).write(node)


def term_text(term: n.Term) -> str:
    """A term of a pattern."""
    if isinstance(term, Variable):
        return f"?{term.value}"
    if isinstance(term, BlankNode) and term.value.startswith(LABELED):
        return f"_:{bytes.fromhex(term.value.removeprefix(LABELED)).decode()}"
    if isinstance(term, n.TripleTerm):
        inner = (term_text(one) for one in (term.subject, term.predicate, term.object))
        return f"<<( {' '.join(inner)} )>>"
    return str(term)


def path_text(path: n.Path) -> str:
    """A path, every operator in parentheses but the outermost."""
    if isinstance(path, n.Link):
        return str(path.iri)
    parts = [
        f"({path_text(part)})" if isinstance(part, n.PathOperator) else str(part.iri) for part in path.parts
    ]
    if path.operator in ("/", "|"):
        return path.operator.join(parts)
    return path.operator + parts[0] if path.operator in ("^", "!") else parts[0] + path.operator


def triple_text(triple: n.TriplePattern) -> str:
    """A triple pattern without its full stop."""
    verb = triple.verb
    written = term_text(verb) if isinstance(verb, Variable) else path_text(verb)
    return f"{term_text(triple.subject)} {written} {term_text(triple.object)}"


def triples_text(triples: Iterable[n.TriplePattern]) -> str:
    """Triple patterns with full stops between them."""
    return " . ".join(map(triple_text, triples))


class _Writer:
    def __init__(self, source: str) -> None:
        self._source = source

    def write(self, node: n.Node) -> str:
        if isinstance(node, n.Group):
            return self._group(node) if node.start < 0 else self._patched_group(node)
        if node.start < 0 or getattr(node, "made", False):
            return self._made(node)
        return self._patched(node)

    def _patched(self, node: n.Query | n.Element | n.Expression) -> str:
        """What the client wrote, with the groups in it as they are now."""
        written, position = [], node.start
        if isinstance(node, n.Query) and node.short and node.template is not None:
            position += len("CONSTRUCT")
            written.append(f"CONSTRUCT {self.write(node.template)}")
        for group in sorted(n.outermost_groups(*node.parts), key=lambda one: one.start):
            written += (self._source[position : group.start], self.write(group))
            position = group.end
        written.append(self._source[position : node.end])
        return "".join(written)

    def _patched_group(self, group: n.Group) -> str:
        """A group of the client's: what is between its elements stays, with new elements inserted."""
        written, position = [], group.start
        before: n.Element | None = None
        for element in group.elements:
            if element.start >= position:
                written.append(self._source[position : element.start])
                position = element.end
            elif before is not None:
                written.append(_between(before, element))
            else:
                written.append(f"{self._source[position : position + 1]} ")
                position += 1
            written.append(self.write(element))
            before = element
        written.append(self._source[position : group.end])
        return "".join(written)

    def _group(self, group: n.Group) -> str:
        written = ["{ "]
        before: n.Element | None = None
        for element in group.elements:
            if before is not None:
                written.append(_between(before, element))
            written.append(self.write(element))
            before = element
        return f"{''.join(written)} }}"

    def _made(self, node: n.Query | n.Element | n.Expression) -> str:
        match node:
            case n.Statement():
                return triples_text(node.triples)
            case n.Filter():
                return f"FILTER({self.write(node.expression)})"
            case n.Bind():
                return f"BIND({self.write(node.expression)} AS ?{node.variable})"
            case n.Values():
                return _values_text(node)
            case n.Nested(keyword="UNION"):
                return " UNION ".join(map(self.write, node.groups))
            case n.Nested():
                name = "" if node.name is None else f" {term_text(node.name)}"
                return f"{node.keyword}{name} {self.write(node.groups[0])}"
            case n.SubSelect():
                return self.write(node.query)
            case n.Query():
                return self._select(node)
            case _:
                return self._expression(node)

    def _select(self, query: n.Query) -> str:
        assert query.where is not None
        shown = "*" if query.projection is None else " ".join(map(self._column, query.projection))
        distinct = "DISTINCT " if query.distinct else ""
        keys = f" GROUP BY {' '.join(map(self.write, query.conditions))}" if query.conditions else ""
        return f"SELECT {distinct}{shown} WHERE {self.write(query.where)}{keys}"

    def _column(self, column: n.Projection) -> str:
        named = f"?{column.variable}"
        return named if column.expression is None else f"({self.write(column.expression)} AS {named})"

    def _expression(self, node: n.Expression) -> str:
        match node:
            case n.VariableUse():
                return f"?{node.name}"
            case n.Constant():
                return "true" if node.term == _TRUE else term_text(node.term)
            case n.Exists():
                return f"{'NOT ' if node.negated else ''}EXISTS {self.write(node.group)}"
            case n.Call():
                return f"{node.iri}({', '.join(map(self.write, node.arguments))})"
            case n.Operation(name="unary !"):
                return f"!({self.write(node.arguments[0])})"
        if node.name in _SIGNS:
            return f" {node.name} ".join(f"({self.write(one)})" for one in node.arguments)
        return f"{node.name}({', '.join(map(self.write, node.arguments))})"


def _between(before: n.Element, element: n.Element) -> str:
    both = isinstance(before, n.Statement) and isinstance(element, n.Statement)
    return " . " if both else " "


def _values_text(values: n.Values) -> str:
    rows = (" ".join("UNDEF" if term is None else term_text(term) for term in row) for row in values.rows)
    if len(values.variables) == 1:
        return f"VALUES ?{values.variables[0]} {{ {' '.join(rows)} }}"
    head = " ".join(f"?{name}" for name in values.variables)
    return f"VALUES ({head}) {{ {values.written or ' '.join(f'({row})' for row in rows)} }}"


def statement(*triples: n.TriplePattern) -> n.Statement:
    """Triple patterns side by side."""
    return n.Statement(triples, made=True)


def triple(subject: n.Term, verb: Variable | NamedNode | n.Path, value: n.Term) -> n.Statement:
    """One triple pattern."""
    return statement(n.TriplePattern(subject, n.Link(verb) if isinstance(verb, NamedNode) else verb, value))


def alternatives(*iris: NamedNode) -> n.Path:
    """The path of any of these properties."""
    return any_of([n.Link(iri) for iri in iris])


def any_of(paths: Sequence[n.Path]) -> n.Path:
    """The path of any of these paths."""
    return paths[0] if len(paths) == 1 else n.PathOperator("|", tuple(paths))


def sequence(*paths: n.Path) -> n.Path:
    """The path of these paths, one behind the other."""
    return n.PathOperator("/", paths)


def group(*elements: n.Element) -> n.Group:
    """A group of elements."""
    return n.Group(elements)


def union(*groups: n.Group) -> n.Nested:
    """Groups with UNION between them, or one alone."""
    return n.Nested("UNION", groups, made=True)


def lateral(*elements: n.Element) -> n.Nested:
    """Elements that the engine evaluates for each solution before them."""
    return n.Nested("LATERAL", (group(*elements),), made=True)


def graph(name: n.Term, *elements: n.Element) -> n.Nested:
    """Elements of a named graph."""
    return n.Nested("GRAPH", (group(*elements),), name=name, made=True)


def in_braces(*elements: n.Element) -> n.Nested:
    """Elements in a group of their own."""
    return union(group(*elements))


def minus(*elements: n.Element) -> n.Nested:
    """MINUS of elements."""
    return n.Nested("MINUS", (group(*elements),), made=True)


def select(
    columns: Iterable[str | n.Projection] | None,
    where: n.Group,
    *,
    distinct: bool = False,
    by: Sequence[n.Expression] = (),
) -> n.SubSelect:
    """A sub-select; None selects all variables. `by` are keys of GROUP BY."""
    shown = [n.Projection(one) if isinstance(one, str) else one for one in columns or ()]
    query = n.Query(
        QueryForm.SELECT,
        where,
        projection=None if columns is None else tuple(shown),
        distinct=distinct,
        grouped=bool(by),
        conditions=tuple(by),
    )
    return n.SubSelect(query, made=True)


def values(names: Sequence[str], rows: Iterable[Sequence[n.Term]]) -> n.Values:
    """VALUES."""
    return n.Values(tuple(names), tuple(map(tuple, rows)), made=True)


def filtered(expression: n.Expression) -> n.Filter:
    """FILTER."""
    return n.Filter(expression, made=True)


def bound(expression: n.Expression, name: str) -> n.Bind:
    """BIND."""
    return n.Bind(expression, name, made=True)


def exists(*elements: n.Element) -> n.Exists:
    """EXISTS of elements."""
    return n.Exists(group(*elements), negated=False)


def not_exists(*elements: n.Element) -> n.Exists:
    """NOT EXISTS of elements."""
    return n.Exists(group(*elements), negated=True)


def call(function: NamedNode, *arguments: n.Expression) -> n.Call:
    """A call of a function by IRI."""
    return n.Call(function, arguments)


def operation(name: str, *arguments: n.Expression) -> n.Operation:
    """An operator or a built-in function."""
    return n.Operation(name, arguments)


def use(term: n.Term | str) -> n.Expression:
    """A term, or a variable by its name, in an expression."""
    if isinstance(term, str):
        return n.VariableUse(term)
    if isinstance(term, Variable):
        return n.VariableUse(term.value)
    assert isinstance(term, NamedNode | Literal)
    return n.Constant(term)


def all_true(conditions: Sequence[n.Expression]) -> n.Expression:
    """The condition that all of these are true."""
    if not conditions:
        return n.Constant(Literal(True))
    return conditions[0] if len(conditions) == 1 else n.Operation("&&", tuple(conditions))


Elements = tuple[n.Element, ...]


@dataclass(frozen=True)
class Place:
    """Where an element is: its group, and whether a GRAPH is around it."""

    group: n.Group
    in_graph: bool


Replace = Callable[[n.Element, Place], Elements | None]
"""The elements in place of one; None keeps it, and looks at what is in it."""


def replace_elements(
    query: n.Query, replaced: Replace, added: Mapping[n.Group, Elements] | None = None
) -> n.Query:
    """The query with elements replaced in all its groups, those of EXISTS too; not in a template.

    `added` are elements for the end of groups.
    """
    return _Replacement(replaced, added or {}).query(query, in_graph=False)


def in_place_of(start: int, end: int, elements: Elements) -> Elements:
    """Elements of which the first replaces what is between two offsets of the client's text."""
    first, *others = elements
    return (replace(first, start=start, end=end, made=True), *others)


class _Replacement:
    def __init__(self, replaced: Replace, added: Mapping[n.Group, Elements]) -> None:
        self._replaced = replaced
        self._added = added

    def query(self, query: n.Query, *, in_graph: bool) -> n.Query:
        where = None if query.where is None else self._group(query.where, in_graph=in_graph)
        expressions = list(query.expressions)
        changed = [self._expression(one, in_graph=in_graph) for one in expressions]
        if where is query.where and all(map(_same, expressions, changed)):
            return query
        by_old = dict(zip(expressions, changed, strict=True))
        projection = query.projection and tuple(
            one if one.expression is None else replace(one, expression=by_old[one.expression])
            for one in query.projection
        )
        return replace(
            query,
            where=where,
            projection=projection,
            conditions=tuple(by_old[one] for one in query.conditions),
            order=tuple(replace(one, expression=by_old[one.expression]) for one in query.order),
        )

    def _group(self, group: n.Group, *, in_graph: bool) -> n.Group:
        place = Place(group, in_graph)
        elements: list[n.Element] = []
        for element in group.elements:
            others = self._replaced(element, place)
            if others is None:
                elements.append(self._within(element, in_graph=in_graph))
            elif others and element.start >= 0 and others[0].start < 0:
                elements += in_place_of(element.start, element.end, others)
            else:
                elements += others
        elements += self._added.get(group, ())
        if len(elements) == len(group.elements) and all(map(_same, elements, group.elements)):
            return group
        return replace(group, elements=tuple(elements))

    def _within(self, element: n.Element, *, in_graph: bool) -> n.Element:
        match element:
            case n.Nested():
                inside = in_graph or element.keyword == "GRAPH"
                groups = tuple(self._group(one, in_graph=inside) for one in element.groups)
                return element if all(map(_same, groups, element.groups)) else replace(element, groups=groups)
            case n.SubSelect():
                query = self.query(element.query, in_graph=in_graph)
                return element if query is element.query else replace(element, query=query)
            case n.Filter() | n.Bind():
                expression = self._expression(element.expression, in_graph=in_graph)
                return (
                    element if expression is element.expression else replace(element, expression=expression)
                )
        return element

    def _expression(self, expression: n.Expression, *, in_graph: bool) -> n.Expression:
        match expression:
            case n.Exists():
                group = self._group(expression.group, in_graph=in_graph)
                return expression if group is expression.group else replace(expression, group=group)
            case n.Call() | n.Operation():
                arguments = tuple(self._expression(one, in_graph=in_graph) for one in expression.arguments)
                if all(map(_same, arguments, expression.arguments)):
                    return expression
                return replace(expression, arguments=arguments)
        return expression


def _same(one: object, other: object) -> bool:
    return one is other
