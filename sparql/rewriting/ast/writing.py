"""A tree as SPARQL text: what is from the client's text byte for byte, and what a rewriting made."""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.term_reader import LABELED

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
    if isinstance(term, NamedNode | Literal | BlankNode):
        return str(term)
    raise TypeError(f"{term} cannot be part of a pattern")


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
                return "true" if node.term == _TRUE else str(node.term)
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
    if len(values.variables) == 1:
        return f"VALUES ?{values.variables[0]} {{ {' '.join(str(row[0]) for row in values.rows)} }}"
    head = " ".join(f"?{name}" for name in values.variables)
    return f"VALUES ({head}) {{ {' '.join('(' + ' '.join(map(str, row)) + ')' for row in values.rows)} }}"
