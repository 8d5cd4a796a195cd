"""Triple patterns replaced one by one, wherever they are, and what the parameter `derived` means.

`derived=false`: a statement of a kept relation is hidden where the graph of derived statements has it and no
graph of another origin does. Only the properties that are derived need a look, and variables in their place.
Where inferences are kept in the graph too, any statement may be one: it is where the graph of inferences has
it, which holds only what nothing else supports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.model.errors import MalformedRequest
from sparql.model.vocabulary import ASSERTED, DERIVED, EXTRACTED, INFERRED, ONTOLOGY
from sparql.rewriting.steps import Report
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
