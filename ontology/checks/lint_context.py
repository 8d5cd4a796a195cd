"""What every group of lint rules reads: the schema, its graph, the positions of terms, and the own terms."""

from __future__ import annotations

from dataclasses import dataclass

from pyoxigraph import NamedNode

from ontology import vocabulary as v
from ontology.checks.term_positions import TermPositions
from ontology.graph import Graph
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty

__all__ = ["LintContext", "Term", "is_standard", "lint_context"]

Term = OntologyClass | OntologyProperty

_DUBLIN_CORE = ("http://purl.org/dc/terms/", "http://purl.org/dc/elements/1.1/")
_STANDARD = (v.RDF, v.RDFS, v.OWL, v.XSD, v.SKOS, *_DUBLIN_CORE)


@dataclass(frozen=True)
class LintContext:
    """`own` are the terms that the files define, without those of other vocabularies."""

    schema: Schema
    graph: Graph
    places: TermPositions
    own: tuple[Term, ...]


def lint_context(schema: Schema) -> LintContext:
    """The context for the rules that examine a schema."""
    terms: list[Term] = [*schema.classes.values(), *schema.properties.values()]
    return LintContext(
        schema,
        schema.graph,
        TermPositions(schema.files),
        tuple(term for term in terms if not term.borrowed and not is_standard(term.iri)),
    )


def is_standard(iri: NamedNode) -> bool:
    """Whether a term is of RDF, RDFS, OWL, XSD, SKOS or Dublin Core."""
    return iri.value.startswith(_STANDARD)
