"""Triple patterns replaced one by one, wherever in a query they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from pyoxigraph import BlankNode, Variable

from sparql.model.errors import MalformedRequest
from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.replacing import Elements, Place, replace_elements

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
