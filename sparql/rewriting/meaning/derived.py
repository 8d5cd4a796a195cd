"""`derived=false`: statements that only derivation supports are not seen.

The default graph holds all that is accepted, the graph of derived statements what was derived. A statement of
a kept relation is hidden where that graph has it and no graph of another origin does. Only the properties
that are derived need a look, and variables in their place. Where inferences are kept in the graph too, any
statement may be one: it is where the graph of inferences has it, which holds only what nothing else supports.
"""

from __future__ import annotations

from collections.abc import Collection

from pyoxigraph import BlankNode, Literal, NamedNode, Variable

from sparql.model.errors import MalformedRequest
from sparql.model.vocabulary import ASSERTED, DERIVED, EXTRACTED, INFERRED, ONTOLOGY
from sparql.rewriting.ast import building as b
from sparql.rewriting.ast import nodes as n
from sparql.rewriting.ast.replacing import Elements, Place
from sparql.rewriting.ast.writing import path_text, triple_text
from sparql.rewriting.meaning.patterns import links_of, replace_patterns
from sparql.rewriting.report import Report
from sparql.syntax.request_facts import QueryForm

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
    reaches = any(link.iri in properties for link in _positive(path)) or _has_negation(path)
    if reaches or inferring:
        raise MalformedRequest(
            f"With derived=false the path {path_text(path)} cannot be followed, since its steps may be "
            "derived. Write it as triple patterns."
        )


def _positive(path: n.Path) -> list[n.Link]:
    if isinstance(path, n.PathOperator) and path.operator == "!":
        return []
    if isinstance(path, n.PathOperator):
        return [link for part in path.parts for link in _positive(part)]
    return list(links_of(path))


def _has_negation(path: n.Path) -> bool:
    return isinstance(path, n.PathOperator) and (
        path.operator == "!" or any(_has_negation(part) for part in path.parts)
    )
