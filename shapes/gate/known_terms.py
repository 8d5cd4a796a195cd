"""Extraction may only use the ontology's terms: any other class or property is refused.

The statement waits in the review queue as a proposal for the ontology engineers. Clients' own writes are
judged by the shapes alone; with an empty ontology every term is accepted. Of deprecated terms it is warned.
"""

from pyoxigraph import NamedNode, Triple

from ontology import Schema
from ontology.vocabulary import EQUIVALENT_CLASS, EQUIVALENT_PROPERTY, REPLACED_BY
from sparql.model.change import Violation
from sparql.model.vocabulary import DCTERMS, GEO, OWL, PROV, RDF, RDFS, SH, SKOS, UKG

_STANDARD = (RDF, RDFS, OWL, SKOS, DCTERMS, PROV, GEO)


def unknown_terms(schema: Schema, triple: Triple) -> tuple[Violation, ...]:
    """The class or property of a statement that the ontology does not declare, as a violation."""
    if not schema.classes and not schema.properties:
        return ()
    predicate, value = triple.predicate, triple.object
    if predicate == RDF.type:
        if isinstance(value, NamedNode) and not _known(schema, value):
            return (_violation(schema, triple, "class", value),)
        return ()
    return () if _known(schema, predicate) else (_violation(schema, triple, "property", predicate),)


def deprecated_terms(schema: Schema, triple: Triple) -> tuple[Violation, ...]:
    """The deprecated class or property of a statement, as a warning that names its successor."""
    is_class = triple.predicate == RDF.type and isinstance(triple.object, NamedNode)
    term = triple.object if is_class else triple.predicate
    known = schema.classes.get(term) if is_class else schema.properties.get(term)  # type: ignore[arg-type]
    if known is None or not known.deprecated:
        return ()
    instead = successor(schema, known.iri)
    advice = f"Use {schema.written(instead)}." if instead is not None else "The ontology names no successor."
    return (
        Violation(
            focus=triple.subject,
            message=f"{schema.written(known.iri)} is deprecated. {advice}",
            component=UKG.DeprecatedTerm,
            path=triple.predicate.value,
            value=term,
            severity=SH.Warning,
        ),
    )


def successor(schema: Schema, term: NamedNode) -> NamedNode | None:
    """What a schema says to use instead of a term."""
    found = succession(schema, term)
    return None if found is None else found[0]


def succession(
    schema: Schema, term: NamedNode, *, among: Schema | None = None
) -> tuple[NamedNode, NamedNode] | None:
    """What a schema says to use instead of a term, and by which property.

    By dcterms:isReplacedBy, else by what it is equivalent to. The successor is a term of `among` (by default
    of the same schema) that is not deprecated.
    """
    here = among or schema
    stated = sorted((t for t in schema.triples if term in (t.subject, t.object)), key=str)
    replaced = [(t.object, t.predicate) for t in stated if t.predicate == REPLACED_BY and t.subject == term]
    alike = [
        (t.object if t.subject == term else t.subject, t.predicate)
        for t in stated
        if t.predicate in (EQUIVALENT_PROPERTY, EQUIVALENT_CLASS)
    ]
    for one, said_by in (*replaced, *alike):
        known = (here.classes.get(one) or here.properties.get(one)) if isinstance(one, NamedNode) else None
        if known is not None and known.iri != term and not known.deprecated:
            return known.iri, said_by
    return None


def _known(schema: Schema, term: NamedNode) -> bool:
    declared = term in schema.classes or term in schema.properties
    return declared or any(term in namespace for namespace in _STANDARD) or _simple_feature(term)


def _simple_feature(term: NamedNode) -> bool:
    return term.value.startswith("http://www.opengis.net/ont/sf#")


def _violation(schema: Schema, triple: Triple, kind: str, term: NamedNode) -> Violation:
    name = schema.written(term)
    return Violation(
        focus=triple.subject,
        message=f"The ontology has no {kind} {name}. Use one it declares, or propose this one.",
        component=UKG.UnknownTerm,
        path=triple.predicate.value,
        value=term,
    )
