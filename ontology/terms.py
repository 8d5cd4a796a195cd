"""The classes and properties that an ontology offers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from pyoxigraph import NamedNode


@dataclass(frozen=True)
class OntologyClass:
    """A named class. `borrowed` marks one that the files declare but another vocabulary defines.

    `alternative_labels` are the words by which it is found besides `label`: synonyms, then cues
    (skos:hiddenLabel), which are no names of it. `name_words` are cues in other languages than the label's,
    each with its language: a name has them, and a text in the language of the label does not.
    """

    iri: NamedNode
    label: str
    alternative_labels: tuple[str, ...]
    definition: str
    deprecated: bool
    borrowed: bool = False
    name_words: tuple[tuple[str, str], ...] = ()


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
    `usual_domain` and `usual_range` are the alternatives that a new name is taken for where a text leaves
    open which of them it is; `domain_order` and `range_order` have them as the file does. `views`
    are those in which a text is asked for it (ukg:view); none: in all.
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
    usual_domain: NamedNode | None = None
    usual_range: NamedNode | None = None
    domain_order: tuple[NamedNode, ...] = ()
    range_order: tuple[NamedNode, ...] = ()
    views: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Snippet:
    """The part of an ontology that fits a text, the best fit first."""

    classes: tuple[OntologyClass, ...]
    properties: tuple[OntologyProperty, ...]
