"""Extraction may only use the ontology's terms: any other class or property is refused.

The statement waits in the review queue as a proposal for the ontology engineers. Clients' own writes are
judged by the shapes alone; with an empty ontology every term is accepted.
"""

from pyoxigraph import NamedNode, Triple

from ontology import Schema
from sparql.model.change import Violation
from sparql.model.vocabulary import DCTERMS, GEO, OWL, PROV, RDF, RDFS, SKOS, UKG

_STANDARD = (RDF, RDFS, OWL, SKOS, DCTERMS, PROV, GEO)


def unknown_terms(schema: Schema, triple: Triple) -> tuple[Violation, ...]:
    """The class or property of a statement that the ontology does not declare, as a violation."""
    if not schema.classes and not schema.properties:
        return ()
    predicate, value = triple.predicate, triple.object
    if predicate == RDF.type:
        if isinstance(value, NamedNode) and not _known(schema, value):
            return (_violation(triple, "class", value),)
        return ()
    return () if _known(schema, predicate) else (_violation(triple, "property", predicate),)


def _known(schema: Schema, term: NamedNode) -> bool:
    declared = term in schema.classes or term in schema.properties
    return declared or any(term in namespace for namespace in _STANDARD) or _simple_feature(term)


def _simple_feature(term: NamedNode) -> bool:
    return term.value.startswith("http://www.opengis.net/ont/sf#")


def _violation(triple: Triple, kind: str, term: NamedNode) -> Violation:
    return Violation(
        focus=triple.subject,
        message=f"The ontology has no {kind} <{term.value}>. Use one it declares, or propose this one.",
        component=UKG.UnknownTerm,
        path=triple.predicate.value,
        value=term,
    )
