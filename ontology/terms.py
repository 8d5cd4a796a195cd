"""The classes and properties that an ontology offers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pyoxigraph import NamedNode

__all__ = ["OntologyClass", "OntologyProperty", "PropertyKind", "Snippet"]


@dataclass(frozen=True)
class OntologyClass:
    """A named class. `borrowed` marks one that the files declare but another vocabulary defines.

    `alternative_labels` are the words by which it is found besides `label`: synonyms, then cues
    (skos:hiddenLabel), which are no names of it.
    """

    iri: NamedNode
    label: str
    alternative_labels: tuple[str, ...]
    definition: str
    deprecated: bool
    borrowed: bool = False


class PropertyKind(StrEnum):
    """The values of a property: things, literals, or annotations without meaning for reasoning."""

    OBJECT = "object"
    DATATYPE = "datatype"
    ANNOTATION = "annotation"


@dataclass(frozen=True)
class OntologyProperty:
    """A property. `domains` and `ranges` are alternatives; an empty set allows anything.

    `ranges` holds classes or datatypes: rdfs:range together with schema:rangeIncludes, since OWL 2 DL
    has no xsd:date, xsd:gYearMonth or xsd:gYear. `unit` is the QUDT unit of plain numbers.
    """

    iri: NamedNode
    kind: PropertyKind
    label: str
    alternative_labels: tuple[str, ...]
    definition: str
    domains: frozenset[NamedNode]
    ranges: frozenset[NamedNode]
    unit: NamedNode | None
    functional: bool
    symmetric: bool
    transitive: bool
    inverse: NamedNode | None
    deprecated: bool
    borrowed: bool = False


@dataclass(frozen=True)
class Snippet:
    """The part of an ontology that fits a text, the best fit first."""

    classes: tuple[OntologyClass, ...]
    properties: tuple[OntologyProperty, ...]
