"""Triple patterns replaced one by one, wherever in a query they stand."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pyoxigraph import BlankNode, Variable

from sparql.model.errors import MalformedRequest
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.edits import Edit, apply_edits
from sparql.rewriting.ast.parser import ParsedQuery
from sparql.rewriting.ast.writing import triple_text


@dataclass(frozen=True)
class Place:
    """Where a triple pattern stands: its group, and whether a GRAPH is around it."""

    group: n.Group
    in_graph: bool

    def binds(self, variable: str, besides: n.TriplePattern) -> bool:
        """Whether another pattern, VALUES or BIND of the group gives a variable its value."""
        for element in self.group.elements:
            if isinstance(element, n.Statement):
                others = (triple for triple in element.triples if triple is not besides)
                if any(variable in triple.variables for triple in others):
                    return True
            elif isinstance(element, n.Values | n.Bind):
                named = element.variables if isinstance(element, n.Values) else (element.variable,)
                if variable in named:
                    return True
        return False


Replace = Callable[[n.TriplePattern, Place], str | None]
"""The text of elements that stand for a triple pattern; None where it stays."""


def replace_patterns(parsed: ParsedQuery, replace: Replace) -> str:
    """The query's text with triple patterns replaced. Raises MalformedRequest where one cannot be."""
    edits: list[Edit] = []
    for place in _places_in(parsed.query, in_graph=False):
        for element in place.group.elements:
            if isinstance(element, n.Statement):
                edit = _edit(element, place, replace)
                if edit is not None:
                    edits.append(edit)
    return apply_edits(parsed.text, edits) if edits else parsed.text


def with_template(parsed: ParsedQuery) -> str:
    """A `CONSTRUCT WHERE { … }` with its template written out, so that only its pattern changes."""
    query = parsed.query
    if not query.short_construct or query.where is None:
        return parsed.text
    template = parsed.text[query.where.start : query.where.end]
    return apply_edits(
        parsed.text, [Edit(query.start, query.start + len("CONSTRUCT"), f"CONSTRUCT {template}")]
    )


def _places_in(query: n.Query, *, in_graph: bool) -> Iterator[Place]:
    outermost = [group for expression in query.expressions for group in n.exists_of(expression)]
    for group in outermost if query.where is None else (query.where, *outermost):
        yield from _places(group, in_graph=in_graph)


def _places(group: n.Group, *, in_graph: bool) -> Iterator[Place]:
    yield Place(group, in_graph)
    for element in group.elements:
        if isinstance(element, n.Nested):
            if element.keyword != "SERVICE":
                for inner in element.groups:
                    yield from _places(inner, in_graph=in_graph or element.keyword == "GRAPH")
        elif isinstance(element, n.SubSelect):
            yield from _places_in(element.query, in_graph=in_graph)
        elif isinstance(element, n.Filter | n.Bind):
            for inner in n.exists_of(element.expression):
                yield from _places(inner, in_graph=in_graph)


def _edit(statement: n.Statement, place: Place, replace: Replace) -> Edit | None:
    kept: list[str] = []
    replaced: list[str] = []
    for triple in statement.triples:
        text = replace(triple, place)
        if text is None:
            kept.append(triple_text(triple))
        else:
            replaced.append(text)
    if not replaced:
        return None
    blank = {str(term) for triple in statement.triples for term in _blank_nodes(triple)}
    shared = {
        str(term)
        for other in place.group.elements
        if isinstance(other, n.Statement) and other is not statement
        for triple in other.triples
        for term in _blank_nodes(triple)
    }
    if blank & shared:
        raise MalformedRequest(
            "A labelled blank node joins this pattern to others, and rewriting would part them. "
            "Write a variable instead of the blank node."
        )
    written = " . ".join(kept) + (" . " if kept else "")
    return Edit(statement.start, statement.end, written + " ".join(replaced))


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


def distinct(ends: tuple[n.Term, ...], body: str) -> str:
    """A group whose solutions are the different values of the variables among `ends` in `body`."""
    names = list(dict.fromkeys(f"?{term.value}" for term in ends if isinstance(term, Variable)))
    return (
        f"{{ SELECT DISTINCT {' '.join(names)} WHERE {{ {body} }} }}"
        if names
        else f"FILTER EXISTS {{ {body} }}"
    )


def links_of(path: Variable | n.Path) -> Iterator[n.Link]:
    """The steps that a path is made of."""
    if isinstance(path, n.Link):
        yield path
    elif isinstance(path, n.PathOperator):
        for part in path.parts:
            yield from links_of(part)


def with_links(path: n.Path, replace: Callable[[n.Link], n.Path]) -> n.Path:
    """A path with its steps replaced, those of `!` apart, which must stay single."""
    if isinstance(path, n.Link):
        return replace(path)
    if path.operator == "!":
        return path
    return n.PathOperator(path.operator, tuple(with_links(part, replace) for part in path.parts))
