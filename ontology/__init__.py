"""The ontology: OWL files that editors own, and the schema that the rest of the program reads from them.

Imports no other package of this program.
"""

from ontology.errors import OntologyError, OntologySyntaxError, OntologyTermError, OntologyUnreadable
from ontology.labels import normalize
from ontology.schema import Schema
from ontology.terms import OntologyClass, OntologyProperty, PropertyKind, Snippet

__all__ = [
    "OntologyClass",
    "OntologyError",
    "OntologyProperty",
    "OntologySyntaxError",
    "OntologyTermError",
    "OntologyUnreadable",
    "PropertyKind",
    "Schema",
    "Snippet",
    "normalize",
]
