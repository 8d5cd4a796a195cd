"""Finds declarations that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

from pyoxigraph import Literal, NamedNode

from ontology import vocabulary as v
from ontology.errors import OntologyTermError
from ontology.graph import Graph
from ontology.loading import OntologyFile, line_of

__all__ = ["check_terms"]

_MUST_BE_TERMS = (v.SUBCLASS_OF, v.SUBPROPERTY_OF, v.DOMAIN, v.RANGE, v.INVERSE_OF, v.DISJOINT_WITH)


def check_terms(files: Sequence[OntologyFile], graph: Graph) -> None:
    """Raise OntologyTermError for the first term whose declarations cannot both hold.

    These are: a property of things that is also one of literals (OWL 2 DL, section 5.8.1), a class that
    is also a datatype, and a literal where an axiom needs a class or property.
    """
    both = set(graph.instances(v.OBJECT_PROPERTY)) & set(graph.instances(v.DATATYPE_PROPERTY))
    for iri in sorted(both, key=lambda term: term.value):
        raise _term_error(
            files,
            iri,
            "is declared both an owl:ObjectProperty and an owl:DatatypeProperty.",
            "Keep the one that fits its values: things or literals.",
        )
    both = set(graph.instances(v.OWL_CLASS)) & set(graph.instances(v.DATATYPE))
    for iri in sorted(both, key=lambda term: term.value):
        raise _term_error(
            files, iri, "is declared both an owl:Class and an rdfs:Datatype.", "Keep one of the two."
        )
    for predicate in _MUST_BE_TERMS:
        for subject, value in graph.pairs(predicate):
            if isinstance(value, Literal) and isinstance(subject, NamedNode):
                raise _term_error(
                    files,
                    subject,
                    f'has the text "{value.value}" as {predicate.value}.',
                    "Write an IRI there, such as a prefixed name without quotation marks.",
                )


def _term_error(files: Sequence[OntologyFile], iri: NamedNode, problem: str, fix: str) -> OntologyTermError:
    for file in files:
        line = line_of(file, iri)
        if line is not None:
            return OntologyTermError(iri.value, problem, fix, file=file.path, line=line)
    return OntologyTermError(iri.value, problem, fix)
