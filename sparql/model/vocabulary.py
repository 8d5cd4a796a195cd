"""The standard vocabularies and the system vocabulary of the program itself.

It contains no domain terms: the domain is defined by the loaded ontology and shapes files.
"""

from typing import Final

from pyoxigraph import DefaultGraph, NamedNode


class Namespace:
    """Mint the terms of one vocabulary: `RDFS.label` is the `NamedNode` of `rdfs:label`."""

    def __init__(self, iri: str) -> None:
        self.iri = iri

    def __getattr__(self, name: str) -> NamedNode:
        if name.startswith("__"):
            raise AttributeError(name)
        # Kept as a member, so that the next access does not come here.
        found = self.__dict__[name] = self.term(name.rstrip("_"))
        return found

    def term(self, name: str) -> NamedNode:
        return NamedNode(self.iri + name)

    def __contains__(self, node: object) -> bool:
        return isinstance(node, NamedNode) and node.value.startswith(self.iri)


RDF: Final = Namespace("http://www.w3.org/1999/02/22-rdf-syntax-ns#")
RDFS: Final = Namespace("http://www.w3.org/2000/01/rdf-schema#")
OWL: Final = Namespace("http://www.w3.org/2002/07/owl#")
XSD: Final = Namespace("http://www.w3.org/2001/XMLSchema#")
SKOS: Final = Namespace("http://www.w3.org/2004/02/skos/core#")
SH: Final = Namespace("http://www.w3.org/ns/shacl#")
PROV: Final = Namespace("http://www.w3.org/ns/prov#")
DCTERMS: Final = Namespace("http://purl.org/dc/terms/")
GEO: Final = Namespace("http://www.opengis.net/ont/geosparql#")

UKG: Final = Namespace("https://w3id.org/urbankg/system#")
"""System vocabulary: review items, evidence, verdicts."""

RECORD: Final = Namespace("https://w3id.org/urbankg/record/")
"""Documents, runs, evidence and review items have IRIs under this one."""

GRAPH: Final = Namespace("https://w3id.org/urbankg/graph/")
"""System graphs. Reading one needs its IRI; writing to one is refused."""

ASSERTED: Final = GRAPH.asserted
EXTRACTED: Final = GRAPH.extracted
DERIVED: Final = GRAPH.derived
INFERRED: Final = GRAPH.inferred
"""What only follows from other statements by the axioms, where inferences are stored."""
MEMBERSHIPS: Final = GRAPH.memberships
"""Which things follow to be in classes without a name; not part of the default graph."""
ONTOLOGY: Final = GRAPH.ontology
PROVENANCE: Final = GRAPH.provenance
REVIEW: Final = GRAPH.review
PROPOSALS: Final = GRAPH.proposals
HELD: Final = GRAPH.held
"""Batches that an earlier version held back and never judged."""
STATE: Final = GRAPH.state
REPLACED: Final = GRAPH.replaced
"""What a bulk load that has not ended replaces: removed from the default graph before anything is derived."""
SYSTEM_GRAPHS: Final = (
    *(ASSERTED, EXTRACTED, DERIVED, INFERRED, MEMBERSHIPS, ONTOLOGY),
    *(PROVENANCE, REVIEW, PROPOSALS, HELD, STATE, REPLACED),
)

DEFAULT: Final = DefaultGraph()
